/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Formats of UDP datagrams that carry a number: which bits of the payload are the number, and which name the stream. The number
 * becomes one that steps by 1, as a PSN does; the engine follows it from there on.
 */
#ifndef ROCE_PACKET_UDP_H
#define ROCE_PACKET_UDP_H

#include "roce/packet/base.h"

#define ROCE_UDP_PORTS 4 /* ports that --udp can name */
#define UDP_STREAM_FIELDS 2
#define UDP_SECOND_BITS 30 /* UDP_SECOND: bits of the second (VDIF 1.1.1, word 0) */
#define UDP_TIME_BITS 4 /* UDP_TIME: bits that count packets (VITA 49.0, 6.1) */

/*
 * A field of the payload: `bits` bits from bit `at` on, within eight bytes that begin with the field's first. Big endian: bit 0
 * is the most significant one of the first byte, as RFCs count. Little endian: the least significant one, as bits of words are
 * counted. bits 0: no field.
 */
struct udp_field {
	__u16 at;
	__u8 bits;
	__u8 little;
};

/* What is done with the fields. */
enum udp_kind {
	UDP_PROGRAMS, /* the stream programs' header (roce/datagram/stream_header.h): no fields */
	UDP_NUMBER,   /* `number` counts up by `step` */
	UDP_HEAP,     /* SPEAD (roce/datagram/heap.h); with a step, heaps are numbered */
	UDP_SECOND,   /* VDIF: `number` begins anew in each second (roce/datagram/udp_number.h) */
	UDP_TIME,     /* VITA 49: 4 bits and a time stamp (roce/datagram/udp_number.h) */
};

/* The format of a port. All zero: the stream programs'. */
struct roce_udp_format {
	__u64 step;    /* by which the number counts up, 1 or more; UDP_HEAP: 0: heaps are not numbered */
	__u64 inverse; /* udp_inverse(step) */
	struct udp_field number;
	struct udp_field stream[UDP_STREAM_FIELDS]; /* the first one is the lower part of the flow's number; together 32 bits */
	__u8 kind;	/* enum udp_kind */
	__u8 step_bits; /* zero bits at the step's end */
	__u8 unused[2];
	__u32 frames; /* UDP_SECOND: in a second; 0: to be learnt */
};

/* What a datagram says of its number besides the number itself, by the kind of its port's format; the rest is 0. */
struct udp_datagram {
	__u64 time;	    /* UDP_TIME: the time stamp, in units of its own */
	__u64 heap;	    /* UDP_HEAP: its identifier */
	__u32 heap_length;  /* ... bytes of the whole heap */
	__u32 heap_offset;  /* ... of the payload in the heap */
	__u32 heap_payload; /* ... bytes of the heap in this datagram */
	__u16 items;	    /* ... bit n: the item n was found (roce/datagram/datagram.h) */
	__u16 numbered;	    /* ... the number is that of the heap */
	__u32 second; /* UDP_SECOND: that of the number; UDP_TIME: the one from which `time` counts; 0: it goes on for ever */
	__u32 frames; /* UDP_SECOND: in a second; 0: to be learnt */
};

/* UDP ports to watch besides RoCEv2's; 0: none. */
struct roce_ports {
	__u16 port[ROCE_UDP_PORTS];
	struct roce_udp_format format[ROCE_UDP_PORTS];
};

/*
 * The number x for which x times the step's odd part is 1 modulo 2^64. So multiples of the step become numbers that step by 1,
 * and go round where the field does, whatever the step. (Newton's iteration: 3 bits are right at first, and each turn doubles
 * them.)
 */
roce_inline __u64 udp_inverse(__u64 step)
{
	__u64 odd = step >> __builtin_ctzll(step), x = odd;

	for (int i = 0; i < 5; i++)
		x *= 2 - odd * x;
	return x;
}

/* The lower `bits` bits (1 to 64). */
roce_inline __u64 udp_lower(__u64 value, __u32 bits)
{
	return value << (64 - bits) >> (64 - bits);
}

#endif
