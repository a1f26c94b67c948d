/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One option of `rocescope send`: how its text becomes a part of the plan. Private to userspace/send/option*.c, whose table names each
 * option once; what is wrong with a text ends the program, with one line and exit status 2.
 */
#ifndef USERSPACE_SEND_OPTION_H
#define USERSPACE_SEND_OPTION_H

#include "userspace/send/options.h"

/* Where the words come from. */
struct option_parser {
	struct send_options *o;
	const char *path; /* of a plan file, or "preset NAME"; NULL: the command line */
	unsigned int line;
};

/* Those of one number, choice or text say where it goes; others have a function of their own. */
struct option_word {
	const char *name;
	const char *value; /* as --help has it; NULL: a flag */
	const char *help;
	char letter; /* that stands for it on the command line as well; 0: none */
	void (*take)(struct option_parser *p, const struct option_word *w, const char *text);
	size_t at, bytes;
	uint64_t least, most;
	const char *const *choices;
	size_t given;	   /* a bool to set; 0: none */
};

/* A line of a plan file. name is not empty; value: NULL if there is none. */
void option_take(struct option_parser *p, const char *name, const char *value);

void option_wrong(const struct option_parser *p, const struct option_word *w, const char *text, const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));

/* A whole number, decimal or hexadecimal with 0x. */
uint64_t option_number(struct option_parser *p, const struct option_word *w, const char *text, uint64_t least, uint64_t most);

/* A copy, instead of what *to points to. */
void option_store_text(const char **to, const char *text);

/* The member of struct send_options that is so many bytes behind its beginning. */
static inline void *option_field(struct option_parser *p, size_t at)
{
	return (char *)p->o + at;
}

/* What was allocated; there is none: exit status 1. */
void *option_memory(void *memory);

/* One number, choice, text or address: option_values.c */
void take_number(struct option_parser *p, const struct option_word *w, const char *text); /* 0x too */
void take_count(struct option_parser *p, const struct option_word *w, const char *text);  /* decimal only */
void take_size(struct option_parser *p, const struct option_word *w, const char *text);   /* with K or M */
void take_choice(struct option_parser *p, const struct option_word *w, const char *text);
void take_text(struct option_parser *p, const struct option_word *w, const char *text);
void take_flag(struct option_parser *p, const struct option_word *w, const char *text);
void take_seconds(struct option_parser *p, const struct option_word *w, const char *text);
void take_address(struct option_parser *p, const struct option_word *w, const char *text);
void take_mac(struct option_parser *p, const struct option_word *w, const char *text);

/* Rules of their own: option_rules.c */
void take_vlan(struct option_parser *p, const struct option_word *w, const char *text);
void take_dscp(struct option_parser *p, const struct option_word *w, const char *text);
void take_ecn(struct option_parser *p, const struct option_word *w, const char *text);
void take_message(struct option_parser *p, const struct option_word *w, const char *text);
void take_first_psn(struct option_parser *p, const struct option_word *w, const char *text);
void take_rate(struct option_parser *p, const struct option_word *w, const char *text);
void take_burst(struct option_parser *p, const struct option_word *w, const char *text);
void take_interleave(struct option_parser *p, const struct option_word *w, const char *text);
void take_payload(struct option_parser *p, const struct option_word *w, const char *text);
void take_qp(struct option_parser *p, const struct option_word *w, const char *text);
void take_fault(struct option_parser *p, const struct option_word *w, const char *text);

/* Files of options: option_file.c */
void take_plan(struct option_parser *p, const struct option_word *w, const char *text);
void take_preset(struct option_parser *p, const struct option_word *w, const char *text);

#endif
