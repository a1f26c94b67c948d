/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages as the sender made them: in the order of its packets, whatever a receiver would make of them. A message that is
 * not whole is the sender's mistake only where no packet is missing.
 */
#ifndef USERSPACE_DOCTOR_MESSAGE_H
#define USERSPACE_DOCTOR_MESSAGE_H

#include "userspace/doctor/loss.h"
#include "userspace/doctor/sign.h"
#include "userspace/doctor/step.h"

/* How the payload of a whole message is not its DMA length. */
enum dma_class {
	DMA_PAD,	 /* by 1 to 3 bytes */
	DMA_EXTRA_IMM,	 /* 4 more */
	DMA_EXTRA_RETH,	 /* 16 more */
	DMA_COUNTS_RETH, /* 16 fewer */
	DMA_COUNTS_IMM,	 /* 4 fewer, and the immediate data is right, */
	DMA_MISSING_IMM, /* is none, */
	DMA_IMM,	 /* is not known */
	DMA_MISSING_RETH,
	DMA_OTHER,
	DMA_ABSENT,	 /* 4 fewer a packet: counted beside the others */
	DMA_CLASSES,
};

/* Those of one class. */
struct dma_study {
	__u64 count;
	__s64 off;   /* payload - DMA length of the first */
	__u64 bytes; /* its payload */
	bool same;   /* off, of all */
	bool varies; /* messages of the same payload have different DMA lengths */
	bool finer;  /* the payload is less round than the DMA length, in all of them */
	struct {
		__u64 frame, bytes;
		__u32 dma_length;
	} shown[FINDING_EVIDENCE];
};

struct message_study {
	bool met;   /* a message's beginning or end was seen */
	bool open;
	bool whole; /* nothing of the open one is missing, as far as its First tells */
	bool reth;  /* and it gave a DMA length, of which is known: */
	bool leapt; /* PSNs were left out inside it */
	__u8 first; /* its first opcode */
	__u32 dma_length;
	__u64 bytes;
	__u32 packets;
	__u32 partial;	   /* payload of its First or Middle packet before; 0: none, */
	bool uneven;	   /* and they differ */
	struct {
		__u64 frame;
		__u32 payload;
	} short_first;	   /* its First, if that is short of a path MTU by a RETH: what of it is wrong is not known yet; frame 0: it is not */
	__u64 extended;	   /* Lasts that a header too many made larger than the path MTU */
	__u64 ended;	   /* messages, whole or not */
	bool disturbed;	   /* not all packets since the latest immediate data were seen in order */
	bool counts;	   /* immediate data was seen, */
	__u32 immediate;   /* this one last, */
	__u64 imm_steps;   /* so many steps of +1, */
	__u64 imm_others;  /* and others */
	__u64 mistakes;	   /* DMA lengths, of any class */
	struct dma_study dma[DMA_CLASSES];
};

/* Whether message_study_take() judges the size of this First. */
bool message_judges_size(__u32 op, __u32 payload);

void message_study_take(struct message_study *m, struct loss *loss, struct signs *signs, const struct step *p, enum psn_how how);

/* Names what is wrong with DMA lengths. all_bad: no ICRC of the stream is right. */
void message_study_conclude(const struct message_study *m, struct signs *signs, bool all_bad);

#endif
