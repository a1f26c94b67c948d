/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A ring of packets between the generator (one thread) and the sender (the BPF program of live frames, or a thread with a
 * socket or a file). A packet consists of its headers, a range of the payload memory, and its last eight bytes. A packet with
 * other bytes, such as a corrupted payload, has them in a cell of the payload memory.
 */
#ifndef BPF_SLOT_H
#define BPF_SLOT_H

#include <linux/types.h>

#define SLOT_HEADERS 104 /* Ethernet, VLAN tag, IPv6, UDP, BTH, RETH and ImmDt take 98; a multiple of 8 */
#define SLOT_TAIL 8	 /* pad and ICRC take at most 7 */

struct slot {
	__u64 departure;      /* ns since the first packet's departure; paced only */
	__u32 payload : 24;   /* offset in the payload memory, bytes */
	__u32 header_bytes : 8; /* at most SLOT_HEADERS; the payload follows them */
	__u16 payload_bytes;
	__u16 frame_bytes;    /* without FCS: headers, payload, and the part of the tail behind the payload */
	__u8 tail[SLOT_TAIL]; /* the frame's last bytes; begins with payload if pad and ICRC are shorter */
	__u8 headers[SLOT_HEADERS];
};
_Static_assert(sizeof(struct slot) == 128, "two cache lines");

#define RING_SLOTS 4096

#define PAYLOAD_PATTERN (1 << 20) /* period of the plan's payload, bytes */
#define CELL_BYTES 10240	  /* the largest frame with any mistakes */
#define CELLS 256
#define PAYLOAD_CELLS (PAYLOAD_PATTERN + CELL_BYTES) /* cells begin here, behind a copy of the pattern's beginning */
#define CELL_OFFSET(cell) (PAYLOAD_CELLS + (cell) * CELL_BYTES)

/* Lateness in ns, log-linear: four steps per power of two. */
#define LATE_STEPS 4
#define LATE_BUCKETS (64 * LATE_STEPS)

struct send_memory {
	struct slot ring[RING_SLOTS];
	__u8 payload[CELL_OFFSET(CELLS)];
	/* written by the generator */
	__u64 produced __attribute__((aligned(128)));
	__u64 ended; /* no packets follow */
	/* written by the sender */
	__u64 consumed __attribute__((aligned(128)));
	__u64 bytes;   /* bytes of the sent frames */
	__u64 start;   /* CLOCK_MONOTONIC, ns: departure of the first packet; paced only. Set before the sender starts */
	__u64 spacing; /* least time between two packets in ns, also when catching up */
	__u64 last;    /* departure of the last packet */
	__u64 late_max;
	__u64 late[LATE_BUCKETS];
};

/* The bucket of a lateness. */
static inline __attribute__((always_inline)) __u32 late_bucket(__u64 ns)
{
	__u32 log2 = 0;

	if (ns < LATE_STEPS)
		return ns;
	for (__u32 step = 32; step; step >>= 1)
		if (ns >> log2 >> step)
			log2 += step;
	return (log2 * LATE_STEPS + (ns >> (log2 - 2) & 3)) & (LATE_BUCKETS - 1);
}

#endif
