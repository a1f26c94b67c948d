/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets ready to leave, between who makes them (one thread) and who sends them (the BPF program of live frames, or a
 * thread with a socket or a file). A packet is its headers, a piece of the payload memory, and its last eight bytes; what
 * differs from that, a corrupted payload say, has its bytes in a cell of the payload memory.
 */
#ifndef BPF_SLOT_H
#define BPF_SLOT_H

#include <linux/types.h>

#define SLOT_HEADERS 104 /* Ethernet, a VLAN tag, IPv6, UDP, BTH, RETH, ImmDt are 98; a multiple of 8 */
#define SLOT_TAIL 8	 /* pad and ICRC are at most 7 */

struct slot {
	__u64 departure;      /* ns since the first packet's; paced only */
	__u32 payload : 24;   /* where in the payload memory, bytes */
	__u32 header_bytes : 8; /* at most SLOT_HEADERS; the payload follows them */
	__u16 payload_bytes;
	__u16 frame_bytes;    /* without FCS: headers, payload, and what of the tail is not payload */
	__u8 tail[SLOT_TAIL]; /* the frame's last bytes, payload among them if pad and ICRC are fewer */
	__u8 headers[SLOT_HEADERS];
};
_Static_assert(sizeof(struct slot) == 128, "two cache lines");

#define RING_SLOTS 4096

#define PAYLOAD_PATTERN (1 << 20) /* bytes that the plan's payload repeats after */
#define CELL_BYTES 10240	  /* the largest frame with all its mistakes */
#define CELLS 256
#define PAYLOAD_CELLS (PAYLOAD_PATTERN + CELL_BYTES) /* cells begin here; in front of them the pattern's beginning once more */
#define CELL_OFFSET(cell) (PAYLOAD_CELLS + (cell) * CELL_BYTES)

/* Lateness, log-linear: four steps to each power of two of ns. */
#define LATE_STEPS 4
#define LATE_BUCKETS (64 * LATE_STEPS)

struct send_memory {
	struct slot ring[RING_SLOTS];
	__u8 payload[CELL_OFFSET(CELLS)];
	/* the maker's */
	__u64 produced __attribute__((aligned(128)));
	__u64 ended; /* nothing will follow */
	/* the sender's */
	__u64 consumed __attribute__((aligned(128)));
	__u64 bytes;   /* of those frames */
	__u64 start;   /* CLOCK_MONOTONIC, ns: when the first packet leaves; paced only: set before the way out is to run */
	__u64 spacing; /* ns that lie between two packets at least, also when catching up */
	__u64 last;    /* when the last one left */
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
