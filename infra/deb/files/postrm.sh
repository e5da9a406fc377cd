#!/bin/sh
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload
if [ "$1" = purge ]; then
  # Removes the key of the agent too, which must then be enrolled again.
  rm -rf /var/lib/vantage-agent
  rm -f /etc/vantage/agent.env /etc/vantage/agent.env.new
  [ ! -d /etc/vantage ] || rmdir --ignore-fail-on-non-empty /etc/vantage
fi
