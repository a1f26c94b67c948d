// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Each lint: a packet with one mistake gives exactly that lint. A right sender gives none, even on a bad path. */
#include "roce/icrc/checksum.h"
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/frame.h"
#include "tests/unit/packets.h"

enum { SEND_FIRST = 0x00, SEND_MIDDLE = 0x01, SEND_LAST = 0x02, SEND_ONLY = 0x04, WRITE_FIRST = 0x06, WRITE_MIDDLE = 0x07,
       WRITE_LAST = 0x08, WRITE_LAST_IMM = 0x09, WRITE_ONLY = 0x0a, WRITE_ONLY_IMM = 0x0b, READ_FIRST = 0x0d,
       READ_MIDDLE = 0x0e, READ_LAST = 0x0f, ACK = 0x11, FLUSH = 0x1c, RESERVED = 0x1f, UC = 0x20, CNP = 0x81, XRC = 0xa0 };

#define DATAGRAM_MOST FRAME_ROOM

static const char *const names[ROCE_LINTS] = {
#define LINT(name, ...) [LINT_##name] = #name,
#include "roce/stream/lint.def"
#undef LINT
};

/* Expects only this lint (ROCE_LINTS: none), that many times. */
static void check(const struct roce_stream *s, enum roce_lint lint, __u32 count, const char *file, int line)
{
	for (__u32 l = 0; l < ROCE_LINTS; l++) {
		__u32 want = l == lint ? count : 0;

		if (s->lint[l] != want) {
			print_error("lint %s: %u, expected %u\n", names[l], s->lint[l], want);
			_fail(file, line);
		}
	}
}

#define expect(s, name, count) check(s, LINT_##name, count, __FILE__, __LINE__)
#define expect_none(s) check(s, ROCE_LINTS, 0, __FILE__, __LINE__)

/* ---- a packet alone ---- */

static struct roce_packet parse(const struct test_frame *f)
{
	uint8_t *window = frame_window(f, f->length, ROCE_WINDOW_BYTES);
	struct roce_packet p;

	engine_parse(window, f->length, f->length, NULL, &p);
	free(window);
	assert_int_equal(p.kind, ROCE_PACKET);
	return p;
}

/* As analyze does, but nothing behind the frame is readable. */
static struct roce_packet parse_all(const struct test_frame *f)
{
	struct roce_packet p = parse(f);
	uint8_t *copy = malloc(f->length);
	struct fold_source whole = { .frame = copy };

	memcpy(copy, f->bytes, f->length);
	if (roce_has_udp_checksum(&p))
		p.udp_checksum_wrong = roce_is_udp_checksum_wrong(&whole, &p, DATAGRAM_MOST);
	free(copy);
	return p;
}

/* The stream after one frame. */
static struct roce_stream alone(const struct test_frame *f)
{
	struct roce_stream s = { 0 };

	observe(&s, parse_all(f));
	return s;
}

static void mend_ip_checksum(struct test_frame *f)
{
	put(f->bytes + f->l3 + 10, 0, 2);
	put(f->bytes + f->l3 + 10, frame_checksum(f->bytes + f->l3, f->udp - f->l3, 0), 2);
}

static void headers(void **state)
{
	static const struct {
		enum roce_lint lint;
		int at, bytes; /* the overwritten bytes of the frame, 0: none */
		uint64_t value;
		uint8_t opcode;
		int payload, pad;
		uint32_t dqpn;
	} mistakes[] = {
		{ LINT_mac_group, 6, 1, 0x01, SEND_ONLY, 8, 0, 17 },
		{ LINT_df_unset, 14 + 6, 2, 0x0000, SEND_ONLY, 8, 0, 17 },
		{ LINT_udp_length, 34 + 4, 2, 999, SEND_ONLY, 8, 0, 17 },
		{ LINT_tver, 42 + 1, 1, 0x01, SEND_ONLY, 8, 0, 17 },
		{ LINT_pkey_invalid, 42 + 2, 2, 0x8000, SEND_ONLY, 8, 0, 17 },
		{ LINT_reserved_bits, 42 + 4, 1, 0x01, SEND_ONLY, 8, 0, 17 },
		{ LINT_reserved_bits, 42 + 8, 1, 0x01, SEND_ONLY, 8, 0, 17 },
		{ LINT_pad_count, 0, 0, 0, SEND_ONLY, 7, 0, 17 },
		{ LINT_payload_not_path_mtu, 0, 0, 0, SEND_FIRST, 1000, 0, 17 },
		{ LINT_payload_not_path_mtu, 0, 0, 0, SEND_MIDDLE, 128, 0, 17 },
		{ LINT_payload_not_path_mtu, 0, 0, 0, SEND_MIDDLE, 8192, 0, 17 },
		{ LINT_payload_beyond_mtu, 0, 0, 0, SEND_ONLY, 4100, 0, 17 },
		{ LINT_qpn_management, 0, 0, 0, SEND_ONLY, 8, 0, 1 },
		{ ROCE_LINTS, 0, 0, 0, SEND_FIRST, 4096, 0, 17 },
		{ ROCE_LINTS, 0, 0, 0, SEND_ONLY, 4096, 0, 17 },
		{ ROCE_LINTS, 0, 0, 0, 0x64, 256, 0, 1 }, /* a management datagram */
		{ ROCE_LINTS, 42 + 4, 1, 0xc0, SEND_ONLY, 8, 0, 17 }, /* FECN, BECN */
	};

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(mistakes); i++) {
		struct frame_spec spec = { .opcode = mistakes[i].opcode, .psn = 1, .payload = mistakes[i].payload,
					   .dqpn = mistakes[i].dqpn };
		struct roce_stream s;
		struct test_frame f;

		frame_build(&f, &spec);
		if (mistakes[i].bytes)
			put(f.bytes + mistakes[i].at, mistakes[i].value, mistakes[i].bytes);
		mend_ip_checksum(&f);
		s = alone(&f);
		check(&s, mistakes[i].lint, 1, __FILE__, __LINE__);
	}
}

