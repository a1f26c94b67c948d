// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Parses filters. One is stored as terms in reverse Polish notation, so that evaluation needs no recursion. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/nearest.h"
#include "lib/number.h"
#include "userspace/observe/model/filter_language.h"

/* Each level of parentheses keeps at most two values, and all values are bits of one word. */
_Static_assert(FILTER_NESTING * 2 < 64, "the values of a filter are bits of one word");

enum operator { AND = -4, OR, NOT, ALWAYS };
enum comparison { LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, UNEQUAL };

struct filter {
	char *text;
	struct filter_term *terms;
	size_t count;
};

static const struct {
	const char *text;
	enum comparison comparison;
} comparisons[] = { /* longer ones before their prefixes */
	{ "<=", LESS_EQUAL }, { ">=", GREATER_EQUAL }, { "==", EQUAL }, { "!=", UNEQUAL },
	{ "<", LESS }, { ">", GREATER }, { "=", EQUAL },
};

/* ---- parsing ---- */

struct filter_parser {
	const struct filter_language *language;
	struct filter *filter;
	const char *text, *at;
	char *mistake;
	char word[FILTER_WORD]; /* the next word in lower case; empty: none, or a bracket or comparison at `at` */
	int depth;
	bool failed;
};

/* Reports a mistake. Only the first one is kept. */
__attribute__((format(printf, 3, 4))) static void refuse(struct filter_parser *p, const char *where, const char *format, ...)
{
	va_list arguments;
	int length;

	if (p->failed)
		return;
	p->failed = true;
	length = snprintf(p->mistake, FILTER_MISTAKE, "at character %zu: ", where - p->text + 1);
	va_start(arguments, format);
	vsnprintf(p->mistake + length, FILTER_MISTAKE - length, format, arguments);
	va_end(arguments);
}

/* Reports that the current word is no such value, or that one is missing. example: a term, or several, that would do. */
static void refuse_value(struct filter_parser *p, const char *value, const char *example)
{
	if (p->word[0])
		refuse(p, p->at, "'%s' is no %s; for example %s", p->word, value, example);
	else
		refuse(p, p->at, "the %s is missing; for example %s", value, example);
}

static bool ends_word(char c)
{
	return !c || isspace((unsigned char)c) || strchr("()<>=!", c);
}

/* Reads the next word. Returns its length. */
static size_t peek(struct filter_parser *p)
{
	size_t length = 0;

	while (isspace((unsigned char)*p->at))
		p->at++;
	while (!ends_word(p->at[length]))
		length++;
	p->word[0] = 0;
	if (length >= sizeof(p->word))
		refuse(p, p->at, "too long a word");
	else
		for (size_t i = 0; i <= length; i++)
			p->word[i] = i < length ? tolower((unsigned char)p->at[i]) : 0;
	return length;
}

static void add(struct filter_parser *p, const struct filter_term *term)
{
	struct filter *f = p->filter;
	struct filter_term *terms;

	if (p->failed)
		return;
	terms = realloc(f->terms, (f->count + 1) * sizeof(*terms));
	if (!terms) {
		refuse(p, p->at, "not enough memory");
		return;
	}
	f->terms = terms;
	f->terms[f->count++] = *term;
}

static void add_operator(struct filter_parser *p, enum operator kind)
{
	add(p, &(struct filter_term){ .kind = kind });
}

/* Parses an address or prefix. false: the word is neither. */
static bool parse_address(struct filter_parser *p, const struct filter_named *n)
{
	struct filter_term t = { .kind = n->kind, .address = { .bits = 128, .ends = n->ends } };
	char *slash = strchr(p->word, '/');
	uint64_t bits;
	int most;

	if (n->kind < 0)
		return false;
	if (slash)
		*slash = 0;
	if (!address_parse(p->word, t.address.bytes)) {
		if (slash)
			*slash = '/';
		return false;
	}
	most = strchr(p->word, ':') ? 128 : 32;
	if (slash) {
		*slash = '/';
		if (parse_number(slash + 1, most, &bits))
			t.address.bits = 128 - most + bits;
		else if (most == 32)
			refuse_value(p, "prefix: its length is 0 to 32", "10.9.0.0/24");
		else
			refuse_value(p, "prefix: its length is 0 to 128", "fd00::/64");
	}
	add(p, &t);
	return true;
}

static bool take_number(struct filter_parser *p, const struct filter_named *n)
{
	uint64_t number;
	char *end;

	if (n->kind < 0 || !parse_whole(p->word, &number, &end) || *end)
		return false;
	if (number > UINT32_MAX)
		refuse_value(p, n->too_large, n->example);
	add(p, &(struct filter_term){ .kind = n->kind, .number = number });
	return true;
}

