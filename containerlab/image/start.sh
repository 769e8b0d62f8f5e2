#!/bin/sh
# The first process of a node: FRR if the node has /etc/frr/daemons, then the command. containerlab runs a node's `exec`
# afterwards, which starts cnpd.
set -e

# Without it watchfrr ends. /run is empty when a container starts.
install -d -o frr -g frr -m 755 /run/frr
if [ -e /etc/frr/daemons ]; then /usr/lib/frr/frrinit.sh start; fi
exec "$@"
