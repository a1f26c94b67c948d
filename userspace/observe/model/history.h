/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The history of each stream's faults: the last ones, the lengths of bursts of loss, and whether the streams of a port fail
 * together. Bounded: HISTORY_STREAMS streams with faults; the one with the oldest last fault is evicted.
 */
#ifndef USERSPACE_OBSERVE_MODEL_HISTORY_H
#define USERSPACE_OBSERVE_MODEL_HISTORY_H

#include "roce/event/event.h"

#define HISTORY_STREAMS 16384
#define HISTORY_FAULTS 16 /* per stream */
#define HISTORY_BURSTS 17 /* lengths of gaps: bucket n counts 2^n .. 2^(n+1)-1 PSNs */

struct history_fault {
	__u64 time; /* ns since 1970 */
	struct roce_event event;
};

struct history_stream {
	struct roce_key key;
	__u64 faults;	   /* total */
	__u64 suppressed;  /* further faults, left out by the limit of events per second, as far as known */
	__u32 interface;   /* of the last fault: index in live_options */
	struct history_fault last[HISTORY_FAULTS]; /* the newest is last[(kept - 1) % HISTORY_FAULTS] */
	__u64 kept;
	__u64 burst[HISTORY_BURSTS];
	__u64 together;	   /* gaps with one of another stream of the interface within HISTORY_TOGETHER */
	__u64 alone;	   /* gaps without */
};

#define HISTORY_TOGETHER 10000000 /* ns */

struct history;

struct history *history_new(void); /* NULL: no memory */
void history_free(struct history *h);

/*
 * Adds an event; only FAULT_EVENTS are kept. time: ns since 1970, roughly ascending. interface: index in live_options.
 * suppressed: faults of the stream left out before this one.
 */
void history_add(struct history *h, const struct roce_key *key, const struct roce_event *event, __u64 time, __u32 interface,
		 __u64 suppressed);

/* NULL: the stream had no fault. Valid until the next history_add(). */
const struct history_stream *history_of(const struct history *h, const struct roce_key *key);

/*
 * Says whether loss hits one QP or the whole port. The port, only if streams lose at the same moments far more often than by
 * chance. "" if there are too few gaps.
 */
#define HISTORY_WORDS 200
void history_words(const struct history *h, const struct history_stream *s, char words[HISTORY_WORDS]);

#endif
