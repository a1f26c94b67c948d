#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Prints every counter of this end that may count lost packets, and the energy that its CPU packages took (RAPL), for
# compare/counters.py. It starts few processes, since that is slow on an emulated CPU. Missing counters (DPDK holds the NIC,
# no rxe, no RAPL) are not printed. RXE is the device of SoftRoCE, or -. POWERCAP: another folder, for tests.
#   counters.sh RXE INTERFACE...
rxe=$1
shift
set -- "$@" --
files="/proc/net/snmp /proc/net/snmp6 /proc/net/netstat /proc/net/softnet_stat"
nics=''
while [ "$1" != -- ]; do
	if [ -e "/sys/class/net/$1" ]; then
		nics="$nics $1"
		files="$files /sys/class/net/$1/statistics/*"
		for rdma in /sys/class/infiniband/*; do
			[ ! -e "$rdma/device/net/$1" ] || files="$files $rdma/ports/*/hw_counters/*"
		done
	fi
	shift
done
# Domains of a package (cores, memory) are parts of it or not CPUs; intel-rapl-mmio is the same package once more.
for domain in "${POWERCAP:-/sys/class/powercap}"/intel-rapl:*; do
	{ read -r name <"$domain/name" && read -r _ <"$domain/energy_uj"; } 2>/dev/null || continue
	case $name in
	package-*) files="$files $domain/energy_uj $domain/max_energy_range_uj" ;;
	esac
done
[ ! -e "/sys/class/infiniband/$rxe" ] || files="$files /sys/class/infiniband/$rxe/ports/1/hw_counters/*"
# shellcheck disable=SC2086 # words and patterns
tail -vn +1 $files
for nic in $nics; do
	echo "==> ethtool $nic <=="
	ethtool -S "$nic" 2>/dev/null
done
echo "==> tc <=="
exec tc -s -j qdisc show
