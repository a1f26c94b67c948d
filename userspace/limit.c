// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "roce/dialogue.h"
#include "userspace/limit.h"

#define SILENCE 1000000000 /* ns without any answer: more than a path has, or a receiver lets wait (RNR: 655 ms, IBTA table 46) */
/*
 * With a full window for one part in so many of the time in which it waits. A sender that keeps its own pace looks like that
 * in one part of ten: where its next packet is due just behind an answer.
 */
#define FULL_PART 4

const char *const limit_names[LIMITS] = {
	[LIMIT_UNKNOWN] = "unknown",	      [LIMIT_IDLE] = "idle",
	[LIMIT_SENDER] = "sender-limited",    [LIMIT_WINDOW] = "window-limited",
	[LIMIT_RECEIVER] = "receiver-limited", [LIMIT_LOSS] = "lossy",
	[LIMIT_STALLED] = "stalled",
};

static __u64 monotonic(const struct snapshot *s)
{
	return (__u64)s->time.tv_sec * 1000000000 + s->time.tv_nsec - s->realtime_offset;
}

static bool is_stalled(const struct roce_dialogue *d, const struct snapshot *snapshot)
{
	__u64 now = monotonic(snapshot);

	return d->outstanding && now > d->silent_since && now - d->silent_since >= SILENCE;
}

static __u64 packets(const struct snapshot_stream *s)
{
	return s->stream.counters.value[COUNTER_roce_packets] + s->stream.counters.value[COUNTER_rocev1_packets];
}

/* What a moment ago there was: nothing, if that was another stream, or its dialogue had not begun. */
static const struct roce_dialogue *before(const struct snapshot_stream *now, const struct snapshot_stream *then)
{
	static const struct roce_dialogue none;

	return then && then->dialogue && then->dialogue->begun == now->dialogue->begun ? then->dialogue : &none;
}

enum limit limit_of(const struct snapshot_stream *now, const struct snapshot *snapshot, const struct snapshot *previous)
{
	const struct roce_dialogue *d = now->dialogue, *b;
	const struct snapshot_stream *then;
	__u64 back[DIALOGUE_CAUSES], loss;

	if (!d)
		return LIMIT_UNKNOWN;
	if (is_stalled(d, snapshot))
		return LIMIT_STALLED;
	then = snapshot_find(previous, &now->key);
	b = before(now, then);
	if (!d->outstanding && then && then->stream.first_seen == now->stream.first_seen && packets(then) == packets(now))
		return LIMIT_IDLE;
	for (int i = 0; i < DIALOGUE_CAUSES; i++)
		back[i] = d->back[i] - b->back[i];
	loss = back[DIALOGUE_NAK] + back[DIALOGUE_GAP] + back[DIALOGUE_TIMEOUT];
	if (back[DIALOGUE_RNR] > loss)
		return LIMIT_RECEIVER;
	if (loss)
		return LIMIT_LOSS;
	return (d->full_ns - b->full_ns) * FULL_PART > d->waiting_ns - b->waiting_ns ? LIMIT_WINDOW : LIMIT_SENDER;
}
