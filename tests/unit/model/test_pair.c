// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 1 s, long 2 s
/* Connection management, pairs, and what a response stream takes from its requests. */
#include "roce/packet/cm.h"
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/frame.h"
#include "tests/unit/long.h"
#include "tests/unit/packets.h"
#include "userspace/observe/model/pairs.h"

enum { RC_FIRST = 0x06, RC_MIDDLE = 0x07, RC_LAST = 0x08, RC_ONLY = 0x0a, READ_FIRST = 0x0d, READ_MIDDLE = 0x0e,
       READ_LAST = 0x0f, READ_ONLY = 0x10, ATOMIC_ACK = 0x12, FETCH_ADD = 0x14, UC_FIRST = 0x26, UC_MIDDLE = 0x27,
       UC_LAST = 0x28, UC_ONLY = 0x2a };

/* ---- connection management ---- */

/* A MAD by the tables of IBTA 12.6 and 13.4.3. The fields that no test reads are not zero. */
static void cm_build(struct test_frame *f, struct frame_spec spec, const struct roce_cm *cm)
{
	uint8_t *m;

	spec.opcode = 0x64;
	spec.dqpn = spec.sqpn = 1;
	spec.payload = 256;
	frame_build(f, &spec);
	m = f->bytes + f->payload;
	memset(m, 0xee, 256);
	put(put(put(put(m, 1, 1), 7, 1), 2, 1), 3, 1); /* base version, class, class version, method Send */
	put(m + 16, cm->attribute, 2);
	put(m + 24, cm->local_id, 4);
	if (cm->attribute == 0x13) {
		put(m + 24 + 4, cm->remote_id, 4);
		put(m + 24 + 12, cm->qpn, 3);
		put(m + 24 + 20, cm->psn, 3);
	} else {
		put(m + 24 + 32, cm->qpn, 3);
		put(m + 24 + 44, cm->psn, 3);
		put(m + 24 + 50, cm->path_mtu << 4 | 5, 1); /* as its code */
	}
}

static void cm_fields(void **state)
{
	static const struct frame_spec specs[] = {
		{ 0 }, { .tags = 1 }, { .tags = 2, .ipv6 = true }, { .ip_options = 40 }, { .ipv6 = true },
	};
	static const __u32 path_mtus[] = { 0, 256, 512, 1024, 2048, 4096, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };

	(void)state;
	for (size_t s = 0; s < ROCE_ARRAY_SIZE(specs); s++) {
		for (__u32 code = 0; code < 16; code++) {
			struct roce_cm in = { .attribute = code & 1 ? 0x10 : 0x13, .local_id = 0x89abcdef,
					      .remote_id = 0xfedcba98, .qpn = 0x812345, .psn = 0x923456,
					      .path_mtu = code }, out;
			struct roce_packet p;
			struct test_frame f;
			__u8 *window;
			int last;

			cm_build(&f, specs[s], &in);
			last = f.payload + 24 + 51; /* the capture may end behind the path MTU */
			for (int captured = 0; captured <= f.length; captured += captured == last - 1 ? 1 : 7) {
				bool enough = captured >= last;

				window = frame_window(&f, captured, ROCE_WINDOW_BYTES);
				engine_parse(window, captured, f.length, NULL, &p);
				if (p.kind == ROCE_PACKET && !(p.op & OP_CUT)) {
					assert_true(roce_is_management(&p));
					assert_int_equal(roce_cm_parse(window, captured, &p, &out), enough);
				} else {
					assert_false(enough);
				}
				if (enough) {
					assert_int_equal(out.attribute, in.attribute);
					assert_int_equal(out.local_id, in.local_id);
					assert_int_equal(out.remote_id, code & 1 ? 0 : in.remote_id);
					assert_int_equal(out.qpn, in.qpn);
					assert_int_equal(out.psn, in.psn);
					assert_int_equal(out.path_mtu, code & 1 ? path_mtus[code] : 0);
				}
				free(window);
				if (captured < last - 1 && captured + 7 >= last)
					captured = last - 1 - 7;
			}
		}
	}
}

