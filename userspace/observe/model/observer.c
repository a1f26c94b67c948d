// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <isa-l/crc.h>
#include <string.h>

#include "roce/datagram/datagram.h"
#include "roce/event/find_events.h"
#include "roce/icrc/checksum.h"
#include "roce/observe.h"
#include "roce/packet/cm.h"
#include "roce/stream/frame_class.h"
#include "roce/stream/take_untracked.h"
#include "userspace/observe/model/observer.h"
#include "userspace/observe/model/selection.h"

#define DATAGRAM_MOST (1 << 17) /* upper bound of the end of a 64 KiB IP datagram */

/* The CRC register over the covered bytes up to `end`, with the headers masked in a copy. */
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

static enum icrc_verdict verdict(__u32 reg)
{
	return reg == ICRC_REGISTER ? ICRC_GOOD : ICRC_BAD;
}

__u32 observer_icrc(const struct roce_packet *p, const __u8 *frame)
{
	return ~covered(p, frame, p->icrc_offset);
}

/* Parses the headers. Returns whether there is an ICRC to verify. */
static bool parse_headers(const struct observer_frame *frame, const struct roce_ports *ports, struct observer_parsed *parsed)
{
	struct roce_packet *p = &parsed->packet;

	roce_parse_frame(frame->bytes, frame->captured, frame->wire, frame->cut, ports, p);
	if (p->frame_class)
		roce_classify_frame(frame->bytes, frame->captured, p);
	p->arrival = roce_arrival(frame->interface, 0);
	if (frame->blocks)
		roce_tell_blocks(p, frame->blocks);
	parsed->icrc = ICRC_UNCHECKED;
	parsed->has_stream = p->kind == ROCE_PACKET || p->kind == ROCE_UDP;
	if (parsed->has_stream) {
		roce_stream_key(p, &parsed->key);
		parsed->hash = table_hash(&parsed->key);
	}
	if (p->kind != ROCE_PACKET || p->truncated)
		return false;
	roce_take_whole(p, frame->bytes, DATAGRAM_MOST);
	return !frame->no_icrc;
}

void observer_parse(const struct observer_frame *frame, const struct roce_ports *ports, struct observer_parsed *parsed)
{
	if (parse_headers(frame, ports, parsed))
		parsed->icrc = verdict(covered(&parsed->packet, frame->bytes, icrc_end(&parsed->packet)));
}

/* The bytes of a frame that icrc_mask() may change. */
struct masked {
	__u64 l3;
	__u32 l3_rest;
	__u16 udp_checksum;
	__u8 resv8a;
};

static __u32 resv8a_offset(const struct roce_packet *p)
{
	return p->l4_offset + (p->rocev1 ? 0 : WIRE_UDP_LEN) + offsetof(struct wire_bth, resv8a);
}

static void mask(struct masked *m, __u8 *frame, const struct roce_packet *p)
{
	m->l3 = roce_load(__u64, frame + p->l3_offset);
	m->l3_rest = roce_load(__u32, frame + p->l3_offset + 8);
	m->udp_checksum = roce_load(__u16, frame + p->l4_offset + 6);
	m->resv8a = frame[resv8a_offset(p)];
	icrc_mask(frame, p);
}

static void unmask(const struct masked *m, __u8 *frame, const struct roce_packet *p)
{
	roce_store(__u64, frame + p->l3_offset, m->l3);
	roce_store(__u32, frame + p->l3_offset + 8, m->l3_rest);
	roce_store(__u16, frame + p->l4_offset + 6, m->udp_checksum);
	frame[resv8a_offset(p)] = m->resv8a;
}

/*
 * Separate CRC calls for the headers would take as long as the CRC itself. Loading a word right after its bytes were stored
 * stalls the CPU, so several frames are masked before the first CRC.
 */
void observer_parse_batch(const struct observer_frame frames[], size_t count, const struct roce_ports *ports,
			  struct observer_parsed parsed[])
{
	struct masked masked[OBSERVER_BATCH];
	bool wanted[OBSERVER_BATCH];

	for (size_t i = 0; i < count; i++) {
		wanted[i] = parse_headers(&frames[i], ports, &parsed[i]);
		if (wanted[i])
			mask(&masked[i], (__u8 *)frames[i].bytes, &parsed[i].packet);
	}
	for (size_t i = 0; i < count; i++) {
		const struct roce_packet *p = &parsed[i].packet;

		if (!wanted[i])
			continue;
		parsed[i].icrc = verdict(~crc32_gzip_refl(~ICRC_REGISTER, frames[i].bytes + p->l3_offset,
							  icrc_end(p) - p->l3_offset));
		unmask(&masked[i], (__u8 *)frames[i].bytes, p);
	}
}

static struct pairs *pairs_of(struct observer *o)
{
	return o->shards ? &o->shards[0].pairs : &o->pairs;
}

static const struct table *table_of(const struct observer *o, const struct roce_key *key)
{
	return o->shards ? &o->shards[observer_shard_of(table_hash(key))].table : &o->table;
}

/* The table of the peer stream of this packet. */
static const struct table *table_of_peer(const struct observer *o, const struct roce_stream *s, const struct roce_packet *p)
{
	struct roce_key key;

	if (!roce_wants_peer(s, p))
		return &o->table;
	roce_peer_key(s, p, &key);
	return table_of(o, &key);
}

