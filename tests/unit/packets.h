/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Packets as roce_parse() returns them, for tests of the code after it. */
#ifndef TESTS_PACKETS_H
#define TESTS_PACKETS_H

#include "tests/unit/engine.h"

static inline struct roce_packet packet(__u8 opcode, __u32 psn)
{
	return (struct roce_packet){
		.kind = ROCE_PACKET, .opcode = opcode, .op = roce_opcodes[opcode], .service = opcode >> 5,
		.number = psn & PSN_MASK, .payload_bytes = 1024, .frame_bytes = 1100, .dqpn = 17,
		.ip_version = 4, .ip_df = 1, .pkey = 0xffff, .udp_length = 1066, .ip_payload = 1066,
	};
}

static inline void observe(struct roce_stream *s, struct roce_packet p)
{
	engine_observe(s, &p, ICRC_GOOD, 0, NULL);
}

static inline struct roce_packet read_request(__u32 psn, __u32 dma_length)
{
	struct roce_packet p = packet(0x0c, psn);

	p.dma_length = dma_length;
	p.payload_bytes = 0;
	return p;
}

#define COUNT(s, name) ((s)->counters.value[COUNTER_##name])

#endif
