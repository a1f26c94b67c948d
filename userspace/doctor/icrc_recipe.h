/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How an ICRC is made, as a recipe of which the right one is all zeroes. A mistake changes the recipe in one point; two
 * mistakes do so one after the other, in the order of roce/icrc_mistake.def. What makes the same recipe is the same
 * explanation, so what contradicts itself or adds nothing is not in the list.
 */
#ifndef USERSPACE_DOCTOR_ICRC_RECIPE_H
#define USERSPACE_DOCTOR_ICRC_RECIPE_H

#include "userspace/doctor/icrc_crc.h"

/* Headers that are left out, or put in. */
enum {
	WITHOUT_IP = 1 << 0,
	WITHOUT_UDP = 1 << 1,
	WITHOUT_TRANSPORT = 1 << 2, /* BTH and all behind it up to the payload */
	WITH_ETHERNET = 1 << 3,
	WITH_TAGS = 1 << 4, /* the VLAN tags as well */
};

/* What stands where InfiniBand has its LRH: eight bytes ... */
enum { LEAD_ONES, LEAD_NONE, LEAD_ZEROES };

/* Fields that go in as ones, since they may change on the way. */
enum field { FIELD_TOS, FIELD_TTL, FIELD_IP_CHECKSUM, FIELD_UDP_CHECKSUM, FIELD_RESV8A, FIELD_FLOW_LABEL, FIELDS };
enum { FIELD_ONES, FIELD_SENT, FIELD_ZERO };

/* Parts of headers that go in as zero, or as they were in the packet before. */
enum part {
	PART_HEADERS, /* all from IP to the payload */
	PART_BTH,
	PART_EXTENSIONS, /* behind the BTH */
	PART_PSN,
	PART_LENGTHS, /* of IP and UDP */
	PART_IP_ID,
	PART_OPCODE,
	PART_DQPN,
	PART_SOURCE_PORT,
	PARTS
};

/* Bytes of each word of the payload and its pad. */
enum { SWAP_NONE, SWAP_4, SWAP_8, SWAPS };

/* Where it ends: behind ... */
enum {
	TAIL_PAD,
	TAIL_PAYLOAD,
	TAIL_HEADERS,
	TAIL_ICRC, /* the ICRC itself, as zeroes */
	TAIL_FRAME_8, TAIL_FRAME_16, TAIL_FRAME_32, TAIL_FRAME_64, /* the last word of a bus, filled up with zeroes */
	TAIL_IP_8, TAIL_IP_16, TAIL_IP_32, TAIL_IP_64, /* ... on which the IP header is the beginning */
	TAIL_CUT_FRAME_8, TAIL_CUT_FRAME_16, TAIL_CUT_FRAME_32, TAIL_CUT_FRAME_64, /* the last whole word of a bus */
	TAIL_CUT_IP_8, TAIL_CUT_IP_16, TAIL_CUT_IP_32, TAIL_CUT_IP_64,
	TAIL_PAD_ZEROED, /* the pad, but as zeroes */
	TAIL_SHORT, /* four bytes before the pad's end */
	TAILS
};

/* Whose ICRC it is: of the packet before, of ... */
enum { OF_THIS, OF_STREAM, OF_SENDER };

/* The order of its four bytes on the wire: least significant byte first, ... */
enum { ORDER_RIGHT, ORDER_SWAPPED, ORDER_BITS, ORDER_HALVES };

/* Of bytes only: recipes are compared as memory. */
struct engine {
	__u8 polynomial; /* enum crc_polynomial */
	__u8 msb_first;	 /* each byte's most significant bit goes in first, and the CRC is taken for such a one's */
};

struct front {
	struct engine engine;
	__u8 seed_zero; /* the register begins with zeroes */
	__u8 lead;
	__u8 headers;
	__u8 field[FIELDS];
	__u8 stale[2];	      /* set of enum part: as in the packet before of the same stream; low byte first */
	__u8 stale_sender[2]; /* ... of the same sender */
	__u8 zero[2];	      /* set of enum part */
	__u8 short_lengths;   /* 4 bytes less */
	__u8 next_psn;
	__u8 toggled_ackreq;
	__u8 swap; /* words of all headers */
};

struct body {
	struct engine engine;
	__u8 swap;
	__u8 tail;
};

struct end {
	__u8 msb_first;
	__u8 not_complemented;
	__u8 order;
	__u8 zero; /* the field is zero, whatever the rest says */
	__u8 of;   /* ... or holds another packet's right ICRC */
};

struct recipe {
	struct front front;
	struct body body;
	struct end end;
};

enum mistake {
#define MISTAKE(name, tried, words, asks, fix) MISTAKE_##name,
#include "roce/icrc_mistake.def"
	MISTAKES,
	NO_MISTAKE = MISTAKES
};

struct mistake_words {
	const char *name; /* with - for _ */
	const char *words, *asks, *fix;
};

const struct mistake_words *mistake_words(enum mistake m);

/* What the specification asks for, all in all. */
extern const char mistake_asks_all[];

#define EXPLANATIONS_MOST 4096
#define BODIES_MOST 256
#define ENDS_MOST 64
_Static_assert(MISTAKES * (MISTAKES + 1) / 2 < EXPLANATIONS_MOST, "one and two of all mistakes");

/* One mistake or two: what has to be the same at the front, and where the rest is computed. */
struct explanation {
	__u8 first, second; /* enum mistake; second: NO_MISTAKE, or behind first */
	__u16 front, body, end; /* in the lists */
};

/* All there are, singles first; and the different fronts, bodies and ends they are made of, the right ones at 0. */
struct explanations {
	struct explanation list[EXPLANATIONS_MOST];
	struct front fronts[EXPLANATIONS_MOST];
	struct body bodies[BODIES_MOST];
	struct end ends[ENDS_MOST];
	__u32 count, front_count, body_count, end_count;
};

/* Made at the first call. Not for several threads at once then. */
const struct explanations *explanations(void);

/* first and second: NO_MISTAKE for none. */
void recipe_make(struct recipe *r, enum mistake first, enum mistake second);

#endif
