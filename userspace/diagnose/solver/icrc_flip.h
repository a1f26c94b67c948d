/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which flipped bits explain a wrong ICRC: one bit, or a burst of up to eight bits, anywhere in what the ICRC covers or in the
 * ICRC itself. The CRC is linear: the difference between the right value and the one on the wire depends only on the flipped
 * bits.
 */
#ifndef USERSPACE_DIAGNOSE_SOLVER_ICRC_FLIP_H
#define USERSPACE_DIAGNOSE_SOLVER_ICRC_FLIP_H

#include "roce/packet/parse.h"

#define FLIP_SPAN 8   /* most bits of a burst, from its first flipped bit to its last one */
#define FLIPS_MOST 4  /* explanations kept of one packet */
#define FLIP_ONES 8   /* bytes 0xff in front of the IP header: a computation may have wrong bits there too */

/* The field of a packet that a byte is in. */
struct flip_place {
	__u8 field; /* index for flip_field_name() */
	__u16 byte; /* in the field, from 0 */
};

struct flip {
	__s32 at;   /* offset of the first flipped bit's byte in the frame; the eight bytes 0xff count as the ones before IP */
	__u16 bits; /* flipped bits of that byte; upper half: of the next byte */
	__u8 span;  /* bits from the first to the last, in the CRC's order: least significant first */
	__s32 from_payload; /* `at`, from the first byte of the payload */
	struct flip_place place;
};

#define CHANGES_MOST 4 /* fields kept of one packet */
#define FIELD_BYTES 3 /* most bytes of such a field */

/* A header field that explains the ICRC if it goes in with other bits. */
struct field_change {
	__u8 field; /* index for flip_field_name() */
	__u16 at;   /* offset in the frame */
	__u32 bits; /* that differ; the field's last bit is bit 0 */
	__u32 sent; /* what ought to go in; filled in by who has the frame */
};

struct flips {
	struct flip list[FLIPS_MOST]; /* shortest bursts first */
	__u32 count;
	struct field_change changes[CHANGES_MOST];
	__u32 change_count;
	__u32 bits; /* of the packet, that were tried */
};

/* right, found: the ICRC's bytes on the wire, the first one in the lowest bits. They must differ. */
void flips_find(const struct roce_packet *p, __u32 right, __u32 found, struct flips *f);

/* "the destination QPN of the BTH", "the payload". */
const char *flip_field_name(__u8 field);

/* 0: up to the end of its header. */
__u32 flip_field_bytes(__u8 field);

/* Whether ones stand for it in the ICRC. Of fields of up to FIELD_BYTES. */
bool flip_field_masked(__u8 field);

#endif
