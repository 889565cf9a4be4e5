#!/usr/bin/env bash
# The image that sandboxes run in, on the engine that DOCKER_HOST names: docker-image.sh [NAME]
#
# It holds what is not bound from the host: a C library, what torch.compile calls, what the host's interpreter links to,
# of the host's release, so that both fit. Nothing else of a system: no /var, /home or /root. Its parts are
# pulled where that is possible, else made by debootstrap as root. Ends with 3 where neither can be done.
set -euo pipefail
name=${1:-kernelwright-base}

say() { printf 'docker-image: %s\n' "$*" >&2; }

release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
packages=g++,make,openssl,libssl3,libffi8,libbz2-1.0,liblzma5,zlib1g,libsqlite3-0,libreadline8,libncursesw6,libuuid1,libexpat1,libgomp1
kept=(usr bin sbin lib lib32 lib64 libx32 tmp etc/alternatives etc/ld.so.cache)

# A pull that has not found its image after a quarter of a minute is given up; one that has may take its time.
found() {
    docker pull "$1" >"$work/log" 2>&1 &
    local pull=$!
    for _ in $(seq 150); do
        if grep -q 'Pulling from' "$work/log" || ! kill -0 "$pull" 2>/dev/null; then
            wait "$pull"
            return
        fi
        sleep 0.1
    done
    kill "$pull" 2>/dev/null
    return 1
}

pulled() {
    local container
    found "buildpack-deps:$release" || return 1
    container=$(docker create --network none "buildpack-deps:$release" true)
    docker export "$container" | tar -x -C "$1"
    docker rm "$container" >/dev/null
}

made() {
    command -v debootstrap >/dev/null || { say "there is no debootstrap; as root: apt-get install debootstrap"; return 1; }
    [ "$(id -u)" -eq 0 ] || { say "only root can run debootstrap"; return 1; }
    debootstrap --variant=minbase --include="$packages" "$release" "$1" >"$work/log" 2>&1 || {
        tail -n 5 "$work/log" >&2
        say "debootstrap of $release failed"
        return 1
    }
}

pack() {
    local there=() path
    printf 'root:x:0:0:root:/nonexistent:/bin/false\n' >"$1/etc/passwd"
    printf 'root:x:0:\n' >"$1/etc/group"
    printf 'passwd: files\ngroup: files\nhosts: files\n' >"$1/etc/nsswitch.conf"
    rm -rf "$1"/usr/share/{doc,man,locale}
    for path in "${kept[@]}" etc/passwd etc/group etc/nsswitch.conf; do
        if [ -e "$1/$path" ] || [ -L "$1/$path" ]; then there+=("$path"); fi
    done
    tar -C "$1" --numeric-owner -c "${there[@]}" | docker import - "$name" >/dev/null
}

docker version >/dev/null 2>&1 || { say "no engine answers; DOCKER_HOST names one"; exit 3; }
docker image inspect "$name" >/dev/null 2>&1 && exit 0
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
mkdir "$work/root"
pulled "$work/root" || made "$work/root" || exit 3
pack "$work/root"
say "made $name"
