#!/bin/sh
# Runs nginx, and reloads its settings when the address of one of the given hosts has changed: a recreated
# container may have another address.
conf=/etc/vantage/nginx.conf

addresses() { for host; do getent ahostsv4 "$host" || echo "$host -"; done; }

# The loop runs in a child, and ends when nginx, which replaces this process, has ended.
(
  before=$(addresses "$@")
  while sleep 2 && kill -0 $$ 2>/dev/null; do
    now=$(addresses "$@")
    # The name of a stopped container has no address, and nginx would reject the settings.
    case "$now" in "$before" | *' -'*) continue ;; esac
    nginx -c "$conf" -s reload && before=$now
  done
) &
exec nginx -c "$conf" -g 'daemon off;'
