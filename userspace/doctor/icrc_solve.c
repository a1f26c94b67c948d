// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "userspace/doctor/icrc_linear.h"
#include "userspace/doctor/icrc_poly.h"
#include "userspace/doctor/icrc_solve.h"

#define BTH_BYTES 12
#define ICRC_BYTES 4
#define LEAD_BYTES 8
#define ARENA_BYTES (16 << 20)

/* Known as CRCs, or what becomes of these by a bit order that is mistaken (catalogue of CRC RevEng). */
static const struct {
	__u32 polynomial;
	const char *name;
} known[] = {
	{ SOLVE_POLYNOMIAL, "Ethernet" },
	{ 0x1edc6f41, "CRC-32C" },
	{ 0xedb88320, "0x04c11db7 with its bits in the other order" },
	{ 0x82f63b78, "CRC-32C with its bits in the other order" },
	{ 0xdb710641, "the reciprocal of 0x04c11db7" },
	{ 0x05ec76f1, "the reciprocal of CRC-32C" },
	{ 0x741b8cd7, "CRC-32K" },
	{ 0x814141ab, "CRC-32Q" },
	{ 0xa833982b, "CRC-32D" },
	{ 0xf4acfb13, "CRC-32/AUTOSAR" },
	{ 0x8001801b, "CRC-32/CD-ROM-EDC" },
	{ 0x000000af, "CRC-32/XFER" },
};
#define KNOWN (sizeof(known) / sizeof(*known))

const char *polynomial_name(__u32 polynomial)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (known[i].polynomial == polynomial)
			return known[i].name;
	return NULL;
}

static const struct {
	const char *name, *words;
	__u8 header;
	bool masked;
} fields[SOLVE_COUNT] = {
#define SOLVE_FIELD(name, header, masked, words) { #name, words, FIRST_##header, masked },
	SOLVE_FIELDS
#undef SOLVE_FIELD
};

const char *solve_field_words(enum solve_field f)
{
	return fields[f].words;
}

const char *solve_field_name(enum solve_field f)
{
	return fields[f].name;
}

bool solve_field_masked(enum solve_field f)
{
	return fields[f].masked;
}

enum solve_first solve_field_first(enum solve_field f)
{
	return fields[f].header;
}

static __u32 set_of(enum solve_field f)
{
	return 1u << f;
}

/* The fields that ought to be masked. */
static __u32 set_to_mask(void)
{
	__u32 set = 0;

	for (int f = 0; f < SOLVE_COUNT; f++)
		set |= fields[f].masked ? set_of(f) : 0;
	return set;
}

/* The fields in front of that header. */
static __u32 set_before(enum solve_first first)
{
	__u32 set = 0;

	for (int f = 0; f < SOLVE_COUNT; f++)
		set |= fields[f].header < first ? set_of(f) : 0;
	return set;
}

/* ---- bits ---- */

static __u8 mirror_byte(__u8 v)
{
	v = v >> 4 | v << 4;
	v = (v & 0xcc) >> 2 | (v & 0x33) << 2;
	return (v & 0xaa) >> 1 | (v & 0x55) << 1;
}

static void mirror_bytes(__u8 *bytes, __u32 count)
{
	for (__u32 i = 0; i < count; i++)
		bytes[i] = mirror_byte(bytes[i]);
}

static __u32 mirror(__u32 v)
{
	__u32 to = 0;

	for (int i = 0; i < 4; i++)
		to = to << 8 | mirror_byte(v >> 8 * i);
	return to;
}

/* a * b, and x^n, modulo the polynomial. */
static __u32 times(__u32 polynomial, __u32 a, __u32 b)
{
	__u32 product = 0;

	for (int bit = 31; bit >= 0; bit--) {
		product = product << 1 ^ (product >> 31 ? polynomial : 0);
		if (a >> bit & 1)
			product ^= b;
	}
	return product;
}

static __u32 power(__u32 polynomial, __u32 n)
{
	__u32 result = 1, square = 2;

	for (; n; n >>= 1, square = times(polynomial, square, square))
		if (n & 1)
			result = times(polynomial, result, square);
	return result;
}

/* ---- the packets ---- */

/* Bits of a header: the first and the last byte may be masked in part. */
struct place {
	__u32 at, bytes;
	__u8 first, last;
};

struct sample {
	const __u8 *header; /* the frame */
	const __u8 *rest[2]; /* what is behind the BTH, up to the ICRC; [1]: with the bits of each byte in the other order */
	__u32 bytes; /* of the rest */
	__u32 found; /* the first byte on the wire in the lowest bits */
};

struct layout {
	__u32 ip, udp, bth, end; /* offsets; end: of the BTH */
	bool ipv6;
	struct place place[SOLVE_COUNT];
};

