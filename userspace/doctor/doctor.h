/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a sender does wrong. The doctor is shown packets with what the engine made of them (all of a capture; or, live, those
 * that the kernel's program took) and concludes with a list of findings. It remembers a bounded amount a stream, and its
 * streams are bounded as well.
 */
#ifndef USERSPACE_DOCTOR_DOCTOR_H
#define USERSPACE_DOCTOR_DOCTOR_H

#include "userspace/doctor/finding.h"
#include "userspace/model/expect.h"
#include "userspace/model/observer.h"

struct doctor;

struct doctor_packet {
	__u64 number; /* of the frame: in the capture from 1, as Wireshark counts; live: of those taken */
	const struct observer_frame *frame;
	const struct observer_look *look;
	const struct roce_event *event;
	const struct roce_stream *stream; /* as it is behind this packet; NULL: it has none */
	bool apart; /* packets of its stream between the one before and this one are not shown (live) */
};

/* NULL: no memory. */
struct doctor *doctor_new(void);

/* Connections that are known beforehand, before the first packet. false: too many. */
bool doctor_expect(struct doctor *d, const struct expected *e);

/* The packets of a stream in their order. Nothing of what is pointed to is kept. */
void doctor_take(struct doctor *d, const struct doctor_packet *p);

/* What it is shown are chosen packets: what is missing between them is no loss, and nothing is concluded from it. */
void doctor_selection(struct doctor *d);

/* A packet of which only the headers are there: nothing is judged by it but the ICRC of the one behind it. */
void doctor_remember(struct doctor *d, const struct observer_frame *frame, const struct roce_packet *p);

/*
 * What is wrong, most important first; findings_free() it. totals: of everything that was seen. Afterwards no more packets can be taken. false: no memory; what
 * is in f is right then, but not all.
 */
bool doctor_conclude(struct doctor *d, const struct roce_totals *totals, struct findings *f);

/* How much was looked at. */
struct doctor_checked {
	__u64 packets, streams;
	__u64 icrcs;	 /* that were verified */
	__u64 sequences; /* streams whose PSNs could be followed */
	__u64 messages;	 /* whose beginning and end were seen */
	__u64 starts;	 /* streams whose first PSN was known beforehand */
};
struct doctor_checked doctor_checked(const struct doctor *d);

void doctor_free(struct doctor *d);

#endif