/* Other classes and attributes, another QPN, another service, and a MAD that is too short. */
static void cm_others(void **state)
{
	static const struct {
		int at, value; /* of the MAD */
	} changes[] = { { 1, 0x03 }, { 1, 0x81 }, { 16, 0x01 }, { 17, 0x11 }, { 17, 0x12 }, { 17, 0x14 }, { 17, 0x15 } };
	struct roce_cm in = { .attribute = 0x10, .path_mtu = 3 }, out;
	struct frame_spec spec = { 0 };
	struct roce_packet p;
	struct test_frame f;

	(void)state;
	for (size_t i = 0; i <= ROCE_ARRAY_SIZE(changes); i++) {
		cm_build(&f, spec, &in);
		if (i < ROCE_ARRAY_SIZE(changes))
			f.bytes[f.payload + changes[i].at] = changes[i].value;
		engine_parse(f.bytes, f.length, f.length, NULL, &p);
		assert_int_equal(roce_cm_parse(f.bytes, f.length, &p, &out), i == ROCE_ARRAY_SIZE(changes));
	}
	p.payload_bytes = 255;
	assert_false(roce_cm_parse(f.bytes, f.length, &p, &out));
	p.dqpn = 2;
	assert_false(roce_is_management(&p));
	p = packet(RC_ONLY, 1);
	p.dqpn = 1;
	assert_false(roce_is_management(&p));
}

/* A MAD with any damage causes no read outside the window. */
static void cm_damage(void **state)
{
	uint64_t r = 7;

	(void)state;
	for (int i = 0; i < (test_long() ? 20000 : 5000); i++) {
		struct frame_spec spec = { .ipv6 = random_next(&r) & 1, .tags = random_next(&r) % 3 };
		struct roce_cm in = { .attribute = random_next(&r) & 1 ? 0x10 : 0x13 }, out;
		struct roce_packet p;
		struct test_frame f;
		__u8 *window;
		int captured;

		if (!spec.ipv6)
			spec.ip_options = random_next(&r) % 11 * 4;
		cm_build(&f, spec, &in);
		captured = random_next(&r) % 4 ? f.length : (int)(random_next(&r) % f.length);
		for (int k = random_next(&r) % 4; k > 0; k--)
			f.bytes[random_next(&r) % 100] = random_next(&r);
		window = frame_window(&f, captured, ROCE_WINDOW_BYTES);
		engine_parse(window, captured, f.length, NULL, &p);
		if (p.kind == ROCE_PACKET && roce_is_management(&p))
			roce_cm_parse(window, captured, &p, &out);
		/* and at offsets that the parser would have refused */
		p.l4_offset = random_next(&r);
		roce_cm_parse(window, captured, &p, &out);
		free(window);
	}
}

/* ---- pairs ---- */

static void learn(struct pairs *pairs, bool from_b, struct roce_cm cm)
{
	struct roce_packet p;
	struct test_frame f;

	cm_build(&f, (struct frame_spec){ 0 }, &cm);
	engine_parse(f.bytes, f.length, f.length, NULL, &p);
	if (from_b) {
		__u8 src[16];

		memcpy(src, p.src, 16);
		memcpy(p.src, p.dst, 16);
		memcpy(p.dst, src, 16);
	}
	pairs_learn(pairs, &p, f.bytes, f.length);
}

/* A, 10.9.0.1 in frames, has QPN 0x11, and B 0x22. Each tells the other its first PSN. */
static void learn_connection(struct pairs *pairs, __u32 id, __u32 psn_a, __u32 psn_b)
{
	struct roce_cm req = { .attribute = 0x10, .local_id = id, .qpn = 0x11, .psn = psn_b, .path_mtu = 3 };
	struct roce_cm rep = { .attribute = 0x13, .local_id = id + 7, .remote_id = id, .qpn = 0x22, .psn = psn_a };

	learn(pairs, false, req);
	learn(pairs, true, rep);
}

/* A packet on that connection, with the addresses of frame_build(). */
static struct roce_packet on_connection(struct roce_packet p, bool from_b)
{
	static const __u8 a[16] = { [10] = 0xff, 0xff, 10, 9, 0, 1 }, b[16] = { [10] = 0xff, 0xff, 10, 9, 0, 2 };

	memcpy(p.src, from_b ? b : a, 16);
	memcpy(p.dst, from_b ? a : b, 16);
	p.dqpn = from_b ? 0x11 : 0x22;
	return p;
}

