#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Prints every counter of this end that may count lost packets, for compare/counters.py. It starts few processes, since
# that is slow on an emulated CPU. Missing counters (DPDK holds the NIC, no rxe) are not printed.
#   counters.sh RDMA-DEVICE|- INTERFACE...
rdma=$1
shift
set -- "$@" --
files="/proc/net/snmp /proc/net/softnet_stat"
while [ "$1" != -- ]; do
	[ ! -e "/sys/class/net/$1" ] || files="$files /sys/class/net/$1/statistics/*"
	shift
done
[ ! -e "/sys/class/infiniband/$rdma" ] || files="$files /sys/class/infiniband/$rdma/ports/1/hw_counters/*"
# shellcheck disable=SC2086 # words and patterns
tail -vn +1 $files
echo "==> tc <=="
exec tc -s -j qdisc show
