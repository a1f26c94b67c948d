/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages as the sender made them: in the order of its packets, whatever a receiver would make of them. A message that is
 * not whole is the sender's mistake only where no packet is missing.
 */
#ifndef DOCTOR_MESSAGE_H
#define DOCTOR_MESSAGE_H

#include "doctor/loss.h"
#include "doctor/sign.h"
#include "doctor/step.h"

/* Payload of whole messages that is not their DMA length. */
struct dma_study {
	__u64 count;
	__s64 off;	     /* payload - DMA length of the first */
	bool same;	     /* as it is of all */
	bool small;	     /* less than 4 bytes in all */
	bool by_packets;     /* each is short of 4 bytes a packet */
	bool varies;	     /* messages of the same payload have different DMA lengths */
	__u64 bytes;	     /* payload of the first */
	bool finer;	     /* the payload is less round than the DMA length, in all of them */
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
	__u64 ended;	   /* messages, whole or not */
	bool disturbed;	   /* not all packets since the latest immediate data were seen in order */
	bool counts;	   /* immediate data was seen, */
	__u32 immediate;   /* this one last, */
	__u64 imm_steps;   /* so many steps of +1, */
	__u64 imm_others;  /* and others */
	struct dma_study dma;
};

void message_study_take(struct message_study *m, struct loss *loss, struct signs *signs, const struct step *p, enum psn_how how);

/* Names what is wrong with DMA lengths. all_bad: no ICRC of the stream is right. */
void message_study_conclude(const struct message_study *m, struct signs *signs, bool all_bad);

#endif
