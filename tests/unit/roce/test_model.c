// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 2 s, long 14 s
/*
 * The PSN rules compared with a simple model: every missing range of numbers, in one sorted list. Random senders on random
 * wires. After each packet the engine's counters and remembered holes must equal the model's.
 *
 * By default with a tenth of the seeds, in `make test-long` with all.
 *
 *     test_model [SEED]    only that seed
 */
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/frame.h"
#include "tests/unit/long.h"
#include "tests/unit/packets.h"

enum { SEEDS = 15, SEEDS_LONG = 150, PACKETS = 8000, REACH = 1024, RANGES = 20, LARGEST_GAP = 65535, MTU = 1024 };

enum kind { RC, UC, UD, XRC, RESPONSES, UDP, KINDS };
static const char *const kind_names[] = { "RC", "UC", "UD", "XRC", "responses", "UDP" };

/* ---- the model ---- */

struct range {
	int64_t begin, end; /* end: the first number after it */
};

struct model {
	int64_t next;
	bool reliable, circle; /* circle: numbers are 24-bit */
	struct range missing[4096]; /* oldest first */
	int count;
	uint64_t gaps, skipped, recovered, duplicates, resyncs;
	uint64_t recovered_far; /* beyond REACH, so that the test can check that this happened */
	uint64_t forgotten;
};

static void model_remove(struct model *m, int i)
{
	m->count--;
	memmove(&m->missing[i], &m->missing[i + 1], (m->count - i) * sizeof(m->missing[0]));
}

static void model_insert(struct model *m, int i, struct range r)
{
	if (r.begin >= r.end)
		return;
	assert_true(m->count < (int)ROCE_ARRAY_SIZE(m->missing));
	memmove(&m->missing[i + 1], &m->missing[i], (m->count - i) * sizeof(m->missing[0]));
	m->missing[i] = r;
	m->count++;
}

/* Counts the missing numbers among begin..end-1 and removes them. */
static int64_t model_find(struct model *m, int64_t begin, int64_t end)
{
	int64_t found = 0;

	for (int i = m->count - 1; i >= 0; i--) {
		struct range r = m->missing[i], before = r, after = r;

		if (r.end <= begin || r.begin >= end)
			continue;
		before.end = begin;
		after.begin = end;
		found += r.end - r.begin;
		found -= before.end > before.begin ? before.end - before.begin : 0;
		found -= after.end > after.begin ? after.end - after.begin : 0;
		model_remove(m, i);
		model_insert(m, i, after);
		model_insert(m, i, before);
	}
	return found;
}

/* Keeps at most RANGES missing ranges that lie, in whole or in part, further back than REACH. */
static void model_forget(struct model *m)
{
	int far = 0;

	for (int i = 0; i < m->count; i++)
		far += m->missing[i].begin < m->next - REACH;
	for (; far > RANGES; far--, m->forgotten++)
		model_remove(m, 0);
}

static void model_start(struct model *m, int64_t number)
{
	m->next = number;
	m->count = 0;
}

/* free_jump: a jump forward is no loss. */
static void model_take(struct model *m, uint64_t number, int64_t span, bool free_jump)
{
	int64_t d = (int64_t)(number - (uint64_t)m->next), at, found;

	if (m->circle) {
		d = (int64_t)(((int64_t)number - m->next) % (1 << 24) + (1 << 24)) % (1 << 24);
		d -= d >= 1 << 23 ? 1 << 24 : 0;
	}
	at = m->next + d;
	if (d < 0) {
		found = model_find(m, at, at + span < m->next ? at + span : m->next);
		m->recovered += found;
		m->recovered_far += at < m->next - REACH ? found : 0;
		if (found) {
			model_forget(m);
			return;
		}
		if (m->reliable || d >= -REACH) {
			m->duplicates++;
			return;
		}
	}
	if (d < 0 || (d > LARGEST_GAP && !free_jump)) {
		m->resyncs++;
		model_start(m, at);
	} else if (d > 0 && !free_jump) {
		m->gaps++;
		m->skipped += d;
		model_insert(m, m->count, (struct range){ m->next, at });
	}
	m->next = at + span;
	model_forget(m);
}

/* ---- the engine beside it ---- */

struct pair {
	struct model m;
	struct roce_stream s;
	enum kind kind;
	uint64_t r; /* state of the random numbers */
	uint64_t seed;
	int64_t sent; /* the sender's next new number */
	uint32_t run;
	int packets;
};

static void differ(const struct pair *x, const char *what, uint64_t engine, uint64_t model)
{
	fail_msg("seed %llu, %s, packet %d: %s: %llu, model: %llu", (unsigned long long)x->seed, kind_names[x->kind],
		 x->packets, what, (unsigned long long)engine, (unsigned long long)model);
}

