/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What limits a requester, derived from its dialogue (roce/dialogue/dialogue.h) between two snapshots. */
#ifndef USERSPACE_OBSERVE_MODEL_LIMIT_H
#define USERSPACE_OBSERVE_MODEL_LIMIT_H

#include "userspace/observe/model/snapshot.h"

enum limit {
	LIMIT_UNKNOWN,	/* no dialogue: only one direction is seen, or the pair is unknown */
	LIMIT_IDLE,	/* nothing was sent, and no response is awaited any more */
	LIMIT_SENDER,	/* only the requester itself: its window is never full */
	LIMIT_WINDOW,	/* its window is full: see window_of() */
	LIMIT_RECEIVER, /* the receiver was not ready (RNR) */
	LIMIT_TIMER,	/* its timer sent again, and nobody had asked: an answer was late or lost, or the last requests */
	LIMIT_LOSS,	/* packets were lost beyond this place: the receiver asked for them again, or responses are missing */
	LIMIT_STALLED,	/* no response comes */
	LIMITS
};

/*
 * Names in output and JSON: "window-limited", "receiver-limited", "lossy", "retransmitting", "idle", "stalled",
 * "sender-limited", "unknown".
 */
extern const char *const limit_names[LIMITS];

/* previous: the snapshot before; NULL: since the start. */
enum limit limit_of(const struct snapshot_stream *now, const struct snapshot *snapshot, const struct snapshot *previous);

/* The window of a window-limited requester. */
struct window {
	const char *kind; /* "reads": READs and atomics; "psns": 128 PSNs; "requests": another one */
	__u32 at;	  /* so many READs and atomics, or else PSNs, were outstanding at most */
	char text[128];	  /* for people, with the name of what sets it */
};

/* The stream has a dialogue. */
struct window window_of(const struct snapshot_stream *s);

#endif
