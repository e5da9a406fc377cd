#!/bin/sh
# Becomes the user `vantage` and keeps CAP_NET_RAW, and nothing else, for ping and traceroute: as an ambient capability, since
# those of a file vanish under no-new-privileges. Where the container has no CAP_NET_RAW the agent runs without it and says so.
set -eu

# Started as another user by whoever runs the container: there is nothing to give up.
[ "$(id -u)" = 0 ] || exec "$@"

become='setpriv --reuid=vantage --regid=vantage --clear-groups'
with_packets="$become --inh-caps=-all,+net_raw --ambient-caps=+net_raw --bounding-set=-all,+net_raw"
if $with_packets -- true 2>/dev/null; then exec $with_packets -- "$@"; fi
exec $become --inh-caps=-all -- "$@"
