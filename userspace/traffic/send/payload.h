/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The payload of messages, and the CRCs and sums of its pieces. */
#ifndef USERSPACE_TRAFFIC_SEND_PAYLOAD_H
#define USERSPACE_TRAFFIC_SEND_PAYLOAD_H

#include "bpf/slot.h"
#include "userspace/traffic/send/plan.h"

#define PIECES 4096 /* entries of the cache */

struct payload_piece {
	uint32_t at, bytes; /* bytes 0: unused entry */
	uint32_t crc;	    /* of these bytes only: IEEE 802.3, as zlib's crc32() */
	uint32_t sum;	    /* of their 16-bit big-endian words, unfolded; an odd last byte is padded with a zero byte; or 0 */
};

struct pieces {
	const __u8 *payload;
	bool sums; /* wanted: only for UDP checksums, because they cost several times the CRCs */
	struct payload_piece piece[PIECES];
};

/* Fills in the pattern. Errors end the program: a file that is empty or cannot be read. */
void payload_fill(__u8 *payload, const struct send_plan *plan);

/* at + bytes must lie within PAYLOAD_CELLS. The result is valid until the next call. */
const struct payload_piece *payload_piece(struct pieces *p, uint32_t at, uint32_t bytes);

#endif