struct study {
	struct arena arena;
	struct layout layout; /* of all packets */
	struct sample sample[SOLVE_PACKETS]; /* the shortest first; no two have the same ICRC */
	__u32 count;
	__u32 most; /* most bytes of the rest */
	__u32 varies; /* set of fields that are not the same in all packets */
};

/* How the register and the bytes are read. */
struct form {
	bool refin, refout, swapped;
};

#define FORMS 8

/* The first is the right one. Those with the same refin are neighbours. */
static struct form form_of(int i)
{
	return (struct form){ .refin = !(i & 4), .refout = !(i & 2), .swapped = i & 1 };
}

static void find_layout(struct layout *l, const struct solve_packet *packet)
{
	struct place *p = l->place;

	memset(l, 0, sizeof(*l));
	l->ip = packet->ip;
	l->udp = packet->udp;
	l->bth = packet->bth;
	l->end = packet->bth + BTH_BYTES;
	l->ipv6 = packet->ipv6;
	p[SOLVE_ethernet] = (struct place){ 0, l->ip, 0xff, 0xff };
	if (l->ipv6) {
		p[SOLVE_tos] = (struct place){ l->ip, 2, 0x0f, 0xf0 };
		p[SOLVE_flow_label] = (struct place){ l->ip + 1, 3, 0x0f, 0xff };
		p[SOLVE_ip_length] = (struct place){ l->ip + 4, 2, 0xff, 0xff };
		p[SOLVE_ttl] = (struct place){ l->ip + 7, 1, 0xff, 0xff };
		p[SOLVE_ip_addresses] = (struct place){ l->ip + 8, l->udp - l->ip - 8, 0xff, 0xff };
	} else {
		p[SOLVE_tos] = (struct place){ l->ip + 1, 1, 0xff, 0xff };
		p[SOLVE_ip_length] = (struct place){ l->ip + 2, 2, 0xff, 0xff };
		p[SOLVE_ip_id] = (struct place){ l->ip + 4, 2, 0xff, 0xff };
		p[SOLVE_ip_flags] = (struct place){ l->ip + 6, 2, 0xff, 0xff };
		p[SOLVE_ttl] = (struct place){ l->ip + 8, 1, 0xff, 0xff };
		p[SOLVE_ip_checksum] = (struct place){ l->ip + 10, 2, 0xff, 0xff };
		p[SOLVE_ip_addresses] = (struct place){ l->ip + 12, l->udp - l->ip - 12, 0xff, 0xff };
	}
	if (l->udp != l->bth)
		for (int i = 0; i < 4; i++)
			p[SOLVE_source_port + i] = (struct place){ l->udp + 2 * i, 2, 0xff, 0xff };
	p[SOLVE_opcode] = (struct place){ l->bth, 1, 0xff, 0xff };
	p[SOLVE_bth_flags] = (struct place){ l->bth + 1, 1, 0xff, 0xff };
	p[SOLVE_pkey] = (struct place){ l->bth + 2, 2, 0xff, 0xff };
	p[SOLVE_resv8a] = (struct place){ l->bth + 4, 1, 0xff, 0xff };
	p[SOLVE_dqpn] = (struct place){ l->bth + 5, 3, 0xff, 0xff };
	p[SOLVE_ackreq] = (struct place){ l->bth + 8, 1, 0xff, 0xff };
	p[SOLVE_psn] = (struct place){ l->bth + 9, 3, 0xff, 0xff };
}

/* Which bits of the byte belong to the field. */
static __u8 bits_of(const struct place *p, __u32 at)
{
	return (at == p->at ? p->first : 0xff) & (at == p->at + p->bytes - 1 ? p->last : 0xff);
}

/* Adds (modulo 2) to the headers in which bits of the field packets i and k differ. Returns whether they do. */
static bool add_difference(const struct study *s, enum solve_field f, __u32 i, __u32 k, __u8 *headers)
{
	const struct place *p = &s->layout.place[f];
	bool differ = false;

	for (__u32 at = p->at; at < p->at + p->bytes; at++) {
		__u8 bits = (s->sample[i].header[at] ^ s->sample[k].header[at]) & bits_of(p, at);

		headers[at] ^= bits;
		differ |= bits;
	}
	return differ;
}

static void find_varying(struct study *s)
{
	for (int f = 0; f < SOLVE_COUNT; f++)
		for (__u32 i = 1; i < s->count; i++) {
			__u8 headers[SOLVE_HEADERS] = {};

			if (add_difference(s, f, i, 0, headers))
				s->varies |= set_of(f);
		}
}

static __u32 found_of(const struct solve_packet *p)
{
	const __u8 *icrc = p->frame + p->icrc;

	return icrc[0] | icrc[1] << 8 | icrc[2] << 16 | (__u32)icrc[3] << 24;
}

