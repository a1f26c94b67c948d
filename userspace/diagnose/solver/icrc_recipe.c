// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/diagnose/solver/icrc_recipe.h"

/* What the specification asks for: IBTA volume 1, 7.8.1 and annex A17.3.3 (RoCEv2). */
#define ASKS_WHOLE                                                                                                         \
	"IBTA 7.8.1, A17.3.3: the CRC of eight bytes 0xff and the packet from its IP header to its pad, with ones for what " \
	"may change on the way"
#define ASKS_ORDER \
	"IBTA 7.8.1: the CRC goes out like Ethernet's FCS: the coefficient of x^31 first, which is bit 0 of the first byte"
#define ASKS_COMPLEMENT "IBTA 7.8.1: the CRC is the complement of the remainder, as in Ethernet's FCS"
#define ASKS_BITS "IBTA 7.8.1: each byte goes in least significant bit first, as with Ethernet's FCS"
#define ASKS_POLYNOMIAL "IBTA 7.8.1: the polynomial is that of Ethernet's FCS, 0x04c11db7"
#define ASKS_SEED "IBTA 7.8.1: the CRC register begins with 0xffffffff"
#define ASKS_ONES "A17.3.3: 64 bits of one stand in front of the IP header, where InfiniBand has its LRH"
#define ASKS_BEGIN \
	"A17.3.3: behind 64 bits of one follow the IP header, UDP, BTH, the extension headers and the payload; not Ethernet"
#define ASKS_MASK                                                                                                          \
	"IBTA 7.8.1, A17.3.3: ones stand for TOS, TTL and checksum of IPv4, or traffic class, flow label and hop limit of " \
	"IPv6; for the UDP checksum; and for byte 4 of the BTH"
#define ASKS_OWN "IBTA 7.8.1, A17.3.3: the CRC covers the headers of the same packet, as they are sent, but for what is masked"
#define ASKS_LENGTHS "A17.3.3: the lengths are not masked; they count all that follows, the ICRC included"
#define ASKS_END "IBTA 7.8.1: the CRC covers the packet up to its pad, which is included, and nothing behind it"
#define ASKS_WIRE "IBTA 7.8.1: the CRC covers the payload in the order of its bytes on the wire"

#define ASKS_VERSION \
	"IBTA 7.8.1, A17.3.3: the CRC is that of the packet as it is sent: RoCEv2 with its IP and UDP headers, RoCEv1 with its GRH"

#define FILLED(bytes, from)                                                                                               \
	"the last word of a bus of " bytes " bytes goes in whole, filled up with zeroes (words counted from the " from ")"
#define FIX_FILLED "feed only the valid bytes of the last word (AXI: tkeep)"
#define FIX_LATE "apply the mask to the beat that has the fields: delay mask and data alike"
#define CUT(bytes, from)                                                                                                  \
	"the last word of a bus of " bytes " bytes is left out where it is not full (words counted from the " from ")"
#define FIX_CUT "feed the valid bytes of the last word as well (AXI: tkeep)"

static const struct mistake_words words[MISTAKES] = {
#define MISTAKE(name, tried, words, asks, fix) { #name, words, asks, fix },
#include "roce/icrc/icrc_mistake.def"
};

const char mistake_asks_all[] = ASKS_WHOLE;

static void add(__u8 set[PART_BYTES], enum part part)
{
	set[part / 8] |= 1 << part % 8;
}

/* Nothing is masked. The UDP checksum goes in as 0: it covers the ICRC, so it is not known yet. */
static void sent_but_udp_checksum(struct recipe *r)
{
	memset(r->front.field, FIELD_SENT, FIELDS);
	r->front.field[FIELD_UDP_CHECKSUM] = FIELD_ZERO;
}

static void make_mistake(struct recipe *r, enum mistake m)
{
	switch (m) {
#define MISTAKE(name, tried, words, asks, fix)                                                                           \
	case MISTAKE_##name:                                                                                              \
		tried;                                                                                                    \
		break;
#include "roce/icrc/icrc_mistake.def"
	case MISTAKES:
		break;
	}
}

static void forget(__u8 set[PART_BYTES], const enum part *parts, int count)
{
	for (int i = 0; i < count; i++)
		set[parts[i] / 8] &= ~(1 << parts[i] % 8);
}

/* Drops differences in a header that is left out or replaced as a whole. */
static void normalise_part(struct front *f, const enum part *parts, int count)
{
	forget(f->stale, parts, count);
	forget(f->stale_sender, parts, count);
	forget(f->zero, parts, count);
	forget(f->ones, parts, count);
}

