/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes a frame from any hook. Linear frames are read in place; only their headers are copied, to be masked. Other frames
 * (fragments, outgoing frames) are copied completely.
 */
#ifndef BPF_WATCH_H
#define BPF_WATCH_H

#include "bpf/capture_hooks.h"
#include "bpf/dialogues.h"
#include "bpf/extras.h"
#include "bpf/pairs.h"
#include "bpf/scratch.h"
#include "roce/datagram/datagram.h"
#include "roce/event/find_events.h"
#include "roce/icrc/checksum.h"
#include "roce/observe.h"
#include "roce/packet/decap.h"
#include "roce/stream/frame_class.h"
#include "roce/stream/take_untracked.h"

const volatile struct fold_tables fold_tables;

/* Parts of the work. The benchmark leaves some out. Constants, so that nothing is decided at run time. */
enum {
	WATCH_STREAMS = 1 << 0,
	WATCH_ICRC = 1 << 1,
	WATCH_ALL = WATCH_STREAMS | WATCH_ICRC,
	WATCH_OUTWARD = 1 << 2, /* outgoing: hardware may still complete UDP checksum and datagram: not judged */
	WATCH_CAPTURE = 1 << 3, /* selected packets are sent to user space */
	WATCH_DECAP = 1 << 4, /* the frame may have been in a tunnel; only with PLACE_SCRATCH */
	WATCH_RECEIVE = 1 << 5, /* the packet and its verdict stay in the scratch for bpf/receive.h */
};

/*
 * A frame up to this length is always there completely, so that the ICRC of connection management (256 bytes and headers) can
 * be verified, whatever --icrc says: strangers could end connections otherwise.
 */
#define WATCH_SMALL 512

/* Where the frame lies: known at compile time, or by `linear` of the scratch. */
enum watch_place { PLACE_LINEAR, PLACE_SCRATCH, PLACE_EITHER };

/* Random instead of every nth packet, because packets and their acknowledgements alternate. */
static __always_inline bool watch_is_wanted(__u32 length)
{
	if (!settings.icrc_every || length > FRAME_MAX)
		return false;
	return settings.icrc_every == 1 || bpf_get_prandom_u32() % settings.icrc_every == 0;
}

/* Fills in what the lints need of the whole packet. source: the frame, not masked. */
static __always_inline void watch_whole(struct roce_packet *p, const struct fold_source *source, __u32 what)
{
	const __u8 *icrc;
	__u32 at = p->icrc_offset;

	roce_opaque(at);
	if (at > FRAME_MAX)
		return;
	icrc = source->frame + at;
	if (fold_beyond(source, icrc, WIRE_ICRC_LEN))
		return;
	p->icrc = roce_load(__u32, icrc);
	if (!(what & WATCH_OUTWARD) && roce_has_udp_checksum(p))
		p->udp_checksum_wrong = roce_is_udp_checksum_wrong(source, p, FRAME_MAX);
	roce_reload();
}

static __always_inline bool watch_is_linear(const struct scratch *s, enum watch_place place)
{
	return place == PLACE_LINEAR || (place == PLACE_EITHER && s->linear);
}

static __always_inline void watch_bytes(struct xdp_md *ctx, struct scratch *s, enum watch_place place, __u32 what)
{
	struct fold_source here = { .frame = s->work.frame };
	struct fold_source packet = { .limited = true };

	if (!watch_is_linear(s, place)) {
		watch_whole(&s->packet, &here, what);
		return;
	}
	packet.frame = scratch_data(ctx);
	packet.limit = scratch_end(ctx);
	watch_whole(&s->packet, &packet, what);
}

static __always_inline const struct fold_tables *watch_tables(void)
{
	const struct fold_tables *tables = (const struct fold_tables *)&fold_tables;

	roce_opaque(tables); /* otherwise the compiler takes the initial zeroes for constants */
	return tables;
}

