/* SPDX-License-Identifier: GPL-2.0-only */
/* The CRC of a frame in scratch memory, by slices of eight bytes. */
#ifndef BPF_CRC_H
#define BPF_CRC_H

#include "bpf/abi.h"

#define CRC_STEP 64 /* bytes an iteration: one bound check, and few iterations for the verifier to walk through */

/*
 * The register after bytes from..to-1 of frame, which may be read up to FRAME_MAX + CRC_STEP. Bounds beyond FRAME_MAX
 * give a wrong register, never a read outside.
 */
static __always_inline __u32 crc_register(const struct icrc_tables *t, const __u8 *frame, __u32 from, __u32 to)
{
	__u32 r = ICRC_REGISTER, at = from;

	for (int i = 0; i < FRAME_MAX / CRC_STEP; i++) {
		roce_opaque(at);
		if (at + CRC_STEP > to || at > FRAME_MAX)
			break;
		for (int k = 0; k < CRC_STEP; k += 8)
			r = icrc_eight(t, r, frame + at + k);
		at += CRC_STEP;
	}
	for (int i = 0; i < CRC_STEP / 8; i++) {
		roce_opaque(at);
		if (at + 8 > to || at > FRAME_MAX)
			break;
		r = icrc_eight(t, r, frame + at);
		at += 8;
	}
	for (int i = 0; i < 8; i++) {
		roce_opaque(at);
		if (at >= to || at > FRAME_MAX)
			break;
		r = icrc_byte(t, r, frame[at]);
		at++;
	}
	return r;
}

#endif