static void normalise(struct recipe *r)
{
	static const enum part ip[] = { PART_IP_ID }, udp[] = { PART_SOURCE_PORT }, lengths[] = { PART_LENGTHS };
	static const enum part bth[] = { PART_PSN, PART_OPCODE, PART_DQPN, PART_BTH, PART_EXTENSIONS };
	struct front *f = &r->front;

	if (r->end.zero) {
		memset(r, 0, sizeof(*r));
		r->end.zero = 1;
		return;
	}
	if (r->end.of) {
		__u8 of = r->end.of;

		memset(r, 0, sizeof(*r));
		r->end.of = of;
		return;
	}
	if (f->headers & WITHOUT_IP) {
		f->field[FIELD_TOS] = f->field[FIELD_TTL] = f->field[FIELD_IP_CHECKSUM] = f->field[FIELD_FLOW_LABEL] = 0;
		normalise_part(f, ip, 1);
	}
	if (f->headers & WITHOUT_UDP) {
		f->field[FIELD_UDP_CHECKSUM] = 0;
		normalise_part(f, udp, 1);
	}
	if ((f->headers & (WITHOUT_IP | WITHOUT_UDP)) == (WITHOUT_IP | WITHOUT_UDP)) {
		f->short_lengths = 0;
		normalise_part(f, lengths, 1);
	}
	if (f->headers & WITHOUT_TRANSPORT) {
		static const enum part all[] = { PART_HEADERS };

		f->field[FIELD_RESV8A] = 0;
		if (f->headers & WITHOUT_IP && f->headers & WITHOUT_UDP)
			f->swap = 0;
		f->next_psn = f->toggled_ackreq = 0;
		normalise_part(f, bth, sizeof(bth) / sizeof(*bth));
		normalise_part(f, all, 1);
	}
	if (r->body.tail == TAIL_HEADERS)
		r->body.swap = 0;
}

void recipe_make(struct recipe *r, enum mistake first, enum mistake second)
{
	memset(r, 0, sizeof(*r));
	make_mistake(r, first);
	make_mistake(r, second);
	normalise(r);
}

const struct mistake_words *mistake_words(enum mistake m)
{
	return &words[m];
}

/* Index of *one in a list of `count` entries. Appends it if it is new. */
static __u32 place(void *list, __u32 *count, const void *one, size_t size)
{
	__u32 i;

	for (i = 0; i < *count; i++)
		if (!memcmp((char *)list + i * size, one, size))
			return i;
	memcpy((char *)list + i * size, one, size);
	return (*count)++;
}

static struct explanations all;

static void look_up(const struct recipe *r, struct explanation *x)
{
	x->front = place(all.fronts, &all.front_count, &r->front, sizeof(r->front));
	x->body = place(all.bodies, &all.body_count, &r->body, sizeof(r->body));
	x->end = place(all.ends, &all.end_count, &r->end, sizeof(r->end));
}

/* Adds the explanation, unless it is the right recipe, already in the list, or a pair with a mistake that has none. */
static void add_explanation(enum mistake first, enum mistake second)
{
	struct explanation x = { .first = first, .second = second };
	struct recipe r;

	recipe_make(&r, first, second);
	if ((r.alone && second != NO_MISTAKE) || all.count == EXPLANATIONS_MOST)
		return;
	look_up(&r, &x);
	if (!x.front && !x.body && !x.end)
		return;
	for (__u32 i = 0; i < all.count; i++)
		if (all.list[i].front == x.front && all.list[i].body == x.body && all.list[i].end == x.end)
			return;
	all.list[all.count++] = x;
}

static struct only find_only(const struct front *f)
{
	static const struct front right;
	struct front rest = *f;
	__u8 *sets[] = { [ONLY_ZERO] = rest.zero, [ONLY_ONES] = rest.ones, [ONLY_SWAPPED] = rest.swapped, [ONLY_STALE] = rest.stale,
			 [ONLY_SENDER] = rest.stale_sender };

	for (__u8 how = ONLY_ZERO; how <= ONLY_SENDER; how++)
		for (__u8 part = PART_LENGTHS; part < PARTS; part++) {
			if (!(sets[how][part / 8] >> part % 8 & 1))
				continue;
			forget(sets[how], &(enum part){ part }, 1);
			return memcmp(&rest, &right, sizeof(rest)) ? (struct only){} : (struct only){ part, how };
		}
	return (struct only){};
}

const struct explanations *explanations(void)
{
	struct explanation right = {};
	struct recipe r;

	if (all.count)
		return &all;
	crc_make_tables();
	recipe_make(&r, NO_MISTAKE, NO_MISTAKE);
	look_up(&r, &right);
	for (int a = 0; a < MISTAKES; a++)
		add_explanation(a, NO_MISTAKE);
	for (int a = 0; a < MISTAKES; a++)
		for (int b = a + 1; b < MISTAKES; b++)
			add_explanation(a, b);
	for (__u32 i = 0; i < all.front_count; i++)
		all.only[i] = find_only(&all.fronts[i]);
	return &all;
}

