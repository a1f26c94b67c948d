/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the parameters of an unknown CRC from packets that carry it: polynomial of 32 bits, start, reflection in and out, final
 * xor, byte order on the wire, masked fields, first byte. The idea is that of CRC RevEng (Gregory Cook): the difference of two
 * packets of one length knows neither start nor xor, and the polynomial divides it, and so the greatest common divisor of
 * several. A field of which is not known whether it goes in is one more unknown, and is eliminated like start and xor. All else
 * is linear, once the polynomial is known.
 */
#ifndef USERSPACE_DIAGNOSE_SOLVER_ICRC_SOLVE_H
#define USERSPACE_DIAGNOSE_SOLVER_ICRC_SOLVE_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

/*
 * Fields that may go in or not: SOLVE_FIELD(name, header, masked, words). masked: the ICRC asks for ones in their place (IBTA
 * 7.8.1, A17.3.3). A field of the other IP version has no bits.
 */
#define SOLVE_FIELDS                                                                                                        \
	SOLVE_FIELD(ethernet, ETHERNET, false, "the Ethernet header")                                                       \
	SOLVE_FIELD(tos, IP, true, "TOS (IPv6: traffic class)")                                                             \
	SOLVE_FIELD(flow_label, IP, true, "the flow label")                                                                 \
	SOLVE_FIELD(ip_length, IP, false, "the IP length")                                                                  \
	SOLVE_FIELD(ip_id, IP, false, "the IP identification")                                                              \
	SOLVE_FIELD(ip_flags, IP, false, "the IP fragment flags")                                                           \
	SOLVE_FIELD(ttl, IP, true, "TTL (IPv6: hop limit)")                                                                 \
	SOLVE_FIELD(ip_checksum, IP, true, "the IP header checksum")                                                        \
	SOLVE_FIELD(ip_addresses, IP, false, "the IP addresses")                                                            \
	SOLVE_FIELD(source_port, UDP, false, "the UDP source port")                                                         \
	SOLVE_FIELD(destination_port, UDP, false, "the UDP destination port")                                               \
	SOLVE_FIELD(udp_length, UDP, false, "the UDP length")                                                               \
	SOLVE_FIELD(udp_checksum, UDP, true, "the UDP checksum")                                                            \
	SOLVE_FIELD(opcode, BTH, false, "the opcode")                                                                       \
	SOLVE_FIELD(bth_flags, BTH, false, "byte 1 of the BTH (SE, MigReq, pad, TVer)")                                     \
	SOLVE_FIELD(pkey, BTH, false, "the P_Key")                                                                          \
	SOLVE_FIELD(resv8a, BTH, true, "byte 4 of the BTH (FECN, BECN, resv8a)")                                            \
	SOLVE_FIELD(dqpn, BTH, false, "the destination QPN")                                                                \
	SOLVE_FIELD(ackreq, BTH, false, "byte 8 of the BTH (AckReq)")                                                       \
	SOLVE_FIELD(psn, BTH, false, "the PSN")

#define SOLVE_POLYNOMIAL 0x04c11db7  /* of the ICRC */
#define SOLVE_BEHIND_ONES 0xc704dd7b /* its register behind the eight bytes 0xff; reflected 0xdebb20e3 */

enum solve_field {
#define SOLVE_FIELD(name, ...) SOLVE_##name,
	SOLVE_FIELDS
#undef SOLVE_FIELD
	SOLVE_COUNT
};

/* The header with which the CRC begins. */
enum solve_first { FIRST_ETHERNET, FIRST_IP, FIRST_UDP, FIRST_BTH };

struct solve_packet {
	const __u8 *frame; /* from the Ethernet header on */
	__u32 ip, udp, bth, icrc; /* offsets; RoCEv1: udp equals bth */
	bool ipv6;
};

/* The notation is CRC RevEng's: start and polynomial most significant bit first, whatever refin; xor_out behind refout. */
struct solution {
	__u32 polynomial; /* without x^32; bit k is the coefficient of x^k */
	__u32 start, xor_out;
	bool refin, refout;
	bool swapped; /* goes out most significant byte first */
	__u8 first;   /* enum solve_first */
	bool ones;    /* eight bytes 0xff in front */
	bool zeroes;  /* masked fields go in as zeroes, not as ones */
	__u32 masked; /* set of fields that do not go in as they are sent, from the first byte on */
	__u32 in_start; /* set of fields of which the start shows whether they are masked */
	__u32 shown;  /* set of fields that are not the same in all packets. Only for them it is certain that they are masked. */
	bool loose;   /* another start with other masks of the other fields gives the same */
	__u32 bare_start; /* loose: gives the same without the eight bytes */
	__u32 cost;   /* what is other than it ought to be: the more, the less likely */
};

#define SOLUTIONS_MOST 4
#define SOLVE_PACKETS 16 /* so many, the shortest, are looked at */
#define SOLVE_BYTES 9216 /* most bytes behind the BTH; longer packets are left out */
#define SOLVE_HEADERS 256 /* most bytes up to the end of the BTH */

/*
 * Returns the number of solutions, likeliest first. Several are all that the packets cannot tell apart, but SOLUTIONS_MOST are
 * the most. All packets must come from one computation. Needs about a dozen packets that differ, or four if the polynomial is
 * well known. Of right ICRCs the solution is the right one. 0 for random ICRCs, and where there is no memory.
 */
int solve(const struct solve_packet *packets, size_t count, struct solution found[SOLUTIONS_MOST]);

/* The ICRC of a packet by this solution: the four bytes on the wire, the first one in the lowest bits. See SOLVE_HEADERS. */
__u32 solution_icrc(const struct solution *s, const struct solve_packet *p);

/* Whether this is what the ICRC ought to be. */
bool solution_is_right(const struct solution *s);

const char *solve_field_words(enum solve_field f);
const char *solve_field_name(enum solve_field f);

/* Whether the ICRC asks for ones in its place. */
bool solve_field_masked(enum solve_field f);
/* The header that it is in. */
enum solve_first solve_field_first(enum solve_field f);

/* "CRC-32C", or NULL. */
const char *polynomial_name(__u32 polynomial);

#endif