/* Every flipped bit of an IPv4 header, with and without options, that leaves it readable. */
static void ip_checksum(void **state)
{
	(void)state;
	for (int options = 0; options <= 40; options += 4) {
		struct frame_spec spec = { .opcode = SEND_ONLY, .psn = 1, .payload = 64, .dqpn = 17, .ip_options = options,
					   .tags = options % 3 };
		struct roce_stream s;
		struct test_frame f;

		frame_build(&f, &spec);
		s = alone(&f);
		expect_none(&s);
		for (int bit = 0; bit < (20 + options) * 8; bit++) {
			uint8_t *byte = f.bytes + f.l3 + bit / 8;

			/* version, lengths, fragment and protocol make it another kind of packet */
			if (bit < 8 || (bit >= 16 && bit < 32) || (bit >= 48 && bit < 64) || (bit >= 72 && bit < 80))
				continue;
			*byte ^= 1 << bit % 8;
			s = alone(&f);
			expect(&s, ip_checksum, 1);
			*byte ^= 1 << bit % 8;
		}
	}
}

/* The frame's UDP checksum by RFC 768: of the whole datagram, or of its pseudo header only. */
static uint16_t udp_checksum(const struct test_frame *f, bool ipv6, bool partial)
{
	const uint8_t *addresses = f->bytes + f->l3 + (ipv6 ? 8 : 12);
	uint32_t sum = (uint16_t)~frame_checksum(addresses, ipv6 ? 32 : 8, 17 + f->end - f->udp);
	uint16_t checksum = frame_checksum(f->bytes + f->udp, f->end - f->udp, sum);

	return partial ? sum : checksum ? checksum : 0xffff;
}

static void udp_checksums(void **state)
{
	(void)state;
	for (int payload = 0; payload < 600; payload++) {
		struct frame_spec spec = { .opcode = SEND_ONLY, .psn = payload, .payload = payload, .pad = -payload & 3, .dqpn = 17,
					   .ipv6 = payload & 4, .tags = payload % 3, .ip_options = payload & 8,
					   .trailer = payload % 5 };
		struct roce_stream s;
		struct test_frame f;

		frame_build(&f, &spec);
		put(f.bytes + f.udp + 6, udp_checksum(&f, spec.ipv6, false), 2);
		s = alone(&f);
		expect_none(&s);
		f.bytes[f.payload + payload * 7 % (f.end - f.payload)] ^= 0x10;
		s = alone(&f);
		expect(&s, udp_checksum, 1);
		frame_build(&f, &spec);
		put(f.bytes + f.udp + 6, udp_checksum(&f, spec.ipv6, false) ^ 0x0101, 2);
		s = alone(&f);
		expect(&s, udp_checksum, 1);
		/* one that hardware has yet to complete */
		put(f.bytes + f.udp + 6, 0, 2);
		put(f.bytes + f.udp + 6, udp_checksum(&f, spec.ipv6, true), 2);
		s = alone(&f);
		expect_none(&s);
		/* no checksum */
		put(f.bytes + f.udp + 6, 0, 2);
		s = alone(&f);
		expect_none(&s);
	}
}