static bool has_found(const struct study *s, __u32 found)
{
	for (__u32 i = 0; i < s->count; i++)
		if (s->sample[i].found == found)
			return true;
	return false;
}

static void take_sample(struct study *s, const struct solve_packet *p)
{
	struct sample *to = &s->sample[s->count];
	__u8 *mirrored;

	to->bytes = p->icrc - s->layout.end;
	to->header = p->frame;
	to->rest[0] = p->frame + s->layout.end;
	to->rest[1] = mirrored = arena_take(&s->arena, to->bytes);
	to->found = found_of(p);
	if (!mirrored)
		return;
	memcpy(mirrored, to->rest[0], to->bytes);
	mirror_bytes(mirrored, to->bytes);
	s->most = to->bytes > s->most ? to->bytes : s->most;
	s->count++;
}

static bool is_alike(const struct layout *l, const struct solve_packet *p)
{
	return p->ip == l->ip && p->udp == l->udp && p->bth == l->bth && p->ipv6 == l->ipv6 && p->icrc >= l->end &&
	       p->icrc <= l->end + SOLVE_BYTES;
}

static int by_length(const void *a, const void *b)
{
	const struct solve_packet *x = *(const struct solve_packet *const *)a, *y = *(const struct solve_packet *const *)b;

	return x->icrc != y->icrc ? (x->icrc < y->icrc ? -1 : 1) : x < y ? -1 : x > y;
}

/* Takes the shortest, all with headers like the first one's. Packets of a second length tell start from xor. */
static void take_samples(struct study *s, const struct solve_packet **sorted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct solve_packet *p = sorted[i];
		bool full = s->count == SOLVE_PACKETS, last = s->count == SOLVE_PACKETS - 1;
		bool same = s->count && s->sample[0].bytes == p->icrc - s->layout.end;

		if (full || has_found(s, found_of(p)))
			continue;
		/* the last place is for a packet of another length, if there is one */
		if (last && same && sorted[count - 1]->icrc != p->icrc)
			continue;
		take_sample(s, p);
	}
}

static bool read_packets(struct study *s, const struct solve_packet *packets, size_t count)
{
	const struct solve_packet **sorted = malloc(count * sizeof(*sorted));
	size_t alike = 0;

	if (!sorted)
		return false;
	find_layout(&s->layout, packets);
	for (size_t i = 0; i < count; i++)
		if (is_alike(&s->layout, &packets[i]))
			sorted[alike++] = &packets[i];
	qsort(sorted, alike, sizeof(*sorted), by_length);
	if (s->layout.end <= SOLVE_HEADERS)
		take_samples(s, sorted, alike);
	free(sorted);
	find_varying(s);
	return s->count > 1;
}

/* The register, most significant bit first and with the final xor, from the four bytes on the wire; or back. */
static __u32 register_of(const struct form *form, __u32 found)
{
	__u32 v = form->swapped ? __builtin_bswap32(found) : found;

	return form->refout ? mirror(v) : v;
}

/* What goes in of a packet's headers, by this solution. Returns the number of bytes. */
static __u32 feed_headers(const struct layout *l, const __u8 *frame, const struct solution *s, __u8 *to)
{
	const __u32 begins[] = { 0, l->ip, l->udp, l->bth };
	__u32 lead = s->ones ? LEAD_BYTES : 0, from = begins[s->first];
	__u8 headers[SOLVE_HEADERS];

	memcpy(headers, frame, l->end);
	for (int f = 0; f < SOLVE_COUNT; f++) {
		const struct place *p = &l->place[f];

		for (__u32 at = p->at; s->masked & set_of(f) && at < p->at + p->bytes; at++)
			headers[at] = s->zeroes ? headers[at] & ~bits_of(p, at) : headers[at] | bits_of(p, at);
	}
	memset(to, 0xff, lead);
	memcpy(to + lead, headers + from, l->end - from);
	if (s->refin)
		mirror_bytes(to, lead + l->end - from);
	return lead + l->end - from;
}

/* ---- one polynomial: what is linear ---- */

/* The unknowns: bits of the final xor, one bit a field that varies (it goes in), bits of the register behind the BTH. */
#define VAR_XOR 0
#define VAR_FIELD 32
#define VAR_REGISTER 64

struct candidate {
	__u32 polynomial;
	bool refin, made;
	__u32 table[256];
	__u32 rest[SOLVE_PACKETS]; /* the CRC of the rest, from a register of 0 */
	__u32 shift[SOLVE_PACKETS]; /* x to the number of its bits */
	__u32 field[SOLVE_PACKETS][SOLVE_COUNT]; /* the CRC of the field's difference from the first packet */
};

