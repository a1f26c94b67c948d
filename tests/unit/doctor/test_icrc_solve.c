// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 3 s, long 60 s
/*
 * Random CRCs are recovered from twelve packets each: 10,000 in `make test-long`, otherwise 400. The CRC here is computed bit
 * by bit, and the fields are masked by offsets of this file. What the solver says must give the ICRCs of the twelve packets,
 * and of others that the same sender goes on to send. Without sanitizers, because it takes seconds.
 */
#include <stdio.h>

#include "tests/unit/cmocka_includes.h"
#include "tests/unit/frame.h"
#include "tests/unit/long.h"
#include "userspace/diagnose/solver/icrc_solve.h"

#define PACKETS 12
#define MORE 12
#define CASES (test_long() ? 10000 : 400)

static uint64_t seed = 20;

static uint32_t draw(uint32_t below)
{
	return (random_next(&seed) >> 33) % below;
}

static uint32_t draw_word(void)
{
	return random_next(&seed) >> 32;
}

/* ---- the CRC, bit by bit ---- */

struct crc {
	uint32_t polynomial, start, xor_out;
	bool refin, refout, swapped, ones, zeroes;
	int first;
	uint32_t masked;
};

static uint32_t crc_bit(uint32_t r, uint32_t polynomial, int bit)
{
	uint32_t out = r >> 31 ^ bit;

	return r << 1 ^ (out ? polynomial : 0);
}

static uint32_t crc_byte(uint32_t r, const struct crc *c, uint8_t byte)
{
	for (int i = 0; i < 8; i++)
		r = crc_bit(r, c->polynomial, byte >> (c->refin ? i : 7 - i) & 1);
	return r;
}

static void fill(struct test_frame *f, int at, uint8_t bits, bool zeroes)
{
	f->bytes[at] = zeroes ? f->bytes[at] & ~bits : f->bytes[at] | bits;
}

/* The field, by the layouts of RFC 791, 8200, 768 and IBTA 9.2. */
static void mask_field(struct test_frame *f, int field, bool zeroes)
{
	bool v6 = f->bytes[f->l3] >> 4 == 6;
	static const struct {
		int field, at4, at6, bytes; /* of IP; -1: not there */
	} ip[] = { { SOLVE_ip_length, 2, 4, 2 }, { SOLVE_ip_id, 4, -1, 2 }, { SOLVE_ip_flags, 6, -1, 2 }, { SOLVE_ttl, 8, 7, 1 },
		   { SOLVE_ip_checksum, 10, -1, 2 }, { SOLVE_tos, 1, -1, 1 } };
	static const struct {
		int field, at, bytes; /* of UDP, and from 8 on of the BTH */
	} rest[] = { { SOLVE_source_port, 0, 2 }, { SOLVE_destination_port, 2, 2 }, { SOLVE_udp_length, 4, 2 },
		     { SOLVE_udp_checksum, 6, 2 }, { SOLVE_opcode, 8, 1 }, { SOLVE_bth_flags, 9, 1 }, { SOLVE_pkey, 10, 2 },
		     { SOLVE_resv8a, 12, 1 }, { SOLVE_dqpn, 13, 3 }, { SOLVE_ackreq, 16, 1 }, { SOLVE_psn, 17, 3 } };

	for (size_t i = 0; i < sizeof(ip) / sizeof(*ip); i++)
		for (int k = 0; ip[i].field == field && k < ip[i].bytes; k++)
			if ((v6 ? ip[i].at6 : ip[i].at4) >= 0)
				fill(f, f->l3 + k + (v6 ? ip[i].at6 : ip[i].at4), 0xff, zeroes);
	for (size_t i = 0; i < sizeof(rest) / sizeof(*rest); i++)
		for (int k = 0; rest[i].field == field && k < rest[i].bytes; k++)
			fill(f, f->udp + rest[i].at + k, 0xff, zeroes);
	if (field == SOLVE_ip_addresses)
		for (int at = f->l3 + (v6 ? 8 : 12); at < f->udp; at++)
			fill(f, at, 0xff, zeroes);
	if (field == SOLVE_ethernet)
		for (int at = 0; at < f->l3; at++)
			fill(f, at, 0xff, zeroes);
	if (v6 && field == SOLVE_tos)
		fill(f, f->l3, 0x0f, zeroes), fill(f, f->l3 + 1, 0xf0, zeroes);
	if (v6 && field == SOLVE_flow_label)
		fill(f, f->l3 + 1, 0x0f, zeroes), fill(f, f->l3 + 2, 0xff, zeroes), fill(f, f->l3 + 3, 0xff, zeroes);
}

