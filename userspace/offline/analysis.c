// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/clock.h"
#include "userspace/offline/analysis_files.h"
#include "userspace/offline/analysis_part.h"

#define ALONE_PIECES 16 /* before other threads are started: a short capture is read sooner than they are */
#define SPINS 1000	/* before a thread sleeps that wants to read: being woken up takes longer than what it waits for */

/* How many frames ahead what following a frame needs is fetched into the cache. */
#define SLOT_AHEAD 8
#define STREAM_AHEAD 4

/*
 * Shards are followed by groups, each of which takes the pieces in their order. No thread waits for its turn: who has looked
 * at a piece, and finds a group that nobody is at, follows all that is ready; else who is at it finds the piece.
 */
#define PARTS 3 /* pieces that a thread may have looked at before they are followed */
#define RING 1024
_Static_assert(PARTS * ANALYSIS_THREADS <= RING, "every piece has a place of its own");

struct worker {
	struct analysis *analysis;
	unsigned int index;
	struct analysis_part parts[PARTS]; /* its own, so that their memory stays in its cache */
	pthread_t thread;
};

/* For pieces that are to be followed, by number. */
struct place {
	_Atomic __u64 number; /* + 1, of the piece that is there; 0: none was */
	struct analysis_part *part;
};

struct group {
	pthread_mutex_t lock;
	_Atomic __u64 next; /* number of the piece that it follows next */
} __attribute__((aligned(64)));

struct analysis {
	const struct analysis_settings *settings;
	struct observer *shards;

	/* by `reading`: how far the files are read */
	pthread_mutex_t reading;
	struct analysis_files files;
	bool out_of_memory;
	__u64 pieces, frames; /* of all files */
	__u64 tickets;	      /* given to threads that want to read: their pieces have that order */
	bool unclaimed;	      /* somebody has one without bytes to fetch */
	_Atomic __u64 turn;   /* the ticket whose piece is next */
	__u64 first, latest;  /* times, ns */

	/* following */
	struct place ring[RING];
	struct group groups[ANALYSIS_GROUPS];
	_Atomic __u64 news; /* counts what may make a piece ready */
	bool paired;	    /* pairs are known; by the locks of all groups */
	_Atomic unsigned int asleep; /* threads that wait for one of their parts */
	pthread_mutex_t sleeping;
	pthread_cond_t freed;
};

/* ---- reading ---- */

/* Tells the CPU that this is a loop which waits. */
static void pause_cpu(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

/* By one thread at a time: gives the piece its number, unless it has no frames. false: there is no more. */
static bool read_part(struct analysis *a, struct analysis_part *p)
{
	if (a->out_of_memory || !analysis_files_next(&a->files, &p->piece))
		return false;
	if (!p->piece.count)
		return true;
	a->out_of_memory = !analysis_part_reserve(p);
	if (a->out_of_memory)
		return false;
	p->number = a->pieces++;
	if (!p->number)
		a->first = a->latest = p->piece.frames[0].time;
	p->first_frame = a->frames + 1;
	p->latest = a->latest;
	a->frames += p->piece.count;
	if (p->piece.latest > a->latest)
		a->latest = p->piece.latest;
	analysis_files_show(&a->files, a->frames);
	return true;
}

/* A thread that sleeps comes back late: what it waits for takes others less. */
static void lock_soon(pthread_mutex_t *lock)
{
	for (int i = 0; i < SPINS; i++) {
		if (!pthread_mutex_trylock(lock))
			return;
		pause_cpu();
	}
	pthread_mutex_lock(lock);
}

/* ---- following ---- */

static struct observer *shard_of(const struct analysis *a, const struct analysis_part *p, size_t i)
{
	return &a->shards[observer_shard(&p->looks[i])];
}

static void follow_frame(const struct analysis *a, const struct analysis_part *p, size_t i)
{
	const struct analysis_settings *settings = a->settings;
	const struct capture_frame *f = &p->piece.frames[i];
	struct observer_frame frame = analysis_frame(f);
	const struct observer_look *look = &p->looks[i];
	struct roce_event event;
	struct analysis_seen seen = { .number = p->first_frame + i, .time = f->time, .frame = &frame, .look = look,
				      .event = &event, .shard = observer_shard(look) };

	seen.stream = observer_follow(shard_of(a, p, i), &frame, look, p->now[i], &event);
	if (settings->see)
		settings->see(settings->context, &seen);
}

/* The i-th frame; order: NULL: the file's. */
static size_t nth(const __u32 *order, size_t i)
{
	return order ? order[i] : i;
}

static void follow(const struct analysis *a, const struct analysis_part *p, const __u32 *order, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i + SLOT_AHEAD < count) {
			size_t ahead = nth(order, i + SLOT_AHEAD);

			observer_want_slot(shard_of(a, p, ahead), &p->looks[ahead]);
		}
		if (i + STREAM_AHEAD < count) {
			size_t ahead = nth(order, i + STREAM_AHEAD);

			observer_want_stream(shard_of(a, p, ahead), &p->looks[ahead]);
		}
		follow_frame(a, p, nth(order, i));
	}
}

