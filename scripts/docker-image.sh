#!/usr/bin/env bash
# The image that sandboxes run in, on the engine that DOCKER_HOST names: docker-image.sh [NAME]
#
# It holds what is not bound from the host: a C library, a compiler, and what the host's interpreter links against.
# Its release is the host's, so that both fit, and its /root can be passed through, since an interpreter may lie
# below. It is pulled where that is possible, else made by debootstrap as root.
set -euo pipefail
name=${1:-kernelwright-base}

say() { printf 'docker-image: %s\n' "$*" >&2; }

release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
packages=g++,make,libssl3,libffi8,libbz2-1.0,liblzma5,zlib1g,libsqlite3-0,libreadline8,libncursesw6,libuuid1,libexpat1,libgomp1

pulled() {
    timeout 60 docker pull --quiet "buildpack-deps:$release" >/dev/null 2>&1 || return 1
    local container
    container=$(docker create --network none "buildpack-deps:$release" chmod 755 /root)
    docker start --attach "$container" && docker commit "$container" "$name" >/dev/null
    docker rm "$container" >/dev/null
}

made() {
    command -v debootstrap >/dev/null || { say "there is no debootstrap; as root: apt-get install debootstrap"; return 3; }
    [ "$(id -u)" -eq 0 ] || { say "only root can run debootstrap"; return 3; }
    local root
    root=$(mktemp -d)
    chmod 755 "$root"  # it becomes the root of the image
    trap 'rm -rf --one-file-system "$root"' RETURN
    debootstrap --variant=minbase --include="$packages" "$release" "$root" >"$root.log" 2>&1 || {
        tail -n 5 "$root.log" >&2
        rm -f "$root.log"
        say "debootstrap of $release failed"
        return 3
    }
    rm -f "$root.log"
    chmod 755 "$root/root"
    rm -rf "$root"/var/cache/apt/archives "$root"/var/lib/apt/lists "$root"/usr/share/{doc,man,locale}
    tar -C "$root" --numeric-owner -c . | docker import - "$name" >/dev/null
}

docker image inspect "$name" >/dev/null 2>&1 && exit 0
pulled || made
say "made $name"
