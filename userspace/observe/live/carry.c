// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "roce/observe.h"
#include "userspace/observe/live/carry.h"
#include "userspace/observe/live/maps.h"

#define GUARD_TRIES 100000000 /* some tenths of a second; a CPU holds the guard for less than a microsecond */

struct carry_base {
	struct roce_counters counters;
	__u32 lint[ROCE_LINTS];
};

/* Finds the moves of a map, if there is an old one. false: no memory, or the kernel does not tell its size. */
static bool find_moves(struct carry_map *m)
{
	struct bpf_map_info info;

	if (m->old < 0)
		return true;
	if (!maps_info(m->old, &info))
		return false;
	m->moves = layout_moves(m->old_layout, m->layout, info.value_size, &m->move_count);
	return m->moves;
}

/* ---- totals ---- */

/* Sums all entries of the old map. */
static bool add_old(const struct carry_map *m, struct roce_totals *sum)
{
	struct bpf_map_info info;
	void *memory;
	bool good;

	if (!maps_info(m->old, &info))
		return false;
	memory = malloc(info.value_size);
	good = memory;
	for (__u32 i = 0; good && i < info.max_entries; i++) {
		struct totals_value value = { 0 };

		good = !bpf_map_lookup_elem(m->old, &i, memory);
		layout_move(m->moves, good ? m->move_count : 0, memory, &value);
		roce_add_totals(sum, &value.totals);
	}
	free(memory);
	return good;
}

/* Adds to the entry in which no CPU counts. */
static bool put_totals(int map, const struct roce_totals *more)
{
	struct totals_value value;
	struct bpf_map_info info;
	__u32 last;

	if (!maps_info(map, &info))
		return false;
	last = info.max_entries - 1;
	if (bpf_map_lookup_elem(map, &last, &value))
		return false;
	roce_add_totals(&value.totals, more);
	return !bpf_map_update_elem(map, &last, &value, BPF_ANY);
}

/* ---- streams ---- */

/* The number of places in use. */
static bool count_given(const struct carry *c, __u32 *given)
{
	struct table_state state;
	struct bpf_map_info info;
	__u32 zero = 0;

	if (!maps_info(c->table, &info))
		return false;
	if (info.value_size != sizeof(state)) { /* another build's: takes all places, although some are unused */
		if (!maps_info(c->streams.old, &info))
			return false;
		*given = info.max_entries;
		return true;
	}
	if (bpf_map_lookup_elem(c->table, &zero, &state))
		return false;
	*given = state.given;
	return true;
}

struct memory {
	char *bytes;
	size_t value, length;
};

static bool map_memory(int map, __u32 count, int protection, struct memory *m)
{
	struct bpf_map_info info;

	*m = (struct memory){ 0 };
	if (!count)
		return true;
	if (!maps_info(map, &info))
		return false;
	m->value = (info.value_size + 7) / 8 * 8;
	m->length = m->value * count;
	m->bytes = mmap(NULL, m->length, protection, MAP_SHARED, map, 0);
	return m->bytes != MAP_FAILED;
}

static void unmap_memory(const struct memory *m)
{
	if (m->length && m->bytes && m->bytes != MAP_FAILED)
		munmap(m->bytes, m->length);
}

/* A consistent copy of a stream of the old map, in this build's layout. buffer: room for an old value. */
static void read_old(const struct carry *c, const struct memory *old, __u32 place, void *buffer, struct stream_value *to)
{
	*to = (struct stream_value){ 0 };
	maps_copy_stream(old->bytes + place * old->value, buffer, old->value);
	layout_move(c->streams.moves, c->streams.move_count, buffer, to);
}

static bool is_used(const struct stream_value *v)
{
	return v->key.kind != KEY_NONE && v->stream.used;
}

/* Copies to a place that no program uses yet. */
static void copy_one(struct stream_value *from, struct stream_value *to, struct carry_base *base)
{
	*base = (struct carry_base){ .counters = from->stream.counters };
	memcpy(base->lint, from->stream.lint, sizeof(base->lint));
	if (!is_used(from))
		return;
	roce_begin_anew(&from->stream);
	to->key = from->key;
	to->stream = from->stream;
}

/*
 * Compares the members of struct roce_stream that roce_begin_anew() clears, but for lint_state: of its members 0 means not known, so that
 * one more does not end a sequence.
 */
static bool has_same_sequence(const struct carry_map *m)
{
	static const char *const members[] = { "stream.psn.", "stream.message.", "stream.asked." };
	bool same = true;

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(members); i++)
		same &= layout_shares(m->old_layout, m->layout, members[i]);
	return same;
}

