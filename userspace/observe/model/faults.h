/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Defines in one place what is a fault: for the events of a packet, and for the counters of a stream or a snapshot. Also ranks
 * streams by their faults. Lists of faults, --events, the table, filters, --exit-code and metrics use it.
 */
#ifndef USERSPACE_OBSERVE_MODEL_FAULTS_H
#define USERSPACE_OBSERVE_MODEL_FAULTS_H

#include "roce/event/event.h"
#include "userspace/observe/model/snapshot.h"

/* ---- events ---- */

/* All but those of level NORMAL: a healthy network reports congestion by them. */
enum {
	FAULT_EVENTS = 0
#define LEVEL_ERROR(event) | event
#define LEVEL_WARN(event) | event
#define LEVEL_NOTE(event) | event
#define LEVEL_NORMAL(event)
#define EVENT(name, reason, level, words) LEVEL_##level(ROCE_EVENT(name))
#include "roce/event/event.def"
#undef EVENT
#undef LEVEL_ERROR
#undef LEVEL_WARN
#undef LEVEL_NOTE
#undef LEVEL_NORMAL
};

/*
 * The faults among the kinds of events (a set of ROCE_EVENT()). trusted, service: of the packet's stream; without a stream,
 * trusted is false. Events of sequence and messages are faults only where they enter the totals: not for UD, whose PSNs are not
 * checked, nor for untrusted streams.
 */
__u32 faults_of_event(__u32 kinds, bool trusted, enum roce_service service);

/* Adds an event's counts to the stream's counters and lints. kinds: use only these of its kinds. */
void faults_count(struct roce_stream *s, const struct roce_event *e, __u32 kinds);

/* ---- counters ---- */

/* What makes a snapshot faulty (--exit-code, --fail-on): counters of the totals, and lints that are no habit. */
struct faults {
	bool counter[ROCE_COUNTERS];
	bool lint[ROCE_LINTS];
	bool receives;		  /* there is a receiver: these are known as well. The others leave it false */
	bool refused, incomplete; /* packets that it did not take, messages that ended with a part missing */
};

/* --exit-code and --fail-on */
struct fault_exit {
	struct faults faults;
	bool wanted; /* exit with status 3 if one of them was seen */
};

/*
 * The counters of severity FAULT (roce/stream/counters.def). A counter of streams means those of --udp as well, which have
 * totals of their own.
 */
struct faults faults_default(void);

/*
 * Parses a comma-separated list of names of counters and lints instead; `lint` is any lint. UD's estimates are meant only where they
 * are named themselves (ud_lost). f->receives says whether `refused` and `incomplete` are names. false: *bad points at the unknown
 * name.
 */
bool faults_parse(struct faults *f, const char *list, const char **bad);

/*
 * Whether the finished snapshot has any of them. Of single lints only those of streams that are still there count; psn_strays are also
 * packets that still wait for a verdict.
 */
bool faults_seen(const struct faults *f, const struct snapshot *s);

/* Whether people should notice the counter once it is above zero: it counts faults, or what the observer itself has missed. */
bool faults_highlights(enum roce_counter c);

/* Whether any fault counter of the stream, lesser ones included, has risen. before: NULL for none. */
bool faults_rose(const struct roce_stream *s, const struct roce_stream *before);

/* ---- streams ---- */

/* How bad a stream is. The most important member comes first. */
struct fault_rank {
	__u64 faults;  /* counters of faults_default(), as far as they enter the totals */
	__u64 lesser;  /* header mistakes, and what heals: gaps, duplicates, NAKs */
	__u64 packets;
};

struct fault_rank fault_rank(const struct roce_stream *s);

/* < 0: a is worse, or equally bad and busier. */
int fault_rank_compare(const struct fault_rank *a, const struct fault_rank *b);

/* Whether the stream has any fault, however small. */
static inline bool fault_rank_any(const struct fault_rank *r)
{
	return r->faults || r->lesser;
}

#endif
