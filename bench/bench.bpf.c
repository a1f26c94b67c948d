// SPDX-License-Identifier: GPL-2.0-only
/*
 * The programs that the bench times. All but empty_bare rewrite the packet first, so that an empty program's time can be
 * subtracted. Each exists twice: NAME_plain and, for multi-buffer packets, NAME_frags.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "bench/finding.h"
#include "bench/rewrite.bpf.h"
#include "bench/slice8.h"
#include "bpf/capture.h"
#include "bpf/receive.h"
#include "bpf/watch.h"

const volatile struct slice8_tables slice8_tables;

/*
 * Programs that keep streams share one position, so that each continues the sequence of the one before. The others share the
 * second one.
 */
struct rewrite_position tracked, stateless;

__u64 reference_good; /* packets whose ICRC slice8 or table found right, or whose stream was found */

struct reference {
	__u8 frame[FRAME_IP + TABLE_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct reference);
} references SEC(".maps");

enum reference_core { COPY, SLICE8, TABLE };

static __always_inline __u32 reference_crc(struct reference *r, __u32 covered, enum reference_core core)
{
	const struct slice8_tables *t = (const struct slice8_tables *)&slice8_tables;

	roce_opaque(t); /* else the compiler uses the zeroes that it sees as their value */
	if (core == SLICE8)
		return slice8_crc(t, TABLE_RESIDUE, r->frame + FRAME_IP, covered);
	return crc_table_crc(&t->slice[0], TABLE_RESIDUE, r->frame + FRAME_IP, 0, covered);
}

/* Copies the whole packet to the scratch, masked (it is IPv4 without options), and computes the CRC of that. */
static __always_inline void check_by_reference(struct xdp_md *ctx, enum reference_core core)
{
	__u32 zero = 0, length = bpf_xdp_get_buff_len(ctx);
	struct reference *r = bpf_map_lookup_elem(&references, &zero);
	__u8 *ip;

	if (!r)
		return;
	roce_opaque(length);
	if (length < FRAME_RETH || length > sizeof(r->frame) || bpf_xdp_load_bytes(ctx, 0, r->frame, length))
		return;
	ip = r->frame + FRAME_IP;
	ip[1] = ip[8] = ip[10] = ip[11] = 0xff;
	ip[FRAME_UDP - FRAME_IP + 6] = ip[FRAME_UDP - FRAME_IP + 7] = 0xff;
	ip[FRAME_BTH - FRAME_IP + 4] = 0xff;
	if (core == COPY || reference_crc(r, length - FRAME_IP, core) == TABLE_RESIDUE)
		reference_good++;
}

#define PROGRAM(name, section, frags, position, body)			\
	SEC(section)							\
	int name(struct xdp_md *ctx)					\
	{								\
		if (!rewrite(ctx, frags, &(position)))			\
			return XDP_ABORTED;				\
		body;							\
		return XDP_DROP;					\
	}

#define PROGRAMS(name, position, body)					\
	PROGRAM(name##_plain, "xdp", false, position, { const bool frags = false; (void)frags; body; }) \
	PROGRAM(name##_frags, "xdp.frags", true, position, { const bool frags = true; (void)frags; body; })

PROGRAMS(empty, stateless, )
PROGRAMS(parse, stateless, watch_xdp(ctx, frags, 0))
PROGRAMS(streams, tracked, watch_xdp(ctx, frags, WATCH_STREAMS))
PROGRAMS(icrc, stateless, watch_xdp(ctx, frags, WATCH_ICRC))
PROGRAMS(all, tracked, watch_xdp(ctx, frags, WATCH_STREAMS | WATCH_ICRC))
/* no packet is faulty: measures the cost of finding that out */
PROGRAMS(events, tracked, watch_xdp(ctx, frags, WATCH_STREAMS | WATCH_ICRC | WATCH_CAPTURE))
/* takes each packet into memory: always to the same place, for the RETH is not rewritten */
PROGRAMS(receive, tracked, watch_xdp(ctx, frags, WATCH_ALL | WATCH_RECEIVE); return receive_frame(ctx))
PROGRAMS(copy, stateless, watch_xdp(ctx, frags, 0); check_by_reference(ctx, COPY))
PROGRAMS(icrc_slice8, stateless, watch_xdp(ctx, frags, 0); check_by_reference(ctx, SLICE8))
PROGRAMS(icrc_table, stateless, watch_xdp(ctx, frags, 0); check_by_reference(ctx, TABLE))
/* random QPNs, each new: the cost of a flood of forged packets */
PROGRAMS(flood, stateless, watch_xdp(ctx, frags, WATCH_STREAMS | WATCH_ICRC))
PROGRAM(find_hash_plain, "xdp", false, stateless, reference_good += find_by_hash(ctx))
PROGRAM(find_array_plain, "xdp", false, stateless, reference_good += find_by_array(ctx))

#define REWRITTEN(name, rewriter)				\
	SEC("xdp")						\
	int empty_##name##_plain(struct xdp_md *ctx)		\
	{							\
		return rewriter(ctx, &stateless) ? XDP_DROP : XDP_ABORTED; \
	}							\
								\
	SEC("xdp")						\
	int name##_plain(struct xdp_md *ctx)			\
	{							\
		if (!rewriter(ctx, &tracked))			\
			return XDP_ABORTED;			\
		watch_xdp(ctx, false, WATCH_STREAMS);		\
		return XDP_DROP;				\
	}

/* packets in which more changes (enum rewrite_change) */
REWRITTEN(changed, rewrite_changed)
/* datagrams of --udp */
REWRITTEN(datagram, rewrite_datagram)

SEC("xdp")
int empty_bare(__attribute__((unused)) struct xdp_md *ctx)
{
	return XDP_DROP;
}

char LICENSE[] SEC("license") = "GPL";
