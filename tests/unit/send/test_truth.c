// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 2 s, long 16 s
/*
 * The truth compared with the engine: random senders with random mistakes, random paths. After each packet every counter of
 * every stream must be equal. A difference is reduced to a sequence in which every packet is needed, and printed.
 *
 *     test_send_truth [SEED [KIND]]    only that seed (and kind, from 0)
 */
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <arpa/inet.h>
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/long.h"
#include "tests/unit/packets.h"
#include "userspace/traffic/send/fault.h"
#include "userspace/traffic/send/truth.c"
#include "userspace/traffic/send/truth_psn.c"
#include "userspace/traffic/send/truth_uc.c"
#include "userspace/traffic/send/truth_write.c"

enum { SEEDS = 200, PACKETS = 4000, QPS = 3, STREAMS = 8, FIRST_QPN = 0x11, MTU = 1024 };

/* The packets of a QP, with the first opcode of each kind; RANDOM: any opcode of any service. */
enum test_kind { UC_WRITE, UC_WRITE_IMM, UC_SEND, RC_WRITE, RC_SEND, UD_SEND, READ_RESPONSE, ACK, CNP, RANDOM, KINDS };
static const enum send_op ops[KINDS] = {
	SEND_UC_WRITE, SEND_UC_WRITE_IMM, SEND_UC_SEND, SEND_RC_WRITE, SEND_RC_SEND, SEND_UD_SEND, SEND_READ_RESPONSE, SEND_ACK,
	SEND_CNP, SEND_UC_SEND,
};
static const struct { uint8_t first, middle, last, only; } opcodes[KINDS] = {
	[UC_WRITE] = { 0x26, 0x27, 0x28, 0x2a }, [UC_WRITE_IMM] = { 0x26, 0x27, 0x29, 0x2b },
	[UC_SEND] = { 0x20, 0x21, 0x22, 0x24 }, [RC_WRITE] = { 0x06, 0x07, 0x08, 0x0a },
	[RC_SEND] = { 0x00, 0x01, 0x02, 0x04 }, [UD_SEND] = { 0x64, 0x64, 0x64, 0x64 },
	[READ_RESPONSE] = { 0x0d, 0x0e, 0x0f, 0x10 }, [ACK] = { 0x11, 0x11, 0x11, 0x11 }, [CNP] = { 0x81, 0x81, 0x81, 0x81 },
};

/* ---- both observers ---- */

struct test_run {
	struct send_plan plan;
	struct truth *truth;
	struct truth_stream *of_qp[QPS];
	struct send_qp qp[QPS];
	struct roce_stream stream[3][STREAMS]; /* requests, responses, datagrams */
	uint32_t frames;
};

static struct test_run *run_new(enum test_kind kind)
{
	struct test_run *r = calloc(1, sizeof(*r));

	r->plan = (struct send_plan){ .qps = QPS, .first_qpn = FIRST_QPN, .op = ops[kind], .mtu = MTU };
	inet_pton(AF_INET6, "::ffff:10.9.0.1", r->plan.src);
	inet_pton(AF_INET6, "::ffff:10.9.0.2", r->plan.dst);
	r->truth = truth_new(&r->plan);
	for (uint32_t i = 0; i < QPS; i++) {
		r->qp[i] = (struct send_qp){ .index = i, .qpn = FIRST_QPN + i };
		r->of_qp[i] = truth_of_qp(r->truth, &r->qp[i]);
	}
	return r;
}

static void run_free(struct test_run *r)
{
	truth_free(r->truth);
	free(r);
}

/* The key of its stream, as in truth. */
static uint32_t stream_key(const struct truth_packet *p)
{
	uint32_t op = roce_opcodes[p->opcode];

	if (op && p->opcode >> 5 == SERVICE_UD)
		return p->sqpn | KEY_IS_DATAGRAM;
	return p->dqpn | (op & OP_RESPONSE ? KEY_IS_RESPONSE : 0);
}

