// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 1 s, long 2 s
/* The parser on frames built by the specification: whole, cut at every length, with false fields, and random. */
#include "roce/icrc/icrc.h"
#include "roce/observe.h"
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/engine.h"
#include "tests/unit/frame.h"
#include "tests/unit/long.h"

/* Exactly the readable bytes, so that the address sanitizer sees any read beyond them. */
static uint8_t *window;

static int make_window(void **state)
{
	(void)state;
	window = malloc(ROCE_WINDOW_BYTES);
	return !window;
}

static int free_window(void **state)
{
	(void)state;
	free(window);
	return 0;
}

static struct roce_packet parse(const struct test_frame *f, int captured, int wire)
{
	struct roce_packet p;

	frame_fill(window, f, captured, ROCE_WINDOW_BYTES);
	engine_parse(window, captured, wire, NULL, &p);
	return p;
}

/* Whether all headers are within the window. The parser does not look beyond it. */
static bool fits_window(const struct test_frame *f)
{
	return f->payload <= ROCE_WINDOW;
}

static void check_whole(const struct test_frame *f, const struct frame_spec *s)
{
	const struct ibta_opcode *o = ibta_find(s->opcode);
	struct roce_packet p = parse(f, f->length, f->length);

	assert_int_equal(p.kind, ROCE_PACKET);
	assert_int_equal(p.opcode, s->opcode);
	assert_int_equal(p.number, s->psn);
	assert_int_equal(p.dqpn, s->dqpn);
	assert_int_equal(p.l3_offset, f->l3);
	assert_int_equal(p.l4_offset, f->udp);
	assert_int_equal(p.icrc_offset, f->icrc);
	assert_int_equal(p.payload_bytes, s->payload);
	assert_int_equal(p.pad, s->pad);
	assert_int_equal(p.udp_length, p.ip_payload);
	assert_int_equal(p.frame_bytes, f->length);
	assert_int_equal(p.ip_version, s->ipv6 ? 6 : 4);
	assert_int_equal(p.tos, s->tos);
	assert_int_equal(p.ttl, 63);
	assert_int_equal(p.vlan_tags, s->tags);
	assert_int_equal(p.vlan, s->tags ? 100 + s->tags - 1 : 0);
	assert_false(p.truncated);
	assert_int_equal(p.sqpn, o && strchr(o->what, 'D') ? s->sqpn : 0);
	assert_int_equal(p.immediate, o && strchr(o->what, 'I') ? s->immediate : 0);
	assert_int_equal(p.syndrome, o && strchr(o->what, 'A') ? s->syndrome : 0);
	assert_int_equal(p.dma_length, o && strchr(o->what, 'R') ? s->dma_length : 0);
	assert_true(p.va == (o && strchr(o->what, 'R') ? 0xfedcba9876543210 : 0));
}

/* What is known of a packet of which only the first `captured` bytes are there. ends_at: of the packet. */
static void check_part(const struct test_frame *f, const struct frame_spec *s, const struct roce_packet *p, int captured,
		       int ends_at)
{
	const struct ibta_opcode *o = ibta_find(s->opcode);
	bool headers = captured >= f->payload, missing = p->op & OP_CUT;

	assert_int_equal(p->truncated, captured >= f->bth && captured < f->end);
	assert_int_equal(p->kind, captured < f->bth + 12 ? ROCE_OTHER : ROCE_PACKET);
	assert_int_equal(p->ends_at, captured >= f->bth && captured < f->end ? ends_at : 0);
	if (captured < f->bth + 12)
		return;
	assert_int_equal(p->number, s->psn);
	assert_int_equal(p->dqpn, s->dqpn);
	assert_int_equal(p->service, s->opcode >> 5);
	assert_int_equal(p->payload_bytes, s->payload);
	assert_true(p->frame_bytes >= (__u32)f->end);
	assert_int_equal(missing, missing && !headers);
	assert_int_equal(p->op & ~(OP_CUT | OP_UNPLACED), roce_opcodes[s->opcode] & (missing ? p->op : ~0u));
	assert_int_equal(p->dma_length, p->op & OP_RETH ? s->dma_length : 0);
	assert_int_equal(p->immediate, p->op & OP_IMMDT ? s->immediate : 0);
	assert_int_equal(!!(p->op & OP_UNPLACED), o && strchr(o->what, 'D') && !(p->op & OP_DETH));
}

