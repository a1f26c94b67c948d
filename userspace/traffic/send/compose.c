// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bytes.h"
#include "roce/packet/opcode.h"
#include "roce/packet/parse.h"
#include "roce/packet/wire.h"
#include "userspace/traffic/send/compose.h"
#include "userspace/traffic/send/payload.h"

#define QKEY 0x11111111 /* of every UD packet; the value of rdma_stream */
#define MIGREQ 0x40
#define BECN 0x40 /* in the first reserved byte */
#define WITH_IMMDT 4 /* beside AT_* */
#define HEADERS_MOST 256 /* bytes; the longest headers of any opcode */

/* Packets at the same place in their messages, all with or all without immediate data, have the same headers, except for a few fields. */
struct shape {
	bool made;
	__u8 headers[SLOT_HEADERS];
	__u8 resv8a;
	uint32_t header_bytes, frame_bytes, payload_bytes, pad;
	uint32_t udp, bth, reth, aeth, deth, immdt; /* offsets and sizes in bytes; 0: the header is absent */
	uint32_t crc;	       /* of the eight bytes of ones and the IP header */
	uint32_t sum;	       /* of the UDP pseudo header (RFC 768, RFC 8200 8.1) */
	uint32_t join[4][256]; /* bytes 0 (lowest) to 3 of the headers' CRC, carried through payload and pad */
};

struct composer {
	const struct send_plan *plan;
	struct pieces pieces;
	struct shape shape[8]; /* index: AT_*, and WITH_IMMDT where the opcode has immediate data */
};

static uint32_t put_ethernet(const struct send_plan *plan, __u8 *to)
{
	uint32_t at = 12;

	memcpy(to, plan->dst_mac, 6);
	memcpy(to + 6, plan->src_mac, 6);
	if (plan->tagged) {
		put16(to + at, WIRE_ETHERTYPE_VLAN);
		put16(to + at + 2, plan->pcp << 13 | plan->vlan);
		at += WIRE_VLAN_LEN;
	}
	put16(to + at, plan->ipv6 ? WIRE_ETHERTYPE_IPV6 : WIRE_ETHERTYPE_IPV4);
	return at + 2;
}

static uint32_t put_ip(const struct send_plan *plan, __u8 *to)
{
	if (plan->ipv6) {
		put32(to, 6u << 28 | plan->tos << 20 | plan->flow_label);
		to[6] = WIRE_PROTO_UDP;
		to[7] = plan->ttl;
		memcpy(to + 8, plan->src, 16);
		memcpy(to + 24, plan->dst, 16);
		return WIRE_IPV6_LEN;
	}
	to[0] = 0x45;
	to[1] = plan->tos;
	to[6] = plan->dont_fragment ? 0x40 : 0;
	to[8] = plan->ttl;
	to[9] = WIRE_PROTO_UDP;
	memcpy(to + 12, plan->src + 12, 4);
	memcpy(to + 16, plan->dst + 12, 4);
	return WIRE_IPV4_LEN;
}

/* A CNP sets BECN and not MigReq (IBTA A17.9.3). */
static void put_bth(const struct send_plan *plan, const struct send_packet *p, __u8 *to)
{
	bool cnp = roce_opcodes[p->opcode] & OP_CNP;

	to[0] = p->opcode;
	to[1] = (cnp ? 0 : MIGREQ) | p->pad << 4;
	put16(to + 2, plan->pkey);
	put32(to + 4, p->dqpn);
	to[4] = plan->reserved | (cnp ? BECN : 0);
	put32(to + 8, (uint32_t)p->ackreq << 31 | p->psn);
}

/* Writes the extension headers of the opcode, in their order. */
static uint32_t put_extensions(const struct send_packet *p, __u8 *to)
{
	uint32_t op = roce_opcodes[p->opcode];
	__u8 *at = to;

	if (op & OP_DETH) {
		put32(at, QKEY);
		put32(at + 4, p->sqpn);
		at += sizeof(struct wire_deth);
	}
	if (op & OP_RETH) {
		put64(at, p->va);
		put32(at + 8, p->rkey);
		put32(at + 12, p->dma_length);
		at += sizeof(struct wire_reth);
	}
	if (op & OP_AETH) {
		put32(at, (uint32_t)p->syndrome << 24 | (p->msn & 0xffffff));
		at += sizeof(struct wire_aeth);
	}
	if (op & OP_IMMDT) {
		put32(at, p->immediate);
		at += WIRE_IMMDT_LEN;
	}
	/* headers that only a fault asks for: zeroes */
	at += parse_extension_bytes(op & ~(OP_DETH | OP_RETH | OP_AETH | OP_IMMDT));
	if (op & OP_CNP)
		at += CNP_RESERVED;
	return at - to;
}

