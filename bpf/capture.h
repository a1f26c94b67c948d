/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Selects packets and sends them to user space: faulty ones, and those of the same stream before and after. All work on a
 * stream is done under its guard, which keeps its packets in order. The guard is not the verifier's spin lock (bpf/guard.h), so
 * helpers may be called. Functions are global, because the verifier checks a global function once.
 */
#ifndef BPF_CAPTURE_H
#define BPF_CAPTURE_H

#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf/capture_abi.h"
#include "bpf/capture_hooks.h"
#include "bpf/scratch.h"
#include "roce/event/find_events.h"
#include "roce/packet/decap.h"

#define CAPTURE_SECOND 1000000000ull

const volatile struct capture_settings capture;

/* User space maps these counters as the program's data. */
__u64 capture_suppressed, capture_lost;

MAP(recents, ARRAY, __u32, struct recent, 65536, 0);

MAP(headers, ARRAY, __u32, struct recent_headers, 65536, 0);

MAP(focus, ARRAY, __u32, struct focus_value, 1, BPF_F_MMAPABLE);

MAP(captures, PERCPU_ARRAY, __u32, struct capture_cpu, 1, 0);

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 26);
} taken SEC(".maps");

static __always_inline struct capture_cpu *capture_own(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&captures, &zero);
}

static __always_inline struct scratch *capture_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

/* Whether packets without fault may be taken as well. A constant. */
static __always_inline bool capture_has_context(void)
{
	return capture.before || capture.after || capture.sample;
}

/* Unique, because each CPU numbers the frames it sees. */
static __always_inline __u64 capture_id(const struct scratch *s)
{
	return s->frames << 12 | (bpf_get_smp_processor_id() & 0xfff);
}

/* ---- bytes of the frame, from either hook ---- */

/* The hook's frame. A constant selects XDP or tc. */
struct capture_hook {
	bool outward;
	struct xdp_md *xdp;
	struct __sk_buff *skb;
};

static __always_inline void capture_locate(const struct capture_hook *h, const struct scratch *s, struct capture_origin *o)
{
	o->time = bpf_ktime_get_ns();
	o->id = capture_id(s);
	/* With the tag, and behind a tunnel with what the mirror cut off. Other short frames are judged by whoever reads the file. */
	o->length = s->cut && !h->outward ? s->packet.frame_bytes : s->length + (s->tag ? WIRE_VLAN_LEN : 0);
	o->tag = 0;
	o->outward = h->outward;
	if (h->outward) {
		o->ifindex = h->skb->ifindex;
		o->queue = 0;
		o->verdict = 0;
		if (s->tag)
			o->tag = __builtin_bswap16(h->skb->vlan_proto) << 16 | h->skb->vlan_tci;
		return;
	}
	o->ifindex = h->xdp->ingress_ifindex;
	o->queue = h->xdp->rx_queue_index;
	o->verdict = settings.drop ? XDP_DROP : XDP_PASS;
}

/* Loads `length` bytes of the frame: at least an Ethernet header, at most `room` (a constant). false: they cannot be read. */
static __always_inline bool capture_load(const struct capture_hook *h, const struct scratch *s, __u8 *to, __u32 length,
					 __u32 room)
{
	roce_opaque(length);
	if (length < WIRE_ETH_LEN)
		return false;
	roce_opaque(length);
	if (length > room)
		return false;
	if (h->outward)
		return !bpf_skb_load_bytes(h->skb, 0, to, length);
	if (bpf_xdp_load_bytes(h->xdp, s->skipped, to, length))
		return false;
	if (s->skipped)
		roce_inner_ethernet(to, s->bare);
	return true;
}

