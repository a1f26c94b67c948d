// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The blocks that the library puts together, compared with an array of bytes, under loss, truncation, repetition and reordering. */
#include "tests/unit/receive/receiver.h"
#include "userspace/traffic/receive/library.h"

#define GRAIN 256u /* `receive --block` */
#define PARTS 3u
#define BLOCK (PARTS * GRAIN)
#define COUNT 24u
#define OFFSET (2 * GRAIN)
#define QPS 8u
#define LAPS 40u
#define BLOCKS (LAPS * COUNT)

static struct test_receiver *receiver;
static struct rocescope library;
static __u32 seed;

static __u32 dice(__u32 sides)
{
	seed = seed * 1664525 + 1013904223; /* Numerical Recipes' generator: the same run every time */
	return (seed >> 8) % sides;
}

static int begin(void **state)
{
	(void)state;
	receiver = receiver_new(1, QPS, RECEIVE_CHUNK, GRAIN);
	library = (struct rocescope){ .maps = receiver->maps };
	return library_open(&library, 0);
}

static int end(void **state)
{
	(void)state;
	library_close(&library);
	receiver_free(receiver);
	return 0;
}

/* Payload comes. */
static void write_bytes(__u64 at, __u32 bytes)
{
	for (__u64 g = at / GRAIN; bytes && g <= (at + bytes - 1) / GRAIN; g++)
		receiver->generations[g] += 2;
}

/* A message to these bytes of the memory has ended, of which `placed` came. */
static struct rocescope_completion end_message(__u32 qp, __u64 at, __u32 length, __u32 placed)
{
	struct receive_record record = { .qp = qp, .at = at, .length = length, .placed = placed,
					 .generation = receiver->generations[at / GRAIN],
					 .flags = placed < length ? MESSAGE_INCOMPLETE : 0 };
	struct rocescope_completion c;

	receiver_record(receiver, 0, &record, NULL);
	assert_int_equal(rocescope_next(&library, &c, 0), 1);
	return c;
}

static struct rocescope_completion message(__u64 at, __u32 length, __u32 placed)
{
	write_bytes(at, placed);
	return end_message(0, at, length, placed);
}

/* ---- against an array ---- */

/* What came of each byte of each block, in order. */
static bool came[BLOCKS][BLOCK];
static __u64 newest;
static bool any;

static void oracle_add(__u64 block, __u32 first, __u32 length)
{
	any = true;
	newest = block > newest ? block : newest;
	memset(&came[block][first], true, length);
}

static void is_as_it_came(const struct rocescope_block *b)
{
	bool missing[BLOCK] = { 0 };
	__u64 bytes = 0, after = 0;

	assert_ptr_equal(b->data, receiver->maps.memory + OFFSET + b->number % COUNT * BLOCK);
	assert_int_equal(b->bytes, BLOCK);
	for (__u32 i = 0; i < b->missing_count; i++) {
		assert_true(b->missing[i].first >= after && b->missing[i].bytes && (!i || b->missing[i].first > after));
		after = b->missing[i].first + b->missing[i].bytes;
		assert_true(after <= BLOCK);
		memset(&missing[b->missing[i].first], true, b->missing[i].bytes);
	}
	for (__u32 i = 0; i < BLOCK; i++) {
		assert_true(missing[i] != came[b->number][i]);
		bytes += missing[i];
	}
	assert_int_equal(bytes, b->missing_bytes);
}

static bool is_complete(__u64 block)
{
	return !memchr(came[block], false, BLOCK);
}

/* The message of each QP that is under way. */
struct way {
	struct { __u64 block, last; __u32 first, length, placed; bool any; } qp[QPS];
};

static bool is_under_way(const struct way *w, __u64 block)
{
	for (__u32 i = 0; i < QPS; i++)
		if (w->qp[i].any && w->qp[i].block == block)
			return true;
	return false;
}

/* Takes the blocks that are due. *next: the number that is due next. */
static void take(struct rocescope_blocks *b, const struct way *w, __u64 *next, __u32 window, bool last)
{
	struct rocescope_block block;

	while (rocescope_blocks_next(b, &block, last)) {
		assert_int_equal(block.number, *next);
		++*next;
		is_as_it_came(&block);
		assert_true(last || !block.missing_bytes || newest - block.number >= window);
		assert_true(is_under_way(w, block.number) || !rocescope_blocks_torn(b));
	}
	if (any && *next <= newest)
		assert_false(last || is_complete(*next) || newest - *next >= window);
}

