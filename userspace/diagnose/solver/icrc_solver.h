/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The steps of solve() (icrc_solve.h), a file each:
 *
 *   icrc_solve_packets.c     reads the packets: where their fields are, and which of them differ
 *   icrc_solve_polynomial.c  finds the common divisor of their differences, which the polynomial divides
 *   icrc_solve_linear.c      tells whether a polynomial fits, by linear equations for all else
 *   icrc_solve_start.c       solves these for start, xor, first byte and masked fields
 *   icrc_solve.c             chooses what is tried
 *
 * Registers are written with the most significant bit first, and bytes are fed so. REFIN mirrors each byte before it goes in,
 * REFOUT mirrors the register that comes out.
 */
#ifndef USERSPACE_DIAGNOSE_SOLVER_ICRC_SOLVER_H
#define USERSPACE_DIAGNOSE_SOLVER_ICRC_SOLVER_H

#include "userspace/diagnose/solver/icrc_crc.h"
#include "userspace/diagnose/solver/icrc_linear.h"
#include "userspace/diagnose/solver/icrc_poly.h"
#include "userspace/diagnose/solver/icrc_solve.h"

#define ICRC_BYTES 4

static inline void mirror_bytes(__u8 *bytes, __u32 count)
{
	for (__u32 i = 0; i < count; i++)
		bytes[i] = crc_reverse_bits(bytes[i]);
}

static inline __u32 mirror(__u32 v)
{
	return __builtin_bswap32(crc_reverse_bits(v));
}

/* ---- sets of fields: bit f is field f ---- */

static inline __u32 set_of(enum solve_field f)
{
	return 1u << f;
}

/* The fields that ought to be masked. */
__u32 set_to_mask(void);

/* The fields in front of that header. */
__u32 set_before(enum solve_first first);

/* All subsets, beginning with the empty one. */
#define for_each_subset(subset, set)                                                                             \
	for (__u32 subset = 0, more_ = true; more_; subset = (subset - (set)) & (set), more_ = subset != 0)

/* ---- packets ---- */

/* Where a field is. The first and the last byte may belong to it in part. */
struct solver_place {
	__u32 at, bytes; /* bytes 0: the packets have no such field */
	__u8 first, last;
};

struct solver_layout {
	__u32 ip, udp, bth, end; /* offsets; end: of the BTH */
	bool ipv6;
	struct solver_place place[SOLVE_COUNT];
};

struct solver_sample {
	const __u8 *header;  /* the frame */
	const __u8 *rest[2]; /* what is behind the BTH, up to the ICRC; [1]: with the bits of each byte mirrored */
	__u32 bytes;	     /* of the rest */
	__u32 found;	     /* the ICRC; its first byte on the wire is the lowest */
};

struct samples {
	struct arena arena;
	struct solver_layout layout; /* of all */
	struct solver_sample list[SOLVE_PACKETS]; /* the shortest first; no two have the same ICRC */
	__u32 count;
	__u32 most;   /* most bytes of the rest */
	__u32 varies; /* set of fields that are not the same in all */
};

void layout_find(struct solver_layout *l, const struct solve_packet *packet);

/* Which bits of the byte belong to the field at that place. */
__u8 place_bits(const struct solver_place *p, __u32 at);

/* Takes those that are laid out as the first one. s->arena has memory. false: fewer than two, so nothing can be found. */
bool samples_read(struct samples *s, const struct solve_packet *packets, size_t count);

/* Adds (modulo 2) to the headers in which bits of the field samples i and k differ. Returns whether they do. */
bool samples_add_difference(const struct samples *s, enum solve_field f, __u32 i, __u32 k, __u8 *headers);

/* ---- how register and bytes are read ---- */

struct form {
	bool refin, refout, swapped;
};

#define FORMS 8

/* The first is the right one. Those with the same refin are neighbours. */
static inline struct form form_of(int i)
{
	return (struct form){ .refin = !(i & 4), .refout = !(i & 2), .swapped = i & 1 };
}

/* The register with the final xor, from the four bytes on the wire. */
static inline __u32 form_register(const struct form *form, __u32 found)
{
	__u32 v = form->swapped ? __builtin_bswap32(found) : found;

	return form->refout ? mirror(v) : v;
}

/* ---- the polynomial ---- */

/* What is taken for certain: fields that go in and that do not. The others are unknown. */
struct solver_plan {
	__u32 in, out;
};

/*
 * The polynomial divides what this returns, which may have other factors as well. 0: there are too few packets, or no memory.
 * *enough: there are so many packets that no other plan finds what this one does not.
 */
struct poly common_divisor(struct samples *s, const struct form *form, const struct solver_plan *plan, bool *enough);

/* ---- one polynomial: all else is linear ---- */

/* The unknowns: bits of the final xor, one bit a field that varies (it goes in), bits of the register behind the BTH. */
#define UNKNOWN_XOR 0
#define UNKNOWN_FIELD 32
#define UNKNOWN_REGISTER 64

/* What a polynomial makes of the samples. */
struct candidate {
	__u32 polynomial;
	bool refin, made;
	__u32 table[256];
	__u32 rest[SOLVE_PACKETS];  /* the CRC of the rest, from a register of 0 */
	__u32 shift[SOLVE_PACKETS]; /* x to the number of its bits: what it makes of the register behind the BTH */
	__u32 field[SOLVE_PACKETS][SOLVE_COUNT]; /* what the field adds, as far as it differs from that of the first sample */
};

void candidate_make_table(struct candidate *c);

/* Computes the other members for a polynomial, unless they are already those. */
void candidate_make(struct candidate *c, const struct samples *s, __u32 polynomial, bool refin);

/* The register after the bytes. r: the register before them. */
__u32 candidate_crc(const struct candidate *c, __u32 r, const __u8 *bytes, __u32 count);

/* a * b, and x^n, modulo the polynomial. */
__u32 candidate_times(const struct candidate *c, __u32 a, __u32 b);
__u32 candidate_power(const struct candidate *c, __u32 n);

/* Whether the equations of all samples agree, and at least `evidence` of them follow from the others. */
bool candidate_fits(const struct candidate *c, const struct samples *s, const struct form *form, __u32 evidence,
		    struct linear *to);

/* ---- the other parameters ---- */

/* Sorted by cost. Where there are more than SOLUTIONS_MOST, the dearest are dropped. */
struct solutions {
	struct solution *list;
	int count;
};

/* Adds the likeliest solutions with this polynomial and form. equations: of candidate_fits(). */
void solutions_find(struct solutions *to, const struct samples *s, const struct candidate *c, const struct form *form,
		    const struct linear *equations);

#define LEAD_BYTES 8 /* 0xff in front */

/* What goes in of a packet's headers, by this solution. to: room for LEAD_BYTES + SOLVE_HEADERS. Returns the number of bytes. */
__u32 solution_feed(const struct solution *s, const struct solver_layout *l, const __u8 *frame, __u8 *to);

#endif