void compose_frame(struct composer *c, const struct send_packet *p, struct send_frame *f)
{
	const struct send_plan *plan = c->plan;
	uint32_t content;

	memset(f->bytes, 0, HEADERS_MOST);
	f->ipv6 = plan->ipv6;
	f->without_icrc = f->follows = false;
	f->icrc = (struct icrc_ways){ 0 };
	f->ip = put_ethernet(plan, f->bytes);
	f->udp = f->ip + put_ip(plan, f->bytes + f->ip);
	put16(f->bytes + f->udp, p->port);
	put16(f->bytes + f->udp + 2, WIRE_ROCEV2_PORT);
	f->bth = f->udp + WIRE_UDP_LEN;
	put_bth(plan, p, f->bytes + f->bth);
	f->extension = f->bth + sizeof(struct wire_bth);
	f->payload = f->extension + put_extensions(p, f->bytes + f->extension);
	content = p->payload_bytes;
	memcpy(f->bytes + f->payload, c->pieces.payload + p->payload, content);
	memset(f->bytes + f->payload + content, 0, p->pad + WIRE_ICRC_LEN);
	f->length = f->payload + content + p->pad + WIRE_ICRC_LEN;
	frame_lengths(f);
}

/* The CRC of the eight bytes of ones and the IP header, with its variable fields as ones (IBTA A17.3.3). */
static uint32_t crc_before_udp(const struct send_frame *f)
{
	__u8 covered[8 + WIRE_IPV6_LEN];
	__u8 *ip = covered + 8;

	memset(covered, 0xff, 8);
	memcpy(ip, f->bytes + f->ip, f->udp - f->ip);
	if (f->ipv6) {
		ip[0] |= 0x0f;
		ip[1] = ip[2] = ip[3] = ip[7] = 0xff;
	} else {
		ip[1] = ip[8] = ip[10] = ip[11] = 0xff;
	}
	return crc32_gzip_refl(0, covered, 8 + f->udp - f->ip);
}

/* crc(A then B) = join(crc(A)) ^ crc(B). join maps each bit of crc(A) to its effect after as many bytes as B has. */
static void make_join(uint32_t join[4][256], const __u8 *payload, uint32_t bytes)
{
	uint32_t none = crc32_gzip_refl(0, payload, bytes);

	for (int byte = 0; byte < 4; byte++)
		for (int bit = 0; bit < 8; bit++)
			join[byte][1 << bit] = crc32_gzip_refl(1u << (8 * byte + bit), payload, bytes) ^ none;
	for (int byte = 0; byte < 4; byte++)
		for (int value = 1; value < 256; value++)
			join[byte][value] = join[byte][value & (value - 1)] ^ join[byte][value & -value];
}

static uint32_t pseudo_header_sum(const struct send_frame *f)
{
	const __u8 *address = f->bytes + f->ip + (f->ipv6 ? 8 : 12);

	return sum_add(WIRE_PROTO_UDP + f->length - f->udp, address, f->ipv6 ? 32 : 8);
}

static void make_shape(struct composer *c, struct shape *s, const struct send_packet *p)
{
	uint32_t op = roce_opcodes[p->opcode], at;
	static struct send_frame f;

	compose_frame(c, p, &f);
	memcpy(s->headers, f.bytes, f.payload);
	s->header_bytes = f.payload;
	s->frame_bytes = f.length;
	s->payload_bytes = p->payload_bytes;
	s->pad = p->pad;
	s->udp = f.udp;
	s->bth = f.bth;
	at = f.extension;
	s->deth = op & OP_DETH ? at : 0;
	at += op & OP_DETH ? sizeof(struct wire_deth) : 0;
	s->reth = op & OP_RETH ? at : 0;
	at += op & OP_RETH ? sizeof(struct wire_reth) : 0;
	s->aeth = op & OP_AETH ? at : 0;
	at += op & OP_AETH ? sizeof(struct wire_aeth) : 0;
	s->immdt = op & OP_IMMDT ? at : 0;
	s->crc = crc_before_udp(&f);
	s->sum = pseudo_header_sum(&f);
	/* the ICRC masks these bytes: they stay ones until it is computed */
	memset(s->headers + s->udp + 6, 0xff, 2);
	s->resv8a = s->headers[s->bth + offsetof(struct wire_bth, resv8a)];
	s->headers[s->bth + offsetof(struct wire_bth, resv8a)] = 0xff;
	make_join(s->join, c->pieces.payload, p->payload_bytes + p->pad);
	s->made = true;
}

