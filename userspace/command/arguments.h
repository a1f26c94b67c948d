/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Options that several commands share. What is wrong is said in one line, exit status 2. */
#ifndef USERSPACE_COMMAND_ARGUMENTS_H
#define USERSPACE_COMMAND_ARGUMENTS_H

#include <getopt.h>

#include "pcap/reader.h"
#include "roce/parse.h"
#include "userspace/model/faults.h"
#include "userspace/model/filter.h"

/* A command's options. */
struct arguments {
	const char *command;
	const char *usage;	      /* what --help prints */
	const char *examples;	      /* and behind it: lines of words, "  # ...", and of commands, "  rocescope ..." */
	const char *letters;	      /* short options beside h, as getopt() wants them */
	const struct option *options; /* ends with a zero entry; values of those without a letter from OPTION_OWN on */
	/* name: the long option's; "" for a letter */
	void (*take)(void *context, int value, char *text, const char *name);
	bool (*help)(const char *topic); /* prints what --help TOPIC asks for; false: no such topic; may be NULL */
};

/* Hands every option to take(). Returns the index of the first argument that is none: they are moved behind the options. */
int arguments_parse(const struct arguments *a, void *context, int argc, char **argv);

/* --option: the place of `text` in `words`, which ends with NULL. */
int argument_choice(const char *command, const char *option, const char *text, const char *const *words);

/* --option N: from `least` to `most`. */
uint64_t argument_number(const char *command, const char *option, const char *text, uint64_t least, uint64_t most);

/* --link */
enum capture_link argument_link(const char *command, const char *text);

/* --udp PORT,... */
void argument_ports(const char *command, const char *list, struct roce_ports *ports);

/* --fail-on COUNTER,... */
void argument_faults(const char *command, const char *list, struct faults *faults);

/* --filter EXPR: the caller's to free. */
struct filter *argument_filter(const char *command, const char *text);

#endif