/*
 * The ICRC of the frame in the scratch, whose headers are masked there. Its far side is a long loop, which the verifier would
 * walk once for each path that leads to it: these two are global, as watch_insert() is.
 */
__noinline int watch_fold_copy(void)
{
	struct scratch *s = bpf_map_lookup_elem(&scratches, &(__u32){ 0 });
	struct fold_source here;
	__u32 end;

	if (!s)
		return 0;
	here = (struct fold_source){ .frame = s->work.frame };
	end = icrc_end(&s->packet);
	s->crc = end >= FOLD_LEAST ? fold_long(watch_tables(), &s->work, &here, end) :
				     fold_short(watch_tables(), &s->work, s->packet.l3_offset, end);
	return 0;
}

/* The same of a frame that is read in place. */
__noinline int watch_fold_linear(struct xdp_md *ctx)
{
	struct scratch *s = bpf_map_lookup_elem(&scratches, &(__u32){ 0 });
	struct fold_source packet;
	__u32 end;

	if (!s)
		return 0;
	end = icrc_end(&s->packet);
	if (end >= FOLD_LEAST) {
		packet = (struct fold_source){
			.frame = scratch_data(ctx),
			.limit = scratch_end(ctx),
			.limited = true,
		};
		s->crc = fold_long(watch_tables(), &s->work, &packet, end);
		return 0;
	}
	if (end > ROCE_WINDOW_BYTES)
		scratch_copy(ctx, s->work.frame, ROCE_WINDOW_BYTES / 8, FOLD_LEAST / 8);
	s->crc = fold_short(watch_tables(), &s->work, s->packet.l3_offset, end);
	return 0;
}

/*
 * Masks the headers for the ICRC, well before it is computed: bytes that were stored singly cannot be loaded as words at once.
 */
static __always_inline void watch_prepare(struct xdp_md *ctx, struct scratch *s, enum watch_place place, __u32 what)
{
	if (!s->wanted)
		return;
	watch_bytes(ctx, s, place, what);
	if (watch_is_linear(s, place))
		icrc_mask_far(&s->work, &s->packet, true);
	icrc_prepare(&s->work, &s->packet);
}

static __always_inline enum icrc_verdict watch_icrc(struct xdp_md *ctx, struct scratch *s, enum watch_place place)
{
	if (!s->wanted)
		return ICRC_UNCHECKED;
	if (watch_is_linear(s, place))
		watch_fold_linear(ctx);
	else
		watch_fold_copy();
	icrc_mask_far(&s->work, &s->packet, false);
	return fold_is_right(watch_tables(), s->crc, icrc_end(&s->packet)) ? ICRC_GOOD : ICRC_BAD;
}

/*
 * ns, CLOCK_MONOTONIC, at the first packet of this jiffy. bpf_jiffies64() is a load. A clock of nanosecond precision would cost
 * a tenth of the budget.
 */
static __always_inline __u64 watch_now(struct scratch *s)
{
	__u64 jiffies = bpf_jiffies64();

	if (jiffies != s->jiffies) {
		s->jiffies = jiffies;
		s->now = bpf_ktime_get_ns();
	}
	return s->now;
}

static __always_inline struct scratch *watch_scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratches, &zero);
}

/* Creates the stream. Global, as are the functions below, so that the verifier checks it once and not on every path. */
__noinline int watch_insert(void)
{
	struct scratch *s = watch_scratch();
	struct guard g = guard_begin();
	struct roce_totals *t;

	if (!s)
		return 0;
	t = scratch_totals(s);
	if (t)
		s->place = table_insert(&s->key, s->now >> TICK_SHIFT, &s->table, t, &g);
	return 0;
}

/*
 * Finds the packet's stream before its ICRC is computed, and prefetches its memory: with thousands of streams, it arrives from
 * a slower cache while the ICRC is computed.
 */