static struct truth_stream *truth_stream(const struct test_run *r, uint32_t key)
{
	for (uint32_t i = 0; i < r->truth->count; i++)
		if (r->truth->streams[i]->key == key)
			return r->truth->streams[i];
	return NULL;
}

struct difference {
	const char *name;
	uint64_t truth, engine;
};

static struct difference compare(const struct truth_stream *t, const struct roce_stream *e)
{
	const struct difference all[] = {
		{ "packets", t->packets, COUNT(e, roce_packets) },
		{ "bytes", t->bytes, COUNT(e, bytes) },
		{ "payload_bytes", t->payload_bytes, COUNT(e, payload_bytes) },
		{ "icrc_bad", t->icrc_bad, COUNT(e, icrc_bad) },
		{ "messages", truth_messages(t), COUNT(e, messages) },
		{ "messages_broken", t->uc.broken, COUNT(e, messages_broken) },
		{ "psn_gaps", t->psn.gaps, COUNT(e, psn_gaps) },
		{ "psn_skipped", t->psn.skipped, COUNT(e, psn_skipped) },
		{ "psn_recovered", t->psn.recovered, COUNT(e, psn_recovered) },
		{ "psn_duplicates", t->psn.duplicates, COUNT(e, psn_duplicates) },
		{ "psn_resyncs", t->psn.resyncs, COUNT(e, psn_resyncs) },
		{ "psn_restarts", t->psn.resyncs, COUNT(e, psn_restarts) },
		{ "psn_strays", t->psn.strays, COUNT(e, psn_strays) },
		{ "psn_interleaved", t->psn.interleaved, COUNT(e, psn_interleaved) },
		{ "psn_late_unknown", t->psn.unknown, COUNT(e, psn_late_unknown) },
	};

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(all); i++)
		if (all[i].truth != all[i].engine)
			return all[i];
	return (struct difference){ 0 };
}

static struct difference observe_both(struct test_run *r, const struct truth_packet *p)
{
	struct roce_packet packet_ = packet(p->opcode, p->psn);
	uint32_t key = stream_key(p), family = key >> 24, number = (key & TRUTH_PSN_MASK) - FIRST_QPN;
	struct roce_stream *e = &r->stream[family][number];

	packet_.dqpn = p->dqpn;
	packet_.dma_length = p->dma_length;
	packet_.payload_bytes = p->payload_bytes;
	packet_.frame_bytes = p->frame_bytes;
	roce_observe(e, &packet_, p->icrc_good ? ICRC_GOOD : ICRC_BAD, ++r->frames, NULL);
	truth_observe(r->truth, r->of_qp[(p->dqpn - FIRST_QPN) % QPS], p);
	return compare(truth_stream(r, key), e);
}

/* ---- sequences of packets ---- */

struct sequence {
	enum test_kind kind;
	uint64_t seed, random;
	uint32_t count;
	struct truth_packet packet[2 * PACKETS + 64];
};

/* The number of packets until the first difference, and the difference; 0: none. */
static uint32_t differs_after(const struct sequence *s, struct difference *d)
{
	struct test_run *r = run_new(s->kind);
	uint32_t i;

	*d = (struct difference){ 0 };
	for (i = 0; i < s->count && !d->name; i++)
		*d = observe_both(r, &s->packet[i]);
	run_free(r);
	return d->name ? i : 0;
}

/* Removes packets that the difference does not need. */
static void reduce(struct sequence *s)
{
	struct sequence *try = malloc(sizeof(*try));
	struct difference d;

	for (uint32_t step = s->count = differs_after(s, &d); step; step /= 2) {
		for (uint32_t at = 0; at + step <= s->count;) {
			*try = *s;
			try->count -= step;
			memmove(try->packet + at, try->packet + at + step, (try->count - at) * sizeof(*try->packet));
			if (differs_after(try, &d))
				*s = *try;
			else
				at += step;
		}
	}
	free(try);
}

