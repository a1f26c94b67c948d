/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The internet checksum (RFC 1071) of IPv4 headers and UDP datagrams. Words are added in memory order: the sum is only compared
 * with all ones, so byte order does not matter, and folding can wait until the end.
 */
#ifndef ROCE_ICRC_CHECKSUM_H
#define ROCE_ICRC_CHECKSUM_H

#include "roce/icrc/icrc.h"

#define CHECKSUM_STEP 64 /* bytes an iteration */

/* The unfolded sum of `count` steps, beginning at `from`. */
roce_inline __u64 checksum_steps(const struct fold_source *s, __u32 from, __u32 count, __u32 most)
{
	const __u8 *p;
	__u64 sum = 0;

	roce_opaque(from);
	if (from > ROCE_WINDOW)
		return 0;
	p = s->frame + from;
	for (__u32 i = 0; i < most / CHECKSUM_STEP; i++) {
		roce_opaque(p); /* read through the register that was compared */
		if (i >= count || fold_beyond(s, p, CHECKSUM_STEP))
			break;
		for (__u32 k = 0; k < CHECKSUM_STEP; k += 4)
			sum += roce_load(__u32, p + k);
		p += CHECKSUM_STEP;
	}
	return sum;
}

/* The unfolded sum of the last partial step. An odd byte is padded with zero. */
roce_inline __u64 checksum_rest(const struct fold_source *s, __u32 from, __u32 bytes, __u32 most)
{
	const __u8 *p;
	__u64 sum = 0;

	roce_opaque(from);
	if (from > most)
		return 0;
	p = s->frame + from;
	for (__u32 i = 0; i < CHECKSUM_STEP / 4; i++) {
		roce_opaque(p);
		if (bytes < 4 || fold_beyond(s, p, 4))
			break;
		sum += roce_load(__u32, p);
		bytes -= 4;
		p += 4;
	}
	for (__u32 i = 0; i < 3; i++) {
		roce_opaque(p);
		if (i >= bytes || fold_beyond(s, p, 1))
			break;
		sum += (__u64)*p++ << 8 * i;
	}
	return sum;
}

/*
 * The unfolded sum of the packet's UDP header and payload. s: the whole frame. If s is not `limited`, the verifier must see up
 * to most + 2 * CHECKSUM_STEP readable bytes; nothing behind the datagram is read. most: a constant; a datagram that ends
 * beyond it gives a wrong sum.
 */
roce_inline __u64 roce_udp_sum(const struct fold_source *s, const struct roce_packet *p, __u32 most)
{
	__u32 from = p->l4_offset, bytes = icrc_end(p) - from;
	__u64 sum = checksum_steps(s, from, bytes / CHECKSUM_STEP, most);

	roce_reload();
	from = p->l4_offset;
	bytes = icrc_end(p) - from;
	return sum + checksum_rest(s, from + bytes / CHECKSUM_STEP * CHECKSUM_STEP, bytes % CHECKSUM_STEP, most);
}

/* The pseudo header. A mapped IPv4 address begins with ten zero bytes and two of all ones, which add nothing to the sum. */
roce_inline __u64 checksum_pseudo_header(const struct roce_packet *p)
{
	__u64 sum = __builtin_bswap16(WIRE_PROTO_UDP) + __builtin_bswap16(p->udp_length);

	for (int i = 0; i < 16; i += 4)
		sum += (__u64)roce_load(__u32, p->src + i) + roce_load(__u32, p->dst + i);
	return sum;
}

/*
 * Returns whether the checksum can be judged. It cannot if it is 0 (none, as IBTA A17.3.2.4 asks), if the lengths contradict
 * each other (a mistake that is counted elsewhere), or if an IPv6 routing header changes the address in the sum.
 */
roce_inline bool roce_has_udp_checksum(const struct roce_packet *p)
{
	return p->udp_checksum && p->udp_length == p->ip_payload &&
	       (p->ip_version == 4 || p->l4_offset - p->l3_offset == WIRE_IPV6_LEN);
}

/*
 * Returns whether the UDP checksum is wrong. p: a packet for which roce_has_udp_checksum() holds. s, most: as for
 * roce_udp_sum(); the frame is not yet masked for the ICRC. If hardware is to complete the checksum and has not seen the frame
 * yet (on the sender, on veth, on a guest's tap), the field holds the pseudo header's sum: that is no mistake.
 */
roce_inline bool roce_is_udp_checksum_wrong(const struct fold_source *s, const struct roce_packet *p,
					    __u32 most)
{
	__u64 pseudo = checksum_pseudo_header(p);
	__u64 sum = pseudo + roce_udp_sum(s, p, most);

	roce_reload();
	return checksum_fold(sum) != 0xffff && checksum_fold(pseudo) != __builtin_bswap16(p->udp_checksum);
}

/*
 * Fills in the fields of *p that need the whole packet: the ICRC's bytes, and whether the UDP checksum is wrong. frame: in
 * memory, not masked. most: as for roce_udp_sum().
 */
roce_inline void roce_take_whole(struct roce_packet *p, const __u8 *frame, __u32 most)
{
	const struct fold_source whole = { .frame = frame };

	p->icrc = roce_load(__u32, frame + p->icrc_offset);
	if (roce_has_udp_checksum(p))
		p->udp_checksum_wrong = roce_is_udp_checksum_wrong(&whole, p, most);
}

#endif
