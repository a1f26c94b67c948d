// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/diagnose/solver/icrc_crc.h"
#include "userspace/diagnose/solver/icrc_flip.h"

enum origin { OF_ONES, OF_IPV4, OF_IPV6, OF_UDP, OF_BTH, OF_EXTENSION, OF_PAYLOAD, OF_PAD, OF_ICRC };

/* Fields of extension headers, by the opcode's flag (0: any packet), in the order of the headers. */
static const struct flip_field {
	const char *name;
	__u8 origin;
	__u8 offset, bytes; /* in the header; bytes 0: up to its end */
	__u32 op;
} fields[] = {
	{ "the eight bytes 0xff in front of the IP header", OF_ONES, 0, 0, 0 },
	{ "the version and length of the IP header", OF_IPV4, 0, 1, 0 },
	{ "the TOS", OF_IPV4, 1, 1, 0 },
	{ "the IP length", OF_IPV4, 2, 2, 0 },
	{ "the IP identification", OF_IPV4, 4, 2, 0 },
	{ "the IP flags and fragment offset", OF_IPV4, 6, 2, 0 },
	{ "the TTL", OF_IPV4, 8, 1, 0 },
	{ "the IP protocol", OF_IPV4, 9, 1, 0 },
	{ "the IP header checksum", OF_IPV4, 10, 2, 0 },
	{ "the source address", OF_IPV4, 12, 4, 0 },
	{ "the destination address", OF_IPV4, 16, 4, 0 },
	{ "the IP options", OF_IPV4, 20, 0, 0 },
	{ "the IP version, traffic class and flow label", OF_IPV6, 0, 4, 0 },
	{ "the IP length", OF_IPV6, 4, 2, 0 },
	{ "the IP next header", OF_IPV6, 6, 1, 0 },
	{ "the hop limit", OF_IPV6, 7, 1, 0 },
	{ "the source address", OF_IPV6, 8, 16, 0 },
	{ "the destination address", OF_IPV6, 24, 16, 0 },
	{ "the IPv6 extension headers", OF_IPV6, 40, 0, 0 },
	{ "the UDP source port", OF_UDP, 0, 2, 0 },
	{ "the UDP destination port", OF_UDP, 2, 2, 0 },
	{ "the UDP length", OF_UDP, 4, 2, 0 },
	{ "the UDP checksum", OF_UDP, 6, 2, 0 },
	{ "the BTH opcode", OF_BTH, 0, 1, 0 },
	{ "the BTH flags, pad count and version", OF_BTH, 1, 1, 0 },
	{ "the BTH P_Key", OF_BTH, 2, 2, 0 },
	{ "the BTH byte with FECN and BECN", OF_BTH, 4, 1, 0 },
	{ "the BTH destination QPN", OF_BTH, 5, 3, 0 },
	{ "the BTH byte with AckReq", OF_BTH, 8, 1, 0 },
	{ "the BTH PSN", OF_BTH, 9, 3, 0 },
	{ "the RDETH", OF_EXTENSION, 0, 4, OP_RDETH },
	{ "the DETH Q_Key", OF_EXTENSION, 0, 4, OP_DETH },
	{ "the DETH reserved byte", OF_EXTENSION, 4, 1, OP_DETH },
	{ "the DETH source QPN", OF_EXTENSION, 5, 3, OP_DETH },
	{ "the XRCETH", OF_EXTENSION, 0, 4, OP_XRCETH },
	{ "the FETH", OF_EXTENSION, 0, 4, OP_FETH },
	{ "the RETH virtual address", OF_EXTENSION, 0, 8, OP_RETH },
	{ "the RETH R_Key", OF_EXTENSION, 8, 4, OP_RETH },
	{ "the RETH DMA length", OF_EXTENSION, 12, 4, OP_RETH },
	{ "the AtomicETH", OF_EXTENSION, 0, 28, OP_ATOMICETH },
	{ "the AETH syndrome", OF_EXTENSION, 0, 1, OP_AETH },
	{ "the AETH MSN", OF_EXTENSION, 1, 3, OP_AETH },
	{ "the AtomicAckETH", OF_EXTENSION, 0, 8, OP_ATOMICACKETH },
	{ "the immediate data", OF_EXTENSION, 0, 4, OP_IMMDT },
	{ "the IETH R_Key", OF_EXTENSION, 0, 4, OP_IETH },
	{ "the payload", OF_PAYLOAD, 0, 0, 0 },
	{ "the pad", OF_PAD, 0, 0, 0 },
	{ "the ICRC", OF_ICRC, 0, 0, 0 },
};

const char *flip_field_name(__u8 field)
{
	return fields[field].name;
}

__u32 flip_field_bytes(__u8 field)
{
	return fields[field].bytes;
}

bool flip_field_masked(__u8 field)
{
	const struct flip_field *f = &fields[field];

	switch (f->origin) {
	case OF_IPV4:
		return f->offset == 1 || f->offset == 8 || f->offset == 10;
	case OF_IPV6:
		return f->offset == 7;
	case OF_UDP:
		return f->offset == 6;
	default:
		return f->origin == OF_BTH && f->offset == 4;
	}
}

