// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Each packet is tried with three thousand recipes, and each recipe would need a CRC of the whole packet. But the CRC is
 * linear: a table moves the register after the headers to the end of the payload, and the payload is computed once for each way
 * it can go in.
 */
#include <string.h>

#include "lib/bytes.h"
#include "roce/packet/parse.h"
#include "userspace/diagnose/icrc/icrc_try.h"

#define HEADERS_MOST 256 /* most bytes of headers: 128 that the parser reads, and the longest extension headers */
#define LEAD_BYTES 8

/* A copy of a packet's headers, and their offsets. */
struct try_headers {
	__u32 op; /* OP_* of the opcode */
	__u32 ip, udp, bth, extensions, payload; /* offsets; RoCEv1: udp equals bth */
	bool ipv6;
	__u8 bytes[HEADERS_MOST];
};

/* Copies only the bytes in use: this runs a thousand times per packet. */
static void copy_headers(struct try_headers *to, const struct try_headers *from)
{
	memcpy(to, from, offsetof(struct try_headers, bytes) + from->payload);
}

static void swap_bytes(__u8 *bytes, __u32 count)
{
	for (__u32 i = 0; i < count / 2; i++) {
		__u8 byte = bytes[i];

		bytes[i] = bytes[count - 1 - i];
		bytes[count - 1 - i] = byte;
	}
}

/* Offset and size of a part of a header. */
struct try_place {
	__u32 at, bytes;
};

static bool read_headers(struct try_headers *h, const __u8 *frame, const struct roce_packet *p)
{
	if (p->kind != ROCE_PACKET)
		return false;
	h->op = roce_opcodes[p->opcode];
	h->ip = p->l3_offset;
	h->udp = p->l4_offset;
	h->bth = p->l4_offset + (p->rocev1 ? 0 : WIRE_UDP_LEN);
	h->extensions = h->bth + sizeof(struct wire_bth);
	h->payload = p->icrc_offset - p->pad - p->payload_bytes;
	h->ipv6 = p->ip_version != 4;
	if (h->payload > HEADERS_MOST)
		return false;
	memcpy(h->bytes, frame, h->payload);
	return true;
}

/* Fields: the header, by its offset in struct try_headers, or the extension header that has the flag; where they are; with IPv6. */
static const struct part_field {
	__u32 header, extension;
	struct try_place place[2];
} part_fields[PARTS] = {
#define IP(at4, bytes4, at6, bytes6) { offsetof(struct try_headers, ip), 0, { { at4, bytes4 }, { at6, bytes6 } } }
#define SAME(header, extension, at, bytes) { offsetof(struct try_headers, header), extension, { { at, bytes }, { at, bytes } } }
#define UDP(at) SAME(udp, 0, at, 2)
#define BTH(at, bytes) SAME(bth, 0, at, bytes)
#define IN(extension, at, bytes) SAME(extensions, extension, at, bytes)
	[PART_IP_LENGTH] = IP(2, 2, 4, 2),
	[PART_IP_ID] = IP(4, 2, 0, 0),
	[PART_IP_FLAGS] = IP(6, 2, 0, 0),
	[PART_IP_PROTOCOL] = IP(9, 1, 6, 1),
	[PART_IP_CHECKSUM] = IP(10, 2, 0, 0),
	[PART_SOURCE_ADDRESS] = IP(12, 4, 8, 16),
	[PART_DESTINATION_ADDRESS] = IP(16, 4, 24, 16),
	[PART_SOURCE_PORT] = UDP(0),
	[PART_DESTINATION_PORT] = UDP(2),
	[PART_UDP_LENGTH] = UDP(4),
	[PART_BTH] = BTH(0, sizeof(struct wire_bth)),
	[PART_OPCODE] = BTH(0, 1),
	[PART_BTH_FLAGS] = BTH(1, 1),
	[PART_PKEY] = BTH(offsetof(struct wire_bth, pkey), 2),
	[PART_DQPN] = BTH(offsetof(struct wire_bth, dqpn), 3),
	[PART_ACKREQ] = BTH(offsetof(struct wire_bth, ackreq), 1),
	[PART_PSN] = BTH(offsetof(struct wire_bth, psn), 3),
	[PART_QKEY] = IN(OP_DETH, 0, 4),
	[PART_SQPN] = IN(OP_DETH, offsetof(struct wire_deth, sqpn), 3),
	[PART_VA] = IN(OP_RETH, offsetof(struct wire_reth, va), 8),
	[PART_RKEY] = IN(OP_RETH, offsetof(struct wire_reth, rkey), 4),
	[PART_DMA_LENGTH] = IN(OP_RETH, offsetof(struct wire_reth, dma_length), 4),
	[PART_MSN] = IN(OP_AETH, offsetof(struct wire_aeth, msn), 3),
	[PART_IMMEDIATE] = IN(OP_IMMDT, 0, WIRE_IMMDT_LEN),
};

