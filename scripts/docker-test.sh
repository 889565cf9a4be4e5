#!/usr/bin/env bash
# Everything that needs a Docker engine: the conformance suite of the docker backend, a judged evaluation in it (honest
# candidates accepted, cheats refused), and the local backend inside a default container.
#
# Uses the engine that DOCKER_HOST names. Without one it installs and starts an engine of its own where it may (root and
# apt-get) and removes it at the end, with its images and folders. Skips, and says why, where that cannot be done.
set -euo pipefail
cd "$(dirname "$0")/.."

controls="honest_softmax or by_strides"
cheats="says_done_first or ones_when_timed or reads_evaluator or fork_bomb"

say() { printf 'test-docker: %s\n' "$*" >&2; }
skip() { say "skipped: $*"; exit 0; }

install() {
    command -v dockerd >/dev/null && command -v debootstrap >/dev/null && return
    [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || return 0
    say "installing docker.io and debootstrap with apt-get"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >&2 && apt-get install -y -qq --no-install-recommends docker.io debootstrap >/dev/null || true
}

if [ -z "${DOCKER_HOST:-}" ]; then
    install
    folder=$(mktemp -d)
    trap 'scripts/docker-engine.sh stop "$folder"' EXIT
    DOCKER_HOST=$(scripts/docker-engine.sh start "$folder") || skip "no engine can be started here"
    export DOCKER_HOST
fi
scripts/docker-image.sh || skip "there is no image to run sandboxes in"

failed=0
.venv/bin/python -m pytest -m docker tests/contracts tests/unit/sandbox || failed=$?
KERNELWRIGHT_SANDBOX=docker .venv/bin/python -m pytest tests/adversarial -k "$controls or $cheats" || failed=$?
scripts/docker-default.sh || failed=$?

left=$(docker ps --all --quiet --filter label=kernelwright.judge; docker volume ls --quiet --filter label=kernelwright.judge)
[ -z "$left" ] || { say "left on the engine: $left"; failed=1; }
exit "$failed"
