#!/bin/sh
# Runs nginx, and has it read its settings again when the address of one of the hosts given has changed: a container that is
# recreated may come back with another one.
conf=/etc/vantage/nginx.conf

addresses() { for host; do getent ahostsv4 "$host" || echo "$host -"; done; }

# nginx takes this process's place and its signals; what is left here looks on, and ends with it.
(
  before=$(addresses "$@")
  while sleep 2 && kill -0 $$ 2>/dev/null; do
    now=$(addresses "$@")
    # While one is away its name has no address, with which nginx would not take the settings.
    case "$now" in "$before" | *' -'*) continue ;; esac
    nginx -c "$conf" -s reload && before=$now
  done
) &
exec nginx -c "$conf" -g 'daemon off;'
