/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `rocescope send` says when it ends. */
#ifndef USERSPACE_SEND_SEND_REPORT_H
#define USERSPACE_SEND_SEND_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bpf/slot.h"
#include "userspace/send/options.h"

struct send_report {
	const struct send_options *options;
	const char *out, *out_words;   /* the way out, for programs and for people */
	bool complete;		       /* all that was planned, until the end or a signal, has left */
	bool interrupted;	       /* a signal ended it before the plan did */
	uint64_t packets, bytes;       /* that left; frames without FCS */
	double seconds;		       /* between the first and the last of them */
	uint64_t refused, lost;	       /* by the way out, by the device behind it */
	bool paced, kept_rate;
	uint64_t late_p50, late_p99, late_max; /* ns; paced only */
};

/* Whether nobody who counts knows of a packet that was planned, until the end or a signal, and did not get out. */
static inline bool send_report_exact(const struct send_report *r)
{
	return r->complete && !r->refused && !r->lost;
}

/* Whether packets left by a rate that this machine did not keep. */
static inline bool send_report_slow(const struct send_report *r)
{
	return r->paced && !r->kept_rate;
}

/* As one JSON object (rocescope.send/1), or for people. false with errno. */
bool send_report_print(const struct send_report *r, FILE *to);

#endif
