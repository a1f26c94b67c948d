/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of streams. BPF's hash maps cost a call, a jhash and a walk per packet, and cannot evict idle entries. The JIT
 * inlines array maps. One lock guards the index against other writers: streams are seldom created. A stream's guard (bpf/guard.h)
 * guards the stream and its key. Nobody holds the lock and a guard together. Readers of a bucket take no lock: they compare the
 * key under the stream's guard.
 */
#ifndef BPF_TABLE_H
#define BPF_TABLE_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/guard.h"

/* The place of a way whose stream is being created. */
#define TABLE_PENDING 0xffffffff

/* A stream that may be evicted. */
struct table_victim {
	__u32 bucket;
	__u32 way;
	__u32 place;
	__u8 found;
	__u8 trusted;
};

/* Each CPU's own state of the table. */
struct table_cpu {
	__u32 hand;  /* the next bucket to search for idle streams */
	__u32 tick;  /* of `fruitless` */
	__u32 fruitless; /* buckets searched in vain in this tick */
	__u32 way;   /* way of a new stream */
	__u32 extra; /* the next entry of `extras` to look at */
	struct table_victim victim; /* not on the stack: the verifier would follow each possible value */
};

#define TABLE_SKEW 1024 /* upper bound of the ticks by which clocks of two CPUs differ */
#define TABLE_SWEEP 4	/* buckets that a new stream searches for an idle one */
#define TABLE_FRUITLESS 256 /* buckets that a CPU searches in vain in a tick, at most, so that a flood searches little */

MAP(buckets, ARRAY, __u32, struct table_bucket, TABLE_BUCKETS_FOR(65536), BPF_F_MMAPABLE);
MAP(streams, ARRAY, __u32, struct stream_value, 65536, BPF_F_MMAPABLE);

/* A key's two buckets, and its tag. */
struct table_hash {
	__u32 bucket, other;
	__u32 tag; /* never 0 */
};

/*
 * Hashes two halves in parallel, which keeps the CPU's multiplier busy. Each word is mixed with the seed before the
 * multiplication.
 */
static __always_inline struct table_hash table_hash(const struct roce_key *key)
{
	const __u64 *w = (const __u64 *)key;
	__u64 a = (w[0] ^ settings.hash_seed) * 0x9e3779b97f4a7c15, b = (w[2] ^ ~settings.hash_seed) * 0x94d049bb133111eb, h;

	a = (a ^ a >> 32) * 0xd6e8feb86659fd93;
	b = (b ^ b >> 32) * 0xbf58476d1ce4e5b9;
	a = (a ^ a >> 29 ^ w[1]) * 0xbf58476d1ce4e5b9;
	b = (b ^ b >> 29 ^ w[3]) * 0xd6e8feb86659fd93;
	h = ((a ^ a >> 29) + b) ^ w[4];
	h = (h ^ h >> 32) * 0xd6e8feb86659fd93;
	h = (h ^ h >> 29) * 0x94d049bb133111eb;
	return (struct table_hash){ .bucket = (__u32)(h >> 32) & settings.bucket_mask,
				    .other = ((__u32)(h >> 32) ^ (__u32)h >> 1) & settings.bucket_mask, .tag = (__u32)h | 1 };
}

static __always_inline bool table_same_key(const struct roce_key *a, const struct roce_key *b)
{
	const __u64 *x = (const __u64 *)a, *y = (const __u64 *)b;

	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) | (x[4] ^ y[4]));
}

static __always_inline __u64 table_read(const struct table_bucket *b, __u32 way)
{
	return *(const volatile __u64 *)&b->way[way];
}

static __always_inline void table_write(struct table_bucket *b, __u32 way, __u32 tag, __u32 place)
{
	*(volatile __u64 *)&b->way[way] = (__u64)place << 32 | tag;
}

/* The way with this tag; TABLE_WAYS: none. */
static __always_inline __u32 table_way_of(const struct table_bucket *b, __u32 tag)
{
	__u32 way;

	for (way = 0; way < TABLE_WAYS; way++)
		if ((__u32)table_read(b, way) == tag)
			break;
	roce_opaque(way); /* make nine loop exits one for the verifier */
	return way;
}

/* How many ways are in use. */
static __always_inline __u32 table_used(const struct table_bucket *b)
{
	__u32 used = 0;

	for (__u32 way = 0; way < TABLE_WAYS; way++)
		used += table_read(b, way) != 0;
	roce_opaque(used);
	return used;
}

