// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/clock.h"
#include "userspace/analysis.h"

/*
 * Shards are followed by groups: a turn is waited for, and passed on, once for each group of a piece. Several, so that one
 * thread can follow while another one does.
 */
#define GROUPS 4
#define ALONE_PIECES 16 /* before other threads are started: a short capture is read sooner than they are */
#define SPINS 2000 /* before a thread sleeps: some 50 us, which is what being woken up takes, and twice what a piece does */

/* How many frames ahead what following a frame needs is fetched into the cache. */
#define SLOT_AHEAD 8
#define STREAM_AHEAD 4

struct analysis {
	const struct analysis_settings *settings;
	struct observer *shards;
	bool threaded; /* else nothing is locked */

	/* by `reading`: how far the files are read */
	pthread_mutex_t reading;
	char *const *files;
	size_t file_count;
	struct capture *capture; /* the open one */
	size_t opened;
	bool complete, out_of_memory;
	__u64 pieces, frames; /* of all files; frames without the open one's */
	__u64 first, latest;  /* times, ns */
	bool progress_shown;
	__u64 progress_next; /* ns, monotonic */

	/* following: the number of the piece whose turn it is, for each group */
	_Atomic __u64 turn[GROUPS];
	bool paired; /* pairs are known; belongs to who has the turn of the first group */
	_Atomic unsigned int asleep; /* threads that wait for a turn */
	pthread_mutex_t following;
	pthread_cond_t passed;
};

struct worker {
	struct analysis *analysis;
	struct capture_piece piece;
	__u64 number;	   /* of the piece, from 0 */
	__u64 first_frame; /* number of its first frame over all files */
	__u64 latest;	   /* time, ns, of all frames before it */
	/* for each frame of the piece, as far as there is room */
	struct observer_look *looks;
	__u64 *now;   /* ns: the latest time up to it */
	__u32 *order; /* of frames, by groups */
	size_t room;
	size_t group[GROUPS + 1]; /* where each begins in order[] */
	bool management;	  /* a packet that may tell of a pair is in the piece */
};

/* ---- progress ---- */

static void progress_clear(struct analysis *a)
{
	if (a->progress_shown)
		fputs("\r\033[K", stderr);
	a->progress_shown = false;
}

static void progress_show(struct analysis *a, __u64 frames)
{
	__u64 now = now_ns(), size = capture_size(a->capture);

	if (now < a->progress_next)
		return;
	fprintf(stderr, "\r\033[Kreading %s: %.1f million frames", capture_name(a->capture), frames / 1e6);
	if (size)
		fprintf(stderr, ", %.0f %% of the file", 100.0 * capture_position(a->capture) / size);
	a->progress_shown = true;
	a->progress_next = now + NSEC_PER_SEC / 2;
}

/* ---- reading ---- */

static void complain(struct analysis *a, const char *name, const char *why)
{
	progress_clear(a);
	fprintf(stderr, "rocescope: %s: %s\n", name, why);
	a->complete = false;
}

/* Opens the next file that can be. false: there is none. */
static bool open_next(struct analysis *a)
{
	char error[CAPTURE_ERROR];

	for (; !a->capture && a->file_count; a->files++, a->file_count--) {
		a->capture = capture_open(*a->files, a->settings->link, error);
		if (a->capture)
			a->opened++;
		else
			complain(a, strcmp(*a->files, "-") ? *a->files : "standard input", error);
	}
	return a->capture;
}

/* The next piece of all files. false: there is none. */
static bool read_next(struct analysis *a, struct capture_piece *piece)
{
	while (open_next(a)) {
		int more = capture_read(a->capture, piece);

		if (more > 0)
			return true;
		if (more < 0)
			complain(a, capture_name(a->capture), capture_error(a->capture));
		capture_close(a->capture);
		a->capture = NULL;
	}
	return false;
}

static void free_room(struct worker *w)
{
	free(w->looks);
	free(w->now);
	free(w->order);
}

static bool make_room(struct worker *w)
{
	size_t room = w->piece.count;

	if (room <= w->room)
		return true;
	free_room(w);
	w->looks = calloc(room, sizeof(*w->looks));
	w->now = calloc(room, sizeof(*w->now));
	w->order = calloc(room, sizeof(*w->order));
	w->room = w->looks && w->now && w->order ? room : 0;
	return w->room;
}

/* Tells the CPU that this is a loop which waits. */
static void pause_cpu(void)
{
#ifdef __x86_64__
	__builtin_ia32_pause();
#endif
}

