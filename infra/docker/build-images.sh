#!/bin/sh
# Builds the images for several architectures and pushes them to a registry, each under one name for all of them.
#   infra/docker/build-images.sh registry.example.com/net [tag]
#   PLATFORMS=linux/arm64 infra/docker/build-images.sh …       (default: linux/amd64,linux/arm64)
#   OUTPUT=release infra/docker/build-images.sh …              archives in a folder in place of a registry
#   OUTPUT=load PLATFORMS=linux/amd64 infra/docker/build-images.sh …    into this Docker; one architecture
# An architecture other than that of this machine is emulated, several times slower: `docker run --privileged --rm
# tonistiigi/binfmt --install all`, or Debian's qemu-user-static, makes that possible. See docs/containers.md.
set -eu
cd "$(dirname "$0")/../.."

[ $# -ge 1 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
prefix=${1%/}
tag=${2:-$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)}
platforms=${PLATFORMS:-linux/amd64,linux/arm64}

fail() {
  printf 'build-images.sh: %s\n' "$1" >&2
  exit 1
}

docker buildx version >/dev/null 2>&1 || fail 'docker buildx is missing; install the package docker-buildx or docker-buildx-plugin'
if [ "${OUTPUT:-}" = load ]; then
  case $platforms in *,*) fail 'OUTPUT=load takes one architecture, such as PLATFORMS=linux/amd64' ;; esac
else
  driver=$(docker buildx inspect 2>/dev/null | sed -n 's/^Driver: *//p')
  [ -n "$driver" ] || fail 'no builder answers; is Docker running?'
  [ "$driver" != docker ] || fail 'the current builder has the driver "docker", which writes neither archives nor images of several architectures; run: docker buildx create --use'
fi

build() {
  name=$1
  shift
  image=$prefix/$name:$tag
  printf '· Building %s for %s\n' "$image" "$platforms" >&2
  if [ "${OUTPUT:-}" = load ]; then
    output=type=docker
  elif [ -n "${OUTPUT:-}" ]; then
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
