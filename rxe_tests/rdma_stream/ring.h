/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The arithmetic of a ring of messages, without verbs, threads or clocks. Message n, from 0, is at place n % capacity.
 * Positions are counts of messages since the start. Times are ns of any clock.
 */
#ifndef RDMA_STREAM_RING_H
#define RDMA_STREAM_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RING_HEADER	16	/* bytes at the start of each message */
#define RING_FILLERS	1021	/* prime: what is left of the turn before has another filler, unless it divides the capacity */

/* Messages first .. first + count - 1. */
struct ring_span {
	uint64_t first, count;
};

/* The part of `all` that worker `number` of `workers` has. The parts follow one another and differ by one message at most. */
struct ring_span ring_share(struct ring_span all, unsigned int workers, unsigned int number);

/* How many messages of the span are before the end of the ring. All of them: it does not straddle the end. */
uint64_t ring_before_end(struct ring_span span, uint64_t capacity);

/* How often something was the case, and how long. */
struct ring_episodes {
	uint64_t count, total_ns, longest_ns;
	uint64_t since_ns;
	bool on;
};

/* Begins or ends an episode. Returns whether that is a change. */
bool ring_episode(struct ring_episodes *e, bool on, uint64_t now);

/*
 * Back-pressure: begins when `upper` messages or more wait in the ring, and ends when `lower` or fewer do. 0 <= lower < upper.
 * Returns whether it has begun or ended.
 */
struct ring_pressure {
	uint64_t upper, lower;
	struct ring_episodes episodes;
};
bool ring_press(struct ring_pressure *p, uint64_t waiting, uint64_t now);

/* The messages of the threshold at so many percent of the ring: at least 1 above 0 %. */
uint64_t ring_threshold(uint64_t capacity, unsigned int percent);

/*
 * What a sender may do. Whole units only: a burst, or a message of a stream. It may begin a unit if all of it fits behind what
 * the receiver has not handed back, and if there is no back-pressure.
 */
struct ring_credit {
	uint64_t capacity, unit;	/* messages */
	uint64_t handed_back;		/* by the receiver's last note */
	bool paused;			/* the same */
};
bool ring_fits(const struct ring_credit *c, uint64_t sent);

/* A message begins with its number. Of RING_FILLERS messages each has another part of the pattern behind it (userspace/traffic/streams/filler.h). */
void ring_header(char header[RING_HEADER], uint64_t number);
bool ring_right(const char *message, size_t bytes, uint64_t number);
static inline unsigned int ring_filler(uint64_t number)
{
	return number % RING_FILLERS;
}

#endif
