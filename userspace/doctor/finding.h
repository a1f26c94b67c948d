/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the doctor found. As JSON: rocescope.findings/1 (docs/json.md). */
#ifndef USERSPACE_DOCTOR_FINDING_H
#define USERSPACE_DOCTOR_FINDING_H

#include <stdint.h>

#include "roce/stream.h"

#define FINDING_EVIDENCE 5 /* frames that are shown for it */
#define FINDING_KIND 48
#define FINDING_TEXT 400

/* A finding needs so many packets that agree; fewer are a candidate. */
#define FINDING_PACKETS 3

#define FINDING_NO_QPN UINT32_MAX /* the packet ends, or its lengths lie, before its BTH */

struct evidence {
	__u64 frame;	   /* number, see struct doctor_packet */
	char expected[48]; /* what the specification wants there, "icrc 12 34 56 78", "PSN 0x000012"; may be empty */
	char found[48];
};

struct finding {
	char kind[FINDING_KIND]; /* icrc-swapped, icrc-no-ones+crc32c, icrc-bit-flip, psn-constant, lint-udp-length, ... */
	bool certain;  /* finding, else candidate */
	bool hint;     /* neither: what could not be judged, and why */
	int weight;    /* how important: see userspace/doctor/finding.def */
	__u64 packets; /* that show it */
	size_t streams; /* that show it */
	struct roce_key stream; /* the first of them; its qpn may be FINDING_NO_QPN */
	struct evidence evidence[FINDING_EVIDENCE];
	size_t evidence_count;
	char text[FINDING_TEXT]; /* what is wrong, in words, with its figures */
	const char *asks;	 /* what the specification asks for, with section */
	char fix[FINDING_TEXT];
};

struct findings {
	struct finding *list; /* most important first */
	size_t count, room;
};

/* A zeroed one at the end of the list; NULL: no memory. Valid until the next call. */
struct finding *findings_add(struct findings *f);

/* Certain ones first, hints last; then by weight, then by packets; the rest by kind and stream, so that the order is always the same. */
void findings_sort(struct findings *f);

void findings_free(struct findings *f);

#endif
