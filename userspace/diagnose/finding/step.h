/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One packet in the sequence of its stream, as the rules for PSNs, messages and loss see it. It waits for the next packet,
 * which shows whether its PSN was out of place.
 */
#ifndef USERSPACE_DIAGNOSE_FINDING_STEP_H
#define USERSPACE_DIAGNOSE_FINDING_STEP_H

#include "roce/event/event.h"
#include "roce/packet/opcode.h"

/* Whether a request asks for an answer. */
static inline bool request_asks(const struct roce_packet *p)
{
	return p->ackreq || roce_is_answered(p);
}

/* Why a sender goes back, as far as it was seen. */
enum loss_call {
	CALL_NONE,
	CALL_LOSS,   /* packets are missing here */
	CALL_BEHIND, /* the receiver asks for a packet that has passed here */
	CALL_LATE,   /* it asks for a packet that was overtaken here */
	CALL_RNR,    /* it is not ready */
	CALL_DAMAGE, /* a packet was damaged */
	CALL_OTHER,
	CALLS
};

struct doctor_step {
	__u64 frame;
	struct roce_event event;
	__u32 psn;
	__u32 op; /* OP_* */
	__u32 content; /* hash of the packet without its PSN */
	__u32 payload;
	__u32 dma_length;
	__u32 immediate;
	__u64 va;
	__u16 identification; /* IPv4's; 0: none */
	__u8 opcode;
	__u8 service;
	bool asks;    /* for an answer: AckReq, a READ, an atomic */
	bool apart;   /* packets between this one and the one before were not shown */
	bool damaged; /* its ICRC is wrong, but those of the stream are right */
	__u32 span;   /* PSNs that it takes: of a READ as many as its response, at most */
	bool guessed; /* how many PSNs a READ takes is only guessed so far */
	bool resent;  /* a packet that comes late was asked for again: it was lost, not overtaken */
	enum loss_call called; /* since the packet before, the receiver has asked for packets again */
};

/* How a packet follows the one before. */
enum psn_how {
	PSN_FIRST,     /* no packet was before it */
	PSN_FOLLOWS,
	PSN_PERHAPS,   /* it follows a READ, or packets behind that are missing: how many PSNs it takes is only guessed */
	PSN_LEAPS,     /* PSNs were skipped before it */
	PSN_ELSEWHERE, /* late, a duplicate, or far away */
	PSN_TAKEN,     /* the packet or its PSN is wrong, but the next packet continues the sequence */
	PSN_RESUMES,   /* the first packet after that one: what the engine says of its PSN is not its own fault */
};

#endif
