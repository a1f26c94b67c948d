// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From the explanations of each bad packet to the mistakes of a sender. The explanation of most packets is taken first, then
 * that of most of the remaining packets, and so on. Identical packets (retransmissions) count once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/diagnose/icrc/icrc_sender.h"

static __u32 most(__u32 a, __u32 b)
{
	return a > b ? a : b;
}

/*
 * Takes mistakes, fields and constant bits by the number of packets that agree. If equal: mistakes first, and of a field in which
 * always the same bits differ the bits.
 */
static bool report_agreed(struct icrc_sender *s)
{
	static _Thread_local __u32 votes[EXPLANATIONS_MOST];
	struct icrc_flip_group group;
	bool reported = true;

	for (int round = 0; reported && round < ICRC_ROUNDS; round++) {
		__u32 best, least, bits;
		struct icrc_field field;

		icrc_count_votes(s, false, votes);
		best = icrc_find_best(votes);
		if (!icrc_find_best_group(s, &group))
			return false;
		field = icrc_find_best_field(s);
		bits = group.score > 0 ? group.votes : 0;
		least = most(FINDING_PACKETS, most(bits, field.votes));
		if (votes[best] >= least &&
		    icrc_chance(s, explanations()->count, 1, votes[best]) < CHANCE_OF_ALL)
			reported = icrc_report_mistake(s, best, votes[best]);
		else if (field.votes > bits)
			reported = icrc_report_field(s, field);
		else if (bits)
			reported = icrc_report_flip_group(s, &group);
		else
			break;
	}
	return reported;
}

struct unexplained {
	__u64 packets;
	size_t streams;
	bool good; /* some packets have a good ICRC */
	bool some; /* only some packets of a sender; its others have findings */
	struct roce_key stream;
	struct evidence evidence;
	__u32 behind[ICRC_STEPS]; /* CRC register of that frame after each step */
};

static bool conclude_sender(struct icrc_sender *s)
{
	return report_agreed(s) && icrc_report_absent(s) && icrc_report_constants(s, FINDING_PACKETS) && icrc_report_solved(s) &&
	       icrc_report_rare_mistakes(s) && icrc_report_constants(s, 1) && icrc_report_single_flips(s);
}

