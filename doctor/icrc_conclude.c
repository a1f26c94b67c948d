// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * From what explains each bad packet to what is wrong with a sender: what explains the most of its packets is found, then
 * what explains the most of the others, and so on. Packets that are the same (sent again) are one piece of evidence.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor/icrc_study.h"

/* How important, among all that the doctor finds: no receiver takes a wrong ICRC; single flips are damage on the path. */
enum { WEIGHT_MISTAKE = 950, WEIGHT_LANE = 948, WEIGHT_BIT = 946, WEIGHT_FLIP = 565, WEIGHT_UNEXPLAINED = 40 };

/* That what is told is nothing but chance is to be less probable than this: in one packet, and in all of the capture. */
#define CHANCE 1e-4
#define CHANCE_OF_ALL 1e-2
#define ROUNDS 16	   /* findings of one sort, and candidates, of one sender */

struct sample {
	const struct icrc_studied *packet;
	struct icrc_study *study;
	bool again; /* same as one before it */
	bool done;  /* something explains it that has been told */
	bool chosen;
};

/* The bad packets of one source address. */
struct sender {
	struct sample *samples;
	__u32 count;
	__u64 bad, good; /* packets of its streams */
	size_t others;	 /* senders there are, itself included */
	__u32 told;	 /* findings and candidates */
	__u32 open;	 /* samples that are not explained yet, those that are the same once */
	double mean_bits; /* of a packet */
	struct findings *to;
	__u32 *round;
};

static void append(char text[FINDING_TEXT], const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(char text[FINDING_TEXT], const char *format, ...)
{
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, FINDING_TEXT - length, format, arguments);
	va_end(arguments);
}

static void print_icrc(char to[48], __u32 icrc)
{
	snprintf(to, 48, "icrc %02x %02x %02x %02x", icrc & 0xff, icrc >> 8 & 0xff, icrc >> 16 & 0xff, icrc >> 24);
}

static void add_evidence(struct finding *f, const struct icrc_studied *p)
{
	struct evidence e = { .frame = p->number };
	size_t i = f->evidence_count;

	if (i < FINDING_EVIDENCE)
		f->evidence_count++;
	else if (f->evidence[--i].frame <= p->number)
		return;
	for (; i > 0 && f->evidence[i - 1].frame > p->number; i--)
		f->evidence[i] = f->evidence[i - 1];
	print_icrc(e.expected, p->right);
	print_icrc(e.found, p->found);
	f->evidence[i] = e;
}

static __u32 count_open(const struct sender *s)
{
	__u32 count = 0;

	for (__u32 i = 0; i < s->count; i++)
		count += !s->samples[i].done && !s->samples[i].again;
	return count;
}

/* What the chosen samples show, with kind, words and what to do still to be said. NULL: no memory. */
static struct finding *tell(struct sender *s, bool certain, int weight)
{
	struct finding *f = findings_add(s->to);
	__u64 first = ~0ull;

	if (!f)
		return NULL;
	f->certain = certain;
	f->weight = weight;
	++*s->round;
	for (__u32 i = 0; i < s->count; i++) {
		struct sample *m = &s->samples[i];

		if (!m->chosen)
			continue;
		m->done = true;
		f->packets++;
		f->streams += m->study->counted != *s->round;
		m->study->counted = *s->round;
		add_evidence(f, m->packet);
		if (m->packet->number < first)
			f->stream = m->study->stream;
		first = m->packet->number < first ? m->packet->number : first;
	}
	s->told++;
	s->open = count_open(s);
	return f;
}

/* "; 12 of 16 bad packets that were looked into (of 4000 bad ones; 5 ICRCs were right)" */
static void append_share(struct finding *f, const struct sender *s)
{
	append(f->text, "; %llu of %u bad packets that were looked into", f->packets, s->count);
	if (s->bad > s->count)
		append(f->text, " (of %llu)", s->bad);
	append(f->text, s->good ? "; other packets of these streams have a right ICRC" : "");
}

