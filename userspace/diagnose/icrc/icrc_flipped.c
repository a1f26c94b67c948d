// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Flipped bits that agree over packets, in a lane of a bus or in one place, and flipped bits at random places. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/diagnose/icrc/icrc_sender.h"

/* Packets explained by a burst of at most `span` bits. */
static __u32 count_flipped(const struct icrc_sender *s, __u32 span)
{
	__u32 count = 0;

	for (__u32 i = 0; i < s->count; i++) {
		const struct icrc_sample *m = &s->samples[i];

		count += !m->done && !m->again && m->packet->detail && m->packet->detail->flips.count &&
			 m->packet->detail->flips.list[0].span <= span;
	}
	return count;
}

struct grouped {
	__u64 key; /* packets with equal keys agree */
	__s32 offset;
	__u32 sample;
	const struct flip *flip;
};

static __u64 flip_key(const struct flip *f, enum icrc_agreement a, __u32 width)
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

static __u32 group(const struct icrc_sender *s, enum icrc_agreement a, __u32 width, struct grouped *to)
{
	__u32 count = 0;

	for (__u32 i = 0; i < s->count; i++) {
		const struct icrc_sample *m = &s->samples[i];

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

/* Bursts of at most `span` bits that begin at one bit. */
static double bursts(__u32 span)
{
	return 1u << (span - 1);
}

/* Agreements that are tried: 8 widths of a bus from two beginnings, and two kinds of place. */
#define AGREEMENTS_LOOKED_AT 18

double icrc_coincidence(__u32 flipped, __u32 votes, double lanes)
{
	double choices = lgamma(flipped + 1.0) - lgamma(votes + 1.0) - lgamma(flipped - votes + 1.0);

	return AGREEMENTS_LOOKED_AT * lanes * exp(choices - votes * log(lanes));
}

/* Weighs the group from index `from` up to, but not including, `to`: its packets and its different offsets. */
static void weigh(const struct icrc_sender *s, const struct grouped *g, __u32 from, __u32 to, __u32 flipped,
		  struct icrc_flip_group *w)
{
	double bits = s->mean_bits, lanes = w->width && w->width * 8.0 < bits ? w->width * 8.0 : bits;
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
	if (icrc_chance(s, lanes * bursts(w->flip->span), bits / lanes, w->votes) > CHANCE_OF_ALL ||
	    icrc_coincidence(flipped, w->votes, lanes) > CHANCE)
		return;
	w->score = w->votes * (32 - log2(bits / lanes));
}

static void find_group(const struct icrc_sender *s, struct grouped *g, enum icrc_agreement a, __u32 width,
		       struct icrc_flip_group *best)
{
	__u32 count = group(s, a, width, g), flipped = count_flipped(s, FLIP_SPAN);

	for (__u32 from = 0, to; from < count; from = to) {
		struct icrc_flip_group w = { .agreement = a, .width = width };

		for (to = from; to < count && g[to].key == g[from].key; to++)
			;
		weigh(s, g, from, to, flipped, &w);
		if (w.score > best->score)
			*best = w;
	}
}

#define WIDEST_BUS 512
#define NARROWEST_BUS 4

bool icrc_find_best_group(const struct icrc_sender *s, struct icrc_flip_group *best)
{
	struct grouped *g = malloc(((size_t)s->count * FLIPS_MOST + 1) * sizeof(*g));

	memset(best, 0, sizeof(*best));
	if (!g)
		return false;
	find_group(s, g, AT_PLACE, 0, best);
	find_group(s, g, AT_OFFSET, 0, best);
	for (__u32 width = WIDEST_BUS; width >= NARROWEST_BUS; width /= 2) {
		find_group(s, g, LANE_OF_FRAME, width, best);
		find_group(s, g, LANE_OF_PAYLOAD, width, best);
	}
	free(g);
	return true;
}

static void append_bits_of(char text[FINDING_TEXT], __u8 bits)
{
	icrc_append(text, bits & (bits - 1) ? "bits" : "bit");
	for (int i = 0, more = 0; i < 8; i++)
		if (bits >> i & 1)
			icrc_append(text, "%s%d", more++ ? ", " : " ", i);
}

/* "bit 5", "bits 6, 7 and bit 0 of the next byte" */
static void append_bits(char text[FINDING_TEXT], __u16 bits)
{
	append_bits_of(text, bits & 0xff);
	if (bits >> 8) {
		icrc_append(text, ", and ");
		append_bits_of(text, bits >> 8);
		icrc_append(text, " of the byte behind it,");
	}
}

/* "bit 5 of byte 12 of the payload (byte 86 of the frame)" */
static void append_flip(char text[FINDING_TEXT], const struct flip *f, bool offset)
{
	append_bits(text, f->bits);
	icrc_append(text, " of byte %u of %s", f->place.byte, flip_field_name(f->place.field));
	if (offset)
		icrc_append(text, " (byte %d of the frame)", f->at);
}

static const char asks_bits[] = "IBTA 7.8.1: the CRC is that of the bytes that are sent";

bool icrc_report_flip_group(struct icrc_sender *s, const struct icrc_flip_group *g)
{
	struct finding *f;

	for (__u32 i = 0; i < s->count; i++) {
		struct icrc_sample *m = &s->samples[i];

		m->chosen = false;
		for (__u32 k = 0; !m->done && m->packet->detail && k < m->packet->detail->flips.count; k++)
			m->chosen |= flip_key(&m->packet->detail->flips.list[k], g->agreement, g->width) == g->key;
	}
	f = icrc_add_finding(s, true, g->width ? WEIGHT_LANE : WEIGHT_BIT);
	if (!f)
		return false;
	snprintf(f->kind, sizeof(f->kind), g->width ? "icrc-lane" : "icrc-bit-flip");
	icrc_append(f->text, "what was sent and what the ICRC is of differ always in ");
	if (g->width) {
		append_bits(f->text, g->flip->bits);
		icrc_append(f->text, " of byte %llu of each %u, counted from the beginning of the %s: a lane", g->key >> 16,
			    g->width, g->agreement == LANE_OF_FRAME ? "frame" : "payload");
	} else {
		append_flip(f->text, g->flip, g->same_offset);
	}
	icrc_append_share(f, s);
	f->asks = asks_bits;
	snprintf(f->fix, sizeof(f->fix), "%s", g->width ?
		 "look at this lane of the bus, in front of the CRC and behind it: a stuck or late bit, timing not met" :
		 "look for what writes this bit behind the CRC, or in front of it only into the copy that the CRC reads");
	return true;
}

/* The longest burst that is not expected by chance, in one packet or in all packets with a burst. 0: none. */
static __u32 find_longest(const struct icrc_sender *s)
{
	__u32 span = FLIP_SPAN;

	for (; span > 0; span--) {
		double found = s->mean_bits * bursts(span);
		__u32 count = count_flipped(s, span);

		if (count && found / 4294967296.0 < CHANCE && s->open * found / 4294967296.0 / count < CHANCE_OF_ALL &&
		    icrc_chance(s, 1, found, count) < CHANCE_OF_ALL)
			break;
	}
	return span;
}

bool icrc_report_single_flips(struct icrc_sender *s)
{
	const struct icrc_studied *first = NULL;
	__u32 count = 0, longest = find_longest(s);
	bool burst = false;
	struct finding *f;

	for (__u32 i = 0; i < s->count; i++) {
		struct icrc_sample *m = &s->samples[i];

		m->chosen = !m->done && m->packet->detail && m->packet->detail->flips.count &&
			    m->packet->detail->flips.list[0].span <= longest;
		if (!m->chosen)
			continue;
		count += !m->again;
		burst |= m->packet->detail->flips.list[0].span > 1;
		if (!first || m->packet->number < first->number)
			first = m->packet;
	}
	if (!count)
		return true;
	f = icrc_add_finding(s, count >= FINDING_PACKETS, WEIGHT_FLIP);
	if (!f)
		return false;
	snprintf(f->kind, sizeof(f->kind), burst ? "icrc-burst" : "icrc-bit-flip");
	icrc_append(f->text, "what was sent and what the ICRC is of differ in %s%s: in frame %llu in ",
		    burst ? "a few bits in a row" : "one bit", count > 1 ? " in each packet, not always in the same" : "",
		    first->number);
	append_flip(f->text, &first->detail->flips.list[0], true);
	icrc_append_share(f, s);
	f->asks = asks_bits;
	snprintf(f->fix, sizeof(f->fix),
		 "bits flip at random: look at the link (FCS errors of the ports), memories without ECC, "
		 "timing and crossings of clocks");
	return true;
}
