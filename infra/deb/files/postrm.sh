#!/bin/sh
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload
# Removes the key: without it the agent must be enrolled again.
[ "$1" != purge ] || rm -rf /var/lib/vantage-agent
