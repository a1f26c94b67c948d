/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A finding of the doctor. As JSON: rocescope.findings/1 (docs/json.md). */
#ifndef USERSPACE_DIAGNOSE_FINDING_FINDING_H
#define USERSPACE_DIAGNOSE_FINDING_FINDING_H

#include <stdint.h>

#include "roce/stream/stream.h"
#include "userspace/diagnose/solver/icrc_solve.h"

#define FINDING_EVIDENCE 5 /* most frames listed as evidence */
#define FINDING_KIND 48
#define FINDING_TEXT 800
#define FINDING_CAUSES 4 /* most causes named of one finding */

/* Packets that must agree in a finding. With fewer it is a candidate. */
#define FINDING_PACKETS 3

#define FINDING_NO_QPN UINT32_MAX /* the packet ends before its BTH, or its lengths are wrong before it */

struct evidence {
	__u64 frame;	   /* frame number, see struct doctor_packet */
	char expected[56]; /* what the specification asks for: "icrc 12 34 56 78", "PSN 0x000012"; may be empty */
	char found[48];
};

struct finding {
	char kind[FINDING_KIND]; /* icrc-swapped, icrc-no-ones+crc32c, icrc-bit-flip, psn-constant, lint-udp-length, ... */
	bool certain;  /* a finding; false: a candidate */
	bool habit;    /* neither: every packet of these streams has it, and receivers ignore it */
	bool hint;     /* neither: what could not be judged, and why */
	size_t number; /* unique in its list, from 1 */
	size_t below;  /* not 0: a consequence, which is told below the finding of this number */
	char causes[FINDING_CAUSES][FINDING_KIND]; /* kinds that explain it; of a finding of its own, kinds that explain a part */
	size_t cause_count;
	int weight;    /* importance, see userspace/diagnose/finding/finding.def */
	__u64 packets; /* packets that show it */
	size_t streams; /* streams that show it */
	struct roce_key stream; /* the first stream; its qpn may be FINDING_NO_QPN */
	struct evidence evidence[FINDING_EVIDENCE];
	size_t evidence_count;
	char text[FINDING_TEXT]; /* what is wrong, in words and figures */
	const char *asks;	 /* what the specification asks for, with its section */
	char fix[FINDING_TEXT];
	int solution_count; /* icrc-parameters: what the packets cannot tell apart, likeliest first */
	struct solution solutions[SOLUTIONS_MOST];
};

struct findings {
	struct finding *list; /* most important first */
	size_t count, room, added;
};

/* Appends a zeroed finding. NULL: no memory. The pointer is valid until the next call. */
struct finding *findings_add(struct findings *f);

/*
 * Sorts: certain findings, candidates, habits, hints, consequences; in each then by weight, packets, kind and stream. The order is
 * always the same.
 */
void findings_sort(struct findings *f);

/* Whether `what` is a consequence that is told below `cause`. */
bool finding_is_below(const struct finding *what, const struct finding *cause);

void findings_free(struct findings *f);

#endif
