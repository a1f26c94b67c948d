// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The effect of one packet on its stream: keys, trust, READ spans, responses, CNPs, acknowledgements. */
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/frame.h"
#include "tests/unit/packets.h"

enum { RC_FIRST = 0x06, RC_LAST = 0x08, RC_ONLY = 0x0a, READ_FIRST = 0x0d, READ_MIDDLE = 0x0e, READ_LAST = 0x0f,
       READ_ONLY = 0x10, ACK = 0x11, UC_ONLY = 0x2a, CNP = 0x81, RESERVED = 0x1f };

static void keys(void **state)
{
	struct roce_packet p = packet(RC_ONLY, 1), ack = packet(ACK, 1), ud = packet(0x64, 1), udp = packet(0, 1);
	struct roce_key a, b;

	(void)state;
	p.src[15] = 1;
	p.dst[15] = 2;
	roce_stream_key(&p, &a);
	assert_int_equal(a.kind, KEY_CONNECTED);
	assert_int_equal(a.qpn, 17);
	assert_int_equal(a.side, SIDE_REQUEST);
	roce_stream_key(&ack, &b);
	assert_int_equal(b.side, SIDE_RESPONSE);
	/* VLAN, source port and MAC are not part of the key */
	p.vlan_tags = 1;
	p.vlan = 7;
	p.udp_source_port = 99;
	p.src_mac[0] = 2;
	roce_stream_key(&p, &b);
	assert_memory_equal(&a, &b, sizeof(a));
	/* UD: for any destination */
	ud.src[15] = 1;
	ud.sqpn = 0x42;
	roce_stream_key(&ud, &a);
	ud.dst[15] = 9;
	ud.dqpn = 3;
	roce_stream_key(&ud, &b);
	assert_memory_equal(&a, &b, sizeof(a));
	assert_int_equal(a.kind, KEY_DATAGRAM);
	assert_int_equal(a.qpn, 0x42);
	udp.kind = ROCE_UDP;
	udp.udp_port = 7471;
	roce_stream_key(&udp, &a);
	assert_int_equal(a.kind, KEY_UDP);
	assert_int_equal(a.port, 7471);
}

static void observe_icrc(struct roce_stream *s, struct roce_packet p, enum icrc_verdict icrc)
{
	engine_observe(s, &p, icrc, 0, NULL);
}

/* Until the first good ICRC everything is provisional. After it, a bad one changes only icrc_bad. */
static void trust(void **state)
{
	struct roce_stream s = { 0 }, before;
	struct roce_packet bad = packet(UC_ONLY, 500);

	(void)state;
	for (int i = 0; i < 10; i++)
		observe_icrc(&s, packet(UC_ONLY, 100 + 3 * i), ICRC_BAD);
	assert_false(s.trusted);
	assert_int_equal(COUNT(&s, psn_skipped), 18);
	assert_int_equal(COUNT(&s, messages), 10);
	assert_int_equal(COUNT(&s, icrc_bad), 10);
	observe_icrc(&s, packet(UC_ONLY, 7000), ICRC_GOOD);
	assert_true(s.trusted);
	assert_int_equal(COUNT(&s, psn_skipped), 0);
	assert_int_equal(COUNT(&s, psn_resyncs), 0);
	assert_int_equal(COUNT(&s, messages), 1);
	assert_int_equal(s.sequence.first_psn, 7000);
	before = s;
	bad.pkey = 0; /* lints, too, depend on the packet's content */
	observe_icrc(&s, bad, ICRC_BAD);
	assert_int_equal(COUNT(&s, icrc_bad), 11);
	before.counters.value[COUNTER_icrc_bad]++;
	before.counters.value[COUNTER_icrc_checked]++;
	before.counters.value[COUNTER_roce_packets]++;
	before.counters.value[COUNTER_bytes] += bad.frame_bytes;
	assert_memory_equal(&s, &before, sizeof(s));
	observe_icrc(&s, packet(UC_ONLY, 7001), ICRC_GOOD);
	assert_int_equal(COUNT(&s, psn_gaps), 0);
}

/* If ICRCs are not checked, a stream is trusted at once. */
static void trust_unchecked(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	observe_icrc(&s, packet(UC_ONLY, 5), ICRC_UNCHECKED);
	assert_true(s.trusted);
	assert_int_equal(COUNT(&s, icrc_unchecked), 1);
}

