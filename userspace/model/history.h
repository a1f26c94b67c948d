/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The faults of every stream, as they came: the last ones, how long bursts of loss were, and whether the streams of a port
 * fail together. Bounded: HISTORY_STREAMS streams with faults, of which the one whose last fault is oldest makes room.
 */
#ifndef USERSPACE_MODEL_HISTORY_H
#define USERSPACE_MODEL_HISTORY_H

#include "roce/event.h"

#define HISTORY_STREAMS 16384
#define HISTORY_FAULTS 16 /* of each stream */
#define HISTORY_BURSTS 17 /* lengths of gaps: bucket n holds 2^n .. 2^(n+1)-1 PSNs */

struct history_fault {
	__u64 time; /* ns since 1970 */
	struct roce_event event;
};

struct history_stream {
	struct roce_key key;
	__u64 faults;	   /* in all */
	__u64 suppressed;  /* and so many that were left out by the limit of events a second, as far as known */
	__u32 interface;   /* of the last one: its place in live_options */
	struct history_fault last[HISTORY_FAULTS]; /* the newest is last[(faults_kept - 1) % HISTORY_FAULTS] */
	__u64 kept;
	__u64 burst[HISTORY_BURSTS];
	__u64 together;	   /* gaps that other streams of the interface had within HISTORY_TOGETHER as well */
	__u64 alone;	   /* and those they had not */
};

#define HISTORY_TOGETHER 10000000 /* ns */

struct history;

struct history *history_new(void); /* NULL: no memory */
void history_free(struct history *h);

/*
 * time: ns since 1970, hardly falling. interface: its place in live_options. suppressed: so many faults of the stream were left
 * out before this one. Only FAULT_EVENTS are kept.
 */
void history_add(struct history *h, const struct roce_key *key, const struct roce_event *event, __u64 time, __u32 interface,
		 __u64 suppressed);

/* NULL: it had no fault. Valid until the next history_add(). */
const struct history_stream *history_of(const struct history *h, const struct roce_key *key);

/*
 * Whether loss hits one QP or the port, in words for people: the latter only where streams lose at the same moments far more often
 * than by chance. "" if there are too few gaps for either.
 */
#define HISTORY_WORDS 200
void history_words(const struct history *h, const struct history_stream *s, char words[HISTORY_WORDS]);

#endif