/* No bytes, if the packet has no such header. */
static struct try_place find_field(const struct try_headers *h, enum part part)
{
	const struct part_field *f = &part_fields[part];
	struct try_place to = f->place[h->ipv6];

	to.at += *(const __u32 *)((const char *)h + f->header);
	if (f->extension)
		to.at += parse_extension_bytes(h->op & (f->extension - 1));
	if ((f->extension && !(h->op & f->extension)) || (f->header == offsetof(struct try_headers, udp) && h->udp == h->bth))
		to.bytes = 0;
	return to;
}

/* Finds up to two places. Unused ones have 0 bytes. */
static void find_part(const struct try_headers *h, enum part part, struct try_place to[2])
{
	to[1] = (struct try_place){};
	if (part == PART_HEADERS)
		to[0] = (struct try_place){ h->ip, h->payload - h->ip };
	else if (part == PART_EXTENSIONS)
		to[0] = (struct try_place){ h->extensions, h->payload - h->extensions };
	else
		to[0] = find_field(h, part == PART_LENGTHS ? PART_IP_LENGTH : part);
	if (part == PART_LENGTHS)
		to[1] = find_field(h, PART_UDP_LENGTH);
}

static bool has(const __u8 set[PART_BYTES], enum part part)
{
	return set[part / 8] >> part % 8 & 1;
}

/* The parts of the set, one after the other: most sets have one part, or none. */
#define for_each_part(part, set) \
	for (__u32 rest_ = roce_load(__u32, set), part = rest_ ? __builtin_ctz(rest_) : 0; rest_; \
	     rest_ &= rest_ - 1, part = rest_ ? __builtin_ctz(rest_) : 0)

/* A part whose size differs in the two packets is not replaced: no hardware register could hold it. */
static void replace_part(struct try_headers *h, const struct try_headers *before, enum part part)
{
	struct try_place to[2], from[2];

	find_part(h, part, to);
	find_part(before, part, from);
	for (int i = 0; i < 2; i++)
		if (to[i].bytes == from[i].bytes)
			memcpy(h->bytes + to[i].at, before->bytes + from[i].at, to[i].bytes);
}

static void replace(struct try_headers *h, const __u8 parts[PART_BYTES], const struct try_headers *before)
{
	if (!before)
		return;
	if (has(parts, PART_HEADERS)) {
		copy_headers(h, before);
		return;
	}
	for_each_part(part, parts)
		replace_part(h, before, part);
}

/* Puts that byte in the place of the parts. */
static void put_for(struct try_headers *h, const __u8 parts[PART_BYTES], __u8 byte)
{
	struct try_place at[2];

	for_each_part(part, parts) {
		find_part(h, part, at);
		memset(h->bytes + at[0].at, byte, at[0].bytes);
		memset(h->bytes + at[1].at, byte, at[1].bytes);
	}
}

