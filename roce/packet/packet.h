/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is known of a frame: what roce_parse() has read in it (roce/packet/parse.h), and what its ICRC is. */
#ifndef ROCE_PACKET_PACKET_H
#define ROCE_PACKET_PACKET_H

#include "roce/packet/opcode.h"
#include "roce/packet/udp.h"

#define ROCE_WINDOW 128	      /* bytes that are searched for headers */
#define ROCE_WINDOW_BYTES 192 /* the window plus the largest header, so that bounds can be checked after the offset */

enum roce_kind {
	ROCE_OTHER, /* not RoCE, or cut before the end of the BTH */
	ROCE_V1, /* RoCEv1 whose headers cannot be followed; other RoCEv1 is a ROCE_PACKET */
	ROCE_FRAGMENT,
	ROCE_MALFORMED,
	ROCE_PACKET,
	ROCE_UDP, /* a datagram to a port of --udp */
};

/* What a frame without RoCE is. The parser only marks few of them for roce_classify_frame() (roce/stream/frame_class.h). */
enum roce_frame_class {
	FRAME_PLAIN,
	FRAME_TUNNEL,  /* perhaps with RoCE inside */
	FRAME_CONTROL, /* of the MAC: perhaps it pauses */
	FRAME_INSIDE,  /* RoCE is inside, by roce_classify_frame() */
};

enum { PAUSE_ALL = 1 << 8, PAUSE_PFC = 1 << 9 }; /* a PAUSE frame; one of priority-based flow control */

enum icrc_verdict { ICRC_UNCHECKED, ICRC_GOOD, ICRC_BAD };

/* The counter in immediate data: bits of the data shifted to the right. All 0: all bits, with a step to be learnt. */
struct roce_imm {
	__u32 step;    /* from one value to the next; 0: not known */
	__u32 outside; /* bits that are not of the counter, after the shift */
	__u32 shift;
	__u32 slots; /* of a ring: values go round at this number; 0: none, or not known */
};

/* A ring of slots that a sender writes in turn. All 0: to be learnt. */
struct roce_ring {
	__u64 start; /* where what is written of a slot ends, less a multiple of the ring's length; learnt: where the ring begins */
	__u32 slot;  /* bytes from one slot to the next */
	__u32 slots;
};

/* What counts blocks, as --imm tells it. All 0: immediate data, with a step to be learnt. */
struct roce_blocks_by {
	struct roce_ring ring;
	struct roce_imm imm;
	__u32 by_ring; /* addresses in `ring`; else `imm` */
	__u32 unused;
};

#define ROCE_QUEUE_BITS 10

/* Where a packet arrives: interface and receive queue, any numbers. */
roce_inline __u32 roce_arrival(__u32 interface, __u32 queue)
{
	return interface << ROCE_QUEUE_BITS ^ queue;
}

/* The interface of roce_arrival(). */
roce_inline __u32 roce_arrival_interface(__u32 arrival)
{
	return arrival >> ROCE_QUEUE_BITS;
}

