#!/bin/sh
# Upgrades the service of docker-compose.yml to this checkout, one part after the other, without interruption for clients.
#   infra/docker/upgrade.sh [options of docker compose, such as -p NAME or --env-file FILE]
# Order: images, passwords and probe records, coordinators, agents. It stops at a part that does not get healthy; later parts
# continue to run unchanged. It does not replace Redis and the proxy, and reports if their settings have changed.
set -eu
cd "$(dirname "$0")/../.."

compose() { docker compose "$@"; }
options=$(printf '%s ' "$@")
say() { printf '· %s\n' "$*" >&2; }

# Starts the service from its new image, and waits until it is healthy.
replace() {
  say "Replacing $1"
  # shellcheck disable=SC2086
  compose $options up --detach --no-deps --no-build --wait "$1" >/dev/null 2>"$log" || { cat "$log" >&2; say "$1 did not get healthy: the upgrade ends here"; exit 1; }
}

# Runs a service that ends, and takes over its exit status.
finish() {
  say "Running $1"
  compose $options up --detach --no-deps --no-build "$1" >/dev/null 2>"$log" || { cat "$log" >&2; exit 1; }
  container=$(compose $options ps --all --quiet "$1")
  [ "$(docker wait "$container")" = 0 ] || { docker logs --tail 20 "$container" >&2; say "$1 failed: the upgrade ends here"; exit 1; }
}

# True if the running container was created from other settings than those of the file, or has mounted a file
# of settings that git has replaced since.
has_changed() {
  container=$(compose $options ps --quiet "$1")
  made_from=$(docker inspect --format '{{ index .Config.Labels "com.docker.compose.config-hash" }}' "$container")
  [ "$(compose $options config --hash "$1")" != "$1 $made_from" ] || ! docker exec "$container" cat "/etc/vantage/${2##*/}" | cmp -s - "$2"
}

services() { compose $options config --services | grep -E "$1" | sort; }

log=$(mktemp)
trap 'rm -f "$log"' EXIT

say 'Building the images'
compose $options build --quiet
finish secrets
finish probe-records
for service in $(services '^coordinator-'); do
  replace "$service"
  # The address of the coordinator may have changed.
  compose $options exec -T proxy nginx -c /etc/vantage/nginx.conf -s reload
done
for service in $(services '^demo-'); do replace "$service"; done

for settings in redis=infra/redis/redis.conf proxy=infra/docker/nginx.conf; do
  service=${settings%%=*}
  if has_changed "$service" "${settings#*=}"; then
    say "The settings of $service have changed. Seconds without answers, when it suits:"
    say "  docker compose ${options}up --detach --no-deps --force-recreate $service"
  fi
done
say 'Done'