static void check(struct sequence *s)
{
	struct difference d;

	if (!differs_after(s, &d))
		return;
	reduce(s);
	differs_after(s, &d);
	for (uint32_t i = 0; i < s->count; i++)
		print_message("  opcode %#04x psn %#08x dqpn %u sqpn %u dma_length %u payload %u%s\n", s->packet[i].opcode,
			      s->packet[i].psn, s->packet[i].dqpn, s->packet[i].sqpn, s->packet[i].dma_length,
			      s->packet[i].payload_bytes, s->packet[i].icrc_good ? "" : " bad ICRC");
	fail_msg("seed %llu kind %d: %s: truth %llu, engine %llu", (unsigned long long)s->seed, s->kind, d.name,
		 (unsigned long long)d.truth, (unsigned long long)d.engine);
}

/* ---- random senders ---- */

static uint64_t below(struct sequence *s, uint64_t n)
{
	return fault_random(&s->random) % n;
}

static bool happens(struct sequence *s, double p)
{
	return fault_random(&s->random) >> 11 < p * (1ull << 53);
}

/* The frequency of each mistake. */
struct mistakes {
	double drop, duplicate, reorder, corrupt, jump, grammar, flip;
	uint32_t by; /* at most so many packets later */
	bool all_bad;
};

static struct mistakes any_mistakes(struct sequence *s)
{
	bool far = below(s, 4) == 0;
	double most = far ? 8e-4 : below(s, 2) ? 1e-2 : 6e-2;
	struct mistakes m = { .by = far ? 2000 : 1 + below(s, below(s, 2) ? 8 : 600) };

	m.drop = below(s, 3) ? most : 0;
	m.duplicate = below(s, 3) ? most : 0;
	m.reorder = below(s, 3) ? most : 0;
	m.corrupt = below(s, 3) ? most : 0;
	m.flip = below(s, 3) ? 0 : .3;
	m.jump = below(s, 4) ? 0 : most / 4;
	m.grammar = below(s, 4) ? 0 : most * 2;
	m.all_bad = below(s, 12) == 0;
	return m;
}

struct test_sender {
	uint32_t psn, packets /* of a message */, at, dma_length;
	uint32_t all; /* packets of every message, or 0: random */
	uint64_t made;
};

/* The next packet of a QP. */
static struct truth_packet make(struct sequence *s, struct test_sender *q, uint32_t qp, const struct mistakes *m)
{
	struct truth_packet p = { .dqpn = FIRST_QPN + qp, .sqpn = FIRST_QPN + qp, .icrc_good = !m->all_bad };
	bool first, last;

	if (q->at == 0) {
		q->packets = q->all ? q->all : 1 + below(s, 20);
		q->dma_length = q->packets * MTU - below(s, MTU);
	}
	first = q->at == 0;
	last = q->at + 1 == q->packets;
	p.payload_bytes = last ? q->dma_length - q->at * MTU : MTU;
	p.frame_bytes = 62 + p.payload_bytes;
	if (happens(s, m->grammar))
		first = !first;
	if (happens(s, m->grammar))
		last = !last;
	p.opcode = first && last ? opcodes[s->kind].only : first ? opcodes[s->kind].first :
		   last ? opcodes[s->kind].last : opcodes[s->kind].middle;
	if (s->kind == RANDOM)
		do
			p.opcode = below(s, 256);
		while (roce_opcodes[p.opcode] & OP_READ_REQUEST);
	if (roce_opcodes[p.opcode] & OP_RETH)
		p.dma_length = happens(s, m->grammar) ? below(s, 40000) : q->dma_length;
	p.psn = q->psn;
	q->psn = (q->psn + 1) & TRUTH_PSN_MASK;
	if (happens(s, m->jump))
		q->psn = (below(s, 2) ? q->psn + below(s, 70000) : below(s, 2) ? q->psn - below(s, 3000) : below(s, 1 << 24)) &
			 TRUTH_PSN_MASK;
	q->at = q->at + 1 == q->packets ? 0 : q->at + 1;
	q->made++;
	return p;
}