static __u32 crc(const struct candidate *c, __u32 r, const __u8 *bytes, __u32 count)
{
	for (__u32 i = 0; i < count; i++)
		r = r << 8 ^ c->table[r >> 24 ^ bytes[i]];
	return r;
}

static void make_table(struct candidate *c)
{
	for (__u32 i = 0; i < 256; i++) {
		__u32 r = i << 24;

		for (int bit = 0; bit < 8; bit++)
			r = r << 1 ^ (r >> 31 ? c->polynomial : 0);
		c->table[i] = r;
	}
}

static void make_candidate(const struct study *s, struct candidate *c, __u32 polynomial, bool refin)
{
	if (c->made && c->polynomial == polynomial && c->refin == refin)
		return;
	c->made = true;
	c->polynomial = polynomial;
	c->refin = refin;
	make_table(c);
	for (__u32 i = 0; i < s->count; i++) {
		const struct sample *p = &s->sample[i];

		c->rest[i] = crc(c, 0, p->rest[refin], p->bytes);
		c->shift[i] = i && p->bytes == p[-1].bytes ? c->shift[i - 1] : power(polynomial, 8 * p->bytes);
		for (int f = 0; f < SOLVE_COUNT; f++) {
			__u8 headers[SOLVE_HEADERS] = {};

			c->field[i][f] = 0;
			if (!(s->varies & set_of(f)) || !add_difference(s, f, i, 0, headers))
				continue;
			if (refin)
				mirror_bytes(headers, s->layout.end);
			c->field[i][f] = times(polynomial, crc(c, 0, headers, s->layout.end), c->shift[i]);
		}
	}
}

/* Adds the 32 equations of one packet. */
static bool add_packet(const struct study *s, const struct candidate *c, __u32 i, const struct form *form, struct linear *to)
{
	__u32 value = register_of(form, s->sample[i].found) ^ c->rest[i], column[32], x = c->shift[i];

	for (int k = 0; k < 32; k++, x = x << 1 ^ (x >> 31 ? c->polynomial : 0))
		column[k] = x;
	for (int bit = 0; bit < 32; bit++) {
		linear_row row = linear_one(VAR_XOR + bit) | linear_value(value >> bit & 1);

		for (int f = 0; f < SOLVE_COUNT; f++)
			if (c->field[i][f] >> bit & 1)
				row |= linear_one(VAR_FIELD + f);
		for (int k = 0; k < 32; k++)
			if (column[k] >> bit & 1)
				row |= linear_one(VAR_REGISTER + k);
		if (!linear_add(to, row))
			return false;
	}
	return true;
}

/* Equations that must hold by themselves, beyond those that determine unknowns, each a chance of one in two. */
#define EVIDENCE_KNOWN 64
#define EVIDENCE 96

static bool fits(const struct study *s, const struct candidate *c, const struct form *form, __u32 evidence, struct linear *to)
{
	memset(to, 0, sizeof(*to));
	for (__u32 i = 0; i < s->count; i++)
		if (!add_packet(s, c, i, form, to))
			return false;
	return to->redundant >= evidence;
}

/* ---- from the register behind the BTH to the start ---- */

#define LOOSE 16 /* the cost of a value of 32 bits that is none of the usual ones */

struct answers {
	const struct study *study;
	const struct candidate *candidate;
	const struct form *form;
	struct linear linear;
	__u32 in, out; /* sets of varying fields that go in as they are sent, and that do not */
	__u32 shown;   /* set of fields of which the packets tell it */
	struct solution *list;
	int *count;
};

static __u32 xor_cost(__u32 xor_out)
{
	return xor_out == ~0u ? 0 : !xor_out ? 1 : LOOSE;
}

/* Puts a solution into the list, which is sorted by cost. Where there are too many, the dearest is dropped. */
static void add_answer(struct answers *a, const struct solution *s)
{
	int at = *a->count;

	while (at && a->list[at - 1].cost > s->cost)
		at--;
	if (at == SOLUTIONS_MOST)
		return;
	*a->count += *a->count < SOLUTIONS_MOST;
	memmove(a->list + at + 1, a->list + at, (*a->count - 1 - at) * sizeof(*s));
	a->list[at] = *s;
}

/* Adds the equations of a register of 32 bits with this value. */
static bool add_value(struct linear *to, int variable, __u32 value)
{
	for (int bit = 0; bit < 32; bit++)
		if (!linear_add(to, linear_one(variable + bit) | linear_value(value >> bit & 1)))
			return false;
	return true;
}

