/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What was seen until now, whoever saw it: `monitor` fills it from the BPF maps, `analyze` from its own table. The
 * views (lines, JSON) know nothing else.
 */
#ifndef USERSPACE_MODEL_SNAPSHOT_H
#define USERSPACE_MODEL_SNAPSHOT_H

#include <time.h>

#include "roce/stream.h"

struct fault_list;
struct host_owner;
struct host_report;
struct roce_dialogue;

/* counters.def: in its order, in which counters are shown; and by counter. */
extern const enum roce_counter counter_order[ROCE_COUNTERS];
extern const char *const counter_names[ROCE_COUNTERS];

struct snapshot_stream {
	struct roce_key key;
	struct roce_stream stream;
	const struct roce_dialogue *dialogue; /* of a request stream whose responses are seen as well; NULL: there is none */
	const struct host_owner *owner;	      /* who it belongs to on this machine (userspace/host/host.h); NULL: nobody looked */
};

struct snapshot_interface {
	char name[64];	       /* device, or capture file */
	const char *mode;      /* "native", "native-frags", "generic", ..., "file" */
	const char *direction; /* "in", "out", "both" */
	bool gone;	       /* it is no longer there */
	__u64 ring_missed;
};

/* What is told of faults one by one, beside the counters. */
struct snapshot_events {
	bool had; /* false: nobody asks for them */
	__u64 lost, suppressed; /* faulty packets for want of room, and by --event-limit */
};

struct snapshot {
	struct timespec time; /* CLOCK_REALTIME of the snapshot, or of the capture's last packet */
	double seconds;	      /* since the start */
	bool complete;	      /* false: a capture was cut short */
	bool selection;	      /* a capture is one of chosen packets (capture_is_selection()): what it lacks is no loss */
	struct roce_totals totals;
	struct snapshot_interface *interfaces;
	size_t interface_count;
	struct snapshot_stream *streams; /* sorted by snapshot_finish() */
	size_t stream_count;
	const char *filter;  /* filter_snapshot(): what chose the streams that are shown; NULL: all of them are */
	__u32 *shown;	     /* their places in streams, rising; NULL: all */
	size_t shown_count;
	struct roce_dialogue *dialogues; /* those that streams point to; NULL: there are none */
	__u64 realtime_offset; /* ns to add to a stream's first_seen/last_seen for CLOCK_REALTIME */
	struct snapshot_events events;
	const struct fault_list *faults; /* finished; NULL: nobody listed them */
	const struct host_report *host;	 /* NULL: nobody looked */
	void *owners;			 /* memory of streams[].owner */
};

/* When it was taken, ns since 1970; less realtime_offset it is by the clock of the streams. */
static inline __u64 snapshot_time(const struct snapshot *s)
{
	return (__u64)s->time.tv_sec * 1000000000 + s->time.tv_nsec;
}

/* The streams that views show: the i-th of snapshot_shown_count(). */
static inline size_t snapshot_shown_count(const struct snapshot *s)
{
	return s->shown ? s->shown_count : s->stream_count;
}

static inline const struct snapshot_stream *snapshot_shown(const struct snapshot *s, size_t i)
{
	return &s->streams[s->shown ? s->shown[i] : i];
}

/* Whether it is among them; s: of its streams. */
bool snapshot_is_shown(const struct snapshot *snapshot, const struct snapshot_stream *s);

/*
 * Adds to the totals what only streams count (scope STREAM, trusted ones that are no estimate), computes psn_lost, sums
 * ring_missed, and sorts the streams (source, destination, QPN, side). To be called once, after everything is filled in.
 */
void snapshot_finish(struct snapshot *s);

/* The stream of this key in a finished snapshot; NULL: it has none (or s is NULL). */
const struct snapshot_stream *snapshot_find(const struct snapshot *s, const struct roce_key *key);

/* psn_skipped - psn_recovered, never below 0 */
__u64 snapshot_lost(const struct roce_counters *c);

/* Whether a counter says anything of such a stream: what it lacks is left out, and not shown as 0. */
bool snapshot_has(const struct snapshot_stream *s, enum roce_counter counter);

/* Nobody checks the PSN of UD: its figures are estimates and stay out of totals. */
bool snapshot_is_estimate(const struct roce_stream *s);

/* Its packets, of whatever kind. */
__u64 snapshot_packets(const struct roce_stream *s);

/* Frees what it points to; the struct itself is the caller's. */
void snapshot_free(struct snapshot *s);

#endif