struct test_held {
	struct truth_packet p;
	uint32_t due, qp;
};

static void leave(struct sequence *s, struct truth_packet p, const struct mistakes *m)
{
	if (happens(s, m->corrupt)) {
		p.icrc_good = false;
		if (happens(s, m->flip))
			p.dqpn = FIRST_QPN + below(s, STREAMS);
		else if (happens(s, m->flip))
			p.psn ^= 1u << below(s, 24);
	}
	s->packet[s->count++] = p;
}

static void generate(struct sequence *s)
{
	struct test_sender sender[QPS] = { 0 };
	struct mistakes m = any_mistakes(s);
	struct test_held *held = malloc(PACKETS * sizeof(*held));
	uint32_t holding = 0, sent[QPS] = { 0 }, one_size = below(s, 2) ? 1 + below(s, 20) : 0;

	for (int i = 0; i < QPS; i++) {
		sender[i].psn = below(s, 2) ? (1 << 24) - 1 - below(s, PACKETS / QPS) : below(s, 1 << 24);
		sender[i].all = one_size;
		sender[i].at = below(s, 3) ? 0 : 1; /* starting in its middle */
		sender[i].packets = 1 + sender[i].at + below(s, 5);
		sender[i].dma_length = sender[i].packets * MTU;
	}
	for (uint32_t n = 0; n < PACKETS; n++) {
		uint32_t qp = below(s, QPS);
		struct truth_packet p = make(s, &sender[qp], qp, &m);
		uint32_t by = below(s, m.by + 1);

		if (happens(s, m.drop))
			continue;
		if (happens(s, m.reorder)) {
			held[holding++] = (struct test_held){ p, sent[qp] + by, qp };
			continue;
		}
		if (happens(s, m.duplicate))
			held[holding++] = (struct test_held){ p, sent[qp] + 1 + by, qp };
		leave(s, p, &m);
		sent[qp]++;
		for (uint32_t i = 0; i < holding;) {
			if (held[i].due > sent[held[i].qp]) {
				i++;
				continue;
			}
			leave(s, held[i].p, &m);
			held[i] = held[--holding];
		}
	}
	free(held);
}

static uint64_t only_seed;
static int only_kind = -1;

static void test_against_engine(void **state)
{
	static struct sequence sequence;
	struct sequence *s = &sequence;

	(void)state;
	for (int kind = 0; kind < KINDS; kind++) {
		for (uint64_t seed = 1; seed <= (test_long() ? SEEDS : SEEDS / 12); seed++) {
			if ((only_seed && seed != only_seed) || (only_kind >= 0 && kind != only_kind))
				continue;
			s->kind = kind;
			s->seed = seed;
			s->random = seed * 0x9e3779b97f4a7c15ull + kind + 1;
			s->count = 0;
			generate(s);
			check(s);
		}
	}
}

/* ---- the rules of UC messages, by hand ---- */

/*
 * A sequence in words: F first, M middle, L last, O only, each with its PSN. F0:3 carries the DMA length of three packets (a
 * WRITE; without it, a SEND).
 */
