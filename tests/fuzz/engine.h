/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The engine's interface for the fuzz targets, each function once: a change of its arguments changes only this file. */
#ifndef FUZZ_ENGINE_H
#define FUZZ_ENGINE_H

#include "roce/datagram/datagram.h"
#include "roce/icrc/icrc.h"
#include "roce/observe.h"
#include "tests/fuzz/must.h"

/* window: ROCE_WINDOW_BYTES of it must be readable. */
static inline void engine_parse(const __u8 *window, __u32 captured, __u32 wire, const struct roce_ports *ports,
				struct roce_packet *p)
{
	roce_parse(window, captured, wire, ports, p);
}

/* Counts one packet as a caller does for the snapshot: scopes FRAME and PACKET. */
static inline void engine_count(struct roce_totals *totals, struct roce_packet *p, enum icrc_verdict icrc)
{
	__u32 longest = 0;

	roce_count_frame(totals, p, &longest);
	if (p->kind == ROCE_PACKET || p->kind == ROCE_UDP)
		roce_count_packet(&totals->counters, p, icrc);
}

static inline void engine_observe(struct roce_stream *s, struct roce_packet *p, enum icrc_verdict icrc,
				  __u64 now)
{
	roce_observe(s, p, icrc, now, NULL);
}

/* How far the sequence has moved since its start, modulo 2^24. */
static inline __u32 engine_moved(const struct roce_stream *s)
{
	return s->met ? (s->psn.next - s->sequence.first_psn) & PSN_MASK : 0;
}

/*
 * The engine's ICRC verdict on a whole frame of that length, of kind ROCE_PACKET. copied: the whole frame is copied into the
 * work area first, like fragments; else only the part that the kernel's program copies of a linear frame.
 */
static inline bool engine_icrc_is_good(const __u8 *frame, __u32 length, const struct roce_packet *p, bool copied)
{
	static struct fold_tables tables;
	struct fold_work *work = malloc(sizeof(*work));
	struct fold_source packet = { .frame = frame, .limit = frame + length, .limited = true };
	struct fold_source here = { .frame = work->frame };
	__u32 end = icrc_end(p), head = end < FOLD_LEAST ? FOLD_LEAST + 8 : ROCE_WINDOW_BYTES, r;

	if (!tables.slice[0][1])
		fold_make_tables(&tables);
	memset(work, 0xa5, sizeof(*work)); /* old bytes from the frame before */
	memset(work->zero, 0, sizeof(work->zero));
	work->middle[0] = work->middle[1 + FOLD_MIDDLE] = 0;
	memcpy(work->frame, frame, copied || length < head ? length : head);
	if (!copied)
		icrc_mask_far(work, p, true);
	icrc_prepare(work, p);
	if (end < FOLD_LEAST)
		r = fold_short(&tables, work, p->l3_offset, end);
	else
		r = fold_long(&tables, work, copied ? &here : &packet, end);
	icrc_mask_far(work, p, false);
	for (size_t i = 0; i < sizeof(work->zero); i++)
		must(!work->zero[i]);
	must(!work->middle[0] && !work->middle[1 + FOLD_MIDDLE]);
	free(work);
	return fold_is_right(&tables, r, end);
}

#endif
