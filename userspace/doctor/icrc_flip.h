/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which flipped bits explain a wrong ICRC: one bit, or a burst of up to eight in a row, anywhere in what the ICRC covers or
 * in the ICRC itself. The CRC is linear: what the right value and the found one differ by depends on the flipped bits only.
 */
#ifndef USERSPACE_DOCTOR_ICRC_FLIP_H
#define USERSPACE_DOCTOR_ICRC_FLIP_H

#include "roce/parse.h"

#define FLIP_SPAN 8   /* bits of a burst, the first and the last one flipped */
#define FLIPS_MOST 4  /* explanations of one packet that are kept */
#define FLIP_ONES 8   /* bytes 0xff in front of the IP header, where bits of a computation may be wrong as well */

/* Where in a packet a byte is: of a field, of the payload, ... */
struct flip_place {
	__u8 field; /* as flip_field_name() knows them */
	__u16 byte; /* of the field, from 0 */
};

struct flip {
	__s32 at;   /* offset of the first flipped bit's byte in the frame; in the eight bytes 0xff: as if they were before IP */
	__u16 bits; /* flipped bits of that byte, and of the next one in the upper half */
	__u8 span;  /* from the first to the last, as the CRC takes them: least significant first */
	__s32 from_payload; /* `at`, counted from the first byte of the payload */
	struct flip_place place;
};

struct flips {
	struct flip list[FLIPS_MOST]; /* the shortest bursts first */
	__u32 count;
	__u32 bits; /* of the packet, that were looked at */
};

/* right, found: the ICRC's bytes on the wire, the first one lowest; they differ. */
void flips_find(const struct roce_packet *p, __u32 right, __u32 found, struct flips *f);

/* "the destination QPN of the BTH", "the payload". */
const char *flip_field_name(__u8 field);

#endif