/*
 * The message of a QP ends. Of an incomplete one, which may end laps later, nothing may be taken for bytes of another lap: its block
 * is known if the QP has not left out a whole lap.
 */
static void arrive(struct rocescope_blocks *b, struct way *w, __u32 i, __u64 *next, __u32 window)
{
	__u64 block = w->qp[i].block, late = rocescope_blocks_late(b);
	bool complete = w->qp[i].placed == w->qp[i].length, known = complete || block < w->qp[i].last + COUNT;
	__u64 at = OFFSET + block % COUNT * BLOCK + w->qp[i].first;
	struct rocescope_completion c;

	if (complete)
		write_bytes(at, w->qp[i].length);
	c = end_message(i, at, w->qp[i].length, w->qp[i].placed);
	if (block >= *next && known)
		oracle_add(block, w->qp[i].first, w->qp[i].placed);
	else
		late++;
	assert_int_equal(rocescope_blocks_add(b, &c), 1);
	assert_int_equal(rocescope_blocks_late(b), late);
	if (complete)
		w->qp[i].last = block;
	w->qp[i].any = complete && !dice(20); /* it comes again */
	take(b, w, next, window, false);
}

/* Ends messages until the QP has none. Complete ones come before the sender is half a lap ahead. */
static void make_way(struct rocescope_blocks *b, struct way *w, __u32 qp, __u64 block, __u64 *next, __u32 window)
{
	for (__u32 i = 0; i < QPS; i++)
		while (w->qp[i].any &&
		       (i == qp || (w->qp[i].placed == w->qp[i].length && (block - w->qp[i].block > 8 || !dice(QPS)))))
			arrive(b, w, i, next, window);
}

/* Each block is written by messages of random lengths. worst: one of that many is lost, and as many are cut short. */
static void run(__u32 window, __u32 qps, __u32 worst)
{
	struct rocescope_blocks *b = rocescope_blocks_new(&library, OFFSET, BLOCK, COUNT, 0, window);
	__u32 first, length, qp;
	struct way w = { 0 };
	__u64 next = 0;

	assert_non_null(b);
	memset(came, 0, sizeof(came));
	newest = any = 0;
	for (__u64 block = 0; block < BLOCKS; block++) {
		for (first = 0; first < BLOCK; first += length) {
			length = 1 + dice(dice(4) ? BLOCK / 3 : BLOCK);
			length = length < BLOCK - first ? length : BLOCK - first;
			if (worst && !dice(worst))
				continue;
			qp = dice(qps);
			make_way(b, &w, qp, block, &next, window);
			w.qp[qp].block = block;
			w.qp[qp].first = first;
			w.qp[qp].length = length;
			w.qp[qp].placed = worst && !dice(worst) ? dice(length) : length;
			w.qp[qp].any = true;
			if (w.qp[qp].placed < length)
				write_bytes(OFFSET + block % COUNT * BLOCK + first, w.qp[qp].placed);
		}
	}
	for (qp = 0; qp < QPS; qp++)
		make_way(b, &w, qp, BLOCKS, &next, window);
	take(b, &w, &next, window, true);
	assert_int_equal(next, newest + 1);
	assert_true(newest >= BLOCKS - 4);
	rocescope_blocks_free(b);
}

static void all_come(void **state)
{
	(void)state;
	run(4, 1, 0);
	for (__u64 i = 0; i < BLOCKS; i++)
		assert_true(is_complete(i));
}

static void as_the_array_has_it(void **state)
{
	(void)state;
	for (seed = 1; seed < 40; seed++) {
		__u32 start = seed;

		run(1 + dice(9), 1 + dice(QPS), 2 + dice(30));
		seed = start;
	}
}

/* ---- single cases ---- */

static struct rocescope_blocks *follow(__u64 first, __u32 window)
{
	struct rocescope_blocks *b = rocescope_blocks_new(&library, OFFSET, BLOCK, COUNT, first, window);

	assert_non_null(b);
	return b;
}

