/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options that several commands share. Each table fills the type that its comment names. A command gives the offset of that
 * type in its own struct (lib/option.h). The tables have no headings: they continue the section before.
 */
#ifndef USERSPACE_COMMAND_ARGUMENTS_H
#define USERSPACE_COMMAND_ARGUMENTS_H

#include "lib/option.h"
#include "pcap/reader.h"
#include "userspace/observe/live/live.h"
#include "userspace/observe/model/faults.h"
#include "userspace/observe/model/filter.h"

extern const struct option_entry arguments_interval[]; /* struct live_options: --interval, --duration */
extern const struct option_entry arguments_mode[];     /* struct live_options: --mode */
extern const struct option_entry arguments_attach[];   /* struct live_options: --direction, --share */
extern const struct option_entry arguments_ready[];    /* struct live_options: --ready */
extern const struct option_entry arguments_count[];    /* struct live_options: --icrc, --drop */
extern const struct option_entry arguments_streams[];  /* struct live_options: --max-streams */
extern const struct option_entry arguments_verbose[];  /* bool: --verbose */
extern const struct option_entry arguments_link[];     /* enum capture_link: --link */
extern const struct option_entry arguments_decap[];    /* bool: --decap */
extern const struct option_entry arguments_once[];     /* bool: --once */
extern const struct option_entry arguments_selection[]; /* bool: --selection */
extern const struct option_entry arguments_udp[];      /* struct roce_ports: --udp */
extern const struct option_entry arguments_imm[];      /* struct roce_blocks_by: --imm */
extern const struct option_entry arguments_expect[];   /* const char *: --expect */
extern const struct option_entry arguments_most[];     /* double, a share of a core: --most */
extern const struct option_entry arguments_filter[];   /* struct filter *, which the caller frees: --filter */
extern const struct option_entry arguments_group[];    /* struct group_rule: --group */
extern const struct option_entry arguments_prometheus[]; /* const char *: --prometheus */
extern const struct option_entry arguments_fail[];     /* struct fault_exit: --exit-code, --fail-on */

extern const struct option_entry arguments_shown[];    /* struct monitor_options: --streams */
extern const struct option_entry arguments_events[];   /* struct monitor_options: --events, --on-fault, --event-limit */
extern const struct option_entry arguments_prometheus_streams[]; /* struct monitor_options: --prometheus-streams */

/* Takes the name of --pin, which becomes the name of a file. */
option_take arguments_take_pin;

/* Takes an option whose member is a struct filter *, which the caller frees, by the parser of its language. */
typedef struct filter *filter_parser(const char *text, char mistake[FILTER_MISTAKE]);
void arguments_take_filter(struct option_parser *p, const struct option_entry *e, const char *text, filter_parser *parse);

/* The topics of `--help TOPIC`. */
extern const struct option_topic topic_counters, topic_events, topic_lints, topic_expect, topic_filter, topic_refusals, topic_udp;

/* Ends the program if an interface is wanted and the name is that of a file: the message says which command takes it. */
void arguments_no_file(const struct command *c, const char *name);

/*
 * Checks the names of interfaces on the command line and stores them. Ends the program if one is wrong, or if it may not have as many
 * open files as they need.
 */
void arguments_interfaces(const struct command *c, struct live_options *o, char **names, size_t count);

#endif