static void swap_parts(struct try_headers *h, const __u8 parts[PART_BYTES])
{
	struct try_place at[2];

	for_each_part(part, parts) {
		find_part(h, part, at);
		for (int i = 0; i < 2; i++)
			swap_bytes(h->bytes + at[i].at, at[i].bytes);
	}
}

static void add_to(__u8 *field, int bytes, int what)
{
	for (int i = bytes - 1; i >= 0; i--, what >>= 8)
		field[i] = what += field[i];
}

static void change(struct try_headers *h, const struct front *f)
{
	struct try_place at[2];

	if (f->short_lengths) {
		find_part(h, PART_LENGTHS, at);
		add_to(h->bytes + at[0].at, at[0].bytes, -WIRE_ICRC_LEN);
		add_to(h->bytes + at[1].at, at[1].bytes, -WIRE_ICRC_LEN);
	}
	if (f->next_psn)
		add_to(h->bytes + h->bth + offsetof(struct wire_bth, psn), 3, 1);
	if (f->toggled_ackreq)
		h->bytes[h->bth + offsetof(struct wire_bth, ackreq)] ^= 0x80;
}

static void mask_bits(__u8 *byte, __u8 bits, __u8 how)
{
	if (how == FIELD_ONES)
		*byte |= bits;
	else if (how == FIELD_ZERO)
		*byte &= ~bits;
}

static void mask(struct try_headers *h, const __u8 how[FIELDS])
{
	__u8 *ip = h->bytes + h->ip, *udp = h->bytes + h->udp;

	if (h->ipv6) {
		mask_bits(ip, 0x0f, how[FIELD_TOS]);
		mask_bits(ip + 1, 0xf0, how[FIELD_TOS]);
		mask_bits(ip + 1, 0x0f, how[FIELD_FLOW_LABEL]);
		mask_bits(ip + 2, 0xff, how[FIELD_FLOW_LABEL]);
		mask_bits(ip + 3, 0xff, how[FIELD_FLOW_LABEL]);
		mask_bits(ip + 7, 0xff, how[FIELD_TTL]);
	} else {
		mask_bits(ip + 1, 0xff, how[FIELD_TOS]);
		mask_bits(ip + 8, 0xff, how[FIELD_TTL]);
		mask_bits(ip + 10, 0xff, how[FIELD_IP_CHECKSUM]);
		mask_bits(ip + 11, 0xff, how[FIELD_IP_CHECKSUM]);
	}
	if (h->udp != h->bth) {
		mask_bits(udp + 6, 0xff, how[FIELD_UDP_CHECKSUM]);
		mask_bits(udp + 7, 0xff, how[FIELD_UDP_CHECKSUM]);
	}
	mask_bits(h->bytes + h->bth + offsetof(struct wire_bth, resv8a), 0xff, how[FIELD_RESV8A]);
}

#define LATE_MOST 64 /* most bytes by which a mask comes too late */

/*
 * Masks what lies `late` bytes behind each field. Returns what to add (modulo 2) to the register in front of the payload, so
 * that it is as if the payload were masked as well.
 */
static __u32 mask_late(struct try_headers *h, __u32 late, const __u8 *payload, __u32 payload_bytes)
{
	static const __u8 right[FIELDS];
	__u32 count = payload_bytes < LATE_MOST ? payload_bytes : LATE_MOST, r;
	__u8 changed[LATE_MOST] = {};
	struct try_headers bits;

	copy_headers(&bits, h);
	memset(bits.bytes, 0, h->payload);
	mask(&bits, right);
	for (__u32 at = h->ip; at < h->payload; at++) {
		if (at + late < h->payload)
			h->bytes[at + late] |= bits.bytes[at];
		else if (at + late - h->payload < count)
			changed[at + late - h->payload] = bits.bytes[at] & ~payload[at + late - h->payload];
	}
	r = crc_register(CRC_IEEE, 0, changed, count);
	while (count--)
		r = crc_back(r);
	return r;
}

