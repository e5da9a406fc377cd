#!/bin/sh
# Starts Redis with the default user off and a user `coordinator` with the password in COORDINATOR_REDIS_PASSWORD, or in the file
# COORDINATOR_REDIS_PASSWORD_FILE. The users of agents, which `probe:add` writes, stay.
set -eu
umask 077

acl="${REDIS_ACL_FILE:-/data/users.acl}"
password="${COORDINATOR_REDIS_PASSWORD:-}"
[ -z "${COORDINATOR_REDIS_PASSWORD_FILE:-}" ] || password="$(cat "$COORDINATOR_REDIS_PASSWORD_FILE")"
if [ "${#password}" -lt 22 ]; then
  echo 'COORDINATOR_REDIS_PASSWORD needs at least 22 characters: openssl rand -base64 24' >&2
  exit 1
fi
hash="$(printf %s "$password" | sha256sum | cut -d ' ' -f 1)"
unset COORDINATOR_REDIS_PASSWORD password

{
  # This user cannot log in. It keeps its rights because Redis reads its append-only file as this user:
  # without them, a restart would omit the writes of scripts and transactions.
  echo 'user default off resetpass ~* &* +@all'
  echo "user coordinator on #$hash ~* &* +@all"
  [ ! -f "$acl" ] || grep -v -E '^user (default|coordinator) ' "$acl" || true
} > "$acl.new"
mv "$acl.new" "$acl"

exec redis-server "$@"
