#!/bin/sh
# Runs Node with CAP_NET_RAW, for the packet process alone. A file capability lets setpriv raise an ambient
# one, which survives an exec; a file capability of Node would make the loader and Node ignore their
# environment. Without NET_RAW in the container, or under no-new-privileges, this fails: the agent then offers
# no ping and traceroute.
exec /usr/local/lib/vantage/setpriv-packets --inh-caps=+net_raw --ambient-caps=+net_raw -- /usr/local/bin/node "$@"
