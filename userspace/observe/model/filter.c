// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters by stream. A filter is stored as terms in reverse Polish notation, so that evaluation needs no recursion. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/nearest.h"
#include "lib/number.h"
#include "userspace/observe/model/faults.h"
#include "userspace/observe/model/filter.h"

#define NESTING 20 /* nested parentheses; each level keeps at most two values, and all values are bits of one word */

enum kind { AND, OR, NOT, ALWAYS, ADDRESS, QPN, SERVICE, SIDE, FAULTY, UNTRUSTED, COUNTER, LINT, PACKETS, CLASSES };
enum { END_SRC = 1, END_DST = 2 };
enum comparison { LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, EQUAL, UNEQUAL };

struct term {
	enum kind kind;
	union {
		struct {
			__u8 bytes[16];
			int bits; /* prefix length, of 128 bits */
			int ends;
		} address;
		int word; /* service, side */
		struct {
			int which; /* a counter or a lint (ROCE_LINTS: any) */
			enum comparison comparison;
			__u64 than;
		} number;
		__u32 qpn;
	};
};

struct filter {
	char *text;
	struct term *terms;
	size_t count;
};

/* ---- words ---- */

static const struct word {
	const char *text;
	enum kind kind;
	int value;
} words[] = {
	{ "rc", SERVICE, SERVICE_RC }, { "uc", SERVICE, SERVICE_UC }, { "rd", SERVICE, SERVICE_RD },
	{ "ud", SERVICE, SERVICE_UD }, { "xrc", SERVICE, SERVICE_XRC }, { "udp", SERVICE, SERVICE_UDP },
	{ "request", SIDE, SIDE_REQUEST }, { "response", SIDE, SIDE_RESPONSE },
	{ "faulty", FAULTY, 0 }, { "untrusted", UNTRUSTED, 0 }, { "packets", PACKETS, 0 }, { "lint", LINT, ROCE_LINTS },
	{ "classes", CLASSES, 0 },
	{ "lost", COUNTER, COUNTER_psn_lost }, { "gap", COUNTER, COUNTER_psn_gaps }, { "gaps", COUNTER, COUNTER_psn_gaps },
	{ "skipped", COUNTER, COUNTER_psn_skipped }, { "recovered", COUNTER, COUNTER_psn_recovered },
	{ "dup", COUNTER, COUNTER_psn_duplicates }, { "duplicate", COUNTER, COUNTER_psn_duplicates },
	{ "duplicates", COUNTER, COUNTER_psn_duplicates }, { "resync", COUNTER, COUNTER_psn_resyncs },
	{ "resyncs", COUNTER, COUNTER_psn_resyncs }, { "icrc", COUNTER, COUNTER_icrc_bad },
	{ "badicrc", COUNTER, COUNTER_icrc_bad }, { "broken", COUNTER, COUNTER_messages_broken },
	{ "imm", COUNTER, COUNTER_imm_gaps }, { "ack", COUNTER, COUNTER_acks }, { "nak", COUNTER, COUNTER_naks },
	{ "rnr", COUNTER, COUNTER_rnr_naks }, { "cnp", COUNTER, COUNTER_cnps }, { "ecn", COUNTER, COUNTER_ecn_ce },
	{ "ce", COUNTER, COUNTER_ecn_ce }, { "unknown", COUNTER, COUNTER_unknown_opcodes },
#define LINT(name, ...) { #name, LINT, LINT_##name },
#include "roce/stream/lint.def"
#undef LINT
	{ "psn_lost", COUNTER, COUNTER_psn_lost },
	/* counters of scope FRAME do not belong to streams */
#define FRAME(name)
#define PACKET(name) { #name, COUNTER, COUNTER_##name },
#define STREAM(name) { #name, COUNTER, COUNTER_##name },
#define SEEN(name) { #name, COUNTER, COUNTER_##name },
#define REPORT(name)
#define COUNTER(name, unit, kind, scope, ...) scope(name)
#include "roce/stream/counters.def"
#undef COUNTER
#undef FRAME
#undef PACKET
#undef STREAM
#undef SEEN
#undef REPORT
};

