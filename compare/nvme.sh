#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# NVMe over fabrics between two ends, by the kernel's own target and host. The disk is memory of the target.
#   nvme.sh serve rdma|tcp ADDRESS      a disk on this address; "serving" when it is there
#   nvme.sh connect rdma|tcp ADDRESS    the disk is then /dev/rocescope-disk
#   nvme.sh disconnect
#   nvme.sh remove                      what serve has made. Both succeed where nothing is left
# By what nvme-cli and nvmetcli write as well: /dev/nvme-fabrics (drivers/nvme/host/fabrics.c) and configfs
# (drivers/nvme/target/configfs.c).
NQN=nqn.2026-11.rocescope:disk
PORT=4420
DISK_MIB=64
QUEUE=32		# entries. One stays free, so 31 commands are under way
IN_COMMAND=4096		# bytes that a write has beside its command; more the target fetches. As the IOWN report's
SILENCE_S=60		# an emulated host may be late with its keep-alive, which is 5 s

disk_link=/dev/rocescope-disk
config=/run/rocescope-config	# configfs
nullb=$config/nullb/nullb0
subsystem=$config/nvmet/subsystems/$NQN
port=$config/nvmet/ports/1

fail() {
	echo "nvme.sh: $*" >&2
	exit 1
}

serve() {
	modprobe null_blk nr_devices=0 && modprobe -a nvmet "nvmet-$1" || fail "this kernel has no null_blk or no nvmet-$1"
	set -e
	mkdir -p $config
	mount -t configfs configfs $config
	mkdir "$nullb"
	echo $DISK_MIB >"$nullb/size"
	echo 1 >"$nullb/memory_backed"
	echo 1 >"$nullb/power"
	mkdir "$subsystem" "$subsystem/namespaces/1"
	echo 1 >"$subsystem/attr_allow_any_host"
	echo /dev/nullb0 >"$subsystem/namespaces/1/device_path"
	echo 1 >"$subsystem/namespaces/1/enable"
	mkdir "$port"
	echo "$1" >"$port/addr_trtype"
	echo ipv4 >"$port/addr_adrfam"
	echo "$2" >"$port/addr_traddr"
	echo $PORT >"$port/addr_trsvcid"
	echo $IN_COMMAND >"$port/param_inline_data_size"
	ln -s "$subsystem" "$port/subsystems/"
	echo serving
}

remove() {
	rm -f "$port/subsystems/$NQN"
	[ ! -e "$port" ] || rmdir "$port"
	[ ! -e "$subsystem/namespaces/1" ] || rmdir "$subsystem/namespaces/1"
	[ ! -e "$subsystem" ] || rmdir "$subsystem"
	[ ! -e "$nullb" ] || rmdir "$nullb"
	! mountpoint -q $config || umount $config
	[ ! -e $config ] || rmdir $config
}

connect() {
	modprobe "nvme-$1" || fail "this kernel has no nvme-$1"
	exec 3<>/dev/nvme-fabrics
	echo "transport=$1,traddr=$2,trsvcid=$PORT,nqn=$NQN,nr_io_queues=1,queue_size=$QUEUE,keep_alive_tmo=$SILENCE_S" >&3 ||
		fail "no connection to $2: dmesg says why"
	read -r said <&3	# instance=0,cntlid=1
	controller=${said#instance=}
	controller=nvme${controller%%,*}
	disk=${controller}n1
	for _ in $(seq 300); do
		[ "$(cat "/sys/block/$disk/device/subsysnqn" 2>/dev/null)" != $NQN ] || break
		sleep 0.1
	done
	[ -b "/dev/$disk" ] || fail "$disk does not come"
	for queue in "/sys/block/$controller"[cn]*/queue; do	# with multipath the disk has one behind it, nvme0c0n1
		echo 2 >"$queue/nomerges"	# each block is a command of its own
	done
	ln -s "$disk" $disk_link
}

disconnect() {
	rm -f $disk_link
	for controller in /sys/class/nvme/nvme*; do
		[ "$(cat "$controller/subsysnqn" 2>/dev/null)" != $NQN ] || echo 1 >"$controller/delete_controller"
	done
}

"$@"