static int add(struct rocescope_blocks *b, __u64 block, __u32 first, __u32 length)
{
	struct rocescope_completion c = message(OFFSET + block % COUNT * BLOCK + first, length, length);

	return rocescope_blocks_add(b, &c);
}

static void begins_where_it_is_told(void **state)
{
	struct rocescope_blocks *b = follow(ROCESCOPE_ANY_BLOCK, 3);
	struct rocescope_block block;

	(void)state;
	assert_int_equal(rocescope_blocks_next(b, &block, 1), 0);
	add(b, 20, 0, BLOCK);
	assert_int_equal(rocescope_blocks_next(b, &block, 0), 1);
	assert_int_equal(block.number, 20);
	add(b, 2, 0, BLOCK); /* over the end of the ring */
	for (__u64 n = 21; n <= COUNT + 2; n++) {
		assert_int_equal(rocescope_blocks_next(b, &block, n > 23), 1);
		assert_int_equal(block.number, n);
		assert_int_equal(block.missing_bytes, n < COUNT + 2 ? BLOCK : 0);
	}
	assert_int_equal(rocescope_blocks_next(b, &block, 1), 0);
	rocescope_blocks_free(b);
	b = follow(COUNT + 5, 3);
	assert_int_equal(rocescope_blocks_next(b, &block, 1), 0);
	add(b, COUNT + 6, 0, 10);
	assert_int_equal(rocescope_blocks_next(b, &block, 0), 0);
	assert_int_equal(rocescope_blocks_next(b, &block, 1), 1);
	assert_int_equal(block.number, COUNT + 5);
	assert_int_equal(block.missing_count, 1);
	assert_int_equal(block.missing[0].first, 0);
	assert_int_equal(block.missing[0].bytes, BLOCK);
	rocescope_blocks_free(b);
}

/* A message may fill several blocks. */
static void large_messages(void **state)
{
	struct rocescope_blocks *b = follow(0, 0);
	struct rocescope_block block;

	(void)state;
	add(b, 0, 0, 5 * BLOCK / 2);
	for (__u64 n = 0; n < 3; n++) {
		assert_int_equal(rocescope_blocks_next(b, &block, n == 2), 1);
		assert_int_equal(block.missing_bytes, n < 2 ? 0 : BLOCK / 2);
		assert_int_equal(rocescope_blocks_torn(b), 0);
		receiver->generations[OFFSET / GRAIN + n * PARTS + 1]++;
		assert_int_equal(rocescope_blocks_torn(b), 1);
	}
	rocescope_blocks_free(b);
}

static void elsewhere(void **state)
{
	struct rocescope_blocks *b = follow(0, 0);
	struct rocescope_completion c = message(OFFSET - 1, 10, 10);

	(void)state;
	assert_int_equal(rocescope_blocks_add(b, &c), 0);
	c = message(OFFSET + COUNT * BLOCK, 10, 10);
	assert_int_equal(rocescope_blocks_add(b, &c), 0);
	c = (struct rocescope_completion){ .offset = ROCESCOPE_NOWHERE };
	assert_int_equal(rocescope_blocks_add(b, &c), 0);
	rocescope_blocks_free(b);
}

/* Only what is written after the block was complete makes it torn, and only where something had come. */
static void torn(void **state)
{
	struct rocescope_blocks *b = follow(0, 0);
	struct rocescope_block block;

	(void)state;
	add(b, 0, 0, GRAIN);
	add(b, 0, GRAIN, GRAIN);
	assert_int_equal(rocescope_blocks_next(b, &block, 1), 1);
	assert_int_equal(rocescope_blocks_torn(b), 0);
	receiver->generations[OFFSET / GRAIN + 2]++;
	assert_int_equal(rocescope_blocks_torn(b), 0);
	receiver->generations[OFFSET / GRAIN + 1]++;
	assert_int_equal(rocescope_blocks_torn(b), 1);
	add(b, 1, 0, BLOCK);
	receiver->generations[OFFSET / GRAIN + PARTS]++; /* before it is asked for */
	assert_int_equal(rocescope_blocks_next(b, &block, 0), 1);
	assert_int_equal(rocescope_blocks_torn(b), 1);
	rocescope_blocks_free(b);
}

