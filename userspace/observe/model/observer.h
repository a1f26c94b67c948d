/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine for frames in memory: user space's counterpart of bpf/watch.h. It works in two steps. The first parses the
 * frame by itself, and may run on any thread. The second updates streams, in the frames' order.
 */
#ifndef USERSPACE_OBSERVE_MODEL_OBSERVER_H
#define USERSPACE_OBSERVE_MODEL_OBSERVER_H

#include <stdio.h>

#include "roce/event/event.h"
#include "userspace/observe/model/pairs.h"
#include "userspace/observe/model/resent.h"
#include "userspace/observe/model/table.h"

/* Bytes that must be readable from a frame's first byte on, whatever its length. Those behind its end are undefined. */
#define OBSERVER_READABLE ROCE_WINDOW_BYTES

struct observer_frame {
	const __u8 *bytes; /* from the Ethernet header on, see OBSERVER_READABLE */
	__u32 captured;	   /* bytes present */
	__u32 wire;	   /* bytes on the wire, at least `captured` */
	__u32 interface;   /* any number, so that packets of two are told apart */
	bool no_icrc;	   /* bytes that the ICRC covers are missing: do not verify it */
	const struct roce_blocks_by *blocks; /* what counts blocks; NULL: that is learnt */
	bool cut;	   /* a mirror may have cut the frame below `wire` (roce_parse_frame()) */
	bool selected;	   /* of a selection (userspace/observe/model/selection.h) */
	__u16 comment_length;
	const char *comment; /* capture's verdict of it; NULL: none */
};

/* The result of the first step. */
struct observer_parsed {
	struct roce_packet packet;
	enum icrc_verdict icrc;
	bool has_stream;     /* the packet belongs to a stream, with this key: */
	struct roce_key key;
	__u64 hash;	     /* table_hash() of the key */
	/* set by observer_follow(): */
	bool apart; /* packets between it and the stream's one before are not in the selection */
	bool copy;  /* the same frame was captured before (roce/sequence/copies.h) */
};

struct observer {
	struct table table; /* the caller sets .max */
	struct pairs pairs;
	struct roce_totals totals;
	struct roce_untracked untracked; /* streams for which the table has no room */
	__u64 now; /* ns: time of the latest frame, so that streams never see the clock go back */
	__u32 longest;	 /* bytes of the longest whole RoCE frame (roce_count_frame()) */
	bool selections; /* a frame of a selection has come */
	bool once; /* copies of frames count nowhere but in captured_twice */
	bool compares; /* packets that are sent again are compared with what was sent before */
	struct resent resent;
	/*
	 * NULL: one observer has all streams. Otherwise it is one of OBSERVER_SHARDS, and follows the frames that
	 * observer_shard() assigns to it. Several threads may do so, each with its own shard, as long as no pair is known: a
	 * packet that asks its peer or teaches a pair must run alone. shards[0] has the pairs.
	 */
	struct observer *shards;
};

#define OBSERVER_SHARD_BITS 6
#define OBSERVER_SHARDS (1 << OBSERVER_SHARD_BITS)

/* By table_hash() of the key. */
static inline unsigned int observer_shard_of(__u64 hash)
{
	return hash >> (64 - OBSERVER_SHARD_BITS);
}

/* Frames without a stream may go to any shard. */
static inline unsigned int observer_shard(const struct observer_parsed *parsed)
{
	return parsed->has_stream ? observer_shard_of(parsed->hash) : 0;
}

/* Parses the frame and verifies its ICRC. ports: further ports to watch, may be NULL. */
void observer_parse(const struct observer_frame *frame, const struct roce_ports *ports, struct observer_parsed *parsed);

/*
 * Like observer_parse(), for up to OBSERVER_BATCH frames, faster. Their memory must be writable: it is masked for the ICRC
 * meanwhile. A frame may lie in the bytes behind another one's end.
 */
#define OBSERVER_BATCH 16
void observer_parse_batch(const struct observer_frame frames[], size_t count, const struct roce_ports *ports,
			  struct observer_parsed parsed[]);

/*
 * The correct ICRC of a packet, first byte lowest. p: the result of roce_parse() for that frame, of kind ROCE_PACKET, not
 * truncated.
 */
__u32 observer_icrc(const struct roce_packet *p, const __u8 *frame);

struct icrc_text {
	char text[sizeof("00 00 00 00")];
};

/* An ICRC, first byte lowest, as it is sent: "16 03 c9 d1". */
static inline struct icrc_text icrc_text(__u32 icrc)
{
	struct icrc_text t;

	snprintf(t.text, sizeof(t.text), "%02x %02x %02x %02x", icrc & 0xff, icrc >> 8 & 0xff, icrc >> 16 & 0xff, icrc >> 24);
	return t;
}

/*
 * Prefetches memory that observer_follow() needs for this frame, because with thousands of streams it is not in the fastest
 * caches. Call first for the table's slot, then, some frames later, for the stream.
 */
static inline void observer_want_slot(const struct observer *o, const struct observer_parsed *parsed)
{
	if (parsed->has_stream)
		table_want_slot(&o->table, parsed->hash);
}

static inline void observer_want_stream(const struct observer *o, const struct observer_parsed *parsed)
{
	const struct snapshot_stream *s = parsed->has_stream ? table_guess(&o->table, parsed->hash) : NULL;

	if (!s)
		return;
	__builtin_prefetch(s, 1);
	__builtin_prefetch(&s->stream.message, 1);
	__builtin_prefetch(&s->stream.lint_state, 1);
	__builtin_prefetch(&s->stream.last, 1);
	__builtin_prefetch(&s->stream.counters.value[COUNTER_roce_packets], 1);
	__builtin_prefetch(&s->stream.counters.value[COUNTER_messages], 1);
	__builtin_prefetch(s->stream.lint, 1);
}

/*
 * The second step: updates the frame's stream and the totals. time: of the frame, ns. event: the packet's events; if
 * event->kinds is 0, only the expected and the seen PSN are set. Returns the stream, valid until the next call; NULL: the frame
 * has none, or there was no room.
 */
const struct roce_stream *observer_follow(struct observer *o, const struct observer_frame *frame,
					  struct observer_parsed *parsed, __u64 time, struct roce_event *event);

/*
 * Call after the last packet: what the responders have acknowledged, but was not seen, counts in psn_unseen. With shards, once for
 * each.
 */
void observer_count_unseen(struct observer *o);

void observer_free(struct observer *o);

#endif