/* What has come of the packet. The stream has taken it. event: its kinds are those of the packet itself. */
static void find_events(struct observer *o, struct roce_stream *s, const struct roce_packet *p, __u32 trusted, struct roce_event *event)
{
	struct roce_before *before = table_before(&o->table, s);

	if (!roce_may_have_events(s, before->changes, event->kinds, trusted))
		return;
	before->expected = event->expected;
	before->trusted = trusted;
	roce_find_events(s, before, p, event->kinds, event);
	roce_save(s, before);
}

/* Compares a packet that is sent again with what it was before. Another packet may be that of a QP that is used again. */
static void compare(struct observer *o, struct roce_stream *s, const __u8 *frame, const struct observer_parsed *parsed,
		    const struct roce_event *event)
{
	bool again = event->kinds & ROCE_EVENT(psn_duplicate);
	struct snapshot_stream *entry = table_entry(s);

	if (event->kinds & ROCE_EVENT(psn_resync))
		entry->differing = 0;
	if (entry->differing && !again) {
		o->totals.value[COUNTER_retransmission_differs] += entry->differing;
		entry->differing = 0;
	}
	entry->differing += resent_take(&o->resent, parsed->hash, frame, &parsed->packet, again);
}

static void observe(struct observer *o, struct roce_stream *s, const __u8 *frame, struct observer_parsed *parsed,
		    struct roce_event *event)
{
	struct roce_packet *p = &parsed->packet;
	struct roce_peer_info info;
	__u32 trusted;

	if (o->selections && table_entry(s)->selected) {
		selection_leave(s);
		table_entry(s)->selected = false;
	}
	pairs_find(pairs_of(o), s, p);
	info = table_ask(table_of_peer(o, s, p), s, p);
	event->expected = event_expected(s);
	trusted = event_trusted(s);
	parsed->copy = roce_observe(s, p, parsed->icrc, o->now, &info);
	if (parsed->copy && o->once) {
		roce_leave_out(&o->totals, &s->counters, p, parsed->icrc, &(struct roce_counters){ 0 });
		event->kinds = 0;
	}
	find_events(o, s, p, trusted, event);
	if (o->compares && parsed->icrc == ICRC_GOOD && !parsed->copy && resent_is_fixed(p))
		compare(o, s, frame, parsed, event);
}

static void observe_selected(struct observer *o, struct roce_stream *s, struct observer_parsed *parsed, enum icrc_verdict icrc,
			     struct selection *chosen, struct roce_event *event)
{
	struct roce_packet *p = &parsed->packet;
	__u32 trusted;

	o->selections = table_entry(s)->selected = true;
	pairs_find(pairs_of(o), s, p);
	selection_begin(chosen, s, p, icrc);
	parsed->apart = chosen->apart;
	event->expected = event_expected(s);
	trusted = event_trusted(s);
	/* with the bytes that the file lacks it was compared with others, which were right */
	if (s->trusted && icrc != parsed->icrc)
		roce_count_packet(&s->counters, p, icrc);
	else
		roce_observe(s, p, icrc, o->now, &(struct roce_peer_info){ 0 });
	selection_end(chosen, s, trusted);
	find_events(o, s, p, trusted, event);
	selection_tell(chosen, event);
}

const struct roce_stream *observer_follow(struct observer *o, const struct observer_frame *frame,
					  struct observer_parsed *parsed, __u64 time, struct roce_event *event)
{
	const struct roce_packet *p = &parsed->packet;
	enum icrc_verdict icrc = parsed->icrc;
	struct selection chosen;
	struct roce_stream *s;

	if (time > o->now)
		o->now = time;
	parsed->apart = parsed->copy = false;
	if (frame->selected) {
		selection_read(&chosen, frame->comment, frame->comment_length);
		icrc = selection_icrc(&chosen, icrc);
	}
	roce_count_frame(&o->totals, &parsed->packet, &o->longest);
	*event = (struct roce_event){ .kinds = roce_packet_events(p, icrc), .expected = EVENT_NO_PSN,
				      .seen = p->number };
	if (p->frame_class)
		roce_count_class(&o->totals, p);
	if (!parsed->has_stream)
		return NULL;
	roce_count_packet(&o->totals.counters, p, icrc);
	if (roce_is_management(p) && parsed->icrc != ICRC_BAD)
		pairs_learn(pairs_of(o), p, frame->bytes,
			    frame->captured < ROCE_WINDOW_BYTES ? frame->captured : ROCE_WINDOW_BYTES);
	s = table_find_hashed(&o->table, &parsed->key, parsed->hash);
	if (!s) {
		o->totals.value[COUNTER_untracked_packets]++;
		untracked_take(&o->untracked, &parsed->key, p, 0);
		return NULL;
	}
	if (frame->selected)
		observe_selected(o, s, parsed, icrc, &chosen, event);
	else
		observe(o, s, frame->bytes, parsed, event);
	return s;
}

void observer_count_unseen(struct observer *o)
{
	for (size_t i = 0; i < o->table.count; i++) {
		struct snapshot_stream *one = &o->table.streams[i];
		struct roce_peer_info info = { .valid = true };
		const struct roce_stream *responder;
		struct roce_key key;

		o->totals.value[COUNTER_retransmission_differs] += one->differing;
		one->differing = 0;
		if (!snapshot_responder(one, &key))
			continue;
		responder = table_lookup(table_of(o, &key), &key);
		if (!responder)
			continue;
		info.acknowledged = stream_acknowledged_by(&one->stream, responder);
		/* the first time it counts what was acknowledged at the last look */
		stream_count_unseen(&one->stream, &info);
		stream_count_unseen(&one->stream, &info);
	}
}

void observer_free(struct observer *o)
{
	pairs_free(&o->pairs);
	resent_free(&o->resent);
	table_free(&o->table);
}