/* The bytes that go into the CRC, in order. */
struct feed {
	__u8 bytes[LEAD_BYTES + HEADERS_MOST];
	__u32 count;
};

static void feed(struct feed *to, const __u8 *from, __u32 count)
{
	memcpy(to->bytes + to->count, from, count);
	to->count += count;
}

static void feed_lead(struct feed *to, __u8 lead)
{
	if (lead == LEAD_NONE)
		return;
	memset(to->bytes, lead == LEAD_ONES ? 0xff : 0, LEAD_BYTES);
	to->count = LEAD_BYTES;
}

#define TWO_ADDRESSES 12 /* bytes before tags and Ethertype */

static void feed_headers(struct feed *to, const struct try_headers *h, __u8 which)
{
	if (which & WITH_TAGS) {
		feed(to, h->bytes, h->ip);
	} else if (which & WITH_ETHERNET) {
		feed(to, h->bytes, TWO_ADDRESSES);
		feed(to, h->bytes + h->ip - 2, 2);
	}
	if (!(which & WITHOUT_IP))
		feed(to, h->bytes + h->ip, h->udp - h->ip);
	if (!(which & WITHOUT_UDP))
		feed(to, h->bytes + h->udp, h->bth - h->udp);
	if (!(which & WITHOUT_TRANSPORT))
		feed(to, h->bytes + h->bth, h->payload - h->bth);
}

static void reverse_bits(__u8 *bytes, __u32 count)
{
	__u64 w;

	for (__u32 i = 0; i < count; i += 8) {
		memcpy(&w, bytes + i, 8);
		w = crc_reverse_bits(w);
		memcpy(bytes + i, &w, 8);
	}
}

static void swap_words(__u8 *bytes, __u32 count, __u8 swap)
{
	for (__u32 i = 0; swap == SWAP_4 && i + 4 <= count; i += 4) {
		__u32 w;

		memcpy(&w, bytes + i, 4);
		w = __builtin_bswap32(w);
		memcpy(bytes + i, &w, 4);
	}
	for (__u32 i = 0; swap == SWAP_8 && i + 8 <= count; i += 8) {
		__u64 w;

		memcpy(&w, bytes + i, 8);
		w = __builtin_bswap64(w);
		memcpy(bytes + i, &w, 8);
	}
}

/* What all recipes of one packet use. */
struct try_packet {
	__u16 port[AS_IPV4 + 1]; /* RoCEv1, by AS_*: the UDP source port with which that version would give the value on the wire */
	struct try_headers own, of_stream, of_sender;
	bool has_stream, has_sender;
	__u32 stream_icrc, sender_icrc; /* what they were sent with */
	const __u8 *payload; /* payload and pad */
	__u32 payload_bytes, pad;
	__u32 ip, end; /* offsets of the IP header and of the ICRC in the frame */
};

/* The register at the beginning. Without a packet before it is right. */
static __u32 seed(const struct try_packet *p, const struct front *f)
{
	if (f->goes_on == OF_STREAM && p->has_stream)
		return ~p->stream_icrc;
	if (f->goes_on == OF_SENDER && p->has_sender)
		return ~p->sender_icrc;
	return f->seed_zero ? 0 : ~0u;
}

static void put_address(__u8 to[16], const struct try_headers *h, __u32 at)
{
	if (h->ipv6)
		memcpy(to, h->bytes + h->ip + 8 + 16 * at, 16);
	else
		parse_map_ipv4(to, h->bytes + h->ip + 12 + 4 * at);
}

