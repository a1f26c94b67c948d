/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Two points of a path, A and B, and what entered at A and did not leave at B. Each point is a `rocescope monitor -j`; their
 * snapshots are joined per stream.
 *
 * What both have counted of a stream can be compared when both have seen the same of it. That is so when it is quiet: each
 * point has looked at least BETWEEN_GRACE after both saw its last packet. While it moves, one point is some PSNs ahead
 * of the other, because their snapshots are not of one moment, and because packets are on their way. These packets are left out:
 * their number is that of the PSNs ahead, less those of them that the point ahead misses itself. It knows these of its last
 * BETWEEN_WINDOW PSNs; farther back they are bounded by what it has skipped since its snapshot before. So the figures have a
 * least and a most, which are the same where they are exact.
 */
#ifndef USERSPACE_DIAGNOSE_BETWEEN_BETWEEN_H
#define USERSPACE_DIAGNOSE_BETWEEN_BETWEEN_H

#include <jansson.h>

#include "roce/stream/stream.h"

enum between_point { BETWEEN_A, BETWEEN_B, BETWEEN_POINTS };

#define BETWEEN_GRACE 1000000000ull /* ns: no packet is longer on its way, nor a snapshot */
#define BETWEEN_WINDOW PSN_WINDOW   /* `missing` of a snapshot reaches as far back as a stream's own window */

/* What a point has counted of a stream up to one of its snapshots. */
struct between_count {
	__u64 packets;	 /* all of them */
	__u64 bad;	 /* of these, with a bad ICRC */
	__u64 again;	 /* of these, with a PSN seen before */
	__u64 skipped, recovered, restarts, lost; /* PSNs, as in the snapshot */
	__u32 next;	 /* the expected PSN */
	__u32 rest;	 /* PSNs from the first to the next that are neither packets nor missing, modulo 2^24 */
	bool placed;	 /* it has a sequence, so next and rest are valid */
};

/* A stream as a point sees it. */
struct between_sight {
	bool seen, trusted;
	struct between_count now, before; /* before: in the point's snapshot before */
	unsigned long turn;		  /* the point's snapshot of `now` */
	__u64 window[BETWEEN_WINDOW / 64]; /* bit i: the PSN i + 1 behind now.next is missing */
	__u64 first_seen, last_seen;	  /* ns, the point's clock */
	__u32 first_psn;
};

/* Packets since both points watch the stream. */
struct between_figures {
	__u64 entered, left; /* without those on their way */
	__s64 least, most;   /* entered, and did not leave; negative: more left than entered */
	__s64 damaged;	     /* left with a bad ICRC, and entered with a good one */
};

struct between_stream {
	struct roce_key key;
	__u8 dst[16];	/* of UD, the last one */
	__u32 dqpn;	/* likewise */
	__u8 service;	/* enum roce_service */
	struct between_sight at[BETWEEN_POINTS];
	bool based, known; /* `base` is valid; `figures` are */
	struct between_figures base; /* what had passed when both began to watch */
	struct between_figures figures;
};

/* A point, by its newest snapshot. */
struct between_place {
	bool seen;
	unsigned long turn; /* number of snapshots */
	bool complete;
	double seconds;	    /* since its start */
	__u64 time;	    /* its own clock, ns since 1970 */
	__u64 taken;	    /* the joining one's clock; see between_take() */
	__u64 missed, untracked; /* frames that it did not see; packets that it could not follow */
};

struct between {
	struct between_place place[BETWEEN_POINTS];
	void *streams; /* tsearch(3), by key */
	size_t count, most, left_out; /* streams; at most; snapshots' streams for which there was no room */
};

/* A `time` of a document, ns since 1970; 0: it is none. */
__u64 between_time(const json_t *text);

/*
 * Takes a snapshot of a point. taken: when it was taken, ns, by a clock that both points share: its `time` if that is of this
 * machine or cannot be had better, else when it arrived. false: it is no rocescope.snapshot/1 of a monitor, or there is no memory.
 */
bool between_take(struct between *b, enum between_point point, const json_t *snapshot, __u64 taken);

/* Calls `see` for each stream, in the order of snapshots. Their figures are then those of the newest snapshots. */
void between_each(struct between *b, void (*see)(const struct between_stream *s, void *context), void *context);

/* Whether both points have seen it. A stream that only one has seen, and that is not trusted, may be none. */
static inline bool between_is_joined(const struct between_stream *s)
{
	return s->at[BETWEEN_A].seen && s->at[BETWEEN_B].seen;
}

/* Of all streams that both points have seen; what A lacks also of the trusted ones that only A has seen. */
struct between_totals {
	size_t streams, only[BETWEEN_POINTS];
	struct between_figures figures;
	size_t unknown; /* streams without figures */
	__u64 lost_before, lost_before_only_a;
};

struct between_totals between_totals(struct between *b);

void between_free(struct between *b);

#endif
