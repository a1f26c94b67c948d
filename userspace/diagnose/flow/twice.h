/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Packets of a stream that come again, by one digest of each: the same frame captured twice, a packet sent again, or another packet
 * with the same PSN. The engine knows copies that follow soon (roce/sequence/copies.h); this remembers more, and their content.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_TWICE_H
#define USERSPACE_DIAGNOSE_FLOW_TWICE_H

#include "userspace/diagnose/finding/packet.h"
#include "userspace/diagnose/finding/symptom.h"

#define TWICE_LAST 128 /* PSNs that are remembered; a power of two */

struct twice_seen {
	__u64 time; /* ns, of the stream's clock */
	__u64 frame;
	__u32 psn; /* + 1; 0: none */
	__u32 content;
	__u16 ip_id;
	__u8 opcode;
};

struct twice {
	struct twice_seen last[TWICE_LAST]; /* by the low bits of the PSN */
	bool follows;	   /* the packet before was not damaged, and this is its PSN: */
	__u32 latest;
	__u32 left_out[TWICE_LAST]; /* PSN + 1 of those left out, by the low bits of the PSN */
	__u64 counted;	   /* copies, as the stream has counted them */
	__u64 copies;	   /* and as they were taken here, of which the distance is known: */
	__u64 least, most; /* ns */
	__u64 refused;	   /* frame of the receiver's last NAK: what comes again behind it was sent again */
	__u64 undecided;   /* packets that may be copies or sent again: nothing in them tells */
	struct twice_seen differs[FINDING_EVIDENCE]; /* packets unlike the one before with their PSN, and ... */
	struct twice_seen from[FINDING_EVIDENCE];    /* ... that one, until it is clear that the QP was not used again */
	__u64 differing;
};

/*
 * Takes a packet with a PSN before the other studies do, which must not see copies. content: hash of the packet behind the BTH, and
 * of its opcode. Returns whether it is a copy.
 */
bool twice_take(struct twice *t, struct symptoms *symptoms, const struct doctor_packet *taken, __u32 content);

/* The opcode of the latest packet with this PSN (-1: it is not remembered), and its time (ns; 0: likewise). */
int twice_opcode(const struct twice *t, __u32 psn);
__u64 twice_time(const struct twice *t, __u32 psn);

/* The latest packet with this PSN that was not damaged. NULL: none, or it was forgotten. */
const struct twice_seen *twice_at(const struct twice *t, __u32 psn);

/* Whether this PSN was left out when it was to be sent, perhaps again, and the sender has not gone back to it since. */
bool twice_left_out(const struct twice *t, __u32 psn);

/* The receiver asks for a PSN that was not: what was left out so far was sent before that one, and no later answer is about it. */
void twice_forget_left_out(struct twice *t);

/* How many earlier packets this one shows to be copies, though they were taken for packets sent again. */
__u64 twice_settled(struct twice *t, const struct doctor_packet *taken);

/* Says what could not be told. Call behind loss_conclude(). */
void twice_conclude(struct twice *t, struct symptoms *symptoms);

#endif