/* By one thread at a time: gives the piece its number. */
static bool take_piece(struct worker *w)
{
	struct analysis *a = w->analysis;
	const struct analysis_settings *settings = a->settings;

	if (a->out_of_memory)
		return false;
	if (settings->stop && *settings->stop) {
		a->complete = false;
		return false;
	}
	if (!read_next(a, &w->piece))
		return false;
	a->out_of_memory = !make_room(w);
	if (a->out_of_memory)
		return false;
	w->number = a->pieces++;
	if (!w->number)
		a->first = a->latest = w->piece.frames[0].time;
	w->first_frame = a->frames + 1;
	w->latest = a->latest;
	a->frames += w->piece.count;
	if (w->piece.latest > a->latest)
		a->latest = w->piece.latest;
	if (settings->progress)
		progress_show(a, a->frames);
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

static bool take(struct worker *w)
{
	struct analysis *a = w->analysis;
	bool taken;

	if (!a->threaded)
		return take_piece(w);
	lock_soon(&a->reading);
	taken = take_piece(w);
	pthread_mutex_unlock(&a->reading);
	return taken;
}

/* ---- looking ---- */

_Static_assert(CAPTURE_SLACK >= OBSERVER_READABLE, "frames are looked at where they are");

static struct observer_frame frame_of(const struct capture_frame *f)
{
	return (struct observer_frame){ .bytes = f->bytes, .captured = f->captured, .wire = f->wire, .no_icrc = f->no_icrc };
}

/* Frames from `from` on, as many as are looked at together. Returns the next one. */
static size_t look_at_some(struct worker *w, size_t from)
{
	const struct analysis_settings *settings = w->analysis->settings;
	struct observer_frame frames[OBSERVER_BATCH];
	size_t count = 0;

	for (; count < OBSERVER_BATCH && from + count < w->piece.count; count++)
		frames[count] = frame_of(&w->piece.frames[from + count]);
	observer_look_at(frames, count, &settings->ports, &w->looks[from]);
	for (size_t i = 0; i < count; i++)
		w->management |= roce_is_management(&w->looks[from + i].packet);
	return from + count;
}

static void look(struct worker *w)
{
	__u64 now = w->latest;

	w->management = false;
	for (size_t i = 0; i < w->piece.count;)
		i = look_at_some(w, i);
	for (size_t i = 0; i < w->piece.count; i++) {
		if (w->piece.frames[i].time > now)
			now = w->piece.frames[i].time;
		w->now[i] = now;
	}
}

/* Shards of one group lie side by side, so that no two threads write to one cache line. */
static unsigned int group_of(const struct observer_look *look)
{
	return observer_shard(look) / (ANALYSIS_SHARDS / GROUPS);
}

/* Lists the frames by groups, in their order in each. */
static void sort(struct worker *w)
{
	size_t next[GROUPS] = { 0 }, sum = 0;

	for (size_t i = 0; i < w->piece.count; i++)
		next[group_of(&w->looks[i])]++;
	for (unsigned int g = 0; g < GROUPS; g++) {
		w->group[g] = sum;
		sum += next[g];
		next[g] = w->group[g];
	}
	w->group[GROUPS] = sum;
	for (size_t i = 0; i < w->piece.count; i++)
		w->order[next[group_of(&w->looks[i])]++] = i;
}

/* ---- following ---- */

static struct observer *shard_of(const struct worker *w, size_t i)
{
	return &w->analysis->shards[observer_shard(&w->looks[i])];
}

static void follow_frame(struct worker *w, size_t i)
{
	const struct analysis_settings *settings = w->analysis->settings;
	const struct capture_frame *f = &w->piece.frames[i];
	struct observer_frame frame = frame_of(f);
	const struct observer_look *look = &w->looks[i];
	struct roce_event event;
	struct analysis_seen seen = { .number = w->first_frame + i, .time = f->time, .frame = &frame, .look = look,
				      .event = &event, .shard = observer_shard(look) };

	seen.stream = observer_follow(shard_of(w, i), &frame, look, w->now[i], &event);
	if (settings->see)
		settings->see(settings->context, &seen);
}

/* The i-th frame; order: NULL: the file's. */
static size_t nth(const __u32 *order, size_t i)
{
	return order ? order[i] : i;
}

static void follow(struct worker *w, const __u32 *order, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i + SLOT_AHEAD < count) {
			size_t ahead = nth(order, i + SLOT_AHEAD);

			observer_want_slot(shard_of(w, ahead), &w->looks[ahead]);
		}
		if (i + STREAM_AHEAD < count) {
			size_t ahead = nth(order, i + STREAM_AHEAD);

			observer_want_stream(shard_of(w, ahead), &w->looks[ahead]);
		}
		follow_frame(w, nth(order, i));
	}
}

