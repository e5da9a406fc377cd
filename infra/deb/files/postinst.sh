#!/bin/sh
set -e
if [ "$1" = configure ]; then
  getent passwd vantage-agent > /dev/null || useradd --system --user-group --home-dir /var/lib/vantage-agent \
    --no-create-home --shell /usr/sbin/nologin vantage-agent
  install -d -o vantage-agent -g vantage-agent -m 0700 /var/lib/vantage-agent
  [ -e /etc/vantage/agent.env ] || install -D -m 0600 /usr/share/vantage-agent/agent.env /etc/vantage/agent.env
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    # Restarts the service after an upgrade; a new agent starts when it is enrolled.
    systemctl try-restart vantage-agent
  fi
fi