static void follow_all(struct analysis *a, struct analysis_part *p)
{
	a->paired |= p->management;
	follow(a, p, NULL, p->piece.count);
}

/* ---- following on several threads ---- */

/* So many groups have followed the piece. */
static void passed(struct analysis *a, struct analysis_part *p, unsigned int groups)
{
	if (atomic_fetch_sub(&p->left, groups) > groups || !a->asleep)
		return;
	pthread_mutex_lock(&a->sleeping);
	pthread_cond_broadcast(&a->freed);
	pthread_mutex_unlock(&a->sleeping);
}

/*
 * The piece that the group, whose lock is held, may follow now; NULL: none. Where pairs are known, or may be learnt from the
 * piece, the first group follows it for all of them, when all have come to it.
 */
static struct analysis_part *ready(const struct analysis *a, unsigned int g)
{
	__u64 number = a->groups[g].next;
	const struct place *place = &a->ring[number % RING];

	if (place->number != number + 1)
		return NULL;
	if (!place->part->management && !a->paired)
		return place->part;
	for (unsigned int other = 0; other < ANALYSIS_GROUPS; other++)
		if (g || a->groups[other].next != number)
			return NULL;
	return place->part;
}

static void follow_group(struct analysis *a, unsigned int g, struct analysis_part *p)
{
	follow(a, p, p->order + p->group[g], p->group[g + 1] - p->group[g]);
	a->groups[g].next++;
	passed(a, p, 1);
}

/* By the first group's lock: with those of the others, who have nothing to do. */
static void follow_paired(struct analysis *a, struct analysis_part *p)
{
	for (unsigned int g = 1; g < ANALYSIS_GROUPS; g++)
		pthread_mutex_lock(&a->groups[g].lock);
	follow_all(a, p);
	a->paired = true;
	for (unsigned int g = 0; g < ANALYSIS_GROUPS; g++)
		a->groups[g].next++;
	for (unsigned int g = 1; g < ANALYSIS_GROUPS; g++)
		pthread_mutex_unlock(&a->groups[g].lock);
	passed(a, p, ANALYSIS_GROUPS);
}

/* All that the group may follow, unless somebody is at it. */
static void try_group(struct analysis *a, unsigned int g)
{
	struct analysis_part *p;

	if (pthread_mutex_trylock(&a->groups[g].lock))
		return;
	while ((p = ready(a, g))) {
		if (p->management || a->paired)
			follow_paired(a, p);
		else
			follow_group(a, g, p);
		a->news++;
	}
	pthread_mutex_unlock(&a->groups[g].lock);
}

/*
 * Follows what is ready. Who finds a group taken counts on its holder, who may just have found nothing ready: therefore
 * whoever was at one looks again if there was news since.
 */