/*
 * How many sets of `least` packets or more of one sender are to be expected by chance, that agree in one of `classes`, if each
 * packet's ICRC is any, and `solutions` of the 2^32 values belong to a class.
 */
static double chance(const struct sender *s, double classes, double solutions, __u32 least)
{
	double mean = s->open * solutions / 4294967296.0;

	return s->others * classes * pow(mean, least) / tgamma(least + 1.0);
}

/* Bits of a packet. */
static double mean_bits(const struct sender *s)
{
	double bits = 0;

	for (__u32 i = 0; i < s->count; i++)
		bits += s->samples[i].packet->bits;
	return bits / s->count;
}

/* ---- mistakes ---- */

static bool fits(const struct icrc_studied *p, __u32 explanation)
{
	return p->detail && p->detail->fits[explanation / 64] >> explanation % 64 & 1;
}

static void count_votes(const struct sender *s, bool chosen, __u32 votes[EXPLANATIONS_MOST])
{
	memset(votes, 0, EXPLANATIONS_MOST * sizeof(*votes));
	for (__u32 i = 0; i < s->count; i++) {
		const struct sample *m = &s->samples[i];

		if ((chosen ? !m->chosen : m->done) || m->again || !m->packet->fitting)
			continue;
		for (__u32 w = 0; w < EXPLANATION_WORDS; w++)
			for (__u64 bits = m->packet->detail->fits[w]; bits; bits &= bits - 1)
				votes[w * 64 + __builtin_ctzll(bits)]++;
	}
}

/* The simplest of those with the most votes. */
static __u32 find_best(const __u32 votes[EXPLANATIONS_MOST])
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

/* A pair of which one mistake alone explains the same has nothing to add. */
static bool is_redundant(const struct explanation *x, const __u32 votes[EXPLANATIONS_MOST], __u32 all)
{
	const struct explanations *e = explanations();

	for (__u32 i = 0; x->second != NO_MISTAKE && e->list[i].second == NO_MISTAKE; i++)
		if (votes[i] == all && (e->list[i].first == x->first || e->list[i].first == x->second))
			return true;
	return false;
}

#define SAME_NAMED 4

static void append_same(struct finding *f, const struct sender *s, __u32 best, __u32 all)
{
	static _Thread_local __u32 votes[EXPLANATIONS_MOST];
	const struct explanations *e = explanations();
	__u32 same = 0;

	count_votes(s, true, votes);
	for (__u32 i = 0; i < e->count; i++) {
		if (i == best || votes[i] < all || is_redundant(&e->list[i], votes, all))
			continue;
		if (++same > SAME_NAMED)
			continue;
		append(f->text, same == 1 ? "; the same here as " : ", ");
		append_name(f->text, sizeof(f->text), &e->list[i]);
	}
	if (same > SAME_NAMED)
		append(f->text, " and %u more", same - SAME_NAMED);
}

static bool tell_mistake(struct sender *s, __u32 best, __u32 all)
{
	const struct explanation *x = &explanations()->list[best];
	const struct mistake_words *a = mistake_words(x->first);
	const struct mistake_words *b = x->second == NO_MISTAKE ? NULL : mistake_words(x->second);
	struct finding *f;

	for (__u32 i = 0; i < s->count; i++)
		s->samples[i].chosen = !s->samples[i].done && fits(s->samples[i].packet, best);
	f = tell(s, all >= FINDING_PACKETS, WEIGHT_MISTAKE);
	if (!f)
		return false;
	snprintf(f->kind, sizeof(f->kind), "icrc-");
	append_name(f->kind, sizeof(f->kind), x);
	append(f->text, "%s%s%s", a->words, b ? ", and " : "", b ? b->words : "");
	append_share(f, s);
	append_same(f, s, best, all);
	f->asks = b && strcmp(a->asks, b->asks) ? mistake_asks_all : a->asks;
	snprintf(f->fix, sizeof(f->fix), "%s%s%s", a->fix, b ? "; and " : "", b ? b->fix : "");
	return true;
}