static void learnt(void **state)
{
	struct roce_packet forth = on_connection(packet(RC_ONLY, 1), false), back = on_connection(packet(RC_ONLY, 1), true);
	struct pairs pairs = { 0 };
	struct roce_stream a = { 0 }, b = { 0 }, stranger = { 0 };
	struct roce_key key, peer;

	(void)state;
	learn(&pairs, true, (struct roce_cm){ .attribute = 0x13, .remote_id = 5, .qpn = 0x22 }); /* a REP without a REQ */
	assert_int_equal(pairs.news, 0);
	learn_connection(&pairs, 5, 100, 200);
	assert_int_equal(pairs.news, 2);
	learn_connection(&pairs, 5, 100, 200); /* REQ and REP again */
	assert_int_equal(pairs.news, 2);
	pairs_find(&pairs, &a, &forth);
	assert_int_equal(a.pair.from, PAIR_CM);
	assert_int_equal(a.pair.peer_qpn, 0x11);
	assert_int_equal(a.pair.first_psn, 100);
	assert_int_equal(a.path_mtu, 1024);
	pairs_find(&pairs, &b, &back);
	assert_int_equal(b.pair.peer_qpn, 0x22);
	assert_int_equal(b.pair.first_psn, 200);
	assert_int_equal(b.path_mtu, 1024);
	/* B's responses to A's requests have A's QPN as destination */
	roce_peer_key(&a, &forth, &peer);
	back.op = roce_opcodes[READ_ONLY];
	roce_stream_key(&back, &key);
	assert_memory_equal(&key, &peer, sizeof(key));
	roce_peer_key(&b, &back, &peer);
	roce_stream_key(&forth, &key);
	assert_memory_equal(&key, &peer, sizeof(key));
	/* other streams, and streams that have no pair */
	forth.dqpn = 0x23;
	pairs_find(&pairs, &stranger, &forth);
	assert_int_equal(stranger.pair.from, PAIR_UNKNOWN);
	assert_false(roce_wants_pair(&stranger, &forth, pairs.news + 1));
	assert_true(roce_wants_pair(&stranger, &forth, pairs.news + 2));
	forth.op = roce_opcodes[0x64];
	assert_false(roce_wants_pair(&stranger, &forth, pairs.news + 2));
	pairs_free(&pairs);
}

/* A new connection on the same QPNs starts a new sequence, whatever its PSNs are. */
static void reused(void **state)
{
	struct pairs pairs = { 0 };
	struct roce_stream s = { 0 };

	(void)state;
	for (int connection = 0; connection < 4; connection++) {
		__u32 psn = 5000 - 1000 * connection; /* otherwise each would be a duplicate of the one before */

		learn_connection(&pairs, connection + 1, psn, 9);
		for (int i = 0; i < 100; i++) {
			struct roce_packet p = on_connection(packet(RC_ONLY, psn + i), false);

			pairs_find(&pairs, &s, &p);
			observe(&s, p);
		}
	}
	assert_int_equal(COUNT(&s, psn_gaps) + COUNT(&s, psn_resyncs) + COUNT(&s, psn_duplicates), 0);
	assert_int_equal(COUNT(&s, messages), 400);
	pairs_free(&pairs);
}

/* Many pairs, at all sizes of the table. */
static void many(void **state)
{
	struct pairs pairs = { 0 };

	(void)state;
	for (__u32 i = 0; i < 5000; i++) {
		struct roce_pair_key key = { .src = { i, i >> 8 }, .dst = { 1 }, .number = i * 3 };
		struct roce_pair pair = { .peer_qpn = i, .from = PAIR_EXPECT, .first_psn = PAIR_NO_PSN };

		assert_true(pairs_put(&pairs, &key, &pair));
	}
	for (__u32 i = 0; i < 6000; i++) {
		struct roce_packet p = packet(RC_ONLY, 1);
		struct roce_stream s = { 0 };

		p.src[0] = i;
		p.src[1] = i >> 8;
		p.dst[0] = 1;
		p.dqpn = i * 3;
		pairs_find(&pairs, &s, &p);
		assert_int_equal(s.pair.from, i < 5000 ? PAIR_EXPECT : PAIR_UNKNOWN);
		assert_int_equal(s.pair.peer_qpn, i < 5000 ? i : 0);
	}
	pairs_free(&pairs);
}

/* ---- the connection's first PSN ---- */

