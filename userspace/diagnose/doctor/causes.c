// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/diagnose/doctor/causes.h"
#include "userspace/diagnose/icrc/icrc_sender.h"

#define ELSEWHERE 65536 /* most causes noted of all streams */

const struct explains explains[] = {
#define FINDING(...)
#define EXPLAINS(cause, where, consequence) { KIND_##cause, WHERE_##where, KIND_##consequence, false },
#define EXPLAINS_PART(cause, where, consequence) { KIND_##cause, WHERE_##where, KIND_##consequence, true },
#include "userspace/diagnose/finding/finding.def"
#undef FINDING
};
const size_t explains_count = ROCE_ARRAY_SIZE(explains);

bool finding_is(int kind_or_group, enum finding_kind kind)
{
	int class = finding_rules[kind].class;

	return kind_or_group == (int)kind || kind_or_group == KIND_any_ICRC + class || kind_or_group == KIND_sure_ICRC + class;
}

/* ---- causes in other streams ---- */

struct cause_place {
	__u8 a[16], b[16]; /* HOST: b is zero */
	__u32 cause;
};

void causes_init(struct causes *c)
{
	c->elsewhere = (struct index){ .max = ELSEWHERE, .key_size = sizeof(struct cause_place),
				      .entry_size = sizeof(struct cause_place) };
}

void causes_free(struct causes *c)
{
	index_free(&c->elsewhere);
}

static struct cause_place host_place(int cause, const __u8 address[16])
{
	struct cause_place p = { .cause = cause };

	memcpy(p.a, address, 16);
	return p;
}

/* The same in both directions. */
static struct cause_place pair_place(int cause, const struct roce_key *k)
{
	struct cause_place p = host_place(cause, k->src);
	bool ordered = memcmp(k->src, k->dst, 16) <= 0;

	memcpy(p.a, ordered ? k->src : k->dst, 16);
	memcpy(p.b, ordered ? k->dst : k->src, 16);
	return p;
}

static bool is_noted(const struct causes *c, const struct explains *e, const struct roce_key *stream)
{
	struct cause_place pair = pair_place(e->cause, stream);
	struct cause_place from = host_place(e->cause, stream->src), to = host_place(e->cause, stream->dst);

	if (e->where == WHERE_STREAM)
		return false;
	if (e->where == WHERE_PAIR)
		return index_find(&c->elsewhere, &pair);
	return index_find(&c->elsewhere, &from) || index_find(&c->elsewhere, &to);
}

void causes_note(struct causes *c, const struct symptom *s, const struct roce_key *stream)
{
	if (s->doubted || s->cause_count)
		return;
	for (size_t i = 0; i < explains_count; i++) {
		const struct explains *e = &explains[i];
		struct cause_place p;

		if (e->where == WHERE_STREAM || e->cause != (int)s->kind || (e->where == WHERE_HOST && s->packets < FINDING_PACKETS))
			continue;
		p = e->where == WHERE_PAIR ? pair_place(e->cause, stream) : host_place(e->cause, stream->src);
		index_get(&c->elsewhere, &p);
	}
}

/* ---- a stream ---- */

struct judged {
	const struct causes *elsewhere;
	struct symptoms *symptoms;
	const struct roce_key *stream;
	bool wrong_icrc;
	__u64 known; /* bits of the symptoms whose causes are known, or are being looked for */
};

static int weight_of(int cause)
{
	return cause < FINDING_KINDS ? finding_rules[cause].weight : WEIGHT_MISTAKE;
}

static void add_cause(struct symptom *s, const struct explains *e, int cause, int root)
{
	bool first = !s->cause_count;

	s->part = e->part && (first || s->part);
	if (first || weight_of(root) > weight_of(s->root))
		s->root = root;
	for (size_t i = 0; i < s->cause_count; i++)
		if (s->causes[i] == cause)
			return;
	if (s->cause_count < SYMPTOM_CAUSES)
		s->causes[s->cause_count++] = cause;
}

static void judge(struct judged *j, size_t i);

static void judge_line(struct judged *j, struct symptom *s, const struct explains *e)
{
	bool sure = e->cause >= KIND_sure_ICRC && e->cause < KIND_wrong_icrc;

	if (e->cause == KIND_wrong_icrc) {
		if (j->wrong_icrc)
			add_cause(s, e, e->cause, e->cause);
		return;
	}
	for (size_t i = 0; i < j->symptoms->count; i++) {
		struct symptom *by = &j->symptoms->list[i];

		if (by == s || by->doubted || !finding_is(e->cause, by->kind) || (sure && by->packets < FINDING_PACKETS))
			continue;
		judge(j, i);
		if (!by->cause_count)
			add_cause(s, e, by->kind, by->kind);
		else if (e->cause < FINDING_KINDS)
			add_cause(s, e, by->kind, by->root);
	}
}

static void judge(struct judged *j, size_t i)
{
	struct symptom *s = &j->symptoms->list[i];

	if (i >= 64 || j->known >> i & 1)
		return;
	j->known |= 1ull << i;
	s->cause_count = 0;
	s->part = false;
	for (size_t k = 0; k < explains_count; k++)
		if (explains[k].where == WHERE_STREAM && finding_is(explains[k].consequence, s->kind))
			judge_line(j, s, &explains[k]);
	if (s->cause_count || !j->elsewhere)
		return;
	for (size_t k = 0; k < explains_count; k++)
		if (finding_is(explains[k].consequence, s->kind) && is_noted(j->elsewhere, &explains[k], j->stream))
			add_cause(s, &explains[k], explains[k].cause, explains[k].cause);
}

void causes_explain(const struct causes *elsewhere, struct symptoms *s, const struct roce_key *stream, bool wrong_icrc)
{
	struct judged j = { .elsewhere = elsewhere, .symptoms = s, .stream = stream, .wrong_icrc = wrong_icrc };

	for (size_t i = 0; i < s->count; i++)
		judge(&j, i);
}