/* The network header of the other version, from the packet's own. What it does not have is as everybody sends it. */
static __u32 make_network_header(__u8 *to, const struct try_headers *h, __u8 as, __u32 ip_payload)
{
	__u8 address[2][16];

	put_address(address[0], h, 0);
	put_address(address[1], h, 1);
	if (as == AS_IPV4) {
		memset(to, 0, WIRE_IPV4_LEN);
		to[0] = 0x45;
		put16(to + 2, WIRE_IPV4_LEN + ip_payload);
		to[6] = 0x40; /* don't fragment */
		to[9] = WIRE_PROTO_UDP;
		memcpy(to + 12, address[0] + 12, 4);
		memcpy(to + 16, address[1] + 12, 4);
		return WIRE_IPV4_LEN;
	}
	memset(to, 0, 8);
	to[0] = 0x60;
	put16(to + 4, ip_payload);
	to[6] = as == AS_GRH ? WIRE_PROTO_IBA : WIRE_PROTO_UDP;
	memcpy(to + 8, address, sizeof(address));
	return WIRE_IPV6_LEN;
}

/* Replaces the headers in front of the BTH by those of another version. */
static void change_version(struct try_headers *h, const struct try_packet *p, __u8 as)
{
	struct try_headers own;
	__u32 behind = p->end + WIRE_ICRC_LEN - h->bth; /* from the BTH on */

	if (h->payload + WIRE_IPV6_LEN + WIRE_UDP_LEN > HEADERS_MOST)
		return;
	copy_headers(&own, h);
	h->ipv6 = as != AS_IPV4;
	h->udp = h->bth = h->ip + make_network_header(h->bytes + h->ip, &own, as, behind + (as == AS_GRH ? 0 : WIRE_UDP_LEN));
	if (as != AS_GRH) {
		__u8 *udp = h->bytes + h->udp;

		h->bth += WIRE_UDP_LEN;
		if (own.udp != own.bth) {
			memcpy(udp, own.bytes + own.udp, WIRE_UDP_LEN);
		} else {
			put16(udp, p->port[as]);
			put16(udp + 2, WIRE_ROCEV2_PORT);
			put16(udp + 4, behind + WIRE_UDP_LEN);
		}
	}
	h->extensions = h->bth + sizeof(struct wire_bth);
	h->payload = h->bth + own.payload - own.bth;
	memcpy(h->bytes + h->bth, own.bytes + own.bth, own.payload - own.bth);
}

/* The register after the headers. */
static __u32 front_register(const struct try_packet *p, const struct front *f)
{
	struct try_headers h;
	struct feed go;
	__u32 late = 0;

	go.count = 0;
	copy_headers(&h, &p->own);
	if (f->as)
		change_version(&h, p, f->as);
	replace(&h, f->stale, p->has_stream ? &p->of_stream : NULL);
	replace(&h, f->stale_sender, p->has_sender ? &p->of_sender : NULL);
	change(&h, f);
	swap_parts(&h, f->swapped);
	put_for(&h, f->zero, 0);
	put_for(&h, f->ones, 0xff);
	mask(&h, f->field);
	if (f->late)
		late = mask_late(&h, f->late, p->payload, p->payload_bytes + p->pad);
	feed_lead(&go, f->lead);
	feed_headers(&go, &h, f->headers);
	swap_words(go.bytes, go.count, f->swap);
	if (f->engine.msb_first)
		reverse_bits(go.bytes, go.count);
	return crc_register(f->engine.polynomial, seed(p, f), go.bytes, go.count) ^ late;
}

/* What goes in for a part of the headers. false: what is sent. */
static bool read_only(const struct try_packet *p, struct only o, int i, struct try_place *at, __u8 *to)
{
	const struct try_headers *before = NULL;
	struct try_place own[2], from[2];

	find_part(&p->own, o.part, own);
	*at = own[i];
	if (o.how == ONLY_STALE || o.how == ONLY_SENDER) {
		if (!(o.how == ONLY_STALE ? p->has_stream : p->has_sender))
			return false;
		before = o.how == ONLY_STALE ? &p->of_stream : &p->of_sender;
		find_part(before, o.part, from);
		if (from[i].bytes != at->bytes)
			return false;
		memcpy(to, before->bytes + from[i].at, at->bytes);
	} else if (o.how == ONLY_SWAPPED) {
		memcpy(to, p->own.bytes + at->at, at->bytes);
		swap_bytes(to, at->bytes);
	} else {
		memset(to, o.how == ONLY_ONES ? 0xff : 0, at->bytes);
	}
	return at->bytes;
}

