#!/bin/sh
# Runs the browser without the CAP_NET_RAW that the unit gives to the agent: one that inherits a capability is not used.
exec setpriv --inh-caps=-all --ambient-caps=-all -- "${VANTAGE_BROWSER:-/usr/bin/chromium-headless-shell}" "$@"