static struct roce_stream paired(enum roce_pair_from from, __u32 first_psn, __u32 path_mtu)
{
	struct roce_pair pair = { .from = from, .first_psn = first_psn, .path_mtu = path_mtu, .peer_qpn = 0x11 };
	struct roce_packet request = packet(RC_ONLY, 0);
	struct roce_stream s = { 0 };

	roce_adopt(&s, &request, &pair, 2);
	return s;
}

static void first_psn(void **state)
{
	static const struct {
		__u32 first, met, gap;
	} cases[] = {
		{ 100, 100, 0 }, { 100, 101, 1 }, { 0xfffffe, 3, 5 }, { 0, 65535, 65535 }, { 0, 65536, 0 }, { 100, 99, 0 },
		{ PAIR_NO_PSN, 0xffffff, 0 }, { PAIR_NO_PSN, 1, 0 },
	};

	(void)state;
	for (int from = PAIR_EXPECT; from <= PAIR_CM; from++) {
		for (size_t i = 0; i < ROCE_ARRAY_SIZE(cases); i++) {
			struct roce_stream s = paired(from, cases[i].first, 0);

			observe(&s, packet(RC_ONLY, cases[i].met));
			observe(&s, packet(RC_ONLY, cases[i].met + 1));
			assert_int_equal(COUNT(&s, psn_skipped), cases[i].gap);
			assert_int_equal(COUNT(&s, psn_gaps), !!cases[i].gap);
			assert_int_equal(COUNT(&s, psn_resyncs) + COUNT(&s, psn_duplicates), 0);
			if (!cases[i].gap)
				continue;
			observe(&s, packet(RC_ONLY, cases[i].met - 1));
			assert_int_equal(COUNT(&s, psn_recovered), 1);
		}
	}
}

/* Losses at the beginning stay lost when the first good ICRC restarts the sequence. */
static void first_psn_untrusted(void **state)
{
	struct roce_stream s = paired(PAIR_CM, 100, 512);
	struct roce_packet bad = packet(RC_ONLY, 100);

	(void)state;
	engine_observe(&s, &bad, ICRC_BAD, 0, NULL);
	observe(&s, packet(RC_ONLY, 101));
	assert_int_equal(COUNT(&s, psn_skipped), 1);
	assert_int_equal(s.path_mtu, 512);
}

/*
 * UC: a message without First is broken at the beginning of the connection. Elsewhere it may have begun before the first packet
 * seen.
 */
static void first_message(void **state)
{
	(void)state;
	for (int known = 0; known < 2; known++) {
		struct roce_stream s = paired(PAIR_CM, known ? 100 : PAIR_NO_PSN, 0);

		observe(&s, packet(UC_MIDDLE, 101));
		observe(&s, packet(UC_LAST, 102));
		observe(&s, packet(UC_ONLY, 103));
		assert_int_equal(COUNT(&s, messages_broken), known);
		assert_int_equal(COUNT(&s, messages), 1);
		assert_int_equal(COUNT(&s, psn_skipped), known);
	}
}

/* Netlink may report the peer at any time: the sequence continues. Only another source of the pair reports a new connection. */
static void netlink(void **state)
{
	struct roce_pair known = { .from = PAIR_NETLINK, .peer_qpn = 18, .path_mtu = 2048, .first_psn = PAIR_NO_PSN };
	struct roce_pair cm = { .from = PAIR_CM, .connection = 1, .peer_qpn = 18, .first_psn = 100, .path_mtu = 1024 };
	struct roce_packet request = packet(RC_ONLY, 0);
	struct roce_stream s = { 0 };

	(void)state;
	observe(&s, packet(RC_ONLY, 100));
	s.path_mtu = 0;
	roce_adopt(&s, &request, &known, 1);
	assert_int_equal(s.pair.from, PAIR_NETLINK);
	assert_int_equal(s.pair_generation, 1);
	assert_int_equal(s.path_mtu, 2048);
	observe(&s, packet(RC_ONLY, 102));
	assert_int_equal(COUNT(&s, psn_skipped), 1);
	known.peer_qpn = 19;
	roce_adopt(&s, &request, &known, 2);
	assert_int_equal(s.pair.peer_qpn, 19);
	roce_adopt(&s, &request, &cm, 3);
	assert_int_equal(s.pair.from, PAIR_CM);
	assert_false(s.met);
	known.peer_qpn = 18;
	observe(&s, packet(RC_ONLY, 101));
	roce_adopt(&s, &request, &known, 4);
	assert_int_equal(s.pair.from, PAIR_CM); /* a source with more information is kept */
	assert_int_equal(s.pair.first_psn, 100);
	assert_int_equal(s.path_mtu, 1024);
	observe(&s, packet(RC_ONLY, 103));
	assert_int_equal(COUNT(&s, psn_skipped), 3);
}