/* Clears the stream for this key. false: its guard could not be taken. */
static __always_inline bool table_clear(struct stream_value *v, const struct roce_key *key, __u32 tick, const struct guard *g)
{
	volatile __u64 *words = (__u64 *)&v->key; /* without volatile the compiler calls memset() */

	if (!guard_take(v, g))
		return false;
	for (__u32 i = 0; i < (sizeof(v->key) + sizeof(v->stream)) / 8; i++)
		words[i] = 0;
	v->key = *key;
	v->seen = tick;
	guard_release(v, g);
	return true;
}

/* 1 + a place that was never used, 0: none is left. */
static __always_inline __u32 table_give(void)
{
	struct table_state *t = guard_state();
	__u32 place = 0;

	if (!t || t->given >= settings.max_streams)
		return 0;
	bpf_spin_lock(&t->lock);
	if (t->given < settings.max_streams)
		place = ++t->given;
	bpf_spin_unlock(&t->lock);
	return place;
}

/*
 * Each CPU reads the clock at its own moment of a jiffy, so a stream's last packet may lie in the caller's future. Such a
 * stream is not idle since the last wrap of the ticks.
 */
static __always_inline bool table_is_idle(const struct stream_value *v, __u32 tick)
{
	return tick - *(const volatile __u32 *)&v->seen + TABLE_SKEW >= settings.idle_ticks + TABLE_SKEW;
}

/* Searches this bucket for idle streams. Untrusted ones are preferred to trusted ones. */
static __always_inline void table_pick_victim(struct table_victim *victim, __u32 bucket, __u32 tick)
{
	const struct table_bucket *b = bpf_map_lookup_elem(&buckets, &bucket);
	const struct stream_value *v;

	for (__u32 way = 0; b && way < TABLE_WAYS; way++) {
		__u64 word = table_read(b, way);
		__u32 place = word >> 32;

		if (!word || (victim->found && !victim->trusted))
			continue;
		v = bpf_map_lookup_elem(&streams, &place);
		if (!v || !table_is_idle(v, tick) || (victim->found && v->stream.trusted))
			continue;
		victim->bucket = bucket;
		victim->way = way;
		victim->place = place;
		victim->found = true;
		victim->trusted = v->stream.trusted;
	}
}

/* Takes over the victim's place, and moves its counters to `total`. false: the place is not free. */
static __always_inline bool table_evict(const struct table_victim *victim, __u32 tick, struct roce_totals *total,
					const struct guard *g)
{
	__u32 bucket = victim->bucket, place = victim->place, way = victim->way;
	struct table_bucket *b = bpf_map_lookup_elem(&buckets, &bucket);
	struct stream_value *v = bpf_map_lookup_elem(&streams, &place);
	struct table_state *t = guard_state();
	bool taken = false;

	roce_opaque(way);
	if (!b || !v || !t || way >= TABLE_WAYS)
		return false;
	bpf_spin_lock(&t->lock);
	if (table_read(b, way) && table_read(b, way) >> 32 == place && table_is_idle(v, tick)) {
		table_write(b, way, 0, 0);
		taken = true;
	}
	bpf_spin_unlock(&t->lock);
	if (!taken)
		return false;
	/* a CPU that found the way before it was cleared may still be counting; the guard stops it from here on */
	if (!guard_take(v, g))
		return false; /* the place is lost */
	roce_add_stream(total, &v->stream);
	v->key.kind = KEY_NONE;
	guard_release(v, g);
	total->value[COUNTER_streams_evicted]++;
	return true;
}

/* 1 + a place for a new stream, 0: no room. */
static __always_inline __u32 table_place(struct table_cpu *cpu, __u32 tick, struct roce_totals *total,
					 const struct guard *g)
{
	struct table_victim *victim = &cpu->victim;
	__u32 place = table_give(), hand = cpu->hand;

	if (place)
		return place;
	if (cpu->tick != tick) {
		cpu->tick = tick;
		cpu->fruitless = 0;
	}
	if (cpu->fruitless >= TABLE_FRUITLESS)
		return 0;
	cpu->hand = hand + TABLE_SWEEP;
	victim->found = false;
	for (__u32 i = 0; i < TABLE_SWEEP; i++)
		table_pick_victim(victim, (hand + i) & settings.bucket_mask, tick);
	cpu->fruitless += victim->found ? 0 : TABLE_SWEEP;
	return victim->found && table_evict(victim, tick, total, g) ? victim->place + 1 : 0;
}

