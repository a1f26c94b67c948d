// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "lib/address.h"
#include "roce/packet/opcode.h"
#include "roce/packet/wire.h"
#include "userspace/traffic/send/compose.h"
#include "userspace/traffic/send/observe.h"

#define IPV6_EXTENSIONS 4 /* the most that an observer walks (docs/rules.md: RoCE has none) */

/* State of the reader; offsets in bytes. */
struct reader {
	const __u8 *bytes;
	uint32_t length, at;
	uint32_t end;	/* end of the IP datagram, by its length field */
	bool fragment;
};

static uint32_t get(const __u8 *from, int bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | *from++;
	return value;
}

static bool is_there(const struct reader *r, uint32_t bytes)
{
	return r->at + bytes <= r->length;
}

/* Reads the Ethertype; `at` then points behind it. */
static uint32_t read_ethernet(struct reader *r)
{
	uint32_t type;

	r->at = 2 * 6;
	for (int tags = 0;; tags++) {
		if (!is_there(r, 2))
			return 0;
		type = get(r->bytes + r->at, 2);
		r->at += 2;
		if (tags == 3 || (type != 0x8100 && type != 0x88a8 && type != 0x9100 && type != 0x9200))
			return type;
		r->at += 2;
	}
}

static bool read_ipv4(struct reader *r, struct truth_packet *p)
{
	const __u8 *ip = r->bytes + r->at;
	uint32_t header;

	if (!is_there(r, WIRE_IPV4_LEN) || ip[0] >> 4 != 4)
		return false;
	header = 4 * (ip[0] & 15);
	address_from_ipv4(p->src, ip + 12);
	address_from_ipv4(p->dst, ip + 16);
	r->fragment = get(ip + 6, 2) & 0x3fff;
	r->end = r->at + get(ip + 2, 2);
	r->at += header;
	return header >= WIRE_IPV4_LEN && ip[9] == WIRE_PROTO_UDP;
}

static bool is_ipv6_extension(uint32_t proto)
{
	return proto == 0 || proto == 43 || proto == 44 || proto == 60 || proto == 135 || proto == 139 || proto == 140;
}

static bool read_ipv6(struct reader *r, struct truth_packet *p)
{
	const __u8 *ip = r->bytes + r->at;
	uint32_t proto;

	if (!is_there(r, WIRE_IPV6_LEN) || ip[0] >> 4 != 6)
		return false;
	memcpy(p->src, ip + 8, 16);
	memcpy(p->dst, ip + 24, 16);
	proto = ip[6];
	r->at += WIRE_IPV6_LEN;
	r->end = r->at + get(ip + 4, 2);
	for (int i = 0; i < IPV6_EXTENSIONS && is_ipv6_extension(proto); i++) {
		const __u8 *header = r->bytes + r->at;

		if (!is_there(r, 8))
			return false;
		r->fragment |= proto == 44 && get(header + 2, 2) & 0xfff9;
		r->at += proto == 44 ? 8 : 8 * (header[1] + 1);
		proto = header[0];
	}
	return proto == WIRE_PROTO_UDP;
}

static bool read_udp(struct reader *r)
{
	const __u8 *udp = r->bytes + r->at;

	if (!is_there(r, WIRE_UDP_LEN))
		return false;
	r->at += WIRE_UDP_LEN;
	return get(udp + 2, 2) == WIRE_ROCEV2_PORT;
}

/* The bytes of extension headers that an opcode has. */
static uint32_t extension_bytes(uint32_t op)
{
	static const struct { uint32_t op, bytes; } headers[] = {
		{ OP_RDETH, WIRE_RDETH_LEN }, { OP_DETH, sizeof(struct wire_deth) }, { OP_XRCETH, WIRE_XRCETH_LEN },
		{ OP_FETH, WIRE_FETH_LEN }, { OP_RETH, sizeof(struct wire_reth) }, { OP_ATOMICETH, WIRE_ATOMICETH_LEN },
		{ OP_AETH, sizeof(struct wire_aeth) }, { OP_ATOMICACKETH, WIRE_ATOMICACKETH_LEN }, { OP_IMMDT, WIRE_IMMDT_LEN },
		{ OP_IETH, WIRE_IETH_LEN },
	};
	uint32_t bytes = 0;

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		bytes += op & headers[i].op ? headers[i].bytes : 0;
	return bytes;
}

/* Reads from the BTH on. false: the lengths contradict each other. */
static bool read_roce(const struct reader *r, struct truth_packet *p)
{
	const __u8 *bth = r->bytes + r->at, *extension = bth + sizeof(struct wire_bth), *reth;
	uint32_t before = r->at + sizeof(struct wire_bth), pad, op;

	if (r->end > r->length || before + WIRE_ICRC_LEN > r->end)
		return false;
	p->opcode = bth[0];
	p->dqpn = get(bth + 5, 3);
	p->psn = get(bth + 9, 3);
	op = roce_opcodes[p->opcode];
	pad = bth[1] >> 4 & 3;
	before += extension_bytes(op) + pad + WIRE_ICRC_LEN;
	if (before > r->end)
		return false;
	p->payload_bytes = r->end - before;
	if (op & OP_DETH)
		p->sqpn = get(extension + extension_bytes(op & OP_RDETH) + offsetof(struct wire_deth, sqpn), 3);
	if (op & OP_RETH) {
		reth = extension + extension_bytes(op & (OP_RDETH | OP_DETH | OP_XRCETH | OP_FETH));
		p->va = (uint64_t)get(reth, 4) << 32 | get(reth + 4, 4);
		p->rkey = get(reth + offsetof(struct wire_reth, rkey), 4);
		p->dma_length = get(reth + offsetof(struct wire_reth, dma_length), 4);
	}
	if (op & OP_IMMDT) /* the last of its headers */
		p->immediate = get(extension + extension_bytes(op) - WIRE_IMMDT_LEN, 4);
	return true;
}

struct truth_packet frame_observed(const struct send_frame *f)
{
	struct truth_packet p = { .addressed = true, .frame_bytes = f->length };
	struct reader r = { .bytes = f->bytes, .length = f->length };
	uint32_t type = read_ethernet(&r);
	bool udp = type == WIRE_ETHERTYPE_IPV4 ? read_ipv4(&r, &p) : type == WIRE_ETHERTYPE_IPV6 && read_ipv6(&r, &p);

	if (udp && r.fragment)
		p.fragment = true;
	else if (!udp || !read_udp(&r))
		p.other = true;
	else if (!read_roce(&r, &p))
		p.malformed = true;
	/* a datagram with another beginning or end has its ICRC at another place */
	p.icrc_good = r.end == f->length && r.at == f->bth && frame_icrc_good(f);
	return p;
}
