// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>

#include "roce/dialogue/dialogue.h"
#include "userspace/observe/model/limit.h"

#define SILENCE 1000000000 /* ns without any response; paths and receivers need less (RNR: 655 ms, IBTA table 46) */
/*
 * ns without a request or response, after which the requester has given up. A requester that has not repeats its request within
 * 4 x 4.096 us x 2^timeout (IBTA 9.7.6.1.3). Timeouts in use are 14 to 21.
 */
#define GIVEN_UP (60 * 1000000000ull)
/*
 * The window counts as the limit if it was full for 1/4 of the waiting time. A sender that paces itself shows a full window for
 * 1/10 of it, where its next packet is due just behind a response.
 */
#define FULL_PART 4
/*
 * RXE_MAX_UNACKED_PSNS (drivers/infiniband/sw/rxe/rxe_param.h): rxe_requester() sends while its next PSN is at most 128 beyond
 * the first unanswered one. Packets of WRITEs and SENDs stop at 129, and a READ may begin there and reach further. ConnectX with
 * LOG_TX_PSN_WINDOW = 7 (mlxconfig; IOWN Global Forum, RDMA over Open APN PoC report, 2024) has 2^7.
 */
#define UNACKED 128

const char *const limit_names[LIMITS] = {
	[LIMIT_UNKNOWN] = "unknown",	      [LIMIT_IDLE] = "idle",
	[LIMIT_SENDER] = "sender-limited",    [LIMIT_WINDOW] = "window-limited",
	[LIMIT_RECEIVER] = "receiver-limited", [LIMIT_TIMER] = "retransmitting",
	[LIMIT_LOSS] = "lossy",		      [LIMIT_STALLED] = "stalled",
};

static __u64 monotonic(const struct snapshot *s)
{
	return snapshot_time(s) - s->realtime_offset;
}

static __u64 since(__u64 then, __u64 now)
{
	return now > then ? now - then : 0;
}

/*
 * Whether something is outstanding that needs a response: a request with AckReq, or one sent again. If only a sample of
 * requests is timed, those outstanding may all be others.
 */
static bool is_waiting(const struct roce_dialogue *d, __u64 now)
{
	bool asked = d->acks.length || d->acks.shift || d->reads || d->again;

	return d->outstanding && asked && (since(d->last_sent, now) < GIVEN_UP || since(d->silent_since, now) < GIVEN_UP);
}

static __u64 packets(const struct snapshot_stream *s)
{
	return s->stream.counters.value[COUNTER_roce_packets] + s->stream.counters.value[COUNTER_rocev1_packets];
}

/* The stream's dialogue in the earlier snapshot. NULL if the stream was another one, or had no dialogue yet. */
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
	bool waiting;

	if (!d)
		return LIMIT_UNKNOWN;
	waiting = is_waiting(d, monotonic(snapshot));
	if (waiting && since(d->silent_since, monotonic(snapshot)) >= SILENCE)
		return LIMIT_STALLED;
	then = snapshot_find(previous, &now->key);
	b = before(now, then);
	if (!waiting && then && then->stream.first_seen == now->stream.first_seen && packets(then) == packets(now))
		return LIMIT_IDLE;
	for (int i = 0; i < DIALOGUE_CAUSES; i++) /* a single packet that was sent again counts at once */
		back[i] = d->back[i] - b->back[i] + d->selective[i] - b->selective[i] + (d->single == i + 1);
	loss = back[DIALOGUE_NAK] + back[DIALOGUE_GAP];
	if (back[DIALOGUE_RNR] > loss + back[DIALOGUE_TIMEOUT])
		return LIMIT_RECEIVER;
	if (loss)
		return LIMIT_LOSS;
	if (back[DIALOGUE_TIMEOUT])
		return LIMIT_TIMER;
	return (d->full_ns - b->full_ns) * FULL_PART > d->waiting_ns - b->waiting_ns ? LIMIT_WINDOW : LIMIT_SENDER;
}

/*
 * Whether READs stopped at UNACKED: without the last READ at most so many PSNs were outstanding. The oldest READ may be half
 * answered, so the last one has less than 1 / (reads - 1) of all. The 16 READs of the IOWN report (appendix C) never fit.
 */
static bool reads_stop_at_psns(const struct roce_dialogue *d)
{
	return d->reads_most > 1 && d->outstanding_most > UNACKED &&
	       (__u64)(d->outstanding_most - UNACKED) * (d->reads_most - 1) < d->outstanding_most;
}

/* Whether other requests did. 128 messages of one packet may as well be all that the queue has room for. */
static bool packets_stop_at_psns(const struct snapshot_stream *s)
{
	__u32 most = s->dialogue->outstanding_most;

	return most == UNACKED + 1 || (most == UNACKED && packets(s) >= 2 * s->stream.counters.value[COUNTER_messages]);
}

static struct window window(const char *kind, const char *unit, __u32 at, const char *set_by)
{
	struct window w = { .kind = kind, .at = at };

	snprintf(w.text, sizeof(w.text), "%u %s%s outstanding: %s", at, unit, at == 1 ? "" : "s", set_by);
	return w;
}

struct window window_of(const struct snapshot_stream *s)
{
	const struct roce_dialogue *d = s->dialogue;
	bool reads = d->reads_most && !s->stream.counters.value[COUNTER_payload_bytes];

	if (reads ? reads_stop_at_psns(d) : packets_stop_at_psns(s))
		return window("psns", "PSN", d->outstanding_most,
			      "RXE_MAX_UNACKED_PSNS = 128 of rxe, or LOG_TX_PSN_WINDOW = 7 of ConnectX");
	if (reads)
		return window("reads", "READ", d->reads_most, "max_rd_atomic of the QP, or its queue (tx depth)");
	return window("requests", "PSN", d->outstanding_most, "the queue of the QP (tx depth), or a window of its device");
}
