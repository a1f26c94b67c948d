/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The options of a command. Each option is one entry of a table: its name, the kind of its value, the member of the command's
 * struct that it sets, its range, its default and its words. The command line's parser, --help, error messages, the man page,
 * the completion and plan files all use the table. To add an option, add one entry and use the member.
 *
 *     struct options { double interval; bool json; };
 *
 *     static const struct option_entry entries[] = {
 *             { "interval", "SECONDS", "between two snapshots", OPTION_SECONDS(struct options, interval, 1), .usual = "1" },
 *             { "json", NULL, "print one JSON object", OPTION_FLAG(struct options, json), .letter = 'j' },
 *             { 0 },
 *     };
 *     static const struct option_table tables[] = {
 *             { "Options", entries, 0 },
 *             { NULL, shared_entries, offsetof(struct options, shared) },
 *             { 0 },
 *     };
 *     static const struct command command = { .name = "show", .arguments = "FILE...", .tables = tables };
 *
 *     first = command_parse(&command, &options, argc, argv);
 *
 * A mistake in the command line ends the program, with one line on stderr and exit status 2.
 */
#ifndef LIB_OPTION_H
#define LIB_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_entry;

/* The source of a value, and where it is stored. */
struct option_parser {
	const struct command *command;
	void *options;	   /* the command's struct */
	void *to;	   /* the part of it that the entry's table fills in */
	const char *path;  /* the file of options; NULL: the command line */
	unsigned int line; /* in that file */
};

/* Stores the value of an option. text: NULL for a flag. */
typedef void option_take(struct option_parser *p, const struct option_entry *e, const char *text);

struct option_entry {
	const char *name;     /* without dashes; NULL ends the table */
	const char *argument; /* name of the value in --help; NULL: a flag, or one of `choices` */
	const char *words;    /* what the option does */
	option_take *take;
	size_t at, bytes;     /* the member it sets */
	uint64_t least, most; /* OPTION_SECONDS: in ms, most is not used */
	const char *const *choices; /* ends with NULL */
	const char *usual;    /* the default, set before the command line is parsed and shown by --help; NULL: none */
	const char *topic;    /* `--help TOPIC` lists the possible values */
	size_t given;	      /* offset of a bool that is also set, except for the default; 0: none */
	char letter;	      /* the short name; 0: none */
	bool hidden;	      /* not in --help */
};

/* Entries, and the offset of the struct that they fill in. Several commands may share entries. */
struct option_table {
	const char *heading; /* in --help; NULL: continues the section before */
	const struct option_entry *entries;
	size_t at;
};

/* What `--help NAME` prints. */
struct option_topic {
	const char *name;
	const char *words; /* what is listed */
	void (*print)(void);
};

struct command {
	const char *name;      /* NULL: the program itself */
	const char *words;     /* what it does, one line */
	const char *arguments; /* for the usage line: "IFACE... [OPTIONS]" */
	const char *prose;     /* paragraphs, separated by empty lines; may be NULL */
	const struct option_table *tables; /* ends with an empty one */
	const struct option_topic *const *topics; /* ends with NULL; may be NULL */
	const char *examples;  /* pairs of lines: "  # words" and "  command"; may be NULL */
};

#define OPTION_AT(type, member) .at = offsetof(type, member), .bytes = sizeof(((type *)0)->member)
#define OPTION_SELF(type) .at = 0, .bytes = sizeof(type) /* the table fills in a single value instead of a struct */
#define OPTION_GIVEN(type, member) .given = offsetof(type, member)

#define OPTION_FLAG(type, member) .take = option_flag, OPTION_AT(type, member)
#define OPTION_NUMBER(type, member, low, high) .take = option_number, OPTION_AT(type, member), .least = low, .most = high
#define OPTION_HEX(type, member, low, high) .take = option_hex, OPTION_AT(type, member), .least = low, .most = high
#define OPTION_SIZE(type, member, low, high) .take = option_size, OPTION_AT(type, member), .least = low, .most = high
#define OPTION_SECONDS(type, member, least_ms) .take = option_seconds, OPTION_AT(type, member), .least = least_ms
#define OPTION_TEXT(type, member) .take = option_text, OPTION_AT(type, member)
#define OPTION_CHOICE(type, member, list) .take = option_choice, OPTION_AT(type, member), .choices = list
#define OPTION_ADDRESS(type, member) .take = option_address, OPTION_AT(type, member)
#define OPTION_MAC(type, member) .take = option_mac, OPTION_AT(type, member)
#define OPTION_SAMPLED(type, member) .take = option_sampled, OPTION_AT(type, member)
#define OPTION_RATE(type, member) .take = option_rate, OPTION_AT(type, member)
#define OPTION_BIT_RATE(type, member) .take = option_bit_rate, OPTION_AT(type, member)

/* Kinds of values. Numbers and choices are stored with the member's size. */
option_take option_flag;    /* sets a bool, or a number to 1 */
option_take option_number;  /* decimal */
option_take option_hex;	    /* decimal, or hexadecimal with 0x */
option_take option_size;    /* bytes, with K, M or G (powers of 1024) */
option_take option_seconds; /* double, above 0 */
option_take option_text;    /* const char *: the argument itself, which must stay valid */
option_take option_choice;  /* the index in `choices` */
option_take option_address; /* 16 bytes: IPv6, or IPv4 as ::ffff:a.b.c.d; 4 bytes: IPv4. Network byte order */
option_take option_mac;	    /* 6 bytes */
option_take option_sampled; /* "all", "off" or "1/N", stored as 1, 0 or N: uint32_t */
option_take option_rate;    /* struct rate (lib/number.h), at least 0.001 a second */
option_take option_bit_rate; /* the same, bits only */

/*
 * Sets the defaults, then the options of argv; argv[0] is ignored. Answers --help and --version, with exit status 0. Moves
 * arguments that are no options behind the options, and returns the index of the first.
 */
int command_parse(const struct command *c, void *options, int argc, char **argv);

/* Parses one option of a file. name: without dashes. value: NULL if there is none. p->path and p->line: where the option is. */
void option_parse(struct option_parser *p, const char *name, const char *value);

/* The member that the entry sets. */
static inline void *option_member(const struct option_parser *p, const struct option_entry *e)
{
	return (char *)p->to + e->at;
}

/* Parses a whole number, decimal or hexadecimal with 0x: a part of a composite value. */
uint64_t option_whole(const struct option_parser *p, const struct option_entry *e, const char *text, uint64_t least,
		      uint64_t most);

/* Reports a wrong value of an option. */
void option_wrong(const struct option_parser *p, const struct option_entry *e, const char *text, const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));

/* Prints the topic with that name. false: there is none. topics: ends with NULL; may be NULL. */
bool option_print_topic(const struct option_topic *const *topics, const char *name);

/* "counters, events": the names of all topics. */
struct option_topics {
	char text[300];
} option_topics(const struct option_topic *const *topics);

/* Prints --help: usage, options and examples. */
void command_help(const struct command *c);

/* The value's notation in --help: "SECONDS", "auto|native|generic". false: a flag. */
struct option_value {
	char text[200];
};
bool option_value(const struct option_entry *e, struct option_value *v);

/* The option's text in --help: words, choices and default. */
struct option_words {
	char text[1000];
};
struct option_words option_words(const struct option_entry *e);

#define for_each_option(c, t, e) \
	for (const struct option_table *t = (c)->tables; t && t->entries; t++) \
		for (const struct option_entry *e = t->entries; e->name; e++)

/* Prints one line to stderr and exits with status 2. */
__attribute__((noreturn, format(printf, 1, 2))) void usage_error(const char *format, ...);

#endif