static __u32 payload_offset(const struct roce_packet *p)
{
	return p->icrc_offset - p->pad - p->payload_bytes;
}

/* The header that contains byte `at`, and where that header begins. */
static enum origin find_origin(const struct roce_packet *p, __s32 at, __s32 *begin)
{
	__s32 ip = p->l3_offset, l4 = p->l4_offset, bth = l4 + (p->rocev1 ? 0 : WIRE_UDP_LEN);
	const struct {
		enum origin origin;
		__s32 begin;
	} origins[] = {
		{ OF_ICRC, p->icrc_offset }, { OF_PAD, p->icrc_offset - p->pad }, { OF_PAYLOAD, payload_offset(p) },
		{ OF_EXTENSION, bth + (__s32)sizeof(struct wire_bth) }, { OF_BTH, bth }, { OF_UDP, l4 },
		{ p->ip_version == 4 ? OF_IPV4 : OF_IPV6, ip }, { OF_ONES, ip - FLIP_ONES },
	};
	__u32 i = 0;

	while (at < origins[i].begin && i + 1 < sizeof(origins) / sizeof(*origins))
		i++;
	*begin = origins[i].begin;
	return origins[i].origin;
}

/* Offset behind the BTH of the extension header that the field belongs to. */
static __u32 extension_offset(__u32 op, __u32 of)
{
	return parse_extension_bytes(op & (of - 1));
}

static void find_place(const struct roce_packet *p, __s32 at, struct flip_place *place)
{
	__s32 begin;
	enum origin origin = find_origin(p, at, &begin);

	for (__u32 i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		const struct flip_field *f = &fields[i];
		__s32 from = begin + f->offset;

		if (f->origin != origin || (f->op && !(p->op & f->op)))
			continue;
		if (f->op)
			from += extension_offset(p->op, f->op);
		if (at < from || (f->bytes && at >= from + f->bytes))
			continue;
		place->field = i;
		place->byte = at - from;
		return;
	}
}

static int lowest(__u32 bits)
{
	return __builtin_ctz(bits);
}

static int highest(__u32 bits)
{
	return 31 - __builtin_clz(bits);
}

/* Keeps the shortest bursts: a longer one gives way to a shorter one. */
static void keep(struct flips *f, const struct flip *flip)
{
	__u32 i = f->count < FLIPS_MOST ? f->count++ : FLIPS_MOST;

	for (; i > 0 && f->list[i - 1].span > flip->span; i--)
		if (i < FLIPS_MOST)
			f->list[i] = f->list[i - 1];
	if (i < FLIPS_MOST)
		f->list[i] = *flip;
}

/*
 * Looks for a burst whose last flipped bit is in byte `at`. r: the difference of the registers there. Its upper byte is byte
 * `at`, the next one the byte before.
 */
static void scan(const struct roce_packet *p, __u32 r, __s32 at, struct flips *f)
{
	__u32 bits = r >> 24 << 8 | (r >> 16 & 0xff); /* the byte before, and this byte */
	struct flip flip = {};

	if (r & 0xffff || !(bits >> 8))
		return;
	flip.span = highest(bits) - lowest(bits) + 1;
	if (flip.span > FLIP_SPAN)
		return;
	flip.at = bits & 0xff ? at - 1 : at;
	flip.bits = bits & 0xff ? bits : bits >> 8;
	if (flip.at < p->l3_offset - FLIP_ONES)
		return;
	flip.from_payload = flip.at - (__s32)payload_offset(p);
	find_place(p, flip.at, &flip.place);
	keep(f, &flip);
}

/*
 * Looks for a field that ends with byte `at`. r: as above, over four bytes: those in front of the field must not differ. A field of
 * four bytes explains anything.
 */
static void scan_field(const struct roce_packet *p, __u32 r, __s32 at, struct flips *f)
{
	struct flip_place place = {};
	__u32 bytes, bits;

	if (at < p->l3_offset || at >= (__s32)payload_offset(p) || f->change_count == CHANGES_MOST)
		return;
	find_place(p, at, &place);
	bytes = fields[place.field].bytes;
	if (!bytes || bytes > FIELD_BYTES || place.byte != bytes - 1)
		return;
	bits = __builtin_bswap32(r); /* the last byte is the lowest */
	if (bits >> 8 * bytes || !bits)
		return;
	f->changes[f->change_count++] = (struct field_change){ .field = place.field, .at = at + 1 - bytes, .bits = bits };
}

void flips_find(const struct roce_packet *p, __u32 right, __u32 found, struct flips *f)
{
	__s32 first = p->l3_offset - FLIP_ONES, at = p->icrc_offset + WIRE_ICRC_LEN - 1;
	__u32 r = right ^ found;

	memset(f, 0, sizeof(*f));
	f->bits = (at - first + 1) * 8;
	for (; at >= first; at--, r = crc_back(r))
		if (!(r & 0xff)) {
			scan(p, r, at, f);
			scan_field(p, r, at, f);
		}
}
