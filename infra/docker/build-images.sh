#!/bin/sh
# Builds the images of the coordinator, of the agent, and of the agent without a browser.
#   infra/docker/build-images.sh                                    for this machine, into its Docker
#   infra/docker/build-images.sh registry.example.com/net [tag]     for amd64 and arm64, to a registry, one name for both
#   OUTPUT=release infra/docker/build-images.sh …                   archives in a folder in place of a registry
#   OUTPUT=load PLATFORMS=linux/arm64 infra/docker/build-images.sh …     one other architecture, into this Docker
# An architecture other than that of this machine is emulated, several times slower: `docker run --privileged --rm
# tonistiigi/binfmt --install all`, or Debian's qemu-user-static, makes that possible. See docs/containers.md.
set -eu
cd "$(dirname "$0")/../.."

case ${1:-} in -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;; esac

fail() {
  printf 'build-images.sh: %s\n' "$1" >&2
  exit 1
}

native=$(docker version --format '{{.Server.Os}}/{{.Server.Arch}}') || fail 'Docker does not answer; is it installed and running?'
prefix=${1:+${1%/}/}
tag=${2:-$(sed -n 's/^  "version": "\(.*\)",$/\1/p' package.json)}
output=${OUTPUT:-}
[ -n "$prefix$output" ] || output=load
if [ "$output" = load ]; then platforms=${PLATFORMS:-$native}; else platforms=${PLATFORMS:-linux/amd64,linux/arm64}; fi
case $output,$platforms in load,*,*) fail 'OUTPUT=load takes one architecture, such as PLATFORMS=linux/arm64' ;; esac
[ -n "$prefix" ] || [ "$output" = load ] || prefix=vantage/

# Any Docker builds for the architecture of its machine; everything else needs buildx, and most of it a newer
# builder than old engines have.
builder=
if [ "$output,$platforms" != "load,$native" ]; then
  docker buildx version >/dev/null 2>&1 || fail 'docker buildx is missing; install the package docker-buildx or docker-buildx-plugin'
  driver=$(docker buildx inspect 2>/dev/null | sed -n 's/^Driver: *//p')
  case $output,$driver,$(docker info --format '{{.DriverStatus}}') in
    load,* | *,docker,*io.containerd.snapshotter*) ;;
    *,docker,*)
      builder=vantage-images
      docker buildx inspect "$builder" >/dev/null 2>&1 || docker buildx create --name "$builder" --driver docker-container >/dev/null
      ;;
  esac
fi

build() {
  name=$1
  shift
  image=$prefix$name:$tag
  printf '· Building %s for %s\n' "$image" "$platforms" >&2
  if [ "$output,$platforms" = "load,$native" ]; then
    docker build --tag "$image" "$@" .
    return
  fi
  case $output in
    load) to=type=docker ;;
    '') to=type=registry ;;
    *)
      mkdir -p "$output"
      to=type=oci,dest=$output/$name-$tag.tar
      ;;
  esac
  docker buildx build ${builder:+--builder "$builder"} --platform "$platforms" --tag "$image" --output "$to" "$@" .
}

build vantage-coordinator --file infra/docker/coordinator.Dockerfile
build vantage-probe-agent --file infra/docker/probe-agent.Dockerfile
build vantage-probe-agent-slim --file infra/docker/probe-agent.Dockerfile --build-arg BROWSER=none