/* The four bytes on the wire. */
static void make_icrc(const struct crc *c, const struct test_frame *sent, uint8_t icrc[4])
{
	static struct test_frame f;
	const int begins[] = { 0, sent->l3, sent->udp, sent->bth };
	uint32_t r = c->start, out = 0;

	memcpy(&f, sent, sizeof(f));
	for (int field = 0; field < SOLVE_COUNT; field++)
		if (c->masked >> field & 1)
			mask_field(&f, field, c->zeroes);
	for (int i = 0; c->ones && i < 8; i++)
		r = crc_byte(r, c, 0xff);
	for (int at = begins[c->first]; at < f.icrc; at++)
		r = crc_byte(r, c, f.bytes[at]);
	for (int i = 0; i < 32; i++)
		out |= (r >> i & 1) << (c->refout ? 31 - i : i);
	out ^= c->xor_out;
	for (int i = 0; i < 4; i++)
		icrc[i] = out >> 8 * (c->swapped ? 3 - i : i);
}

static struct crc crc_of(const struct solution *s)
{
	return (struct crc){ s->polynomial, s->start, s->xor_out, s->refin, s->refout, s->swapped, s->ones, s->zeroes, s->first,
			     s->masked };
}

static const uint32_t right_masks = 1 << SOLVE_tos | 1 << SOLVE_flow_label | 1 << SOLVE_ttl | 1 << SOLVE_ip_checksum |
				    1 << SOLVE_udp_checksum | 1 << SOLVE_resv8a;

static struct crc right_crc(void)
{
	return (struct crc){ 0x04c11db7, ~0u, ~0u, true, true, false, true, false, FIRST_IP, right_masks };
}

/* ---- the sender ---- */

struct test_sender {
	bool ipv6, several_opcodes;
	int tags, lengths, length[3];
	uint32_t varies; /* which of the fields below vary */
	uint32_t base[SOLVE_COUNT];
};

static void draw_sender(struct test_sender *s)
{
	s->ipv6 = !draw(4);
	s->tags = draw(2);
	s->several_opcodes = !draw(3);
	s->lengths = 1 + draw(3);
	for (int i = 0; i < 3; i++)
		s->length[i] = 1 + draw(400);
	s->varies = draw_word();
	for (int i = 0; i < SOLVE_COUNT; i++)
		s->base[i] = draw_word();
}

static uint32_t value(const struct test_sender *s, enum solve_field f, int k)
{
	return s->base[f] + (s->varies >> f & 1 ? k * (2 * f + 1) : 0);
}

static void make_packet(const struct test_sender *s, struct test_frame *f, int k)
{
	/* UC: Only; First, Middle, Last */
	static const uint8_t opcodes[] = { 0x26, 0x27, 0x28 };
	int payload = s->length[k % s->lengths];
	struct frame_spec spec = {
		.tags = s->tags, .ipv6 = s->ipv6, .opcode = s->several_opcodes ? opcodes[k % 3] : 0x2a,
		.dqpn = value(s, SOLVE_dqpn, k) & 0xffffff, .psn = (s->base[SOLVE_psn] + k) & 0xffffff, .dma_length = payload,
		.payload = payload, .pad = -payload & 3, .tos = value(s, SOLVE_tos, k),
	};
	uint8_t *ip;

	frame_build(f, &spec);
	ip = f->bytes + f->l3;
	for (int i = f->payload; i < f->payload + payload; i++)
		f->bytes[i] = draw_word();
	ip[s->ipv6 ? 7 : 8] = value(s, SOLVE_ttl, k);
	if (s->ipv6)
		put(ip + 2, value(s, SOLVE_flow_label, k), 2);
	else
		put(ip + 4, value(s, SOLVE_ip_id, k), 2);
	put(f->bytes + f->udp, value(s, SOLVE_source_port, k), 2);
	put(f->bytes + f->udp + 6, value(s, SOLVE_udp_checksum, k), 2);
	f->bytes[f->bth + 4] = value(s, SOLVE_resv8a, k);
	f->bytes[f->bth + 8] = value(s, SOLVE_ackreq, k) << 7;
	if (s->ipv6)
		return;
	put(ip + 10, 0, 2);
	put(ip + 10, frame_checksum(ip, 20, 0), 2);
}

