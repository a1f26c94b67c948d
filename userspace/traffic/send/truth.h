/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a perfect observer concludes from the packets that left, by docs/rules.md. It shares no code with the engine, so that
 * each can be checked against the other. Frames are observed in the order of leaving.
 */
#ifndef USERSPACE_TRAFFIC_SEND_TRUTH_H
#define USERSPACE_TRAFFIC_SEND_TRUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "userspace/traffic/send/packet.h"
#include "userspace/traffic/send/plan.h"

struct truth;

/* The headers of one packet as it left. */
struct truth_packet {
	uint8_t opcode;
	bool icrc_good;
	bool malformed;	       /* lengths contradict each other: belongs to no stream */
	bool fragment, other;  /* IP fragment; not RoCE: belong to no stream either */
	bool addressed;	       /* src and dst are valid; if not, the plan's addresses apply */
	__u8 src[16], dst[16];
	uint32_t dqpn, sqpn;
	uint32_t psn;
	uint32_t dma_length, rkey; /* of the RETH, if the opcode has one */
	uint64_t va;		   /* likewise */
	uint32_t immediate;	   /* of the ImmDt, likewise */
	uint32_t payload_bytes;
	uint32_t frame_bytes;
};

/* NULL: no memory. */
struct truth *truth_new(const struct send_plan *plan);

/* The stream of a QP. The QP keeps it, so that no lookup is needed. */
struct truth_stream *truth_of_qp(struct truth *t, const struct send_qp *qp);

/* s: the stream of the QP that made the packet. Packets that a fault gave another dqpn are looked up. Memory is bounded. */
void truth_observe(struct truth *t, struct truth_stream *s, const struct truth_packet *p);

/* Checks early whether truth_write() can succeed. false with errno. */
bool truth_writable(const char *path);

/* Writes rocescope.truth/1 to the file. exact: no packet was lost while sending. false with errno. */
bool truth_write(const struct truth *t, const char *path, bool exact);

void truth_free(struct truth *t);

#endif
