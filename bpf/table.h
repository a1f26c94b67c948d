/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of streams. BPF's hash maps cost a call, a jhash and a walk per packet, and cannot evict idle entries. The JIT
 * inlines array maps. A bucket's lock guards its ways. A stream's guard (bpf/guard.h) guards the stream and its key. The two
 * are never held together. Readers of a bucket take no lock: they compare the key under the stream's guard.
 */
#ifndef BPF_TABLE_H
#define BPF_TABLE_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/guard.h"

#define TABLE_SKEW 1024 /* upper bound of the ticks by which clocks of two CPUs differ */
#define TABLE_SWEEP 8	/* buckets that a new stream searches for an idle one */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, TABLE_BUCKETS_FOR(65536));
	__type(key, __u32);
	__type(value, struct table_bucket);
} buckets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, struct stream_value);
} streams SEC(".maps");

/* A key's bucket and tag. */
struct table_hash {
	__u32 bucket;
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
	return (struct table_hash){ .bucket = (__u32)(h >> 32) & settings.bucket_mask, .tag = (__u32)h | 1 };
}

static __always_inline bool table_same_key(const struct roce_key *a, const struct roce_key *b)
{
	const __u64 *x = (const __u64 *)a, *y = (const __u64 *)b;

	return !((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) | (x[4] ^ y[4]));
}

static __always_inline __u64 table_read(const struct table_bucket *b, __u32 way)
{
	return *(const volatile __u64 *)&b->ways[way].word;
}

static __always_inline void table_write(struct table_bucket *b, __u32 way, __u32 tag, __u32 place)
{
	*(volatile __u64 *)&b->ways[way].word = (__u64)place << 32 | tag;
}

/* The way with this tag; TABLE_WAYS: none. */
static __always_inline __u32 table_way_of(const struct table_bucket *b, __u32 tag)
{
	__u32 way;

	for (way = 0; way < TABLE_WAYS; way++)
		if ((__u32)table_read(b, way) == tag)
			break;
	roce_opaque(way); /* make sixteen loop exits one for the verifier */
	return way;
}

/* Clears the stream for this key. false: its guard could not be taken. */
static __always_inline bool table_clear(struct stream_value *v, const struct roce_key *key, const struct guard *g)
{
	volatile __u64 *words = (__u64 *)&v->key; /* without volatile the compiler calls memset() */

	if (!guard_take(v, g))
		return false;
	for (__u32 i = 0; i < (sizeof(v->key) + sizeof(v->stream)) / 8; i++)
		words[i] = 0;
	v->key = *key;
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
static __always_inline bool table_is_idle(const struct table_bucket *b, __u32 way, __u32 tick)
{
	return (__u32)table_read(b, way) && tick - b->ways[way].seen + TABLE_SKEW >= settings.idle_ticks + TABLE_SKEW;
}

/* Searches this bucket for idle streams. Untrusted ones are preferred to trusted ones. */
static __always_inline void table_look(struct table_victim *victim, __u32 bucket, __u32 tick)
{
	const struct table_bucket *b = bpf_map_lookup_elem(&buckets, &bucket);
	const struct stream_value *v;

	for (__u32 way = 0; b && way < TABLE_WAYS; way++) {
		__u32 place = table_read(b, way) >> 32;

		if (!table_is_idle(b, way, tick) || (victim->found && !victim->trusted))
			continue;
		v = bpf_map_lookup_elem(&streams, &place);
		if (!v || (victim->found && v->stream.trusted))
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
	bool taken = false;

	roce_opaque(way);
	if (!b || !v || way >= TABLE_WAYS)
		return false;
	bpf_spin_lock(&b->lock);
	if (table_is_idle(b, way, tick) && table_read(b, way) >> 32 == place) {
		table_write(b, way, 0, 0);
		taken = true;
	}
	bpf_spin_unlock(&b->lock);
	if (!taken)
		return false;
	/* a CPU that found the way before it was cleared may still be counting; the guard stops it from here on */
	if (!guard_take(v, g))
		return false; /* the place is lost */
	roce_keep_evicted(total, &v->stream);
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
	cpu->hand = hand + TABLE_SWEEP;
	victim->found = false;
	for (__u32 i = 0; i < TABLE_SWEEP; i++)
		table_look(victim, (hand + i) & settings.bucket_mask, tick);
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
 * 1 + the place of a stream that another CPU is creating, 0: that CPU had no room. Takes about a microsecond; old kernels
 * cannot wait.
 */
static __always_inline __u32 table_await(const struct table_bucket *b, __u32 way, __u32 tag, const struct guard *g)
{
	struct table_wait wait = { .bucket = b, .way = way, .tag = tag, .found = table_read(b, way) };

	if (!g->old)
		bpf_loop(GUARD_TRIES, table_again, &wait, 0);
	return (__u32)wait.found == tag ? (wait.found >> 32) + 1 : 0;
}

/*
 * Creates the stream of this key, unless another CPU does. Returns 1 + its place, 0: no room. The way is taken first, so that
 * only one CPU creates it. Counters of evicted streams move to `total`.
 */
static __always_inline __u32 table_insert(const struct roce_key *key, __u32 tick, struct table_cpu *cpu,
					  struct roce_totals *total, const struct guard *g)
{
	struct table_hash h = table_hash(key);
	struct table_bucket *b = bpf_map_lookup_elem(&buckets, &h.bucket);
	struct stream_value *v = NULL;
	bool found = false;
	__u32 way, place;

	if (!b)
		return 0;
	bpf_spin_lock(&b->lock);
	way = table_way_of(b, h.tag);
	if (way < TABLE_WAYS) {
		found = true;
	} else {
		way = table_way_of(b, 0);
		if (way < TABLE_WAYS) {
			b->ways[way].seen = tick;
			table_write(b, way, h.tag, TABLE_PENDING);
		}
	}
	bpf_spin_unlock(&b->lock);
	*(volatile __u32 *)&cpu->way = way; /* hide the value from the verifier, which would follow each of sixteen */
	way = *(volatile __u32 *)&cpu->way;
	if (way >= TABLE_WAYS)
		return 0;
	if (found)
		return table_await(b, way, h.tag, g);
	place = table_place(cpu, tick, total, g);
	if (place) {
		place--;
		v = bpf_map_lookup_elem(&streams, &place);
	}
	if (!v || !table_clear(v, key, g)) {
		table_write(b, way, 0, 0);
		return 0;
	}
	table_write(b, way, h.tag, place); /* visible from here on; the stream was cleared before */
	return place + 1;
}

/*
 * 1 + the place of this key's stream, 0: none. Compare the key under the stream's guard: the stream may have been evicted
 * since, or another key may have the same tag.
 */
static __always_inline __u32 table_find(const struct roce_key *key, __u32 tick)
{
	struct table_hash h = table_hash(key);
	struct table_bucket *b = bpf_map_lookup_elem(&buckets, &h.bucket);
	__u64 found;
	__u32 way;

	if (!b)
		return 0;
	way = table_way_of(b, h.tag);
	if (way >= TABLE_WAYS)
		return 0;
	found = table_read(b, way);
	if ((__u32)found != h.tag) /* evicted just now */
		return 0;
	if (b->ways[way].seen != tick)
		b->ways[way].seen = tick;
	return (found >> 32) + 1;
}

#endif
