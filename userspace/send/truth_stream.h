/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What truth remembers, for its own files. */
#ifndef USERSPACE_SEND_TRUTH_STREAM_H
#define USERSPACE_SEND_TRUTH_STREAM_H

#include "userspace/send/truth.h"
#include "userspace/send/truth_psn.h"
#include "userspace/send/truth_uc.h"

/* A stream's key, beside its addresses: its QPN, and what it is of. */
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
	uint64_t messages; /* but for UC */
	struct truth_uc uc;
	struct truth_psn psn;
};

struct truth {
	const struct plan *plan;
	struct truth_stream **streams; /* in the order of meeting */
	uint32_t count, most;
	uint32_t *index;	       /* of keys: 1 + the place in streams[]; 0: free */
	uint32_t index_mask;
	struct truth_stream untracked; /* packets there was no room for */
	uint64_t malformed, fragments, others;
};

static inline uint64_t truth_messages(const struct truth_stream *s)
{
	return s->messages + s->uc.messages;
}

#endif