/* Whole datagrams up to the largest packet; an odd length, which is no valid RoCE packet; other lengths. */
static void udp_checksum_lengths(void **state)
{
	static const int payloads[] = { 1, 3, 1001, 4096, 8999, 9000 };
	struct test_frame f;

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(payloads); i++) {
		struct frame_spec spec = { .opcode = SEND_ONLY, .psn = 1, .payload = payloads[i], .dqpn = 17 };
		struct roce_stream s;

		frame_build(&f, &spec);
		put(f.bytes + f.udp + 6, udp_checksum(&f, false, false), 2);
		s = alone(&f);
		assert_int_equal(s.lint[LINT_udp_checksum], 0);
		f.bytes[f.end - 1] ^= 1;
		s = alone(&f);
		assert_int_equal(s.lint[LINT_udp_checksum], 1);
		put(f.bytes + f.udp + 4, 100, 2); /* another mistake */
		s = alone(&f);
		assert_int_equal(s.lint[LINT_udp_checksum], 0);
		assert_int_equal(s.lint[LINT_udp_length], 1);
	}
}

/* ---- packets in sequence ---- */

/* A packet with that payload, padded correctly. */
static struct roce_packet sized(__u8 opcode, __u32 psn, __u32 payload, __u32 dma_length)
{
	struct roce_packet p = packet(opcode, psn);

	p.payload_bytes = payload;
	p.pad = -payload & 3;
	p.dma_length = dma_length;
	return p;
}

static void see(struct roce_stream *s, __u8 opcode, __u32 psn, __u32 payload, __u32 dma_length)
{
	observe(s, sized(opcode, psn, payload, dma_length));
}

static void payload_sizes(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	see(&s, SEND_FIRST, 0xfffffe, 1024, 0);
	see(&s, SEND_MIDDLE, 0xffffff, 1024, 0);
	see(&s, SEND_LAST, 0, 1024, 0);
	see(&s, SEND_ONLY, 1, 1024, 0);
	see(&s, SEND_FIRST, 2, 1024, 0);
	expect_none(&s);
	see(&s, SEND_MIDDLE, 3, 512, 0);
	see(&s, SEND_MIDDLE, 4, 512, 0);
	see(&s, SEND_LAST, 5, 512, 0);
	expect(&s, payload_mixed, 1);
	see(&s, SEND_FIRST, 6, 1024, 0);
	expect(&s, payload_mixed, 2);

	s = (struct roce_stream){ 0 };
	see(&s, SEND_FIRST, 1, 1024, 0);
	see(&s, SEND_LAST, 2, 1025, 0);
	see(&s, SEND_ONLY, 3, 4096, 0);
	expect(&s, payload_beyond_mtu, 2);

	/* a stack that cuts at 1408: one mistake */
	s = (struct roce_stream){ 0 };
	see(&s, WRITE_FIRST, 1, 1408, 3000);
	see(&s, WRITE_MIDDLE, 2, 1408, 0);
	see(&s, WRITE_LAST, 3, 184, 0);
	expect(&s, payload_not_path_mtu, 2);

	/* the same QPN reused, with another path MTU */
	s = (struct roce_stream){ 0 };
	see(&s, SEND_FIRST, 1, 1024, 0);
	see(&s, SEND_LAST, 2, 7, 0);
	see(&s, SEND_FIRST, 800000, 4096, 0);
	see(&s, SEND_MIDDLE, 800001, 4096, 0);
	see(&s, SEND_LAST, 800002, 3000, 0);
	expect_none(&s);

	/* READ responses, with acknowledgements and CNPs between them */
	s = (struct roce_stream){ 0 };
	see(&s, READ_FIRST, 10, 2048, 0);
	see(&s, READ_MIDDLE, 11, 2048, 0);
	see(&s, CNP, 0, 16, 0);
	see(&s, READ_LAST, 12, 2048, 0);
	see(&s, ACK, 20, 0, 0);
	see(&s, READ_FIRST, 21, 2048, 0);
	see(&s, READ_LAST, 22, 2048, 0);
	expect_none(&s);
	see(&s, READ_FIRST, 23, 1024, 0);
	expect(&s, payload_mixed, 1);
}

/* The lint of a WRITE of 2500 bytes with a payload of the wrong length by `off`. */
static enum roce_lint dma_lint(int off)
{
	int much = abs(off);

	return !much ? ROCE_LINTS : much < 4 ? LINT_dma_pad : much == 4 ? LINT_dma_immdt :
	       much == 16 ? LINT_dma_reth : LINT_dma_length;
}

