/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One packet of the plan before it is bytes, and the frame it becomes when a fault wants to touch its bytes. */
#ifndef USERSPACE_SEND_PACKET_H
#define USERSPACE_SEND_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/slot.h"

/* A QP's place in its messages. */
struct send_qp {
	uint32_t index, qpn;
	uint32_t psn;	       /* of the packet that comes next, 24 bits */
	uint32_t immediate, rkey, msn;
	uint64_t va;	       /* of region 0 */
	uint64_t messages;     /* begun */
	uint64_t messages_left;
	uint64_t offset;       /* bytes of the open message that have been made */
	uint64_t packets;      /* made, dropped ones included */
	struct held *held;     /* packets that leave later, the first to leave in front */
	struct held *held_last;
	struct truth_stream *truth;
	uint32_t next, previous; /* in the ring of those that have something to send */
	uint16_t port;
};

/* Where in its message a packet stands. */
enum { AT_FIRST = 1, AT_LAST = 2 };

struct packet {
	struct send_qp *qp;
	uint64_t number;       /* the k-th of its QP, from 1 */
	uint64_t message;      /* of its QP, from 0 */
	uint64_t offset;       /* bytes of its message before it */
	uint64_t va;
	uint32_t dqpn, psn, rkey, dma_length, immediate;
	uint32_t payload;      /* where in the payload memory */
	uint16_t payload_bytes;
	uint16_t port;
	uint8_t opcode;
	uint8_t place;	       /* AT_* */
	uint8_t pad;
	uint8_t syndrome;
	bool ackreq;
	uint32_t msn;	       /* of the AETH */
	uint32_t sqpn;	       /* of the DETH */
};

/* ICRC mistakes: what is done otherwise. The next packet's ICRC is right again. */
enum icrc_way {
	ICRC_WAY_RIGHT,
	ICRC_WAY_constant, /* any number in the field */
#define MISTAKE_MADE(name, ...) ICRC_WAY_##name,
#include "roce/icrc_mistake.def"
	ICRC_WAYS
};

/* Those that are made of one packet's ICRC, in this order, each once. None: it is right. */
struct icrc_ways {
	uint8_t count;
	uint8_t way[ICRC_WAYS]; /* enum icrc_way */
};

/*
 * A frame as bytes, with room behind and between to make mistakes in. Offsets in bytes; whoever inserts or removes bytes
 * keeps them right (frame_insert(), frame_remove()).
 */
struct frame {
	__u8 bytes[CELL_BYTES];
	uint32_t length;       /* with the ICRC, without FCS */
	uint16_t ip, udp, bth, extension /* behind the BTH */, payload /* behind its extension headers */;
	bool ipv6;
	bool without_icrc;     /* there is none: the frame ends with the pad */
	struct icrc_ways icrc;
};

#endif
