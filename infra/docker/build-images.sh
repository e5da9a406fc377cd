#!/bin/sh
# Builds the images for several architectures and pushes them to a registry, each under one name for all of them.
#   infra/docker/build-images.sh registry.example.com/net [tag]
#   PLATFORMS=linux/arm64 infra/docker/build-images.sh …       (default: linux/amd64,linux/arm64)
#   OUTPUT=release infra/docker/build-images.sh …              archives in a folder in place of a registry
# An architecture other than that of this machine is emulated, several times slower: `docker run --privileged --rm
# tonistiigi/binfmt --install all`, or Debian's qemu-user-static, makes that possible. See docs/containers.md.
set -eu
cd "$(dirname "$0")/../.."

[ $# -ge 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
prefix=${1%/}
tag=${2:-$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)}
platforms=${PLATFORMS:-linux/amd64,linux/arm64}

build() {
  name=$1
  shift
  image=$prefix/$name:$tag
  printf '· Building %s for %s\n' "$image" "$platforms" >&2
  if [ -n "${OUTPUT:-}" ]; then
    mkdir -p "$OUTPUT"
    output="type=oci,dest=$OUTPUT/$name-$tag.tar"
  else
    output=type=registry
  fi
  docker buildx build --platform "$platforms" --tag "$image" --output "$output" "$@" .
}

build vantage-coordinator --file infra/docker/coordinator.Dockerfile
build vantage-probe-agent --file infra/docker/probe-agent.Dockerfile
build vantage-probe-agent-slim --file infra/docker/probe-agent.Dockerfile --build-arg BROWSER=none
