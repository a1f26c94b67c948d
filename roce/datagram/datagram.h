/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Parses a datagram to a port of --udp behind its UDP header, by the format of its port; and the whole of a frame. */
#ifndef ROCE_DATAGRAM_DATAGRAM_H
#define ROCE_DATAGRAM_DATAGRAM_H

#include "roce/datagram/stream_header.h"
#include "roce/packet/parse.h"

/* Below, a cursor is at the payload, and what is available of it ends with the datagram. */

/* Adds the field's value to *value, `above` bits higher. false: the datagram ends before, or the field is behind the window. */
roce_inline bool datagram_field(const struct roce_cursor *d, const struct udp_field *f, __u32 above, __u64 *value)
{
	__u32 at = d->offset + f->at / 8, bit = f->at % 8, bits = f->bits;
	__u64 word;

	if (!bits)
		return true;
	if (8 * d->offset + f->at + bits > 8 * d->available)
		return false;
	roce_opaque(at);
	if (at > ROCE_WINDOW_BYTES - sizeof(word))
		return false;
	word = roce_load(__u64, d->window + at);
	*value |= (f->little ? udp_lower(word >> bit, bits) : __builtin_bswap64(word) << bit >> (64 - bits)) << above;
	return true;
}

/* Eight bytes of the payload from byte `offset` on, network byte order. false: they are not all there. */
roce_inline bool datagram_word(const struct roce_cursor *d, __u32 offset, __u64 *value)
{
	__u32 at = d->offset + offset;

	if (at + sizeof(*value) > d->available)
		return false;
	roce_opaque(at);
	if (at > ROCE_WINDOW_BYTES - sizeof(*value))
		return false;
	*value = roce_be64(d->window + at);
	return true;
}

/* The flow's number, of the fields that name the stream. */
roce_inline bool datagram_flow(const struct roce_cursor *d, const struct roce_udp_format *f, struct roce_packet *p)
{
	__u64 flow = 0;

	if (!datagram_field(d, &f->stream[0], 0, &flow) || !datagram_field(d, &f->stream[1], f->stream[0].bits, &flow))
		return false;
	p->dqpn = flow;
	return true;
}

/* A datagram without this header belongs to a foreign flow. */
roce_inline void datagram_programs(const struct roce_cursor *d, struct roce_packet *p)
{
	const __u8 *h = cursor_peek(d, sizeof(struct stream_header));

	if (!h || roce_be32(h) != STREAM_MAGIC)
		return;
	p->foreign = 0;
	p->stream_end = !!(h[offsetof(struct stream_header, flags)] & STREAM_FLAG_END);
	p->dqpn = roce_be16(h + offsetof(struct stream_header, flow));
	p->run = roce_be32(h + offsetof(struct stream_header, run));
	p->number = roce_be64(h + offsetof(struct stream_header, packet));
}

roce_inline void datagram_number(const struct roce_cursor *d, const struct roce_udp_format *f, struct roce_packet *p)
{
	__u32 bits = f->number.bits - f->step_bits;
	__u64 number = 0;

	if (!datagram_flow(d, f, p) || !datagram_field(d, &f->number, 0, &number))
		return;
	p->foreign = 0;
	/* as an Only: three whose numbers were seen before are another sequence (roce/sequence/probation.h) */
	p->op = OP_FIRST | OP_LAST;
	p->number = udp_lower((number >> f->step_bits) * f->inverse, bits);
	p->shift = 64 - bits;
}

/* VDIF 1.1.1: the second is in the first word, little endian. */
roce_inline void datagram_second(const struct roce_cursor *d, const struct roce_udp_format *f, struct roce_packet *p)
{
	const struct udp_field field = { .bits = UDP_SECOND_BITS, .little = 1 };
	__u64 second = 0;

	if (!datagram_field(d, &field, 0, &second))
		return;
	p->udp.second = second;
	p->udp.frames = f->frames;
	datagram_number(d, f, p);
	p->shift = 0;
}

#define UDP_PICOSECONDS 1000000000000ull

/*
 * VITA 49.0, 6.1: packet type 4, C, T, 2 reserved, TSI 2, TSF 2, packet count 4, size 16; types 1 and 3 have a stream identifier;
 * with C 8 bytes of a class; with TSI whole seconds, 4 bytes; with TSF their fraction, 8 bytes. Only data (types 0 to 3) has a
 * number here: context packets count for themselves.
 */
roce_inline void datagram_time(const struct roce_cursor *d, struct roce_packet *p)
{
	__u32 type, named, seconds, fraction, second = 0, offset;
	__u64 word, time = 0;

	if (!datagram_word(d, 0, &word))
		return;
	type = word >> 60;
	named = type & 1;
	seconds = word >> 54 & 3;
	fraction = word >> 52 & 3;
	offset = 4 + 4 * named + 8 * (word >> 59 & 1);
	p->dqpn = named ? word : 0;
	p->number = word >> 48 & 15;
	if (type > 3)
		return;
	if (seconds && fraction) {
		if (!datagram_word(d, offset, &time))
			return;
		second = time >> 32;
	}
	if (fraction && !datagram_word(d, offset + (seconds ? 4 : 0), &time))
		return;
	if (fraction == 2) /* picoseconds; 1: samples of this second; 3: a counter that goes on */
		time += second * UDP_PICOSECONDS;
	p->udp.time = time;
	p->udp.second = fraction == 1 ? second : 0;
	p->foreign = 0;
	p->op = OP_FIRST | OP_LAST;
}

