/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Parses the first bytes of a frame into a struct roce_packet. All bounds are checked here.
 *
 * The caller passes a window: a buffer with ROCE_WINDOW_BYTES readable bytes, whatever the frame's length. Bytes beyond the
 * frame are undefined and never used.
 */
#ifndef ROCE_PACKET_PARSE_H
#define ROCE_PACKET_PARSE_H

#include "roce/packet/packet.h"
#include "roce/packet/wire.h"

#define ROCE_IPV6_EXTENSIONS 4 /* extension headers walked before UDP */

/* The parser's state between its steps. */
struct roce_cursor {
	const __u8 *window;
	__u32 available; /* readable bytes of the frame, of which at most ROCE_WINDOW are searched for headers */
	__u32 offset;	 /* of the next header */
	__u32 end;	 /* of the IP datagram, once known */
	__u32 proto;	 /* Ethertype, then IP protocol of the next header */
	bool cut;	 /* the frame may have been longer on the wire than known */
};

/* The next `need` bytes, or NULL if they are not in the window. Does not move the cursor. */
roce_inline const __u8 *cursor_peek(const struct roce_cursor *c, __u32 need)
{
	__u32 offset = c->offset;

	roce_opaque(offset);
	if (offset > ROCE_WINDOW || offset + need > c->available)
		return NULL;
	return c->window + offset;
}

/* Frames that hide an IP packet: MPLS, PPPoE, MACsec, too many VLAN tags. */
roce_inline bool parse_hides(__u32 ethertype)
{
	return wire_is_vlan(ethertype) || ethertype == WIRE_ETHERTYPE_MPLS || ethertype == WIRE_ETHERTYPE_MPLS_MULTICAST ||
	       ethertype == WIRE_ETHERTYPE_PPPOE || ethertype == WIRE_ETHERTYPE_MACSEC;
}

/* 1 if they are equal, else 0. Without a branch, because the verifier follows each. */
roce_inline __u32 parse_same(__u32 a, __u32 b)
{
	__u64 below = (__u64)(a ^ b) - 1;

	roce_opaque(below);
	return below >> 63;
}

/* Marks a frame by its Ethertype or IP protocol, whose numbers do not overlap. */
roce_inline __u32 parse_class(__u32 proto)
{
	__u32 tunnel = parse_same(proto, WIRE_PROTO_GRE) | parse_same(proto, WIRE_PROTO_IPV4) | parse_same(proto, WIRE_PROTO_IPV6) |
		       parse_same(proto, WIRE_PROTO_MPLS) | parse_same(proto, WIRE_PROTO_ETHERNET) |
		       parse_same(proto, WIRE_ETHERTYPE_MIRROR) | parse_same(proto, WIRE_ETHERTYPE_MPLS) |
		       parse_same(proto, WIRE_ETHERTYPE_MPLS_MULTICAST);

	return tunnel * FRAME_TUNNEL | parse_same(proto, WIRE_ETHERTYPE_MAC_CONTROL) * FRAME_CONTROL;
}

roce_inline __u32 parse_port_class(__u32 port)
{
	return (parse_same(port, WIRE_VXLAN_PORT) | parse_same(port, WIRE_VXLAN_PORT_LINUX) | parse_same(port, WIRE_GENEVE_PORT)) *
	       FRAME_TUNNEL;
}

roce_inline bool parse_ethernet(struct roce_cursor *c, struct roce_packet *p)
{
	const __u8 *h = cursor_peek(c, WIRE_ETH_LEN);

	if (!h)
		return false;
	roce_copy6(p->dst_mac, h);
	roce_copy6(p->src_mac, h + 6);
	c->proto = roce_be16(h + 12);
	c->offset = WIRE_ETH_LEN;
	for (int i = 0; i < WIRE_VLAN_TAGS; i++) {
		if (!wire_is_vlan(c->proto))
			break;
		h = cursor_peek(c, WIRE_VLAN_LEN);
		if (!h)
			return false;
		p->vlan = roce_be16(h) & 0xfff;
		p->vlan_tags++;
		c->proto = roce_be16(h + 2);
		c->offset += WIRE_VLAN_LEN;
	}
	return true;
}

