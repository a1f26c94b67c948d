/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine on frames in memory: for user space what bpf/watch.h is in the kernel. In two steps, of which the first knows
 * nothing but the frame and may be done on any thread, and the second, which knows the streams, in the frames' order.
 */
#ifndef USERSPACE_MODEL_OBSERVER_H
#define USERSPACE_MODEL_OBSERVER_H

#include "roce/event.h"
#include "userspace/model/pairs.h"
#include "userspace/model/table.h"

/* So many bytes behind a frame's first one may be read whatever its length; those behind its end have no meaning. */
#define OBSERVER_READABLE ROCE_WINDOW_BYTES

struct observer_frame {
	const __u8 *bytes; /* from the Ethernet header on, see OBSERVER_READABLE */
	__u32 captured;	   /* bytes there are */
	__u32 wire;	   /* bytes there were on the wire, never less */
	bool no_icrc;	   /* what the ICRC covers is not all there: not to be verified */
	bool cut;	   /* a mirror may have cut it before `wire` (roce_parse_frame()) */
};

/* What the frame itself says. */
struct observer_look {
	struct roce_packet packet;
	enum icrc_verdict icrc;
	bool has_stream;     /* and this one: */
	struct roce_key key;
	__u64 hash;	     /* table_hash() of it */
};

struct observer {
	struct table table; /* .max is the caller's to set */
	struct pairs pairs;
	struct roce_totals totals;
	__u64 now; /* ns: the time of the latest frame: the clock that streams see never goes back */
	/*
	 * NULL: all streams are its own. Else it is one of OBSERVER_SHARDS, of which each follows the frames that
	 * observer_shard() says. Several threads may do so, each with another shard, as long as no pair is known: who asks
	 * his peer, or learns a pair, must be alone. Pairs are those of shards[0].
	 */
	struct observer *shards;
};

#define OBSERVER_SHARD_BITS 6
#define OBSERVER_SHARDS (1 << OBSERVER_SHARD_BITS)

/* By table_hash() of its key. */
static inline unsigned int observer_shard_of(__u64 hash)
{
	return hash >> (64 - OBSERVER_SHARD_BITS);
}

/* Frames without a stream may be anybody's. */
static inline unsigned int observer_shard(const struct observer_look *look)
{
	return look->has_stream ? observer_shard_of(look->hash) : 0;
}

/* Parses the frame and verifies its ICRC. ports: what else to watch, may be NULL. */
void observer_look(const struct observer_frame *frame, const struct roce_ports *ports, struct observer_look *look);

/*
 * The same for up to OBSERVER_BATCH frames, in less time. They lie in memory that may be written to: what the ICRC leaves
 * out is masked there meanwhile. That one frame lies in what another one has behind its end does no harm.
 */
#define OBSERVER_BATCH 16
void observer_look_at(const struct observer_frame frames[], size_t count, const struct roce_ports *ports,
		      struct observer_look looks[]);

/*
 * What the ICRC of a packet should be, first byte lowest. p: what roce_parse() made of that frame, of kind ROCE_PACKET, not
 * truncated.
 */
__u32 observer_icrc(const struct roce_packet *p, const __u8 *frame);

/*
 * Asks for memory which observer_follow() will want of this frame, that of thousands of streams not being in the fastest
 * caches: first for the slot in the table, some frames later for the stream that it names.
 */
static inline void observer_want_slot(const struct observer *o, const struct observer_look *look)
{
	if (look->has_stream)
		table_want_slot(&o->table, look->hash);
}

static inline void observer_want_stream(const struct observer *o, const struct observer_look *look)
{
	const struct snapshot_stream *s = look->has_stream ? table_guess(&o->table, look->hash) : NULL;

	if (!s)
		return;
	__builtin_prefetch(s, 1);
	__builtin_prefetch(&s->stream.psn.seen[look->packet.number % PSN_WINDOW / 64], 1);
	__builtin_prefetch(&s->stream.message, 1);
	__builtin_prefetch(&s->stream.lint_state, 1);
	__builtin_prefetch(&s->stream.counters.value[COUNTER_roce_packets], 1);
	__builtin_prefetch(&s->stream.counters.value[COUNTER_messages], 1);
	__builtin_prefetch(s->stream.lint, 1);
}

/*
 * What that frame does to its stream and to the totals. time: of the frame, ns. event: what it has shown, event->kinds is 0:
 * nothing, but for the PSNs expected and seen. Returns its stream as it is now, until the next call; NULL: it has none, or there
 * was no room for it.
 */
const struct roce_stream *observer_follow(struct observer *o, const struct observer_frame *frame,
					  const struct observer_look *look, __u64 time, struct roce_event *event);

void observer_free(struct observer *o);

#endif