static void learn_mtu(struct roce_stream *s, __u32 psn)
{
	observe(s, packet(RC_FIRST, psn));
	observe(s, packet(RC_LAST, psn + 1));
	assert_int_equal(s->path_mtu, 1024);
}

static void read_span_known(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	learn_mtu(&s, 0);
	observe(&s, read_request(2, 10 * 1024));     /* 2..11 */
	observe(&s, read_request(12, 10 * 1024 + 1)); /* 12..22 */
	observe(&s, read_request(23, 0));
	observe(&s, read_request(24, 1024));
	observe(&s, packet(RC_ONLY, 25));
	assert_int_equal(COUNT(&s, psn_gaps), 0);
	observe(&s, read_request(15, 8 * 1024)); /* sent again, from inside its span */
	assert_int_equal(COUNT(&s, psn_duplicates), 1);
	assert_int_equal(COUNT(&s, psn_gaps), 0);
	observe(&s, packet(RC_ONLY, 26));
	assert_int_equal(COUNT(&s, psn_gaps), 0);
}

/* A READ that was lost and is sent again recovers its whole span. */
static void read_span_late(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	learn_mtu(&s, 0xfffff0);
	/* READ of 20 packets at 0xfffff2 lost: it ends at 0x000006 */
	observe(&s, packet(RC_ONLY, 6));
	assert_int_equal(COUNT(&s, psn_skipped), 20);
	observe(&s, read_request(0xfffff2, 20 * 1024));
	assert_int_equal(COUNT(&s, psn_recovered), 20);
	observe(&s, packet(RC_ONLY, 6));
	assert_int_equal(COUNT(&s, psn_duplicates), 1);
	observe(&s, packet(RC_ONLY, 7));
	assert_int_equal(COUNT(&s, psn_gaps), 1);
}

/* While the path MTU is unknown, two jumps after READs determine it, if they agree and each has only one explanation. */
static void read_span_unknown(void **state)
{
	(void)state;
	for (__u32 mtu = 256; mtu <= 4096; mtu *= 2) {
		struct roce_stream s = { 0 };
		__u32 psn = 0xffffff, span = (1000000 + mtu - 1) / mtu;

		observe(&s, read_request(psn, 1000000));
		observe(&s, read_request(psn += span, 1000000));
		assert_int_equal(s.path_mtu, 0);
		observe(&s, read_request(psn += span, 1000000));
		assert_int_equal(s.path_mtu, mtu);
		observe(&s, read_request(psn += span, 100));
		observe(&s, packet(RC_ONLY, psn += 1));
		assert_int_equal(COUNT(&s, psn_gaps), 0);
		observe(&s, packet(RC_ONLY, psn += 2));
		assert_int_equal(COUNT(&s, psn_skipped), 1);
	}
	for (__u32 lost = 1; lost < 8; lost++) { /* jumps that no path MTU explains are gaps */
		struct roce_stream s = { 0 };

		observe(&s, read_request(0, 2048)); /* 8, 4, 2 or 1 packets */
		observe(&s, packet(RC_ONLY, lost + 1));
		assert_int_equal(COUNT(&s, psn_gaps), lost != 7 && lost != 3 && lost != 1);
	}
}

static struct roce_packet read_at(__u32 psn, __u64 va, __u32 dma_length)
{
	struct roce_packet p = read_request(psn, dma_length);

	p.va = va;
	return p;
}

/* A READ retried from inside its span determines the path MTU: it is a duplicate, and the packet after the span is no gap. */
static void read_span_retried(void **state)
{
	(void)state;
	for (__u32 mtu = 256; mtu <= 4096; mtu *= 2) {
		for (__u32 skip = 1; skip < 7; skip++) {
			struct roce_stream s = { 0 };

			observe(&s, packet(RC_ONLY, 0xfffffe));
			observe(&s, read_at(0xffffff, 0x10000, 6 * mtu + 1)); /* seven PSNs */
			observe(&s, read_at(0xffffff, 0x10000, 6 * mtu + 1));
			assert_int_equal(s.path_mtu, 0);
			observe(&s, read_at(0xffffff + skip, 0x10000 + skip * mtu, (6 - skip) * mtu + 1));
			assert_int_equal(s.path_mtu, mtu);
			assert_int_equal(COUNT(&s, psn_duplicates), 2);
			observe(&s, packet(RC_ONLY, 0xffffff + 7));
			assert_int_equal(COUNT(&s, psn_gaps) + COUNT(&s, psn_resyncs), 0);
			assert_int_equal(COUNT(&s, messages), 3);
		}
	}
}

