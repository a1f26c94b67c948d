// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/clock.h"
#include "userspace/observe/offline/analysis_files.h"
#include "userspace/observe/offline/analysis_part.h"

#define ALONE_PIECES 16 /* pieces read before other threads start: a short capture is read faster than threads start */
#define SPINS 1000	/* tries before a thread that waits to read sleeps: waking up takes longer than most waits */

/* How many frames ahead the memory for following a frame is prefetched. */
#define SLOT_AHEAD 8
#define STREAM_AHEAD 4

/*
 * Shards are followed in groups. Each group takes the pieces in their order. No thread waits for its turn: a thread that has
 * looked at a piece follows all that is ready in each free group. If a group is taken, the thread that has it finds the piece.
 */
#define PARTS 3 /* pieces of one thread that wait to be followed */
#define RING 1024
_Static_assert(PARTS * ANALYSIS_THREADS <= RING, "every piece has a place of its own");

struct worker {
	struct analysis *analysis;
	unsigned int index;
	struct analysis_part parts[PARTS]; /* its own, so that their memory stays in its cache */
	pthread_t thread;
};

/* An entry of the ring of pieces to be followed, by number. */
struct analysis_place {
	_Atomic __u64 number; /* number + 1 of the piece in it; 0: none yet */
	struct analysis_part *part;
};

struct analysis_group {
	pthread_mutex_t lock;
	_Atomic __u64 next; /* number of the next piece to follow */
} __attribute__((aligned(64)));

struct analysis {
	const struct analysis_settings *settings;
	struct observer *shards;

	/* under `reading`: how far the files are read */
	pthread_mutex_t reading;
	struct analysis_files files;
	bool out_of_memory;
	__u64 pieces, frames; /* of all files */
	__u64 tickets;	      /* given to threads that want to read: pieces are in the order of tickets */
	bool unclaimed;	      /* a thread has a ticket without having claimed bytes to fetch */
	_Atomic __u64 turn;   /* the ticket whose piece is read next */
	__u64 first, latest;  /* times, ns */

	/* following */
	struct analysis_place ring[RING];
	struct analysis_group groups[ANALYSIS_GROUPS];
	_Atomic __u64 news; /* counts events that may make a piece ready */
	bool paired;	    /* pairs are known; changed under the locks of all groups */
	_Atomic unsigned int asleep; /* threads that wait for a free part */
	pthread_mutex_t sleeping;
	pthread_cond_t freed;
};

/* ---- reading ---- */

/* Hint to the CPU: this loop waits. */
static void pause_cpu(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

/* Called by one thread at a time. Numbers the piece, unless it has no frames. false: no more pieces. */
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

/* Spins before it sleeps: the lock is free again sooner than a sleeping thread wakes up. */
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
	return &a->shards[observer_shard(&p->parsed[i])];
}

static void follow_frame(const struct analysis *a, const struct analysis_part *p, size_t i)
{
	const struct analysis_settings *settings = a->settings;
	const struct capture_frame *f = &p->piece.frames[i];
	struct observer_frame frame = analysis_frame(f);
	struct observer_parsed *parsed = &p->parsed[i];
	struct roce_event event;
	struct analysis_seen seen = { .number = p->first_frame + i, .time = f->time, .frame = &frame, .parsed = parsed,
				      .event = &event, .shard = observer_shard(parsed) };

	seen.stream = observer_follow(shard_of(a, p, i), &frame, parsed, p->now[i], &event);
	if (settings->see)
		settings->see(settings->context, &seen);
}

/* Index of frame i in this order. NULL: in the order of the file. */
static size_t nth(const __u32 *order, size_t i)
{
	return order ? order[i] : i;
}