/* ---- responses ---- */

struct test_exchange {
	struct roce_stream request, response;
};

static void ask(struct test_exchange *x, struct roce_packet p)
{
	struct roce_peer_info info = { .valid = false };

	if (roce_wants_peer(&x->request, &p))
		roce_ask(&x->request, &x->response, &p, &info);
	engine_observe(&x->request, &p, ICRC_GOOD, 0, &info);
}

static void answer_packet(struct test_exchange *x, struct roce_packet p)
{
	struct roce_peer_info info = { .valid = false };

	if (roce_wants_peer(&x->response, &p))
		roce_ask(&x->response, &x->request, &p, &info);
	engine_observe(&x->response, &p, ICRC_GOOD, 0, &info);
}

static void answer(struct test_exchange *x, __u8 opcode, __u32 psn)
{
	answer_packet(x, packet(opcode, psn));
}

static struct test_exchange exchange(__u32 path_mtu)
{
	struct test_exchange x = { paired(PAIR_EXPECT, PAIR_NO_PSN, path_mtu), paired(PAIR_EXPECT, PAIR_NO_PSN, path_mtu) };

	return x;
}

static void writes(struct test_exchange *x, __u32 psn, int count)
{
	for (int i = 0; i < count; i++)
		ask(x, packet(RC_ONLY, psn + i));
}

static void check_skipped(const struct roce_stream *s, __u64 gaps, __u64 skipped, __u64 recovered)
{
	assert_int_equal(COUNT(s, psn_gaps), gaps);
	assert_int_equal(COUNT(s, psn_skipped), skipped);
	assert_int_equal(COUNT(s, psn_recovered), recovered);
	assert_int_equal(COUNT(s, psn_resyncs) + COUNT(s, psn_duplicates), 0);
}

/* The First is lost: only that PSN is missing, not the acknowledged PSNs before it. */
static void lost_first(void **state)
{
	struct test_exchange x = exchange(1024);

	(void)state;
	ask(&x, read_request(0xfffff0, 3000));
	answer(&x, READ_FIRST, 0xfffff0);
	answer(&x, READ_MIDDLE, 0xfffff1);
	answer(&x, READ_LAST, 0xfffff2);
	writes(&x, 0xfffff3, 20);
	ask(&x, read_request(7, 4000));
	answer(&x, READ_MIDDLE, 8);
	check_skipped(&x.response, 1, 1, 0);
	answer(&x, READ_FIRST, 7);
	check_skipped(&x.response, 1, 1, 1);
	answer(&x, READ_MIDDLE, 9);
	answer(&x, READ_LAST, 10);
	check_skipped(&x.response, 1, 1, 1);
	assert_int_equal(COUNT(&x.request, psn_gaps), 0);
}

/*
 * Many READs between which there are WRITEs are outstanding: the pool remembers them until they are answered, but for more than
 * 128. Where nobody answers, the pool is not needed.
 */
static void many_outstanding(void **state)
{
	struct test_exchange x = exchange(1024);
	int outstanding[] = { 17, 100, 144, 200 };
	__u32 psn = 0xfffe00, skipped = 0;

	(void)state;
	for (int i = 0; i < 100; i++, psn += 2)
		ask(&x, read_request(psn, 1));
	assert_int_equal(x.request.psn.late, 0);
	answer(&x, READ_ONLY, psn - 2);
	for (size_t k = 0; k < ROCE_ARRAY_SIZE(outstanding); k++) {
		int n = outstanding[k];

		for (int i = 0; i < n; i++, psn += 4) {
			ask(&x, read_request(psn & PSN_MASK, 3000));
			writes(&x, (psn + 3) & PSN_MASK, 1);
		}
		assert_true(x.request.acks.spilled);
		assert_int_not_equal(x.request.psn.late, 0);
		answer(&x, READ_MIDDLE, (psn - 3) & PSN_MASK); /* of the last one: all others are lost */
		skipped += 3 * (n < 144 ? n : 144) - 2;
		assert_int_equal(COUNT(&x.response, psn_skipped), skipped);
		answer(&x, READ_LAST, (psn - 2) & PSN_MASK);
		for (int i = 0; i < 16; i++, psn += 4) { /* few are outstanding */
			ask(&x, read_request(psn & PSN_MASK, 3000));
			writes(&x, (psn + 3) & PSN_MASK, 1);
			for (int j = 0; j < 3; j++)
				answer(&x, j == 0 ? READ_FIRST : j == 1 ? READ_MIDDLE : READ_LAST, (psn + j) & PSN_MASK);
		}
		assert_false(x.request.acks.spilled);
		assert_int_equal(x.request.psn.late, 0);
		assert_int_equal(COUNT(&x.response, psn_skipped), skipped);
	}
}

