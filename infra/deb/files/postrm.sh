#!/bin/sh
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload
if [ "$1" = purge ]; then
  # With the key: without it the agent must be enrolled again.
  rm -rf /var/lib/vantage-agent
  rm -f /etc/vantage/agent.env /etc/vantage/agent.env.new
  [ ! -d /etc/vantage ] || rmdir --ignore-fail-on-non-empty /etc/vantage
fi
