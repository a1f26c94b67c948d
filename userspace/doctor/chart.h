/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the doctor remembers: of a stream, of a sender, of a direction between two hosts. */
#ifndef USERSPACE_DOCTOR_CHART_H
#define USERSPACE_DOCTOR_CHART_H

#include "userspace/doctor/icrc.h"
#include "userspace/doctor/index.h"
#include "userspace/doctor/lint.h"
#include "userspace/doctor/loss.h"
#include "userspace/doctor/message.h"
#include "userspace/doctor/psn.h"

#define NO_PSN PAIR_NO_PSN
#define PHANTOM 3 /* so many packets with a bad ICRC make a stream; fewer may be what a flipped bit made of another's */

/* One stream. */
struct chart {
	struct roce_key key; /* first: its place in the index */
	__u64 packets, bad, good; /* bad, good: by ICRC */
	bool trusted;
	__u8 service;
	struct icrc_study *icrc; /* NULL: no bad one yet */
	struct icrc_before before;
	struct step waiting; /* the latest packet of the sequence, if waits */
	bool waits;
	struct signs signs;
	struct psn_study psn;
	struct message_study message;
	struct loss loss;
	struct lint_study lint;
	__u64 connection; /* by connection management, of the latest packet */
	__u32 start, other_start; /* first PSN as it should be, and that of the other direction; NO_PSN: not known */
	bool started; /* the first PSN was known of some connection */
	__u64 asked; /* packets that a response is due to, */
	__u64 ackreqs; /* packets that ask for one, */
	__u64 silent, silent_frame; /* messages that end before any does, and where the first of them ends */
	__u64 acked; /* ACKs for it */
	__u64 refused; /* NAKs, PSN sequence error, for PSNs that are not missing here */
	__u32 wanted; /* by the first of them */
	__u64 wanted_frame;
	struct { /* the latest RETH */
		__u64 va;
		__u32 rkey, dma_length;
		bool known;
	} reth;
	__u64 burst; /* the last one it lost packets in */
	struct { /* the first bad ICRCs */
		__u64 frame;
		__u32 expected, found;
	} bad_shown[FINDING_EVIDENCE];
};

/* All packets of one source address. */
struct sender {
	__u8 address[16];
	struct icrc_before before;
};

/* All packets from one address to another. */
struct path {
	__u8 src[16], dst[16];
	__u64 packets, responses;
	struct chart *requests; /* the stream of the latest request */
};

struct doctor {
	struct index charts, senders, paths;
	struct pairs pairs;
	struct signs loose; /* of frames that belong to no stream, */
	struct roce_key loose_key[FINDING_KINDS]; /* and who sent the first of each */
	bool selection; /* doctor_selection() */
	__u64 left_out; /* packets of streams there was no room for */
	__u64 packets;	/* that were looked at */
	bool large;	/* some stream has a right ICRC, or PHANTOM packets */
	/* losses of several streams at a time */
	__u64 burst, burst_frame, burst_streams, burst_gaps; /* the present one: its number, where it began, who lost */
	__u64 gaps, gaps_together;
	__u64 latest; /* number of the packet before */
};

/* Losses of several streams within so many frames are one. */
static inline __u64 burst_frames(const struct doctor *d)
{
	return 8 + 2 * d->charts.count;
}

/* The packet that waits is the stream's last. */
void doctor_settle(struct doctor *d, struct chart *c);

/* An acknowledgement, NAK or CNP: what it says of the requests of its receiver. */
void answer_take(struct doctor *d, struct chart *response, const struct doctor_packet *p);

/* Drops from a stream's signs what is a consequence of others. */
void explain_chart(struct chart *c);

/* ... and what needs all packets of it. */
void explain_selection(struct chart *c);

/* ... and from the findings of all streams. */
void explain_findings(struct findings *f);

#endif