/* Takes a comparison. false: none stands here. */
static bool take_comparison(struct filter_parser *p, enum comparison *comparison)
{
	peek(p);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(comparisons); i++) {
		if (strncmp(p->at, comparisons[i].text, strlen(comparisons[i].text)))
			continue;
		p->at += strlen(comparisons[i].text);
		*comparison = comparisons[i].comparison;
		return true;
	}
	return false;
}

/* Parses the comparison behind a counter of this name. The default is > 0. */
static void parse_comparison(struct filter_parser *p, struct filter_term *t, const char *name)
{
	enum comparison comparison = GREATER;
	uint64_t than = 0;
	char *end, example[40];
	size_t length;

	t->compared.comparison = comparison;
	t->compared.than = 0;
	if (!take_comparison(p, &comparison))
		return;
	t->compared.comparison = comparison;
	length = peek(p);
	snprintf(example, sizeof(example), "%s>0", name);
	if (!parse_whole(p->word, &than, &end) || *end)
		refuse_value(p, "number to compare with", example);
	t->compared.than = than;
	p->at += length;
}

/* The word before which it may stand: "service=" for a service; "" for others. */
static const char *name_of(const struct filter_language *l, int kind)
{
	for (size_t i = 0; i < l->named_count; i++)
		if (l->named[i].takes == FILTER_TAKES_WORD && l->named[i].kind == kind)
			return l->named[i].text;
	return "";
}

/* A service, a side and the like is not compared with anything. */
static void refuse_comparison(struct filter_parser *p, const struct filter_word *w)
{
	const char *of = name_of(p->language, w->kind);
	enum comparison comparison;
	size_t length = peek(p);
	const char *where = p->at;

	if (!length && take_comparison(p, &comparison))
		refuse(p, where, "'%s' takes no value; for example %s%s%s", w->text, of, *of ? "=" : "", w->text);
}

static bool parse_word(struct filter_parser *p, size_t length)
{
	for (size_t i = 0; i < p->language->word_count; i++) {
		const struct filter_word *w = &p->language->words[i];
		struct filter_term t = { .kind = w->kind, .compared.which = w->value };

		if (strcmp(p->word, w->text))
			continue;
		p->at += length;
		if (w->compared)
			parse_comparison(p, &t, w->text);
		else
			refuse_comparison(p, w);
		add(p, &t);
		return true;
	}
	return false;
}

/* Parses a service or the like. false: the word is none. */
static bool parse_word_of(struct filter_parser *p, int kind)
{
	for (size_t i = 0; i < p->language->word_count; i++) {
		const struct filter_word *w = &p->language->words[i];

		if (w->kind != kind || strcmp(p->word, w->text))
			continue;
		add(p, &(struct filter_term){ .kind = kind, .compared.which = w->value });
		return true;
	}
	return false;
}

static bool take_text(struct filter_parser *p, const struct filter_named *n)
{
	struct filter_term t = { .kind = n->kind };

	if (!p->word[0])
		return false;
	strcpy(t.text, p->word);
	add(p, &t);
	return true;
}

static bool parse_value(struct filter_parser *p, const struct filter_named *n)
{
	switch (n->takes) {
	case FILTER_TAKES_ADDRESS:
		return parse_address(p, n);
	case FILTER_TAKES_NUMBER:
		return take_number(p, n);
	case FILTER_TAKES_TEXT:
		return take_text(p, n);
	default:
		return parse_word_of(p, n->kind);
	}
}

/* Parses what is behind a named word: its value, with =, == or != before it. */
static void parse_named_value(struct filter_parser *p, const struct filter_named *n)
{
	enum comparison comparison = EQUAL;
	const char *where;
	size_t length;

	peek(p);
	where = p->at;
	if (take_comparison(p, &comparison) && comparison != EQUAL && comparison != UNEQUAL)
		refuse(p, where, "behind %s stands = or !=; for example %s", n->text, n->example);
	length = peek(p);
	if (!parse_value(p, n))
		refuse_value(p, n->value, n->example);
	p->at += length;
	if (comparison == UNEQUAL)
		add_operator(p, NOT);
}

static bool parse_named(struct filter_parser *p, size_t length)
{
	for (size_t i = 0; i < p->language->named_count; i++) {
		if (strcmp(p->word, p->language->named[i].text))
			continue;
		p->at += length;
		parse_named_value(p, &p->language->named[i]);
		return true;
	}
	return false;
}

/* Reports an unknown term, and the nearest known word. */
static void refuse_term(struct filter_parser *p)
{
	struct nearest n = nearest_to(p->word, strlen(p->word));

	for (size_t i = 0; i < p->language->named_count; i++)
		nearest_try(&n, p->language->named[i].text);
	for (size_t i = 0; i < p->language->word_count; i++)
		nearest_try(&n, p->language->words[i].text);
	if (n.found)
		refuse(p, p->at, "'%s' is no term%s", p->word, nearest_text(&n, "").text);
	else
		refuse_value(p, "term", p->language->terms);
}

