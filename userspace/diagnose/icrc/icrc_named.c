// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Mistakes with a name, by the number of packets that they explain, and ICRCs that are the same in all packets. */
#include <stdio.h>
#include <string.h>

#include "userspace/diagnose/finding/symptom.h"
#include "userspace/diagnose/icrc/icrc_sender.h"

/* ---- mistakes ---- */

static bool fits(const struct icrc_studied *p, __u32 explanation)
{
	return p->detail && p->detail->fits[explanation / 64] >> explanation % 64 & 1;
}

static void vote(const struct icrc_studied *p, __u32 votes[EXPLANATIONS_MOST])
{
	for (__u32 w = 0; p->fitting && w < EXPLANATION_WORDS; w++)
		for (__u64 bits = p->detail->fits[w]; bits; bits &= bits - 1)
			votes[w * 64 + __builtin_ctzll(bits)]++;
}

void icrc_count_votes(const struct icrc_sender *s, bool chosen, __u32 votes[EXPLANATIONS_MOST])
{
	memset(votes, 0, EXPLANATIONS_MOST * sizeof(*votes));
	for (__u32 i = 0; i < s->count; i++) {
		const struct icrc_sample *m = &s->samples[i];

		if ((chosen ? m->chosen : !m->done) && !m->again)
			vote(m->packet, votes);
	}
}

__u32 icrc_find_best(const __u32 votes[EXPLANATIONS_MOST])
{
	__u32 best = 0;

	for (__u32 i = 1; i < explanations()->count; i++)
		if (votes[i] > votes[best])
			best = i;
	return best;
}

static void append_name(char *to, size_t room, const struct explanation *x)
{
	size_t length = strlen(to);

	snprintf(to + length, room - length, "%s%s%s", mistake_words(x->first)->name, x->second == NO_MISTAKE ? "" : "+",
		 x->second == NO_MISTAKE ? "" : mistake_words(x->second)->name);
	for (char *c = to + length; *c; c++)
		if (*c == '_')
			*c = '-';
}

/* Whether one mistake of the pair alone explains as many packets. */
static bool is_redundant(const struct explanation *x, const __u32 votes[EXPLANATIONS_MOST], __u32 all)
{
	const struct explanations *e = explanations();

	for (__u32 i = 0; x->second != NO_MISTAKE && e->list[i].second == NO_MISTAKE; i++)
		if (votes[i] == all && (e->list[i].first == x->first || e->list[i].first == x->second))
			return true;
	return false;
}

#define SAME_NAMED 4

static void append_same(struct finding *f, const struct icrc_sender *s, __u32 best, __u32 all)
{
	static _Thread_local __u32 votes[EXPLANATIONS_MOST];
	const struct explanations *e = explanations();
	__u32 same = 0;

	icrc_count_votes(s, true, votes);
	for (__u32 i = 0; i < e->count; i++) {
		if (i == best || votes[i] < all || is_redundant(&e->list[i], votes, all))
			continue;
		if (++same > SAME_NAMED)
			continue;
		icrc_append(f->text, same == 1 ? "; the same here as " : ", ");
		append_name(f->text, sizeof(f->text), &e->list[i]);
	}
	if (same > SAME_NAMED)
		icrc_append(f->text, " and %u more", same - SAME_NAMED);
}

bool icrc_report_mistake(struct icrc_sender *s, __u32 best, __u32 all)
{
	const struct explanation *x = &explanations()->list[best];
	const struct mistake_words *a = mistake_words(x->first);
	const struct mistake_words *b = x->second == NO_MISTAKE ? NULL : mistake_words(x->second);
	struct finding *f;

	for (__u32 i = 0; i < s->count; i++)
		s->samples[i].chosen = !s->samples[i].done && fits(s->samples[i].packet, best);
	f = icrc_add_finding(s, all >= FINDING_PACKETS, WEIGHT_MISTAKE);
	if (!f)
		return false;
	snprintf(f->kind, sizeof(f->kind), "icrc-");
	append_name(f->kind, sizeof(f->kind), x);
	icrc_append(f->text, "%s%s%s%s", strstr(a->words, "CRC") ? "" : "the ICRC is wrong: ", a->words, b ? ", and " : "",
		    b ? b->words : "");
	icrc_append_share(f, s);
	append_same(f, s, best, all);
	f->asks = b && strcmp(a->asks, b->asks) ? mistake_asks_all : a->asks;
	snprintf(f->fix, sizeof(f->fix), "%s%s%s", a->fix, b ? "; and " : "", b ? b->fix : "");
	return true;
}

static bool is_one_bit(const struct icrc_studied *p)
{
	return p->detail && p->detail->flips.count && p->detail->flips.list[0].span == 1;
}

