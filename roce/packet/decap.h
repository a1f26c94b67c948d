/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the frame inside of tunnels, those of switches that mirror and those of overlays: GRE (RFC 1701, 2784, 2890, 7637) with
 * Ethernet, IP, MPLS, ERSPAN types I, II and III (draft-foschiano-erspan-03) or NVIDIA's mirror header, which also comes behind
 * an Ethertype of its own; VXLAN (RFC 7348) and Geneve (RFC 8926); IP in IP (RFC 2003, 2473, 4213), also behind extension
 * headers, as in SRv6 (RFC 8986); MPLS (RFC 3032, 4023, 4448). What is inside may be a tunnel again.
 *
 * The headers are read in steps, so that the BPF verifier checks each kind once, and not for each place where it may be.
 */
#ifndef ROCE_PACKET_DECAP_H
#define ROCE_PACKET_DECAP_H

#include "roce/packet/parse.h"

#define DECAP_WINDOW 448 /* bytes in which headers of tunnels are searched */
#define DECAP_WINDOW_BYTES 512 /* the window plus the largest header */
#define DECAP_STEPS 64 /* over all tunnels; a tag, label or extension header takes one of its own, as does each tunnel */

/* The frame inside. The mirror may have cut it before it entered the tunnel: see roce_parse_frame(). */
struct roce_inner {
	__u32 offset;	/* of its Ethernet header */
	__u32 captured; /* bytes present in the window's frame */
	__u32 wire;	/* bytes carried by the tunnel, at least `captured` */
	/* of an IP packet without Ethernet, 0: it has Ethernet. Its header goes before it: roce_inner_ethernet() */
	__u32 ethertype;
};

struct decap_window {
	__u8 bytes[DECAP_WINDOW_BYTES];
};

/* What comes next in the frame. */
enum decap_next { DECAP_ETHERNET, DECAP_TYPE, DECAP_LABEL, DECAP_IPV4, DECAP_IPV6, DECAP_PROTOCOL, DECAP_OTHER, DECAP_ROCE };

/* The state between two steps. */
struct decap_walk {
	__u32 captured; /* readable bytes of the frame */
	__u32 end;	/* of what the tunnels so far carry */
	__u32 offset;	/* of the next header */
	__u32 next;	/* enum decap_next; from DECAP_OTHER on nothing more is read */
	__u32 type;	/* Ethertype or IP protocol of the next header */
	__u32 row;	/* headers of its kind before it: tags, labels, extension headers */
	struct roce_inner inner; /* of the innermost tunnel so far; offset 0: none */
};

/* The next `need` bytes, at most DECAP_WINDOW_BYTES - DECAP_WINDOW, or NULL. */
roce_inline const __u8 *decap_peek(const struct decap_walk *w, const struct decap_window *window, __u32 need)
{
	__u32 offset = w->offset;

	roce_opaque(offset);
	if (offset > DECAP_WINDOW || offset + need > w->captured)
		return NULL;
	return window->bytes + offset;
}

/* A tunnel carries the rest. ethertype: IP without Ethernet; 0: a frame. */
roce_inline void decap_enter(struct decap_walk *w, const struct decap_window *window, __u32 ethertype)
{
	__u32 least = ethertype ? WIRE_IPV4_LEN : WIRE_ETH_LEN, begin = w->offset - (ethertype ? WIRE_ETH_LEN : 0);
	const __u8 *h = ethertype ? decap_peek(w, window, 1) : NULL;

	w->next = DECAP_OTHER;
	if (w->offset + least > w->end || w->offset + least > w->captured)
		return;
	if (ethertype && (!h || h[0] >> 4 != (ethertype == WIRE_ETHERTYPE_IPV4 ? 4 : 6)))
		return;
	w->inner.offset = begin;
	w->inner.wire = w->end - begin;
	w->inner.captured = (w->captured < w->end ? w->captured : w->end) - begin;
	w->inner.ethertype = ethertype;
	w->row = 0;
	w->next = !ethertype ? DECAP_ETHERNET : ethertype == WIRE_ETHERTYPE_IPV4 ? DECAP_IPV4 : DECAP_IPV6;
}

