/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The bytes that messages carry, and the CRCs and sums of pieces of them. */
#ifndef USERSPACE_SEND_PAYLOAD_H
#define USERSPACE_SEND_PAYLOAD_H

#include "bpf/slot.h"
#include "userspace/send/plan.h"

#define PIECES 4096 /* as many are remembered */

struct piece {
	uint32_t at, bytes; /* bytes 0: none yet */
	uint32_t crc;	    /* of these bytes alone, IEEE 802.3, as zlib's crc32() gives it */
	uint32_t sum;	    /* of their 16-bit big-endian words, unfolded; an odd last byte with a zero */
};

struct pieces {
	const __u8 *payload;
	struct piece piece[PIECES];
};

/* Fills in the pattern. Errors end the program: a file that cannot be read, or that is empty. */
void payload_fill(__u8 *payload, const struct plan *plan);

/* at + bytes: within PAYLOAD_CELLS. Valid until the next call. */
const struct piece *payload_piece(struct pieces *p, uint32_t at, uint32_t bytes);

#endif
