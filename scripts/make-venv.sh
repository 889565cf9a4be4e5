#!/usr/bin/env bash
# Make .venv in the checkout and install the project and its tools into it, at the versions of constraints.txt.
# Reads PYTHON (an interpreter to prefer). Ends with 1 and a remedy where no usable Python is found.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup: %s\n' "$*" >&2; }

new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }
makes_venvs() { "$1" -c 'import ensurepip, venv' >/dev/null 2>&1; }

find_python() {
    local candidate
    for candidate in ${PYTHON:+"$PYTHON"} python3.11 python3.12 /usr/bin/python3.11 python3 python3.13; do
        if new_enough "$candidate" && makes_venvs "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    return 1
}

install_venv_module() {
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        return 1
    fi
    say "no Python 3.11 or later with the venv module; installing Debian's python3-venv"
    apt-get update -qq && apt-get install -y -qq --no-install-recommends python3 python3-venv >/dev/null
}

if ! python=$(find_python); then
    if ! install_venv_module || ! python=$(find_python); then
        say "needs Python 3.11 or later with its venv module, and found none."
        say "On Debian: apt-get install python3 python3-venv; or name another with PYTHON=/path/to/python make ..."
        exit 1
    fi
fi

if ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
    say "making .venv with $("$python" --version) ($python)"
    "$python" -m venv --clear .venv
fi
say "installing the project and its tools (the first time this fetches torch, which takes minutes)"
export PIP_DISABLE_PIP_VERSION_CHECK=1
.venv/bin/python -m pip install -q -c constraints.txt setuptools
.venv/bin/python -m pip install -q -c constraints.txt --no-build-isolation -e '.[cuda,dev]'
touch .venv/.installed
