// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/clock.h"
#include "userspace/traffic/receive/reader.h"

#define TURN 64				/* records of one CPU before it is another one's turn */
#define SLACK (RECEIVE_RECORDS / 64)	/* a reader that was too slow begins again this far from what is overwritten next */
#define NAP_LEAST 50000			/* ns */
#define NAP_MOST 1000000

/* ---- one ring ---- */

/*
 * Copies the record if it is the one with this number, from before the copy until after it. Copied by words, since a compiler may
 * not tear or repeat these.
 */
static bool copy_record(const struct receive_record *from, __u64 number, struct receive_record *to)
{
	enum { WORDS = sizeof(*from) / sizeof(__u64) };
	const __u64 *word = (const __u64 *)from;
	__u64 copy[WORDS];

	_Static_assert(offsetof(struct receive_record, number) == 0, "the first word");
	if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != number)
		return false;
	for (int i = 0; i < WORDS; i++)
		copy[i] = __atomic_load_n(word + i, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(word, __ATOMIC_RELAXED) != number)
		return false;
	memcpy(to, copy, sizeof(copy));
	to->number = number;
	return true;
}

/* The oldest record that will be there for a while. head: as in struct receive_ring. */
static __u64 oldest_record(__u64 head)
{
	return head < RECEIVE_RECORDS ? 0 : head - RECEIVE_RECORDS + SLACK;
}

static bool read_ring(struct receive_reader *r, __u32 cpu, struct receive_record *to)
{
	const struct receive_ring *ring = &r->maps->rings[cpu];
	__u64 *next = &r->next[cpu], head, oldest;

	for (;;) {
		const struct receive_record *record = &ring->record[*next & (RECEIVE_RECORDS - 1)];

		if (copy_record(record, *next + 1, to))
			break;
		head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
		if (head <= *next)
			return false;
		if (copy_record(record, *next + 1, to)) /* it was written in between */
			break;
		oldest = oldest_record(head) > *next ? oldest_record(head) : *next + 1;
		r->lost += oldest - *next;
		*next = oldest;
		r->heal = true;
	}
	++*next;
	return true;
}

/* ---- all rings ---- */

static bool read_any(struct receive_reader *r, struct receive_record *to)
{
	for (__u32 tries = 0; tries <= r->maps->cpu_count; tries++) {
		if (r->turn < TURN && read_ring(r, r->cpu, to)) {
			r->turn++;
			return true;
		}
		r->cpu = (r->cpu + 1) % r->maps->cpu_count;
		r->turn = 0;
	}
	return false;
}

/* ---- receives ---- */

/* Receives that are posted beyond those that were used: a buffer is used again only when its receive is posted again. */
static __u32 ahead(const struct receive_maps *maps, const struct receive_qp *q)
{
	__u32 slots = q->responder.receive_slots, wanted = maps->setup->receives;

	if (slots && (!wanted || slots < wanted))
		return slots;
	return wanted ? wanted : READER_RECEIVES;
}