static const struct { const char *packets; uint64_t messages, broken; } by_hand[] = {
	{ "F0 M1 L2 O3", 2, 0 },
	{ "M5 L6 F7 M8", 0, 0 },		     /* no First at the start, no Last at the end */
	{ "F0 M2 L3 F4 L5", 1, 1 },		     /* M1 lost */
	{ "F0 M1 F3 L4", 1, 1 },		     /* L2 lost */
	{ "F0 F1 L2", 1, 1 },			     /* a missing Last */
	{ "F0 L1 M2 L3 M4 L5 F6 L7", 2, 2 },	     /* a missing First, twice */
	{ "F0 L1 M3 L4 F5 L6", 2, 1 },		     /* F2 lost */
	{ "F0 L1 F6 L7", 2, 0 },		     /* a message lost as a whole */
	{ "F0:4 M2 M6 L7", 0, 2 },		     /* M6 is beyond the length */
	{ "F0 M2 M6 L7", 0, 1 },		     /* without length: the same message */
	{ "F0 M2 L3 M6 L7", 0, 2 },		     /* but not after its Last */
	{ "F0:4 M6 M12 L13", 0, 2 },		     /* one message with a known length, one without */
	{ "F0:4 M1 M2 M3 L4", 1, 0 },		     /* a wrong length breaks nothing */
	{ "F0 F0 M1 L2", 1, 0 },		     /* the same First twice */
	{ "F0 F0 F0 L1", 1, 0 },
	{ "F0:3 F0:3 L5", 0, 2 },		     /* the same message, with the same length */
	{ "F0 M1 M1 L2", 0, 1 },
	{ "F0 M1 F0 L2", 0, 1 },		     /* the second F0 opens a message that was already counted */
	{ "F0 M1 F0 M1 L2", 1, 1 },		     /* and that the receiver may complete */
	{ "F0 M1 L2 L2 F3 L4", 2, 0 },
	{ "F0 M1 L2 L2 M4 L5", 1, 1 },		     /* F3 lost */
	{ "F0 M1 L2 F0 F3 L4", 2, 0 },
	{ "F0 M1 L2 F0 M4 L5", 1, 1 },		     /* M4 cannot belong to the message that F0 opened again */
	{ "O0 O0 O1", 3, 0 },			     /* an Only twice is two messages */
	{ "F2 M3 O0 L4", 1, 1 },		     /* an Only amid a message */
	{ "F0 L1 F4 F2 L3 L5", 2, 1 },		     /* F2 and L3 late: complete, and F4 breaks for it */
	{ "F0 L1 M3 F2 L4", 1, 1 },		     /* M3 before F2: once */
	{ "F0 L1 F4 L5 F2 F6 L7", 3, 0 },	     /* F2 late and L3 lost: as when its PSNs were skipped */
	{ "F0:9 F20 O21", 1, 2 },
	{ "F3:7 M5 F0 M6 M11", 0, 2 },		     /* a late First does not change the newest message's length */
	{ "F0 L1 M3 F2:3 M3 M9", 1, 2 },	     /* unless it is that message's First */
	{ "F0 L1 M3 F2 M3 M9", 1, 1 },
	{ "F16777214 M16777215 L0 F1 L2", 2, 0 },    /* wraps */
	{ "F16777214:3 M16777215 M1 L2", 0, 2 },
};

static void judge_by_hand(const char *packets, uint64_t messages, uint64_t broken)
{
	static const char letters[] = "FMLO";
	struct send_plan plan = { .qps = 1, .op = SEND_UC_WRITE };
	struct send_qp qp = { .qpn = FIRST_QPN };
	struct truth *t = truth_new(&plan);
	struct truth_stream *s = truth_of_qp(t, &qp);

	for (const char *at = packets; *at; at += *at == ' ') {
		uint32_t low = (const uint8_t[]){ 0, 1, 2, 4 }[strchr(letters, *at) - letters];
		struct truth_packet p = { .dqpn = FIRST_QPN, .icrc_good = true, .payload_bytes = MTU };
		char *end;

		p.psn = strtoul(at + 1, &end, 10);
		p.opcode = 0x20 + low;
		if (*end == ':') {
			p.opcode = 0x26 + low;
			p.dma_length = strtoul(end + 1, &end, 10) * MTU;
		}
		at = end;
		truth_observe(t, s, &p);
	}
	if (truth_messages(s) != messages || s->uc.broken != broken)
		fail_msg("%s: %llu messages, %llu broken", packets, (unsigned long long)truth_messages(s),
			 (unsigned long long)s->uc.broken);
	truth_free(t);
}

