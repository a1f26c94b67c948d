// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --fault: parses text into struct send_fault, and says what is wrong with it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/list.h"
#include "roce/packet/base.h"
#include "userspace/traffic/send/fault.h"

#define TEXT_MOST 200	  /* most characters of a --fault */
#define OWN_KEYS 8	  /* bits of the keys given: first the keys that all faults have, from this bit on those of the kind */
#define BY_MOST 65535	  /* the most packets that a packet may be delayed by */
#define BURST_MOST (8 * CELL_BYTES)
#define MIDDLE_MOST 9000  /* bytes of payload */

/* The range of `value`; 0 to PSN_MASK if there is no entry. */
static const struct { uint64_t least, most; } values[FAULT_KINDS] = {
	[FAULT_psn_skip] = { 1, PSN_MASK },
	[FAULT_icrc_constant] = { 0, UINT32_MAX },
	[FAULT_tver] = { 1, 15 },
	[FAULT_pkey_invalid] = { 0, 0x8000 },
	[FAULT_reserved_bits] = { 1, 0x7f },
	[FAULT_qpn_management] = { 0, 1 },
	[FAULT_middle_size] = { 0, MIDDLE_MOST },
	[FAULT_dma_length] = { 1, UINT32_MAX },
};

static const char *const wheres[] = {
	[WHERE_PAYLOAD_OR_ICRC] = "payload-or-icrc", [WHERE_PAYLOAD] = "payload", [WHERE_ICRC] = "icrc",
	[WHERE_HEADERS] = "headers", [WHERE_ANYWHERE] = "anywhere",
};

static char error[3 * TEXT_MOST];

/* Formats the error message, and is it. */
#define wrong(...) ({ snprintf(error, sizeof(error), __VA_ARGS__); (const char *)error; })

/* The number of single-character changes between two words (Levenshtein). */
static size_t distance(const char *a, const char *b)
{
	size_t row[TEXT_MOST + 1], n = strlen(b);

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t before = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			size_t other = before + (a[i - 1] != b[j - 1]);

			before = row[j];
			row[j] = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
			row[j] = other < row[j] ? other : row[j];
		}
	}
	return row[n];
}

/* Suggests the names nearest to the unknown one, three at most. */
static const char *unknown_kind(const char *text)
{
	size_t off[FAULT_KINDS], last = strlen(text) / 3 + 1;
	char near[120] = "";
	int found = 0;

	for (enum fault_kind k = 0; k < FAULT_KINDS; k++)
		off[k] = *text && strstr(fault_name(k), text) ? 1 : distance(text, fault_name(k));
	for (size_t most = 1; most <= last; most++) {
		for (enum fault_kind k = 0; k < FAULT_KINDS && found < 3; k++) {
			if (off[k] != most)
				continue;
			strcat(strcat(near, found++ ? ", " : ""), fault_name(k));
			last = most + 1 < last ? most + 1 : last;
		}
	}
	return found ? wrong("there is no fault '%s' (did you mean %s?)", text, near) : wrong("there is no fault '%s'", text);
}

static bool whole_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	char *end;

	return parse_whole(text, number, &end) && !*end && *number >= least && *number <= most;
}

static bool probability(const char *text, double *p)
{
	char *end;

	if ((*text < '0' || *text > '9') && *text != '.')
		return false;
	if ((text[0] | 0x20) == '0' && (text[1] | 0x20) == 'x')
		return false;
	*p = strtod(text, &end);
	return !*end && *p > 0 && *p <= 1;
}

/* Parses N or N-M. */
static bool range(char *text, uint64_t least, uint64_t most, uint32_t *from, uint32_t *to)
{
	char *dash = strchr(text, '-');
	uint64_t a, b;

	if (dash)
		*dash = '\0';
	if (!whole_number(text, least, most, &a))
		return false;
	b = a;
	if (dash && !whole_number(dash + 1, a, most, &b))
		return false;
	*from = a;
	*to = b;
	return true;
}

static const char *set_value(struct send_fault *f, const char *text)
{
	uint64_t least = values[f->kind].least, most = values[f->kind].most ? values[f->kind].most : PSN_MASK;

	f->has_value = true;
	if (!whole_number(text, least, most, &f->value))
		return wrong("value is %" PRIu64 " to %" PRIu64, least, most);
	if (f->kind == FAULT_pkey_invalid && f->value & 0x7fff)
		return "value is 0 or 0x8000: other P_Keys are valid";
	return NULL;
}

static const char *set_where(struct send_fault *f, const char *text)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(wheres); i++) {
		if (strcmp(text, wheres[i]))
			continue;
		f->where = i;
		return NULL;
	}
	return "where is payload-or-icrc, payload, icrc, headers or anywhere";
}