static __always_inline void watch_find(struct scratch *s)
{
	__u32 tick = watch_now(s) >> TICK_SHIFT, place;
	struct stream_value *v;

	roce_stream_key(&s->packet, &s->key);
	s->place = table_find(&s->key);
	if (!s->place) {
		watch_insert();
		return;
	}
	place = s->place - 1;
	v = bpf_map_lookup_elem(&streams, &place);
	if (!v)
		return;
	if (*(volatile __u32 *)&v->seen != tick)
		v->seen = tick;
	*(volatile __u32 *)&v->stream.message.next;
	*(volatile __u64 *)&v->stream.last.psn;
	*(volatile __u64 *)&v->stream.counters.value[COUNTER_roce_packets];
}

/* Looks up the stream's pair, if needed, before the stream observes the packet. */
static __always_inline void watch_pair(struct scratch *s, const struct stream_value *v)
{
	s->peer_info.valid = false;
	if (v && roce_wants_pair(&v->stream, &s->packet, pairs_generation[pair_generation_of(s->packet.dqpn)]))
		pairs_find();
	if (v && roce_wants_peer(&v->stream, &s->packet))
		pairs_ask();
}

static __always_inline const struct roce_ports *watch_ports(void)
{
	const struct roce_ports *ports = (const struct roce_ports *)&settings.ports;

	roce_opaque(ports); /* as for the tables */
	return ports;
}

/* The datagram in the scratch: a function that the verifier looks at once, since it has nothing to do with RoCE. */
__noinline int watch_datagram(void)
{
	struct scratch *s = watch_scratch();

	if (s)
		roce_parse_datagram(s->work.frame, s->length, watch_ports(), &s->packet);
	return 0;
}

/*
 * Remembers the stream for the comparison after the packet. A new stream's place may have been another's, and another program
 * may have counted a known stream's packets. Call under the stream's guard.
 */
static __always_inline void watch_save(struct scratch *s, const struct stream_value *v, __u32 what)
{
	if (!(what & WATCH_CAPTURE))
		return;
	s->expected = event_expected(&v->stream);
	s->trusted = event_trusted(&v->stream);
	if (!v->stream.used)
		capture_meet();
	else if (s->unknown)
		capture_save();
}

/* Takes the packet if it is selected. Call under the stream's guard. */
static __always_inline void watch_take(struct xdp_md *ctx, __u32 what)
{
	if (!(what & WATCH_CAPTURE) || !capture_compare())
		return;
	if (what & WATCH_OUTWARD)
		capture_outward((struct __sk_buff *)ctx);
	else
		capture_inward(ctx);
}

/* Takes a packet without a stream. */
static __always_inline void watch_take_alone(struct xdp_md *ctx, __u32 what)
{
	if (!(what & WATCH_CAPTURE))
		return;
	if (what & WATCH_OUTWARD)
		capture_outward_alone((struct __sk_buff *)ctx);
	else
		capture_inward_alone(ctx);
}

MAP(untracked, PERCPU_ARRAY, __u32, struct roce_untracked, 1, 0);

/* A function that the verifier looks at once, since few packets have no stream. */
__noinline int watch_untracked(void)
{
	struct scratch *s = watch_scratch();
	struct roce_totals *t = s ? scratch_totals(s) : NULL;
	__u32 zero = 0;
	struct roce_untracked *u = bpf_map_lookup_elem(&untracked, &zero);

	if (t)
		t->value[COUNTER_untracked_packets]++;
	if (s && u)
		untracked_take(u, &s->key, &s->packet, settings.hash_seed);
	return 0;
}

/*
 * Call with 0 before the stream observes the packet, and then with s->again. It is in memory because the verifier would follow
 * the value of a register through all of the engine.
 */
static __always_inline void watch_again(struct scratch *s, const struct stream_value *v, __u64 before)
{
	if (ROCE_HAS_LOOP && settings.dialogues)
		*(volatile __u64 *)&s->again = stream_seen_before(&v->stream) - before;
}

