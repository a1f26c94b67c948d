/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What holds a requester back, told from its dialogue (roce/dialogue.h) between two snapshots. */
#ifndef USERSPACE_MODEL_LIMIT_H
#define USERSPACE_MODEL_LIMIT_H

#include "userspace/model/snapshot.h"

enum limit {
	LIMIT_UNKNOWN,	/* no dialogue: one direction only is seen, or the pair is not known */
	LIMIT_IDLE,	/* nothing sent, and no answer waited for, or no longer */
	LIMIT_SENDER,	/* nothing holds it back but itself: the window is never full */
	LIMIT_WINDOW,	/* it waits with a full window: 128 PSNs of rxe, 16 READs of an HCA */
	LIMIT_RECEIVER, /* the receiver was not ready (RNR) */
	LIMIT_LOSS,	/* it went back because of loss */
	LIMIT_STALLED,	/* it waits for an answer, and nothing answers */
	LIMITS
};

/* Words for people and JSON: "window-limited", "receiver-limited", "lossy", "idle", "stalled", "sender-limited", "unknown". */
extern const char *const limit_names[LIMITS];

/* previous: of the snapshot before; NULL: since the start. */
enum limit limit_of(const struct snapshot_stream *now, const struct snapshot *snapshot, const struct snapshot *previous);

#endif