static void takes_no_more_than_the_ring(void **state)
{
	struct rocescope_blocks *b = follow(0, 0);
	struct rocescope_block block;

	(void)state;
	for (__u64 n = 0; n < COUNT; n++)
		assert_int_equal(add(b, n, 0, 8), 1);
	assert_int_equal(add(b, COUNT, 0, 8), -1);
	assert_int_equal(rocescope_blocks_next(b, &block, 0), 1);
	assert_int_equal(add(b, COUNT, 0, 8), 1);
	rocescope_blocks_free(b);
}

static void refuses(void **state)
{
	const __u64 all = RECEIVE_CHUNK / BLOCK;

	(void)state;
	assert_null(rocescope_blocks_new(&library, OFFSET, BLOCK, 2, 0, 0));
	assert_null(rocescope_blocks_new(&library, OFFSET + 1, BLOCK, COUNT, 0, 0));
	assert_null(rocescope_blocks_new(&library, OFFSET, BLOCK + 1, COUNT, 0, 0));
	assert_null(rocescope_blocks_new(&library, OFFSET, 0, COUNT, 0, 0));
	assert_null(rocescope_blocks_new(&library, 0, BLOCK, all + 1, 0, 0));
	assert_null(rocescope_blocks_new(&library, RECEIVE_CHUNK + GRAIN, BLOCK, 3, 0, 0));
	assert_null(rocescope_blocks_new(&library, OFFSET, BLOCK, COUNT, 0, COUNT / 2));
	rocescope_blocks_free(rocescope_blocks_new(&library, 0, BLOCK, all, 0, (all - 1) / 2));
}

/* ---- completions ---- */

static struct rocescope_completion immediate(__u32 value, __u8 flags)
{
	struct receive_record record = { .at = RESPONDER_NOWHERE, .qp = 1, .immediate = value, .flags = flags | MESSAGE_IMMEDIATE };
	struct rocescope_completion c;

	receiver_record(receiver, 0, &record, NULL);
	assert_int_equal(rocescope_next(&library, &c, 0), 1);
	assert_int_equal(c.qpn, 0x101);
	assert_null(c.data);
	assert_int_equal(c.offset, ROCESCOPE_NOWHERE);
	return c;
}

static void skipped_immediates(void **state)
{
	(void)state;
	assert_int_equal(immediate(0xfffffffe, 0).skipped, 0);
	assert_int_equal(immediate(0xffffffff, 0).skipped, 0);
	assert_int_equal(immediate(2, 0).skipped, 2);
	assert_int_equal(immediate(1, MESSAGE_LATE).skipped, -2);
	assert_int_equal(immediate(3, 0).skipped, 0);
}

static void places(void **state)
{
	struct receive_record beyond = { .at = RECEIVE_CHUNK - 8, .length = 9, .placed = 9 }, stranger = { .qp = QPS };
	struct rocescope_completion c;

	(void)state;
	library.region[3] = (struct roce_region){ .va = 0x7f0000001000, .at = 8192, .bytes = 4096, .index = 3 };
	receiver_record(receiver, 0, &(struct receive_record){ .at = 8292, .length = 5, .placed = 5, .region = 3 }, NULL);
	receiver_record(receiver, 0, &beyond, NULL);
	receiver_record(receiver, 0, &stranger, NULL);
	assert_int_equal(rocescope_next(&library, &c, 0), 1);
	assert_int_equal(c.va, 0x7f0000001064);
	assert_ptr_equal(c.data, receiver->maps.memory + 8292);
	assert_int_equal(rocescope_next(&library, &c, 0), 1);
	assert_null(c.data); /* what is not in the memory is nowhere */
	assert_int_equal(rocescope_next(&library, &c, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_come, begin, end),
		cmocka_unit_test_setup_teardown(as_the_array_has_it, begin, end),
		cmocka_unit_test_setup_teardown(begins_where_it_is_told, begin, end),
		cmocka_unit_test_setup_teardown(large_messages, begin, end),
		cmocka_unit_test_setup_teardown(elsewhere, begin, end),
		cmocka_unit_test_setup_teardown(torn, begin, end),
		cmocka_unit_test_setup_teardown(takes_no_more_than_the_ring, begin, end),
		cmocka_unit_test_setup_teardown(refuses, begin, end),
		cmocka_unit_test_setup_teardown(skipped_immediates, begin, end),
		cmocka_unit_test_setup_teardown(places, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
