// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 1 s, long 3 s
/* Folding, its taps, slicing by eight and the masks: compared with zlib, and with two packets with published ICRCs. */
#include "roce/icrc/icrc.h"
#include "tests/support/slice8.h"
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/engine.h"
#include "tests/unit/frame.h"
#include "tests/unit/long.h"

#define LONGEST 9230 /* a 9000-byte payload under the longest headers */
#define SHORTEST 40  /* the least length for fold_short(); the shortest RoCE packet covers 44 */

static struct slice8 tables;
static struct fold_tables folding;
static struct fold_work work;

/* The register after one zero bit. */
static __u32 after_zero_bit(__u32 r)
{
	return r >> 1 ^ (r & 1 ? 0xedb88320 : 0);
}

static __u32 slice8(__u32 r, const __u8 *p, int length)
{
	return slice8_register(&tables, r, p, 0, length);
}

/*
 * What folding returns for bytes from..to-1 of the frame, begun with `r`, as in the XDP program. in_place: as for a frame that
 * was copied whole. from: the end of an Ethernet header.
 */
static __u32 folded(__u32 r, const __u8 *frame, __u32 from, __u32 to, bool in_place)
{
	struct fold_source s = { .frame = in_place ? work.frame : frame, .limit = frame + to, .limited = !in_place };
	__u32 copied = in_place || to < FOLD_LEAST ? to : FOLD_COPIED;

	memset(work.frame, 0, from);
	memcpy(work.frame + from, frame + from, copied - from);
	roce_store(__u32, work.frame + from, roce_load(__u32, work.frame + from) ^ r);
	if (to < FOLD_LEAST)
		return fold_short(&folding, &work, from, to);
	return fold_long(&folding, &work, &s, to);
}

static const __u8 zeroes[8];

/* The register that folding stands for: four bytes further on, and after the zeroes that were appended to the message. */
static __u32 folded_register(__u32 r, const __u8 *frame, __u32 from, __u32 to, bool in_place)
{
	return slice8(folded(r, frame, from, to, in_place), zeroes, 4);
}

static int appended(__u32 to)
{
	return to < 144 ? 0 : -to & 7;
}

/* The next length to try. By default not all of those with a loop over many bytes; 5 is odd: every remainder of 64. */
static int shorter(int length)
{
	return length - (test_long() || length < 1000 ? 1 : 5);
}

static __u8 bytes[LONGEST + 128];

static void every_length(void **state)
{
	(void)state;
	for (int length = LONGEST; length >= 0; length = shorter(length)) {
		const __u8 *from = bytes + length % 8; /* every alignment */

		assert_true(slice8(~0u, from, length) == (__u32)~crc32(0, from, length));
	}
}

/* After every Ethernet header, linear (in memory that ends with the frame) and copied. */
static void every_length_folded(void **state)
{
	uint64_t r = 11;

	(void)state;
	for (int length = LONGEST; length >= SHORTEST; length = shorter(length)) {
		for (int from = 14; from <= 26; from += 4) {
			__u8 *frame = malloc(from + length);
			__u32 want;

			memcpy(frame, bytes + random_next(&r) % 64, from + length);
			want = ~crc32(crc32(0, frame + from, length), zeroes, appended(from + length));
			assert_true(folded_register(~0u, frame, from, from + length, false) == want);
			assert_true(folded_register(~0u, frame, from, from + length, true) == want);
			free(frame);
		}
	}
}

/* Whether folding finds the CRC at the end of the message right. */
static bool is_right(const __u8 *frame, __u32 from, __u32 to, bool in_place)
{
	bool right = fold_is_right(&folding, folded(~0u, frame, from, to, in_place), to);

	for (size_t i = 0; i < sizeof(work.zero); i++)
		assert_int_equal(work.zero[i], 0);
	assert_true(!work.middle[0] && !work.middle[1 + FOLD_MIDDLE]);
	return right;
}

/* Every length with its CRC: right, and wrong after any bit of the CRC or any one bit before it changed. */
static void every_length_right(void **state)
{
	uint64_t r = 13;

	(void)state;
	for (int length = LONGEST; length >= SHORTEST; length = shorter(length)) {
		int from = 14 + 4 * (length % 4), to = from + length;
		__u32 bit = length % 2 ? to * 8 - 1 - length / 2 % 32 : from * 8 + random_next(&r) % (length * 8), crc;
		__u8 *frame = malloc(to);

		memcpy(frame, bytes + random_next(&r) % 64, to);
		crc = crc32(0, frame + from, length - 4);
		memcpy(frame + to - 4, &crc, 4);
		assert_true(is_right(frame, from, to, false) && is_right(frame, from, to, true));
		frame[bit / 8] ^= 1 << bit % 8;
		assert_false(is_right(frame, from, to, false) || is_right(frame, from, to, true));
		free(frame);
	}
}

#define COMMA(tap) tap,
static const int far[] = { FOLD_FAR(COMMA) }, near[] = { FOLD_NEAR(COMMA) };
#define REACH(taps) (taps[ROCE_ARRAY_SIZE(taps) - 1])