roce_inline void parse_map_ipv4(__u8 to[16], const __u8 *from)
{
	roce_store(__u64, to, 0);
	roce_store(__u32, to + 8, 0xffff0000); /* little-endian */
	roce_copy4(to + 12, from);
}

/* Folds a sum of 32-bit words (below 2^48) to a 16-bit one's complement sum. */
roce_inline __u32 checksum_fold(__u64 sum)
{
	sum = (sum >> 32) + (__u32)sum;
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	return (sum >> 16) + (sum & 0xffff);
}

/* header: up to 60 bytes. If some lie behind the frame, the packet is cut before its BTH anyway. */
roce_inline bool parse_is_ipv4_checksum_wrong(const __u8 *header)
{
	__u32 options = (header[0] & 15) - WIRE_IPV4_LEN / 4; /* words */
	__u64 sum = 0;

	roce_opaque(options);
	for (__u32 i = 0; i < WIRE_IPV4_LEN / 4; i++)
		sum += roce_load(__u32, header + 4 * i);
	for (__u32 i = 0; options && i < 10; i++) /* mask instead of a branch per word: all ones below `options` */
		sum += roce_load(__u32, header + WIRE_IPV4_LEN + 4 * i) & (__s32)(i - options) >> 31;
	return checksum_fold(sum) != 0xffff;
}

/* Sets kind for a fragment. false: nothing more to parse. */
roce_inline bool parse_ipv4(struct roce_cursor *c, struct roce_packet *p)
{
	const __u8 *h = cursor_peek(c, WIRE_IPV4_LEN);
	__u32 header, fragment;

	if (!h || h[0] >> 4 != 4)
		return false;
	header = (h[0] & 15) * 4;
	if (header < WIRE_IPV4_LEN)
		return false;
	fragment = roce_be16(h + 6);
	p->ip_version = 4;
	p->ip_df = fragment >> 14 & 1;
	p->ip_checksum_wrong = parse_is_ipv4_checksum_wrong(h);
	p->tos = h[1];
	p->ttl = h[8];
	p->ip_id = roce_be16(h + 4);
	parse_map_ipv4(p->src, h + 12);
	parse_map_ipv4(p->dst, h + 16);
	p->l3_offset = c->offset;
	c->proto = h[9];
	c->end = c->offset + roce_be16(h + 2);
	c->offset += header;
	if (c->proto == WIRE_PROTO_UDP && fragment & 0x3fff)
		p->kind = ROCE_FRAGMENT;
	return c->proto == WIRE_PROTO_UDP && p->kind == ROCE_OTHER;
}

/* Extension headers that may precede UDP (RFC 8200, 4.1), except those that hide the rest (ESP). */
roce_inline bool parse_is_ipv6_extension(__u32 proto)
{
	return proto == 0 || proto == 43 || proto == 44 || proto == 60 || proto == 135 || proto == 139 || proto == 140;
}

/*
 * Also parses RoCEv1's GRH: it has the format of IPv6's header, no extension headers, and a length that includes the ICRC (IBTA
 * 8.3).
 */
roce_inline bool parse_ipv6(struct roce_cursor *c, struct roce_packet *p)
{
	const __u8 *h = cursor_peek(c, WIRE_IPV6_LEN);
	bool fragment = false;

	if (!h || h[0] >> 4 != 6)
		return false;
	p->ip_version = 6;
	p->tos = roce_be16(h) >> 4 & 0xff;
	p->ttl = h[7];
	roce_copy16(p->src, h + 8);
	roce_copy16(p->dst, h + 24);
	p->l3_offset = c->offset;
	c->proto = h[6];
	c->end = c->offset + WIRE_IPV6_LEN + roce_be16(h + 4);
	c->offset += WIRE_IPV6_LEN;
	if (p->rocev1)
		return c->proto == WIRE_PROTO_IBA;
	for (int i = 0; i < ROCE_IPV6_EXTENSIONS && parse_is_ipv6_extension(c->proto); i++) {
		h = cursor_peek(c, 8);
		if (!h)
			return false;
		/* a fragment header with offset 0 and no more fragments is a whole datagram (RFC 6946) */
		if (c->proto == 44 && roce_be16(h + 2) & 0xfff9)
			fragment = true;
		c->offset += c->proto == 44 ? 8 : (h[1] + 1) * 8;
		c->proto = h[0];
	}
	if (c->proto == WIRE_PROTO_UDP && fragment)
		p->kind = ROCE_FRAGMENT;
	return c->proto == WIRE_PROTO_UDP && !fragment;
}