/* Loads the frame's first RECENT_BYTES. Word by word where they are in direct reach, since every packet needs them. */
static __always_inline __u32 capture_header(const struct capture_hook *h, const struct scratch *s, __u8 *to)
{
	__u32 length = s->length < RECENT_BYTES ? s->length : RECENT_BYTES;

	if (!h->outward && !s->skipped) {
		const __u8 *data = (const __u8 *)(long)h->xdp->data, *data_end = (const __u8 *)(long)h->xdp->data_end;

		if (data + RECENT_BYTES <= data_end) {
			for (__u32 i = 0; i < RECENT_BYTES; i += 8)
				roce_store(__u64, to + i, roce_load(__u64, data + i));
			return RECENT_BYTES;
		}
	}
	return capture_load(h, s, to, length, RECENT_BYTES) ? length : 0;
}

/* ---- to user space ---- */

/* Sends c->record and `captured` bytes behind it. */
static __always_inline void capture_send(struct scratch *s, struct capture_cpu *c, __u32 captured)
{
	struct roce_totals *t;

	roce_opaque(captured);
	if (captured > FRAME_MAX)
		return;
	c->record.captured = captured;
	c->record.suppressed = *(volatile __u64 *)&capture_suppressed;
	c->record.lost = *(volatile __u64 *)&capture_lost;
	if (!bpf_ringbuf_output(&taken, &c->record, sizeof(c->record) + captured, BPF_RB_NO_WAKEUP))
		return;
	__sync_fetch_and_add(&capture_lost, 1);
	t = scratch_totals(s);
	if (t)
		t->value[COUNTER_events_lost]++;
	c->interface[c->origin.ifindex % CAPTURE_INTERFACES].lost++;
}

/* Sends the packet itself. */
static __always_inline void capture_whole(const struct capture_hook *h, struct scratch *s, struct capture_cpu *c,
					  enum capture_what what, __u64 fault)
{
	__u32 length = s->length < capture.snaplen ? s->length : capture.snaplen;

	c->record.origin = c->origin;
	c->record.event = c->event;
	c->record.what = what;
	c->record.fault = fault;
	if (capture_load(h, s, c->bytes, length, FRAME_MAX))
		capture_send(s, c, length);
}

/* ---- the stream's last headers ---- */

static __always_inline void capture_remember(const struct capture_hook *h, const struct scratch *s,
					     const struct capture_cpu *c)
{
	__u32 place = s->place - 1;
	struct recent_headers *r = bpf_map_lookup_elem(&headers, &place);
	struct recent_header *header;

	if (!r)
		return;
	header = &r->header[r->next % RECENT_HEADERS];
	header->origin = c->origin;
	header->captured = capture_header(h, s, header->bytes);
	r->next++;
	if (r->kept < RECENT_HEADERS)
		r->kept++;
}

/* Sends the remembered headers of the scratch's stream that were not sent yet, oldest first. */
__noinline int capture_send_recent(void)
{
	struct scratch *s = capture_scratch();
	struct capture_cpu *c = capture_own();
	__u32 place, count, first;
	struct recent_headers *r;

	if (!s || !c)
		return 0;
	place = s->place - 1;
	r = bpf_map_lookup_elem(&headers, &place);
	if (!r)
		return 0;
	count = r->kept < capture.before ? r->kept : capture.before;
	first = r->next - count;
	r->kept = 0;
	c->record.event = (struct roce_event){ 0 };
	c->record.what = CAPTURE_BEFORE;
	c->record.fault = c->origin.id;
	for (__u32 i = 0; i < RECENT_HEADERS && i < count; i++) {
		const struct recent_header *header = &r->header[(first + i) % RECENT_HEADERS];

		c->record.origin = header->origin;
		for (__u32 k = 0; k < RECENT_BYTES; k += 8)
			roce_store(__u64, c->bytes + k, roce_load(__u64, header->bytes + k));
		capture_send(s, c, header->captured);
	}
	return 0;
}

/* ---- which packets are taken ---- */

static __always_inline bool capture_admits(struct capture_second *second, __u64 time)
{
	if (time - second->begin >= CAPTURE_SECOND) {
		second->begin = time;
		second->faults = 0;
	}
	if (second->faults++ < capture.limit)
		return true;
	second->left_out++;
	__sync_fetch_and_add(&capture_suppressed, 1);
	return false;
}