/* Sets the fields that differ from packet to packet. */
static void put_fields(const struct shape *t, const struct send_packet *p, __u8 *h)
{
	put16(h + t->udp, p->port);
	put32(h + t->bth + 4, 0xff000000 | p->dqpn);
	put32(h + t->bth + 8, (uint32_t)p->ackreq << 31 | p->psn);
	if (t->deth)
		put32(h + t->deth + 4, p->sqpn);
	if (t->reth) {
		put64(h + t->reth, p->va);
		put32(h + t->reth + 8, p->rkey);
	}
	if (t->aeth)
		put32(h + t->aeth, (uint32_t)p->syndrome << 24 | (p->msn & 0xffffff));
	if (t->immdt)
		put32(h + t->immdt, p->immediate);
}

/* The CRC of the payload and its pad of zeroes. */
static uint32_t content_crc(const struct payload_piece *piece, uint32_t pad)
{
	static const __u8 zero[3];

	return pad ? crc32_gzip_refl(piece->crc, zero, pad) : piece->crc;
}

static uint32_t joined(const struct shape *t, uint32_t crc, uint32_t content)
{
	return t->join[0][crc & 0xff] ^ t->join[1][crc >> 8 & 0xff] ^ t->join[2][crc >> 16 & 0xff] ^ t->join[3][crc >> 24] ^
	       content;
}

static uint16_t udp_checksum(const struct shape *t, const __u8 *h, const struct payload_piece *piece, uint32_t icrc)
{
	/* the checksum field counts as 0 in the sum; the ICRC is sent lowest byte first */
	uint32_t sum = t->sum + piece->sum + htons(icrc & 0xffff) + htons(icrc >> 16);

	sum = sum_add(sum, h + t->udp, t->header_bytes - t->udp);
	return (uint16_t)~sum_fold(sum) ?: 0xffff;
}

/* The frame's last eight bytes: the end of the payload (or of the headers, if there is no payload), then pad and ICRC. */
static void put_tail(struct slot *s, const struct shape *t, const __u8 *content, uint32_t icrc)
{
	uint32_t before = SLOT_TAIL - WIRE_ICRC_LEN - t->pad;

	memset(s->tail, 0, SLOT_TAIL);
	memcpy(s->tail, t->payload_bytes ? content + t->payload_bytes - before : s->headers + t->header_bytes - before, before);
	memcpy(s->tail + SLOT_TAIL - WIRE_ICRC_LEN, &icrc, WIRE_ICRC_LEN);
}

void compose_slot(struct composer *c, const struct send_packet *p, struct slot *s)
{
	struct shape *t = &c->shape[p->place | (roce_opcodes[p->opcode] & OP_IMMDT ? WITH_IMMDT : 0)];
	const struct payload_piece *piece;
	__u8 *h = s->headers;
	uint32_t icrc;

	if (!t->made)
		make_shape(c, t, p);
	memcpy(h, t->headers, SLOT_HEADERS);
	put_fields(t, p, h);
	piece = payload_piece(&c->pieces, p->payload, t->payload_bytes);
	icrc = joined(t, crc32_gzip_refl(t->crc, h + t->udp, t->header_bytes - t->udp), content_crc(piece, t->pad));
	h[t->bth + offsetof(struct wire_bth, resv8a)] = t->resv8a;
	put16(h + t->udp + 6, 0);
	if (c->plan->udp_checksum)
		put16(h + t->udp + 6, udp_checksum(t, h, piece, icrc));
	s->payload = p->payload;
	s->payload_bytes = t->payload_bytes;
	s->header_bytes = t->header_bytes;
	s->frame_bytes = t->frame_bytes;
	put_tail(s, t, c->pieces.payload + p->payload, icrc);
}

struct composer *composer_new(const struct send_plan *plan, __u8 *payload)
{
	struct composer *c = calloc(1, sizeof(*c));

	if (!c)
		err(1, "no memory");
	c->plan = plan;
	c->pieces.payload = payload;
	c->pieces.sums = plan->udp_checksum;
	payload_fill(payload, plan);
	return c;
}

void composer_free(struct composer *c)
{
	free(c);
}