/* A READ of the same bytes, or of bytes with another end, is a READ of its own. */
static void read_span_not_retried(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	observe(&s, read_at(0, 0x10000, 8192));
	observe(&s, read_at(2, 0x10000, 4096));
	observe(&s, read_at(3, 0x11000, 4096));
	assert_int_equal(s.path_mtu, 0);
	assert_int_equal(COUNT(&s, psn_gaps) + COUNT(&s, psn_duplicates), 0);
	assert_int_equal(COUNT(&s, messages), 3);
}

/* A path MTU learnt after a READ decides how much of the jump was its span. */
static void read_span_settled(void **state)
{
	static const struct {
		__u32 psn, skipped, duplicates;
	} next[] = { { 2, 0, 0 }, { 8, 6, 0 }, { 3, 1, 0 }, { 1, 0, 1 } };

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(next); i++) {
		struct roce_stream s = { 0 };
		struct roce_packet first = packet(RC_FIRST, next[i].psn);

		first.payload_bytes = 4096;
		observe(&s, read_request(0, 8192)); /* two PSNs, by the path MTU learnt later */
		observe(&s, first);
		assert_int_equal(COUNT(&s, psn_skipped), next[i].skipped);
		assert_int_equal(COUNT(&s, psn_duplicates), next[i].duplicates);
		if (next[i].duplicates)
			continue;
		observe(&s, packet(RC_LAST, next[i].psn + 1));
		assert_int_equal(COUNT(&s, psn_skipped), next[i].skipped);
		observe(&s, packet(RC_ONLY, 1));
		assert_int_equal(COUNT(&s, psn_duplicates), 1);
	}
}

/* Tens of thousands in flight: losses far behind are recovered when the sender goes back. */
static void go_back_far(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	learn_mtu(&s, 0);
	for (__u32 psn = 2; psn < 30000; psn++)
		if (psn != 100 && (psn < 5000 || psn >= 5200)) /* in the second hole a READ of 200 */
			observe(&s, packet(RC_ONLY, psn));
	assert_int_equal(COUNT(&s, psn_skipped), 201);
	for (__u32 psn = 100; psn < 30000; psn += psn == 5000 ? 200 : 1)
		observe(&s, psn == 5000 ? read_request(psn, 200 * 1024) : packet(RC_ONLY, psn));
	assert_int_equal(COUNT(&s, psn_recovered), 201);
	assert_int_equal(COUNT(&s, psn_duplicates), 30000 - 100 - 201);
	assert_int_equal(COUNT(&s, psn_gaps), 2);
}

/* READs of one packet each, every tenth lost: the gap after a READ does not mean a smaller path MTU. */
static void read_span_lost(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 psn = 0; psn < 100; psn++)
		if (psn % 10 != 5)
			observe(&s, read_request(psn, 4096));
	assert_int_equal(COUNT(&s, psn_skipped), 10);
	assert_int_equal(COUNT(&s, psn_duplicates), 0);
	assert_int_equal(COUNT(&s, messages), 90);
	assert_int_equal(s.path_mtu, 0);
}

/* A span longer than the largest gap is no resync. */
static void read_span_large(void **state)
{
	struct roce_stream s = { 0 };
	__u32 psn = 7, bytes = 128 << 20;

	(void)state;
	for (int i = 0; i < 5; i++, psn += bytes / 1024)
		observe(&s, read_request(psn & 0xffffff, bytes));
	assert_int_equal(s.path_mtu, 1024);
	assert_int_equal(COUNT(&s, psn_resyncs) + COUNT(&s, psn_gaps) + COUNT(&s, psn_duplicates), 0);
}