/* Parses a number from 0 on. */
static bool set_index(const char *text, uint64_t most, int64_t *to)
{
	uint64_t n;

	if (!whole_number(text, 0, most, &n))
		return false;
	*to = n;
	return true;
}

static const char *set_burst(struct send_fault *f, const char *text)
{
	uint64_t bits;

	if (!whole_number(text, 1, BURST_MOST, &bits))
		return wrong("burst is 1 to %d bits", BURST_MOST);
	f->burst = bits;
	return NULL;
}

static const char *set_key(struct send_fault *f, const char *key, char *text)
{
	if (!strcmp(key, "p"))
		return probability(text, &f->p) ? NULL : "p is a probability: above 0, and at most 1";
	if (!strcmp(key, "every"))
		return whole_number(text, 1, UINT64_MAX, &f->every) ? NULL : "every is a number from 1";
	if (!strcmp(key, "at"))
		return whole_number(text, 1, UINT64_MAX, &f->at) ? NULL : "at is a number: packets are counted from 1";
	if (!strcmp(key, "qp"))
		return set_index(text, UINT32_MAX, &f->qp) ? NULL : "qp is the index of a QP: they are counted from 0";
	if (!strcmp(key, "by"))
		return range(text, f->kind == FAULT_reorder, BY_MOST, &f->by, &f->by_most) ? NULL :
		       wrong("by is N or N-M, packets from %d to %d", f->kind == FAULT_reorder, BY_MOST);
	if (!strcmp(key, "value"))
		return set_value(f, text);
	if (!strcmp(key, "where"))
		return set_where(f, text);
	if (!strcmp(key, "byte"))
		return set_index(text, CELL_BYTES - 1, &f->byte) ? NULL : wrong("byte is 0 to %d", CELL_BYTES - 1);
	if (!strcmp(key, "bit"))
		return set_index(text, 7, &f->bit) ? NULL : "bit is 0, the lowest, to 7";
	if (!strcmp(key, "burst"))
		return set_burst(f, text);
	return "there is no such key";
}

/* The word's index in the list, from 0; -1: not in the list. An entry of the list may end with =DEFAULT. */
static int word_of(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (int i = 0; *list; i++) {
		size_t n = strcspn(list, " ="), all = strcspn(list, " ");

		if (n == length && !memcmp(list, word, n))
			return i;
		list += all + (list[all] == ' ');
	}
	return -1;
}

/* Parses KEY=VALUE pairs after the `seen` that came before. Defaults are parsed the same way. */
static const char *set_keys(struct send_fault *f, char *text, const char *between, uint32_t *seen)
{
	static const char *const common = "p every at qp";
	const char *keys = fault_rows[f->kind].keys, *why;
	char *pair;

	while ((pair = strsep(&text, between))) {
		char *value = strchr(pair, '=');
		int place;

		if (!value) {
			if (!seen) /* a key without a default */
				continue;
			return wrong("'%s' is no KEY=VALUE", pair);
		}
		*value++ = '\0';
		place = word_of(common, pair);
		if (place < 0 && (place = word_of(keys, pair)) >= 0)
			place += OWN_KEYS;
		if (place < 0)
			return wrong("%s has no '%s'; it has %s%s%s", fault_name(f->kind), pair, "p, every, at, qp",
				     *keys ? " and " : "", keys);
		if (seen && *seen & 1u << place)
			return wrong("%s is given twice", pair);
		if (seen)
			*seen |= 1u << place;
		why = set_key(f, pair, value);
		if (why)
			return why;
	}
	return NULL;
}

static void set_defaults(struct send_fault *f)
{
	char keys[TEXT_MOST];

	snprintf(keys, sizeof(keys), "%s", fault_rows[f->kind].keys);
	set_keys(f, keys, " ", NULL);
	f->has_value = false;
}

/* Checks that the keys of a parsed fault go together. */
static const char *settle(struct send_fault *f, uint32_t seen)
{
	int when = !!f->p + !!f->every + !!f->at;
	bool losing = f->kind == FAULT_drop || f->kind == FAULT_duplicate || f->kind == FAULT_reorder ||
		      f->kind == FAULT_corrupt;

	if (when > 1)
		return "one of p, every and at says which packets";
	if (losing && !when)
		return wrong("which packets? %s needs p=, every= or at=", fault_name(f->kind));
	if (f->kind == FAULT_corrupt && f->byte >= 0 && !(seen & 1u << (OWN_KEYS + word_of(fault_rows[f->kind].keys, "where"))))
		f->where = WHERE_ANYWHERE; /* a byte of the frame */
	return NULL;
}

