// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <isa-l/crc.h>
#include <string.h>

#include "roce/checksum.h"
#include "userspace/observer.h"

#define DATAGRAM_MOST (1 << 17) /* where an IP datagram of 64 KiB ends at the latest */

/* The register after what the ICRC covers, up to `end`. */
static __u32 covered(const struct roce_packet *p, const __u8 *frame, __u32 end)
{
	__u32 split = end < ROCE_WINDOW_BYTES ? end : ROCE_WINDOW_BYTES;
	__u32 crc = ~ICRC_REGISTER; /* the library inverts before and after */
	__u8 window[ROCE_WINDOW_BYTES];

	memcpy(window, frame, sizeof(window));
	icrc_mask(window, p);
	crc = crc32_gzip_refl(crc, window + p->l3_offset, split - p->l3_offset);
	crc = crc32_gzip_refl(crc, frame + split, end - split);
	return ~crc;
}

__u32 observer_icrc(const struct roce_packet *p, const __u8 *frame)
{
	return ~covered(p, frame, p->icrc_offset);
}

void observer_look(const struct observer_frame *frame, const struct roce_ports *ports, struct observer_look *look)
{
	struct roce_packet *p = &look->packet;

	roce_parse(frame->bytes, frame->captured, frame->wire, ports, p);
	look->icrc = ICRC_UNCHECKED;
	look->has_stream = p->kind == ROCE_PACKET || p->kind == ROCE_UDP;
	if (look->has_stream) {
		roce_stream_key(p, &look->key);
		look->hash = table_hash(&look->key);
	}
	if (p->kind != ROCE_PACKET || p->truncated)
		return;
	roce_take_whole(p, frame->bytes, DATAGRAM_MOST);
	if (!frame->no_icrc)
		look->icrc = covered(p, frame->bytes, icrc_end(p)) == ICRC_REGISTER ? ICRC_GOOD : ICRC_BAD;
}

static struct pairs *pairs_of(struct observer *o)
{
	return o->shards ? &o->shards[0].pairs : &o->pairs;
}

/* Where the stream is that may be asked of this packet. */
static const struct table *table_of_peer(const struct observer *o, const struct roce_stream *s, const struct roce_packet *p)
{
	struct roce_key key;

	if (!o->shards || !roce_wants_peer(s, p))
		return &o->table;
	roce_peer_key(s, p, &key);
	return &o->shards[table_hash(&key) >> (64 - OBSERVER_SHARD_BITS)].table;
}

static void observe(struct observer *o, struct roce_stream *s, const struct observer_look *look, struct roce_event *event)
{
	const struct roce_packet *p = &look->packet;
	struct roce_before before;
	struct roce_told told;

	pairs_find(pairs_of(o), s, p);
	told = table_ask(table_of_peer(o, s, p), s, p);
	roce_look(s, &before);
	event->expected = before.expected;
	roce_observe(s, p, look->icrc, o->now, &told);
	roce_tell(s, &before, p, event->kinds, event);
}

const struct roce_stream *observer_follow(struct observer *o, const struct observer_frame *frame,
					  const struct observer_look *look, __u64 time, struct roce_event *event)
{
	const struct roce_packet *p = &look->packet;
	struct roce_stream *s;

	if (time > o->now)
		o->now = time;
	*event = (struct roce_event){ .kinds = roce_packet_events(p, look->icrc), .expected = EVENT_NO_PSN,
				      .seen = p->number };
	roce_count_frame(&o->totals, p);
	if (!look->has_stream)
		return NULL;
	roce_count_packet(&o->totals, p, look->icrc);
	if (roce_is_management(p) && look->icrc != ICRC_BAD)
		pairs_learn(pairs_of(o), p, frame->bytes,
			    frame->captured < ROCE_WINDOW_BYTES ? frame->captured : ROCE_WINDOW_BYTES);
	s = table_find_hashed(&o->table, &look->key, look->hash);
	if (!s) {
		o->totals.value[COUNTER_untracked_packets]++;
		return NULL;
	}
	observe(o, s, look, event);
	return s;
}

void observer_free(struct observer *o)
{
	pairs_free(&o->pairs);
	table_free(&o->table);
}