/* Whole responses are lost: READs of many sizes, an atomic, a READ of nothing. */
static void lost_whole(void **state)
{
	struct test_exchange x = exchange(1024);

	(void)state;
	ask(&x, read_request(10, 1024));
	answer(&x, READ_ONLY, 10);
	writes(&x, 11, 5);
	ask(&x, read_request(16, 2049)); /* 16..18 */
	writes(&x, 19, 1);
	ask(&x, packet(FETCH_ADD, 20));
	ask(&x, read_request(21, 0));
	ask(&x, read_request(22, 1025)); /* 22, 23 */
	answer(&x, READ_LAST, 23);
	check_skipped(&x.response, 1, 6, 0);
	for (__u32 psn = 16; psn < 19; psn++)
		answer(&x, READ_ONLY, psn);
	answer(&x, ATOMIC_ACK, 20);
	answer(&x, READ_ONLY, 21);
	answer(&x, READ_FIRST, 22);
	check_skipped(&x.response, 1, 6, 6);
}

/* Nothing is lost: no jump is a gap or a resync, even if the peer is unknown or has forgotten the request. */
static void nothing_lost(void **state)
{
	struct test_exchange x = exchange(4096);
	__u32 psn = 0xff8000; /* wraps after 34 rounds */

	(void)state;
	for (int i = 0; i < (test_long() ? 200 : 60); i++) {
		writes(&x, psn, 1000 * (i % 3));
		psn += 1000 * (i % 3);
		ask(&x, read_request(psn, 4096));
		answer(&x, READ_ONLY, psn++);
	}
	check_skipped(&x.response, 0, 0, 0);
	/* 40 outstanding ones, more than are remembered */
	for (int i = 0; i < 40; i++)
		ask(&x, read_request(psn + 100 * i, 4096));
	for (int i = 0; i < 40; i++)
		answer(&x, READ_ONLY, psn + 100 * i);
	check_skipped(&x.response, 0, 0, 0);
}

/* A READ older than half the circle seems to be ahead, but is not. */
static void forgotten(void **state)
{
	struct test_exchange x = exchange(1024);

	(void)state;
	ask(&x, read_request(50, 1024));
	x.request.psn.next += 0xffff00; /* that many WRITEs later */
	ask(&x, read_request(0xfffff0, 1024));
	x.response = paired(PAIR_EXPECT, PAIR_NO_PSN, 1024);
	answer(&x, READ_ONLY, 0xfffff1);
	ask(&x, read_request(60, 1024));
	answer(&x, READ_ONLY, 60);
	assert_int_equal(COUNT(&x.response, psn_skipped), 0);
}

/* The connection's first response is lost: its PSN is the first PSN of the requests. */
static void lost_at_start(void **state)
{
	struct test_exchange x = { paired(PAIR_CM, 100, 1024), paired(PAIR_CM, 900, 1024) };

	(void)state;
	writes(&x, 100, 3);
	ask(&x, read_request(103, 4096));
	answer(&x, READ_MIDDLE, 105);
	check_skipped(&x.response, 1, 2, 0);
	x = exchange(1024); /* the same with an unknown first PSN: the stream starts at the first packet seen */
	writes(&x, 100, 3);
	ask(&x, read_request(103, 4096));
	answer(&x, READ_MIDDLE, 105);
	check_skipped(&x.response, 0, 0, 0);
}