const char *fault_parse(struct send_plan *plan, const char *text)
{
	struct send_fault f = { .kind = FAULT_KINDS, .qp = -1, .byte = -1, .bit = -1, .burst = 1 };
	char copy[TEXT_MOST], *keys;
	struct send_fault *more;
	uint32_t seen = 0;
	const char *why;

	if (strlen(text) >= sizeof(copy))
		return "a fault is KIND:KEY=VALUE,..., and not so long";
	strcpy(copy, text);
	keys = strchr(copy, ':');
	if (keys)
		*keys++ = '\0';
	for (enum fault_kind k = 0; k < FAULT_KINDS; k++) {
		if (!strcmp(copy, fault_name(k)))
			f.kind = k;
	}
	if (f.kind == FAULT_KINDS)
		return unknown_kind(copy);
	set_defaults(&f);
	if (keys && (why = set_keys(&f, keys, ",", &seen)))
		return why;
	why = settle(&f, seen);
	if (why)
		return why;
	more = realloc(plan->faults, (plan->fault_count + 1) * sizeof(*more));
	if (!more)
		return "there is no memory for it";
	more[plan->fault_count++] = f;
	plan->faults = more;
	return NULL;
}

static void print_kind(enum fault_kind kind, const char *words)
{
	const char *keys = fault_rows[kind].keys;
	char all[400];

	snprintf(all, sizeof(all), "%s%s%s%s", words, *keys ? " [" : "", keys, *keys ? "]" : "");
	list_entry(fault_name(kind), all);
}

void fault_help(void)
{
	printf("--fault KIND[:KEY=VALUE,...]\n\n");
	list_entry("p=PROBABILITY", "each packet at random, by --seed");
	list_entry("every=N", "packets N, 2N, ... of each QP");
	list_entry("at=K", "the K-th packet of each QP, from 1");
	list_entry("qp=INDEX", "only of that QP, from 0");
	printf("\n");
	list_words("With neither p, every nor at it is in all packets. In brackets: the keys that a fault has besides, with "
		   "what they are if not given. In (): what analyze and monitor call it besides its name.");
#define FAULT_GROUP(words)     \
	printf("\n");          \
	list_words(words ":");
#define FAULT(name, unit, stage, needs, keys, words) print_kind(FAULT_##name, words);
#include "userspace/traffic/send/fault.def"
#undef FAULT
}

/* ---- the plan ---- */

static bool has_messages(const struct send_plan *plan)
{
	return plan->op != SEND_ACK && plan->op != SEND_CNP;
}

/* What the fault needs and the plan does not have; NULL: nothing. */
static const char *missing(const struct send_plan *plan, unsigned int needs)
{
	bool uc = plan->op == SEND_UC_WRITE_IMM || plan->op == SEND_UC_WRITE || plan->op == SEND_UC_SEND;
	bool rc = plan->op == SEND_RC_WRITE || plan->op == SEND_RC_SEND;
	bool send = plan->op == SEND_UC_SEND || plan->op == SEND_RC_SEND;
	bool padded = plan->message % 4 || (plan->message > plan->mtu && plan->mtu % 4);

	if (needs & NEEDS_IPV4 && plan->ipv6)
		return "IPv4";
	if (needs & NEEDS_IPV6 && !plan->ipv6)
		return "IPv6";
	if (needs & NEEDS_PAD && !(has_messages(plan) && padded))
		return "messages whose bytes are no multiple of 4";
	if (needs & NEEDS_RETH && !((uc || rc) && !send))
		return "an RDMA WRITE";
	if (needs & NEEDS_IMM && plan->op != SEND_UC_WRITE_IMM)
		return "immediate data";
	if (needs & NEEDS_REQUEST && !uc && !rc)
		return "requests of UC or RC";
	if (needs & NEEDS_CONNECTED && plan->op == SEND_UD_SEND)
		return "a connected service";
	return NULL;
}

static const char *missing_parts(const struct send_plan *plan, enum fault_unit unit)
{
	if (unit != UNIT_PACKETS && !has_messages(plan))
		return "messages";
	if (unit == UNIT_MIDDLES && plan->message <= 2ull * plan->mtu)
		return "messages of three packets or more";
	if ((unit == UNIT_FIRSTS || unit == UNIT_LASTS) && plan->message <= plan->mtu)
		return "messages of two packets or more";
	return NULL;
}

const char *fault_check(const struct send_plan *plan)
{
	for (size_t i = 0; i < plan->fault_count; i++) {
		const struct send_fault *f = &plan->faults[i];
		const char *need = missing(plan, fault_rows[f->kind].needs);

		if (!need)
			need = missing_parts(plan, fault_rows[f->kind].unit);
		if (need)
			return wrong("%s needs %s", fault_name(f->kind), need);
		if (f->qp >= plan->qps)
			return wrong("%s:qp=%" PRId64 ": there are %u QPs, and they are counted from 0", fault_name(f->kind),
				     f->qp, plan->qps);
	}
	return NULL;
}
