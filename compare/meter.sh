#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs a program that does not measure its own CPU. While it runs, lines on stderr give the time (s), the busy time of the
# machine and of the program (both in ticks of 10 ms), and the packets that the interface sent and received (nothing if
# DPDK holds it). Ends with the program's status. Passes SIGTERM to the program.
#   meter.sh INTERFACE PROGRAM ARGS...
nic=/sys/class/net/$1/statistics
shift
"$@" &
pid=$!
trap : TERM

ticks() {	# fields 14 and 15 of proc(5): the program's name, with its blanks, is left out
	line=$1
	# shellcheck disable=SC2086
	set -- ${line##*) }
	program=$((${12} + ${13}))
}

sample() {
	read -r line 2>/dev/null <"/proc/$pid/stat" || return
	ticks "$line"
	read -r now _ </proc/uptime
	read -r _ user nice system _ _ irq softirq _ </proc/stat
	sent='' received=''
	[ ! -e "$nic" ] || read -r sent <"$nic/tx_packets"
	[ ! -e "$nic" ] || read -r received <"$nic/rx_packets"
	echo "meter $now $((user + nice + system + irq + softirq)) $program ${sent:+$((sent + received))}" >&2
}

while kill -0 "$pid" 2>/dev/null; do
	sample
	sleep 0.25
done
wait "$pid"
