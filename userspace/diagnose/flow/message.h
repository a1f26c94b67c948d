/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Follows messages in the order in which the sender made the packets, whatever a receiver would make of them. An incomplete
 * message is the sender's mistake only if no packet is missing.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_MESSAGE_H
#define USERSPACE_DIAGNOSE_FLOW_MESSAGE_H

#include "userspace/diagnose/finding/step.h"
#include "userspace/diagnose/finding/symptom.h"
#include "userspace/diagnose/flow/loss.h"

/* How the payload of a whole message differs from its DMA length. */
enum dma_class {
	DMA_OF_PACKET,	 /* it counts the First alone, with or without headers, though more packets follow */
	DMA_PAD,	 /* by 1 to 3 bytes */
	DMA_EXTRA_IMM,	 /* 4 bytes more */
	DMA_EXTRA_RETH,	 /* 16 bytes more */
	DMA_COUNTS_RETH, /* 16 bytes fewer */
	DMA_COUNTS_IMM,	 /* 4 bytes fewer; the immediate data counts up */
	DMA_MISSING_IMM, /* the same; the immediate data does not count up */
	DMA_IMM,	 /* the same; unknown whether it counts up */
	DMA_MISSING_RETH,
	DMA_OTHER,
	DMA_ABSENT,	 /* 4 bytes fewer per packet: counted in addition to the other classes */
	DMA_CLASSES,
};

/* Wrong DMA lengths of one class. */
struct dma_study {
	__u64 count;
	__s64 off;   /* payload - DMA length, of the first one */
	__u64 bytes; /* payload of the first one */
	bool same;   /* `off` is the same in all */
	bool varies; /* equal payloads have different DMA lengths */
	bool finer;  /* in all of them the payload is less round than the DMA length */
	struct {
		__u64 frame, bytes;
		__u32 dma_length;
	} shown[FINDING_EVIDENCE];
};

struct message_study {
	bool met;   /* the beginning or the end of a message was seen */
	bool open;
	bool whole; /* nothing of the open message is missing since its First */
	bool reth;  /* its RETH gave a DMA length, namely: */
	__u32 first_payload; /* of its First */
	__u64 first_frame; /* of its First, if the DMA length is that packet's payload; else 0 */
	bool of_packet; /* ... and there is more in the message, which was counted */
	bool leapt; /* PSNs were skipped inside the message */
	bool left;  /* the sender went back inside of it: what follows may be of another one */
	__u8 first; /* opcode of its first packet */
	__u32 dma_length;
	__u64 bytes;
	__u32 packets;
	__u32 partial;	   /* payload of its First or Middle packet before; 0: none */
	bool uneven;	   /* these payloads differ */
	struct {
		__u64 frame;
		__u32 payload;
	} short_first;	   /* its First, if it is short of a path MTU by a RETH: either may be wrong; frame 0: not short */
	__u64 extended;	   /* Lasts that an extra header made larger than the path MTU */
	__u64 ended;	   /* messages whose beginning and end were seen, whole or not */
	__u64 filled;	   /* First and Middle packets */
	__u64 headless;	   /* Lasts without the packet before them, whose PSN was left out, */
	__u64 bare;	   /* or was not: the sender has left the packet out */
	struct {
		__u64 frame;
		__u32 psn, payload;
	} headless_shown[FINDING_EVIDENCE];
	bool disturbed;	   /* some packet since the latest immediate data was missing or out of order */
	bool counts;	   /* immediate data was seen */
	__u32 immediate;   /* the latest immediate data */
	__u64 imm_steps;   /* steps of +1 from one immediate data to the next */
	__u64 imm_others;  /* other steps */
	bool begun;	   /* the open message began with its First */
	bool judged;	   /* it counts in one of these two: */
	__u64 joined;	   /* messages of several packets with First, Last, and as much payload as the DMA length says */
	__u64 torn;	   /* messages that lack one of these */
	__u64 va_next;	   /* address behind the latest message with a RETH */
	__u64 walks;	   /* messages that begin at that address */
	__u64 mistakes;	   /* wrong DMA lengths of any class */
	struct dma_study dma[DMA_CLASSES];
};

/* Whether the payload is all there, whatever the PSNs say. */
enum message_payload {
	PAYLOAD_UNKNOWN, /* nothing tells */
	PAYLOAD_WHOLE,	 /* messages are whole, or immediate data or addresses go on without a leap */
	PAYLOAD_MISSING,
};
enum message_payload message_study_payload(const struct message_study *m);

/* Whether the DMA length of an RDMA WRITE First is that packet's payload: there is more in the message. */
bool message_dma_is_of_packet(__u32 op, __u32 payload, __u32 dma_length);

/* Whether message_study_take() judges the size of this First, so that no lint need do so. */
bool message_judges_size(__u32 op, __u32 payload);

void message_study_take(struct message_study *m, struct loss *loss, struct symptoms *symptoms, const struct doctor_step *p,
			enum psn_how how);

/* Adds the symptoms of wrong DMA lengths. all_bad: no ICRC of the stream is right. */
void message_study_conclude(const struct message_study *m, struct symptoms *symptoms, bool all_bad);

#endif
