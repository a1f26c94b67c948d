/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The report of `rocescope send` at its end. */
#ifndef USERSPACE_TRAFFIC_SEND_SEND_REPORT_H
#define USERSPACE_TRAFFIC_SEND_SEND_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "bpf/slot.h"
#include "userspace/traffic/send/options.h"

struct send_report {
	const struct send_options *options;
	const char *out, *out_words;   /* the outlet, for programs and for people */
	bool complete;		       /* everything planned (up to the end or a signal) has left */
	bool interrupted;	       /* a signal ended the run before the plan did */
	uint64_t packets, bytes;       /* that left; bytes of frames without FCS */
	double seconds;		       /* from the first to the last of these packets */
	uint64_t refused, lost;	       /* refused by the outlet; lost by the device behind it */
	bool paced, kept_rate;
	uint64_t late_p50, late_p99, late_max; /* ns; paced runs only */
};

/* Whether everything planned (up to the end or a signal) left, as far as any counter knows. */
static inline bool send_report_exact(const struct send_report *r)
{
	return r->complete && !r->refused && !r->lost;
}

/* Whether the run was paced and this machine did not keep the rate. */
static inline bool send_report_slow(const struct send_report *r)
{
	return r->paced && !r->kept_rate;
}

/* Prints one JSON object (rocescope.send/1), or text for people. false with errno. */
bool send_report_print(const struct send_report *r, FILE *to);

#endif