static void follow_ready(struct worker *w)
{
	struct analysis *a = w->analysis;
	__u64 news = atomic_fetch_add(&a->news, 0), before;

	do {
		before = news;
		for (unsigned int g = 0; g < ANALYSIS_GROUPS; g++)
			try_group(a, (w->index + g) % ANALYSIS_GROUPS); /* not all at the same one */
		news = atomic_fetch_add(&a->news, 0);
	} while (news != before);
}

static struct analysis_part *free_part(struct worker *w)
{
	for (unsigned int i = 0; i < PARTS; i++)
		if (!w->parts[i].left)
			return &w->parts[i];
	return NULL;
}

/* One of its parts that is followed; others are at them. */
static struct analysis_part *await_part(struct worker *w)
{
	struct analysis *a = w->analysis;
	struct analysis_part *p = free_part(w);

	if (p)
		return p;
	pthread_mutex_lock(&a->sleeping);
	a->asleep++;
	while (!(p = free_part(w)))
		pthread_cond_wait(&a->freed, &a->sleeping);
	a->asleep--;
	pthread_mutex_unlock(&a->sleeping);
	return p;
}

static void publish(struct analysis *a, struct analysis_part *p)
{
	struct place *place = &a->ring[p->number % RING];

	p->left = ANALYSIS_GROUPS;
	place->part = p;
	place->number = p->number + 1;
	a->news++;
}

/* ---- threads ---- */

/* A slow disk is not to be waited for by all CPUs. */
static void wait_a_little(int tries)
{
	static const struct timespec moment = { .tv_nsec = 200000 };

	if (tries < SPINS)
		pause_cpu();
	else if (tries < 2 * SPINS)
		sched_yield();
	else
		nanosleep(&moment, NULL);
}

/*
 * Copying a plain file's bytes is much of the work: that is done by several at once, before their turn. Where nothing can be
 * claimed, only one thread has a ticket: what others would claim then lay before what it will read.
 */
static __u64 take_ticket(struct analysis *a, struct analysis_part *p)
{
	const struct capture *c;
	__u64 ticket;

	lock_soon(&a->reading);
	for (int i = 0; a->unclaimed; i++) {
		pthread_mutex_unlock(&a->reading);
		wait_a_little(i);
		lock_soon(&a->reading);
	}
	c = a->files.capture;
	ticket = a->tickets++;
	a->unclaimed = !c || !capture_claim(a->files.capture, &p->piece);
	pthread_mutex_unlock(&a->reading);
	if (p->piece.claimed)
		capture_fetch(c, &p->piece);
	return ticket;
}

static bool take(struct analysis *a, struct analysis_part *p)
{
	__u64 ticket = take_ticket(a, p);
	bool taken, claimed = p->piece.claimed;

	for (int i = 0; a->turn != ticket; i++)
		wait_a_little(i);
	lock_soon(&a->reading);
	taken = read_part(a, p);
	if (!claimed)
		a->unclaimed = false;
	a->turn++;
	pthread_mutex_unlock(&a->reading);
	return taken;
}

static void *run_thread(void *worker)
{
	struct worker *w = worker;
	struct analysis_part *p;

	while (take(w->analysis, p = await_part(w))) {
		if (!p->piece.count)
			continue;
		analysis_part_look(p, w->analysis->settings);
		analysis_part_sort(p);
		publish(w->analysis, p);
		follow_ready(w);
	}
	return NULL;
}

/* What is left to be read, on all threads; with those that can be had. The first one is the caller. */
static void run_threads(struct analysis *a, struct worker *workers, unsigned int threads)
{
	unsigned int count = 1;

	for (unsigned int g = 0; g < ANALYSIS_GROUPS; g++) {
		pthread_mutex_init(&a->groups[g].lock, NULL);
		a->groups[g].next = a->pieces;
	}
	while (count < threads && !pthread_create(&workers[count].thread, NULL, run_thread, &workers[count]))
		count++;
	run_thread(&workers[0]);
	while (--count)
		pthread_join(workers[count].thread, NULL);
}