/* Behind a large gap, a READ that claims so much that its span goes once round the circle: the next gap is counted from there. */
static void read_span_round(void **state)
{
	struct roce_stream s = { 0 };
	struct roce_packet first = packet(RC_FIRST, 0);

	(void)state;
	first.payload_bytes = 256;
	observe(&s, first);
	observe(&s, read_request(5000, 0xffffffff));
	observe(&s, packet(RC_ONLY, 10000));
	observe(&s, packet(RC_ONLY, 10001));
	assert_int_equal(COUNT(&s, psn_gaps), 2);
	assert_int_equal(COUNT(&s, psn_skipped), 4999 + 5000);
}

/* --icrc 1/N: an unverified packet trusts a stream only until the first verdict, if that is bad. */
static void trust_by_sample(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 psn = 0; psn < 100; psn++) {
		struct roce_packet p = packet(RC_ONLY, psn);

		engine_observe(&s, &p, psn % 10 == 9 ? ICRC_BAD : ICRC_UNCHECKED, psn + 1, NULL);
		assert_int_equal(s.trusted, psn < 9);
	}
	assert_int_equal(COUNT(&s, icrc_bad), 10);
	assert_int_equal(COUNT(&s, psn_skipped), 0);
}

/* ... and is trusted again: losses in between are kept, and none are invented. */
static void trust_regained(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 psn = 0; psn < 100; psn++) {
		struct roce_packet p = packet(RC_ONLY, psn);

		if (psn == 10)
			continue;
		engine_observe(&s, &p, psn == 50 ? ICRC_BAD : psn == 60 ? ICRC_GOOD : ICRC_UNCHECKED, psn + 1, NULL);
		assert_int_equal(s.trusted, psn < 50 || psn >= 60);
	}
	assert_int_equal(COUNT(&s, psn_gaps), 1);
	assert_int_equal(COUNT(&s, psn_skipped), 1);
	assert_int_equal(COUNT(&s, messages), 99);
}

/* READs whose spans are larger than the window, by a path MTU that nothing else tells: none of them waits. */
static void read_span_jump(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	for (__u32 i = 0; i < 5; i++)
		observe(&s, read_request(4096 * i, 4096 * 1024));
	assert_int_equal(s.path_mtu, 1024);
	assert_int_equal(s.sequence.waited + COUNT(&s, psn_gaps), 0);
	s = (struct roce_stream){ 0 };
	observe(&s, read_request(0, 4096));
	observe(&s, packet(RC_ONLY, 5000)); /* what no READ of that length explains waits */
	assert_int_equal(s.sequence.waited, 1);
	late_give(&s.psn);
}

/* Datagrams of another sequence come between: the first one is a stray, the next one goes on where that one was. */
static void udp_interleaved(void **state)
{
	static const __u64 numbers[] = { 10, 11, 1000000, 12, 1000001, 13 };
	struct roce_stream s = { 0 };

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(numbers); i++) {
		struct roce_packet p = { .kind = ROCE_UDP, .service = SERVICE_UDP, .number = numbers[i] };

		engine_observe(&s, &p, ICRC_UNCHECKED, 0, NULL);
	}
	assert_int_equal(COUNT(&s, psn_strays), 1);
	assert_int_equal(COUNT(&s, psn_interleaved), 1);
	assert_int_equal(COUNT(&s, psn_gaps) + COUNT(&s, psn_resyncs), 0);
}

/* Responses: contiguous within a message. Between messages, requests of the other side use PSNs. */
static void responses(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	observe(&s, packet(READ_FIRST, 10));
	observe(&s, packet(READ_MIDDLE, 11));
	observe(&s, packet(READ_LAST, 12));
	observe(&s, packet(READ_ONLY, 500));
	observe(&s, packet(READ_FIRST, 200000)); /* 200,000 WRITEs since */
	assert_int_equal(COUNT(&s, psn_gaps) + COUNT(&s, psn_resyncs) + COUNT(&s, psn_duplicates), 0);
	observe(&s, packet(READ_LAST, 202));
	assert_int_equal(COUNT(&s, psn_duplicates), 1);
	observe(&s, packet(READ_LAST, 200003));
	assert_int_equal(COUNT(&s, psn_gaps), 1);
	assert_int_equal(COUNT(&s, psn_skipped), 2);
	observe(&s, packet(READ_FIRST, 200001)); /* requested again */
	assert_int_equal(COUNT(&s, psn_recovered), 1);
	assert_int_equal(COUNT(&s, messages), 3);
}