/* Leaves out the packet in the scratch, a copy. Call under its stream's guard. Global, as watch_insert(). */
__noinline int watch_leave_out(void)
{
	struct scratch *s = watch_scratch();
	struct roce_totals *t = s ? scratch_totals(s) : NULL;
	struct stream_value *v;
	__u32 place;

	if (!settings.once || !t)
		return 0;
	place = s->place - 1;
	v = bpf_map_lookup_elem(&streams, &place);
	if (v)
		roce_leave_out(t, &v->stream.counters, &s->packet, s->icrc, &s->one);
	return 0;
}

static __always_inline void watch_stream(struct xdp_md *ctx, struct scratch *s, enum icrc_verdict icrc, __u32 what)
{
	struct guard g = guard_begin();
	__u32 place = s->place - 1;
	struct stream_value *v = bpf_map_lookup_elem(&streams, &place);
	bool observed = false, copy;

	if (ROCE_HAS_LOOP)
		watch_pair(s, v);
	if (v && guard_take(v, &g)) {
		if (table_same_key(&v->key, &s->key)) {
			watch_again(s, v, 0);
			watch_save(s, v, what);
			copy = roce_observe(&v->stream, &s->packet, icrc, s->now, &s->peer_info);
			watch_again(s, v, *(volatile __u64 *)&s->again);
			if (copy && ROCE_HAS_LOOP && settings.once)
				watch_leave_out();
			else
				watch_take(ctx, what);
			observed = true;
		}
		guard_release(v, &g);
	}
	if (!observed) {
		watch_untracked();
		watch_take_alone(ctx, what);
	}
}

#if ROCE_HAS_LOOP
static __always_inline void watch_observe(struct xdp_md *ctx, struct scratch *s, enum icrc_verdict icrc, __u32 what)
{
	watch_stream(ctx, s, icrc, what);
	if (settings.dialogues)
		dialogues_see();
}
#else
/* Global, as watch_insert(): else the verifier walks the engine once for each path to the lock. */
__noinline int watch_locked(void)
{
	struct scratch *s = watch_scratch();

	if (s)
		watch_stream(NULL, s, s->icrc, 0);
	return 0;
}

/* Looks up the pair outside of watch_locked(), whose stack has no room for more calls. */
static __always_inline void watch_observe(struct xdp_md *ctx, struct scratch *s, enum icrc_verdict icrc, __u32 what)
{
	__u32 place = s->place - 1;

	(void)ctx, (void)what;
	s->icrc = icrc;
	watch_pair(s, bpf_map_lookup_elem(&streams, &place));
	watch_locked();
}
#endif

/* Classifies a frame without RoCE. Its first ROCE_WINDOW_BYTES bytes were copied in any case. Global, as watch_insert(). */
__noinline int watch_other(void)
{
	struct scratch *s = watch_scratch();
	struct roce_totals *t = s ? scratch_totals(s) : NULL;

	if (!t)
		return 0;
	roce_classify_frame(s->work.frame, s->length < ROCE_WINDOW_BYTES ? s->length : ROCE_WINDOW_BYTES, &s->packet);
	roce_count_class(t, &s->packet);
	return 0;
}

static __always_inline void watch_blocks(struct roce_packet *p)
{
	const struct roce_blocks_by *by = (const struct roce_blocks_by *)&settings.blocks;

	roce_opaque(by); /* as for the tables */
	roce_tell_blocks(p, by);
}

/*
 * Processes the frame in the scratch, for which watch_begin() was called. ctx: an __sk_buff with WATCH_OUTWARD; with
 * PLACE_SCRATCH, used by WATCH_CAPTURE only.
 */