/* The final xor if that is the register behind the BTH. false: it is not. */
static bool find_xor(const struct answers *a, __u32 behind_bth, __u32 *xor_out)
{
	struct linear l;
	bool low;

	/* quick: most are not */
	if (linear_fixed(&a->linear, VAR_REGISTER, &low) && low != (behind_bth & 1))
		return false;
	l = a->linear;
	if (!add_value(&l, VAR_REGISTER, behind_bth))
		return false;
	*xor_out = linear_solve(&l) >> VAR_XOR;
	if (a->form->refout)
		*xor_out = mirror(*xor_out);
	return true;
}

/* A start with which these bytes give that register. false: there is none (the polynomial lacks x^0). */
static bool find_start(const struct answers *a, const struct solution *s, __u32 behind_bth, __u32 *start)
{
	__u8 fed[LEAD_BYTES + SOLVE_HEADERS];
	__u32 count = feed_headers(&a->study->layout, a->study->sample[0].header, s, fed);
	__u32 value = behind_bth ^ crc(a->candidate, 0, fed, count);
	__u32 polynomial = a->candidate->polynomial, x = power(polynomial, 8 * count), column[32];
	struct linear l = {};

	for (int k = 0; k < 32; k++, x = times(polynomial, x, 2))
		column[k] = x;
	for (int bit = 0; bit < 32; bit++) {
		linear_row row = linear_value(value >> bit & 1);

		for (int k = 0; k < 32; k++)
			if (column[k] >> bit & 1)
				row |= linear_one(k);
		if (!linear_add(&l, row))
			return false;
	}
	*start = linear_solve(&l);
	return true;
}

/* Takes the start that follows from the register behind the BTH, with and without the eight bytes in front. */
static void try_register(struct answers *a, struct solution s, __u32 behind_bth)
{
	struct solution bare = s;

	bare.ones = false;
	if (!find_xor(a, behind_bth, &s.xor_out) || !find_start(a, &s, behind_bth, &s.start) ||
	    !find_start(a, &bare, behind_bth, &s.bare_start))
		return;
	s.loose = true;
	s.cost += LOOSE + xor_cost(s.xor_out);
	add_answer(a, &s);
}

/*
 * A usual start, with the eight bytes in front or without. The register behind them is 0xc704dd7b with the right polynomial;
 * 0xdebb20e3 is the same, reflected.
 */
static void try_usual_starts(struct answers *a, struct solution s)
{
	static const struct {
		__u32 start, cost;
		bool ones;
	} usual[] = {
		{ ~0u, 0, true }, { SOLVE_BEHIND_ONES, 1, false }, { 0xdebb20e3, 2, false }, { 0, 1, true }, { ~0u, 1, false },
		{ 0, 2, false },
	};
	__u32 cost = s.cost;

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
		__u8 fed[LEAD_BYTES + SOLVE_HEADERS];
		__u32 count;

		if (usual[i].start == SOLVE_BEHIND_ONES && s.polynomial == SOLVE_POLYNOMIAL)
			continue;
		s.start = usual[i].start;
		s.ones = usual[i].ones;
		count = feed_headers(&a->study->layout, a->study->sample[0].header, &s, fed);
		if (!find_xor(a, crc(a->candidate, s.start, fed, count), &s.xor_out))
			continue;
		s.cost = cost + usual[i].cost + xor_cost(s.xor_out);
		add_answer(a, &s);
	}
}

/* Any start: where the equations leave room, with a usual xor, else up to four of them. */
static void try_any_start(struct answers *a, struct solution s)
{
	static const __u32 usual[] = { ~0u, 0 };
	__u32 free[2];
	int count;

	s.ones = true;
	for (int i = 0; i < 2; i++) {
		struct linear l = a->linear;

		if (!add_value(&l, VAR_XOR, usual[i]))
			continue;
		try_register(a, s, linear_solve(&l) >> VAR_REGISTER);
		return;
	}
	count = linear_free(&a->linear, free, 2);
	for (int i = 0; i < 1 << count; i++) {
		struct linear l = a->linear;

		for (int k = 0; k < count; k++)
			linear_add(&l, linear_one(free[k]) | linear_value(i >> k & 1));
		try_register(a, s, linear_solve(&l) >> VAR_REGISTER);
	}
}

static bool has_filler(const struct study *s, enum solve_field f, bool zeroes)
{
	const struct place *p = &s->layout.place[f];

	for (__u32 at = p->at; at < p->at + p->bytes; at++)
		if ((s->sample[0].header[at] ^ (zeroes ? 0 : 0xff)) & bits_of(p, at))
			return false;
	return true;
}

/*
 * Fields that ought to be masked and never change: whether they are masked shows in the start only. What is filled in, and what
 * is sent, may be the same.
 */