/* 1 + the index of the port, 0: it is not watched. */
roce_inline __u32 parse_watched(const struct roce_ports *ports, __u32 port)
{
	__u32 found = 0;

	/* without a branch a port, because the verifier follows each */
	for (__u32 i = 0; i < ROCE_UDP_PORTS; i++)
		found |= ((__u64)(ports->port[i] ^ port) - 1) >> 32 & (i + 1);
	return port ? found : 0;
}

/* A datagram to a watched port. roce_parse_datagram() parses the rest. */
roce_inline void parse_watched_udp(struct roce_packet *p)
{
	p->kind = ROCE_UDP;
	p->service = SERVICE_UDP;
	p->payload_bytes = p->udp_length >= WIRE_UDP_LEN ? p->udp_length - WIRE_UDP_LEN : 0;
	p->foreign = 1;
	__builtin_memset(&p->udp, 0, sizeof(p->udp));
	p->frame_class = FRAME_PLAIN;
}

roce_inline void parse_bth(const __u8 *h, struct roce_packet *p)
{
	__u8 opcode = h[0], flags = h[1], ackreq = h[8];

	p->opcode = opcode;
	p->op = roce_opcodes[opcode];
	p->service = opcode >> 5;
	p->pad = flags >> 4 & 3;
	p->tver = flags & 15;
	p->pkey = roce_be16(h + 2);
	p->dqpn = roce_be24(h + 5);
	p->ackreq = ackreq >> 7;
	p->reserved_bits = (h[4] & 0x3f) | (ackreq & 0x7f);
	p->number = roce_be24(h + 9);
}

/* Total length of the extension headers behind the BTH, by OP_* of the opcode. */
roce_inline __u32 parse_extension_bytes(__u32 op)
{
	return (op & OP_RDETH ? WIRE_RDETH_LEN : 0) + (op & OP_DETH ? sizeof(struct wire_deth) : 0) +
	       (op & OP_XRCETH ? WIRE_XRCETH_LEN : 0) + (op & OP_FETH ? WIRE_FETH_LEN : 0) +
	       (op & OP_RETH ? sizeof(struct wire_reth) : 0) + (op & OP_ATOMICETH ? WIRE_ATOMICETH_LEN : 0) +
	       (op & OP_AETH ? sizeof(struct wire_aeth) : 0) + (op & OP_ATOMICACKETH ? WIRE_ATOMICACKETH_LEN : 0) +
	       (op & OP_IMMDT ? WIRE_IMMDT_LEN : 0) + (op & OP_IETH ? WIRE_IETH_LEN : 0);
}

/* The header of this bit of `op`, and those behind it, are missing. */
roce_inline bool parse_extensions_end(struct roce_packet *p, __u32 missing)
{
	p->op = (p->op & (missing - 1)) | OP_CUT | (missing == OP_DETH ? OP_UNPLACED : 0);
	return false;
}

/* Parses or skips the extension headers before a RETH. Few packets have any. */
roce_inline bool parse_before_reth(struct roce_cursor *c, struct roce_packet *p)
{
	const __u8 *h;

	if (p->op & OP_RDETH)
		c->offset += WIRE_RDETH_LEN;
	if (p->op & OP_DETH) {
		h = cursor_peek(c, sizeof(struct wire_deth));
		if (!h)
			return parse_extensions_end(p, OP_DETH);
		p->sqpn = roce_be24(h + offsetof(struct wire_deth, sqpn));
		c->offset += sizeof(struct wire_deth);
	}
	if (p->op & OP_XRCETH)
		c->offset += WIRE_XRCETH_LEN;
	if (p->op & OP_FETH)
		c->offset += WIRE_FETH_LEN;
	return true;
}