static void compare(const struct pair *x)
{
	const struct model *m = &x->m;
	const struct roce_stream *s = &x->s;
	int h = 0;

#define SAME(what, engine, model) do { if ((engine) != (model)) differ(x, what, engine, model); } while (0)
	SAME("next", s->psn.next, (uint64_t)m->next);
	SAME("gaps", COUNT(s, psn_gaps), m->gaps);
	SAME("skipped", COUNT(s, psn_skipped), m->skipped);
	SAME("recovered", COUNT(s, psn_recovered), m->recovered);
	SAME("duplicates", COUNT(s, psn_duplicates), m->duplicates);
	SAME("resyncs", COUNT(s, psn_resyncs), m->resyncs);
	for (int i = m->count - 1; i >= 0; i--) {
		struct range r = m->missing[i];

		if (r.begin >= m->next - REACH)
			continue;
		if (r.end > m->next - REACH)
			r.end = m->next - REACH;
		SAME("holes", h, h < PSN_HOLES ? h : -1);
		SAME("a hole's first number", s->psn.hole[h].from, (uint64_t)r.begin);
		SAME("a hole's numbers", s->psn.hole[h].count, (uint64_t)(r.end - r.begin));
		h++;
	}
	if (h < PSN_HOLES)
		SAME("numbers of a hole too many", s->psn.hole[h].count, 0);
#undef SAME
}

static uint64_t below(struct pair *x, uint64_t n)
{
	return random_next(&x->r) % n;
}

/* A packet with that number arrives, a READ request if span > 1. */
static void come(struct pair *x, int64_t number, int64_t span)
{
	static const __u8 opcodes[] = { [RC] = 0x04, [UC] = 0x24, [UD] = 0x64, [XRC] = 0xa4, [RESPONSES] = 0x10 };
	struct roce_packet p;
	bool free_jump = false;

	if (x->kind == UDP) {
		p = (struct roce_packet){ .kind = ROCE_UDP, .service = SERVICE_UDP, .number = number, .run = x->run };
	} else {
		p = packet(opcodes[x->kind], number & 0xffffff);
		if (span > 1)
			p = read_request(number & 0xffffff, (span - 1) * MTU + 1 + below(x, MTU));
		if (x->kind == RESPONSES) {
			free_jump = below(x, 4) == 0;
			if (!free_jump)
				p = packet(0x0e, number & 0xffffff);
		}
	}
	if (x->packets == 0)
		model_start(&x->m, p.number);
	model_take(&x->m, p.number, span, free_jump);
	engine_observe(&x->s, &p, x->kind == UDP ? ICRC_UNCHECKED : ICRC_GOOD, 0, NULL);
	compare(x);
	x->packets++;
}

/* A random amount: usually small, sometimes more than a window, rarely more than can be in flight. */
static int64_t much(struct pair *x)
{
	switch (below(x, 12)) {
	case 0: return below(x, 66500);
	case 1: case 2: return below(x, 3000);
	case 3: case 4: return 1000 + below(x, 50);
	default: return below(x, 70);
	}
}

static bool has_reads(const struct pair *x)
{
	return x->kind == RC || x->kind == XRC;
}

/* ---- behaviour of senders and wires ---- */

static void in_order(struct pair *x)
{
	for (int64_t n = 1 + below(x, 100); n; n--)
		come(x, x->sent++, 1);
}

static void lose(struct pair *x)
{
	x->sent += 1 + much(x);
	come(x, x->sent++, 1);
}

/* Loses about every second packet: many holes. */
static void lose_many(struct pair *x)
{
	int one_in = 2 + below(x, 6);

	for (int64_t n = 1 + below(x, 300); n; n--, x->sent++)
		if (below(x, one_in))
			come(x, x->sent, 1);
}

static void repeat(struct pair *x)
{
	int64_t back = 1 + much(x);

	for (int64_t n = 1 + below(x, 5); n && back; n--, back--)
		come(x, x->sent - back, 1);
}

/* Missing packets arrive, in either order. */
static void find(struct pair *x)
{
	for (int64_t n = 1 + below(x, 20); n && x->m.count; n--) {
		struct range r = x->m.missing[below(x, x->m.count)];
		int64_t at = r.begin + below(x, 3) * (r.end - 1 - r.begin) / 2;

		come(x, at, 1);
	}
}

static void swap(struct pair *x)
{
	int64_t late = 1 + below(x, 10) + (below(x, 8) ? 0 : much(x) % 3000);
	int64_t held = x->sent++;

	while (late--)
		come(x, x->sent++, 1);
	come(x, held, 1);
}