/* ACKs, NAKs and CNPs on the response side do not change a sequence or the service. */
static void acknowledgements(void **state)
{
	static const __u8 syndromes[] = { 0x00, 0x1f, 0x20, 0x3f, 0x60, 0x61, 0x62, 0x63, 0x64 };
	struct roce_stream s = { 0 };
	struct roce_packet p;

	(void)state;
	observe(&s, packet(READ_ONLY, 1));
	for (size_t i = 0; i < sizeof(syndromes); i++) {
		p = packet(ACK, 1000 * i);
		p.syndrome = syndromes[i];
		observe(&s, p);
	}
	observe(&s, packet(CNP, 0));
	assert_int_equal(s.service, SERVICE_RC);
	assert_int_equal(s.last.psn, 8000);
	observe(&s, packet(READ_ONLY, 2));
	assert_int_equal(COUNT(&s, psn_gaps) + COUNT(&s, psn_duplicates) + COUNT(&s, psn_resyncs), 0);
	assert_int_equal(COUNT(&s, acks), 2);
	assert_int_equal(COUNT(&s, rnr_naks), 2);
	assert_int_equal(COUNT(&s, naks), 5);
	assert_int_equal(COUNT(&s, nak_psn_sequence), 1);
	assert_int_equal(COUNT(&s, nak_invalid_request), 1);
	assert_int_equal(COUNT(&s, nak_remote_access), 1);
	assert_int_equal(COUNT(&s, nak_remote_operational), 1);
	assert_int_equal(COUNT(&s, cnps), 1);
	s = (struct roce_stream){ 0 };
	observe(&s, packet(CNP, 0));
	assert_int_equal(s.service, SERVICE_CNP);
	assert_false(s.met);
}

static void unknown_opcodes(void **state)
{
	struct roce_stream s = { 0 };

	(void)state;
	observe(&s, packet(UC_ONLY, 1));
	observe(&s, packet(0xc3, 77));
	observe(&s, packet(RESERVED, 78));
	observe(&s, packet(UC_ONLY, 2));
	assert_int_equal(COUNT(&s, unknown_opcodes), 2);
	assert_int_equal(COUNT(&s, psn_gaps), 0);
	assert_int_equal(s.service, SERVICE_UC);
	assert_int_equal(s.last.psn, 2);
}

/* A packet with an unknown opcode takes the expected PSN, and gives it back when a known one comes with it. */
static void unknown_steps(void **state)
{
	static const struct {
		__u8 opcodes[6]; /* 0 ends them */
		__u32 psns[6];
		__u32 skipped, duplicates;
		__u64 next;
	} cases[] = {
		{ { UC_ONLY, 0xc3, UC_ONLY }, { 1, 2, 3 }, 0, 0, 4 },
		{ { UC_ONLY, 0xc3, 0xc4, 0x5c, UC_ONLY }, { 1, 2, 3, 4, 5 }, 0, 0, 6 },
		{ { UC_ONLY, 0xc3, UC_ONLY }, { 1, 2, 2 }, 0, 0, 3 },
		{ { UC_ONLY, 0xc3, 0xc4, UC_ONLY }, { 1, 2, 3, 2 }, 0, 0, 3 },
		{ { UC_ONLY, 0xc3, 0xc4, UC_ONLY, UC_ONLY }, { 1, 2, 3, 3, 4 }, 0, 0, 5 },
		{ { UC_ONLY, 0xc3, UC_ONLY, UC_ONLY }, { 1, 2, 1, 2 }, 0, 1, 3 }, /* a duplicate before that */
		{ { UC_ONLY, 0xc3, UC_ONLY, UC_ONLY }, { 1, 2, 3, 2 }, 0, 1, 4 }, /* too late: it was confirmed */
		{ { UC_ONLY, 0xc3, UC_ONLY }, { 1, 2, 5 }, 2, 0, 6 },
		{ { UC_ONLY, 0xc3, UC_ONLY }, { 1, 3, 2 }, 0, 0, 3 }, /* not the expected one */
		{ { 0xc3, UC_ONLY }, { 7, 1 }, 0, 0, 2 },
		{ { UC_ONLY, 0xc3, UC_ONLY }, { 0xffffff, 0, 1 }, 0, 0, 0x1000002 },
	};

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(cases); i++) {
		struct roce_stream s = { 0 };

		for (int k = 0; cases[i].opcodes[k]; k++)
			observe(&s, packet(cases[i].opcodes[k], cases[i].psns[k]));
		if (COUNT(&s, psn_skipped) != cases[i].skipped || COUNT(&s, psn_duplicates) != cases[i].duplicates ||
		    COUNT(&s, psn_resyncs) || s.psn.next != cases[i].next)
			fail_msg("case %zu: skipped %llu, duplicates %llu, next %llu", i, COUNT(&s, psn_skipped),
				 COUNT(&s, psn_duplicates), s.psn.next);
	}
}