/* Parses or skips the opcode's extension headers, in their order. false: the window ends before one that is read. */
roce_inline bool parse_extensions(struct roce_cursor *c, struct roce_packet *p)
{
	const __u8 *h;

	if (p->op & (OP_RDETH | OP_DETH | OP_XRCETH | OP_FETH) && !parse_before_reth(c, p))
		return false;
	if (p->op & OP_RETH) {
		h = cursor_peek(c, sizeof(struct wire_reth));
		if (!h)
			return parse_extensions_end(p, OP_RETH);
		p->va = roce_be64(h + offsetof(struct wire_reth, va));
		p->rkey = roce_be32(h + offsetof(struct wire_reth, rkey));
		p->dma_length = roce_be32(h + offsetof(struct wire_reth, dma_length));
		c->offset += sizeof(struct wire_reth);
	}
	if (!(p->op & (OP_ATOMICETH | OP_AETH | OP_ATOMICACKETH | OP_IMMDT | OP_IETH)))
		return true;
	if (p->op & OP_ATOMICETH)
		c->offset += WIRE_ATOMICETH_LEN;
	if (p->op & OP_AETH) {
		h = cursor_peek(c, sizeof(struct wire_aeth));
		if (!h)
			return parse_extensions_end(p, OP_AETH);
		p->syndrome = h[offsetof(struct wire_aeth, syndrome)];
		p->msn = roce_be24(h + offsetof(struct wire_aeth, msn));
		c->offset += sizeof(struct wire_aeth);
	}
	if (p->op & OP_ATOMICACKETH)
		c->offset += WIRE_ATOMICACKETH_LEN;
	if (p->op & OP_IMMDT) {
		h = cursor_peek(c, WIRE_IMMDT_LEN);
		if (!h)
			return parse_extensions_end(p, OP_IMMDT);
		p->immediate = roce_be32(h);
		c->offset += WIRE_IMMDT_LEN;
	}
	if (p->op & OP_IETH)
		c->offset += WIRE_IETH_LEN;
	return true;
}

/*
 * A frame that ends before its IP length does may have been cut: then it takes the length of the IP header. Where nobody says so, the
 * UDP length must go beyond it as well, and the IPv4 header be as it was sent. RoCEv1 has neither, and is never malformed. Without a
 * branch, because the verifier follows each.
 */
roce_inline void parse_cut(const struct roce_cursor *c, struct roce_packet *p)
{
	__u64 udp_beyond = ((__u64)p->frame_bytes - p->l4_offset - p->udp_length) >> 63;
	__u32 silent = udp_beyond & (p->ip_checksum_wrong ^ 1) & (c->cut ^ 1) & (p->rocev1 ^ 1);
	__u32 cut = -(silent | c->cut | p->rocev1);

	roce_opaque(cut);
	p->ends_at = p->frame_bytes & -silent;
	p->frame_bytes += (c->end - p->frame_bytes) & cut;
}

/*
 * Parses BTH, extension headers, payload, pad and ICRC, behind UDP to port 4791 or a GRH. Contradicting lengths make the packet
 * malformed (except RoCEv1, which is counted as such in any case).
 *
 * A frame that was cut is a packet as far as it goes, if its BTH is whole. The IP length then gives its length. Where nobody says
 * that it was cut, one frame does not show whether a mirror did it or its sender counts wrongly: roce_judge_short().
 */
roce_inline void parse_roce(struct roce_cursor *c, struct roce_packet *p, __u32 captured)
{
	__u32 headers, op;
	const __u8 *h;

	if (c->end > p->frame_bytes)
		parse_cut(c, p);
	if (c->end > p->frame_bytes || c->offset + sizeof(struct wire_bth) + WIRE_ICRC_LEN > c->end) {
		p->kind = p->rocev1 ? ROCE_V1 : ROCE_MALFORMED;
		return;
	}
	h = cursor_peek(c, sizeof(struct wire_bth));
	if (!h) {
		p->truncated = c->offset + sizeof(struct wire_bth) > captured; /* else it lies behind the window */
		return;
	}
	parse_bth(h, p);
	op = p->op;
	c->offset += sizeof(struct wire_bth);
	headers = c->offset;
	headers = parse_extensions(c, p) ? c->offset : headers + parse_extension_bytes(op);
	if (headers + p->pad + WIRE_ICRC_LEN > c->end) {
		p->kind = p->rocev1 ? ROCE_V1 : ROCE_MALFORMED;
		return;
	}
	if (p->op & OP_CUT && headers <= captured)
		return; /* they lie behind the window */
	p->kind = ROCE_PACKET;
	p->icrc_offset = c->end - WIRE_ICRC_LEN;
	p->payload_bytes = p->icrc_offset - headers - p->pad;
	p->truncated = captured < c->end;
}