static void post(const struct receive_maps *maps, struct receive_qp *q, __u64 used)
{
	__u64 receives = __atomic_load_n(&q->responder.receives, __ATOMIC_RELAXED);
	__u64 wanted, posted = __atomic_load_n(&q->posted, __ATOMIC_RELAXED);

	/* a record from before the QP was armed again may have a higher number */
	wanted = (used < receives ? used : receives) + ahead(maps, q);
	while (posted < wanted &&
	       !__atomic_compare_exchange_n(&q->posted, &posted, wanted, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

void receive_reader_post(const struct receive_maps *maps, const struct receive_record *record)
{
	bool used = record->flags & (MESSAGE_SEND | MESSAGE_IMMEDIATE) && !(record->flags & MESSAGE_INCOMPLETE);

	if (used && record->qp < maps->qp_count)
		post(maps, &maps->qps[record->qp], record->receive + 1);
}

void receive_reader_post_all(const struct receive_maps *maps)
{
	for (__u32 q = 0; q < maps->qp_count; q++)
		post(maps, &maps->qps[q], ~0ull);
}

/* Whether all records have been read that there were when the healing began. */
static bool has_come_to(const struct receive_reader *r)
{
	for (__u32 cpu = 0; cpu < r->maps->cpu_count; cpu++)
		if (r->next[cpu] < r->until[cpu])
			return false;
	return true;
}

/*
 * A QP whose last records were lost may have no receive left, and so will never have a record again. Its receives are posted, but
 * not before the records that were not lost have been read: their buffers are in use.
 */
static void heal(struct receive_reader *r)
{
	const struct receive_maps *m = r->maps;

	if (r->heal && !r->healing) {
		for (__u32 q = 0; q < m->qp_count; q++)
			r->used[q] = __atomic_load_n(&m->qps[q].responder.receives, __ATOMIC_ACQUIRE);
		for (__u32 cpu = 0; cpu < m->cpu_count; cpu++)
			r->until[cpu] = __atomic_load_n(&m->rings[cpu].head, __ATOMIC_ACQUIRE);
		r->heal = false;
		r->healing = true;
	}
	if (!r->healing || !has_come_to(r))
		return;
	for (__u32 q = 0; q < m->qp_count; q++)
		post(m, &m->qps[q], r->used[q]);
	r->healing = false;
}

/* ---- the reader ---- */

bool receive_reader_open(struct receive_reader *r, const struct receive_maps *maps, bool oldest, bool posts)
{
	/* the records that a reader before this one has left, too */
	*r = (struct receive_reader){ .maps = maps, .posts = posts, .heal = true };
	r->next = calloc(maps->cpu_count, sizeof(*r->next));
	r->until = calloc(maps->cpu_count, sizeof(*r->until));
	r->used = calloc(maps->qp_count, sizeof(*r->used));
	if (!r->next || !r->until || !r->used) {
		receive_reader_close(r);
		return false;
	}
	for (__u32 cpu = 0; cpu < maps->cpu_count; cpu++) {
		__u64 head = __atomic_load_n(&maps->rings[cpu].head, __ATOMIC_ACQUIRE);

		r->next[cpu] = oldest ? oldest_record(head) : head;
	}
	return true;
}

void receive_reader_close(struct receive_reader *r)
{
	free(r->next);
	free(r->until);
	free(r->used);
	*r = (struct receive_reader){ 0 };
}

bool receive_reader_next(struct receive_reader *r, struct receive_record *to, int timeout)
{
	__u64 limit = timeout > 0 ? now_ns() + timeout * 1000000ull : 0, now;
	long nap = NAP_LEAST;

	if (r->posts && r->read.number)
		receive_reader_post(r->maps, &r->read);
	r->read.number = 0;
	for (;;) {
		if (r->posts && (r->heal || r->healing))
			heal(r);
		if (read_any(r, to)) {
			r->read = *to;
			return true;
		}
		now = timeout > 0 ? now_ns() : 0;
		if (!timeout || now > limit)
			return false;
		if (nanosleep(&(struct timespec){ .tv_nsec = nap }, NULL))
			return false;
		nap = nap * 2 < NAP_MOST ? nap * 2 : NAP_MOST;
	}
}

/* ---- torn ---- */

__u64 receive_later_generations(const struct receive_maps *maps, __u64 at, __u32 bytes)
{
	__u64 sum = 0, block = maps->setup->block;

	if (!bytes)
		return 0;
	for (__u64 b = at / block + 1; b <= (at + bytes - 1) / block && b < maps->block_count; b++)
		sum += __atomic_load_n(&maps->generations[b], __ATOMIC_RELAXED);
	return sum;
}

bool receive_torn(const struct receive_maps *maps, __u64 at, __u32 bytes, __u32 generation, __u64 later)
{
	__u64 first = at / maps->setup->block;

	if (!bytes)
		return false;
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* what was read before came before this */
	return first >= maps->block_count || (__u32)__atomic_load_n(&maps->generations[first], __ATOMIC_RELAXED) != generation ||
	       receive_later_generations(maps, at, bytes) != later;
}