/* The response's First gives the request stream its path MTU. */
static void path_mtu_of_peer(void **state)
{
	struct test_exchange x = exchange(0);

	(void)state;
	ask(&x, read_request(5, 100000)); /* 98 packets of 1024 */
	answer(&x, READ_FIRST, 5);
	assert_int_equal(x.response.path_mtu, 1024);
	ask(&x, packet(RC_ONLY, 5 + 98 + 2));
	assert_int_equal(x.request.path_mtu, 1024);
	assert_int_equal(COUNT(&x.request, psn_skipped), 2);
	/* while the path MTU is unknown: a retry from inside the span, which is no gap */
	x = exchange(0);
	ask(&x, read_request(5, 100000));
	answer(&x, READ_FIRST, 5);
	answer(&x, READ_MIDDLE, 6);
	ask(&x, read_request(7, 100000 - 2048));
	ask(&x, packet(RC_ONLY, 5 + 98));
	assert_int_equal(COUNT(&x.request, psn_gaps), 0);
	assert_int_equal(COUNT(&x.request, psn_duplicates), 1);
}

/*
 * Random requests, few of them outstanding, with random loss and repetition of response packets, compared with a set: exactly
 * the PSNs of lost READ and atomic responses are skipped.
 */
static void model(void **state)
{
	static __u8 fate[1 << 24]; /* by PSN: 0 no response, 1 seen, 2 skipped */
	uint64_t r = 2024;

	(void)state;
	for (int run = 0; run < 300; run++) {
		__u32 mtu = 256u << random_next(&r) % 5, psn = random_next(&r) & PSN_MASK, met = 0, first = psn;
		struct test_exchange x = exchange(run % 2 ? mtu : 0);
		__u64 skipped = 0, recovered = 0;
		__u32 pending[64], pendings = 0;

		for (int i = 0; i < 60; i++) {
			int kind = random_next(&r) % 4;
			__u32 packets = kind == 0 ? random_next(&r) % 40 + 1 : 1;
			struct roce_packet q = packet(kind == 1 ? FETCH_ADD : RC_FIRST, psn);

			if (kind == 0)
				q = read_request(psn, packets * mtu - random_next(&r) % mtu);
			q.payload_bytes = kind > 1 ? mtu : 0;
			ask(&x, q);
			for (__u32 k = 0; kind < 2 && k < packets; k++) {
				__u8 opcode = kind == 1 ? ATOMIC_ACK : packets == 1 ? READ_ONLY : !k ? READ_FIRST :
					      k == packets - 1 ? READ_LAST : READ_MIDDLE;
				__u32 number = (psn + k) & PSN_MASK;

				fate[number] = 2;
				if (met && random_next(&r) % 5 == 0) { /* lost; may be sent again later */
					if (pendings < ROCE_ARRAY_SIZE(pending))
						pending[pendings++] = number;
					continue;
				}
				struct roce_packet a = packet(opcode, number);

				a.payload_bytes = opcode == READ_ONLY || opcode == ATOMIC_ACK ? 8 : mtu;
				answer_packet(&x, a);
				fate[number] = 1;
				/* everything requested between the previous response and this one */
				for (__u32 n = met ? met : number; n != number; n = (n + 1) & PSN_MASK)
					skipped += fate[n] == 2;
				met = (number + 1) & PSN_MASK ?: 1u << 24;
				met &= PSN_MASK;
				if (!met)
					goto next_run; /* 0 means: none seen yet */
			}
			psn = (psn + packets) & PSN_MASK;
			if (pendings && random_next(&r) % 3 == 0) {
				__u32 number = pending[--pendings];

				if (psn_distance(met, number) < 0 && psn_distance(number, met) < 900) {
					answer(&x, READ_ONLY, number);
					fate[number] = 1;
					recovered++;
				}
			}
			assert_int_equal(COUNT(&x.response, psn_skipped), skipped);
			assert_int_equal(COUNT(&x.response, psn_recovered), recovered);
			assert_int_equal(COUNT(&x.response, psn_resyncs) + COUNT(&x.response, psn_duplicates), 0);
			assert_int_equal(COUNT(&x.request, psn_gaps), 0);
		}
next_run:
		/* clears what it set; all would take longer than the run */
		for (__u32 k = 0; k < 60 * 40; k++)
			fate[(first + k) & PSN_MASK] = 0;
	}
}

