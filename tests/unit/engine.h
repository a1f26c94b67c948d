/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The engine as functions of the test's own. roce_parse() and roce_observe() are inlined wherever they are called; with the
 * sanitizers a dozen copies take the compiler a quarter of a minute.
 */
#ifndef TESTS_UNIT_ENGINE_H
#define TESTS_UNIT_ENGINE_H

#include "roce/datagram/datagram.h"
#include "roce/observe.h"

static __attribute__((noinline, unused)) void engine_parse(const __u8 *window, __u32 captured, __u32 wire_bytes,
							   const struct roce_ports *ports, struct roce_packet *p)
{
	roce_parse(window, captured, wire_bytes, ports, p);
}

static __attribute__((noinline, unused)) void engine_observe(struct roce_stream *s, struct roce_packet *p,
							     enum icrc_verdict icrc, __u64 now,
							     const struct roce_peer_info *info)
{
	roce_observe(s, p, icrc, now, info);
}

#endif