#define PART_MOST 16 /* bytes of a part with a place of its own */

/* Like front_register(), for one part: what its bits add to the right register. */
static __u32 only_register(const struct try_packet *p, struct only o, __u32 right)
{
	static const __u8 nothing[HEADERS_MOST];

	for (int i = 0; i < 2; i++) {
		__u8 bytes[PART_MOST];
		struct try_place at;
		__u32 r;

		if (!read_only(p, o, i, &at, bytes))
			continue;
		for (__u32 k = 0; k < at.bytes; k++)
			bytes[k] ^= p->own.bytes[at.at + k];
		r = crc_register(CRC_IEEE, 0, bytes, at.bytes);
		right ^= crc_register(CRC_IEEE, r, nothing, p->own.payload - at.at - at.bytes);
	}
	return right;
}

#define CHUNK 512

/* The register after `count` bytes of payload that start from register r. A partial word at the end is not swapped. */
static __u32 payload_register(const __u8 *bytes, __u32 count, const struct body *b, __u32 r)
{
	__u8 chunk[CHUNK];

	if (!b->swap && !b->engine.msb_first)
		return crc_register(b->engine.polynomial, r, bytes, count);
	while (count) {
		__u32 now = count < CHUNK ? count : CHUNK;

		memcpy(chunk, bytes, now);
		swap_words(chunk, now, b->swap);
		if (b->engine.msb_first)
			reverse_bits(chunk, now);
		r = crc_register(b->engine.polynomial, r, chunk, now);
		bytes += now;
		count -= now;
	}
	return r;
}

/* Leaves out `count` bytes, at most the whole payload: no recipe leaves out headers here. */
static void leave_out(__u32 *bytes, __u32 count)
{
	*bytes -= count < *bytes ? count : *bytes;
}

/* How many bytes of payload and pad go in, and how many zeroes (TAIL_ONES: ones) after them. */
static void find_tail(const struct try_packet *p, __u8 tail, __u32 *bytes, __u32 *zeroes)
{
	*bytes = p->payload_bytes + p->pad;
	*zeroes = tail == TAIL_ONES ? LEAD_BYTES : tail == TAIL_EXTRA_BYTE;
	if (tail == TAIL_PAYLOAD)
		*bytes = p->payload_bytes;
	else if (tail == TAIL_HEADERS)
		*bytes = 0;
	else if (tail == TAIL_ICRC)
		*zeroes = WIRE_ICRC_LEN;
	else if (tail == TAIL_SHORT)
		leave_out(bytes, WIRE_ICRC_LEN);
	else if (tail == TAIL_SHORT_BYTE)
		leave_out(bytes, 1);
	else if (tail == TAIL_PAD_ZEROED)
		leave_out(bytes, *zeroes = p->pad);
	else if (tail >= TAIL_CUT_IP_8 && tail <= TAIL_CUT_IP_64)
		leave_out(bytes, (p->end - p->ip) & ((8u << (tail - TAIL_CUT_IP_8)) - 1));
	else if (tail >= TAIL_CUT_FRAME_8 && tail <= TAIL_CUT_FRAME_64)
		leave_out(bytes, p->end & ((8u << (tail - TAIL_CUT_FRAME_8)) - 1));
	else if (tail >= TAIL_IP_8 && tail <= TAIL_IP_64)
		*zeroes = (p->ip - p->end) & ((8u << (tail - TAIL_IP_8)) - 1);
	else if (tail >= TAIL_FRAME_8 && tail <= TAIL_FRAME_64)
		*zeroes = -p->end & ((8u << (tail - TAIL_FRAME_8)) - 1);
}