/* Returns whether the datagram goes to RoCEv2's port. */
roce_inline bool parse_udp(struct roce_cursor *c, struct roce_packet *p, const struct roce_ports *ports)
{
	const __u8 *h = cursor_peek(c, WIRE_UDP_LEN);
	__s32 ip_payload = c->end - c->offset; /* less than 0: none */

	if (!h)
		return false;
	p->udp_source_port = roce_be16(h);
	p->udp_port = roce_be16(h + 2);
	p->udp_length = roce_be16(h + 4);
	p->udp_checksum = roce_be16(h + 6);
	p->ip_payload = ip_payload & ~(ip_payload >> 31);
	c->offset += WIRE_UDP_LEN;
	if (p->udp_port == WIRE_ROCEV2_PORT)
		return true;
	p->frame_class = parse_port_class(p->udp_port);
	p->port = ports ? parse_watched(ports, p->udp_port) : 0;
	roce_reload();
	if (p->port)
		parse_watched_udp(p);
	return false;
}

/*
 * window: see above. captured: bytes of the frame that are present (its length, unless a capture cut it). wire_bytes: the
 * frame's length on the wire, without FCS. cut: a mirror may have cut the frame earlier; then the IP length gives the length of
 * a RoCE packet. ports: further ports to watch, may be NULL.
 *
 * Fills in *p, but for what roce_parse_datagram() adds; p->kind is the kind of frame. No input makes it read outside the
 * window.
 */
roce_inline void roce_parse_headers(const __u8 *window, __u32 captured, __u32 wire_bytes, bool cut,
				    const struct roce_ports *ports, struct roce_packet *p)
{
	struct roce_cursor c = { .window = window, .available = captured, .cut = cut };
	bool transport = false;

	/* `udp`, which is last, costs only those packets that have it */
	__builtin_memset(p, 0, offsetof(struct roce_packet, udp));
	p->frame_bytes = wire_bytes;
	if (c.available > ROCE_WINDOW)
		c.available = ROCE_WINDOW;
	if (!parse_ethernet(&c, p))
		return;
	if (c.proto == WIRE_ETHERTYPE_ROCEV1) {
		p->kind = ROCE_V1;
		p->rocev1 = 1;
	}
	if (c.proto == WIRE_ETHERTYPE_IPV4)
		transport = parse_ipv4(&c, p);
	else if (c.proto == WIRE_ETHERTYPE_IPV6 || c.proto == WIRE_ETHERTYPE_ROCEV1)
		transport = parse_ipv6(&c, p);
	else
		p->unparsed = parse_hides(c.proto);
	if (!transport) {
		p->frame_class = parse_class(c.proto);
		return;
	}
	p->l4_offset = c.offset;
	/* Reload: memory hides the range from the verifier, so that all paths that lead here become one. */
	c.offset = *(volatile __u16 *)&p->l4_offset;
	if (!p->rocev1 && !parse_udp(&c, p, ports))
		return;
	parse_roce(&c, p, captured);
}

/* Tells a parsed packet what counts blocks. With a ring nothing but the address of a WRITE does. */
roce_inline void roce_tell_blocks(struct roce_packet *p, const struct roce_blocks_by *by)
{
	bool write = p->op && !(p->op & OP_CUT) && (p->opcode & 31) - 6u < 6; /* 6 to 11 of each service's opcodes */

	if (!by->by_ring) {
		if (p->op & OP_IMMDT)
			p->imm = by->imm;
		return;
	}
	if (p->kind != ROCE_PACKET)
		return;
	p->op &= ~OP_IMMDT;
	if (write) {
		p->op |= OP_RING;
		p->ring = by->ring;
	}
}

#endif