/* READs that follow each other are one range, which does not grow for ever. */
static void longest_range(void **state)
{
	const struct roce_packet p = read_request(0, 4096);
	struct roce_asked asked = { 0 };

	(void)state;
	asked_add(&asked, &p, 100, ASKED_MOST - 1);
	asked_add(&asked, &p, 100 + ASKED_MOST - 1, 1);
	assert_int_equal(asked.count, 1);
	asked_add(&asked, &p, 100 + ASKED_MOST, 1);
	assert_int_equal(asked.count, 2);
}

/* What is remembered of one connection's packets says nothing of the next one's: packets sent again are no restart. */
static void samples(void **state)
{
	struct roce_pair next = { .from = PAIR_CM, .connection = 2, .peer_qpn = 18, .path_mtu = 1024, .first_psn = 300 };
	struct roce_packet p = packet(RC_ONLY, 300);
	struct test_exchange x = exchange(1024);

	(void)state;
	writes(&x, 0, 600);
	roce_adopt(&x.request, &p, &next, 2);
	for (__u32 psn = 300; psn < 600; psn++) {
		p = packet(RC_ONLY, psn);
		p.rkey = 7;
		if (psn != 512)
			ask(&x, p);
	}
	for (__u32 psn = 512; psn < 520; psn += psn != 512 || COUNT(&x.request, psn_duplicates) > 0) {
		p = packet(RC_ONLY, psn); /* the first one recovers, the others are sent again */
		p.rkey = 7;
		ask(&x, p);
	}
	assert_int_equal(COUNT(&x.request, psn_recovered), 1);
	assert_int_equal(COUNT(&x.request, psn_duplicates), 8);
	assert_int_equal(COUNT(&x.request, psn_restarts), 1);
	assert_int_equal(x.request.sequence.restart_by, RESTART_HANDSHAKE);
}

/* Acknowledges the packets before this one; a message each. */
static void acknowledge(struct test_exchange *x, __u32 psn, __u32 msn)
{
	struct roce_packet p = packet(0x11, psn);

	p.msn = msn & PSN_MASK;
	answer_packet(x, p);
}

/*
 * The same packets once more: if the responder repeats its newest MSN they are sent again, if it counts from 1 again the QP is
 * used again. An acknowledgement that was overtaken is no fall.
 */
static void msn(void **state)
{
	(void)state;
	for (int again = 0; again < 2; again++) {
		for (__u32 first = 0xfffff0; first < 0x1000100; first += 0x107) {
			struct test_exchange x = exchange(1024);

			for (__u32 i = 0; i < 200; i++) {
				writes(&x, first + i, 1);
				acknowledge(&x, first + i, i % 20 == 5 ? i - 1 : i + 1);
			}
			assert_int_equal(x.response.acks.msn_falls, 0);
			for (__u32 i = 0; i < 100; i++) {
				writes(&x, first + i, 1);
				acknowledge(&x, again ? first + 199 : first + i, again ? 200 : i + 1);
			}
			assert_int_equal(COUNT(&x.request, psn_restarts), again ? 0 : 1);
			assert_int_equal(x.request.sequence.restart_by, again ? RESTART_NONE : RESTART_MSN);
			assert_int_equal(COUNT(&x.request, messages), again ? 200 : 300);
			assert_int_equal(COUNT(&x.request, psn_skipped), 0);
			if (again)
				assert_int_equal(COUNT(&x.request, psn_duplicates), 100);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cm_fields), cmocka_unit_test(cm_others), cmocka_unit_test(cm_damage),
		cmocka_unit_test(learnt), cmocka_unit_test(reused), cmocka_unit_test(many),
		cmocka_unit_test(first_psn), cmocka_unit_test(first_psn_untrusted), cmocka_unit_test(first_message),
		cmocka_unit_test(lost_first), cmocka_unit_test(lost_whole), cmocka_unit_test(many_outstanding),
		cmocka_unit_test(nothing_lost),
		cmocka_unit_test(forgotten), cmocka_unit_test(lost_at_start), cmocka_unit_test(path_mtu_of_peer),
		cmocka_unit_test(netlink), cmocka_unit_test(msn), cmocka_unit_test(longest_range), cmocka_unit_test(samples),
		cmocka_unit_test(model),
	};

	return cmocka_run_group_tests_name("pair", tests, NULL, NULL);
}