/* Words with a value behind them. */
static const struct named {
	const char *text;
	enum kind kind;
	int ends; /* of an address */
	const char *value, *example;
} named[] = {
	{ "src", ADDRESS, END_SRC, "IP address", "src=10.9.0.1" }, { "dst", ADDRESS, END_DST, "IP address", "dst=10.9.0.2" },
	{ "qpn", QPN, 0, "QPN", "qpn=258" }, { "service", SERVICE, 0, "service", "service=uc" },
	{ "side", SIDE, 0, "side", "side=response" },
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
	struct filter *filter;
	const char *text, *at;
	char *mistake;
	char word[80]; /* the next word in lower case; empty: none, or a bracket or comparison at `at` */
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

static void add(struct filter_parser *p, const struct term *term)
{
	struct filter *f = p->filter;
	struct term *terms;

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

static void add_operator(struct filter_parser *p, enum kind kind)
{
	add(p, &(struct term){ .kind = kind });
}

/* Parses an address or prefix. false: the word is neither. */
static bool parse_address(struct filter_parser *p, int ends)
{
	struct term t = { .kind = ADDRESS, .address = { .bits = 128, .ends = ends } };
	char *slash = strchr(p->word, '/');
	uint64_t bits;
	int most;

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

static bool parse_qpn(struct filter_parser *p)
{
	uint64_t n;
	char *end;

	if (!parse_whole(p->word, &n, &end) || *end)
		return false;
	if (n > UINT32_MAX)
		refuse_value(p, "QPN: those have 24 bits, and flows of --udp 32", "qpn=258");
	add(p, &(struct term){ .kind = QPN, .qpn = n });
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
static void parse_comparison(struct filter_parser *p, struct term *t, const char *name)
{
	uint64_t than = 0;
	char *end, example[40];
	size_t length;

	t->number.comparison = GREATER;
	t->number.than = 0;
	if (!take_comparison(p, &t->number.comparison))
		return;
	length = peek(p);
	snprintf(example, sizeof(example), "%s>0", name);
	if (!parse_whole(p->word, &than, &end) || *end)
		refuse_value(p, "number to compare with", example);
	t->number.than = than;
	p->at += length;
}

/* A service, a side and the like is not compared with anything. */
static void refuse_comparison(struct filter_parser *p, const char *name, enum kind kind)
{
	const char *of = kind == SERVICE ? "service=" : kind == SIDE ? "side=" : "";
	enum comparison comparison;
	size_t length = peek(p);
	const char *where = p->at;

	if (!length && take_comparison(p, &comparison))
		refuse(p, where, "'%s' takes no value; for example %s%s", name, of, name);
}

static bool parse_word(struct filter_parser *p, size_t length)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(words); i++) {
		struct term t = { .kind = words[i].kind };

		if (strcmp(p->word, words[i].text))
			continue;
		p->at += length;
		if (t.kind == COUNTER || t.kind == LINT || t.kind == PACKETS || t.kind == CLASSES) {
			t.number.which = words[i].value;
			parse_comparison(p, &t, words[i].text);
		} else {
			t.word = words[i].value;
			refuse_comparison(p, words[i].text, t.kind);
		}
		add(p, &t);
		return true;
	}
	return false;
}

/* Parses a service or a side. false: the word is none. */
static bool parse_word_of(struct filter_parser *p, enum kind kind)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(words); i++) {
		if (words[i].kind != kind || strcmp(p->word, words[i].text))
			continue;
		add(p, &(struct term){ .kind = kind, .word = words[i].value });
		return true;
	}
	return false;
}

static bool parse_value(struct filter_parser *p, const struct named *n)
{
	switch (n->kind) {
	case ADDRESS:
		return parse_address(p, n->ends);
	case QPN:
		return parse_qpn(p);
	default:
		return parse_word_of(p, n->kind);
	}
}

/* Parses what is behind a named word: its value, with =, == or != before it. */
static void parse_named_value(struct filter_parser *p, const struct named *n)
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
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(named); i++) {
		if (strcmp(p->word, named[i].text))
			continue;
		p->at += length;
		parse_named_value(p, &named[i]);
		return true;
	}
	return false;
}

/* Reports an unknown term, and the nearest known word. */
static void refuse_term(struct filter_parser *p)
{
	struct nearest n = nearest_to(p->word, strlen(p->word));

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(named); i++)
		nearest_try(&n, named[i].text);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(words); i++)
		nearest_try(&n, words[i].text);
	if (n.found)
		refuse(p, p->at, "'%s' is no term%s", p->word, nearest_text(&n, "").text);
	else
		refuse_value(p, "term", "10.9.0.1, qpn=258 or lost>0");
}

static void parse_alternatives(struct filter_parser *p);