static __u32 open_fields(const struct answers *a, const struct solution *s)
{
	__u32 set = 0;

	for (int f = 0; f < SOLVE_COUNT; f++)
		if (a->study->layout.place[f].bytes && !has_filler(a->study, f, s->zeroes))
			set |= set_of(f);
	return set & set_to_mask() & ~a->study->varies & ~set_before(s->first);
}

/* All that begin with this header. */
static void try_first(struct answers *a, enum solve_first first)
{
	struct solution s = {
		.polynomial = a->candidate->polynomial, .refin = a->form->refin, .refout = a->form->refout,
		.swapped = a->form->swapped, .first = first, .shown = a->shown,
	};
	__u32 before = set_before(first), to_mask = set_to_mask() & ~before, present = 0, wrong;

	if (a->in & before || (first == FIRST_UDP && a->study->layout.udp == a->study->layout.bth))
		return;
	for (int f = 0; f < SOLVE_COUNT; f++)
		present |= a->study->layout.place[f].bytes ? set_of(f) : 0;
	to_mask &= present;
	wrong = __builtin_popcount(((a->in & to_mask) | (a->out & ~to_mask)) & ~before) + (first != FIRST_IP);
	for (int zeroes = 0; zeroes < 2; zeroes++) {
		__u32 open, sent = 0;

		s.zeroes = zeroes;
		open = open_fields(a, &s);
		s.in_start = open | (a->study->varies & ~a->shown & ~before);
		do {
			s.masked = (a->out & ~before) | (to_mask & ~a->in & ~sent);
			s.cost = wrong + zeroes + __builtin_popcount(sent);
			if (zeroes && !s.masked)
				break;
			try_usual_starts(a, s);
			if (!zeroes && !sent)
				try_any_start(a, s);
			sent = (sent - open) & open; /* the next subset */
		} while (sent);
	}
}

/*
 * Which varying fields go in. Returns those of which the packets do not tell: lengths, if there are two of them only, may be in
 * the start as well.
 */
static __u32 read_fields(struct answers *a)
{
	__u32 unsure = 0;

	for (int f = 0; f < SOLVE_COUNT; f++) {
		bool goes_in;

		if (!(a->study->varies & set_of(f)))
			continue;
		if (!linear_fixed(&a->linear, VAR_FIELD + f, &goes_in))
			unsure |= set_of(f);
		else
			*(goes_in ? &a->in : &a->out) |= set_of(f);
	}
	a->shown = a->in | a->out;
	return unsure;
}

/* Takes it that these fields go in, and the other unsure ones do not. */
static void try_fields(const struct answers *all, __u32 in, __u32 unsure)
{
	struct answers a = *all;

	for (int f = 0; f < SOLVE_COUNT; f++)
		if (unsure & set_of(f) &&
		    !linear_add(&a.linear, linear_one(VAR_FIELD + f) | linear_value(in & set_of(f))))
			return;
	a.in |= in;
	a.out |= unsure & ~in;
	for (int first = FIRST_ETHERNET; first <= FIRST_BTH; first++)
		try_first(&a, first);
}

#define UNSURE_MOST 6 /* fields of which both is tried */

/* Takes the likeliest solutions with this polynomial and form. */
static void answer(const struct study *s, const struct candidate *c, const struct form *form, const struct linear *l,
		   struct solution *found, int *count)
{
	struct solution list[SOLUTIONS_MOST];
	int listed = 0;
	struct answers a = { .study = s, .candidate = c, .form = form, .linear = *l, .list = list, .count = &listed };
	struct answers to = { .list = found, .count = count };
	__u32 unsure = read_fields(&a), right = unsure & ~set_to_mask(), in = 0;

	if (__builtin_popcount(unsure) > UNSURE_MOST) {
		try_fields(&a, right, unsure);
	} else {
		do {
			try_fields(&a, in, unsure);
			in = (in - unsure) & unsure; /* the next subset */
		} while (in);
	}
	for (int i = 0; i < listed && list[i].cost == list[0].cost; i++)
		add_answer(&to, &list[i]);
}

/* ---- the polynomial ---- */

#define COLUMNS (SOLVE_COUNT + 1)
#define COLUMN_XOR SOLVE_COUNT /* the last one: its polynomials are long */

/* The polynomial divides known + the sum of (unknown * column). */
struct row {
	struct poly known, column[COLUMNS];
};

/* What is taken for certain: fields that go in and that do not. The others are unknown. */
struct plan {
	__u32 in, out;
};

/*
 * Two packets, neighbours in length. They are lined up at their headers: zeroes follow the shorter one's ICRC. So the
 * register behind the headers cancels; the final xor only where they have the same length.
 */
