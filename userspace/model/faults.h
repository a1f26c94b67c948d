/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is a fault and what is not, once: of the events of a packet, of the counters of a stream or a snapshot, and how bad a
 * stream is. Lists of faults, --events, the table, filters, --exit-code and metrics ask here.
 */
#ifndef USERSPACE_MODEL_FAULTS_H
#define USERSPACE_MODEL_FAULTS_H

#include "roce/event.h"

/* ---- events ---- */

/* All but cnp and ecn_ce: with those a network at work says that it is full. */
#define FAULT_EVENTS (~(ROCE_EVENT(cnp) | ROCE_EVENT(ecn_ce)))

/*
 * Which of the kinds of events (a set of ROCE_EVENT()) are faults. trusted, service: of the packet's stream; trusted is false for
 * a packet without one. Events of sequence and messages are faults only where they are in the totals as well: not of UD, whose
 * PSNs nobody checks, nor of streams without a right ICRC.
 */
__u32 faults_of_event(__u32 kinds, bool trusted, enum roce_service service);

/* Adds to the stream's counters and lints what the event has counted. kinds: only these of its kinds. */
void faults_count(struct roce_stream *s, const struct roce_event *e, __u32 kinds);

/* ---- counters ---- */

/* A set of counters: what makes a snapshot faulty (--exit-code, --fail-on). */
struct faults {
	bool counter[ROCE_COUNTERS];
};

/* --exit-code and --fail-on */
struct fault_exit {
	struct faults faults;
	bool wanted; /* exit status 3 where one of them was seen */
};

/* psn_lost, messages_broken, icrc_bad, malformed, unknown_opcodes, psn_resyncs. */
struct faults faults_default(void);

/* A comma-separated list of counter names instead. false: *bad points at the name that is none. */
bool faults_parse(struct faults *f, const char *list, const char **bad);

/* Whether any counter of the set is above zero in the totals. */
bool faults_seen(const struct faults *f, const struct roce_totals *totals);

/* Whether the stream has more of any fault, also of the lesser ones, than before. before: NULL for none. */
bool faults_rose(const struct roce_stream *s, const struct roce_stream *before);

/* ---- streams ---- */

/* How bad a stream is, the most important first. */
struct fault_rank {
	__u64 faults;  /* the counters of faults_default(), as far as the stream's are in the totals */
	__u64 lesser;  /* mistakes in headers, and what heals: gaps, duplicates, NAKs */
	__u64 packets;
};

struct fault_rank fault_rank(const struct roce_stream *s);

/* < 0: a is worse, or as bad and busier. */
int fault_rank_compare(const struct fault_rank *a, const struct fault_rank *b);

/* The stream has a fault, however small. */
static inline bool fault_rank_any(const struct fault_rank *r)
{
	return r->faults || r->lesser;
}

#endif
