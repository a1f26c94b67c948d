// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * roce_decap() on any frame: it reads nothing beyond the frame. The inner frame is a part of it, and the parser judges it as a
 * frame that was cut. Where there is no tunnel, no RoCE is inside.
 * Input: bytes on the wire beyond the frame's (2), frame.
 */
#include "roce/datagram/datagram.h"
#include "roce/packet/decap.h"
#include "tests/fuzz/must.h"

static const __u8 *window_of(const __u8 *from, size_t bytes, size_t room)
{
	__u8 *window = malloc(room ?: 1);

	memset(window, 0xa5, room);
	memcpy(window, from, bytes < room ? bytes : room);
	return window;
}

static void check_inside(const __u8 *frame, const struct roce_inner *inner)
{
	const __u8 *window = window_of(frame + inner->offset, inner->captured, ROCE_WINDOW_BYTES);
	struct roce_packet p;

	roce_inner_ethernet((__u8 *)window, inner->ethertype);
	roce_parse_frame(window, inner->captured, inner->wire, true, NULL, &p);
	must(p.frame_bytes >= inner->wire);
	if (p.kind == ROCE_PACKET) {
		must(p.icrc_offset + 4 <= p.frame_bytes);
		must(p.truncated == (inner->captured < p.icrc_offset + 4));
		must(p.frame_bytes == inner->wire || p.truncated);
	}
	free((void *)window);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	__u32 longer = input_number(&in, 2), wire = in.left + longer;
	const __u8 *frame = window_of(in.at, in.left, in.left);
	struct roce_inner inner;
	bool found = roce_decap(frame, in.left, wire, &inner);

	must(found || !roce_is_inside(frame, in.left, wire));
	if (found) {
		must(inner.captured >= (inner.ethertype ? 14 + 20 : 14) && inner.captured <= inner.wire);
		must(inner.offset >= 4 && inner.offset <= DECAP_WINDOW_BYTES + 4 * 63);
		must(inner.offset + inner.captured <= in.left && inner.offset + inner.wire <= wire);
		check_inside(frame, &inner);
	}
	free((void *)frame);
	return 0;
}