/* least: packets that must agree. */
static bool tell_mistakes(struct sender *s, __u32 least)
{
	static _Thread_local __u32 votes[EXPLANATIONS_MOST];

	for (int round = 0; round < ROUNDS; round++) {
		__u32 best;

		count_votes(s, false, votes);
		best = find_best(votes);
		if (votes[best] < least || chance(s, explanations()->count, 1, votes[best]) > CHANCE_OF_ALL)
			return true;
		if (!tell_mistake(s, best, votes[best]))
			return false;
	}
	return true;
}

/* ---- one value ---- */

static int by_found(const void *a, const void *b)
{
	const struct icrc_studied *x = ((const struct sample *)a)->packet, *y = ((const struct sample *)b)->packet;

	if (x->found != y->found)
		return x->found < y->found ? -1 : 1;
	if (x->right != y->right)
		return x->right < y->right ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Samples are in the order of what was found: behind the last one, from this one on, with the same value. */
static __u32 find_same(const struct sender *s, __u32 from, __u32 *different)
{
	__u32 i = from;

	*different = 0;
	for (; i < s->count && s->samples[i].packet->found == s->samples[from].packet->found; i++)
		*different += !s->samples[i].done && !s->samples[i].again;
	return i;
}

static void choose(struct sender *s, __u32 from, __u32 to)
{
	for (__u32 i = 0; i < s->count; i++)
		s->samples[i].chosen = i >= from && i < to && !s->samples[i].done;
}

/* What people write into a field that they have not filled in yet. */
static bool is_usual_constant(__u32 v)
{
	return v == (v & 0xff) * 0x01010101u || v == 0xdeadbeef || v == 0xefbeadde;
}

static bool tell_constants(struct sender *s, __u32 least)
{
	__u32 different, told = 0;

	for (__u32 i = 0, next; i < s->count && told < ROUNDS; i = next) {
		__u32 value = s->samples[i].packet->found;
		struct finding *f;

		next = find_same(s, i, &different);
		if (different < least || (different < FINDING_PACKETS && !is_usual_constant(value)))
			continue;
		choose(s, i, next);
		f = tell(s, different >= FINDING_PACKETS, WEIGHT_MISTAKE);
		if (!f)
			return false;
		told++;
		snprintf(f->kind, sizeof(f->kind), "icrc-constant");
		append(f->text, "the ICRC field holds always the same: %02x %02x %02x %02x", value & 0xff, value >> 8 & 0xff,
		       value >> 16 & 0xff, value >> 24);
		append_share(f, s);
		f->asks = mistake_asks_all;
		snprintf(f->fix, sizeof(f->fix), "%s", mistake_words(MISTAKE_zero)->fix);
	}
	return true;
}

/* ---- flipped bits ---- */

/* In what flips may agree. */
enum agreement { AT_PLACE, AT_OFFSET, LANE_OF_FRAME, LANE_OF_PAYLOAD, AGREEMENTS };

struct grouped {
	__u64 key; /* the same: they agree */
	__s32 offset;
	__u32 sample;
	const struct flip *flip;
};

struct flip_group {
	enum agreement agreement;
	__u32 width; /* of the bus; else 0 */
	__u64 key;
	__u32 votes;
	double score; /* bits of evidence */
	const struct flip *flip;
	bool same_offset;
};

static __u64 flip_key(const struct flip *f, enum agreement a, __u32 width)
{
	switch (a) {
	case AT_PLACE:
		return (__u64)f->place.field << 40 | (__u64)f->place.byte << 16 | f->bits;
	case AT_OFFSET:
		return (__u64)(__u32)f->at << 16 | f->bits;
	case LANE_OF_FRAME:
		return (__u64)((__u32)f->at & (width - 1)) << 16 | f->bits;
	default:
		return (__u64)((__u32)f->from_payload & (width - 1)) << 16 | f->bits;
	}
}

static int by_key(const void *a, const void *b)
{
	const struct grouped *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->sample < y->sample ? -1 : x->sample > y->sample;
}

static __u32 group(const struct sender *s, enum agreement a, __u32 width, struct grouped *to)
{
	__u32 count = 0;

	for (__u32 i = 0; i < s->count; i++) {
		const struct sample *m = &s->samples[i];

		if (m->done || m->again || !m->packet->detail)
			continue;
		for (__u32 k = 0; k < m->packet->detail->flips.count; k++) {
			const struct flip *f = &m->packet->detail->flips.list[k];

			to[count++] = (struct grouped){ flip_key(f, a, width), f->at, i, f };
		}
	}
	qsort(to, count, sizeof(*to), by_key);
	return count;
}

/* Bursts of up to that span that begin at one bit. */
static double bursts(__u32 span)
{
	return 1u << (span - 1);
}

/* Packets and different offsets of a group, which begins at `from` and ends at *to. */
static void weigh(const struct sender *s, const struct grouped *g, __u32 from, __u32 to, struct flip_group *w)
{
	double bits = s->mean_bits, lanes = w->width ? w->width * 8.0 : bits;
	__u32 offsets = 1;

	w->votes = to - from;
	w->flip = g[from].flip;
	w->key = g[from].key;
	for (__u32 i = from + 1; i < to; i++)
		offsets += g[i].offset != g[i - 1].offset;
	w->same_offset = offsets == 1;
	w->score = 0;
	if (w->votes < FINDING_PACKETS || (w->width && offsets < FINDING_PACKETS))
		return;
	if (chance(s, lanes * bursts(w->flip->span), bits / lanes, w->votes) > CHANCE_OF_ALL)
		return;
	w->score = w->votes * (32 - log2(bits / lanes));
}

static void find_group(const struct sender *s, struct grouped *g, enum agreement a, __u32 width, struct flip_group *best)
{
	__u32 count = group(s, a, width, g);

	for (__u32 from = 0, to; from < count; from = to) {
		struct flip_group w = { .agreement = a, .width = width };

		for (to = from; to < count && g[to].key == g[from].key; to++)
			;
		weigh(s, g, from, to, &w);
		if (w.score > best->score)
			*best = w;
	}
}

#define WIDEST_BUS 512
#define NARROWEST_BUS 4

/* The one with the most evidence; of the same evidence the first: the widest bus. score 0: there is none. */
static void find_best_group(const struct sender *s, struct grouped *g, struct flip_group *best)
{
	memset(best, 0, sizeof(*best));
	find_group(s, g, AT_PLACE, 0, best);
	find_group(s, g, AT_OFFSET, 0, best);
	for (__u32 width = WIDEST_BUS; width >= NARROWEST_BUS; width /= 2) {
		find_group(s, g, LANE_OF_FRAME, width, best);
		find_group(s, g, LANE_OF_PAYLOAD, width, best);
	}
}

static void append_bits_of(char text[FINDING_TEXT], __u8 bits)
{
	append(text, bits & (bits - 1) ? "bits" : "bit");
	for (int i = 0, more = 0; i < 8; i++)
		if (bits >> i & 1)
			append(text, "%s%d", more++ ? ", " : " ", i);
}

/* "bit 5", "bits 6, 7 and bit 0 of the next byte" */
static void append_bits(char text[FINDING_TEXT], __u16 bits)
{
	append_bits_of(text, bits & 0xff);
	if (bits >> 8) {
		append(text, ", and ");
		append_bits_of(text, bits >> 8);
		append(text, " of the byte behind it,");
	}
}

/* "bit 5 of byte 12 of the payload (byte 86 of the frame)" */
static void append_flip(char text[FINDING_TEXT], const struct flip *f, bool offset)
{
	append_bits(text, f->bits);
	append(text, " of byte %u of %s", f->place.byte, flip_field_name(f->place.field));
	if (offset)
		append(text, " (byte %d of the frame)", f->at);
}

static const char asks_bits[] = "IBTA 7.8.1: the CRC is that of the bytes that are sent";

static bool tell_group(struct sender *s, const struct flip_group *g)
{
	struct finding *f;

	for (__u32 i = 0; i < s->count; i++) {
		struct sample *m = &s->samples[i];

		m->chosen = false;
		for (__u32 k = 0; !m->done && m->packet->detail && k < m->packet->detail->flips.count; k++)
			m->chosen |= flip_key(&m->packet->detail->flips.list[k], g->agreement, g->width) == g->key;
	}
	f = tell(s, true, g->width ? WEIGHT_LANE : WEIGHT_BIT);
	if (!f)
		return false;
	snprintf(f->kind, sizeof(f->kind), g->width ? "icrc-lane" : "icrc-bit-flip");
	append(f->text, "what was sent and what the ICRC is of differ always in ");
	if (g->width) {
		append_bits(f->text, g->flip->bits);
		append(f->text, " of byte %llu of each %u, counted from the beginning of the %s: a lane", g->key >> 16, g->width,
		       g->agreement == LANE_OF_FRAME ? "frame" : "payload");
	} else {
		append_flip(f->text, g->flip, g->same_offset);
	}
	append_share(f, s);
	f->asks = asks_bits;
	snprintf(f->fix, sizeof(f->fix), "%s", g->width ?
		 "look at this lane of the bus, in front of the CRC and behind it: a stuck or late bit, timing not met" :
		 "look for what writes this bit behind the CRC, or in front of it only into the copy that the CRC reads");
	return true;
}

static bool tell_groups(struct sender *s)
{
	struct grouped *g = malloc(((size_t)s->count * FLIPS_MOST + 1) * sizeof(*g));
	struct flip_group best;
	bool told = g;

	for (int round = 0; told && round < ROUNDS; round++) {
		find_best_group(s, g, &best);
		if (best.score <= 0)
			break;
		told = tell_group(s, &best);
	}
	free(g);
	return told;
}

/* Packets that are explained by so many bits in a row, or fewer. */
static __u32 count_flipped(const struct sender *s, __u32 span)
{
	__u32 count = 0;

	for (__u32 i = 0; i < s->count; i++) {
		const struct sample *m = &s->samples[i];

		count += !m->done && !m->again && m->packet->detail && m->packet->detail->flips.count &&
			 m->packet->detail->flips.list[0].span <= span;
	}
	return count;
}

/* The longest burst that is not to be expected by chance, in one packet or in as many as have one; 0: none is. */
static __u32 find_longest(const struct sender *s)
{
	__u32 span = FLIP_SPAN;

	for (; span > 0; span--) {
		double found = s->mean_bits * bursts(span);
		__u32 count = count_flipped(s, span);

		if (count && found / 4294967296.0 < CHANCE && s->open * found / 4294967296.0 / count < CHANCE_OF_ALL &&
		    chance(s, 1, found, count) < CHANCE_OF_ALL)
			break;
	}
	return span;
}

static bool tell_single_flips(struct sender *s)
{
	const struct icrc_studied *first = NULL;
	__u32 count = 0, longest = find_longest(s);
	bool burst = false;
	struct finding *f;

	for (__u32 i = 0; i < s->count; i++) {
		struct sample *m = &s->samples[i];

		m->chosen = !m->done && m->packet->detail && m->packet->detail->flips.count &&
			    m->packet->detail->flips.list[0].span <= longest;
		if (!m->chosen)
			continue;
		count++;
		burst |= m->packet->detail->flips.list[0].span > 1;
		if (!first || m->packet->number < first->number)
			first = m->packet;
	}
	if (!count)
		return true;
	f = tell(s, false, WEIGHT_FLIP);
	if (!f)
		return false;
	snprintf(f->kind, sizeof(f->kind), burst ? "icrc-burst" : "icrc-bit-flip");
	append(f->text, count > 1 ? "what was sent and what the ICRC is of differ in %s in each packet, not always in the same: in frame %llu in "
				  : "what was sent and what the ICRC is of differ in %s: in frame %llu in ",
	       burst ? "a few bits in a row" : "one bit", first->number);
	append_flip(f->text, &first->detail->flips.list[0], true);
	append_share(f, s);
	f->asks = asks_bits;
	snprintf(f->fix, sizeof(f->fix), "bits flip at random: look at the link (FCS errors of the ports), memories without ECC, timing and crossings of clocks");
	return true;
}

/* ---- all of it ---- */

struct unexplained {
	__u64 packets;
	size_t streams;
	struct roce_key stream;
	struct evidence evidence;
};

static bool conclude_sender(struct sender *s)
{
	return tell_mistakes(s, FINDING_PACKETS) && tell_constants(s, FINDING_PACKETS) && tell_groups(s) &&
	       tell_mistakes(s, 1) && tell_constants(s, 1) && tell_single_flips(s);
}

static void mark_again(struct sender *s)
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

static void add_unexplained(struct unexplained *u, const struct sender *s, size_t streams)
{
	if (s->told || s->good || s->open < FINDING_PACKETS)
		return;
	for (__u32 i = 0; i < s->count; i++) {
		const struct icrc_studied *p = s->samples[i].packet;

		if (u->evidence.frame && u->evidence.frame <= p->number)
			continue;
		u->evidence.frame = p->number;
		print_icrc(u->evidence.expected, p->right);
		print_icrc(u->evidence.found, p->found);
		u->stream = s->samples[i].study->stream;
	}
	u->packets += s->bad;
	u->streams += streams;
}

static bool tell_unexplained(const struct unexplained *u, struct findings *to)
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
	append(f->text, "all ICRCs are wrong, and none of %d known mistakes, nor any two of them, nor a few flipped bits give what is there",
	       MISTAKES);
	f->asks = mistake_asks_all;
	snprintf(f->fix, sizeof(f->fix), "compare the CRC register behind each header with that of a right packet, beginning with 0xdebb20e3 behind the eight bytes 0xff");
	return true;
}