/* Cached, since most packets of a stream have the same length. */
static const struct crc_advance *find_advance(enum crc_polynomial p, __u8 tail, __u32 bytes)
{
	static _Thread_local struct {
		bool made;
		__u32 bytes;
		struct crc_advance advance;
	} known[CRC_POLYNOMIALS][TAILS], *k;

	k = &known[p][tail];
	if (!k->made || k->bytes != bytes)
		crc_make_advance(&k->advance, p, bytes);
	k->made = true;
	k->bytes = bytes;
	return &k->advance;
}

/* What a body does to the register before it. */
struct body_register {
	__u32 register_of_zero;
	const struct crc_advance *advance;
};

/* base: the register after base_bytes of the payload, computed already for another tail. */
static void body_register(const struct try_packet *p, const struct body *b, __u32 base, __u32 base_bytes,
			  struct body_register *to)
{
	static const __u8 nothing[64], ones[LEAD_BYTES] = { 255, 255, 255, 255, 255, 255, 255, 255 };
	__u32 bytes, zeroes, r = 0;

	find_tail(p, b->tail, &bytes, &zeroes);
	if (bytes)
		r = payload_register(p->payload + base_bytes, bytes - base_bytes, b, base);
	to->register_of_zero = crc_register(b->engine.polynomial, r, b->tail == TAIL_ONES ? ones : nothing, zeroes);
	to->advance = find_advance(b->engine.polynomial, b->tail, bytes + zeroes);
}

/* The register that gives the value on the wire. */
static __u32 end_register(__u32 wire, const struct recipe_end *e)
{
	switch (e->order) {
	case ORDER_SWAPPED:
		wire = __builtin_bswap32(wire);
		break;
	case ORDER_BITS:
		wire = crc_reverse_bits(wire);
		break;
	case ORDER_HALVES:
		wire = wire >> 16 | wire << 16;
		break;
	}
	if (e->msb_first)
		wire = crc_reverse_bits(wire);
	return e->not_complemented ? wire : ~wire;
}

static void read_packet(struct try_packet *p, const struct icrc_case *c)
{
	const struct roce_packet *r = c->packet;

	read_headers(&p->own, c->frame->bytes, r);
	p->has_stream = c->of_stream && read_headers(&p->of_stream, c->of_stream->header, &c->of_stream->packet);
	p->has_sender = c->of_sender && read_headers(&p->of_sender, c->of_sender->header, &c->of_sender->packet);
	p->stream_icrc = c->of_stream ? c->of_stream->packet.icrc : 0;
	p->sender_icrc = c->of_sender ? c->of_sender->packet.icrc : 0;
	p->payload = c->frame->bytes + p->own.payload;
	p->payload_bytes = r->payload_bytes;
	p->pad = r->pad;
	p->ip = r->l3_offset;
	p->end = r->icrc_offset;
	memset(p->port, 0, sizeof(p->port));
}

/* Work space for one packet. */
struct registers {
	__u32 front[EXPLANATIONS_MOST], end[ENDS_MOST];
	struct body_register body[BODIES_MOST];
};

static __u32 through(const struct body_register *b, __u32 front)
{
	return crc_advance(b->advance, front) ^ b->register_of_zero;
}

/* The register in front of payload and pad. r: the register behind them, without what they add. */
static __u32 before_body(const struct try_packet *p, __u32 r)
{
	for (__u32 i = 0; i < p->payload_bytes + p->pad; i++)
		r = crc_back(r);
	return r;
}

#define TAIL_BYTES 64 /* most bytes that a tail leaves out */