/* A tunnel says by an Ethertype what it carries. */
roce_inline void decap_payload(struct decap_walk *w, const struct decap_window *window)
{
	w->row = 0;
	switch (w->type) {
	case WIRE_ETHERTYPE_MIRROR:
		w->offset += WIRE_MIRROR_LEN;
		decap_enter(w, window, 0);
		break;
	case WIRE_TYPE_ETHERNET:
		decap_enter(w, window, 0);
		break;
	case WIRE_ETHERTYPE_IPV4:
	case WIRE_ETHERTYPE_IPV6:
		decap_enter(w, window, w->type);
		break;
	case WIRE_ETHERTYPE_MPLS:
	case WIRE_ETHERTYPE_MPLS_MULTICAST:
		w->next = DECAP_LABEL;
		break;
	default:
		w->next = DECAP_OTHER;
	}
}

/* What is behind an Ethernet header: tags, one in each step, or what they precede. */
roce_inline void decap_type(struct decap_walk *w, const struct decap_window *window)
{
	const __u8 *h;

	if (w->type == WIRE_ETHERTYPE_IPV4) {
		w->next = DECAP_IPV4;
	} else if (w->type == WIRE_ETHERTYPE_IPV6) {
		w->next = DECAP_IPV6;
	} else if (w->type == WIRE_ETHERTYPE_ROCEV1) {
		w->next = DECAP_ROCE;
	} else if (!wire_is_vlan(w->type)) {
		decap_payload(w, window);
	} else {
		h = decap_peek(w, window, WIRE_VLAN_LEN);
		w->next = h && w->row++ < WIRE_VLAN_TAGS ? DECAP_TYPE : DECAP_OTHER;
		if (h)
			w->type = roce_be16(h + 2);
		w->offset += WIRE_VLAN_LEN;
	}
}

roce_inline bool decap_is_type(__u32 type)
{
	return type == WIRE_ETHERTYPE_IPV4 || type == WIRE_ETHERTYPE_IPV6 || type == WIRE_ETHERTYPE_ROCEV1 ||
	       type == WIRE_ETHERTYPE_MPLS || type == WIRE_ETHERTYPE_MIRROR || wire_is_vlan(type);
}

/*
 * Nothing but the first bits tells what the last label carries: IP by its version (RFC 4928), else Ethernet. That of a pseudowire
 * may come behind a control word, which begins with four bits of 0 (RFC 4448, 4.6), as many addresses do.
 */
roce_inline void decap_label(struct decap_walk *w, const struct decap_window *window)
{
	const __u8 *h = decap_peek(w, window, WIRE_LABEL_LEN);
	bool last = h && h[2] & 1;

	w->offset += WIRE_LABEL_LEN;
	if (!h || ++w->row > WIRE_LABELS) {
		w->next = DECAP_OTHER;
		return;
	}
	if (!last)
		return;
	h = decap_peek(w, window, 4 + WIRE_ETH_LEN);
	if (h && h[0] >> 4 == 4 && (h[0] & 15) >= WIRE_IPV4_LEN / 4) {
		decap_enter(w, window, WIRE_ETHERTYPE_IPV4);
	} else if (h && h[0] >> 4 == 6 && !decap_is_type(roce_be16(h + WIRE_ETH_LEN - 2))) {
		decap_enter(w, window, WIRE_ETHERTYPE_IPV6);
	} else {
		if (h && !(h[0] >> 4) && !decap_is_type(roce_be16(h + WIRE_ETH_LEN - 2)) &&
		    decap_is_type(roce_be16(h + 4 + WIRE_ETH_LEN - 2)))
			w->offset += 4;
		decap_enter(w, window, 0);
	}
}

/* A fragment holds no whole frame. */
roce_inline void decap_ipv4(struct decap_walk *w, const struct decap_window *window)
{
	const __u8 *h = decap_peek(w, window, WIRE_IPV4_LEN);
	__u32 header, end;

	w->next = DECAP_OTHER;
	if (!h || h[0] >> 4 != 4 || roce_be16(h + 6) & 0x3fff)
		return;
	header = (h[0] & 15) * 4;
	if (header < WIRE_IPV4_LEN)
		return;
	end = w->offset + roce_be16(h + 2);
	if (end < w->end) /* Ethernet's padding may follow */
		w->end = end;
	w->type = h[9];
	w->offset += header;
	w->row = 0;
	w->next = DECAP_PROTOCOL;
}