static bool make_row(struct study *s, __u32 i, const struct form *form, const struct plan *plan, struct row *row)
{
	__u32 count = s->layout.end + s->most + ICRC_BYTES;
	__u8 *bytes = arena_take(&s->arena, count), *headers;

	memset(row, 0, sizeof(*row));
	if (!bytes)
		return false;
	for (int f = 0; f < SOLVE_COUNT; f++)
		if (plan->in & set_of(f))
			add_difference(s, f, i, i + 1, bytes);
	if (form->refin)
		mirror_bytes(bytes, s->layout.end);
	for (int k = 0; k < 2; k++) {
		const struct sample *p = &s->sample[i + k];
		__u32 value = register_of(form, p->found);

		for (__u32 at = 0; at < p->bytes; at++)
			bytes[s->layout.end + at] ^= p->rest[form->refin][at];
		for (int at = 0; at < ICRC_BYTES; at++)
			bytes[s->layout.end + p->bytes + at] ^= value >> (24 - 8 * at);
	}
	row->known = poly_of_bytes(&s->arena, bytes, count);
	for (int f = 0; f < SOLVE_COUNT; f++) {
		headers = arena_take(&s->arena, s->layout.end);
		if (!headers || (plan->in | plan->out) & set_of(f) || !add_difference(s, f, i, i + 1, headers))
			continue;
		if (form->refin)
			mirror_bytes(headers, s->layout.end);
		row->column[f] = poly_of_bytes(&s->arena, headers, s->layout.end);
	}
	if (s->sample[i].bytes != s->sample[i + 1].bytes)
		row->column[COLUMN_XOR] = poly_of_two(&s->arena, 8 * (s->most - s->sample[i].bytes),
						      8 * (s->most - s->sample[i + 1].bytes));
	return true;
}

/* to += from * x^shift */
static void add_row(struct arena *a, struct row *to, const struct row *from, __u32 shift)
{
	poly_add(a, &to->known, &from->known, shift);
	for (int c = 0; c < COLUMNS; c++)
		poly_add(a, &to->column[c], &from->column[c], shift);
}

/*
 * Makes the column 0 in all rows but one, which is dropped: Euclid's algorithm with rows. As rows are only added, what is known
 * gets no factor that it had not.
 */
static void eliminate(struct arena *a, struct row *rows, __u32 *count, int column)
{
	for (bool others = true; others;) {
		__u32 least = *count;

		for (__u32 i = 0; i < *count; i++)
			if (rows[i].column[column].bits &&
			    (least == *count || rows[i].column[column].bits < rows[least].column[column].bits))
				least = i;
		if (least == *count)
			return;
		others = false;
		for (__u32 i = 0; i < *count; i++) {
			const struct poly *p = &rows[i].column[column], *by = &rows[least].column[column];

			others |= i != least && p->bits;
			while (i != least && p->bits >= by->bits && !a->full)
				add_row(a, &rows[i], &rows[least], p->bits - by->bits);
		}
		if (a->full)
			return;
		if (!others)
			rows[least] = rows[--*count];
	}
}

#define ROWS_LEFT 3 /* with fewer, the common divisor often has other factors as well */

/*
 * The greatest common divisor of what is left when all unknown fields are eliminated. 0: too few rows. *enough: there are so
 * many that no other plan finds what this one does not.
 */
static struct poly common_divisor(struct study *s, const struct form *form, const struct plan *plan, bool *enough)
{
	struct row rows[SOLVE_PACKETS];
	struct poly common = {};
	__u32 count = 0, same = 0;
	int left = ROWS_LEFT + __builtin_popcount(s->varies & ~plan->in & ~plan->out);

	for (__u32 i = 0; i + 1 < s->count; i++)
		same += s->sample[i].bytes == s->sample[i + 1].bytes;
	for (__u32 i = 0; i + 1 < s->count; i++)
		if ((int)same < left || s->sample[i].bytes == s->sample[i + 1].bytes)
			count += make_row(s, i, form, plan, &rows[count]);
	for (int c = 0; c < COLUMNS; c++)
		eliminate(&s->arena, rows, &count, c);
	*enough = count >= ROWS_LEFT && !s->arena.full;
	if (count < 2)
		return common;
	common = rows[0].known;
	for (__u32 i = 1; i < count; i++)
		common = poly_gcd(&s->arena, &common, &rows[i].known);
	return common;
}

#define FACTOR_BITS 20 /* most bits of another factor that the common divisor may have */

/* x / y, and the remainder. y is not 0. */
static __u64 divide(__u64 x, __u64 y, __u64 *rest)
{
	int top = 63 - __builtin_clzll(y);
	__u64 quotient = 0;

	while (x >> top) {
		int shift = 63 - __builtin_clzll(x) - top;

		quotient |= 1ull << shift;
		x ^= y << shift;
	}
	*rest = x;
	return quotient;
}

