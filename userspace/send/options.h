/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `rocescope send ...` -> struct plan. Each option exists once, in options.c: as --NAME VALUE on the command line, and as a
 * line `NAME VALUE` of a plan file or a preset. What comes later wins; faults and QPs add up.
 */
#ifndef USERSPACE_SEND_OPTIONS_H
#define USERSPACE_SEND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/option.h"
#include "userspace/send/plan.h"

/* What --qp said; the rest follows from the plan. */
struct qp_words {
	struct plan_qp qp;
	bool qpn, psn, rkey, va;
};

struct send_options {
	struct plan plan;
	bool json;
	bool strict_rate; /* a rate that was not kept is a failure */
	char **faults; /* the words of each --fault, in the order of plan.faults */

	/* what the plan is completed from */
	bool has_src, has_dst, has_src_mac, has_dst_mac, has_pcp, has_region_bytes, has_message, random_psn, has_flow_label;
	struct qp_words *qp;
	size_t qp_count;
	const char *sequence;  /* file of ORDER_SEQUENCE */
};

extern const struct command send_command;
extern const struct option_topic topic_faults, topic_presets;

/*
 * The whole command line. What is wrong with it, or with a plan file, is said in one line, exit status 2; --help and lists are
 * printed, exit status 0.
 */
void options_parse_send(struct send_options *o, int argc, char **argv);

/*
 * What the words leave open, from defaults and from the machine (its addresses, its neighbours); whether they go together. Ends
 * the program as above, with exit status 1 if the interface does not exist. Called by options_parse_send().
 */
void options_complete(struct send_options *o);

void options_free(struct send_options *o);

/* Room that a packet's payload has in a frame of CELL_BYTES, whatever headers and mistakes it has. */
#define PAYLOAD_MOST (CELL_BYTES - 256)

#define QPS_MOST 1000000
#define TURNS_MOST 1000000

/* Senders that are described in print, as plan files. */
struct preset {
	const char *name;
	const char *words; /* for people */
	const char *text;  /* lines of a plan file */
};

/* Ends with an empty entry. */
extern const struct preset presets[];

void presets_list(void);

#endif