bool icrc_report_rare_mistakes(struct icrc_sender *s)
{
	static _Thread_local __u32 votes[EXPLANATIONS_MOST], flips[EXPLANATIONS_MOST];

	for (int round = 0; round < ICRC_ROUNDS; round++) {
		__u32 best;

		icrc_count_votes(s, false, votes);
		memset(flips, 0, sizeof(flips));
		for (__u32 i = 0; i < s->count; i++)
			if (!s->samples[i].done && !s->samples[i].again && is_one_bit(s->samples[i].packet))
				vote(s->samples[i].packet, flips);
		for (__u32 i = 0; i < explanations()->count; i++)
			if (explanations()->list[i].second != NO_MISTAKE)
				votes[i] -= flips[i];
		best = icrc_find_best(votes);
		if (!votes[best] || icrc_chance(s, explanations()->count, 1, votes[best]) > CHANCE_OF_ALL)
			return true;
		if (!icrc_report_mistake(s, best, votes[best]))
			return false;
	}
	return true;
}

/*
 * Where all ICRCs of a stream are wrong, its messages say whether there are any (conclude_absent(), message.c). Here the sender
 * has right ones as well.
 */
bool icrc_report_absent(struct icrc_sender *s)
{
	const struct finding_rule *rule = &finding_rules[KIND_icrc_absent];
	__u32 different = 0;
	struct finding *f;

	for (__u32 i = 0; i < s->count; i++) {
		struct icrc_sample *m = &s->samples[i];

		m->chosen = m->packet->short_of_icrc && !m->done;
		different += m->chosen && !m->again;
	}
	if (!different || !s->good)
		return true;
	f = icrc_add_finding(s, different >= FINDING_PACKETS, rule->weight);
	if (!f)
		return false;
	finding_name(KIND_icrc_absent, f->kind);
	icrc_append(f->text, "%s: the payload is 4 bytes short of the DMA length, or of a path MTU", rule->words);
	icrc_append_share(f, s);
	f->asks = rule->asks;
	snprintf(f->fix, sizeof(f->fix), "%s", rule->fix);
	return true;
}

/* ---- one value ---- */

/* Packets of one ICRC that count, as many as a finding needs. */
struct same {
	const struct icrc_sample *one[FINDING_PACKETS];
	__u32 count;
};

/* A packet that was sent again and damaged each time keeps its ICRC. Of a sender with few right ICRCs the PSN may be wrong, too. */
static bool is_copy(const struct icrc_sender *s, const struct icrc_sample *a, const struct icrc_sample *b)
{
	return s->good > s->bad && a->study == b->study && a->packet->psn == b->packet->psn;
}

static void add_same(const struct icrc_sender *s, struct same *to, const struct icrc_sample *m)
{
	for (__u32 i = 0; i < to->count; i++)
		if (is_copy(s, to->one[i], m))
			return;
	if (to->count < FINDING_PACKETS)
		to->one[to->count++] = m;
}

/* Samples are sorted by the ICRC found. Returns the end of those with the value of sample `from`. */
static __u32 find_same(const struct icrc_sender *s, __u32 from, struct same *same)
{
	__u32 i = from;

	same->count = 0;
	for (; i < s->count && s->samples[i].packet->found == s->samples[from].packet->found; i++)
		if (!s->samples[i].done && !s->samples[i].again)
			add_same(s, same, &s->samples[i]);
	return i;
}

static void choose(struct icrc_sender *s, __u32 from, __u32 to)
{
	for (__u32 i = 0; i < s->count; i++)
		s->samples[i].chosen = i >= from && i < to && !s->samples[i].done;
}

/* What people write into a field that is not filled in yet. */
static bool is_usual_constant(__u32 v)
{
	return v == (v & 0xff) * 0x01010101u || v == 0xdeadbeef || v == 0xefbeadde;
}

bool icrc_report_constants(struct icrc_sender *s, __u32 least)
{
	__u32 reported = 0;
	struct same same;

	for (__u32 i = 0, next; i < s->count && reported < ICRC_ROUNDS; i = next) {
		__u32 value = s->samples[i].packet->found;
		struct finding *f;

		next = find_same(s, i, &same);
		if (same.count < least || (same.count < FINDING_PACKETS && !is_usual_constant(value)))
			continue;
		choose(s, i, next);
		f = icrc_add_finding(s, same.count >= FINDING_PACKETS, WEIGHT_MISTAKE);
		if (!f)
			return false;
		reported++;
		snprintf(f->kind, sizeof(f->kind), "icrc-constant");
		icrc_append(f->text, "the ICRC field holds always the same: %s", icrc_text(value).text);
		icrc_append_share(f, s);
		f->asks = mistake_asks_all;
		snprintf(f->fix, sizeof(f->fix), "%s", mistake_words(MISTAKE_zero)->fix);
	}
	return true;
}
