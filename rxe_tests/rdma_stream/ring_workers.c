// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "lib/stop.h"
#include "rxe_tests/rdma_stream/ring_mode.h"
#include "userspace/traffic/streams/filler.h"

/* `done`, and not `handed`: a worker is here again before the first one has handed the batch back. */
static void await_messages(struct ring_worker *w)
{
	struct ring_workers *c = w->all;

	pthread_mutex_lock(&c->lock);
	while (c->told == w->done && !c->over)
		pthread_cond_wait(&c->arrived, &c->lock);
	pthread_mutex_unlock(&c->lock);
}

/* The first worker, before the barrier at which the others learn it. */
static void choose_batch(struct ring_workers *c)
{
	pthread_mutex_lock(&c->lock);
	c->batch = (struct ring_span){ c->handed, c->told - c->handed };
	if (c->unit > 1 && c->batch.count > c->unit)
		c->batch.count = c->unit;
	c->quit = c->over && (!c->batch.count || c->hurry);
	pthread_mutex_unlock(&c->lock);
	c->batches += !c->quit;
	c->straddled += ring_before_end(c->batch, c->capacity) < c->batch.count;
}

static void verify(struct ring_worker *w, const char *at, uint64_t number)
{
	const struct ring_workers *c = w->all;

	w->messages++;
	if (ring_right(at, c->size, number))
		return;
	if (!w->wrong++)
		w->first_wrong = number;
}

/* A slow consumer: on time, however long the messages took. */
static void slow_down(const struct ring_workers *c, uint64_t begin, uint64_t messages)
{
	uint64_t end = begin + messages * c->slow_ns, now;

	while (!c->hurry && !stop && (now = now_ns()) < end)
		sleep_until_ns(end - now < RING_NAP_NS ? end : now + RING_NAP_NS);
}

/* A share that straddles the end of the ring is two pieces: the second one is at its start. */
static void consume(struct ring_worker *w)
{
	const struct ring_workers *c = w->all;
	struct ring_span share = ring_share(c->batch, c->count, w->number);
	uint64_t before = ring_before_end(share, c->capacity), begin = now_ns();
	const char *first = c->ring + share.first % c->capacity * c->size;

	w->straddled += before < share.count;
	for (uint64_t i = 0; i < before; i++)
		verify(w, first + i * c->size, share.first + i);
	for (uint64_t i = before; i < share.count; i++)
		verify(w, c->ring + (i - before) * c->size, share.first + i);
	slow_down(c, begin, share.count);
}

static void hand_back(struct ring_workers *c)
{
	pthread_mutex_lock(&c->lock);
	c->handed += c->batch.count;
	c->handed_ns = now_ns();
	c->handed_back(c->context);
	pthread_mutex_unlock(&c->lock);
}

/* A batch stays the same between the two barriers: only the first worker sets it, and hands it back behind the second. */
static void *work(void *worker)
{
	struct ring_worker *w = worker;
	struct ring_workers *c = w->all;

	for (;;) {
		await_messages(w);
		if (!w->number)
			choose_batch(c);
		pthread_barrier_wait(&c->barrier);
		if (c->quit)
			return NULL;
		consume(w);
		w->done = c->batch.first + c->batch.count;
		pthread_barrier_wait(&c->barrier);
		if (!w->number)
			hand_back(c);
	}
}

void workers_start(struct ring_workers *c)
{
	c->thread = calloc(c->count, sizeof(*c->thread));
	c->worker = calloc(c->count, sizeof(*c->worker));
	if (!c->thread || !c->worker)
		err(1, "no memory");
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->arrived, NULL);
	pthread_barrier_init(&c->barrier, NULL, c->count);
	filler_right(c->ring, 0, 0, 0);	/* makes the pattern, which all threads then read */
	for (unsigned int i = 0; i < c->count; i++) {
		c->worker[i] = (struct ring_worker){ .all = c, .number = i };
		if (pthread_create(&c->thread[i], NULL, work, &c->worker[i]))
			errx(1, "no %u threads", c->count);
	}
}

void workers_tell(struct ring_workers *c, uint64_t told)
{
	c->told = told;
	pthread_cond_broadcast(&c->arrived);
}

void workers_end(struct ring_workers *c, bool discard)
{
	pthread_mutex_lock(&c->lock);
	c->over = true;
	c->hurry |= discard;
	pthread_cond_broadcast(&c->arrived);
	pthread_mutex_unlock(&c->lock);
	for (unsigned int i = 0; i < c->count; i++) {
		const struct ring_worker *w = &c->worker[i];

		pthread_join(c->thread[i], NULL);
		if (w->wrong && (!c->wrong || w->first_wrong < c->first_wrong))
			c->first_wrong = w->first_wrong;
		c->wrong += w->wrong;
	}
}
