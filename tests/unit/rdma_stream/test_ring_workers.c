// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The workers, without RDMA: this thread writes messages into the ring and tells them. With the thread sanitizer. */
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "rxe_tests/rdma_stream/ring_mode.h"
#include "tests/unit/cmocka_includes.h"
#include "userspace/traffic/streams/filler.h"

#define SIZE	64
#define MESSAGES	3000

static char pattern[SIZE + RING_FILLERS * FILLER_STEP];

static void write_message(char *ring, uint64_t capacity, uint64_t number)
{
	char *at = ring + number % capacity * SIZE;

	ring_header(at, number);
	memcpy(at + RING_HEADER, pattern + ring_filler(number) * FILLER_STEP, SIZE - RING_HEADER);
}

static void count_back(void *context)
{
	++*(uint64_t *)context;
}

static uint64_t handed(struct ring_workers *c)
{
	uint64_t n;

	pthread_mutex_lock(&c->lock);
	n = c->handed;
	pthread_mutex_unlock(&c->lock);
	return n;
}

static void tell(struct ring_workers *c, uint64_t told)
{
	pthread_mutex_lock(&c->lock);
	workers_tell(c, told);
	pthread_mutex_unlock(&c->lock);
}

/* Sends as a sender with credit does, `step` messages at a time; message `spoilt` with a wrong byte. */
static void feed(struct ring_workers *c, char *ring, uint64_t step, uint64_t spoilt)
{
	for (uint64_t sent = 0; sent < MESSAGES; sent += step) {
		while (sent + step > handed(c) + c->capacity)
			sleep_until_ns(now_ns() + 20 * NSEC_PER_USEC);
		for (uint64_t number = sent; number < sent + step; number++) {
			write_message(ring, c->capacity, number);
			if (number == spoilt)
				ring[number % c->capacity * SIZE + SIZE - 1] ^= 1;
		}
		tell(c, sent + step);
	}
}

static void run(unsigned int workers, uint64_t unit, uint64_t step, uint64_t capacity)
{
	char *ring = calloc(capacity, SIZE);
	uint64_t batches = 0, messages = 0, straddled = 0;
	struct ring_workers c = { .ring = ring, .size = SIZE, .capacity = capacity, .unit = unit, .count = workers,
			  .handed_back = count_back, .context = &batches };

	workers_start(&c);
	feed(&c, ring, step, 1234);
	workers_end(&c, false);
	for (unsigned int i = 0; i < workers; i++) {
		messages += c.worker[i].messages;
		straddled += c.worker[i].straddled;
	}
	assert_int_equal(c.handed, MESSAGES);
	assert_int_equal(messages, MESSAGES);
	assert_int_equal(c.wrong, 1);
	assert_int_equal(c.first_wrong, 1234);
	assert_int_equal(batches, c.batches);
	assert_true(straddled <= c.straddled);
	if (unit > 1)
		assert_int_equal(c.batches, MESSAGES / unit);
	free(c.worker);
	free(c.thread);
	free(ring);
}

static void test_bursts(void **state)
{
	(void)state;
	for (unsigned int workers = 1; workers <= 16; workers *= 2)
		run(workers, 20, 20, 80);
}

static void test_stream(void **state)
{
	(void)state;
	for (unsigned int workers = 1; workers <= 16; workers *= 2)
		run(workers, 1, 30, 101);
}

/* Slow workers, and an end that does not wait for them. */
static void test_discard(void **state)
{
	char *ring = calloc(100, SIZE);
	uint64_t batches = 0, begin = now_ns();
	struct ring_workers c = { .ring = ring, .size = SIZE, .capacity = 100, .unit = 10, .count = 4, .slow_ns = 1000 * NSEC_PER_SEC,
			  .handed_back = count_back, .context = &batches };

	(void)state;
	workers_start(&c);
	for (uint64_t number = 0; number < 100; number++)
		write_message(ring, 100, number);
	tell(&c, 100);
	workers_end(&c, true);
	assert_true(c.handed <= 10);
	assert_true(now_ns() - begin < 1000 * NSEC_PER_SEC);
	free(c.worker);
	free(c.thread);
	free(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_stream),
		cmocka_unit_test(test_discard),
	};

	filler_make(pattern, sizeof(pattern));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
