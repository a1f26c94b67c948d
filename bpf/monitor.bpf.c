// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts every frame of an interface, inward by XDP and outward by tc, and passes it on. The frame is copied to a
 * per-CPU scratch once, so that one body serves linear and multi-buffer frames and both hooks.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#include "bpf/abi.h"
#include "bpf/crc.h"
#include "roce/stream.h"

const volatile struct monitor_settings settings;
const volatile struct icrc_tables icrc_tables;

/* What a new stream begins with; on the stack there is no room for it. */
static const __u8 no_stream[sizeof(struct stream_value)];

/* Both hooks run with bottom halves disabled, so nothing comes between on one CPU. */
struct scratch {
	__u8 frame[FRAME_MAX + ROCE_WINDOW_BYTES];
	/* not on the stack, where verification would follow every value each of them can have */
	struct roce_packet packet;
	__u32 length; /* of the frame on the wire */
	__u32 tag;    /* VLAN tag that the frame has lost already, with bit 16 set; 0: none */
	__u8 whole;   /* all of the frame is here */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct roce_counters);
} totals SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct roce_key);
	__type(value, struct stream_value);
} streams SEC(".maps");

/* Drawn, not counted off: packets and their acknowledgements alternate. */
static __always_inline bool is_icrc_wanted(__u32 length)
{
	if (!settings.icrc_every || length > FRAME_MAX)
		return false;
	return settings.icrc_every == 1 || bpf_get_prandom_u32() % settings.icrc_every == 0;
}

static __always_inline enum icrc_verdict verify_icrc(struct scratch *s)
{
	const struct icrc_tables *tables = (const struct icrc_tables *)&icrc_tables;
	const struct roce_packet *p = &s->packet;
	__u32 r;

	roce_opaque(tables); /* else the compiler takes the zeroes it sees for their value */
	icrc_mask(s->frame, p);
	r = crc_register(tables, s->frame, p->l3_offset, p->icrc_offset + WIRE_ICRC_LEN);
	return r == ICRC_REGISTER ? ICRC_GOOD : ICRC_BAD;
}

static __always_inline struct stream_value *find_stream(const struct roce_packet *p)
{
	struct stream_value *v;
	struct roce_key key;

	roce_stream_key(p, &key);
	v = bpf_map_lookup_elem(&streams, &key);
	if (v)
		return v;
	bpf_map_update_elem(&streams, &key, no_stream, BPF_NOEXIST);
	/* ours, or that of another CPU which was faster */
	return bpf_map_lookup_elem(&streams, &key);
}

/* The frame in the scratch. */
static __always_inline void watch(struct scratch *s)
{
	const struct roce_ports *ports = (const struct roce_ports *)&settings.ports;
	struct roce_packet *p = &s->packet;
	enum icrc_verdict icrc = ICRC_UNCHECKED;
	struct roce_counters *total;
	struct stream_value *v;
	__u32 zero = 0;
	__u64 now;

	roce_opaque(ports); /* as for the tables */
	total = bpf_map_lookup_elem(&totals, &zero);
	if (!total)
		return;
	roce_parse(s->frame, s->length, s->length, ports, p);
	if (s->tag) {
		if (!p->vlan_tags)
			p->vlan = s->tag & 0xfff;
		p->vlan_tags++;
		p->frame_bytes += WIRE_VLAN_LEN;
	}
	roce_count_frame(total, p);
	if (p->kind != ROCE_PACKET && p->kind != ROCE_UDP)
		return;
	if (p->kind == ROCE_PACKET && s->whole)
		icrc = verify_icrc(s);
	roce_count_packet(total, p, icrc);
	v = find_stream(p);
	if (!v) {
		total->value[COUNTER_untracked_packets]++;
		return;
	}
	now = bpf_ktime_get_ns();
	bpf_spin_lock(&v->lock);
	roce_observe(&v->stream, p, icrc, now);
	bpf_spin_unlock(&v->lock);
}

/* How many bytes to copy into the scratch. */
static __always_inline __u32 begin(struct scratch *s, __u32 length, __u32 tag)
{
	bool whole = is_icrc_wanted(length);

	s->length = length;
	s->tag = tag;
	s->whole = whole;
	return whole || length < ROCE_WINDOW ? length : ROCE_WINDOW;
}

/*
 * As begin() has it anyway; the verifier wants it of the very register that is handed to the helper (Linux 6.1 knows no
 * lower bound from a comparison with 0).
 */
static __always_inline bool is_copied(__u32 *copy)
{
	roce_opaque(*copy);
	if (*copy < WIRE_ETH_LEN)
		return false;
	roce_opaque(*copy);
	return *copy <= FRAME_MAX;
}

static __always_inline int watch_xdp(struct xdp_md *ctx)
{
	__u32 zero = 0, copy;
	struct scratch *s = bpf_map_lookup_elem(&scratches, &zero);

	if (s) {
		copy = begin(s, bpf_xdp_get_buff_len(ctx), 0);
		if (is_copied(&copy) && !bpf_xdp_load_bytes(ctx, 0, s->frame, copy))
			watch(s);
	}
	return settings.drop ? XDP_DROP : XDP_PASS;
}

SEC("xdp")
int watch_plain(struct xdp_md *ctx)
{
	return watch_xdp(ctx);
}

SEC("xdp.frags")
int watch_frags(struct xdp_md *ctx)
{
	return watch_xdp(ctx);
}

/* The outermost VLAN tag may still be in the skb's metadata, to be written by the hardware. */
SEC("tc")
int watch_egress(struct __sk_buff *skb)
{
	__u32 zero = 0, copy;
	struct scratch *s = bpf_map_lookup_elem(&scratches, &zero);

	if (s) {
		copy = begin(s, skb->len, skb->vlan_present ? skb->vlan_tci | 1 << 16 : 0);
		if (is_copied(&copy) && !bpf_skb_load_bytes(skb, 0, s->frame, copy))
			watch(s);
	}
	return TC_ACT_UNSPEC; /* what comes after us decides */
}

char LICENSE[] SEC("license") = "GPL";