/* A frame that a capture cut is never malformed, and a packet as far as it goes, as soon as its BTH is complete. */
static void check_cut(const struct test_frame *f, const struct frame_spec *s)
{
	for (int captured = 0; captured < f->length; captured++) {
		struct roce_packet p = parse(f, captured, f->length);

		check_part(f, s, &p, captured, 0);
		assert_int_equal(p.frame_bytes, f->length);
	}
}

/* So is a frame that is shorter than its IP header says: a mirror may have cut it. */
static void check_short(const struct test_frame *f, const struct frame_spec *s)
{
	for (int length = 0; length < f->end; length++) {
		struct roce_packet p = parse(f, length, length);

		check_part(f, s, &p, length, length);
	}
}

/* IP lengths too short for the opcode. */
static void check_too_short_for_opcode(const struct test_frame *f, const struct frame_spec *s)
{
	struct test_frame copy = *f;

	for (int end = f->udp + 8; end <= f->payload + s->pad + 4; end++) {
		struct roce_packet p;

		put(copy.bytes + f->l3 + (s->ipv6 ? 4 : 2), end - f->l3 - (s->ipv6 ? 40 : 0), 2);
		p = parse(&copy, f->length, f->length);
		assert_int_equal(p.kind, end < f->payload + s->pad + 4 ? ROCE_MALFORMED : ROCE_PACKET);
	}
}

static void check(const struct frame_spec *s)
{
	struct test_frame f;

	frame_build(&f, s);
	if (!fits_window(&f))
		return;
	check_whole(&f, s);
	check_cut(&f, s);
	check_short(&f, s);
	check_too_short_for_opcode(&f, s);
}

/* Each opcode with each number of tags; by default each with one in four kinds of IP header, in turn. */
static void every_combination(void **state)
{
	int step = test_long() ? 1 : 4;

	(void)state;
	for (int opcode = 0; opcode < 256; opcode++) {
		for (int tags = 0; tags <= 3; tags++) {
			struct frame_spec s = {
				.tags = tags, .opcode = opcode, .dqpn = 0xfedcba, .psn = 0xabcdef, .sqpn = 0x123456,
				.dma_length = 0x80000001, .immediate = 0xcafe0001, .syndrome = 0x60,
				.payload = 33, .pad = 3, .tos = 0x6a, .trailer = 6,
			};

			for (s.ip_options = (opcode + tags) % step * 4; s.ip_options <= 40; s.ip_options += 4 * step)
				check(&s);
			s.ip_options = 0;
			s.ipv6 = true;
			for (s.extensions = (opcode + tags) % step; s.extensions <= 3; s.extensions += step) {
				s.atomic_fragment = s.extensions % 2;
				check(&s);
			}
		}
	}
}

static void kinds(void **state)
{
	static const struct {
		uint16_t type; /* of the first tag, or the Ethertype */
		int tags;
		bool unparsed;
	} types[] = {
		{ 0x9200, 1, false }, { 0x9100, 1, false }, { 0x88a8, 1, false }, { 0x8847, 0, true }, { 0x8848, 0, true },
		{ 0x8864, 0, true }, { 0x88e5, 0, true }, { 0x0806, 0, false },
	};
	struct frame_spec s = { .opcode = 4, .payload = 64 };
	struct test_frame f;

	(void)state;
	s.tags = 4;
	frame_build(&f, &s);
	assert_int_equal(parse(&f, f.length, f.length).kind, ROCE_OTHER);
	assert_true(parse(&f, f.length, f.length).unparsed);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(types); i++) {
		s.tags = types[i].tags;
		frame_build(&f, &s);
		put(f.bytes + 12, types[i].type, 2);
		assert_int_equal(parse(&f, f.length, f.length).kind, types[i].tags ? ROCE_PACKET : ROCE_OTHER);
		assert_int_equal(parse(&f, f.length, f.length).unparsed, types[i].unparsed);
	}
	s.tags = 0;
	s.port = 4790;
	frame_build(&f, &s);
	assert_int_equal(parse(&f, f.length, f.length).kind, ROCE_OTHER);
	s.port = 0;
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		s.ipv6 = ipv6;
		s.fragment = ipv6 ? 0x0001 : 0x2000; /* more fragments */
		frame_build(&f, &s);
		assert_int_equal(parse(&f, f.length, f.length).kind, ROCE_FRAGMENT);
		s.fragment = ipv6 ? 0x0008 : 0x0001; /* an offset */
		frame_build(&f, &s);
		assert_int_equal(parse(&f, f.length, f.length).kind, ROCE_FRAGMENT);
	}
	put(f.bytes + 12, 0x8915, 2);
	assert_int_equal(parse(&f, f.length, f.length).kind, ROCE_V1);
	put(f.bytes + 12, 0x0806, 2);
	assert_int_equal(parse(&f, f.length, f.length).kind, ROCE_OTHER);
}