/* A mistake in every packet fills 32 bits within minutes: the count stays at its largest value. */
static void lints_saturate(void **state)
{
	struct roce_packet p = packet(UC_ONLY, 1);
	struct roce_stream s = { 0 };
	__u32 count = 5;

	(void)state;
	p.tver = 1;
	observe(&s, p);
	assert_int_equal(s.lint[LINT_tver], 1);
	s.lint[LINT_tver] = LINT_COUNT_MOST - 1;
	for (p.number = 2; p.number < 5; p.number++) {
		observe(&s, p);
		assert_int_equal(s.lint[LINT_tver], LINT_COUNT_MOST);
	}
	stream_lint_add(&count, LINT_COUNT_MOST - 5);
	assert_int_equal(count, LINT_COUNT_MOST);
	stream_lint_add(&count, LINT_COUNT_MOST);
	assert_int_equal(count, LINT_COUNT_MOST);
}

/* Streams of --udp: 64-bit numbers. A new run is no resync; end markers and foreign datagrams have no sequence. */
static void udp_streams(void **state)
{
	struct roce_stream s = { 0 };
	struct roce_packet p = { .kind = ROCE_UDP, .service = SERVICE_UDP, .run = 1, .number = 0xfffffffffeull };

	(void)state;
	for (int i = 0; i < 10; i++, p.number++)
		observe_icrc(&s, p, ICRC_UNCHECKED);
	p.number += 5;
	observe_icrc(&s, p, ICRC_UNCHECKED);
	assert_int_equal(COUNT(&s, psn_skipped), 5);
	p.number -= 2;
	observe_icrc(&s, p, ICRC_UNCHECKED);
	assert_int_equal(COUNT(&s, psn_recovered), 1);
	p.stream_end = 1;
	p.number = 0xffffffffffull;
	observe_icrc(&s, p, ICRC_UNCHECKED);
	p.stream_end = 0;
	p.foreign = 1;
	p.number = 0;
	observe_icrc(&s, p, ICRC_UNCHECKED);
	p.foreign = 0;
	p.run = 2;
	observe_icrc(&s, p, ICRC_UNCHECKED);
	p.number++;
	observe_icrc(&s, p, ICRC_UNCHECKED);
	assert_int_equal(COUNT(&s, psn_resyncs), 0);
	assert_int_equal(COUNT(&s, psn_gaps), 1);
	assert_int_equal(COUNT(&s, udp_packets), 16);
	assert_true(s.trusted);
}

static void take_tos(struct roce_stream *s, struct roce_packet p, __u8 tos)
{
	p.tos = tos;
	observe(s, p);
}

