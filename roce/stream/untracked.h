/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Streams for which the table has no room: about how many there are, and which have most packets. The memory is bounded. A stream
 * that finds no place takes that with the fewest packets, and goes on counting from their number (Metwally et al., Efficient
 * computation of frequent and top-k elements in data streams, 2005; here in small sets). So a stream had at most `packets`, and at
 * least `packets - before`, whatever comes. Streams are counted by HyperLogLog (Flajolet et al., 2007).
 */
#ifndef ROCE_STREAM_UNTRACKED_H
#define ROCE_STREAM_UNTRACKED_H

#include "roce/stream/stream.h"

#define UNTRACKED_WAYS 4 /* places of a set */
#define UNTRACKED_KEPT 64
#define UNTRACKED_RANKS 1024 /* the number of streams is within some 3 % of the estimate */

struct roce_untracked_stream {
	struct roce_key key; /* kind KEY_NONE: free */
	__u8 dst[16];	     /* of the last packet, ... */
	__u32 dqpn;	     /* ... and of it */
	__u32 service;	     /* enum roce_service */
	__u64 packets;	     /* at most */
	__u64 before;	     /* of these, packets that may have been others' */
};

/* All zero at first. For one writer. */
struct roce_untracked {
	volatile __u64 ended; /* packets; a copy, made from the first byte on, is whole if `begun` is the same */
	struct roce_untracked_stream stream[UNTRACKED_KEPT];
	__u8 rank[UNTRACKED_RANKS];
	volatile __u64 begun;
};

#endif