static void await_turn(struct worker *w, unsigned int group)
{
	struct analysis *a = w->analysis;

	for (int i = 0; i < SPINS; i++) {
		if (a->turn[group] == w->number)
			return;
		pause_cpu();
	}
	pthread_mutex_lock(&a->following);
	a->asleep++;
	while (a->turn[group] != w->number)
		pthread_cond_wait(&a->passed, &a->following);
	a->asleep--;
	pthread_mutex_unlock(&a->following);
}

static void pass_turn(struct worker *w, unsigned int group)
{
	struct analysis *a = w->analysis;

	a->turn[group] = w->number + 1;
	if (!a->asleep) /* who is about to sleep says so before it looks at the turn */
		return;
	pthread_mutex_lock(&a->following);
	pthread_cond_broadcast(&a->passed);
	pthread_mutex_unlock(&a->following);
}

/* Who has the turn of the first group knows of all pairs that were learnt before: then it is passed on last. */
static void follow_paired(struct worker *w)
{
	for (unsigned int g = 1; g < GROUPS; g++)
		await_turn(w, g);
	w->analysis->paired = true;
	follow(w, NULL, w->piece.count);
	for (unsigned int g = GROUPS; g-- > 0;)
		pass_turn(w, g);
}

static void follow_by_turns(struct worker *w)
{
	sort(w);
	for (unsigned int g = 0; g < GROUPS; g++) {
		await_turn(w, g);
		if (!g && (w->management || w->analysis->paired)) {
			follow_paired(w);
			return;
		}
		follow(w, w->order + w->group[g], w->group[g + 1] - w->group[g]);
		pass_turn(w, g);
	}
}

/* ---- threads ---- */

static bool work_on(struct worker *w)
{
	if (!take(w))
		return false;
	look(w);
	if (w->analysis->threaded) {
		follow_by_turns(w);
	} else {
		w->analysis->paired |= w->management;
		follow(w, NULL, w->piece.count);
	}
	return true;
}

static void worker_free(struct worker *w)
{
	capture_piece_free(&w->piece);
	free_room(w);
}

static void *run_thread(void *analysis)
{
	struct worker w = { .analysis = analysis };

	while (work_on(&w))
		;
	worker_free(&w);
	return NULL;
}

/* What is left to be read, on all threads; with those that can be had. */
static void run_threads(struct analysis *a, unsigned int threads)
{
	pthread_t others[ANALYSIS_THREADS];
	unsigned int count = 0;

	for (unsigned int g = 0; g < GROUPS; g++)
		a->turn[g] = a->pieces;
	a->threaded = true;
	while (count < threads - 1 && !pthread_create(&others[count], NULL, run_thread, a))
		count++;
	run_thread(a);
	while (count)
		pthread_join(others[--count], NULL);
}

static void run(struct analysis *a)
{
	unsigned int threads = a->settings->threads < ANALYSIS_THREADS ? a->settings->threads : ANALYSIS_THREADS;
	struct worker w = { .analysis = a };
	bool more;

	do {
		more = work_on(&w);
	} while (more && (threads < 2 || a->pieces < ALONE_PIECES));
	worker_free(&w);
	if (more)
		run_threads(a, threads);
	progress_clear(a);
	if (a->capture)
		capture_close(a->capture);
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
		.complete = a->complete,
	};
	if (!a->frames)
		clock_gettime(CLOCK_REALTIME, &s->time);
	if (a->out_of_memory || !collect(a, s))
		return -1;
	snapshot_finish(s);
	return a->opened;
}

int analysis_run(const struct analysis_settings *settings, char *const files[], size_t count, struct snapshot *s)
{
	struct analysis a = {
		.settings = settings,
		.reading = PTHREAD_MUTEX_INITIALIZER,
		.files = files,
		.file_count = count,
		.complete = true,
		.progress_next = now_ns() + 2 * NSEC_PER_SEC,
		.following = PTHREAD_MUTEX_INITIALIZER,
		.passed = PTHREAD_COND_INITIALIZER,
	};
	int result = -1;

	if (prepare(&a)) {
		run(&a);
		result = finish(&a, s);
	}
	for (unsigned int i = 0; a.shards && i < ANALYSIS_SHARDS; i++)
		observer_free(&a.shards[i]);
	free(a.shards);
	return result;
}
