#!/bin/sh
# vantage-agent: `enrol URL TOKEN` as root enrols this machine and starts the service; `run TYPE HOST` runs
# one check.
set -eu
home=/usr/lib/vantage-agent
environment=/etc/vantage/agent.env
node() { "$home/node" --max-semi-space-size=2 "$home/dist/main.js" "$@"; }

if [ "${1:-}" != enrol ] || [ "${2:-}" = --help ]; then
  node "$@"
  exit
fi
if [ "$(id -u)" != 0 ]; then
  echo 'vantage-agent enrol: must be run as root' >&2
  exit 2
fi
# Exports the settings in the file, except PATH: the enrolment uses those of the connection, and fails at an
# invalid one, with which the agent would not start either.
while IFS= read -r line; do
  name=${line%%=*}
  case "$name" in "$line" | '' | [!A-Z]* | *[!A-Z0-9_]* | PATH) ;; *) export "$line" ;; esac
done < "$environment"
# Enrols as the user of the service, to whom the key must belong.
VANTAGE_STATE_FOLDER=/var/lib/vantage-agent setpriv --reuid=vantage-agent --regid=vantage-agent --clear-groups \
  "$home/node" "$home/dist/main.js" "$@"
{ grep -v '^VANTAGE_URL=' "$environment" || true; echo "VANTAGE_URL=$2"; } > "$environment.new"
chmod 0600 "$environment.new"
mv "$environment.new" "$environment"
if [ -d /run/systemd/system ]; then
  systemctl enable --quiet vantage-agent
  systemctl restart vantage-agent
  echo 'The service vantage-agent runs.'
else
  echo 'systemd does not run here: start vantage-agent with the variables of /etc/vantage/agent.env.'
fi
