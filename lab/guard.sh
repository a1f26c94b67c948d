#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Runs a lab's agent on a machine that does not end with the lab, and then puts back what was changed there, however the agent
# ended. What undoes a change is a script in $SCRATCH/undo, written before the change is made; they run in reverse order.
#   guard.sh ROOT [SCRATCH]		SCRATCH is removed at the end; without it one is made
root=$1
scratch=${2:-$(mktemp -d "${TMPDIR:-/tmp}/rocescope.XXXXXXXX")} || exit
trap : HUP INT TERM PIPE
mkdir "$scratch/undo"

# The agent is the first process of a PID namespace: all that it started ends with it.
# DPDK's files vanish with the folder.
SCRATCH=$scratch RUNTIME_DIRECTORY=$scratch unshare --pid --mount --fork --kill-child --mount-proc sh -c '
	cd "$1" || exit
	grep -q " /sys/fs/bpf bpf " /proc/mounts || mount -t bpf bpf /sys/fs/bpf || :
	exec /usr/bin/python3 -S -s -E lab/agent.py -' sh "$root"

for undo in $(ls -r "$scratch/undo"); do
	sh -e "$scratch/undo/$undo" >&2
done
rm -rf "$scratch"