/* Decides about a packet of a stream. c->event is its event. */
static __always_inline void capture_of_stream(const struct capture_hook *h, struct scratch *s, struct capture_cpu *c,
					      struct recent *r)
{
	bool faulty = c->event.kinds & capture.kinds;

	capture_locate(h, s, &c->origin);
	if (faulty && capture_admits(&r->second, c->origin.time)) {
		if (capture.before)
			capture_send_recent();
		r->after = capture.after;
		r->fault = c->origin.id;
		c->record.left_out = r->second.left_out;
		r->second.left_out = 0;
		capture_whole(h, s, c, CAPTURE_FAULT, r->fault);
		return;
	}
	if (r->sampled < capture.sample) {
		r->sampled++;
		capture_whole(h, s, c, CAPTURE_SAMPLE, 0);
		return;
	}
	if (!faulty && r->after) {
		r->after--;
		capture_whole(h, s, c, CAPTURE_AFTER, r->fault);
		return;
	}
	if (capture.before)
		capture_remember(h, s, c);
}

/*
 * Prefetches, as watch_find() does, memory that is needed when the ICRC is ready. Returns 1 if `recents` knows nothing of the
 * stream at this place.
 */
__noinline int capture_touch(__u32 place)
{
	const struct stream_value *v = bpf_map_lookup_elem(&streams, &place);
	const struct recent *r = bpf_map_lookup_elem(&recents, &place);

	if (!r || !v)
		return 0;
	*(volatile __u64 *)&v->stream.counters.value[COUNTER_messages_broken];
	*(volatile __u32 *)&v->stream.lint[0];
	*(volatile __u32 *)&v->stream.lint[ROCE_LINTS - 1];
	return !r->known;
}

/* The scratch's stream is new: forgets what its place holds of an earlier stream. */
__noinline int capture_meet(void)
{
	struct scratch *s = capture_scratch();
	struct recent_headers *h;
	struct recent *r;
	__u32 place;

	if (!s)
		return 0;
	place = s->place - 1;
	r = bpf_map_lookup_elem(&recents, &place);
	if (r)
		*r = (struct recent){ .known = 1 };
	h = bpf_map_lookup_elem(&headers, &place);
	if (h)
		h->next = h->kept = 0;
	return 0;
}

/* Whether the packet's stream is in focus. A place that another stream has taken over is not. */
static __always_inline bool capture_is_in_focus(const struct scratch *s, const struct focus_value *f)
{
	return *(volatile __u32 *)&f->on && table_same_key(&f->key, &s->key);
}

/* Counts a packet of the stream in focus. kinds: its events. Global, so that the verifier checks it once. */
__noinline int capture_focus(__u32 kinds)
{
	struct scratch *s = capture_scratch();
	struct focus_value *f;
	__u32 zero = 0;

	f = bpf_map_lookup_elem(&focus, &zero);
	if (s && f)
		roce_focus_on(&f->seen, &s->packet, kinds, bpf_ktime_get_ns());
	return 0;
}

/* Remembers the stream as it is now, for the next comparison. */
__noinline int capture_save(void)
{
	struct scratch *s = capture_scratch();
	const struct stream_value *v;
	struct recent *r;
	__u32 place;

	if (!s)
		return 0;
	place = s->place - 1;
	v = bpf_map_lookup_elem(&streams, &place);
	r = bpf_map_lookup_elem(&recents, &place);
	if (!v || !r)
		return 0;
	roce_save(&v->stream, &r->before);
	r->changes = r->before.changes;
	r->known = 1;
	return 0;
}