struct table_wait {
	const struct table_bucket *bucket;
	__u32 way;
	__u32 tag;
	__u64 found;
};

static __noinline long table_again(__u32 i, void *context)
{
	struct table_wait *w = context;

	(void)i;
	if (w->way >= TABLE_WAYS)
		return 1;
	w->found = table_read(w->bucket, w->way);
	return (__u32)w->found != w->tag || w->found >> 32 != TABLE_PENDING;
}

/*
 * 1 + the place of a stream that another CPU is creating, 0: that CPU had no room. Takes about a microsecond; without
 * ROCE_HAS_LOOP nobody can wait.
 */
static __always_inline __u32 table_await(const struct table_bucket *b, __u32 way, __u32 tag)
{
	struct table_wait wait = { .bucket = b, .way = way, .tag = tag, .found = table_read(b, way) };

	if (ROCE_HAS_LOOP)
		bpf_loop(GUARD_TRIES, table_again, &wait, 0);
	return (__u32)wait.found == tag ? (wait.found >> 32) + 1 : 0;
}

/*
 * Takes a free way of the emptier bucket for the tag, unless there is one with it. Call under the lock. *found: there is one.
 * Returns the way, TABLE_WAYS: none is free; *in_other: it is one of the other bucket.
 */
static __always_inline __u32 table_claim(struct table_bucket *b, struct table_bucket *other, __u32 tag, bool *in_other, bool *found)
{
	__u32 way = table_way_of(b, tag);

	*in_other = way >= TABLE_WAYS;
	if (*in_other)
		way = table_way_of(other, tag);
	*found = way < TABLE_WAYS;
	if (*found)
		return way;
	*in_other = table_used(other) < table_used(b);
	way = table_way_of(*in_other ? other : b, 0);
	if (way < TABLE_WAYS)
		table_write(*in_other ? other : b, way, tag, TABLE_PENDING);
	return way;
}

/*
 * Creates the stream of this key, unless another CPU does. Returns 1 + its place, 0: no room. The way is taken first, so that
 * only one CPU creates it. Counters of evicted streams move to `total`.
 */
static __always_inline __u32 table_insert(const struct roce_key *key, __u32 tick, struct table_cpu *cpu,
					  struct roce_totals *total, const struct guard *g)
{
	struct table_hash h = table_hash(key);
	struct table_bucket *b = bpf_map_lookup_elem(&buckets, &h.bucket), *other = bpf_map_lookup_elem(&buckets, &h.other);
	struct table_state *t = guard_state();
	struct stream_value *v = NULL;
	bool found, in_other;
	__u32 way, place;

	if (!b || !other || !t)
		return 0;
	bpf_spin_lock(&t->lock);
	way = table_claim(b, other, h.tag, &in_other, &found);
	bpf_spin_unlock(&t->lock);
	*(volatile __u32 *)&cpu->way = way; /* hide the value from the verifier, which would follow each of nine */
	way = *(volatile __u32 *)&cpu->way;
	if (way >= TABLE_WAYS)
		return 0;
	if (in_other)
		b = other;
	if (found)
		return table_await(b, way, h.tag);
	place = table_place(cpu, tick, total, g);
	if (place) {
		place--;
		v = bpf_map_lookup_elem(&streams, &place);
	}
	if (!v || !table_clear(v, key, tick, g)) {
		table_write(b, way, 0, 0);
		return 0;
	}
	table_write(b, way, h.tag, place); /* visible from here on; the stream was cleared before */
	return place + 1;
}

/* The word of this tag in a bucket; 0: none. */
static __always_inline __u64 table_word_of(__u32 bucket, __u32 tag)
{
	const struct table_bucket *b = bpf_map_lookup_elem(&buckets, &bucket);
	__u32 way = b ? table_way_of(b, tag) : TABLE_WAYS;
	__u64 word = b && way < TABLE_WAYS ? table_read(b, way) : 0;

	return (__u32)word == tag ? word : 0; /* it may have been evicted just now */
}

/*
 * 1 + the place of this key's stream, 0: none. Compare the key under the stream's guard: the stream may have been evicted
 * since, or another key may have the same tag.
 */
static __always_inline __u32 table_find(const struct roce_key *key)
{
	struct table_hash h = table_hash(key);
	__u64 found = table_word_of(h.bucket, h.tag);

	if (!found)
		found = table_word_of(h.other, h.tag);
	return found ? (found >> 32) + 1 : 0;
}

#endif
