#!/usr/bin/env bash
# Install the system packages that C++ candidates and torch.compile need, where we may; otherwise say what is
# missing and what that costs, and go on. Always ends with 0. Quick where nothing is missing.
set -uo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }

header=$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("include") + "/Python.h")')
python_dev=$(.venv/bin/python -c 'import sys; print("libpython%d.%d-dev" % sys.version_info[:2])')

missing_packages() {
    command -v g++ >/dev/null || echo g++
    [ -e "$header" ] || echo "$python_dev"
}

missing=$(missing_packages)
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    say "installing with apt-get:" $missing
    export DEBIAN_FRONTEND=noninteractive
    options=(-qq -o Acquire::Retries=1 -o Acquire::http::Timeout=30 -o Acquire::https::Timeout=30)
    apt-get update "${options[@]}" >&2 && apt-get install -y "${options[@]}" --no-install-recommends $missing >/dev/null
    missing=$(missing_packages)
fi

for package in $missing; do
    case $package in
    g++) say "g++ is missing: no C++ candidates and no torch.compile, as baseline or as candidate" ;;
    *) say "$header is missing: no torch.compile, as baseline or as candidate" ;;
    esac
    say "  remedy, as root: apt-get install $package"
done
