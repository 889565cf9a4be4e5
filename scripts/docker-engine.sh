#!/usr/bin/env bash
# A Docker engine of our own, apart from any other: its data, socket and processes live in one folder.
#
#   docker-engine.sh start FOLDER    start it, print the DOCKER_HOST that reaches it
#   docker-engine.sh stop FOLDER     end it and what it started, and remove the folder
#
# It has no network: containers need none. Ends with 3, and says why, where an engine cannot be started here.
set -euo pipefail

cannot() { printf 'docker-engine: %s\n' "$*" >&2; exit 3; }

start() {
    [ "$(id -u)" -eq 0 ] || cannot "only root may start an engine"
    command -v dockerd >/dev/null || cannot "there is no dockerd; as root: apt-get install docker.io"
    mkdir -p "$1"
    setsid dockerd --bridge=none --iptables=false --ip-forward=false --ip-masq=false \
        --data-root="$1/data" --exec-root="$1/exec" --pidfile="$1/pid" --host="unix://$1/socket" \
        </dev/null >"$1/log" 2>&1 &
    for _ in $(seq 300); do
        if docker --host "unix://$1/socket" version >/dev/null 2>&1; then
            echo "unix://$1/socket"
            return
        fi
        kill -0 $! 2>/dev/null || break
        sleep 0.1
    done
    tail -n 5 "$1/log" >&2
    stop "$1"
    cannot "dockerd does not start here"
}

stop() {
    [ -d "$1" ] || return 0
    if [ -s "$1/pid" ]; then
        local pid
        pid=$(cat "$1/pid")
        kill "$pid" 2>/dev/null || true
        for _ in $(seq 300); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
    fi
    local mount
    while read -r mount; do umount "$mount" 2>/dev/null || true; done \
        < <(awk -v top="$1/" 'index($5, top) == 1 { print $5 }' /proc/self/mountinfo | sort -r)
    rm -rf --one-file-system "$1"
}

case ${1:-} in
start | stop) "$1" "$(realpath -m "${2:?a folder}")" ;;
*) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
