/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a requester sends again: from the PSN that a NAK asks for (IBTA 9.7.5.2), and so that an answer is due (9.7.5.1.1). It goes
 * back when a packet comes again that is not behind the one before.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_GOBACK_H
#define USERSPACE_DIAGNOSE_FLOW_GOBACK_H

#include "userspace/diagnose/finding/packet.h"
#include "userspace/diagnose/finding/symptom.h"
#include "userspace/diagnose/flow/twice.h"

#define GOBACK_ASKED 64 /* PSNs that asked for an answer; a power of two */
#define GOBACK_NAKS 8   /* NAKs on their way at a time */

/* The packets that come again from one place on. */
struct goback_run {
	__u64 packets; /* that were sent before; 0: none */
	__u64 frame;   /* of the first one */
	__u32 psn;
	bool wrong; /* it begins elsewhere than the NAK asks for, ... */
	bool again; /* ... as the run before did, */
	bool early, soon; /* ... namely before it; and at once */
	bool asks;  /* one of them, or of the new packets behind them, asks for an answer */
	bool should; /* one that ends a message asked when it was sent first, */
	bool asked;  /* ... or another one did */
};

/* Of a stream of RC requests. */
struct goback {
	bool met;
	bool damaged; /* the packet before was damaged: its PSN is not known */
	__u32 newest, latest; /* PSNs of the newest and of the latest request */
	__u64 fastest; /* ns: the shortest time until a request was acknowledged; 0: not known */
	__u32 asked[GOBACK_ASKED]; /* PSN + 1 of requests that asked, by the low bits of the PSN */
	struct goback_run run; /* the latest one */
	struct { /* the NAK whose PSN has not come again */
		bool open;
		bool tried; /* the requester has gone back elsewhere: it goes there by itself next time */
		__u32 psn;
		__u64 frame, time; /* time: ns, of the stream's clock */
		__u32 before[GOBACK_NAKS], count; /* PSNs of those before it: the requester heeds one after the other */
	} nak;
	/* what was found */
	__u64 right;	   /* how often the requester went back to where a NAK asked it to, ... */
	__u64 wrong, early, soon; /* ... and elsewhere, of these before it, and of these at once */
	__u64 again;	   /* of `wrong`: those for a NAK for which it had gone elsewhere before */
	__u64 packets;	   /* of `wrong` */
	struct {
		__u64 frame, nak;
		__u32 wanted, psn;
	} shown[FINDING_EVIDENCE];
	__u64 asking;	   /* runs that ask for an answer, */
	__u64 mute;	   /* and those that do not, though they should; */
	__u64 mute_packets; /* their packets */
	struct symptom_seen mute_shown[FINDING_EVIDENCE];
};

/* Another sequence of PSNs begins. What was found stays. */
void goback_anew(struct goback *g);

/* A request was sent. */
void goback_request(struct goback *g, const struct doctor_packet *taken);

/* A request came with a wrong ICRC. */
void goback_damaged(struct goback *g);

/* A NAK (PSN sequence error) came. */
void goback_nak(struct goback *g, const struct doctor_packet *taken);

/* The same, of these requests or of others. */
void goback_shared_nak(struct goback *g, __u32 psn);

/* An acknowledgement came. sent: the latest requests. */
void goback_ack(struct goback *g, const struct twice *sent, const struct doctor_packet *taken);

/* How often QPs went back to where a NAK asked them to, and elsewhere. */
struct goback_runs {
	__u64 right, wrong;
	bool unsure; /* some may be wrong by chance: more of them are needed */
};

/* Adds those of a QP. lossy: its packets are lost before this place. All packets of both directions were taken. */
void goback_add(struct goback_runs *to, struct goback *g, bool lossy);

/*
 * Adds the symptoms. all: of all QPs between the two hosts. A QP is told of what it does often, and of what it does seldom if all of
 * them together do it often: right QPs of another program do not hide it. All packets of both directions were taken.
 */
void goback_conclude(struct goback *g, struct symptoms *symptoms, const struct goback_runs *all);

#endif