/* A byte, and the same byte at each tap behind it in place of itself, have the same CRC. */
static void check_byte_taps(const int *taps, int count)
{
	for (int value = 1; value < 256; value++) {
		__u8 here[301] = { value }, further[301] = { 0 };

		for (int i = 0; i < count; i++)
			further[taps[i]] = value;
		assert_true(crc32(0, here, taps[count - 1] + 1) == crc32(0, further, taps[count - 1] + 1));
		assert_true(crc32(0, here, 301) == crc32(0, further, 301));
	}
}

/* The same of a bit. */
static void check_bit_taps(const int *taps, int count)
{
	for (int bit = 0; bit < 8; bit++) {
		__u8 here[64] = { 1 << bit }, further[64] = { 0 };

		for (int i = 0; i < count; i++)
			further[(bit + taps[i]) / 8] ^= 1 << (bit + taps[i]) % 8;
		assert_true(crc32(0, here, sizeof(here)) == crc32(0, further, sizeof(further)));
	}
}

static void taps(void **state)
{
	(void)state;
	check_byte_taps(far, ROCE_ARRAY_SIZE(far));
	check_bit_taps(far, ROCE_ARRAY_SIZE(far));
	check_byte_taps(near, ROCE_ARRAY_SIZE(near));
	check_bit_taps(near, ROCE_ARRAY_SIZE(near));
	assert_true(REACH(far) <= FOLD_TAIL && REACH(near) <= 8 * FOLD_LAST);
}

/*
 * Searches sets of up to eight taps. A set that reaches D is x^D + x^(D - tap) + ... + 1, so up to seven powers between have
 * the sum x^D + 1. Up to three of them are looked up.
 */
static struct {
	__u32 power[8 * FOLD_LAST + 1]; /* modulo the polynomial */
	__u32 sums[60000];		/* of up to three, sorted */
	__u8 may[1 << 21];		/* a bit by the upper 24 bits: sums may have it */
	int count;
	int found;
} search;

static int by_value(const void *a, const void *b)
{
	__u32 x = *(const __u32 *)a, y = *(const __u32 *)b;

	return (x > y) - (x < y);
}

static void add_sums(__u32 sum, int from, int most, int left)
{
	search.sums[search.count++] = sum;
	search.may[sum >> 11] |= 1 << (sum >> 8 & 7);
	for (int e = from; left && e <= most; e++)
		add_sums(sum ^ search.power[e], e + 1, most, left - 1);
}

static void look_up_sums(__u32 sum, int from, int most, int left)
{
	if (search.may[sum >> 11] >> (sum >> 8 & 7) & 1)
		search.found += !!bsearch(&sum, search.sums, search.count, sizeof(sum), by_value);
	for (int e = from; left && e <= most; e++)
		look_up_sums(sum ^ search.power[e], e + 1, most, left - 1);
}

/* How often a set with all taps from `shortest` on and the last one `reach` was found. */
static int find_taps(int shortest, int reach)
{
	memset(search.may, 0, sizeof(search.may));
	search.count = search.found = 0;
	add_sums(0, 1, reach - shortest, 3);
	qsort(search.sums, search.count, sizeof(__u32), by_value);
	look_up_sums(search.power[reach] ^ search.power[0], 1, reach - shortest, 4);
	return search.found;
}

/* No other set of up to eight that reach 18 words begins behind 77 than the near taps, found by each three of their seven. */
static void no_better_taps(void **state)
{
	(void)state;
	search.power[0] = 0x80000000;
	for (int e = 1; e <= 8 * FOLD_LAST; e++)
		search.power[e] = after_zero_bit(search.power[e - 1]);
	for (int reach = 79; reach <= 8 * FOLD_LAST; reach++)
		assert_int_equal(find_taps(78, reach), reach == REACH(near) ? 35 : 0);
	assert_int_equal(near[0], 100);
}

static void registers(void **state)
{
	static const __u8 ones[8] = { 255, 255, 255, 255, 255, 255, 255, 255 };
	__u32 crc;
	__u8 wire[4];

	(void)state;
	assert_int_equal(slice8(~0u, ones, 8), ICRC_REGISTER);
	/* after any bytes followed by their CRC, least significant byte first, the register is the same */
	crc = ~slice8(ICRC_REGISTER, (const __u8 *)"packet", 6);
	for (int i = 0; i < 4; i++)
		wire[i] = crc >> 8 * i;
	assert_int_equal(slice8(~crc, wire, 4), ICRC_REGISTER);
}

static bool is_good(const struct test_frame *f)
{
	struct roce_packet p;
	struct test_frame copy = *f;
	__u32 r;

	engine_parse(copy.bytes, f->length, f->length, NULL, &p);
	assert_int_equal(p.kind, ROCE_PACKET);
	icrc_mask(copy.bytes, &p);
	r = slice8(ICRC_REGISTER, copy.bytes + p.l3_offset, icrc_end(&p) - p.l3_offset);
	assert_true(fold_is_right(&folding, folded(ICRC_REGISTER, copy.bytes, p.l3_offset, icrc_end(&p), false),
				  icrc_end(&p)) == (r == ICRC_REGISTER));
	return r == ICRC_REGISTER;
}