/* A parsed frame. Host byte order, offsets in bytes from the frame's start. */
struct roce_packet {
	__u8 src[16]; /* IPv4 as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2) */
	__u8 dst[16];
	__u8 src_mac[6];
	__u8 dst_mac[6];
	__u32 arrival; /* roce_arrival(), filled in by a caller that knows it; else 0 */
	__u64 va; /* RETH */
	/* ROCE_PACKET: PSN (24 bits). ROCE_UDP: 64 - `shift` bits of the datagram's number; roce_observe() completes it */
	__u64 number;
	__u32 frame_bytes; /* on the wire, without FCS */
	__u32 op;	   /* OP_* of the opcode; 0: unknown */
	__u32 dqpn;	   /* ROCE_UDP: flow number by the port's format, 0 for a foreign flow */
	__u32 sqpn;	   /* DETH, else 0 */
	__u32 rkey;	   /* RETH */
	__u32 dma_length;  /* RETH */
	__u32 immediate;
	__u32 msn;	   /* AETH: the responder's message sequence number */
	struct roce_imm imm;   /* from roce_tell_blocks(); with OP_RING from the stream that observes the packet; else 0 */
	struct roce_ring ring; /* OP_RING: from roce_tell_blocks() */
	__u32 ends;	   /* OP_SLOT: the PSN of the message's last packet */
	__u32 run;	   /* ROCE_UDP: the sender's run, to which the number belongs */
	/*
	 * ROCE_PACKET, or truncated: the frame's length, if nobody says that it was cut, but the IP length goes beyond it: a mirror
	 * cut it, or its sender counts wrongly. Else 0.
	 */
	__u32 ends_at;
	__u32 ip_payload; /* bytes of IP payload after its extension headers */
	__u32 payload_bytes;
	__u16 l3_offset;
	__u16 l4_offset; /* UDP header; RoCEv1: BTH */
	__u32 icrc_offset; /* first of the ICRC's four bytes */
	__u32 icrc;	   /* those bytes, first one lowest; filled in by the caller that verifies it */
	__u16 udp_source_port;
	__u16 udp_port;
	__u16 udp_length;
	__u16 udp_checksum; /* 0: none */
	__u16 pkey;
	__u16 vlan; /* identifier of the innermost tag, valid if vlan_tags */
	__u16 ip_id; /* IPv4 identification, else 0 */
	__u16 pause; /* ROCE_OTHER: filled in by roce_classify_frame(): PAUSE_*, and bit n: priority n is told to pause */
	__u8 vlan_tags;
	__u8 kind; /* enum roce_kind */
	__u8 rocev1; /* a GRH instead of IP and UDP */
	__u8 ip_version;
	__u8 ip_df;
	__u8 ip_checksum_wrong;	 /* IPv4 header */
	__u8 udp_checksum_wrong; /* filled in by a caller that has the whole datagram (roce/icrc/checksum.h) */
	__u8 tos; /* traffic class: DSCP and ECN */
	__u8 ttl; /* hop limit */
	__u8 opcode;
	__u8 service; /* enum roce_service */
	__u8 pad;
	__u8 tver;
	__u8 reserved_bits;
	__u8 ackreq;
	__u8 syndrome;	/* AETH */
	__u8 truncated; /* the frame ends before the packet does. ROCE_PACKET: behind the BTH; else: before the BTH's end */
	__u8 port;	/* ROCE_UDP: 1 + the index of its port in struct roce_ports */
	__u8 udp_kind;	/* ROCE_UDP: enum udp_kind */
	__u8 shift;	/* ROCE_UDP: 64 - bits of `number` */
	__u8 foreign;	/* ROCE_UDP without the header of its port's format: it has no sequence */
	__u8 stream_end; /* ROCE_UDP: an end marker, not part of the sequence */
	__u8 unparsed;	/* ROCE_OTHER, but RoCE may be behind headers that are not parsed */
	__u8 length_wrong; /* filled in by roce_count_frame(): `ends_at`, and it is not known that a mirror cuts frames */
	__u8 frame_class; /* ROCE_OTHER: enum roce_frame_class */
	struct udp_datagram udp; /* ROCE_UDP: what numbers its datagrams besides `number`; of other kinds not filled in */
};

roce_inline bool roce_is_path_mtu(__u32 bytes)
{
	return bytes >= 256 && bytes <= 4096 && !(bytes & (bytes - 1));
}

/* Whether the packet must be filled up to the path MTU, because more of its message follows (IBTA 9.7.5.2.1). */
roce_inline bool roce_is_partial(const struct roce_packet *p)
{
	__u32 place = p->op & (OP_FIRST | OP_MIDDLE | OP_LAST);

	return place && place < OP_LAST;
}

/*
 * Whether the responder answers this request by what it has done for it, and so without an AckReq: a READ, an atomic, a FLUSH or an
 * ATOMIC WRITE. The last two are answered by a READ response without payload (IBTA annex A19).
 */
roce_inline bool roce_is_answered(const struct roce_packet *p)
{
	return p->op & (OP_READ_REQUEST | OP_ATOMICETH | OP_FETH | OP_ATOMIC_WRITE);
}

#endif