/* Finds the packet's events, given that there are some. kinds: events of the packet itself. */
__noinline int capture_events(__u32 kinds)
{
	struct scratch *s = capture_scratch();
	struct capture_cpu *c = capture_own();
	const struct stream_value *v;
	struct recent *r;
	__u32 place;

	if (!s || !c)
		return 0;
	place = s->place - 1;
	v = bpf_map_lookup_elem(&streams, &place);
	r = bpf_map_lookup_elem(&recents, &place);
	if (!v || !r)
		return 0;
	if (!roce_find_events(&v->stream, &r->before, &s->packet, kinds, &c->event))
		c->event = (struct roce_event){ .expected = s->expected, .seen = s->packet.number };
	return 0;
}

/*
 * Compares the stream now with the stream at the last event. For a packet without fault that is one comparison: no counter has
 * changed. Returns whether the packet needs more work.
 */
__noinline int capture_compare(void)
{
	struct scratch *s = capture_scratch();
	struct capture_cpu *c = capture_own();
	const struct stream_value *v;
	const struct focus_value *f;
	__u32 place, kinds, zero = 0;
	struct recent *r;

	if (!s || !c)
		return 0;
	place = s->place - 1;
	v = bpf_map_lookup_elem(&streams, &place);
	r = bpf_map_lookup_elem(&recents, &place);
	f = bpf_map_lookup_elem(&focus, &zero);
	if (!v || !r || !f)
		return 0;
	kinds = roce_packet_events(&s->packet, s->icrc);
	c->event.kinds = 0;
	c->event.expected = s->expected;
	c->event.seen = s->packet.number;
	c->record.trusted = v->stream.trusted;
	if (roce_may_have_events(&v->stream, r->changes, kinds, s->trusted)) {
		r->before.expected = s->expected;
		r->before.trusted = s->trusted;
		capture_events(kinds);
		capture_save();
	}
	if (capture_is_in_focus(s, f))
		capture_focus(c->event.kinds);
	return c->event.kinds & capture.kinds || capture_has_context();
}

static __always_inline int capture_packet(const struct capture_hook *h)
{
	struct scratch *s = capture_scratch();
	struct capture_cpu *c = capture_own();
	struct recent *r;
	__u32 place;

	if (!s || !c)
		return 0;
	place = s->place - 1;
	r = bpf_map_lookup_elem(&recents, &place);
	if (r)
		capture_of_stream(h, s, c, r);
	return 0;
}

/* A packet without a stream. */
static __always_inline int capture_alone(const struct capture_hook *h)
{
	struct scratch *s = capture_scratch();
	struct capture_cpu *c = capture_own();
	__u32 kinds;

	if (!s || !c)
		return 0;
	kinds = roce_packet_events(&s->packet, s->icrc);
	if (!(kinds & capture.kinds))
		return 0;
	c->event = (struct roce_event){ .kinds = kinds, .expected = EVENT_NO_PSN, .seen = s->packet.number };
	capture_locate(h, s, &c->origin);
	if (!capture_admits(&c->second, c->origin.time))
		return 0;
	c->record.trusted = false;
	c->record.left_out = c->second.left_out;
	c->second.left_out = 0;
	capture_whole(h, s, c, CAPTURE_FAULT, c->origin.id);
	return 0;
}

__noinline int capture_inward(struct xdp_md *ctx)
{
	return capture_packet(&(struct capture_hook){ .xdp = ctx });
}

__noinline int capture_outward(struct __sk_buff *skb)
{
	return capture_packet(&(struct capture_hook){ .outward = true, .skb = skb });
}

__noinline int capture_inward_alone(struct xdp_md *ctx)
{
	return capture_alone(&(struct capture_hook){ .xdp = ctx });
}

__noinline int capture_outward_alone(struct __sk_buff *skb)
{
	return capture_alone(&(struct capture_hook){ .outward = true, .skb = skb });
}

static __always_inline void capture_count(__u32 ifindex)
{
	struct capture_cpu *c = capture_own();

	if (c)
		c->interface[ifindex % CAPTURE_INTERFACES].frames++;
}

#endif