/* Studies of one sender: `count` of them. others: senders there are. */
static bool conclude_studies(struct icrc_study **studies, size_t count, size_t others, struct findings *to,
			     __u32 *round, struct unexplained *u)
{
	struct sender s = { .to = to, .round = round, .others = others };
	bool told;

	s.samples = malloc(count * ICRC_STUDIED * sizeof(*s.samples));
	if (!s.samples)
		return false;
	for (size_t i = 0; i < count; i++) {
		s.bad += studies[i]->bad;
		s.good += studies[i]->good;
		for (__u32 k = 0; k < studies[i]->count; k++)
			s.samples[s.count++] = (struct sample){ .packet = &studies[i]->packet[k], .study = studies[i] };
	}
	mark_again(&s);
	s.open = count_open(&s);
	s.mean_bits = mean_bits(&s);
	told = conclude_sender(&s);
	add_unexplained(u, &s, count);
	free(s.samples);
	return told;
}

static bool is_same_sender(const struct icrc_study *a, const struct icrc_study *b)
{
	return !memcmp(a->stream.src, b->stream.src, sizeof(a->stream.src));
}

bool icrc_study_conclude(struct icrc_study *const *studies, size_t count, struct findings *f)
{
	struct icrc_study **bad = malloc((count + 1) * sizeof(*bad));
	struct unexplained u = {};
	__u32 round = 0;
	size_t many = 0, senders = 0;
	bool told = bad;

	for (size_t i = 0; told && i < count; i++) {
		studies[i]->counted = 0;
		if (studies[i]->bad)
			bad[many++] = studies[i];
	}
	if (many)
		qsort(bad, many, sizeof(*bad), by_source);
	for (size_t i = 0; i < many; i++)
		senders += !i || !is_same_sender(bad[i], bad[i - 1]);
	for (size_t from = 0, to; told && from < many; from = to) {
		for (to = from; to < many && is_same_sender(bad[to], bad[from]); to++)
			;
		told = conclude_studies(bad + from, to - from, senders, f, &round, &u);
	}
	free(bad);
	return told && tell_unexplained(&u, f);
}
