#!/bin/sh
# Pins the base images: pulls each, and writes its digest after its tag in the Dockerfiles and in
# docker-compose.yml. A repeated run pins newer images, because it pulls by tag. See docs/supply-chain.md.
set -eu
cd "$(dirname "$0")/../.."

files='docker-compose.yml infra/docker/coordinator.Dockerfile infra/docker/probe-agent.Dockerfile infra/docker/load.Dockerfile'
# Images that are built here, and stages of a Dockerfile, have no tag.
# shellcheck disable=SC2086
images=$(sed -n -E 's/^(FROM| +image:) +([^ @]+:[^ @]+).*/\2/p' $files | sort -u)

for image in $images; do
  docker pull --quiet "$image" >/dev/null
  digest=$(docker image inspect --format '{{ range .RepoDigests }}{{ println . }}{{ end }}' "$image" | sed -n 's/.*@//p' | head -n 1)
  [ -n "$digest" ] || { echo "$image has no digest: it comes from no registry" >&2; exit 1; }
  for file in $files; do
    escaped=$(printf %s "$image" | sed 's/[.]/\\./g')
    sed -i -E "s#^((FROM| +image:) +)$escaped(@sha256:[0-9a-f]+)?( |\$)#\\1$image@$digest\\4#" "$file"
  done
  echo "$image@$digest"
done