/* Every flipped bit is detected, except in variable fields. */
static void check_flips(struct test_frame *f, bool ipv6)
{
	int length = f->length;

	for (int bit = f->l3 * 8; bit < length * 8; bit++) {
		int at = bit / 8, ip = at - f->l3;
		bool masked = ipv6 ? (at == f->l3 && bit % 8 >= 4) || (ip >= 1 && ip <= 3) || ip == 7
				   : ip == 1 || ip == 8 || ip == 10 || ip == 11;
		struct roce_packet p;

		masked |= at == f->bth + 4 || (f->udp && (at == f->udp + 6 || at == f->udp + 7));
		f->bytes[at] ^= 0x80 >> bit % 8;
		engine_parse(f->bytes, length, length, NULL, &p);
		/* a flip in a length or protocol can make it something else than a packet, or than a whole one */
		if (p.kind == ROCE_PACKET && !p.truncated)
			assert_int_equal(is_good(f), masked || at >= f->end);
		f->bytes[at] ^= 0x80 >> bit % 8;
	}
}

static void masks(void **state)
{
	(void)state;
	for (int form = 0; form < 32; form++) {
		struct frame_spec s = {
			.tags = form % 4, .ipv6 = form < 24 && form & 4, .grh = form >= 24, .opcode = 0x0b, .dqpn = 17,
			.psn = 99, .payload = form + 20,
			.pad = -form & 3, .trailer = form % 2 ? 9 : 0, .tos = 0x48,
		};
		struct test_frame f;

		s.ip_options = s.ipv6 || s.grh || form < 12 ? 0 : 8;
		s.extensions = s.ipv6 && form >= 12 && s.tags < 3 ? 2 : 0; /* as much as the window holds */
		frame_build(&f, &s);
		assert_true(is_good(&f));
		check_flips(&f, s.ipv6 || s.grh);
		s.bad_icrc = true;
		frame_build(&f, &s);
		assert_false(is_good(&f));
	}
}

static struct test_frame bare_ipv4(uint16_t length, uint16_t id, uint8_t tos, uint32_t src, uint32_t dst, uint16_t sport)
{
	struct test_frame f = { .length = 14 + length, .l3 = 14, .udp = 34, .bth = 42 };
	uint8_t *p = put(f.bytes + 12, 0x0800, 2);

	p = put(put(put(put(p, 0x45, 1), tos, 1), length, 2), id, 2);
	p = put(put(put(put(p, 0x4000, 2), 64, 1), 17, 1), 0, 2);
	p = put(put(p, src, 4), dst, 4);
	put(put(put(p, sport, 2), 4791, 2), length - 20, 2);
	return f;
}

/*
 * The UC SEND Only of scapy's RoCE tests: its fields, and the ICRC that they give for it (wire bytes 78 f3 53 f3).
 * https://github.com/secdev/scapy/blob/master/test/contrib/roce.uts
 */
static void golden_send(void **state)
{
	static const uint8_t payload[20] = {
		0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89, 0x35, 0xd9, 0x0e, 0x9a,
		0x95, 0x50, 0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50, 0x00, 0x00,
	};
	struct test_frame f = bare_ipv4(64, 1144, 1, 0xc0a80007, 0xc0a80007, 49152);
	uint8_t *p = f.bytes + f.bth;

	(void)state;
	p = put(put(put(p, 0x24, 1), 0x60, 1), 0xffff, 2);
	p = put(put(p, 211, 4), 13571856, 4);
	memcpy(p, payload, sizeof(payload));
	put(p + sizeof(payload), 0x78f353f3, 4);
	assert_true(is_good(&f));
}

/* The congestion notification that scapy's tests captured on a ConnectX-4 Lx (wire bytes 82 fd 00 2a). */
static void golden_cnp(void **state)
{
	struct test_frame f = bare_ipv4(60, 0x718c, 0xc2, 0x0a001101, 0x0a001201, 0);
	uint8_t *p = f.bytes + f.bth;

	(void)state;
	p = put(put(put(p, 0x81, 1), 0, 1), 0xffff, 2);
	p = put(put(p, 0x40000118, 4), 0, 4);
	put(p + 16, 0x82fd002a, 4);
	assert_true(is_good(&f));
}

static int make_tables(void **state)
{
	uint64_t r = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = random_next(&r);
	slice8_make(&tables);
	fold_make_tables(&folding);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length), cmocka_unit_test(every_length_folded), cmocka_unit_test(every_length_right),
		cmocka_unit_test(taps), cmocka_unit_test(no_better_taps), cmocka_unit_test(registers), cmocka_unit_test(masks),
		cmocka_unit_test(golden_send), cmocka_unit_test(golden_cnp),
	};

	return cmocka_run_group_tests_name("icrc", tests, make_tables, NULL);
}