/* The sender goes back and sends everything again, of which some is lost again. */
static void go_back(struct pair *x)
{
	int64_t step = 1 + (below(x, 3) ? 0 : much(x) % 500), from = x->sent - 1 - much(x);

	for (int n = 0; from < x->sent && n < 3000; n++, from += step)
		if (below(x, 20))
			come(x, from, 1);
}

static void send_read(struct pair *x)
{
	int64_t span = 2 + (below(x, 20) ? much(x) : (int64_t)below(x, 2000000)), skip, at;

	if (!has_reads(x))
		return;
	if (below(x, 4)) { /* it arrives, perhaps twice, whole or from inside its span */
		come(x, x->sent, span);
		x->sent += span;
		if (below(x, 3) == 0) {
			skip = below(x, span);
			come(x, x->sent - span + skip, span - skip);
		}
		return;
	}
	at = x->sent; /* it arrives late, whole or from inside its span */
	x->sent += span;
	for (int64_t n = 1 + much(x) % 3000; n; n--)
		come(x, x->sent++, 1);
	skip = below(x, 2) ? below(x, span) : 0;
	if (below(x, 4))
		come(x, at + skip, span - skip);
}

static void restart(struct pair *x)
{
	switch (below(x, 4)) {
	case 0: x->sent += 65536 + below(x, 1 << 22); break;
	case 1: x->sent += 65530 + below(x, 12); break;
	case 2: x->sent -= below(x, 1 << 22); break;
	case 3: x->sent = random_next(&x->r) & (x->kind == UDP ? ~0ull >> 8 : PSN_MASK); break;
	}
	if (x->kind == UDP && below(x, 2)) {
		x->run++;
		model_start(&x->m, x->sent);
	}
	come(x, x->sent++, 1);
}

static struct model run(enum kind kind, uint64_t seed)
{
	void (*const actions[])(struct pair *) = {
		in_order, in_order, lose, lose, lose_many, repeat, find, find, find, swap, swap, go_back, send_read, send_read,
	};
	struct pair *x = calloc(1, sizeof(*x));
	struct model m;

	x->kind = kind;
	x->seed = seed;
	x->r = seed * KINDS + kind + 1;
	x->m.reliable = kind == RC || kind == XRC || kind == RESPONSES;
	x->m.circle = kind != UDP;
	x->sent = random_next(&x->r) & PSN_MASK;
	if (below(x, 2)) /* wraps soon */
		x->sent |= 0xfff000;
	if (has_reads(x)) { /* a First, which gives the path MTU */
		observe(&x->s, packet(kind == RC ? 0x00 : 0xa0, x->sent));
		model_start(&x->m, x->sent++);
		model_take(&x->m, x->m.next, 1, false);
		x->packets++;
	}
	while (x->packets < PACKETS) {
		if (below(x, 150) == 0)
			restart(x);
		else
			actions[below(x, ROCE_ARRAY_SIZE(actions))](x);
		x->sent = x->m.next; /* RC takes a packet far behind for a duplicate: then the sequence stays where it was */
	}
	m = x->m;
	free(x);
	return m;
}

static uint64_t only_seed;

static void run_kind(enum kind kind)
{
	uint64_t recovered_far = 0, forgotten = 0, duplicates = 0, resyncs = 0;
	uint64_t last = only_seed ? only_seed : test_long() ? SEEDS_LONG : SEEDS;

	for (uint64_t seed = only_seed ? only_seed : 1; seed <= last; seed++) {
		struct model m = run(kind, seed);

		recovered_far += m.recovered_far;
		forgotten += m.forgotten;
		duplicates += m.duplicates;
		resyncs += m.resyncs;
	}
	/* the cases to be tested did occur */
	if (!only_seed) {
		assert_true(recovered_far > 20 * last && forgotten > 20 * last && duplicates > 20 * last);
		assert_true(resyncs > last / 3);
	}
}

static void rc(void **state) { (void)state; run_kind(RC); }
static void uc(void **state) { (void)state; run_kind(UC); }
static void ud(void **state) { (void)state; run_kind(UD); }
static void xrc(void **state) { (void)state; run_kind(XRC); }
static void responses(void **state) { (void)state; run_kind(RESPONSES); }
static void udp(void **state) { (void)state; run_kind(UDP); }

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rc), cmocka_unit_test(uc), cmocka_unit_test(ud), cmocka_unit_test(xrc),
		cmocka_unit_test(responses), cmocka_unit_test(udp),
	};

	only_seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 0;
	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
