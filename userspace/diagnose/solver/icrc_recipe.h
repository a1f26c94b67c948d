/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recipe says how an ICRC is computed. The right one is all zeroes. A mistake changes the recipe in one point. Two mistakes
 * are applied one after the other, in the order of roce/icrc/icrc_mistake.def. Equal recipes are one explanation, so pairs that
 * contradict each other or add nothing are not in the list.
 */
#ifndef USERSPACE_DIAGNOSE_SOLVER_ICRC_RECIPE_H
#define USERSPACE_DIAGNOSE_SOLVER_ICRC_RECIPE_H

#include "userspace/diagnose/solver/icrc_crc.h"

/* Headers that are left out or added. */
enum {
	WITHOUT_IP = 1 << 0,
	WITHOUT_UDP = 1 << 1,
	WITHOUT_TRANSPORT = 1 << 2, /* BTH and all extension headers */
	WITH_ETHERNET = 1 << 3,
	WITH_TAGS = 1 << 4, /* VLAN tags too */
};

/* What replaces the LRH of InfiniBand: eight bytes ... */
enum { LEAD_ONES, LEAD_NONE, LEAD_ZEROES };

/* Fields that are replaced by ones, since they may change on the path. */
enum field { FIELD_TOS, FIELD_TTL, FIELD_IP_CHECKSUM, FIELD_UDP_CHECKSUM, FIELD_RESV8A, FIELD_FLOW_LABEL, FIELDS };
enum { FIELD_ONES, FIELD_SENT, FIELD_ZERO };

/* Parts of headers that go in otherwise than they are sent: as zero, ones, byte-swapped, or as in the packet before. */
enum part {
	PART_HEADERS, /* all from the IP header to the payload */
	PART_BTH,
	PART_EXTENSIONS, /* extension headers */
	PART_LENGTHS, /* of IP and UDP; this and what follows has a place of its own */
	/* fields. An extension header's are those of the first one that has them; a packet without the field has 0 bytes of it. */
	PART_IP_LENGTH,
	PART_IP_ID,
	PART_IP_FLAGS, /* flags and fragment offset */
	PART_IP_PROTOCOL, /* IPv6: next header */
	PART_IP_CHECKSUM,
	PART_SOURCE_ADDRESS,
	PART_DESTINATION_ADDRESS,
	PART_SOURCE_PORT,
	PART_DESTINATION_PORT,
	PART_UDP_LENGTH,
	PART_OPCODE,
	PART_BTH_FLAGS, /* byte 1: SE, MigReq, pad count, TVer */
	PART_PKEY,
	PART_DQPN,
	PART_ACKREQ, /* the BTH's byte with AckReq */
	PART_PSN,
	PART_QKEY,
	PART_SQPN,
	PART_VA,
	PART_RKEY,
	PART_DMA_LENGTH,
	PART_MSN,
	PART_IMMEDIATE,
	PARTS
};
#define PART_BYTES 4 /* a set of parts, the lowest byte first */
_Static_assert(PARTS <= 8 * PART_BYTES, "a bit each");

/* A header of another version or IP version that goes in in place of the packet's own (IPv4 addresses: mapped). */
enum { AS_SENT, AS_GRH, AS_IPV6, AS_IPV4 };

/* Bytes swapped in each word of the payload and its pad. */
enum { SWAP_NONE, SWAP_4, SWAP_8, SWAPS };

/* Where the bytes end. */
enum {
	TAIL_PAD,
	TAIL_PAYLOAD,
	TAIL_HEADERS,
	TAIL_ICRC, /* the ICRC itself, as zeroes */
	TAIL_FRAME_8, TAIL_FRAME_16, TAIL_FRAME_32, TAIL_FRAME_64, /* the last word of a bus, filled up with zeroes */
	TAIL_IP_8, TAIL_IP_16, TAIL_IP_32, TAIL_IP_64, /* the same, on a bus whose first word begins with the IP header */
	TAIL_CUT_FRAME_8, TAIL_CUT_FRAME_16, TAIL_CUT_FRAME_32, TAIL_CUT_FRAME_64, /* the last full word of a bus */
	TAIL_CUT_IP_8, TAIL_CUT_IP_16, TAIL_CUT_IP_32, TAIL_CUT_IP_64,
	TAIL_PAD_ZEROED, /* the pad, taken as zeroes */
	TAIL_SHORT, /* four bytes before the end of the pad */
	TAIL_SHORT_BYTE, /* one byte before it */
	TAIL_EXTRA_BYTE, /* one byte behind it, a zero */
	TAIL_ONES, /* behind it eight bytes 0xff */
	TAILS
};

