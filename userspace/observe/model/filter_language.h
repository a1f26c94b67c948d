/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The grammar of filters: terms that must all hold, `or` between alternatives, `not` (or !) before a term, and parentheses. Which terms
 * there are, and whether one holds, is the matter of those who select: streams (filter.h), QPs of this machine.
 */
#ifndef USERSPACE_OBSERVE_MODEL_FILTER_LANGUAGE_H
#define USERSPACE_OBSERVE_MODEL_FILTER_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define FILTER_MISTAKE 240
#define FILTER_NESTING 20 /* nested parentheses */
#define FILTER_WORD 80	  /* bytes of a word, the end included */

/* A word that is a term. */
struct filter_word {
	const char *text; /* in lower case */
	int kind, value;
	bool compared; /* with a number; the default is > 0 */
};

enum filter_takes {
	FILTER_TAKES_ADDRESS, /* or a prefix */
	FILTER_TAKES_NUMBER,  /* up to UINT32_MAX */
	FILTER_TAKES_WORD,    /* a word of the same kind */
	FILTER_TAKES_TEXT,    /* any word, with patterns of the shell */
};

/* A word with a value behind it: =, == or a blank before it, or != for `not`. */
struct filter_named {
	const char *text;
	int kind;
	enum filter_takes takes;
	int ends; /* of an address: for those who select */
	const char *value, *example; /* what is behind it, for messages; a term that would do */
	const char *too_large;	     /* of a number: what it is none of */
};

/* Kinds are from 0 on. */
struct filter_language {
	const struct filter_word *words;
	size_t word_count;
	const struct filter_named *named;
	size_t named_count;
	struct filter_named address, number; /* what an address and a number without a word mean; kind -1: they are no terms */
	const char *term, *terms; /* terms that would do, for messages */
};

struct filter_term {
	int kind; /* below 0: an operator */
	union {
		struct {
			__u8 bytes[16];
			int bits; /* prefix length, of 128 bits */
			int ends;
		} address;
		struct {
			int which; /* the word's value */
			int comparison;
			__u64 than;
		} compared;
		__u32 number;
		char text[FILTER_WORD];
	};
};

struct filter;

/*
 * Returns NULL if the text is not a filter, with the reason, its place and what would do in `mistake`. An empty text selects everything.
 * The language must outlive the filter.
 */
struct filter *filter_make(const struct filter_language *l, const char *text, char mistake[FILTER_MISTAKE]);

/* Whether the filter selects, by whether each of its terms holds. f: NULL selects everything. */
typedef bool filter_holds(const struct filter_term *t, const void *context);
bool filter_selects(const struct filter *f, filter_holds *holds, const void *context);

/* For filter_holds. */
bool filter_has_prefix(const struct filter_term *t, const __u8 address[16]);
bool filter_compares(const struct filter_term *t, __u64 n);
bool filter_matches(const struct filter_term *t, const char *text); /* letters of both cases are equal */

/* The text it was parsed from. */
const char *filter_text(const struct filter *f);

void filter_free(struct filter *f);

#endif