/* DSCP, and ECN-capable or not, of packets with a place in the sequence; not marks, ACKs and CNPs. */
static void classes(void **state)
{
	struct roce_stream s = { 0 }, responses = { 0 }, flow = { 0 }, ud = { 0 };
	struct roce_packet udp = { .kind = ROCE_UDP, .service = SERVICE_UDP, .frame_bytes = 1000, .payload_bytes = 950 };

	(void)state;
	for (int i = 0; i < 4; i++)
		take_tos(&s, packet(UC_ONLY, i), 26 << 2 | 2 | i % 2);
	assert_int_equal(s.class_changes, 0);
	take_tos(&s, packet(UC_ONLY, 4), 26 << 2);
	take_tos(&s, packet(UC_ONLY, 5), 26 << 2 | 1);
	assert_int_equal(s.class_changes, 2);
	take_tos(&s, packet(UC_ONLY, 6), 46 << 2 | 1);
	take_tos(&s, packet(UC_ONLY, 6), 46 << 2 | 3); /* a duplicate */
	assert_int_equal(s.class_changes, 3);
	assert_int_equal(s.last.tos >> 2, 46);
	assert_int_equal(s.last.tos_before >> 2, 26);

	take_tos(&responses, packet(ACK, 0), 0);
	for (int i = 0; i < 3; i++) {
		take_tos(&responses, packet(READ_ONLY, i), 26 << 2 | 2);
		take_tos(&responses, packet(ACK, i), 0);
		take_tos(&responses, packet(CNP, 0), 48 << 2);
	}
	assert_int_equal(responses.class_changes, 0);
	assert_int_equal(responses.last.tos, 26 << 2 | 2);

	for (int i = 0; i < 6; i++) {
		udp.number = i;
		udp.foreign = i == 2;
		take_tos(&flow, udp, i % 2 ? 46 << 2 : udp.foreign ? 8 << 2 : 0);
		take_tos(&ud, packet(0x64, i), i << 2);
	}
	assert_int_equal(flow.class_changes, 3);
	assert_int_equal(ud.class_changes, 0);
}

/* Also with a wrong ICRC, which does not cover the TTL. */
static void ttl_of_one(void **state)
{
	struct roce_stream s = { 0 };
	struct roce_packet p = packet(UC_ONLY, 0);

	(void)state;
	for (int ttl = 0; ttl < 3; ttl++) {
		p.ttl = ttl;
		observe_icrc(&s, p, ICRC_GOOD);
		observe_icrc(&s, p, ICRC_BAD);
	}
	assert_int_equal(COUNT(&s, ttl_one), 2);
}

static void observe_at(struct roce_stream *s, __u8 opcode, __u32 psn, __u32 arrival)
{
	struct roce_packet p = packet(opcode, psn);

	p.arrival = arrival;
	observe(s, p);
}

/*
 * A sequence that is followed beside the stream's, until it wins, counts as one that begins a stream: what came late, how far behind,
 * and whether by another interface only. Two of the packets come late by another one than those before, one of them after the win.
 */
static void sequence_beside(void **state)
{
	static const __u8 opcodes[] = { RC_ONLY, UC_ONLY };
	static const struct {
		__u32 psn, arrival;
	} wire[] = { { 0, 1 }, { 2, 1 }, { 1, 2 }, { 4, 1 }, { 3, 1 }, { 6, 2 }, { 7, 2 } /* wins */, { 5, 1 }, { 9, 1 }, { 8, 1 } };

	(void)state;
	for (size_t o = 0; o < ROCE_ARRAY_SIZE(opcodes); o++) {
		struct roce_stream s = { 0 }, fresh = { 0 };

		observe_at(&s, opcodes[o], 5, 1);
		for (size_t i = 0; i < ROCE_ARRAY_SIZE(wire); i++) {
			observe_at(&s, opcodes[o], 1000000 + wire[i].psn, wire[i].arrival);
			observe_at(&fresh, opcodes[o], 1000000 + wire[i].psn, wire[i].arrival);
			assert_int_equal(COUNT(&s, psn_resyncs), i >= 6);
		}
		assert_int_equal(COUNT(&fresh, psn_gaps), 4);
		assert_int_equal(COUNT(&fresh, psn_recovered), 4);
		assert_int_equal(COUNT(&fresh, psn_crossed), 2);
		assert_int_equal(fresh.arrival.depth[1], 4);
		assert_int_equal(COUNT(&s, psn_gaps), COUNT(&fresh, psn_gaps));
		assert_int_equal(COUNT(&s, psn_skipped), COUNT(&fresh, psn_skipped));
		assert_int_equal(COUNT(&s, psn_recovered), COUNT(&fresh, psn_recovered));
		assert_int_equal(COUNT(&s, psn_crossed), COUNT(&fresh, psn_crossed));
		assert_memory_equal(s.arrival.depth, fresh.arrival.depth, sizeof(s.arrival.depth));
	}
}

/* Packets from .. end - 1 of a service; those of --udp are numbered as packets are. */
static void observe_run(struct roce_stream *s, __u8 opcode, __u32 from, __u32 end)
{
	for (__u32 psn = from; psn != end; psn++) {
		struct roce_packet p = packet(opcode, psn);

		if (!opcode) {
			p.kind = ROCE_UDP;
			p.service = SERVICE_UDP;
			p.op = OP_FIRST | OP_LAST;
		}
		observe(s, p);
	}
}