static __always_inline void watch(struct xdp_md *ctx, struct scratch *s, enum watch_place place, __u32 what)
{
	enum icrc_verdict icrc = ICRC_UNCHECKED;
	struct roce_packet *p = &s->packet;
	struct roce_totals *t;

	roce_parse_headers(s->work.frame, s->length, s->length, what & WATCH_DECAP && s->cut, watch_ports(), p);
	p->arrival = s->arrival;
	if (s->tag) {
		if (!p->vlan_tags)
			p->vlan = s->tag & 0xfff;
		p->vlan_tags++;
		p->frame_bytes += WIRE_VLAN_LEN;
		if (p->ends_at)
			p->ends_at += WIRE_VLAN_LEN;
	}
	t = scratch_totals(s);
	if (!t)
		return;
	roce_count_frame(t, p, &s->longest);
	if (what & WATCH_CAPTURE)
		s->frames = t->value[COUNTER_frames];
	if (what & WATCH_CAPTURE && (p->kind == ROCE_MALFORMED || p->kind == ROCE_FRAGMENT))
		watch_take_alone(ctx, what);
	if (p->kind != ROCE_PACKET && p->kind != ROCE_UDP) {
		if (!(what & (WATCH_OUTWARD | WATCH_RECEIVE)) && p->frame_class)
			watch_other();
		return;
	}
	if (p->op & OP_IMMDT || settings.blocks.by_ring)
		watch_blocks(p);
	if (p->kind == ROCE_UDP)
		watch_datagram();
	if (p->kind == ROCE_UDP || p->truncated)
		s->wanted = false;
	else if (what & WATCH_ICRC && roce_is_management(p) && s->length <= WATCH_SMALL)
		s->wanted = true;
	if (what & WATCH_ICRC)
		watch_prepare(ctx, s, place, what);
	s->managed = false;
	if (what & WATCH_STREAMS && roce_is_management(p))
		pairs_parse();
	if (what & WATCH_STREAMS)
		watch_find(s);
	if (what & WATCH_CAPTURE)
		s->unknown = capture_touch(s->place - 1);
	if (what & WATCH_ICRC)
		icrc = watch_icrc(ctx, s, place);
	roce_count_packet(&t->counters, p, icrc);
	if (!(what & WATCH_STREAMS))
		return;
	if (s->managed && icrc == ICRC_GOOD)
		pairs_learn();
	if (what & (WATCH_CAPTURE | WATCH_RECEIVE) || settings.dialogues || settings.once)
		s->icrc = icrc;
	if (what & WATCH_CAPTURE)
		icrc = *(volatile __u8 *)&s->icrc; /* hides its value: else the verifier explores what follows once for each */
	watch_observe(ctx, s, icrc, what);
}

/* The interface and queue of the frame. */
static __always_inline __u32 watch_arrival(struct xdp_md *ctx, __u32 what)
{
	const struct __sk_buff *skb = (struct __sk_buff *)ctx;

	if (what & WATCH_OUTWARD)
		return roce_arrival(skb->ifindex, skb->queue_mapping);
	return roce_arrival(ctx->ingress_ifindex, ctx->rx_queue_index);
}

/* Prepares this CPU's scratch for a frame of `length` bytes. ctx: an __sk_buff with WATCH_OUTWARD. */
static __always_inline struct scratch *watch_begin(struct xdp_md *ctx, __u32 length, __u32 tag, __u32 what)
{
	struct scratch *s = watch_scratch();

	if (!s)
		return NULL;
	if (!s->cpu)
		s->cpu = bpf_get_smp_processor_id() + 1;
	s->length = length;
	s->tag = tag;
	s->arrival = watch_arrival(ctx, what);
	s->wanted = what & WATCH_ICRC && watch_is_wanted(length);
	if (what & WATCH_CAPTURE)
		s->skipped = 0; /* a frame with --decap may have set it */
	if (what & (WATCH_CAPTURE | WATCH_RECEIVE))
		s->icrc = ICRC_UNCHECKED;
	if (what & WATCH_RECEIVE)
		s->packet.kind = ROCE_OTHER; /* until it is parsed: a frame that cannot be copied is not */
	return s;
}