static void dma_length(void **state)
{
	static const __u8 services[] = { 0, UC, XRC };

	(void)state;
	for (size_t i = 0; i < sizeof(services); i++) {
		for (int off = -40; off <= 40; off++) {
			struct roce_stream s = { 0 };
			__u8 base = services[i];
			__u32 psn = 0xfffffe;

			see(&s, base + WRITE_FIRST, psn, 1024, 2500);
			see(&s, base + WRITE_MIDDLE, ++psn, 1024, 0);
			expect_none(&s);
			see(&s, base + (off & 1 ? WRITE_LAST : WRITE_LAST_IMM), ++psn & PSN_MASK, 452 + off, 0);
			check(&s, dma_lint(off), 1, __FILE__, __LINE__);
			s = (struct roce_stream){ 0 };
			see(&s, base + (off & 1 ? WRITE_ONLY : WRITE_ONLY_IMM), 7, 452 + off, 452);
			check(&s, dma_lint(off), 1, __FILE__, __LINE__);
		}
	}
}

/* With missing, late or duplicate packets there is no false lint. A retransmission is judged as a whole. */
static void dma_length_damaged(void **state)
{
	static const int orders[][12] = {
		{ 0, 1, 3, 4, -1 },			/* one lost */
		{ 0, 2, 1, 3, 4, -1 },			/* late */
		{ 0, 1, 1, 2, 3, 3, 4, 4, -1 },		/* twice */
		{ 1, 2, 3, 4, -1 },			/* first packet seen in the middle */
		{ 0, 1, 3, 4, 2, 3, 4, -1 },		/* gone back from the gap */
		{ 0, 1, 3, 4, 0, 1, 2, 3, 4, -1 },	/* all of it sent again */
		{ 0, 1, 2, 3, -1 },			/* its Last lost, another message follows */
		{ 0, -1 },
	};

	(void)state;
	for (int wrong = 0; wrong < 2; wrong++) {
		for (size_t i = 0; i < ROCE_ARRAY_SIZE(orders); i++) {
			struct roce_stream s = { 0 };
			__u32 psn = 100;

			for (const int *k = orders[i]; *k >= 0; k++)
				see(&s, *k == 0 ? WRITE_FIRST : *k == 4 ? WRITE_LAST : WRITE_MIDDLE, psn + *k,
				    *k == 4 ? 10 : 1024, *k == 0 ? 4106 + 300 * wrong : 0);
			/* orders 2, 4 and 5 contain the whole message */
			check(&s, LINT_dma_length, wrong && (i == 2 || i == 4 || i == 5), __FILE__, __LINE__);
			/* 2^24 later, the PSNs that the message would have continued with belong to a SEND */
			for (__u32 k = 1; k <= 5; k++)
				see(&s, SEND_MIDDLE, psn + k, 1024, 0);
			see(&s, WRITE_FIRST, psn += 6, 1024, 1124);
			see(&s, WRITE_LAST, psn + 1, 100, 0);
			check(&s, LINT_dma_length, wrong && (i == 2 || i == 4 || i == 5), __FILE__, __LINE__);
		}
	}
}

/* Lengths that are not the packet's own: READ requests, FLUSH. */
static void dma_length_of_others(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	observe(&s, read_request(1, 100000));
	see(&s, FLUSH, 2, 0, 4096);
	see(&s, SEND_FIRST, 3, 1024, 0);
	see(&s, SEND_LAST, 4, 1, 0);
	see(&s, WRITE_ONLY, 5, 0, 0);
	expect_none(&s);
}

static void services(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	see(&s, SEND_ONLY, 1, 8, 0);
	see(&s, UC + SEND_ONLY, 2, 8, 0);
	see(&s, UC + SEND_ONLY, 3, 8, 0);
	expect(&s, service_mixed, 1);
	/* the QPN now belongs to another QP; CNPs and reserved opcodes have no service */
	s = (struct roce_stream){ 0 };
	see(&s, SEND_ONLY, 1, 8, 0);
	see(&s, CNP, 0, 16, 0);
	see(&s, RESERVED, 2, 16, 0);
	see(&s, SEND_ONLY, 2, 8, 0);
	see(&s, UC + SEND_ONLY, 999, 8, 0);
	see(&s, UC + SEND_ONLY, 1000, 8, 0);
	expect_none(&s);
}