/*
 * The first packet seen has overtaken some, which count as seen: no other sequence. Where nothing is sent again, they are one if they
 * go on with packets that were seen, or come long after the first one.
 */
static void met_in_the_middle(void **state)
{
	static const __u8 opcodes[] = { RC_ONLY, READ_ONLY, UC_ONLY, 0x64 /* UD */, 0 };
	static const __u32 behind[] = { 1, 3, 16, 255, 2000, 60000 };

	(void)state;
	for (size_t o = 0; o < ROCE_ARRAY_SIZE(opcodes); o++)
		for (size_t i = 0; i < ROCE_ARRAY_SIZE(behind); i++) {
			struct roce_stream s = { 0 };

			observe_run(&s, opcodes[o], 100000, 100001);
			observe_run(&s, opcodes[o], 100000 - behind[i], 100000);
			assert_int_equal(COUNT(&s, psn_undecided), behind[i]);
			observe_run(&s, opcodes[o], 100001, 100500);
			assert_int_equal(COUNT(&s, psn_restarts) + COUNT(&s, psn_gaps) + COUNT(&s, psn_undecided), 0);
			assert_int_equal(COUNT(&s, psn_duplicates), behind[i]);
		}
	for (size_t o = 2; o < ROCE_ARRAY_SIZE(opcodes); o++) {
		struct roce_stream young = { 0 }, old = { 0 };

		observe_run(&young, opcodes[o], 5000, 5015);
		observe_run(&young, opcodes[o], 4950, 5002);
		assert_int_equal(COUNT(&young, psn_undecided), 52);
		observe_run(&young, opcodes[o], 5002, 5003);
		assert_int_equal(COUNT(&young, psn_restarts), 1);
		assert_int_equal(COUNT(&young, psn_undecided), 0);
		observe_run(&old, opcodes[o], 5000, 5016);
		observe_run(&old, opcodes[o], 4000, 4002);
		assert_int_equal(COUNT(&old, psn_undecided), 2);
		observe_run(&old, opcodes[o], 4002, 4003);
		assert_int_equal(COUNT(&old, psn_restarts), 1);
		assert_int_equal(COUNT(&old, psn_undecided), 0);
	}
}

/*
 * A number of four bits, which a time stamp completes (VITA 49): of a second's samples, 100 a datagram, so it begins anew with each
 * second. More datagrams are lost than four bits can tell, but for those between two seconds.
 */
static void numbers_by_time(void **state)
{
	struct udp_time t = { 0 };

	(void)state;
	for (__u64 n = 0; n < 2500; n++) {
		struct roce_packet p = { .number = n & 15, .udp = { .time = n % 1000 * 100, .second = 7 + n / 1000 } };

		if ((n > 300 && n < 340) || (n > 1003 && n < 1043) || (n > 1996 && n < 2002))
			continue;
		udp_number_time(&t, &p);
		assert_true(p.number == n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys), cmocka_unit_test(trust), cmocka_unit_test(trust_unchecked),
		cmocka_unit_test(read_span_known), cmocka_unit_test(read_span_late),
		cmocka_unit_test(read_span_unknown),
		cmocka_unit_test(read_span_retried), cmocka_unit_test(read_span_not_retried),
		cmocka_unit_test(read_span_settled), cmocka_unit_test(go_back_far),
		cmocka_unit_test(read_span_lost),
		cmocka_unit_test(read_span_large), cmocka_unit_test(read_span_round),
		cmocka_unit_test(trust_by_sample), cmocka_unit_test(trust_regained), cmocka_unit_test(responses),
		cmocka_unit_test(udp_interleaved), cmocka_unit_test(read_span_jump),
		cmocka_unit_test(acknowledgements), cmocka_unit_test(unknown_opcodes), cmocka_unit_test(unknown_steps),
		cmocka_unit_test(lints_saturate),
		cmocka_unit_test(udp_streams), cmocka_unit_test(classes), cmocka_unit_test(sequence_beside),
		cmocka_unit_test(ttl_of_one), cmocka_unit_test(met_in_the_middle),
		cmocka_unit_test(numbers_by_time),
	};

	return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
