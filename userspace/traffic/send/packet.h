/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* One packet of the plan as fields, and as a frame for faults that change its bytes. */
#ifndef USERSPACE_TRAFFIC_SEND_PACKET_H
#define USERSPACE_TRAFFIC_SEND_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "bpf/slot.h"

/* State of a QP within its messages. */
struct send_qp {
	uint32_t index, qpn;
	uint32_t psn;	       /* of the next packet, 24 bits */
	uint32_t rkey, msn;
	uint64_t va;	       /* of region 0 */
	uint64_t messages;     /* messages begun */
	uint64_t messages_left;
	uint64_t offset;       /* bytes of the open message made so far */
	uint64_t packets;      /* packets made, including dropped ones */
	struct held *held;     /* delayed packets, in the order of leaving */
	struct held *held_last;
	struct truth_stream *truth;
	uint32_t next, previous; /* neighbours in the ring of QPs with packets left */
	uint16_t port;
};

/* A packet's place in its message. */
enum { AT_FIRST = 1, AT_LAST = 2 };

struct send_packet {
	struct send_qp *qp;
	uint64_t number;       /* counts the QP's packets from 1 */
	uint64_t message;      /* counts the QP's messages from 0 */
	uint64_t offset;       /* bytes of its message before this packet */
	uint64_t va;
	uint32_t dqpn, psn, rkey, dma_length, immediate;
	uint32_t payload;      /* offset in the payload memory */
	uint16_t payload_bytes;
	uint16_t port;
	uint8_t opcode;
	uint8_t place;	       /* AT_* */
	uint8_t pad;
	uint8_t syndrome;
	bool ackreq;
	uint32_t msn;	       /* of the AETH */
	uint32_t sqpn;	       /* of the DETH */
	bool follows;	       /* icrc_before is known: only if a fault needs it */
	__u8 icrc_before[4];   /* of the packet that was made before, of whatever QP */
};

/* ICRC mistakes, for one packet's ICRC. */
enum icrc_way {
	ICRC_WAY_RIGHT,
	ICRC_WAY_constant, /* any number in the field */
#define MISTAKE_MADE(name, ...) ICRC_WAY_##name,
#include "roce/icrc/icrc_mistake.def"
	ICRC_WAYS
};

/* The mistakes in one packet's ICRC, in this order, each once. None: the ICRC is right. */
struct icrc_ways {
	uint8_t count;
	uint8_t way[ICRC_WAYS]; /* enum icrc_way */
};

/*
 * A frame as bytes, with spare room for faults. Offsets are in bytes. Code that inserts or removes bytes updates them
 * (frame_insert(), frame_remove()).
 */
struct send_frame {
	__u8 bytes[CELL_BYTES];
	uint32_t length;       /* including the ICRC, without FCS */
	uint16_t ip, udp, bth, extension /* behind the BTH */, payload /* behind its extension headers */;
	bool ipv6;
	bool follows;	       /* another packet of the sender went before; its ICRC: */
	__u8 icrc_before[4];
	bool without_icrc;     /* the ICRC is absent: the frame ends with the pad */
	struct icrc_ways icrc;
};

#endif
