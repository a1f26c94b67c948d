/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The state of truth, private to its files. */
#ifndef USERSPACE_TRAFFIC_SEND_TRUTH_STREAM_H
#define USERSPACE_TRAFFIC_SEND_TRUTH_STREAM_H

#include "userspace/traffic/send/truth.h"
#include "userspace/traffic/send/truth_psn.h"
#include "userspace/traffic/send/truth_uc.h"

/* Part of a stream's key, beside its addresses: the QPN and the kind of stream. */
#define KEY_IS_RESPONSE (1u << 24)
#define KEY_IS_DATAGRAM (1u << 25) /* the QPN is the source's */

struct truth_stream {
	uint32_t key;
	__u8 src[16], dst[16];
	uint32_t dqpn;
	bool met;      /* its sequence has begun */
	bool trusted;  /* a good ICRC was seen */
	uint8_t service;
	uint64_t packets, bytes, payload_bytes, icrc_bad;
	struct truth_uc uc;
	struct truth_psn psn;
};

struct truth {
	const struct send_plan *plan;
	struct truth_stream **streams; /* in the order in which they appeared */
	uint32_t count, most;
	uint32_t *index;	       /* hash table of keys: 1 + index in streams[]; 0: free */
	uint32_t index_mask;
	struct truth_stream untracked; /* packets without room for a stream */
	uint64_t malformed, fragments, others;
};

static inline uint64_t truth_messages(const struct truth_stream *s)
{
	return s->psn.messages + s->uc.messages;
}

#endif