static void ipv4_is_mapped(void **state)
{
	static const __u8 mapped[16] = { [10] = 0xff, [11] = 0xff, 10, 9, 0, 1 };
	struct frame_spec s = { .opcode = 4, .payload = 64 };
	struct roce_packet p;
	struct test_frame f;

	(void)state;
	frame_build(&f, &s);
	p = parse(&f, f.length, f.length);
	assert_memory_equal(p.src, mapped, 16);
	assert_int_equal(p.dst[15], 2);
}

/* RoCEv1 is parsed if its GRH and BTH are plausible, and always has its own counter. */
static void rocev1(void **state)
{
	struct frame_spec s = { .grh = true, .opcode = 0x2b, .psn = 99, .dqpn = 17, .payload = 61, .pad = 3,
				.dma_length = 61, .immediate = 5 };
	struct roce_totals c = { 0 };
	__u32 longest = 0;
	struct roce_packet p;
	struct test_frame f;

	(void)state;
	for (s.tags = 0; s.tags <= 3; s.tags++) {
		frame_build(&f, &s);
		p = parse(&f, f.length, f.length);
		assert_int_equal(p.kind, ROCE_PACKET);
		assert_true(p.rocev1);
		assert_int_equal(p.number, 99);
		assert_int_equal(p.dqpn, 17);
		assert_int_equal(p.payload_bytes, 61);
		assert_int_equal(p.immediate, 5);
		assert_int_equal(p.l3_offset, f.l3);
		assert_int_equal(p.l4_offset, f.bth);
		assert_int_equal(p.icrc_offset, f.icrc);
		assert_int_equal(p.src[15], 1);
		assert_int_equal(p.dst[15], 2);
		roce_count_frame(&c, &p, &longest);
		roce_count_packet(&c.counters, &p, ICRC_BAD);
		for (int captured = 14 + 4 * s.tags; captured < f.length; captured++)
			assert_int_equal(parse(&f, captured, captured).kind, captured < f.bth + 12 ? ROCE_V1 : ROCE_PACKET);
		f.bytes[f.l3] = 0x40; /* another IP version */
		assert_int_equal(parse(&f, f.length, f.length).kind, ROCE_V1);
		f.bytes[f.l3] = 0x60;
		f.bytes[f.l3 + 6] = 17; /* no BTH behind it */
		p = parse(&f, f.length, f.length);
		assert_int_equal(p.kind, ROCE_V1);
		roce_count_frame(&c, &p, &longest);
		f.bytes[f.l3 + 6] = 0x1b;
		put(f.bytes + f.l3 + 4, 20, 2); /* too short for the opcode */
		assert_int_equal(parse(&f, f.length, f.length).kind, ROCE_V1);
	}
	assert_int_equal(c.value[COUNTER_frames], 8);
	assert_int_equal(c.value[COUNTER_rocev1_packets], 8);
	assert_int_equal(c.value[COUNTER_rocev1_icrc_checked], 4);
	assert_int_equal(c.value[COUNTER_icrc_bad], 4);
	assert_int_equal(c.value[COUNTER_roce_packets] + c.value[COUNTER_icrc_checked] + c.value[COUNTER_icrc_unchecked], 0);
}