/* Alone at first; then the threads, if there is more. */
static void run(struct analysis *a, struct worker *workers, unsigned int threads)
{
	struct analysis_part *p = &workers[0].parts[0];
	bool more = true;

	while (more && (threads < 2 || a->pieces < ALONE_PIECES)) {
		more = read_part(a, p);
		if (!more)
			break;
		analysis_part_look(p, a->settings);
		follow_all(a, p);
	}
	if (more)
		run_threads(a, workers, threads);
	analysis_files_end(&a->files);
}

static struct worker *workers_new(struct analysis *a, unsigned int threads)
{
	struct worker *workers = calloc(threads, sizeof(*workers));

	for (unsigned int i = 0; workers && i < threads; i++) {
		workers[i].analysis = a;
		workers[i].index = i;
	}
	return workers;
}

static void workers_free(struct worker *workers, unsigned int threads)
{
	for (unsigned int i = 0; workers && i < threads * PARTS; i++) {
		struct analysis_part *p = &workers[i / PARTS].parts[i % PARTS];

		analysis_part_free(p);
	}
	free(workers);
}

/* ---- the result ---- */

static bool prepare(struct analysis *a)
{
	const struct expected *e = a->settings->expected;

	a->shards = aligned_alloc(64, ANALYSIS_SHARDS * sizeof(*a->shards));
	if (!a->shards)
		return false;
	for (unsigned int i = 0; i < ANALYSIS_SHARDS; i++)
		a->shards[i] = (struct observer){ .shards = a->shards,
						  .table.max = (a->settings->max_streams + ANALYSIS_SHARDS - 1) / ANALYSIS_SHARDS };
	for (size_t i = 0; e && i < e->count; i++)
		if (!pairs_put(&a->shards[0].pairs, &e->entries[i].key, &e->entries[i].pair))
			return false;
	a->paired = e && e->count;
	return true;
}

/* Moves the streams of all shards into one array, and sums their totals. */
static bool collect(struct analysis *a, struct snapshot *s)
{
	size_t count = 0;

	for (unsigned int i = 0; i < ANALYSIS_SHARDS; i++)
		count += a->shards[i].table.count;
	s->streams = count ? malloc(count * sizeof(*s->streams)) : NULL;
	if (count && !s->streams)
		return false;
	for (unsigned int i = 0; i < ANALYSIS_SHARDS; i++) {
		struct snapshot_stream *streams = table_take(&a->shards[i].table, &count);

		if (count)
			memcpy(s->streams + s->stream_count, streams, count * sizeof(*streams));
		s->stream_count += count;
		free(streams);
		for (unsigned int c = 0; c < ROCE_COUNTERS; c++)
			s->totals.value[c] += a->shards[i].totals.value[c];
	}
	return true;
}

static int finish(struct analysis *a, struct snapshot *s)
{
	*s = (struct snapshot){
		.time = { a->latest / NSEC_PER_SEC, a->latest % NSEC_PER_SEC },
		.seconds = (a->latest - a->first) / 1e9,
		.complete = a->files.complete,
		.selection = a->files.selection,
	};
	if (!a->frames)
		clock_gettime(CLOCK_REALTIME, &s->time);
	if (a->out_of_memory || !collect(a, s))
		return -1;
	snapshot_finish(s);
	return a->files.opened;
}

int analysis_run(const struct analysis_settings *settings, char *const files[], size_t count, struct snapshot *s)
{
	struct analysis a = {
		.settings = settings,
		.reading = PTHREAD_MUTEX_INITIALIZER,
		.files = analysis_files(settings, files, count),
		.sleeping = PTHREAD_MUTEX_INITIALIZER,
		.freed = PTHREAD_COND_INITIALIZER,
	};
	unsigned int threads = settings->threads < ANALYSIS_THREADS ? settings->threads : ANALYSIS_THREADS;
	struct worker *workers = workers_new(&a, threads);
	int result = -1;

	if (workers && prepare(&a)) {
		run(&a, workers, threads);
		result = finish(&a, s);
	}
	workers_free(workers, threads);
	for (unsigned int i = 0; a.shards && i < ANALYSIS_SHARDS; i++)
		observer_free(&a.shards[i]);
	free(a.shards);
	return result;
}