/* A packet whose ICRC is used: this one, the one before of the stream, or of the sender. */
enum { OF_THIS, OF_STREAM, OF_SENDER };

/* The order of the ICRC's four bytes on the wire. ORDER_RIGHT: least significant byte first. */
enum { ORDER_RIGHT, ORDER_SWAPPED, ORDER_BITS, ORDER_HALVES };

/* Bytes only: recipes are compared as memory. */
struct engine {
	__u8 polynomial; /* enum crc_polynomial */
	__u8 msb_first;	 /* bytes go in most significant bit first, and the result is read that way */
};

struct front {
	struct engine engine;
	__u8 seed_zero; /* the register begins as zeroes */
	__u8 goes_on;	/* OF_*: the register begins with what that packet's ICRC left in it */
	__u8 lead;
	__u8 headers;
	__u8 field[FIELDS];
	__u8 stale[PART_BYTES];	       /* set of enum part, taken from the packet before of the same stream */
	__u8 stale_sender[PART_BYTES]; /* the same, of the same sender */
	__u8 zero[PART_BYTES];	       /* set of enum part */
	__u8 ones[PART_BYTES];	       /* the same, masked though they ought not to be */
	__u8 swapped[PART_BYTES];      /* the same, with their bytes in the other order */
	__u8 as;	      /* AS_* */
	__u8 short_lengths;   /* 4 bytes too small */
	__u8 next_psn;
	__u8 toggled_ackreq;
	__u8 swap; /* in words of all headers */
	__u8 late; /* the mask comes that many bytes too late: over what follows the fields */
};

struct body {
	struct engine engine;
	__u8 swap;
	__u8 tail;
};

struct recipe_end {
	__u8 msb_first;
	__u8 not_complemented;
	__u8 order;
	__u8 zero; /* the field is zero, whatever the other members say */
	__u8 of;   /* OF_*: the packet whose right ICRC is sent */
};

struct recipe {
	struct front front;
	struct body body;
	struct recipe_end end;
	bool alone; /* not tried together with another mistake */
};

enum mistake {
#define MISTAKE(name, tried, words, asks, fix) MISTAKE_##name,
#include "roce/icrc/icrc_mistake.def"
	MISTAKES,
	NO_MISTAKE = MISTAKES
};

struct mistake_words {
	const char *name; /* with - for _ */
	const char *words, *asks, *fix;
};

const struct mistake_words *mistake_words(enum mistake m);

/* What the specification asks for, in one text. */
extern const char mistake_asks_all[];

#define EXPLANATIONS_MOST 4096 /* the unit test says when they do not fit any more */
#define BODIES_MOST 256
#define ENDS_MOST 64

/* One mistake or a pair, as indices of its front, body and end. */
struct explanation {
	__u8 first, second; /* enum mistake; second: NO_MISTAKE, or later than first */
	__u16 front, body, end; /* indices into the lists */
};

/* A front that differs from the right one in one part only, which has a place of its own and is not masked. */
struct only {
	__u8 part; /* enum part */
	__u8 how;
};
enum { ONLY_NOT, ONLY_ZERO, ONLY_ONES, ONLY_SWAPPED, ONLY_STALE, ONLY_SENDER };

/*
 * All explanations, single mistakes first, and the different fronts, bodies and ends that they use. Index 0 of each is the
 * right one.
 */
struct explanations {
	struct explanation list[EXPLANATIONS_MOST];
	struct front fronts[EXPLANATIONS_MOST];
	struct only only[EXPLANATIONS_MOST]; /* of each front */
	struct body bodies[BODIES_MOST];
	struct recipe_end ends[ENDS_MOST];
	__u32 count, front_count, body_count, end_count;
};

/* Built on the first call, which is not safe in several threads. */
const struct explanations *explanations(void);

/* NO_MISTAKE: none. */
void recipe_make(struct recipe *r, enum mistake first, enum mistake second);

#endif