static uint32_t draw_value(void)
{
	uint32_t how = draw(6);

	return how < 2 ? ~0u : how < 3 ? 0 : draw_word();
}

static void draw_crc(struct crc *c, const struct test_sender *s)
{
	static const uint32_t known[] = { 0x04c11db7, 0x1edc6f41, 0x741b8cd7, 0x814141ab };
	uint32_t there = right_masks & ~(s->ipv6 ? 1 << SOLVE_ip_checksum : 1 << SOLVE_flow_label);

	/* without x^0, which no CRC should have, in one of 16 */
	c->polynomial = draw(4) ? draw_word() | (draw(16) != 0) : known[draw(4)];
	c->start = draw_value();
	c->xor_out = draw_value();
	c->refin = draw(2);
	c->refout = draw(2);
	c->swapped = draw(2);
	c->ones = draw(2);
	c->zeroes = !draw(8);
	c->first = draw(2) ? FIRST_IP : draw(4);
	c->masked = there;
	for (int f = 0; f < SOLVE_COUNT; f++)
		if (there >> f & 1 && !draw(4))
			c->masked &= ~(1u << f);
	if (!draw(8))
		c->masked |= 1u << draw(SOLVE_COUNT);
}

static void seal(struct test_frame *f, const struct crc *c)
{
	make_icrc(c, f, f->bytes + f->icrc);
}

static struct solve_packet packet_of(const struct test_frame *f)
{
	return (struct solve_packet){ .frame = f->bytes, .ip = f->l3, .udp = f->udp, .bth = f->bth, .icrc = f->icrc,
				      .ipv6 = f->bytes[f->l3] >> 4 == 6 };
}

/* How many of the packets the CRC gives. */
static int count_right(const struct crc *c, const struct test_frame *f, int count)
{
	int right = 0;

	for (int i = 0; i < count; i++) {
		uint8_t icrc[4];

		make_icrc(c, &f[i], icrc);
		right += !memcmp(icrc, f[i].bytes + f[i].icrc, 4);
	}
	return right;
}

static const char *crc_text(const struct crc *c, char text[160])
{
	snprintf(text, 160, "poly %08x start %08x xor %08x in %d out %d swapped %d ones %d zeroes %d first %d masked %05x",
		 c->polynomial, c->start, c->xor_out, c->refin, c->refout, c->swapped, c->ones, c->zeroes, c->first, c->masked);
	return text;
}

static void print_crc(const char *what, const struct crc *c)
{
	char text[160];

	print_message("  %s: %s\n", what, crc_text(c, text));
}

struct tally {
	int recovered, alone, exact;
};

/* Whether the solver recovers this CRC. */
static bool check_crc(const struct test_sender *s, const struct crc *c, struct tally *tally)
{
	static struct test_frame f[PACKETS + MORE];
	struct solve_packet packets[PACKETS];
	struct solution found[SOLUTIONS_MOST];
	bool recovered = false, all = true;
	int count;

	for (int i = 0; i < PACKETS + MORE; i++) {
		make_packet(s, &f[i], i);
		seal(&f[i], c);
	}
	for (int i = 0; i < PACKETS; i++)
		packets[i] = packet_of(&f[i]);
	count = solve(packets, PACKETS, found);
	for (int i = 0; i < count; i++) {
		struct crc one = crc_of(&found[i]);
		uint32_t icrc;

		memcpy(&icrc, f[0].bytes + f[0].icrc, 4);
		all &= count_right(&one, f, PACKETS) == PACKETS && solution_icrc(&found[i], &packets[0]) == icrc;
		recovered |= one.polynomial == c->polynomial && one.refin == c->refin && one.refout == c->refout &&
			     one.swapped == c->swapped && count_right(&one, f, PACKETS + MORE) == PACKETS + MORE;
		tally->exact += one.start == c->start && one.xor_out == c->xor_out && one.ones == c->ones &&
				one.first == c->first && one.polynomial == c->polynomial;
	}
	tally->recovered += recovered;
	tally->alone += count == 1;
	if (recovered && all)
		return true;
	print_message("%s: %d solutions; ipv6 %d, opcodes %d, %d lengths (%d %d %d), varies %05x\n",
		      recovered ? "not all fit" : "not recovered", count, s->ipv6, s->several_opcodes, s->lengths, s->length[0],
		      s->length[1], s->length[2], s->varies);
	print_crc("made", c);
	for (int i = 0; i < count; i++) {
		struct crc one = crc_of(&found[i]);

		print_crc("found", &one);
	}
	return false;
}