/* What the search for the polynomial fills in. */
struct search {
	struct study *study;
	struct candidate *candidate;
	const struct form *form;
	struct solution *found;
	int count;
};

static bool try_polynomial(struct search *s, __u32 polynomial, __u32 evidence)
{
	struct linear l;

	make_candidate(s->study, s->candidate, polynomial, s->form->refin);
	if (!fits(s->study, s->candidate, s->form, evidence, &l))
		return false;
	answer(s->study, s->candidate, s->form, &l, s->found, &s->count);
	return true;
}

/* The polynomial is the common divisor without a few small factors: tries all that there can be. */
static void try_divisors(struct search *s, const struct poly *common)
{
	__u32 zeroes = poly_zeroes(common), bits = common->bits - zeroes;
	__u64 odd = 0;

	if (bits > 33 + FACTOR_BITS)
		return;
	for (__u32 i = 0; i < bits; i++)
		odd |= (__u64)(common->word[(zeroes + i) / 64] >> (zeroes + i) % 64 & 1) << i;
	/* a polynomial without x^0 is a mistake, but somebody's */
	for (__u32 even = 0; even <= zeroes && even < 32; even++) {
		int degree = (int)bits - 1 - 32 + (int)even;

		if (degree < 0 || degree > FACTOR_BITS)
			continue;
		for (__u64 factor = 1ull << degree; factor < 2ull << degree; factor++) {
			__u64 rest, quotient = divide(odd, factor, &rest);

			if (!rest && try_polynomial(s, quotient << even, EVIDENCE))
				return;
		}
	}
}

/* Returns whether there were enough packets. */
static bool try_plan(struct search *s, const struct plan *plan)
{
	size_t used = s->study->arena.used;
	bool enough = true;

	for (int i = 0; i < FORMS; i++) {
		struct form form = form_of(i);
		struct poly common;

		s->form = &form;
		s->study->arena.used = used;
		s->study->arena.full = false;
		common = common_divisor(s->study, &form, plan, &enough);
		if (common.bits > 32 && !s->study->arena.full)
			try_divisors(s, &common);
	}
	s->study->arena.used = used;
	return enough;
}

static void try_known(struct search *s)
{
	for (size_t k = 0; k < KNOWN; k++)
		for (int i = 0; i < FORMS; i++) {
			struct form form = form_of(i);

			s->form = &form;
			try_polynomial(s, known[k].polynomial, EVIDENCE_KNOWN);
		}
}

/*
 * Each unknown field costs a packet. If there are too few, only what ought to be masked is unknown, with each header at which
 * the CRC may begin; and then with one field more that is masked.
 */
static void try_plans(struct search *s)
{
	__u32 varies = s->study->varies;
	struct plan plan = {};

	if (try_plan(s, &plan))
		return;
	for (int first = FIRST_ETHERNET; !s->count && first <= FIRST_BTH; first++) {
		plan.out = set_before(first);
		plan.in = ~set_to_mask() & ~plan.out;
		try_plan(s, &plan);
		for (int f = 0; !s->count && f < SOLVE_COUNT; f++) {
			struct plan more = { plan.in & ~set_of(f), plan.out | set_of(f) };

			if (varies & plan.in & set_of(f))
				try_plan(s, &more);
		}
	}
}

int solve(const struct solve_packet *packets, size_t count, struct solution found[SOLUTIONS_MOST])
{
	struct study study = { .arena = { .words = malloc(ARENA_BYTES), .room = ARENA_BYTES / 8 } };
	struct candidate candidate = { .made = false };
	struct search search = { .study = &study, .candidate = &candidate, .found = found };

	if (count && study.arena.words && read_packets(&study, packets, count)) {
		try_known(&search);
		if (!search.count)
			try_plans(&search);
	}
	free(study.arena.words);
	return search.count;
}

bool solution_is_right(const struct solution *s)
{
	return !s->cost && s->polynomial == SOLVE_POLYNOMIAL && s->refin && s->refout && !s->swapped;
}

__u32 solution_icrc(const struct solution *s, const struct solve_packet *p)
{
	struct candidate c = { .polynomial = s->polynomial };
	__u8 fed[LEAD_BYTES + SOLVE_HEADERS];
	struct layout l;
	__u32 r;

	find_layout(&l, p);
	make_table(&c);
	r = crc(&c, s->start, fed, feed_headers(&l, p->frame, s, fed));
	for (__u32 at = l.end; at < p->icrc; at++) {
		__u8 byte = s->refin ? mirror_byte(p->frame[at]) : p->frame[at];

		r = crc(&c, r, &byte, 1);
	}
	r = (s->refout ? mirror(r) : r) ^ s->xor_out;
	return s->swapped ? __builtin_bswap32(r) : r;
}