static void test_uc_messages(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(by_hand); i++)
		judge_by_hand(by_hand[i].packets, by_hand[i].messages, by_hand[i].broken);
}

/* ---- bounds ---- */

static void test_bounded(void **state)
{
	struct test_run *r = run_new(RC_SEND);
	struct truth_packet p = { .opcode = 0x04, .icrc_good = true, .dqpn = FIRST_QPN };
	struct truth_stream *s = r->of_qp[0];

	(void)state;
	for (p.psn = 0; p.psn < 3 * RANGES; p.psn += 2)
		truth_observe(r->truth, s, &p);
	for (p.psn = 1; p.psn < 3 * RANGES; p.psn += 2)
		truth_observe(r->truth, s, &p);
	assert_int_equal(s->psn.skipped, (3 * RANGES - 1) / 2);
	assert_int_equal(s->psn.recovered, REACH / 2); /* the others are too old */
	for (p.dqpn = FIRST_QPN + QPS; p.dqpn < FIRST_QPN + QPS + STRAYS + 5; p.dqpn++)
		truth_observe(r->truth, s, &p);
	assert_int_equal(r->truth->count, QPS + STRAYS);
	assert_int_equal(r->truth->untracked.packets, 5);
	run_free(r);
}

/* ---- the file ---- */

static char directory[64], path[80];

static int make_directory(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/test_send_truth.XXXXXX");
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/truth.json", directory);
	return 0;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink(path);
	assert_int_equal(rmdir(directory), 0); /* no other file was left */
	return 0;
}

static json_int_t integer(const json_t *o, const char *name)
{
	json_t *value = json_object_get(o, name);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static void check_figures(const json_t *o, const struct roce_stream *e)
{
	assert_int_equal(integer(o, "messages"), COUNT(e, messages));
	assert_int_equal(integer(o, "messages_broken"), COUNT(e, messages_broken));
	assert_int_equal(integer(o, "psn_gaps"), COUNT(e, psn_gaps));
	assert_int_equal(integer(o, "psn_skipped"), COUNT(e, psn_skipped));
	assert_int_equal(integer(o, "psn_recovered"), COUNT(e, psn_recovered));
	assert_int_equal(integer(o, "psn_lost"), COUNT(e, psn_skipped) - COUNT(e, psn_recovered));
	assert_int_equal(integer(o, "psn_duplicates"), COUNT(e, psn_duplicates));
	assert_int_equal(integer(o, "psn_resyncs"), COUNT(e, psn_resyncs));
	assert_int_equal(integer(o, "icrc_bad"), COUNT(e, icrc_bad));
}

static void add_stream(struct roce_stream *sum, const struct roce_stream *e, bool counts)
{
	static const int always[] = { COUNTER_roce_packets, COUNTER_bytes, COUNTER_payload_bytes, COUNTER_icrc_bad };
	static const int trusted[] = {
		COUNTER_messages, COUNTER_messages_broken, COUNTER_psn_gaps, COUNTER_psn_skipped, COUNTER_psn_recovered,
		COUNTER_psn_duplicates, COUNTER_psn_resyncs,
	};

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(always); i++)
		sum->counters.value[always[i]] += e->counters.value[always[i]];
	for (size_t i = 0; counts && i < ROCE_ARRAY_SIZE(trusted); i++)
		sum->counters.value[trusted[i]] += e->counters.value[trusted[i]];
}

