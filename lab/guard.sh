#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs a lab's agent on a machine that does not end with the lab, and then puts back what was changed there, however the agent
# ended. What undoes a change is a script in $SCRATCH/undo, written before the change is made; they run in reverse order.
#   guard.sh ROOT [SCRATCH]		SCRATCH is removed at the end; without it one is made
#   guard.sh ROOT SCRATCH watch		puts back as well, in case the guard itself is killed
# With APART=INTERFACE the agent has a network namespace of its own, with this interface in it.
export ROOT="$1" SCRATCH="$2"

# What could not be put back is kept.
put_back() {
	# shellcheck disable=SC2045 # numbers, and a glob knows no reverse order
	for undo in $(ls -r "$SCRATCH/undo" 2>/dev/null); do
		if why=$(sh -e "$SCRATCH/undo/$undo" 2>&1 >/dev/null); then
			rm "$SCRATCH/undo/$undo"
		else
			by_hand="ROOT=$ROOT SCRATCH=$SCRATCH sh -e $SCRATCH/by-hand/$undo"
			echo "guard: could not put back: $(echo "$why" | tail -n 1); by hand: $by_hand" >&2
		fi
	done
	if ! rmdir "$SCRATCH/undo" 2>/dev/null; then
		mv "$SCRATCH/undo" "$SCRATCH/by-hand"
	else
		rm -rf "$SCRATCH"
	fi
}

# The interface goes into a namespace of this name, and comes back before that ends: a veth would end with it.
set_apart() {
	space=${SCRATCH##*/}
	/usr/bin/python3 -E "$ROOT/lab/netif_settings.py" save "$APART" >"$SCRATCH/kept" || return
	cat >"$SCRATCH/undo/0" <<-END
		[ ! -e /run/netns/$space ] || ip -n $space link set dev $APART netns \$\$ || [ -e /sys/class/net/$APART ]
		ip netns delete $space || [ ! -e /run/netns/$space ]
		/usr/bin/python3 -E "\$ROOT/lab/netif_settings.py" restore "\$SCRATCH/kept"
	END
	ip netns add "$space" && ip link set dev "$APART" netns "$space" && return
	echo "$APART cannot be moved into a network namespace" >&2
	return 1
}

if [ "$3" = watch ]; then
	exec 9<"$SCRATCH" && flock 9 && [ -d "$SCRATCH/undo" ] && put_back
	exit
fi
if [ "$(id -u)" != 0 ]; then
	echo "needs root there, not $(id -un): ssh:root@..." >&2
	[ -z "$SCRATCH" ] || rm -rf "$SCRATCH"
	exit 1
fi
[ "$SCRATCH" ] || SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/rocescope.XXXXXXXX") || exit
trap : HUP INT TERM PIPE
mkdir "$SCRATCH/undo" && exec 9<"$SCRATCH" && flock 9 || exit
# Guard and agent hold the lock, for which the watcher waits.
setsid sh "$ROOT/lab/guard.sh" "$ROOT" "$SCRATCH" watch </dev/null >/dev/null 2>&1 9<&- &

# The agent is the first process of a PID namespace: all that it started ends with it.
# DPDK's files vanish with the folder.
space=''
if [ -z "$APART" ] || set_apart; then
	export RUNTIME_DIRECTORY="$SCRATCH"
	${space:+ip netns exec "$space"} unshare --pid --mount --fork --kill-child --mount-proc sh -c '
		cd "$1" || exit
		grep -q " /sys/fs/bpf bpf " /proc/mounts || mount -t bpf bpf /sys/fs/bpf || :
		exec /usr/bin/python3 -S -s -E lab/agent.py -' sh "$ROOT"
fi
put_back