/*
 * Number of bytes to copy of a frame that is not linear. The verifier needs both bounds on the register that is passed to the
 * helper (Linux 6.1 derives no lower bound from a comparison with 0).
 */
static __always_inline __u32 watch_copied(const struct scratch *s)
{
	return s->wanted || s->length <= WATCH_SMALL ? s->length : ROCE_WINDOW_BYTES;
}

#define WATCH_CAN_COPY(length) ({			\
	bool can_ = false;				\
							\
	roce_opaque(length);				\
	if ((length) >= WIRE_ETH_LEN) {			\
		roce_opaque(length);			\
		can_ = (length) <= FRAME_MAX;		\
	}						\
	can_; })

/* Processes a frame of a hook that has linear frames only. */
static __always_inline void watch_linear(struct xdp_md *ctx, __u32 what)
{
	struct scratch *s = watch_begin(ctx, scratch_linear(ctx), 0, what);

	if (!s)
		return;
	if (s->wanted)
		scratch_touch(ctx);
	scratch_headers(ctx, s->work.frame);
	watch(ctx, s, PLACE_LINEAR, what);
}

/* Processes a frame of a hook that may have fragments. Those are copied, other frames are read in place. */
static __always_inline void watch_fragmented(struct xdp_md *ctx, __u32 what)
{
	struct scratch *s = watch_begin(ctx, bpf_xdp_get_buff_len(ctx), 0, what);
	__u32 copied;

	if (!s)
		return;
	copied = watch_copied(s);
	s->linear = s->length == scratch_linear(ctx);
	if (s->linear && s->wanted)
		scratch_touch(ctx);
	if (s->linear)
		scratch_headers(ctx, s->work.frame);
	else if (!WATCH_CAN_COPY(copied) || bpf_xdp_load_bytes(ctx, 0, s->work.frame, copied))
		return;
	watch(ctx, s, PLACE_EITHER, what);
}

/* Looks for a tunnel in the scratch's headers: finds the frame inside. Global, as watch_insert(). */
__noinline int watch_unwrap(void)
{
	struct scratch *s = watch_scratch();
	struct roce_inner inner;

	if (!s)
		return 0;
	s->cut = roce_decap(s->work.frame, s->length, s->length, &inner);
	s->skipped = 0;
	s->bare = 0;
	if (s->cut) {
		s->skipped = inner.offset;
		s->length = inner.wire;
		s->bare = inner.ethertype;
	}
	return 0;
}

/* Processes frames that a switch mirrors: a frame in a tunnel is replaced by the frame inside. All are copied. */
static __always_inline void watch_mirrored(struct xdp_md *ctx, __u32 what)
{
	struct scratch *s = watch_begin(ctx, bpf_xdp_get_buff_len(ctx), 0, 0);
	__u32 copied;

	if (!s)
		return;
	copied = s->length < DECAP_WINDOW_BYTES ? s->length : DECAP_WINDOW_BYTES;
	if (!WATCH_CAN_COPY(copied) || bpf_xdp_load_bytes(ctx, 0, s->work.frame, copied))
		return;
	watch_unwrap();
	s->wanted = watch_is_wanted(s->length);
	copied = watch_copied(s);
	if (!WATCH_CAN_COPY(copied) || bpf_xdp_load_bytes(ctx, s->skipped, s->work.frame, copied))
		return;
	roce_inner_ethernet(s->work.frame, s->bare);
	watch(ctx, s, PLACE_SCRATCH, what | WATCH_DECAP);
}

/* Processes a frame from XDP. frags: the driver may have fragments; a constant. */
static __always_inline void watch_xdp(struct xdp_md *ctx, bool frags, __u32 what)
{
	if (frags)
		watch_fragmented(ctx, what);
	else
		watch_linear(ctx, what);
}

#endif
