/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a perfect observer of what left can conclude, by the rules of docs/rules.md; written without the engine, so that
 * each can be held against the other. Each frame is told in the order of leaving.
 */
#ifndef USERSPACE_SEND_TRUTH_H
#define USERSPACE_SEND_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "userspace/send/packet.h"
#include "userspace/send/plan.h"

struct truth;

/* One packet as it left: its headers as they stand on the wire. */
struct truth_packet {
	uint8_t opcode;
	bool icrc_good;
	bool malformed;	       /* lengths contradict each other: nobody's packet */
	bool fragment, other;  /* IP fragment; no RoCE at all: nobody's either */
	bool addressed;	       /* src and dst tell from where to where; else as the plan has it */
	__u8 src[16], dst[16];
	uint32_t dqpn, sqpn;
	uint32_t psn;
	uint32_t dma_length;   /* of a RETH, if its opcode has one */
	uint32_t payload_bytes;
	uint32_t frame_bytes;
};

/* NULL: no memory. */
struct truth *truth_new(const struct plan *plan);

/* The stream of a QP, to be kept by it so that it need not be looked for. */
struct truth_stream *truth_of_qp(struct truth *t, const struct send_qp *qp);

/* s: the stream of the QP that made it; what a mistake put on another dqpn is looked up. Memory is bounded. */
void truth_observe(struct truth *t, struct truth_stream *s, const struct truth_packet *p);

/* Whether truth_write() will be able to, as far as can be known before; false with errno. */
bool truth_writable(const char *path);

/* rocescope.truth/1 to the file; false with errno. exact: nothing was lost on the way out. */
bool truth_write(const struct truth *t, const char *path, bool exact);

void truth_free(struct truth *t);

#endif