static void psn_constant(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	for (int i = 0; i < 10; i++) {
		struct roce_packet p = sized(UC + SEND_ONLY, 0, 8, 0);

		p.icrc = 1000 + i; /* other payload */
		observe(&s, p);
	}
	expect(&s, psn_constant, 10 - (LINT_ROW - 1));

	s = (struct roce_stream){ 0 };
	for (int i = 0; i < 10; i++) {
		struct roce_packet p = sized(WRITE_ONLY, 77, 8, 8);

		p.va = 0x1000 * i;
		observe(&s, p);
	}
	expect(&s, psn_constant, 10 - (LINT_ROW - 1));

	/*
	 * RC sends one packet again and again, each time with another IP identification; the capture has each packet six times
	 */
	s = (struct roce_stream){ 0 };
	for (int i = 0; i < 40; i++) {
		struct roce_packet p = sized(WRITE_ONLY, i / 10, 8, 8);

		p.icrc = i;
		p.va = i / 10;
		observe(&s, p);
	}
	expect_none(&s);
	s = (struct roce_stream){ 0 };
	for (int i = 0; i < 60; i++) {
		struct roce_packet p = sized(UC + WRITE_ONLY, i / 6, 8, 8);

		p.icrc = i / 6;
		p.va = i / 6;
		observe(&s, p);
	}
	expect_none(&s);

	/* three different packets, such as acknowledgements between READ responses that are repeated */
	s = (struct roce_stream){ 0 };
	for (int i = 0; i < 3; i++) {
		struct roce_packet p = sized(UC + SEND_ONLY, 5, 8, 0);

		p.icrc = i;
		observe(&s, p);
	}
	for (int i = 0; i < 10; i++)
		see(&s, ACK, 5, 0, 0);
	expect_none(&s);
}

static void bad(struct roce_stream *s, __u8 opcode, __u32 psn, __u32 icrc)
{
	struct roce_packet p = sized(opcode, psn, 8, 0);

	p.icrc = icrc;
	engine_observe(s, &p, ICRC_BAD, 0, NULL);
}

static void bad_icrcs(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	for (int i = 0; i < 30; i++)
		bad(&s, SEND_ONLY, i, 0);
	expect(&s, icrc_zero, 30);

	s = (struct roce_stream){ 0 };
	for (int i = 0; i < 30; i++)
		bad(&s, SEND_ONLY, i, 0xdeadbeef);
	expect(&s, icrc_constant, 30 - (LINT_ROW - 1));

	s = (struct roce_stream){ 0 };
	for (int i = 0; i < 30; i++)
		bad(&s, SEND_ONLY, i, i * 77 + 1);
	expect(&s, icrc_all_bad, 30 - (LINT_BAD_ROW - 1));
	observe(&s, sized(SEND_ONLY, 31, 8, 0)); /* so the computation was not the cause */
	expect_none(&s);
	for (int i = 40; i < 80; i++)
		bad(&s, SEND_ONLY, i, 0);
	expect_none(&s);

	/* the same packet repeated has the same ICRC; but so few bad ones may come from the path */
	s = (struct roce_stream){ 0 };
	for (int i = 0; i < LINT_BAD_ROW - 1; i++)
		bad(&s, SEND_ONLY, 5, 0xdeadbeef);
	expect_none(&s);

	/* a phantom from a flipped bit of the QPN: PSNs far apart */
	s = (struct roce_stream){ 0 };
	for (int i = 0; i < 100; i++)
		bad(&s, SEND_ONLY, i * 5000, i * 77 + 1);
	expect_none(&s);

	/* the acknowledgements of that stream */
	s = (struct roce_stream){ 0 };
	for (int i = 0; i < 30; i++)
		bad(&s, ACK, i * 16, i * 77 + 1);
	expect(&s, icrc_all_bad, 30 - (LINT_BAD_ROW - 1));

	/* all CNPs are equal */
	s = (struct roce_stream){ 0 };
	for (int i = 0; i < 30; i++)
		bad(&s, CNP, 0, 0xdeadbeef);
	expect_none(&s);
}

/* Unchecked ICRCs are not judged. Of the checked ones, only the bad ones are. */
static void unchecked_icrcs(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	for (int i = 0; i < 50; i++) {
		struct roce_packet p = sized(SEND_ONLY, i, 8, 0);

		engine_observe(&s, &p, i % 10 == 0 ? ICRC_GOOD : ICRC_UNCHECKED, 0, NULL);
	}
	expect_none(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers), cmocka_unit_test(ip_checksum), cmocka_unit_test(udp_checksums),
		cmocka_unit_test(udp_checksum_lengths), cmocka_unit_test(payload_sizes), cmocka_unit_test(dma_length),
		cmocka_unit_test(dma_length_damaged), cmocka_unit_test(dma_length_of_others), cmocka_unit_test(services),
		cmocka_unit_test(psn_constant), cmocka_unit_test(bad_icrcs), cmocka_unit_test(unchecked_icrcs),
	};

	return cmocka_run_group_tests_name("lint", tests, NULL, NULL);
}