/* Whether frames that end before their IP length were cut by a mirror, or their sender counts wrongly. */
static void short_frames(void **state)
{
	static const struct {
		int payload[4], cut_at[4]; /* bytes; 0: the frame is whole */
		enum short_frames is;
	} frames[] = {
		{ { 100 }, { 90 }, SHORT_UNDECIDED },
		{ { 100, 120 }, { 90, 90 }, SHORT_CUT },
		{ { 100, 120 }, { 90, 91 }, SHORT_WRONG },	   /* a mirror cuts at one length, */
		{ { 60, 100, 120 }, { 0, 90, 90 }, SHORT_WRONG },  /* ... and what is longer: the first one has 118 bytes */
		{ { 100, 120, 60 }, { 90, 90, 0 }, SHORT_WRONG },  /* ... or the last */
		{ { 4, 100, 120, 4 }, { 0, 90, 90, 0 }, SHORT_CUT },
	};

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(frames); i++) {
		struct roce_totals totals = { 0 };
		__u32 longest = 0;

		for (int k = 0; k < 4 && frames[i].payload[k]; k++) {
			struct frame_spec s = { .opcode = 4, .payload = frames[i].payload[k] };
			struct roce_packet p;
			struct test_frame f;

			frame_build(&f, &s);
			p = frames[i].cut_at[k] ? parse(&f, frames[i].cut_at[k], frames[i].cut_at[k]) : parse(&f, f.length, f.length);
			assert_int_equal(p.kind, ROCE_PACKET);
			roce_count_frame(&totals, &p, &longest);
			roce_count_packet(&totals.counters, &p, ICRC_UNCHECKED);
		}
		assert_int_equal(roce_judge_short(totals.value), frames[i].is);
	}
}

/* Each frame has one kind, and kinds and verdicts add up, for any frames. */
static void check_identities(const struct roce_totals *c)
{
	const __u64 *v = c->value;

	assert_true(v[COUNTER_frames] == v[COUNTER_other_frames] + v[COUNTER_rocev1_packets] +
					 v[COUNTER_ip_fragments] + v[COUNTER_malformed] + v[COUNTER_roce_packets]);
	assert_true(v[COUNTER_roce_packets] == v[COUNTER_icrc_checked] + v[COUNTER_icrc_unchecked]);
	assert_true(v[COUNTER_naks] >= v[COUNTER_nak_psn_sequence] + v[COUNTER_nak_invalid_request] +
				       v[COUNTER_nak_remote_access] + v[COUNTER_nak_remote_operational]);
}

/* A format of any kind, with fields anywhere. */
static struct roce_udp_format random_format(uint64_t *r)
{
	struct roce_udp_format f = { .step = 1, .inverse = 1, .kind = random_next(r) % (UDP_TIME + 1) };
	struct udp_field *const fields[] = { &f.number, &f.stream[0], &f.stream[1] };

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(fields); i++) {
		*fields[i] = (struct udp_field){ .at = random_next(r) % (random_next(r) % 2 ? 1200 : 200),
						 .little = random_next(r) % 2 };
		fields[i]->bits = 4 + random_next(r) % (i ? 12 : 61 - fields[i]->at % 8);
	}
	return f;
}

