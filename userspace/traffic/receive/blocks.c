// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "userspace/traffic/receive/library.h"

/* Bytes of a block that came. The ranges of a block are in ascending order and do not touch. */
struct range {
	__u64 first, end;
};

/* A block that is being filled. */
struct filling {
	struct range *range;
	__u32 ranges, room;
	__u64 bytes; /* that came */
};

/* What a generation of the map `generations` has to be if nothing has been written since. */
struct blocks_expected {
	__u32 value;
	bool known;
};

struct rocescope_blocks {
	const struct receive_maps *maps;
	__u64 offset, bytes; /* of the ring; of a block */
	__u32 count, window;
	__u32 parts;  /* of a block, which have a generation each */
	__u64 next;   /* the next one to be given out; ROCESCOPE_ANY_BLOCK: not known yet */
	__u64 first;  /* as `next` in the beginning */
	__u64 newest; /* of which something came */
	bool any;     /* something came */
	__u64 late;
	bool given;   /* block `next` - 1 was given out, and its place is not free yet */
	__u64 *last; /* by QP: the number of its last block */
	struct filling *filling;   /* by place in the ring */
	struct blocks_expected *expected; /* by part of the ring */
	struct rocescope_missing *missing; /* of the block that was given out */
	__u32 missing_room; /* one more than the ranges of any block */
};

/* ---- making ---- */

static bool fits(const struct receive_maps *m, __u64 offset, __u64 bytes, __u32 count, __u32 window)
{
	__u64 block = m->setup->block;

	return bytes && bytes % block == 0 && offset % block == 0 && offset <= m->memory_bytes &&
	       count <= (m->memory_bytes - offset) / bytes && (offset + count * bytes) / block <= m->block_count && count >= 3 &&
	       window <= (count - 1) / 2;
}

struct rocescope_blocks *rocescope_blocks_new(struct rocescope *r, uint64_t offset, uint64_t bytes, uint32_t count,
					      uint64_t first, uint32_t window)
{
	struct rocescope_blocks *b;

	if (!fits(&r->maps, offset, bytes, count, window)) {
		errno = EINVAL;
		return NULL;
	}
	b = calloc(1, sizeof(*b));
	if (!b)
		return NULL;
	*b = (struct rocescope_blocks){ .maps = &r->maps, .offset = offset, .bytes = bytes, .count = count,
					.window = window ? window : (count - 1) / 2, .parts = bytes / r->maps.setup->block,
					.next = first, .first = first, .newest = first, .missing_room = 1 };
	b->last = calloc(r->maps.qp_count, sizeof(*b->last));
	b->filling = calloc(count, sizeof(*b->filling));
	b->expected = calloc((size_t)count * b->parts, sizeof(*b->expected));
	b->missing = calloc(b->missing_room, sizeof(*b->missing));
	if (b->last && b->filling && b->expected && b->missing)
		return b;
	rocescope_blocks_free(b);
	errno = ENOMEM;
	return NULL;
}

void rocescope_blocks_free(struct rocescope_blocks *b)
{
	if (!b)
		return;
	for (__u32 i = 0; b->filling && i < b->count; i++)
		free(b->filling[i].range);
	free(b->last);
	free(b->filling);
	free(b->expected);
	free(b->missing);
	free(b);
}

/* ---- ranges ---- */

/* Makes room for one more range, and for what is missing between all of them. false: no memory. */
static bool make_room(struct rocescope_blocks *b, struct filling *f)
{
	void *grown;

	if (!grow(f->range, f->ranges, f->room, 4))
		return false;
	if (b->missing_room <= f->room) {
		grown = realloc(b->missing, (f->room + 1) * sizeof(*b->missing));
		if (!grown)
			return false;
		b->missing = grown;
		b->missing_room = f->room + 1;
	}
	return true;
}

/* Adds bytes, of which some may have come before. There is room. */
static void add_range(struct filling *f, __u64 first, __u64 end)
{
	__u32 from = f->ranges, to;

	while (from && f->range[from - 1].end >= first)
		from--;
	for (to = from; to < f->ranges && f->range[to].first <= end; to++) {
		struct range *r = &f->range[to];

		first = r->first < first ? r->first : first;
		end = r->end > end ? r->end : end;
		f->bytes -= r->end - r->first;
	}
	memmove(&f->range[from + 1], &f->range[to], (f->ranges - to) * sizeof(*f->range));
	f->range[from] = (struct range){ first, end };
	f->ranges += from + 1 - to;
	f->bytes += end - first;
}

/* ---- adding ---- */

/* The number of the block at this place of the ring that is nearest to the newest. */
static __u64 number_at(const struct rocescope_blocks *b, __u64 place)
{
	__u64 number = b->newest - b->newest % b->count + place;

	if (number > b->newest + b->count / 2 && number >= b->count)
		return number - b->count;
	return number + (b->count + 1) / 2 <= b->newest ? number + b->count : number;
}

/*
 * The number of the block in which the completion's message begins. The end of a message was lost, and its completion came with the
 * next message of the QP, which may be a lap later: so it is in the first block from the QP's last one on that has its place.
 */