static void random_crcs(void **state)
{
	struct tally tally = {};
	int wrong = 0;

	(void)state;
	for (int i = 0; i < CASES; i++) {
		struct test_sender s;
		struct crc c;

		draw_sender(&s);
		draw_crc(&c, &s);
		wrong += !check_crc(&s, &c, &tally);
	}
	print_message("%d of %d recovered, %d with one solution; start, xor and beginning as made %d\n", tally.recovered, CASES,
		      tally.alone, tally.exact);
	assert_int_equal(wrong, 0);
}

/* What is wrong in words of the specification is found as such, and nothing else is said. */
static void one_parameter(void **state)
{
	struct crc wrong[] = { right_crc(), right_crc(), right_crc(), right_crc(), right_crc(), right_crc(), right_crc() };

	(void)state;
	wrong[0].refout = false;
	wrong[1].refin = false;
	wrong[2].polynomial = 0x1edc6f41;
	wrong[3].start = 0;
	wrong[4].xor_out = 0x12345678;
	wrong[5].polynomial = 0x04c11db5;
	wrong[6].first = FIRST_BTH;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct test_sender s = { .lengths = 2, .length = { 64, 100 }, .varies = 1 << SOLVE_ip_id };
		struct solve_packet packets[PACKETS];
		struct solution found[SOLUTIONS_MOST];
		static struct test_frame f[PACKETS];
		char made[160], solved[160];
		struct crc one;

		for (int k = 0; k < PACKETS; k++) {
			make_packet(&s, &f[k], k);
			seal(&f[k], &wrong[i]);
			packets[k] = packet_of(&f[k]);
		}
		assert_int_equal(solve(packets, PACKETS, found), 1);
		one = crc_of(&found[0]);
		/* fields that are not there, or in front of the first byte */
		wrong[i].masked &= wrong[i].first == FIRST_BTH ? 1 << SOLVE_resv8a : ~(1 << SOLVE_flow_label);
		assert_string_equal(crc_text(&one, solved), crc_text(&wrong[i], made));
	}
}

/* Of right ICRCs the right solution is found alone, of random ones none. */
static void right_and_random(void **state)
{
	static struct test_frame f[PACKETS];

	(void)state;
	for (int i = 0; i < CASES / 4; i++) {
		struct solve_packet packets[PACKETS];
		struct solution found[SOLUTIONS_MOST];
		struct crc right = right_crc();
		struct test_sender s;

		draw_sender(&s);
		for (int k = 0; k < PACKETS; k++) {
			make_packet(&s, &f[k], k);
			seal(&f[k], &right);
			packets[k] = packet_of(&f[k]);
		}
		assert_int_equal(solve(packets, PACKETS, found), 1);
		assert_true(solution_is_right(&found[0]));
		for (int k = 0; k < PACKETS; k++)
			put(f[k].bytes + f[k].icrc, draw_word(), 4);
		assert_int_equal(solve(packets, PACKETS, found), 0);
	}
}

/* Few packets, packets that are alike, and the longest ones. */
static void any_packets(void **state)
{
	static struct test_frame f[PACKETS];
	struct solve_packet packets[PACKETS];
	struct solution found[SOLUTIONS_MOST];
	struct crc c = right_crc();
	struct test_sender s = { .lengths = 2, .length = { 9000, 8900 } };

	(void)state;
	c.polynomial = 0x12345679;
	c.refout = false;
	for (int k = 0; k < PACKETS; k++) {
		make_packet(&s, &f[k], k);
		seal(&f[k], &c);
		packets[k] = packet_of(&f[k]);
	}
	for (int count = 0; count < 4; count++)
		solve(packets, count, found);
	assert_int_equal(solve(packets, PACKETS, found), 1);
	assert_int_equal(found[0].polynomial, c.polynomial);
	for (int k = 0; k < PACKETS; k++)
		packets[k] = packet_of(&f[0]);
	assert_int_equal(solve(packets, PACKETS, found), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_parameter), cmocka_unit_test(random_crcs), cmocka_unit_test(right_and_random),
		cmocka_unit_test(any_packets),
	};

	return cmocka_run_group_tests_name("doctor_icrc_solve", tests, NULL, NULL);
}