enum { SPEAD_HEAP = 1, SPEAD_LENGTH, SPEAD_OFFSET, SPEAD_PAYLOAD, SPEAD_CONTROL = 6 };
#define SPEAD_ITEMS 8 /* items that are looked at: senders put these first */
#define SPEAD_WANTED (1u << SPEAD_HEAP | 1u << SPEAD_LENGTH | 1u << SPEAD_OFFSET | 1u << SPEAD_PAYLOAD)

/*
 * Takes an item whose value has so many bits, and adds it to the set p->udp.items. In memory, because the verifier would
 * follow each value of a register.
 */
roce_inline void datagram_item(struct roce_packet *p, __u64 item, __u32 bits)
{
	__u64 name = item >> bits ^ 1ull << (63 - bits), value = udp_lower(item, bits);

	if (name == SPEAD_HEAP)
		p->udp.heap = value;
	else if (name == SPEAD_LENGTH)
		p->udp.heap_length = value;
	else if (name == SPEAD_OFFSET)
		p->udp.heap_offset = value;
	else if (name == SPEAD_PAYLOAD)
		p->udp.heap_payload = value;
	else if (name != SPEAD_CONTROL)
		return;
	if (name == SPEAD_HEAP || !(value >> 32))
		p->udp.items |= 1u << (name & 31);
}

/*
 * Takes the first four items where they are as senders put them: heap, length, offset, payload. Returns whether they are; else
 * takes nothing. Does what datagram_item() would do with each of them, in half the time.
 */
roce_inline bool datagram_items(const struct roce_cursor *d, struct roce_packet *p, __u32 bits)
{
	__u64 name = 1ull << bits, item = 1ull << 63, heap, length, offset, payload;
	__u32 at = d->offset + 8;

	if (at + 32 > d->available)
		return false;
	roce_opaque(at);
	if (at > ROCE_WINDOW_BYTES - 32)
		return false;
	/* the value is what differs from the item with value 0; the four names follow each other */
	heap = roce_be64(d->window + at) ^ (item += name);
	length = roce_be64(d->window + at + 8) ^ (item += name);
	offset = roce_be64(d->window + at + 16) ^ (item += name);
	payload = roce_be64(d->window + at + 24) ^ (item += name);
	if (heap >> bits || (length | offset | payload) >> 32)
		return false;
	p->udp.heap = heap;
	p->udp.heap_length = length;
	p->udp.heap_offset = offset;
	p->udp.heap_payload = payload;
	p->udp.items = SPEAD_WANTED;
	return true;
}

/*
 * SPEAD 4: 0x53, 4, bytes of an item's name, bytes of its value (together 8), 2 reserved, number of items 2; then the items: a bit
 * (the value is in the item), name, value. A datagram with control ends the stream, and is part of no heap.
 */
roce_inline void datagram_heap(const struct roce_cursor *d, const struct roce_udp_format *f, struct roce_packet *p)
{
	__u32 bits, items;
	__u64 header, item;

	if (!datagram_word(d, 0, &header) || header >> 48 != 0x5304)
		return;
	bits = 8 * (header >> 32 & 7);
	items = header & 0xffff;
	if ((header >> 40 & 0xff) + bits / 8 != 8 || bits < 32)
		return;
	for (__u32 i = datagram_items(d, p, bits) ? 4 : 0; i < SPEAD_ITEMS; i++) {
		if (i >= items || !datagram_word(d, 8 + 8 * i, &item))
			break;
		datagram_item(p, item, bits);
		roce_reload();
	}
	p->foreign = 0;
	p->stream_end = p->udp.items != SPEAD_WANTED;
	p->udp.numbered = f->step != 0;
	p->shift = 64 - (bits - f->step_bits);
	p->number = f->step ? udp_lower((p->udp.heap >> f->step_bits) * f->inverse, bits - f->step_bits) : 0;
	p->op = OP_FIRST | OP_LAST;
}

/*
 * p: from roce_parse_headers(), of kind ROCE_UDP; the other arguments are the same as there. Separate from it, so that the
 * kernel's programs can call it where packets of RoCE do not come by.
 */
roce_inline void roce_parse_datagram(const __u8 *window, __u32 captured, const struct roce_ports *ports, struct roce_packet *p)
{
	struct roce_cursor d = { .window = window, .offset = p->l4_offset + WIRE_UDP_LEN };
	const struct roce_udp_format *f;
	__u32 port = p->port - 1;

	roce_opaque(port);
	if (port >= ROCE_UDP_PORTS)
		return;
	f = &ports->format[port];
	d.available = d.offset + p->payload_bytes < captured ? d.offset + p->payload_bytes : captured;
	p->udp_kind = f->kind;
	if (f->kind == UDP_PROGRAMS)
		datagram_programs(&d, p);
	else if (f->kind == UDP_NUMBER)
		datagram_number(&d, f, p);
	else if (f->kind == UDP_SECOND)
		datagram_second(&d, f, p);
	else if (f->kind == UDP_TIME)
		datagram_time(&d, p);
	else
		datagram_heap(&d, f, p);
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
