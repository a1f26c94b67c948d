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
#define GROUPS 8
#define ALONE_PIECES 8 /* before other threads are started: a short capture is read sooner than they are */

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

	/* by `following`: the number of the piece that may be followed next, for each group */
	pthread_mutex_t following;
	pthread_cond_t passed;
	__u64 turn[GROUPS];
	bool paired; /* pairs are known */
};

struct worker {
	struct analysis *analysis;
	struct capture_piece piece;
	__u64 number;	   /* of the piece, from 0 */
	__u64 first_frame; /* number of its first frame over all files */
	__u64 latest;	   /* time, ns, of all frames before it */
	/* for each frame of the piece, as far as there is room */
	struct frame_look *looks;
	__u32 *order; /* of frames, by groups */
	size_t room;
	size_t group[GROUPS + 1]; /* where each begins in order[] */
	bool management;	  /* a packet that may tell of a pair is in the piece */
};

struct frame_look {
	struct observer_look look;
	__u64 now; /* ns: the latest time up to this frame */
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
			complain(a, *a->files, error);
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

static bool make_room(struct worker *w)
{
	size_t room = w->piece.count;

	if (room <= w->room)
		return true;
	free(w->looks);
	free(w->order);
	w->looks = calloc(room, sizeof(*w->looks));
	w->order = calloc(room, sizeof(*w->order));
	w->room = w->looks && w->order ? room : 0;
	return w->room;
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

static bool take(struct worker *w)
{
	struct analysis *a = w->analysis;
	bool taken;

	if (!a->threaded)
		return take_piece(w);
	pthread_mutex_lock(&a->reading);
	taken = take_piece(w);
	pthread_mutex_unlock(&a->reading);
	return taken;
}

/* ---- looking ---- */

static struct observer_frame frame_of(const struct capture_frame *f)
{
	return (struct observer_frame){ .bytes = f->bytes, .captured = f->captured, .wire = f->wire, .no_icrc = f->no_icrc };
}

static void look(struct worker *w)
{
	const struct analysis_settings *settings = w->analysis->settings;
	__u64 now = w->latest;

	w->management = false;
	for (size_t i = 0; i < w->piece.count; i++) {
		const struct capture_frame *f = &w->piece.frames[i];
		struct observer_frame frame = frame_of(f);
		struct frame_look *l = &w->looks[i];

		if (f->time > now)
			now = f->time;
		l->now = now;
		observer_look(&frame, &settings->ports, &l->look);
		w->management |= roce_is_management(&l->look.packet);
	}
}

static unsigned int group_of(const struct frame_look *l)
{
	return observer_shard(&l->look) % GROUPS;
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

static void follow_frame(struct worker *w, size_t i)
{
	const struct analysis_settings *settings = w->analysis->settings;
	const struct frame_look *l = &w->looks[i];
	const struct capture_frame *f = &w->piece.frames[i];
	struct observer_frame frame = frame_of(f);
	struct roce_event event;
	struct analysis_seen seen = { .number = w->first_frame + i, .time = f->time, .frame = &frame, .look = &l->look,
				      .event = &event, .shard = observer_shard(&l->look) };

	seen.stream = observer_follow(&w->analysis->shards[seen.shard], &frame, &l->look, l->now, &event);
	if (settings->see)
		settings->see(settings->context, &seen);
}

static void follow_all(struct worker *w)
{
	for (size_t i = 0; i < w->piece.count; i++)
		follow_frame(w, i);
}

static void await_turn(struct worker *w, unsigned int group)
{
	struct analysis *a = w->analysis;

	pthread_mutex_lock(&a->following);
	while (a->turn[group] != w->number)
		pthread_cond_wait(&a->passed, &a->following);
	pthread_mutex_unlock(&a->following);
}

static void pass_turn(struct worker *w, unsigned int group)
{
	struct analysis *a = w->analysis;

	pthread_mutex_lock(&a->following);
	a->turn[group]++;
	pthread_cond_broadcast(&a->passed);
	pthread_mutex_unlock(&a->following);
}

/* Who has the turn of the first group knows of all pairs that were learnt before: then it is passed on last. */
static void follow_paired(struct worker *w)
{
	for (unsigned int g = 1; g < GROUPS; g++)
		await_turn(w, g);
	w->analysis->paired = true;
	follow_all(w);
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
		for (size_t i = w->group[g]; i < w->group[g + 1]; i++)
			follow_frame(w, w->order[i]);
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
		follow_all(w);
	}
	return true;
}

static void worker_free(struct worker *w)
{
	capture_piece_free(&w->piece);
	free(w->looks);
	free(w->order);
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
