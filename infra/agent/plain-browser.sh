#!/bin/sh
# Runs the browser without CAP_NET_RAW, which the unit gives to the agent: the agent uses no browser that has
# a capability.
exec setpriv --inh-caps=-all --ambient-caps=-all -- "${VANTAGE_BROWSER:-/usr/bin/chromium-headless-shell}" "$@"