static int by_found(const void *a, const void *b)
{
	const struct icrc_studied *x = ((const struct icrc_sample *)a)->packet, *y = ((const struct icrc_sample *)b)->packet;

	if (x->found != y->found)
		return x->found < y->found ? -1 : 1;
	if (x->right != y->right)
		return x->right < y->right ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static void mark_again(struct icrc_sender *s)
{
	qsort(s->samples, s->count, sizeof(*s->samples), by_found);
	for (__u32 i = 1; i < s->count; i++) {
		const struct icrc_studied *a = s->samples[i - 1].packet, *b = s->samples[i].packet;

		s->samples[i].again = a->found == b->found && a->right == b->right;
	}
}

static int by_source(const void *a, const void *b)
{
	const struct icrc_study *x = *(struct icrc_study *const *)a, *y = *(struct icrc_study *const *)b;
	int order = memcmp(&x->stream.src, &y->stream.src, sizeof(x->stream.src));

	return order ?: memcmp(&x->stream, &y->stream, sizeof(x->stream));
}

static __u32 count_different(const struct icrc_sender *s)
{
	__u32 count = 0;

	for (__u32 i = 0; i < s->count; i++)
		count += !s->samples[i].again;
	return count;
}

/* Adds senders with mostly bad ICRCs (damage on the path is rarer) of which most are unexplained. */
static void add_unexplained(struct unexplained *u, const struct icrc_sender *s, size_t streams)
{
	if (s->good > s->bad || !s->open || 2 * s->open < count_different(s))
		return;
	u->some |= s->reported > 0;
	u->good |= s->good > 0;
	for (__u32 i = 0; i < s->count; i++) {
		const struct icrc_studied *p = s->samples[i].packet;

		if (u->evidence.frame && u->evidence.frame <= p->number)
			continue;
		u->evidence.frame = p->number;
		SAY(u->evidence.expected, "icrc %s", icrc_text(p->right).text);
		SAY(u->evidence.found, "icrc %s", icrc_text(p->found).text);
		u->stream = s->samples[i].study->stream;
		memcpy(u->behind, p->behind, sizeof(u->behind));
	}
	u->packets += s->bad;
	u->streams += streams;
}

static bool report_unexplained(const struct unexplained *u, struct findings *to)
{
	struct finding *f;

	if (!u->packets)
		return true;
	f = findings_add(to);
	if (!f)
		return false;
	snprintf(f->kind, sizeof(f->kind), "icrc-unexplained");
	f->weight = WEIGHT_UNEXPLAINED;
	f->packets = u->packets;
	f->streams = u->streams;
	f->stream = u->stream;
	f->evidence[f->evidence_count++] = u->evidence;
	icrc_append(f->text,
		    "%s ICRCs are wrong, and none of %d known mistakes, nor any two of them, nor another CRC, nor a few flipped "
		    "bits give what is there%s", u->good ? "most" : "all", MISTAKES, u->some ? " in most packets" : "");
	f->asks = mistake_asks_all;
	snprintf(f->fix, sizeof(f->fix),
		 "compare your CRC register (reflected, not complemented): in frame %llu it ought to be "
		 "0xdebb20e3 behind the eight bytes 0xff, 0x%08x behind the IP header, 0x%08x UDP, 0x%08x BTH, 0x%08x RETH and "
		 "the like, 0x%08x the pad",
		 u->evidence.frame, u->behind[0], u->behind[1], u->behind[2], u->behind[3], u->behind[4]);
	return true;
}

/* Mean size of a packet, in bits. */
static double mean_bits(const struct icrc_sender *s)
{
	double bits = 0;

	for (__u32 i = 0; i < s->count; i++)
		bits += s->samples[i].packet->bits;
	return bits / s->count;
}

static __u64 bad_icrcs(const struct icrc_study *s)
{
	return s->bad - icrc_study_left_out(s);
}

static bool is_left_out(const struct icrc_study *s, const struct icrc_studied *p)
{
	return (s->unappended && p->blank) || (s->left_out && p->moved);
}

/* Concludes from `count` studies of one sender. others: number of senders. */
static bool conclude_studies(struct icrc_study **studies, size_t count, size_t others, struct findings *to,
			     __u32 *round, __u32 *solved, struct unexplained *u)
{
	struct icrc_sender s = { .to = to, .round = round, .solved = solved, .others = others };
	bool reported;

	s.samples = malloc(count * ICRC_STUDIED * sizeof(*s.samples));
	if (!s.samples)
		return false;
	for (size_t i = 0; i < count; i++) {
		s.bad += bad_icrcs(studies[i]);
		s.good += studies[i]->good;
		for (__u32 k = 0; k < studies[i]->count; k++)
			if (!is_left_out(studies[i], &studies[i]->packet[k]))
				s.samples[s.count++] = (struct icrc_sample){ .packet = &studies[i]->packet[k], .study = studies[i] };
	}
	if (!s.count) {
		free(s.samples);
		return true;
	}
	mark_again(&s);
	s.open = icrc_count_open(&s);
	s.mean_bits = mean_bits(&s);
	reported = conclude_sender(&s);
	add_unexplained(u, &s, count);
	free(s.samples);
	return reported;
}

static bool is_same_sender(const struct icrc_study *a, const struct icrc_study *b)
{
	return !memcmp(a->stream.src, b->stream.src, sizeof(a->stream.src));
}

bool icrc_study_is_explained(const struct icrc_study *s)
{
	return s->explained;
}

bool icrc_study_conclude(struct icrc_study *const *studies, size_t count, struct findings *f)
{
	struct icrc_study **bad = malloc((count + 1) * sizeof(*bad));
	struct unexplained u = {};
	__u32 round = 0, solved = 0;
	size_t many = 0, senders = 0;
	bool reported = bad;

	for (size_t i = 0; reported && i < count; i++) {
		studies[i]->counted = 0;
		if (bad_icrcs(studies[i]))
			bad[many++] = studies[i];
	}
	if (many)
		qsort(bad, many, sizeof(*bad), by_source);
	for (size_t i = 0; i < many; i++)
		senders += !i || !is_same_sender(bad[i], bad[i - 1]);
	for (size_t from = 0, to; reported && from < many; from = to) {
		for (to = from; to < many && is_same_sender(bad[to], bad[from]); to++)
			;
		reported = conclude_studies(bad + from, to - from, senders, f, &round, &solved, &u);
	}
	free(bad);
	return reported && report_unexplained(&u, f);
}
