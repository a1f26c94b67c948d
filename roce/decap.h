/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the Ethernet frame inside a switch's mirror tunnel: GRE with Ethernet (RFC 1701, 2784, 2890, 7637), ERSPAN types I, II
 * and III (draft-foschiano-erspan-03), VXLAN (RFC 7348). The tunnel runs over IPv4, or over IPv6 without extension headers,
 * under up to two VLAN tags. Tunnels inside tunnels are not followed.
 */
#ifndef ROCE_DECAP_H
#define ROCE_DECAP_H

#include "roce/parse.h"

/* The frame inside. The mirror may have cut it before it entered the tunnel: see roce_parse_frame(). */
struct roce_inner {
	__u32 offset;	/* of its Ethernet header */
	__u32 captured; /* bytes present in the window's frame */
	__u32 wire;	/* bytes carried by the tunnel, at least `captured` */
};

roce_inline bool decap_ethernet(struct roce_cursor *c)
{
	c->offset = WIRE_ETH_LEN - 2;
	for (int i = 0; i <= WIRE_VLAN_TAGS; i++) {
		const __u8 *h = cursor_peek(c, 2);

		if (!h)
			return false;
		c->proto = roce_be16(h);
		if (!wire_is_vlan(c->proto)) {
			c->offset += 2;
			return true;
		}
		c->offset += WIRE_VLAN_LEN;
	}
	return false;
}

/* false for a fragment, which holds no whole frame. */
roce_inline bool decap_ipv4(struct roce_cursor *c)
{
	const __u8 *h = cursor_peek(c, WIRE_IPV4_LEN);
	__u32 header;

	if (!h || h[0] >> 4 != 4 || roce_be16(h + 6) & 0x3fff)
		return false;
	header = (h[0] & 15) * 4;
	if (header < WIRE_IPV4_LEN)
		return false;
	c->end = c->offset + roce_be16(h + 2);
	c->proto = h[9];
	c->offset += header;
	return true;
}

roce_inline bool decap_ipv6(struct roce_cursor *c)
{
	const __u8 *h = cursor_peek(c, WIRE_IPV6_LEN);

	if (!h || h[0] >> 4 != 6)
		return false;
	c->end = c->offset + WIRE_IPV6_LEN + roce_be16(h + 4);
	c->proto = h[6];
	c->offset += WIRE_IPV6_LEN;
	return true;
}

/* false if the version does not match the type, or if an IP packet is inside. */
roce_inline bool decap_erspan(struct roce_cursor *c)
{
	bool third = c->proto == WIRE_GRE_ERSPAN_III;
	const __u8 *h = cursor_peek(c, third ? WIRE_ERSPAN_III_LEN : WIRE_ERSPAN_II_LEN);

	if (!h || h[0] >> 4 != (third ? 2 : 1))
		return false;
	c->offset += WIRE_ERSPAN_II_LEN;
	if (!third)
		return true;
	c->offset += WIRE_ERSPAN_III_LEN - WIRE_ERSPAN_II_LEN + (h[11] & 1 ? WIRE_ERSPAN_III_PLATFORM_LEN : 0);
	return !(h[10] >> 2 & 31);
}

/* Version 0, without RFC 1701 routing. */
roce_inline bool decap_gre(struct roce_cursor *c)
{
	const __u8 *h = cursor_peek(c, WIRE_GRE_LEN);
	__u32 flags;

	if (!h)
		return false;
	flags = roce_be16(h);
	c->proto = roce_be16(h + 2);
	if (flags & (WIRE_GRE_ROUTING | WIRE_GRE_VERSION))
		return false;
	c->offset += WIRE_GRE_LEN + (flags & WIRE_GRE_CHECKSUM ? 4 : 0) + (flags & WIRE_GRE_KEY ? 4 : 0) +
		     (flags & WIRE_GRE_SEQUENCE ? 4 : 0);
	if (c->proto == WIRE_GRE_ETHERNET)
		return true;
	if (c->proto == WIRE_GRE_ERSPAN && !(flags & WIRE_GRE_SEQUENCE))
		return true; /* type I has no header of its own */
	return (c->proto == WIRE_GRE_ERSPAN || c->proto == WIRE_GRE_ERSPAN_III) && decap_erspan(c);
}

roce_inline bool decap_vxlan(struct roce_cursor *c)
{
	const __u8 *h = cursor_peek(c, WIRE_UDP_LEN + WIRE_VXLAN_LEN);

	if (!h || roce_be16(h + 2) != WIRE_VXLAN_PORT || !(h[WIRE_UDP_LEN] & WIRE_VXLAN_VALID))
		return false;
	c->offset += WIRE_UDP_LEN + WIRE_VXLAN_LEN;
	return true;
}

/*
 * Looks for a tunnel. window, captured, wire: as for roce_parse(). true: a tunnel, with at least an Ethernet header of the
 * frame inside. false: *inner is undefined; parse the frame itself.
 */
roce_inline bool roce_decap(const __u8 *window, __u32 captured, __u32 wire, struct roce_inner *inner)
{
	struct roce_cursor c = { .window = window, .available = captured };
	bool tunnel = false;
	__u32 end;

	if (c.available > ROCE_WINDOW)
		c.available = ROCE_WINDOW;
	if (!decap_ethernet(&c))
		return false;
	if (c.proto == WIRE_ETHERTYPE_IPV4)
		tunnel = decap_ipv4(&c);
	else if (c.proto == WIRE_ETHERTYPE_IPV6)
		tunnel = decap_ipv6(&c);
	if (!tunnel)
		return false;
	if (c.proto == WIRE_PROTO_GRE)
		tunnel = decap_gre(&c);
	else
		tunnel = c.proto == WIRE_PROTO_UDP && decap_vxlan(&c);
	end = c.end < wire ? c.end : wire; /* Ethernet's padding may follow */
	if (!tunnel || c.offset + WIRE_ETH_LEN > end || c.offset + WIRE_ETH_LEN > captured)
		return false;
	inner->offset = c.offset;
	inner->wire = end - c.offset;
	inner->captured = (captured < end ? captured : end) - c.offset;
	return true;
}

#endif