roce_inline void decap_ipv6(struct decap_walk *w, const struct decap_window *window)
{
	const __u8 *h = decap_peek(w, window, WIRE_IPV6_LEN);
	__u32 end;

	w->next = DECAP_OTHER;
	if (!h || h[0] >> 4 != 6)
		return;
	w->offset += WIRE_IPV6_LEN;
	end = w->offset + roce_be16(h + 4);
	if (end < w->end)
		w->end = end;
	w->type = h[6];
	w->row = 0;
	w->next = DECAP_PROTOCOL;
}

roce_inline void decap_extension(struct decap_walk *w, const struct decap_window *window)
{
	const __u8 *h = decap_peek(w, window, 8);

	w->next = DECAP_OTHER;
	if (!h || w->row++ >= ROCE_IPV6_EXTENSIONS || (w->type == 44 && roce_be16(h + 2) & 0xfff9))
		return;
	w->offset += w->type == 44 ? 8 : (h[1] + 1) * 8;
	w->type = h[0];
	w->next = DECAP_PROTOCOL;
}

/* The version must match the type, and an IP packet may be inside, which is not looked into. */
roce_inline void decap_erspan(struct decap_walk *w, const struct decap_window *window)
{
	bool third = w->type == WIRE_GRE_ERSPAN_III;
	const __u8 *h = decap_peek(w, window, third ? WIRE_ERSPAN_III_LEN : WIRE_ERSPAN_II_LEN);

	if (!h || h[0] >> 4 != (third ? 2 : 1) || (third && h[10] >> 2 & 31))
		return;
	w->offset += WIRE_ERSPAN_II_LEN;
	if (third)
		w->offset += WIRE_ERSPAN_III_LEN - WIRE_ERSPAN_II_LEN + (h[11] & 1 ? WIRE_ERSPAN_III_PLATFORM_LEN : 0);
	decap_enter(w, window, 0);
}

/* Version 0, without RFC 1701 routing. ERSPAN I, without a sequence number, has no header of its own. */
roce_inline void decap_gre(struct decap_walk *w, const struct decap_window *window)
{
	const __u8 *h = decap_peek(w, window, WIRE_GRE_LEN);
	__u32 flags;

	w->next = DECAP_OTHER;
	if (!h)
		return;
	flags = roce_be16(h);
	w->type = roce_be16(h + 2);
	if (flags & (WIRE_GRE_ROUTING | WIRE_GRE_VERSION))
		return;
	w->offset += WIRE_GRE_LEN + (flags & WIRE_GRE_CHECKSUM ? 4 : 0) + (flags & WIRE_GRE_KEY ? 4 : 0) +
		     (flags & WIRE_GRE_SEQUENCE ? 4 : 0);
	if (w->type == WIRE_GRE_ERSPAN && !(flags & WIRE_GRE_SEQUENCE))
		decap_enter(w, window, 0);
	else if (w->type == WIRE_GRE_ERSPAN || w->type == WIRE_GRE_ERSPAN_III)
		decap_erspan(w, window);
	else
		decap_payload(w, window);
}

roce_inline void decap_geneve(struct decap_walk *w, const struct decap_window *window, const __u8 *h)
{
	if (h[0] >> 6 || h[1] & WIRE_GENEVE_CONTROL)
		return;
	w->type = roce_be16(h + 2);
	w->offset += WIRE_UDP_LEN + WIRE_GENEVE_LEN + (h[0] & 63) * 4;
	decap_payload(w, window);
}

