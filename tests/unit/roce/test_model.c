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

enum { SEEDS = 30, SEEDS_LONG = 150, PACKETS = 8000, WINDOW = 1024, REACH = 65536 + WINDOW, LARGEST_GAP = 65535, MTU = 4096 };

enum kind { RC, UC, UD, XRC, RESPONSES, UDP, KINDS };
static const char *const kind_names[] = { "RC", "UC", "UD", "XRC", "responses", "UDP" };

/* ---- the model ---- */

struct range {
	int64_t begin, end; /* end: the first number after it */
};

/* A packet as the rules see it. */
struct arrival {
	int64_t number; /* PSN, or the number of a UDP stream */
	int64_t span;
	bool free_jump; /* a jump forward is no loss */
	bool begins;	/* a message */
	uint32_t what;	/* differs between different packets with the same number */
};

enum { TRIAL_REACH = 65536, ENOUGH = 16, LEVELS = 7 };

struct model {
	int64_t next, begin;
	bool reliable, circle, response; /* circle: numbers are 24-bit */
	struct range missing[4096]; /* oldest first */
	int count;
	int64_t unknown_before;
	uint64_t gaps, skipped, recovered, duplicates, resyncs, strays, interleaved, unknown;
	uint64_t recovered_far; /* beyond WINDOW, so that the test can check that this happened */
	uint64_t forgotten;	/* ranges, because they are too old */
	uint64_t dropped;	/* numbers that a trial could not remember */
	bool replay;
	struct {
		int64_t number;
		uint32_t what;
	} sample[1 + LEVELS];
	/* the trial: its packets, which are taken again if it wins */
	enum trial_kind trial;
	struct arrival *packets;
	size_t packet_count, packet_room;
	int64_t candidate; /* the number that continues it */
	uint32_t row;
	bool differs, at_other;
	int64_t other;
	bool has_other;
	uint32_t turns;
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

/* Forgets what is missing further back than it can remember: REACH, in a trial WINDOW. */
static void model_forget(struct model *m)
{
	int64_t reach = m->replay ? WINDOW : REACH;

	while (m->count && m->missing[0].begin < m->next - reach) {
		struct range *r = &m->missing[0];

		m->forgotten++;
		m->unknown_before = r->end < m->next - reach ? r->end : m->next - reach;
		m->dropped += m->replay ? m->unknown_before - r->begin : 0;
		r->begin = m->unknown_before;
		if (r->begin >= r->end)
			model_remove(m, 0);
	}
}

static void model_start(struct model *m, int64_t number)
{
	m->next = m->begin = number;
	m->count = 0;
	m->unknown_before = INT64_MIN;
}

/* Signed distance on the circle. */
static int64_t model_distance(const struct model *m, int64_t from, int64_t to)
{
	int64_t d = to - from;

	if (!m->circle)
		return d;
	d = (d % (1 << 24) + (1 << 24)) % (1 << 24);
	return d >= 1 << 23 ? d - (1 << 24) : d;
}

enum fate { NEW, RECOVERED, SEEN };

/* Takes a packet at this number, which is not too far away. */
static enum fate model_place(struct model *m, const struct arrival *p, int64_t at)
{
	int64_t found;

