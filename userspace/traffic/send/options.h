/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Turns `rocescope send ...` into struct send_plan. options.c has each option once: `--NAME VALUE` on the command line is `NAME
 * VALUE` in a plan file or a preset. A later option overrides an earlier one; faults and QPs add up.
 */
#ifndef USERSPACE_TRAFFIC_SEND_OPTIONS_H
#define USERSPACE_TRAFFIC_SEND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/option.h"
#include "userspace/traffic/send/plan.h"

/* What --qp gave. The rest follows from the plan. */
struct qp_words {
	struct plan_qp qp;
	bool qpn, psn, rkey, va;
};

struct send_options {
	struct send_plan plan;
	bool json;
	bool strict_rate; /* --strict-rate: a rate that was not kept is a failure */
	char **faults; /* the text of each --fault, in the order of plan.faults */

	/* the options given, from which the plan is completed */
	bool has_src, has_dst, has_src_mac, has_dst_mac, has_pcp, has_region_bytes, has_message, random_psn, has_flow_label;
	struct qp_words *qp;
	size_t qp_count;
	const char *sequence;  /* the file of ORDER_SEQUENCE */
};

extern const struct command send_command;
extern const struct option_topic topic_faults, topic_presets;

/*
 * Parses the whole command line. A mistake in it, or in a plan file, is reported in one line, exit status 2. --help and lists
 * are printed, exit status 0.
 */
void options_parse_send(struct send_options *o, int argc, char **argv);

/*
 * Fills what is not given, from defaults and from the machine (its addresses and neighbours), and checks that the options go
 * together. Errors end the program as above; exit status 1 if the interface does not exist. Called by options_parse_send().
 */
void options_complete(struct send_options *o);

void options_free(struct send_options *o);

/* The payload that fits into a frame of CELL_BYTES with any headers and faults. */
#define PAYLOAD_MOST (CELL_BYTES - 256)

#define QPS_MOST 1000000
#define TURNS_MOST 1000000

/* Senders described in publications, as plan files. */
struct preset {
	const char *name;
	const char *words; /* description for people */
	const char *text;  /* lines of a plan file */
};

/* An empty entry ends the list. */
extern const struct preset presets[];

void presets_list(void);

#endif
