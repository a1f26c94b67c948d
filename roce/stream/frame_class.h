/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A closer look at a few frames without RoCE, which the parser has marked (roce_packet.frame_class): whether RoCE is inside of
 * a tunnel, and which priorities a frame pauses. It is apart from the parser and from roce_count_frame(), so that all others do
 * not pay for it.
 */
#ifndef ROCE_STREAM_FRAME_CLASS_H
#define ROCE_STREAM_FRAME_CLASS_H

#include "roce/packet/decap.h"
#include "roce/stream/counters.h"

/* A priority of PFC is paused if its bit is set and its time is not 0 (IEEE 802.1Q, 36.1.3). */
roce_inline __u32 frame_pause(const __u8 *h)
{
	__u32 opcode = roce_be16(h), paused = 0;

	if (opcode == WIRE_MAC_CONTROL_PAUSE)
		return PAUSE_ALL;
	if (opcode != WIRE_MAC_CONTROL_PFC)
		return 0;
	for (__u32 i = 0; i < WIRE_PRIORITIES; i++) {
		__u32 time = roce_be16(h + 4 + 2 * i);

		roce_opaque(time); /* else it becomes a branch, and the verifier walks 2^8 paths */
		paused |= (0 - time) >> 31 << i;
	}
	return PAUSE_PFC | (paused & h[3]);
}

/* window, captured: as for roce_decap(). p: what was parsed of the frame; its kind is ROCE_OTHER. */
roce_inline void roce_classify_frame(const __u8 *window, __u32 captured, struct roce_packet *p)
{
	if (p->frame_class == FRAME_TUNNEL)
		p->frame_class = roce_is_inside(window, captured, p->frame_bytes) ? FRAME_INSIDE : FRAME_PLAIN;
	else if (p->frame_class == FRAME_CONTROL && !p->vlan_tags && captured >= WIRE_ETH_LEN + 4 + 2 * WIRE_PRIORITIES)
		p->pause = frame_pause(window + WIRE_ETH_LEN);
}

_Static_assert(COUNTER_pfc_priority7 == COUNTER_pfc_priority0 + WIRE_PRIORITIES - 1, "in a row");

/* Call after roce_classify_frame(), for what roce_count_frame() counts as other_frames. */
roce_inline void roce_count_class(struct roce_totals *c, const struct roce_packet *p)
{
	__u64 *v = c->value;

	v[COUNTER_tunnelled_frames] += p->frame_class == FRAME_INSIDE;
	v[COUNTER_pause_frames] += p->pause >> 8 & 1;
	v[COUNTER_pfc_frames] += p->pause >> 9 & 1;
	for (__u32 i = 0; i < WIRE_PRIORITIES; i++)
		v[COUNTER_pfc_priority0 + i] += p->pause >> i & 1;
}

#endif
