/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel's program and user space share: the values of its maps and its settings. */
#ifndef BPF_ABI_H
#define BPF_ABI_H

#include <linux/bpf.h>

#include "roce/stream.h"

/*
 * The longest frame whose ICRC is computed: MTU 9216 with Ethernet and two VLAN tags. A multiple of the CRC's step of 64.
 */
#define FRAME_MAX 9280

/* Value of the map `streams`; its key is struct roce_key. */
struct stream_value {
	struct bpf_spin_lock lock;
	struct roce_stream stream;
};

/* Set before the program is loaded. */
struct monitor_settings {
	struct roce_ports ports;
	__u32 icrc_every; /* the ICRC of one frame out of so many, drawn at random, is verified; 0: of none */
	__u32 drop;	  /* 1: what came in is dropped after it was counted */
};

#endif