	if (at < m->next) {
		found = model_find(m, at, at + p->span < m->next ? at + p->span : m->next);
		m->recovered += found;
		m->recovered_far += at < m->next - WINDOW ? found : 0;
		if (found)
			return RECOVERED;
		if (at < m->unknown_before)
			m->unknown++;
		else
			m->duplicates++;
		return SEEN;
	}
	if (at > m->next && !p->free_jump) {
		m->gaps++;
		m->skipped += at - m->next;
		model_insert(m, m->count, (struct range){ m->next, at });
	}
	m->next = at + p->span;
	model_forget(m);
	return NEW;
}

static void model_sample(struct model *m, const struct arrival *p, int64_t at)
{
	int level = 1;

	if (!m->reliable || m->response || (at != m->begin && at % 256))
		return;
	for (int64_t n = at / 256; level < LEVELS && n % 4 == 0; n /= 4)
		level++;
	if (at == m->begin)
		level = 0;
	m->sample[level].number = at;
	m->sample[level].what = p->what;
}

static void trial_add(struct model *m, const struct arrival *p, int64_t at)
{
	if (m->packet_count == m->packet_room) {
		m->packet_room = m->packet_room ? 2 * m->packet_room : 64;
		m->packets = realloc(m->packets, m->packet_room * sizeof(*m->packets));
		assert_non_null(m->packets);
	}
	m->packets[m->packet_count] = *p;
	m->packets[m->packet_count++].number = at;
	m->row = at == m->candidate ? m->row + 1 : 0;
	if (at + p->span > m->candidate || m->packet_count == 1)
		m->candidate = at + p->span;
}

static void trial_begin(struct model *m, enum trial_kind kind, const struct arrival *p, int64_t at)
{
	int64_t ahead = m->has_other ? model_distance(m, m->other, at) : -1;

	m->trial = kind;
	m->packet_count = 0;
	m->differs = false;
	m->at_other = ahead >= 0 && ahead <= WINDOW;
	m->candidate = at - 1;
	trial_add(m, p, at);
}

static void trial_lose(struct model *m)
{
	if (m->trial == TRIAL_GAP || m->trial == TRIAL_ELSEWHERE) {
		*(m->at_other ? &m->interleaved : &m->strays) += m->packet_count;
		m->other = m->candidate;
		m->has_other = true;
	}
	m->trial = TRIAL_NONE;
}

/* Starts again with the first packet of the trial. */
static void trial_wins(struct model *m)
{
	uint64_t duplicates = m->duplicates, unknown = m->unknown;

	m->resyncs++;
	m->turns += m->at_other && m->turns < 8;
	m->other = m->next;
	m->has_other = true;
	m->trial = TRIAL_NONE;
	memset(m->sample, 0, sizeof(m->sample));
	model_start(m, m->packets[0].number);
	m->replay = true;
	for (size_t i = 0; i < m->packet_count; i++) {
		bool next = m->packets[i].number == m->next;

		model_place(m, &m->packets[i], m->packets[i].number);
		if (next)
			model_sample(m, &m->packets[i], m->packets[i].number);
	}
	m->replay = false;
	m->duplicates = duplicates; /* they were duplicates when they came */
	m->unknown = unknown;
}

static void trial_seen_before(struct model *m, const struct arrival *p, int64_t at)
{
	int64_t d = at - m->candidate;
	bool wins = false;

	if (!m->trial && at + 1 == m->next)
		return; /* the newest one again */
	if (m->trial && (m->reliable ? d >= -WINDOW && d <= WINDOW : d == 0)) {
		trial_add(m, p, at);
	} else if (m->circle && (m->reliable || p->begins)) {
		trial_begin(m, TRIAL_AGAIN, p, at);
	} else {
		m->trial = TRIAL_NONE;
		return;
	}
	for (int i = 0; i <= LEVELS; i++)
		if (m->sample[i].what && m->sample[i].number == at && m->sample[i].what != p->what)
			m->differs = true;
	if (m->reliable)
		wins = (m->differs && m->row) ||
		       (m->packets[0].begins && m->packets[0].number < m->begin && m->row >= ENOUGH - 1);
	else
		wins = m->row >= 2;
	if (wins)
		trial_wins(m);
}

static enum trial_kind model_kind(const struct model *m, const struct arrival *p, int64_t d)
{
	if (d > 0 && p->free_jump)
		return TRIAL_NONE;
	if (d > LARGEST_GAP)
		return TRIAL_ELSEWHERE;
	if (d > WINDOW)
		return TRIAL_GAP;
	if (d >= -REACH || (m->reliable && (m->response || d >= -(1 << 22))))
		return TRIAL_NONE;
	return TRIAL_ELSEWHERE;
}

/* A packet that would carry the sequence off. Returns whether it waits. */
static bool model_waits(struct model *m, const struct arrival *p, int64_t at, enum trial_kind kind)
{
	uint32_t enough = m->at_other ? 1u << 2 * m->turns : 1;
	struct arrival first;
	int64_t d = model_distance(m, m->candidate, at);

	if (m->trial == TRIAL_GAP && (kind == TRIAL_GAP || (at >= m->packets[0].number &&
							    at - m->packets[0].number <= LARGEST_GAP))) {
		if (at == m->packets[0].number)
			return true;
		first = m->packets[0];
		m->trial = TRIAL_NONE;
		model_place(m, &first, first.number);
		kind = model_kind(m, p, model_distance(m, m->next, p->number));
		if (kind)
			trial_begin(m, kind, p, at);
		return kind;
	}
	if (m->trial == TRIAL_ELSEWHERE && d >= -TRIAL_REACH && d <= LARGEST_GAP) {
		trial_add(m, p, m->candidate + d);
		if (m->row >= enough || m->packet_count >= ENOUGH * enough)
			trial_wins(m);
		return true;
	}
	trial_lose(m);
	trial_begin(m, kind, p, at);
	return true;
}

static void model_take(struct model *m, const struct arrival *p)
{
	int64_t d = model_distance(m, m->next, p->number), at = m->next + d;
	enum trial_kind kind = model_kind(m, p, d);
	enum fate fate;

	if (m->response && p->begins && d < -REACH) {
		model_start(m, at);
		m->trial = TRIAL_NONE;
	}
	if (!kind || !model_waits(m, p, at, kind)) {
		fate = model_place(m, p, at);
		if (fate == NEW) {
			model_sample(m, p, at);
			m->turns -= m->turns && at % 65536 == 0;
		}
		if ((m->trial == TRIAL_GAP && m->next > m->packets[0].number) || m->trial == TRIAL_ELSEWHERE ||
		    (m->trial == TRIAL_AGAIN && fate != SEEN && !(fate == RECOVERED && m->reliable)))
			trial_lose(m);
		else if (m->trial == TRIAL_AGAIN || (!m->trial && fate == SEEN))
			trial_seen_before(m, p, at);
	}
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

#define SAME(what, engine, model) do { if ((engine) != (model)) differ(x, what, engine, model); } while (0)
	SAME("next", s->psn.next, (uint64_t)m->next);
	SAME("gaps", COUNT(s, psn_gaps), m->gaps);
	SAME("skipped", COUNT(s, psn_skipped), m->skipped);
	SAME("recovered", COUNT(s, psn_recovered), m->recovered);
	SAME("duplicates", COUNT(s, psn_duplicates), m->duplicates);
	SAME("resyncs", COUNT(s, psn_resyncs), m->resyncs);
	SAME("restarts", COUNT(s, psn_restarts), m->resyncs);
	SAME("strays", COUNT(s, psn_strays), m->strays);
	SAME("interleaved", COUNT(s, psn_interleaved), m->interleaved);
	SAME("unknown", COUNT(s, psn_late_unknown), m->unknown);
	SAME("forgotten", COUNT(s, psn_forgotten), m->dropped);
	SAME("trial", s->trial, m->trial);
#undef SAME
}

static uint64_t below(struct pair *x, uint64_t n)
{
	return random_next(&x->r) % n;
}

/* A packet with that number arrives, a READ request if span > 1. what: sets it apart from another one with that number. */
static void come_as(struct pair *x, int64_t number, int64_t span, uint32_t what)
{
	struct arrival arrival = { .number = number, .span = span, .begins = true, .what = 1 + what + (span > 1 ? number + span : 0) };
	static const __u8 opcodes[] = { [RC] = 0x04, [UC] = 0x24, [UD] = 0x64, [XRC] = 0xa4, [RESPONSES] = 0x10 };
	struct roce_packet p;
	bool free_jump = false;

	if (x->kind == UDP) {
		p = (struct roce_packet){ .kind = ROCE_UDP, .service = SERVICE_UDP, .number = number, .run = x->run };
	} else {
		p = packet(opcodes[x->kind], number & 0xffffff);
		if (span > 1)
			p = read_request(number & 0xffffff, span * MTU);
		if (x->kind == RESPONSES) {
			free_jump = below(x, 4) == 0;
			if (!free_jump)
				p = packet(0x0e, number & 0xffffff);
			arrival.begins = free_jump;
		}
		p.rkey = what;
		if (span > 1)
			p.va = number * MTU; /* a READ that is sent again ends at the same place */
	}
	arrival.free_jump = free_jump;
	if (x->packets == 0)
		model_start(&x->m, p.number);
	model_take(&x->m, &arrival);
	engine_observe(&x->s, &p, x->kind == UDP ? ICRC_UNCHECKED : ICRC_GOOD, 0, NULL);
	compare(x);
	x->packets++;
}

static void come(struct pair *x, int64_t number, int64_t span)
{
	come_as(x, number, span, 0);
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
	int64_t span = 2 + (below(x, 20) ? much(x) : (int64_t)below(x, 500000)), skip, at;

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

static int64_t elsewhere(struct pair *x)
{
	switch (below(x, 6)) {
	case 0: return x->sent + 65536 + below(x, 1 << 22);
	case 1: return x->sent + 65530 + below(x, 12);
	case 2: return x->sent - below(x, 1 << 22);
	case 3: return x->sent - below(x, 2000);
	case 4: return x->sent - REACH - 5 + below(x, 10);
	default: return random_next(&x->r) & (x->kind == UDP ? ~0ull >> 8 : PSN_MASK);
	}
}

/* The sender continues elsewhere, perhaps with losses; or it was a stray. */
static void restart(struct pair *x)
{
	uint32_t what = below(x, 3);
	int64_t n = 1 + below(x, below(x, 3) ? 4 : 40);

	x->sent = elsewhere(x);
	if (x->kind == UDP && below(x, 2)) {
		x->run++;
		x->m.trial = TRIAL_NONE;
		model_start(&x->m, x->sent);
	}
	for (; n; n--, x->sent += 1 + (below(x, 10) ? 0 : below(x, 30)))
		come_as(x, x->sent, 1, what);
}

/* Older packets than can be remembered. */
static void repeat_old(struct pair *x)
{
	int64_t at = x->sent - REACH - 5 + below(x, 10) - below(x, 3) * below(x, 5000);

	for (int64_t n = 1 + below(x, 5); n; n--)
		come(x, at++, 1);
}

/* Packets near each other, far from the others, and none after the other. */
static void scatter(struct pair *x)
{
	int64_t base = elsewhere(x);

	for (int64_t n = below(x, 40); n; n--)
		come(x, base + below(x, 60000), 1);
}

/* Two senders on one QPN. */
static void interleave(struct pair *x)
{
	int64_t at[] = { x->sent, elsewhere(x) };
	int64_t longest = 1 + below(x, 20);

	if (!below(x, 2)) /* they come to a number that 65536 divides, where turns are forgotten */
		at[1] -= (at[1] & 0xffff) - 0x10000 + below(x, 40);
	for (int64_t turns = below(x, 20); turns; turns--)
		for (int64_t n = 1 + below(x, longest); n; n--, at[turns & 1]++)
			if (below(x, 50))
				come(x, at[turns & 1], 1);
}

/* Eight paths with different delays. */
static void spray(struct pair *x)
{
	int64_t delay[8], count = 1 + below(x, 100), most = below(x, 3) ? 60 : 12000;

	for (int i = 0; i < 8; i++)
		delay[i] = below(x, most);
	for (int64_t time = 0; time < count + most; time++)
		for (int i = 0; i < 8; i++) {
			int64_t n = time - delay[i];

			if (n >= 0 && n < count)
				come(x, x->sent + 8 * n + i, 1);
		}
}

static struct model run(enum kind kind, uint64_t seed)
{
	void (*const actions[])(struct pair *) = {
		in_order, in_order, lose, lose, lose_many, repeat, find, find, find, swap, swap, go_back, send_read, send_read,
		spray,
	};
	void (*const disturbs[])(struct pair *) = { restart, restart, repeat_old, scatter, interleave };
	struct pair *x = calloc(1, sizeof(*x));
	struct model m;

	x->kind = kind;
	x->seed = seed;
	x->r = seed * KINDS + kind + 1;
	x->m.reliable = kind == RC || kind == XRC || kind == RESPONSES;
	x->m.response = kind == RESPONSES;
	x->m.circle = kind != UDP;
	x->sent = random_next(&x->r) & PSN_MASK;
	if (below(x, 2)) /* wraps soon */
		x->sent |= 0xfff000;
	if (has_reads(x)) { /* a First, which gives the path MTU */
		struct roce_packet first = packet(kind == RC ? 0x00 : 0xa0, x->sent);

		first.payload_bytes = MTU;
		observe(&x->s, first);
		model_start(&x->m, x->sent);
		model_take(&x->m, &(struct arrival){ .number = x->sent++, .span = 1, .begins = true, .what = 9 });
		x->packets++;
	}
	while (x->packets < PACKETS) {
		if (below(x, 25) == 0)
			disturbs[below(x, ROCE_ARRAY_SIZE(disturbs))](x);
		else
			actions[below(x, ROCE_ARRAY_SIZE(actions))](x);
		x->sent = x->m.next; /* RC takes a packet far behind for a duplicate: then the sequence stays where it was */
	}
	m = x->m;
	free(m.packets);
	far_give(&x->s.psn);
	free(x);
	return m;
}

static uint64_t only_seed;

static void run_kind(enum kind kind)
{
	uint64_t recovered_far = 0, forgotten = 0, duplicates = 0, resyncs = 0, strays = 0, interleaved = 0, unknown = 0;
	uint64_t last = only_seed ? only_seed : test_long() ? SEEDS_LONG : SEEDS;

	for (uint64_t seed = only_seed ? only_seed : 1; seed <= last; seed++) {
		struct model m = run(kind, seed);

		recovered_far += m.recovered_far;
		forgotten += m.forgotten;
		duplicates += m.duplicates;
		resyncs += m.resyncs;
		strays += m.strays;
		interleaved += m.interleaved;
		unknown += m.unknown;
	}
	/* the cases to be tested did occur */
	if (!only_seed) {
		assert_true(recovered_far > 20 * last && forgotten > last && duplicates > 20 * last);
		assert_true(resyncs > last / 3 && strays > last / 3 && interleaved > last / 20 && unknown > last / 20);
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
