// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"
#include "userspace/observe/model/group.h"

const enum roce_counter group_counters[] = {
	COUNTER_roce_packets, COUNTER_rocev1_packets, COUNTER_payload_bytes, COUNTER_icrc_bad, COUNTER_messages, COUNTER_messages_broken,
	COUNTER_blocks, COUNTER_blocks_incomplete, COUNTER_blocks_missing, COUNTER_psn_skipped, COUNTER_psn_recovered, COUNTER_psn_lost,
};
const size_t group_counter_count = ROCE_ARRAY_SIZE(group_counters);

/* ---- the rule ---- */

static const struct {
	const char *word;
	enum group_of of;
} words[] = { { "qpn", GROUP_QPN }, { "vlan", GROUP_VLAN }, { "dscp", GROUP_DSCP }, { "port", GROUP_PORT },
	    { "src", GROUP_SRC }, { "dst", GROUP_DST } };

static bool take_name(const char **text, char name[GROUP_NAME])
{
	size_t length = strcspn(*text, "=");

	if (!length || length >= GROUP_NAME || !(*text)[length] || isdigit((unsigned char)**text))
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)(*text)[i]) && (*text)[i] != '_')
			return false;
	memcpy(name, *text, length);
	*text += length + 1;
	return true;
}

static bool take_word(const char **text, enum group_of *of)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(words); i++)
		if (!strncmp(*text, words[i].word, strlen(words[i].word))) {
			*text += strlen(words[i].word);
			*of = words[i].of;
			return true;
		}
	return false;
}

const char *group_parse(const char *text, struct group_rule *rule)
{
	uint64_t operand;
	char *end;

	*rule = (struct group_rule){ 0 };
	if (!take_name(&text, rule->name))
		return "wants NAME=qpn/4 or the like; a name has up to 31 letters, digits and _";
	if (!take_word(&text, &rule->of))
		return "behind = there is qpn, vlan, dscp, port, src or dst, e.g. antenna=qpn/4";
	if (!*text)
		return NULL;
	if (rule->of == GROUP_SRC || rule->of == GROUP_DST)
		return "one cannot calculate with an address: NAME=src or NAME=dst";
	if (!strchr("/%>&", *text) || (*text == '>' && text[1] != '>'))
		return "wants /N, %N, >>N or &N behind qpn, vlan, dscp or port";
	rule->operation = *text;
	text += 1 + (*text == '>');
	if (!parse_whole(text, &operand, &end) || *end || operand > UINT32_MAX || (rule->operation == '>' && operand > 31) ||
	    (!operand && strchr("/%", rule->operation)))
		return "wants a number there, for / and % from 1 on, for >> up to 31";
	rule->operand = operand;
	return NULL;
}

/* ---- groups ---- */

static __u32 calculate(const struct group_rule *rule, __u32 n)
{
	switch (rule->operation) {
	case '/':
		return n / rule->operand;
	case '%':
		return n % rule->operand;
	case '>':
		return n >> rule->operand;
	case '&':
		return n & rule->operand;
	default:
		return n;
	}
}

static __u32 number_of(const struct group_rule *rule, const struct snapshot_stream *s)
{
	switch (rule->of) {
	case GROUP_VLAN:
		return s->stream.last.vlan;
	case GROUP_DSCP:
		return s->stream.last.tos >> 2;
	case GROUP_PORT:
		return s->stream.last.udp_source_port;
	default:
		return s->key.qpn;
	}
}

static void value_of(const struct group_rule *rule, const struct snapshot_stream *s, __u8 value[16])
{
	__u32 n;

	if (rule->of == GROUP_SRC) {
		memcpy(value, s->key.src, 16);
	} else if (rule->of == GROUP_DST) {
		memcpy(value, snapshot_destination(s), 16);
	} else {
		n = calculate(rule, number_of(rule, s));
		for (int i = 0; i < 4; i++)
			value[12 + i] = n >> 8 * (3 - i);
	}
}

struct group_text group_text(const struct group_rule *rule, const struct group *g)
{
	struct group_text t;

	if (rule->of == GROUP_SRC || rule->of == GROUP_DST)
		strcpy(t.text, address_text(g->value).text);
	else
		snprintf(t.text, sizeof(t.text), "%u", roce_be32(g->value + 12));
	return t;
}

static bool has_group(const struct snapshot_stream *s)
{
	return s->key.kind != KEY_UDP && s->key.side == SIDE_REQUEST && roce_is_totalled(&s->stream);
}

static int compare(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return memcmp(x->value, y->value, sizeof(x->value));
}

/* Adds those with the same value up, which follow each other. Returns how many there are. */
static size_t merge(struct group *groups, size_t count)
{
	size_t merged = 0;

	for (size_t i = 0; i < count; i++) {
		if (merged && !compare(&groups[merged - 1], &groups[i])) {
			struct group *to = &groups[merged - 1];

			to->streams++;
			for (int c = 0; c < ROCE_STREAM_COUNTERS; c++)
				to->sum.value[c] += groups[i].sum.value[c];
		} else {
			groups[merged++] = groups[i];
		}
	}
	return merged;
}

struct group *group_make(const struct group_rule *rule, const struct snapshot *s, size_t *count)
{
	struct group *groups = calloc(snapshot_shown_count(s) ?: 1, sizeof(*groups));

	*count = 0;
	for (size_t i = 0; groups && i < snapshot_shown_count(s); i++) {
		const struct snapshot_stream *one = snapshot_shown(s, i);
		struct group *g = &groups[*count];

		if (!has_group(one))
			continue;
		value_of(rule, one, g->value);
		g->streams = 1;
		g->sum = one->stream.counters;
		++*count;
	}
	if (groups)
		qsort(groups, *count, sizeof(*groups), compare);
	*count = merge(groups, *count);
	return groups;
}