static void follow(const struct analysis *a, const struct analysis_part *p, const __u32 *order, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i + SLOT_AHEAD < count) {
			size_t ahead = nth(order, i + SLOT_AHEAD);

			observer_want_slot(shard_of(a, p, ahead), &p->parsed[ahead]);
		}
		if (i + STREAM_AHEAD < count) {
			size_t ahead = nth(order, i + STREAM_AHEAD);

			observer_want_stream(shard_of(a, p, ahead), &p->parsed[ahead]);
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

/* `groups` more groups have followed the piece. */
static void passed(struct analysis *a, struct analysis_part *p, unsigned int groups)
{
	if (atomic_fetch_sub(&p->left, groups) > groups || !a->asleep)
		return;
	pthread_mutex_lock(&a->sleeping);
	pthread_cond_broadcast(&a->freed);
	pthread_mutex_unlock(&a->sleeping);
}

/*
 * The next piece that the group may follow; NULL: none. The caller holds the group's lock. If pairs are known, or may be learnt
 * from the piece, the first group follows it for all groups, after all of them have reached it.
 */
static struct analysis_part *ready(const struct analysis *a, unsigned int g)
{
	__u64 number = a->groups[g].next;
	const struct analysis_place *place = &a->ring[number % RING];

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

/* The caller holds the first group's lock. The other groups have no work: take their locks too. */
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

/* Follows all that is ready in the group, unless another thread has it. */
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
 * Follows what is ready. A thread skips a group that another thread has; that thread may just have found nothing ready. So each
 * thread looks again if `news` changed meanwhile.
 */
static void follow_ready(struct worker *w)
{
	struct analysis *a = w->analysis;
	__u64 news = atomic_fetch_add(&a->news, 0), before;

	do {
		before = news;
		for (unsigned int g = 0; g < ANALYSIS_GROUPS; g++)
			try_group(a, (w->index + g) % ANALYSIS_GROUPS); /* threads begin at different groups */
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

/* A part that all groups have followed. Sleeps if there is none: other threads have them. */
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
	struct analysis_place *place = &a->ring[p->number % RING];

	p->left = ANALYSIS_GROUPS;
	place->part = p;
	place->number = p->number + 1;
	a->news++;
}

/* ---- threads ---- */

/* Spin, then yield, then sleep: a slow disk must not keep all CPUs busy. */
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
 * Copying the bytes of a plain file is much of the work: several threads do it at once, before their turn. If bytes cannot be
 * claimed, only one thread has a ticket: bytes that another thread claimed then would lie before those that this one will read.
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
		analysis_part_parse(p, w->analysis->settings);
		analysis_part_sort(p);
		publish(w->analysis, p);
		follow_ready(w);
	}
	return NULL;
}

/* Reads the rest on up to `threads` threads, as many as can be created. The caller is the first. */
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

/* Reads the first pieces alone, and the rest, if any, with more threads. */
static void run(struct analysis *a, struct worker *workers, unsigned int threads)
{
	struct analysis_part *p = &workers[0].parts[0];
	bool more = true;

	while (more && (threads < 2 || a->pieces < ALONE_PIECES)) {
		more = read_part(a, p);
		if (!more)
			break;
		analysis_part_parse(p, a->settings);
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
		a->shards[i] = (struct observer){
			.shards = a->shards,
			.once = a->settings->once,
			.compares = true,
			.table.max = (a->settings->max_streams + ANALYSIS_SHARDS - 1) / ANALYSIS_SHARDS,
		};
	for (size_t i = 0; e && i < e->count; i++)
		if (!pairs_put(&a->shards[0].pairs, &e->entries[i].key, &e->entries[i].pair))
			return false;
	a->paired = e && e->count;
	return true;
}

/* Moves the streams of all shards into one array and sums their totals. */
static bool collect(struct analysis *a, struct snapshot *s)
{
	struct untracked_sum untracked = { 0 };
	bool summed = true;
	size_t count = 0;

	for (unsigned int i = 0; i < ANALYSIS_SHARDS; i++) {
		observer_count_unseen(&a->shards[i]);
		count += a->shards[i].table.count;
	}
	s->streams = count ? malloc(count * sizeof(*s->streams)) : NULL;
	if (count && !s->streams)
		return false;
	for (unsigned int i = 0; i < ANALYSIS_SHARDS; i++) {
		struct snapshot_stream *streams = table_take(&a->shards[i].table, &count);

		if (count)
			memcpy(s->streams + s->stream_count, streams, count * sizeof(*streams));
		s->stream_count += count;
		free(streams);
		roce_add_totals(&s->totals, &a->shards[i].totals);
		summed &= untracked_add(&untracked, &a->shards[i].untracked);
	}
	/* a shard has compared short frames with its own whole ones only */
	for (unsigned int i = 0; s->totals.value[COUNTER_short_frames] && i < ANALYSIS_SHARDS; i++)
		if (a->shards[i].longest > s->totals.value[COUNTER_whole_most])
			s->totals.value[COUNTER_whole_most] = a->shards[i].longest;
	untracked_finish(&untracked, &s->untracked);
	return summed;
}

static int finish(struct analysis *a, struct snapshot *s)
{
	*s = (struct snapshot){
		.time = { a->latest / NSEC_PER_SEC, a->latest % NSEC_PER_SEC },
		.seconds = (a->latest - a->first) / 1e9,
		.complete = a->files.complete,
		.selection = a->files.selection || a->settings->selection,
		.left_out = a->files.left_out,
		.ports = &a->settings->ports,
		.max_streams = a->settings->max_streams,
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