static void parse_brackets(struct filter_parser *p)
{
	const char *opened = p->at++;

	if (++p->depth > NESTING) {
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
		refuse(p, p->at, *p->at ? "a term is missing here; for example lost>0" : "a term is missing at the end; for example lost>0");
	} else if (parse_address(p, END_SRC | END_DST) || parse_qpn(p)) {
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

struct filter *filter_parse(const char *text, char mistake[FILTER_MISTAKE])
{
	struct filter_parser p = { .filter = calloc(1, sizeof(*p.filter)), .text = text, .at = text, .mistake = mistake };

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

static bool has_prefix(const __u8 address[16], const __u8 prefix[16], int bits)
{
	int rest = bits % 8;

	if (memcmp(address, prefix, bits / 8))
		return false;
	return !rest || !((address[bits / 8] ^ prefix[bits / 8]) >> (8 - rest));
}

static bool has_address(const struct term *t, const struct roce_key *key, const struct roce_stream *s)
{
	const __u8 *dst = s && key->kind == KEY_DATAGRAM ? s->ud.dst : key->dst;

	return (t->address.ends & END_SRC && has_prefix(key->src, t->address.bytes, t->address.bits)) ||
	       (t->address.ends & END_DST && has_prefix(dst, t->address.bytes, t->address.bits));
}

static bool has_qpn(__u32 qpn, const struct roce_key *key, const struct roce_stream *s)
{
	return key->qpn == qpn || (key->kind == KEY_DATAGRAM && s->ud.dqpn == qpn) || (s->pair.from && s->pair.peer_qpn == qpn);
}

static bool is_faulty(const struct roce_stream *s)
{
	struct fault_rank rank = fault_rank(s);

	return fault_rank_any(&rank) || !s->trusted;
}

static __u64 lints(const struct roce_stream *s, int which)
{
	__u64 sum = 0;

	if (which < ROCE_LINTS)
		return s->lint[which];
	for (int i = 0; i < ROCE_LINTS; i++)
		sum += s->lint[i];
	return sum;
}

static __u64 value(const struct term *t, const struct roce_stream *s)
{
	if (t->kind == LINT)
		return lints(s, t->number.which);
	if (t->kind == PACKETS)
		return snapshot_packets(s);
	if (t->kind == CLASSES)
		return s->class_changes;
	/* valid only in a finished snapshot */
	return t->number.which == COUNTER_psn_lost ? snapshot_lost(&s->counters) : s->counters.value[t->number.which];
}

static bool compares(const struct term *t, __u64 n)
{
	switch (t->number.comparison) {
	case LESS:
		return n < t->number.than;
	case LESS_EQUAL:
		return n <= t->number.than;
	case GREATER:
		return n > t->number.than;
	case GREATER_EQUAL:
		return n >= t->number.than;
	case EQUAL:
		return n == t->number.than;
	default:
		return n != t->number.than;
	}
}

static bool holds(const struct term *t, const struct roce_key *key, const struct roce_stream *s)
{
	if (t->kind == ADDRESS)
		return has_address(t, key, s);
	if (t->kind == ALWAYS || !s)
		return t->kind == ALWAYS;
	switch (t->kind) {
	case QPN:
		return has_qpn(t->qpn, key, s);
	case SERVICE:
		return s->service == t->word;
	case SIDE:
		return key->side == t->word;
	case FAULTY:
		return is_faulty(s);
	case UNTRUSTED:
		return !s->trusted;
	case COUNTER:
	case LINT:
	case PACKETS:
	case CLASSES:
		return compares(t, value(t, s));
	default:
		return false; /* an operator */
	}
}

bool filter_wants_stream(const struct filter *f, const struct roce_key *key, const struct roce_stream *s)
{
	__u64 values = 1; /* a stack of bits; the lowest is its top */

	if (!f)
		return true;
	for (size_t i = 0; i < f->count; i++) {
		const struct term *t = &f->terms[i];

		if (t->kind == NOT)
			values ^= 1;
		else if (t->kind == AND)
			values = values >> 1 & (values | ~1ull);
		else if (t->kind == OR)
			values = values >> 1 | (values & 1);
		else
			values = values << 1 | holds(t, key, s);
	}
	return values & 1;
}

bool filter_wants(const struct filter *f, const struct snapshot_stream *s)
{
	return filter_wants_stream(f, &s->key, &s->stream);
}

bool filter_snapshot(const struct filter *f, struct snapshot *s)
{
	if (!f)
		return true;
	s->filter = filter_text(f);
	s->shown = malloc((s->stream_count ?: 1) * sizeof(*s->shown));
	if (!s->shown)
		return false;
	for (size_t i = 0; i < s->stream_count; i++)
		if (filter_wants(f, &s->streams[i]))
			s->shown[s->shown_count++] = i;
	return true;
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
