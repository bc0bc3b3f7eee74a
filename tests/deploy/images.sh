#!/usr/bin/env bash
# Build the images that tests/deploy starts, as root and without any image registry: base images from Debian's packages
# under the names that deploy/Dockerfile uses, then deploy/Dockerfile as it stands.
#
#   tests/deploy/images.sh base      makes python:3.11.15-slim-bookworm by debootstrap, once
#   tests/deploy/images.sh worker    builds deploy/Dockerfile with the package index of this machine
#   tests/deploy/images.sh int8      builds it without PyTorch
#   tests/deploy/images.sh earlier FOLDER   builds the worker of a commit that was extracted to a folder
#   tests/deploy/images.sh servers   builds what stands for the servers of docker-compose.yml, with the image of the worker
#
# Needs Debian's packages podman, buildah, runc, netavark, aardvark-dns, catatonit and debootstrap, and network.
set -euo pipefail
cd "$(dirname "$0")/../.."

PYTHON=docker.io/library/python:3.11.15-slim-bookworm
JARS=${KAFKA_HOME:+$KAFKA_HOME/libs}
JARS=${JARS:-../shared/kafka/4.3.1}
WORKER="docker.io/library/touchstone-worker:$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)"

base() {
    podman image exists "$PYTHON" && return
    local root
    root=$(mktemp --directory)
    trap 'rm -rf "$root"' RETURN
    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm "$root" > /dev/null
    # The published image has python and pip in /usr/local, and so has this one.
    chroot "$root" python3 -m venv /usr/local
    # The published image has neither documents nor translations of Debian's programs.
    rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,locale}/*
    tar --create --directory "$root" . | podman import --change 'CMD ["python"]' - "$PYTHON" > /dev/null
}

# Build with the package index and the certificates of this machine, which are not part of the image.
build() {
    local settings paths path mounts=()
    settings=$(mktemp)
    python3 -m pip config list | sed -n "s/^global\.\([a-z-]*\)='\(.*\)'$/\1 = \2/p" | sed '1i [global]' > "$settings"
    paths=$(grep -o '/[^ ]*' "$settings" | sed 's#^//*#/#; s#/simple$##' | sort -u)
    for path in /etc/ssl/certs/ca-certificates.crt $paths; do
        if [ -e "$path" ]; then mounts+=(--volume "$path:$path:ro"); fi
    done
    podman build --quiet --format docker --network host "${mounts[@]}" --volume "$settings:/etc/pip.conf:ro" "$@"
    rm -f "$settings"
}

worker() {
    build --file deploy/Dockerfile --tag "$WORKER" .
}

int8() {
    build --file deploy/Dockerfile --build-arg PYTORCH=no --tag "$WORKER-int8" .
}

earlier() {
    build --build-arg "WORKER=$WORKER" --file tests/deploy/standins/Containerfile.earlier --tag "${WORKER%:*}:earlier" "$1"
}

servers() {
    local target
    for target in kafka valkey prometheus alertmanager clickhouse; do
        # The name and the version that docker-compose.yml asks for.
        local image
        image=$(sed -n "s#^    image: \(.*/$target[^/]*:.*\)#\1#p" docker-compose.yml)
        build --build-arg "WORKER=$WORKER" --build-context "jars=$JARS" --target "$target" \
            --tag "docker.io/$image" tests/deploy/standins
    done
}

"$@"