roce_inline void decap_udp(struct decap_walk *w, const struct decap_window *window)
{
	const __u8 *h = decap_peek(w, window, 4);
	__u32 port = h ? roce_be16(h + 2) : 0;

	w->next = port == WIRE_ROCEV2_PORT ? DECAP_ROCE : DECAP_OTHER;
	if (!parse_port_class(port))
		return;
	h = decap_peek(w, window, WIRE_UDP_LEN + WIRE_VXLAN_LEN);
	if (!h)
		return;
	if (port == WIRE_GENEVE_PORT) {
		decap_geneve(w, window, h + WIRE_UDP_LEN);
	} else if (h[WIRE_UDP_LEN] & WIRE_VXLAN_VALID) {
		w->offset += WIRE_UDP_LEN + WIRE_VXLAN_LEN;
		decap_enter(w, window, 0);
	}
}

roce_inline void decap_protocol(struct decap_walk *w, const struct decap_window *window)
{
	switch (w->type) {
	case WIRE_PROTO_UDP:
		decap_udp(w, window);
		break;
	case WIRE_PROTO_GRE:
		decap_gre(w, window);
		break;
	case WIRE_PROTO_IPV4:
		decap_enter(w, window, WIRE_ETHERTYPE_IPV4);
		break;
	case WIRE_PROTO_IPV6:
		decap_enter(w, window, WIRE_ETHERTYPE_IPV6);
		break;
	case WIRE_PROTO_ETHERNET:
		decap_enter(w, window, 0);
		break;
	case WIRE_PROTO_MPLS:
		w->row = 0;
		w->next = DECAP_LABEL;
		break;
	default:
		w->next = DECAP_OTHER;
		if (parse_is_ipv6_extension(w->type))
			decap_extension(w, window);
	}
}

roce_inline void decap_ethernet(struct decap_walk *w, const struct decap_window *window)
{
	const __u8 *h = decap_peek(w, window, WIRE_ETH_LEN);

	w->next = h ? DECAP_TYPE : DECAP_OTHER;
	w->type = h ? roce_be16(h + WIRE_ETH_LEN - 2) : 0;
	w->offset += WIRE_ETH_LEN;
}

/* Reads headers, at least one. Returns whether others follow. window: `captured` bytes of it are readable. */
roce_once decap_step(struct decap_walk *w, const struct decap_window *window)
{
	if (!w || !window)
		return 0;
	if (w->next == DECAP_ETHERNET)
		decap_ethernet(w, window);
	if (w->next == DECAP_TYPE)
		decap_type(w, window);
	if (w->next == DECAP_LABEL)
		decap_label(w, window);
	if (w->next == DECAP_IPV4)
		decap_ipv4(w, window);
	if (w->next == DECAP_IPV6)
		decap_ipv6(w, window);
	if (w->next == DECAP_PROTOCOL)
		decap_protocol(w, window);
	return w->next < DECAP_OTHER;
}

roce_inline void decap_run(struct decap_walk *w, const __u8 *window)
{
	for (int i = 0; i < DECAP_STEPS; i++)
		if (!decap_step(w, (const struct decap_window *)window))
			break;
}

/*
 * Looks for a tunnel, and for those inside of it. window: `captured` bytes are readable; in BPF at least DECAP_WINDOW_BYTES.
 * captured, wire: as for roce_parse(). true: a tunnel, with at least the first header of the frame inside; *inner is the frame in
 * the innermost one. false: *inner is undefined; parse the frame itself.
 */
roce_inline bool roce_decap(const __u8 *window, __u32 captured, __u32 wire, struct roce_inner *inner)
{
	struct decap_walk w = { .captured = captured, .end = wire };

	decap_run(&w, window);
	*inner = w.inner;
	return w.inner.offset;
}

/* Whether RoCE is in a tunnel. Arguments as for roce_decap(). */
roce_inline bool roce_is_inside(const __u8 *window, __u32 captured, __u32 wire)
{
	struct decap_walk w = { .captured = captured, .end = wire };

	decap_run(&w, window);
	return w.next == DECAP_ROCE && w.inner.offset;
}

/* Puts an Ethernet header without addresses before an IP packet that has none. frame: the inner frame's first byte. */
roce_inline void roce_inner_ethernet(__u8 *frame, __u32 ethertype)
{
	if (!ethertype)
		return;
	roce_store(__u64, frame, 0);
	roce_store(__u32, frame + 8, 0);
	roce_store(__u16, frame + 12, __builtin_bswap16(ethertype));
}

#endif
