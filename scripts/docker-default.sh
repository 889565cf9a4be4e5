#!/usr/bin/env bash
# The local backend inside a container as an engine starts one by default: what holds there, and its conformance suite.
#
# As root and as an ordinary user, on the engine that DOCKER_HOST names, in the image of docker-image.sh. The checkout
# and the interpreter are bound read-only. Ends with the suite's exit code.
set -euo pipefail
cd "$(dirname "$0")/.."
name=${1:-kernelwright-base}

# Options of a default container, but for the network, which our own engine has none of, and memory for /tmp: a check
# makes so many files that a layered file system takes too long over them.
options=(--rm --network none --tmpfs /tmp:exec --workdir "$PWD" --volume "$PWD:$PWD:ro")
while read -r folder; do
    options+=(--volume "$folder:$folder:ro")
done < <(.venv/bin/python -c 'import sys; print(sys.base_prefix)')
options+=(--env PYTHONDONTWRITEBYTECODE=1 --env HOME=/tmp)

failed=0
for user in 0:0 1000:1000; do
    printf '\nA default container, as user %s:\n' "$user"
    docker run "${options[@]}" --user "$user" "$name" .venv/bin/kernelwright doctor || true
    docker run "${options[@]}" --user "$user" "$name" \
        .venv/bin/python -m pytest -q -p no:cacheprovider -m "not docker" tests/contracts || failed=$?
done
exit "$failed"
