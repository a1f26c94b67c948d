/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses a datagram to a port of --udp behind its UDP header, by the format of its port; and the whole of a frame. */
#ifndef ROCE_DATAGRAM_H
#define ROCE_DATAGRAM_H

#include "roce/parse.h"
#include "roce/stream_header.h"

/* The payload, as far as it is in the window: offsets from the frame's start. */
struct datagram {
	const __u8 *window;
	__u32 begin, end;
};

/* The first `need` bytes, or NULL if they are not all there. */
roce_inline const __u8 *datagram_begin(const struct datagram *d, __u32 need)
{
	__u32 begin = d->begin;

	roce_opaque(begin);
	if (begin > ROCE_WINDOW || begin + need > d->end)
		return NULL;
	return d->window + begin;
}

/* Adds the field's value to *value, `above` bits higher. false: the datagram ends before, or the field is behind the window. */
roce_inline bool datagram_field(const struct datagram *d, const struct udp_field *f, __u32 above, __u64 *value)
{
	__u32 at = d->begin + f->at / 8, bit = f->at % 8, bits = f->bits;
	__u64 word;

	if (!bits)
		return true;
	if (8 * d->begin + f->at + bits > 8 * d->end)
		return false;
	roce_opaque(at);
	if (at > ROCE_WINDOW_BYTES - sizeof(word))
		return false;
	word = roce_load(__u64, d->window + at);
	*value |= (f->little ? udp_lower(word >> bit, bits) : __builtin_bswap64(word) << bit >> (64 - bits)) << above;
	return true;
}

/* The flow's number, of the fields that name the stream. */
roce_inline bool datagram_flow(const struct datagram *d, const struct roce_udp_format *f, struct roce_packet *p)
{
	__u64 flow = 0;

	if (!datagram_field(d, &f->stream[0], 0, &flow) || !datagram_field(d, &f->stream[1], f->stream[0].bits, &flow))
		return false;
	p->dqpn = flow;
	return true;
}

/* A datagram without this header belongs to a foreign flow. */
roce_inline void datagram_programs(const struct datagram *d, struct roce_packet *p)
{
	const __u8 *h = datagram_begin(d, sizeof(struct stream_header));

	if (!h || roce_be32(h) != STREAM_MAGIC)
		return;
	p->foreign = 0;
	p->stream_end = !!(h[offsetof(struct stream_header, flags)] & STREAM_FLAG_END);
	p->dqpn = roce_be16(h + offsetof(struct stream_header, flow));
	p->run = roce_be32(h + offsetof(struct stream_header, run));
	p->number = roce_be64(h + offsetof(struct stream_header, packet));
}

roce_inline void datagram_number(const struct datagram *d, const struct roce_udp_format *f, struct roce_packet *p)
{
	__u32 bits = f->number.bits - f->step_bits;
	__u64 number = 0;

	if (!datagram_flow(d, f, p) || !datagram_field(d, &f->number, 0, &number))
		return;
	p->foreign = 0;
	p->op = OP_FIRST | OP_LAST; /* as an Only: three whose numbers were seen before are another sequence (roce/trial.h) */
	p->number = udp_lower((number >> f->step_bits) * f->inverse, bits);
	p->shift = 64 - bits;
}

/*
 * p: from roce_parse_headers(), of kind ROCE_UDP; the other arguments are the same as there. Separate from it, so that the kernel's
 * programs can call it where packets of RoCE do not come by.
 */
roce_inline void roce_parse_datagram(const __u8 *window, __u32 captured, const struct roce_ports *ports, struct roce_packet *p)
{
	struct datagram d = { .window = window, .begin = p->l4_offset + WIRE_UDP_LEN };
	const struct roce_udp_format *f;
	__u32 port = p->port - 1;

	roce_opaque(port);
	if (port >= ROCE_UDP_PORTS)
		return;
	f = &ports->format[port];
	d.end = d.begin + p->payload_bytes < captured ? d.begin + p->payload_bytes : captured;
	if (f->kind == UDP_PROGRAMS)
		datagram_programs(&d, p);
	else
		datagram_number(&d, f, p);
}

/* Fills in *p completely, by roce_parse_headers() and roce_parse_datagram(). */
roce_inline void roce_parse_frame(const __u8 *window, __u32 captured, __u32 wire_bytes, bool cut,
				  const struct roce_ports *ports, struct roce_packet *p)
{
	roce_parse_headers(window, captured, wire_bytes, cut, ports, p);
	if (p->kind == ROCE_UDP)
		roce_parse_datagram(window, captured, ports, p);
}

/* roce_parse_frame() for a frame that no mirror has cut. */
roce_inline void roce_parse(const __u8 *window, __u32 captured, __u32 wire_bytes, const struct roce_ports *ports,
			    struct roce_packet *p)
{
	roce_parse_frame(window, captured, wire_bytes, false, ports, p);
}

#endif
