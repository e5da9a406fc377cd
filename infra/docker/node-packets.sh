#!/bin/sh
# Runs Node with CAP_NET_RAW, for the packet process alone. The capability of the file makes setpriv able to raise an ambient
# one, which an exec keeps; a capability of Node's own file would make the loader and Node ignore their environment.
# Where the container was given no NET_RAW, or has no-new-privileges, this fails: the agent then offers no ping and traceroute.
exec /usr/local/lib/vantage/setpriv-packets --inh-caps=+net_raw --ambient-caps=+net_raw -- /usr/local/bin/node "$@"