static void write_and_check(enum test_kind kind, uint64_t seed)
{
	static struct sequence s;
	static struct roce_stream sum;
	struct test_run *r = run_new(kind);
	json_t *whole, *totals_, *o;
	size_t i;

	s = (struct sequence){ .kind = kind, .seed = seed, .random = seed };
	generate(&s);
	for (i = 0; i < s.count; i++)
		observe_both(r, &s.packet[i]);
	truth_observe(r->truth, r->of_qp[0], &(struct truth_packet){ .malformed = true });
	assert_true(truth_write(r->truth, path, seed % 2));

	whole = json_load_file(path, 0, NULL);
	assert_non_null(whole);
	assert_string_equal(json_string_value(json_object_get(whole, "schema")), "rocescope.truth/1");
	assert_int_equal(json_is_true(json_object_get(whole, "exact")), seed % 2);
	sum = (struct roce_stream){ 0 };
	json_array_foreach(json_object_get(whole, "streams"), i, o) {
		bool datagram = !json_is_null(json_object_get(o, "sqpn"));
		bool response = !strcmp(json_string_value(json_object_get(o, "side")), "response");
		struct roce_stream *e =
			&r->stream[datagram ? 2 : response][integer(o, datagram ? "sqpn" : "dqpn") - FIRST_QPN];
		bool trusted = json_is_true(json_object_get(o, "icrc_trusted"));

		assert_string_equal(json_string_value(json_object_get(o, "src")), "10.9.0.1");
		assert_string_equal(json_string_value(json_object_get(o, "dst")), "10.9.0.2");
		assert_int_equal(json_is_true(json_object_get(o, "estimate")), datagram);
		assert_int_equal(trusted, e->trusted);
		assert_int_equal(integer(o, "packets"), COUNT(e, roce_packets));
		check_figures(o, e);
		add_stream(&sum, e, trusted && !datagram);
	}
	totals_ = json_object_get(whole, "totals");
	check_figures(totals_, &sum);
	assert_int_equal(integer(totals_, "frames"), r->frames + 1);
	assert_int_equal(integer(totals_, "roce_packets"), r->frames);
	assert_int_equal(integer(totals_, "malformed"), 1);
	assert_int_equal(integer(totals_, "bytes"), COUNT(&sum, bytes));
	assert_int_equal(integer(totals_, "payload_bytes"), COUNT(&sum, payload_bytes));
	json_decref(whole);
	run_free(r);
}

static void test_written(void **state)
{
	(void)state;
	for (int kind = 0; kind < KINDS; kind++)
		write_and_check(kind, kind + 2);
}

/* A file that cannot be completed leaves the old one in place. */
static void test_not_written(void **state)
{
	struct rlimit unlimited, short_ = { 0 };
	struct test_run *r = run_new(UC_WRITE);
	struct truth_packet p = { .opcode = 0x2a, .icrc_good = true, .dqpn = FIRST_QPN };
	json_t *whole;

	(void)state;
	assert_true(truth_write(r->truth, path, true));
	truth_observe(r->truth, r->of_qp[0], &p);

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &unlimited);
	short_ = (struct rlimit){ 100, unlimited.rlim_max };
	setrlimit(RLIMIT_FSIZE, &short_);
	assert_false(truth_write(r->truth, path, true));
	assert_int_equal(errno, EFBIG);
	setrlimit(RLIMIT_FSIZE, &unlimited);
	whole = json_load_file(path, 0, NULL);
	assert_non_null(whole);
	assert_int_equal(json_array_size(json_object_get(whole, "streams")), 0);
	json_decref(whole);

	assert_false(truth_write(r->truth, "/dev/full", true));
	assert_int_equal(errno, ENOSPC);
	assert_false(truth_write(r->truth, "/nonexistent/truth.json", true));
	assert_int_equal(errno, ENOENT);
	assert_true(truth_write(r->truth, "/dev/null", true));
	run_free(r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uc_messages),
		cmocka_unit_test(test_against_engine),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test_setup_teardown(test_written, make_directory, remove_directory),
		cmocka_unit_test_setup_teardown(test_not_written, make_directory, remove_directory),
	};

	if (argc > 1)
		only_seed = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		only_kind = atoi(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