static void parse_alternatives(struct filter_parser *p);

static void parse_brackets(struct filter_parser *p)
{
	const char *opened = p->at++;

	if (++p->depth > FILTER_NESTING) {
		refuse(p, opened, "too many parentheses");
		return;
	}
	parse_alternatives(p);
	p->depth--;
	peek(p);
	if (*p->at == ')')
		p->at++;
	else
		refuse(p, opened, "this parenthesis is not closed");
}

static void parse_term(struct filter_parser *p)
{
	bool not = false;
	size_t length;

	while (length = peek(p), !strcmp(p->word, "not") || *p->at == '!') {
		not = !not;
		p->at += length ?: 1;
	}
	if (*p->at == '(') {
		parse_brackets(p);
	} else if (!length) {
		refuse(p, p->at, "a term is missing %s; for example %s", *p->at ? "here" : "at the end", p->language->term);
	} else if (parse_address(p, &p->language->address) || take_number(p, &p->language->number)) {
		p->at += length;
	} else if (!parse_word(p, length) && !parse_named(p, length)) {
		refuse_term(p);
	}
	if (not)
		add_operator(p, NOT);
}

/* Parses up to `or`, a closing bracket or the end. */
static void parse_terms(struct filter_parser *p)
{
	bool first = true;

	for (;; first = false) {
		size_t length = peek(p);

		if (!first && !strcmp(p->word, "and"))
			p->at += length;
		else if (!first && (!strcmp(p->word, "or") || *p->at == ')' || !*p->at))
			return;
		parse_term(p);
		if (p->failed)
			return;
		if (!first)
			add_operator(p, AND);
	}
}

static void parse_alternatives(struct filter_parser *p)
{
	parse_terms(p);
	while (!p->failed) {
		size_t length = peek(p);

		if (strcmp(p->word, "or"))
			return;
		p->at += length;
		parse_terms(p);
		add_operator(p, OR);
	}
}

struct filter *filter_make(const struct filter_language *l, const char *text, char mistake[FILTER_MISTAKE])
{
	struct filter_parser p = { .language = l, .filter = calloc(1, sizeof(*p.filter)), .text = text, .at = text, .mistake = mistake };

	snprintf(mistake, FILTER_MISTAKE, "not enough memory");
	if (!p.filter)
		return NULL;
	p.filter->text = strdup(text);
	peek(&p);
	if (!*p.at)
		add_operator(&p, ALWAYS);
	else
		parse_alternatives(&p);
	if (!p.failed && *p.at)
		refuse(&p, p.at, "a parenthesis is closed that was not opened");
	if (!p.failed && p.filter->text)
		return p.filter;
	filter_free(p.filter);
	return NULL;
}

/* ---- evaluation ---- */

bool filter_has_prefix(const struct filter_term *t, const __u8 address[16])
{
	const __u8 *prefix = t->address.bytes;
	int bits = t->address.bits, rest = bits % 8;

	if (memcmp(address, prefix, bits / 8))
		return false;
	return !rest || !((address[bits / 8] ^ prefix[bits / 8]) >> (8 - rest));
}

bool filter_compares(const struct filter_term *t, __u64 n)
{
	switch (t->compared.comparison) {
	case LESS:
		return n < t->compared.than;
	case LESS_EQUAL:
		return n <= t->compared.than;
	case GREATER:
		return n > t->compared.than;
	case GREATER_EQUAL:
		return n >= t->compared.than;
	case EQUAL:
		return n == t->compared.than;
	default:
		return n != t->compared.than;
	}
}

bool filter_matches(const struct filter_term *t, const char *text)
{
	return !fnmatch(t->text, text, FNM_CASEFOLD | FNM_NOESCAPE);
}

bool filter_selects(const struct filter *f, filter_holds *holds, const void *context)
{
	__u64 values = 1; /* a stack of bits; the lowest is its top */

	if (!f)
		return true;
	for (size_t i = 0; i < f->count; i++) {
		const struct filter_term *t = &f->terms[i];

		if (t->kind == NOT)
			values ^= 1;
		else if (t->kind == AND)
			values = values >> 1 & (values | ~1ull);
		else if (t->kind == OR)
			values = values >> 1 | (values & 1);
		else
			values = values << 1 | (t->kind == ALWAYS || holds(t, context));
	}
	return values & 1;
}

const char *filter_text(const struct filter *f)
{
	return f->text;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	free(f->text);
	free(f->terms);
	free(f);
}