static void compute_bodies(struct registers *r, const struct try_packet *p, const struct explanations *all)
{
	__u32 base[CRC_POLYNOMIALS][2][SWAPS];
	__u32 whole = p->payload_bytes < TAIL_BYTES ? 0 : (p->payload_bytes - TAIL_BYTES) & ~7u;
	bool known[CRC_POLYNOMIALS][2][SWAPS] = {};

	for (__u32 i = 0; i < all->body_count; i++) {
		const struct body *b = &all->bodies[i];
		__u32 *k = &base[b->engine.polynomial][b->engine.msb_first][b->swap];
		bool *is_known = &known[b->engine.polynomial][b->engine.msb_first][b->swap];

		if (!*is_known)
			*k = payload_register(p->payload, whole, b, 0);
		*is_known = true;
		body_register(p, b, *k, whole, &r->body[i]);
	}
}

static bool is_icrc_of(const struct icrc_before *b, __u32 icrc)
{
	return b && b->packet.kind == ROCE_PACKET && b->whole && b->right == icrc;
}

/* The right register after each step. */
static void follow_register(const struct try_packet *p, __u32 behind[ICRC_STEPS])
{
	static const __u8 right[FIELDS], ones[LEAD_BYTES] = { 255, 255, 255, 255, 255, 255, 255, 255 };
	struct try_headers h;
	const __u32 ends[] = { p->own.udp, p->own.bth, p->own.extensions, p->own.payload };
	__u32 r = crc_register(CRC_IEEE, ~0u, ones, sizeof(ones)), at = p->own.ip;

	copy_headers(&h, &p->own);
	mask(&h, right);
	for (int i = 0; i < ICRC_STEPS - 1; i++) {
		behind[i] = r = crc_register(CRC_IEEE, r, h.bytes + at, ends[i] - at);
		at = ends[i];
	}
	behind[ICRC_STEPS - 1] = crc_register(CRC_IEEE, r, p->payload, p->payload_bytes + p->pad);
}

/*
 * A RoCEv1 packet says nothing of the UDP source port, which the ICRC of RoCEv2 covers. By the CRC's linearity at most one port
 * gives the value on the wire. after: the register behind the headers that gives it.
 */
static void find_ports(struct try_packet *p, __u32 after)
{
	for (__u8 as = AS_IPV6; as <= AS_IPV4; as++) {
		__u32 d = front_register(p, &(struct front){ .as = as }) ^ after;

		for (__u32 i = p->own.bth; i < p->own.payload + WIRE_UDP_LEN; i++)
			d = crc_back(d);
		p->port[as] = d >> 16 ? 0 : roce_be16((__u8 *)&d);
	}
}

void icrc_try(const struct icrc_case *c, struct icrc_attempt *a)
{
	static _Thread_local struct registers r;
	const struct explanations *all = explanations();
	struct try_packet p;

	memset(a, 0, sizeof(*a));
	a->found = roce_load(__u32, c->frame->bytes + c->packet->icrc_offset);
	read_packet(&p, c);
	follow_register(&p, a->behind);
	compute_bodies(&r, &p, all);
	for (__u32 i = 0; i < all->end_count; i++)
		r.end[i] = end_register(a->found, &all->ends[i]);
	if (c->packet->rocev1)
		find_ports(&p, before_body(&p, r.end[0] ^ r.body[0].register_of_zero));
	r.front[0] = front_register(&p, &all->fronts[0]);
	for (__u32 i = 1; i < all->front_count; i++)
		r.front[i] = all->only[i].how ? only_register(&p, all->only[i], r.front[0]) : front_register(&p, &all->fronts[i]);
	a->right = ~through(&r.body[0], r.front[0]);
	for (__u32 i = 0; i < all->count; i++) {
		const struct explanation *x = &all->list[i];
		bool fits = through(&r.body[x->body], r.front[x->front]) == r.end[x->end];

		if (all->ends[x->end].zero)
			fits = !a->found;
		else if (all->ends[x->end].of)
			fits = is_icrc_of(all->ends[x->end].of == OF_STREAM ? c->of_stream : c->of_sender, a->found);
		a->fitting += fits;
		a->fits[i / 64] |= (__u64)fits << i % 64;
	}
}