bool carry_begin(struct carry *c)
{
	struct memory old = { 0 }, now = { 0 };
	struct stream_value value;
	void *buffer = NULL;
	bool good;

	if (!find_moves(&c->totals) || !find_moves(&c->streams))
		return false;
	if (!c->in_place || !c->streams.move_count)
		return true;
	c->same_sequence = has_same_sequence(&c->streams);
	if (!count_given(c, &c->copied))
		return false;
	good = map_memory(c->streams.old, c->copied, PROT_READ, &old) &&
	       map_memory(c->streams.now, c->copied, PROT_READ | PROT_WRITE, &now);
	c->base = calloc(c->copied + 1, sizeof(*c->base));
	buffer = malloc(old.value + 1);
	good = good && c->base && buffer;
	for (__u32 i = 0; good && i < c->copied; i++) {
		read_old(c, &old, i, buffer, &value);
		copy_one(&value, (struct stream_value *)(now.bytes + i * now.value), &c->base[i]);
	}
	free(buffer);
	unmap_memory(&old);
	unmap_memory(&now);
	return good;
}

/* As in bpf/guard.h. false: the guard could not be taken. */
static bool guard_take(struct stream_value *v)
{
	for (int i = 0; i < GUARD_TRIES; i++) {
		__u32 sequence = __atomic_load_n(&v->sequence, __ATOMIC_RELAXED);

		if (!(sequence & 1) && __atomic_compare_exchange_n(&v->sequence, &sequence, sequence + 1, false,
								   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return true;
	}
	return false;
}

static void guard_release(struct stream_value *v)
{
	__atomic_store_n(&v->sequence, v->sequence + 1, __ATOMIC_RELEASE);
}

static bool same_key(const struct roce_key *a, const struct roce_key *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* 0 if trust has begun since and reset the counters: then the old counts are void. */
static __u64 risen(__u64 now, __u64 before)
{
	return now > before ? now - before : 0;
}

static void add_since(struct roce_stream *to, const struct roce_stream *last, const struct carry_base *base)
{
	for (int c = 0; c < ROCE_STREAM_COUNTERS; c++)
		to->counters.value[c] += risen(last->counters.value[c], base->counters.value[c]);
	for (int i = 0; i < ROCE_LINTS; i++)
		stream_lint_add(&to->lint[i], risen(last->lint[i], base->lint[i]));
}

/*
 * last: the old stream, as the old programs left it. base: its counts when it was copied. false: the sequence restarts, or did
 * so when the new programs saw a packet.
 */
static bool complete_one(const struct carry *c, struct stream_value *last, struct stream_value *to,
			 const struct carry_base *base)
{
	bool untouched;

	if (!guard_take(to))
		return false;
	untouched = to->sequence == 1; /* no CPU has taken the guard before */
	if (untouched) {
		if (!c->same_sequence)
			roce_begin_anew(&last->stream);
		to->key = last->key;
		to->stream = last->stream;
	} else if (same_key(&to->key, &last->key)) {
		add_since(&to->stream, &last->stream, base);
	}
	guard_release(to);
	return untouched && c->same_sequence;
}

/* Completes streams that keep their places. */
static bool complete(struct carry *c, __u32 given)
{
	static const struct carry_base none;
	struct memory old, now = { 0 };
	struct stream_value last;
	bool good = map_memory(c->streams.old, given, PROT_READ, &old) &&
		    map_memory(c->streams.now, given, PROT_READ | PROT_WRITE, &now);
	void *buffer = malloc(old.value + 1);

	good = good && buffer;
	for (__u32 i = 0; good && i < given; i++) {
		const struct carry_base *base = i < c->copied ? &c->base[i] : &none;

		read_old(c, &old, i, buffer, &last);
		if (!is_used(&last))
			continue;
		c->kept++;
		c->begun += !complete_one(c, &last, (struct stream_value *)(now.bytes + i * now.value), base);
	}
	free(buffer);
	unmap_memory(&old);
	unmap_memory(&now);
	return good;
}

/* Adds the counts of streams that lose their places to the totals, as if they had been evicted. */
static bool keep_in_totals(struct carry *c, __u32 given, struct roce_totals *totals)
{
	struct memory old;
	struct stream_value last;
	bool good = map_memory(c->streams.old, given, PROT_READ, &old);
	void *buffer = malloc(old.value + 1);

	good = good && buffer;
	for (__u32 i = 0; good && i < given; i++) {
		read_old(c, &old, i, buffer, &last);
		if (is_used(&last))
			roce_add_stream(totals, &last.stream);
		c->begun += is_used(&last);
	}
	free(buffer);
	unmap_memory(&old);
	return good;
}

bool carry_end(struct carry *c)
{
	struct roce_totals totals = { 0 };
	__u32 given = 0;

	/* A replaced program may still be running and counting. membarrier() waits for an RCU grace period. */
	syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	if (c->totals.old >= 0 && !add_old(&c->totals, &totals))
		return false;
	if (c->streams.old >= 0 && !count_given(c, &given))
		return false;
	if (c->streams.old >= 0 && c->streams.move_count &&
	    !(c->in_place ? complete(c, given) : keep_in_totals(c, given, &totals)))
		return false;
	return put_totals(c->totals.now, &totals);
}

static void free_map(struct carry_map *m)
{
	if (m->old >= 0)
		close(m->old);
	free(m->old_layout);
	free(m->layout);
	free(m->moves);
}

void carry_free(struct carry *c)
{
	free_map(&c->totals);
	free_map(&c->streams);
	free(c->base);
	if (c->table >= 0)
		close(c->table);
	*c = CARRY_NONE;
}