static __u64 number_of(struct rocescope_blocks *b, const struct rocescope_completion *c, __u64 place)
{
	__u64 *last = &b->last[c->reserved[LIBRARY_QP]], number;

	if (c->flags & ROCESCOPE_INCOMPLETE) {
		__u64 least = *last > b->first ? *last : b->first;

		number = least - least % b->count + place;
		return number < least ? number + b->count : number;
	}
	number = number_at(b, place);
	if (number > *last)
		*last = number;
	return number;
}

static void expect(struct rocescope_blocks *b, __u64 part, __u32 generation)
{
	struct blocks_expected *e = &b->expected[part];

	if (!e->known || (__s32)(generation - e->value) > 0)
		*e = (struct blocks_expected){ generation, true };
}

/* The generations of the parts that these bytes of the ring touch. first: that of the first part. */
static void expect_range(struct rocescope_blocks *b, __u64 from, __u64 end, const __u32 *first)
{
	__u64 block = b->maps->setup->block, base = b->offset / block;

	for (__u64 part = from / block; part * block < end; part++) {
		__u64 now = __atomic_load_n(&b->maps->generations[base + part], __ATOMIC_RELAXED);

		expect(b, part, first ? *first : now);
		first = NULL;
	}
}

static void release(struct rocescope_blocks *b)
{
	__u64 place = b->next ? (b->next - 1) % b->count : 0;

	if (!b->given)
		return;
	b->given = false;
	b->filling[place].ranges = b->filling[place].bytes = 0;
	memset(&b->expected[place * b->parts], 0, b->parts * sizeof(*b->expected));
}

/* Adds the bytes from..end of the ring, which are in block `number`. first: as in expect_range(). false: no memory. */
static bool add_piece(struct rocescope_blocks *b, __u64 number, __u64 from, __u64 end, const __u32 *first)
{
	__u64 place = from / b->bytes;

	if (number < b->next)
		return true;
	if (number > b->newest)
		b->newest = number;
	if (from == end)
		return true;
	if (!make_room(b, &b->filling[place]))
		return false;
	add_range(&b->filling[place], from - place * b->bytes, end - place * b->bytes);
	expect_range(b, from, end, first);
	return true;
}

int rocescope_blocks_add(struct rocescope_blocks *b, const struct rocescope_completion *c)
{
	__u64 ring = b->count * b->bytes, from = c->offset - b->offset, end = from + c->placed, number, last, next;
	__u32 generation = c->reserved[LIBRARY_GENERATION];
	const __u32 *first = &generation;

	if (!c->data || c->offset < b->offset || from >= ring)
		return 0;
	if (end > ring)
		end = ring;
	release(b);
	if (b->next == ROCESCOPE_ANY_BLOCK)
		b->next = b->first = b->newest = from / b->bytes;
	b->any = true;
	number = number_of(b, c, from / b->bytes);
	last = number + (end > from ? (end - 1) / b->bytes - from / b->bytes : 0);
	if (last >= b->next && last - b->next >= b->count) {
		if (number > b->newest)
			b->newest = number; /* so that blocks that wait are given out */
		errno = ENOSPC;
		return -1;
	}
	b->late += number < b->next;
	do {
		next = (from / b->bytes + 1) * b->bytes;
		if (!add_piece(b, number++, from, end < next ? end : next, first)) {
			errno = ENOMEM;
			return -1;
		}
		from = next;
		first = NULL;
	} while (from < end);
	return 1;
}

/* ---- giving out ---- */

/* What is between the ranges. */
static void find_missing(struct rocescope_blocks *b, const struct filling *f, struct rocescope_block *to)
{
	__u64 at = 0;

	for (__u32 i = 0; i <= f->ranges; i++) {
		__u64 first = i < f->ranges ? f->range[i].first : b->bytes;

		if (first > at)
			b->missing[to->missing_count++] = (struct rocescope_missing){ at, first - at };
		at = i < f->ranges ? f->range[i].end : at;
	}
	to->missing = b->missing;
}

int rocescope_blocks_next(struct rocescope_blocks *b, struct rocescope_block *to, int end)
{
	__u64 place = b->next % b->count;
	const struct filling *f = &b->filling[place];

	release(b);
	if (!b->any || b->next > b->newest)
		return 0;
	if (f->bytes < b->bytes && b->newest - b->next < b->window && !end)
		return 0;
	*to = (struct rocescope_block){ .number = b->next, .data = b->maps->memory + b->offset + place * b->bytes,
					.bytes = b->bytes, .missing_bytes = b->bytes - f->bytes };
	find_missing(b, f, to);
	b->given = true;
	b->next++;
	return 1;
}

int rocescope_blocks_torn(const struct rocescope_blocks *b)
{
	__u64 place = (b->next - 1) % b->count;
	const struct blocks_expected *e = &b->expected[place * b->parts];
	const __u64 *generation = &b->maps->generations[b->offset / b->maps->setup->block + place * b->parts];

	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* what was read before came before this */
	for (__u32 i = 0; b->given && i < b->parts; i++)
		if (e[i].known && e[i].value != (__u32)__atomic_load_n(&generation[i], __ATOMIC_RELAXED))
			return 1;
	return 0;
}

uint64_t rocescope_blocks_late(const struct rocescope_blocks *b)
{
	return b->late;
}