/* Valid frames with random changes, and wrong lengths. */
static void random_damage(void **state)
{
	struct roce_ports ports = { .port = { 4791, 7471, 1, 65535 } };
	uint64_t r = 20251121;
	struct roce_totals totals = { 0 };
	__u32 longest = 0;
	struct roce_stream stream = { 0 };

	(void)state;
	for (int i = 0; i < (test_long() ? 300000 : 60000); i++) {
		struct frame_spec s = {
			.tags = random_next(&r) % 5, .ipv6 = random_next(&r) % 2, .ip_options = random_next(&r) % 11 * 4,
			.extensions = random_next(&r) % 6, .opcode = random_next(&r), .psn = random_next(&r),
			.dqpn = random_next(&r), .payload = random_next(&r) % 64, .pad = random_next(&r) % 4,
			.port = random_next(&r) % 4 ? 0 : 7471, .grh = random_next(&r) % 4 == 0,
		};
		int damage = random_next(&r) % 6, captured, wire;
		struct roce_packet p;
		struct test_frame f;

		ports.format[1] = random_format(&r);
		ports.format[3] = random_format(&r);
		frame_build(&f, &s);
		for (int k = 0; k < damage; k++)
			f.bytes[random_next(&r) % f.length] = random_next(&r);
		captured = random_next(&r) % 2 ? f.length : (int)(random_next(&r) % (f.length + 1));
		wire = random_next(&r) % 2 ? f.length : captured;
		frame_fill(window, &f, captured, ROCE_WINDOW_BYTES);
		engine_parse(window, captured, wire, &ports, &p);
		roce_count_frame(&totals, &p, &longest);
		if (p.kind == ROCE_PACKET) {
			assert_true(p.icrc_offset + 4 <= p.frame_bytes);
			assert_true(p.payload_bytes < p.frame_bytes);
			assert_true(p.truncated || p.icrc_offset + 4 <= (__u32)captured);
			icrc_mask(window, &p);
		}
		if (p.kind == ROCE_PACKET || p.kind == ROCE_UDP) {
			enum icrc_verdict icrc = random_next(&r) % 3;

			roce_count_packet(&totals.counters, &p, icrc);
			engine_observe(&stream, &p, icrc, i, NULL);
		}
	}
	check_identities(&totals);
	assert_true(stream.counters.value[COUNTER_psn_recovered] <= stream.counters.value[COUNTER_psn_skipped]);
}

static void random_bytes(void **state)
{
	struct roce_totals totals = { 0 };
	__u32 longest = 0;
	uint64_t r = 4791;

	(void)state;
	for (int i = 0; i < (test_long() ? 300000 : 60000); i++) {
		int captured = random_next(&r) % 256;
		struct roce_packet p;

		for (int k = 0; k < ROCE_WINDOW_BYTES; k++)
			window[k] = random_next(&r);
		if (captured > 14 && i % 2)
			put(window + 12, i % 4 == 1 ? 0x080045 : 0x86dd60, 3);
		engine_parse(window, captured, captured, NULL, &p);
		roce_count_frame(&totals, &p, &longest);
		if (p.kind == ROCE_PACKET)
			roce_count_packet(&totals.counters, &p, ICRC_BAD);
	}
	check_identities(&totals);
}

static void stream_header(void **state)
{
	struct roce_ports ports = { .port = { 7471 } };
	struct frame_spec s = { .opcode = 0, .payload = 64, .port = 7471 };
	struct roce_packet p;
	struct test_frame f;
	uint8_t *h;

	(void)state;
	frame_build(&f, &s);
	h = f.bytes + f.bth;
	put(put(put(put(put(h, 0x52435353, 4), 1, 1), 0, 1), 3, 2), 0xabcd, 4);
	put(h + 16, 77, 8);
	engine_parse(f.bytes, f.length, f.length, &ports, &p);
	assert_int_equal(p.kind, ROCE_UDP);
	assert_false(p.foreign);
	assert_false(p.stream_end);
	assert_int_equal(p.dqpn, 3);
	assert_int_equal(p.run, 0xabcd);
	assert_int_equal(p.number, 77);
	h[5] = 1;
	engine_parse(f.bytes, f.length, f.length, &ports, &p);
	assert_true(p.stream_end);
	h[0] = 0;
	engine_parse(f.bytes, f.length, f.length, &ports, &p);
	assert_int_equal(p.kind, ROCE_UDP);
	assert_true(p.foreign);
	engine_parse(f.bytes, f.length, f.length, NULL, &p);
	assert_int_equal(p.kind, ROCE_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_combination),
		cmocka_unit_test(kinds),
		cmocka_unit_test(rocev1),
		cmocka_unit_test(ipv4_is_mapped),
		cmocka_unit_test(stream_header),
		cmocka_unit_test(short_frames),
		cmocka_unit_test(random_damage),
		cmocka_unit_test(random_bytes),
	};

	return cmocka_run_group_tests_name("parse", tests, make_window, free_window);
}
