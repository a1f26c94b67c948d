// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pcapng (draft-ietf-opsawg-pcapng): sections of blocks. Each block has its length at both ends. */
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "pcap/format.h"
#include "pcap/ng_writer.h"

enum block {
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET_OBSOLETE = 2,
	BLOCK_SIMPLE_PACKET = 3,
	BLOCK_STATISTICS = 5,
	BLOCK_PACKET = 6,
	BLOCK_SECTION = 0x0a0d0d0a, /* the same in both byte orders */
};

#define ORDER 0x1a2b3c4d
#define ORDER_SWAPPED 0x4d3c2b1a

#define LEAST 12 /* bytes of the smallest block: type, length, length again */
#define TRAILER 4
#define LONGEST (2 * CAPTURE_FRAME_MAX) /* most bytes of a block that is parsed: besides a frame it has small options only */
#define INTERFACES 65536 /* most in a section: the old packet block has 16 bits for the number */

/* Offsets in blocks, and the least size of blocks with a fixed part. */
#define SECTION_ORDER 8
#define SECTION_VERSION 12
#define SECTION_LEAST 28
#define INTERFACE_OPTIONS 16
#define PACKET_BYTES 28
#define SIMPLE_BYTES 12
#define STATISTICS_OPTIONS 20

enum option { OPTION_END, OPTION_COMMENT, OPTION_TSRESOL = 9, OPTION_FILTER = 11, OPTION_TSOFFSET = 14 };

/* The beginning of if_filter in a file of rocescope capture: the code of a filter in words, and these words. */
static const char selection[] = "\0rocescope capture";

static bool is(const __u8 *bytes, bool *swapped)
{
	*swapped = false;
	return format_32(bytes, false) == BLOCK_SECTION;
}

static ssize_t start(struct capture *c, const __u8 *bytes, size_t length)
{
	__u32 order = length < SECTION_VERSION ? 0 : format_32(bytes + SECTION_ORDER, false);

	if (length >= SECTION_VERSION && order != ORDER && order != ORDER_SWAPPED)
		return format_fail(c, "neither pcap nor pcapng");
	if (length < SECTION_LEAST)
		return format_fail(c, "cut inside the file header");
	return 0; /* a block like others */
}

/* ---- interfaces ---- */

/* Units in a second: a power of ten, or of two if the highest bit is set. */
static int take_resolution(struct capture *c, struct pcap_interface *i, __u8 value)
{
	__u8 exponent = value & 0x7f;

	if (exponent > (value & 0x80 ? 63 : 19))
		return format_damaged(c, "an interface whose times nobody can tell (if_tsresol %#x)", value);
	i->second = value & 0x80 ? 1ull << exponent : 1;
	if (!(value & 0x80))
		while (exponent--)
			i->second *= 10;
	return 0;
}

static int take_options(struct capture *c, struct pcap_interface *i, const __u8 *at, const __u8 *end)
{
	while (end - at >= 4) {
		__u16 code = format_16(at, c->swapped), length = format_16(at + 2, c->swapped);

		at += 4;
		if (code == OPTION_END)
			return 0;
		if (end - at < (length + 3) / 4 * 4)
			break;
		if (code == OPTION_TSRESOL && length == 1 && take_resolution(c, i, *at))
			return -1;
		if (code == OPTION_FILTER && length >= sizeof(selection) - 1 && !memcmp(at, selection, sizeof(selection) - 1))
			i->selected = c->selection = true;
		if (code == OPTION_TSOFFSET && length == 8)
			i->offset = format_64(at, c->swapped);
		at += (length + 3) / 4 * 4;
	}
	return at == end ? 0 : format_damaged(c, "an interface's options are longer than its block");
}

static struct pcap_interface *new_interface(struct capture *c)
{
	bool room = grow(c->interfaces, c->interface_count, c->interface_room, 4);

	return room ? &c->interfaces[c->interface_count] : NULL;
}

static int take_interface(struct capture *c, const __u8 *block, __u32 length)
{
	struct pcap_interface *i;
	__u32 type;

	if (length < INTERFACE_OPTIONS + TRAILER)
		return format_damaged(c, "an interface's block of %u bytes", length);
	if (c->interface_count == INTERFACES)
		return format_damaged(c, "more than %u interfaces", INTERFACES);
	i = new_interface(c);
	if (!i)
		return format_fail(c, "no memory");
	type = format_16(block + 8, c->swapped);
	*i = (struct pcap_interface){ .link = link_find(type, c->link), .snaplen = format_32(block + 12, c->swapped),
					 .second = 1000000 };
	if (i->link == LINK_UNKNOWN)
		c->unknown = type;
	else
		c->any_known = true;
	if (take_options(c, i, block + INTERFACE_OPTIONS, block + length - TRAILER))
		return -1;
	c->interface_count++;
	return 0;
}

/* ---- packets ---- */

static __u64 nanoseconds(const struct pcap_interface *i, __u64 units)
{
	__u64 seconds = i->offset;

	switch (i->second) {
	case 1000000:
		units *= 1000;
		break;
	case 1000000000:
		break;
	default:
		seconds += units / i->second;
		units = (unsigned __int128)(units % i->second) * 1000000000 / i->second;
	}
	return seconds * 1000000000 + units;
}

/* The comment among the options of a block, *length bytes of it. NULL: it has none. */
static const char *find_comment(const struct capture *c, const __u8 *at, const __u8 *end, __u16 *length)
{
	while (end - at >= 4) {
		__u16 code = format_16(at, c->swapped);

		*length = format_16(at + 2, c->swapped);
		at += 4;
		if (code == OPTION_END || end - at < (*length + 3) / 4 * 4)
			break;
		if (code == OPTION_COMMENT)
			return (const char *)at;
		at += (*length + 3) / 4 * 4;
	}
	return NULL;
}

/* Marks the frame that was put last. at: the options of its block. */
static void select_frame(struct capture *c, struct pcap_run *r, const __u8 *at, const __u8 *end)
{
	struct capture_frame *f = &r->piece->frames[r->piece->count - 1];

	f->selected = true;
	f->comment = find_comment(c, at, end, &f->comment_length);
}

/* The enhanced packet block, and the obsolete one, whose interface number has another width. */
static inline int take_packet(struct capture *c, struct pcap_run *r, __u32 length, bool obsolete, bool swapped)
{
	__u8 *block = r->at;
	__u32 captured, interface;
	__u64 time;

	if (length < PACKET_BYTES + TRAILER)
		return format_damaged(c, "a packet's block of %u bytes", length);
	captured = format_32(block + 20, swapped);
	if (captured > CAPTURE_FRAME_MAX || captured > length - PACKET_BYTES - TRAILER)
		return format_damaged(c, "a frame of %u bytes in a block of %u", captured, length);
	interface = obsolete ? format_16(block + 8, swapped) : format_32(block + 8, swapped);
	if (interface >= c->interface_count)
		return format_damaged(c, "a packet of interface %u, of which there are %u", interface, c->interface_count);
	time = (__u64)format_32(block + 12, swapped) << 32 | format_32(block + 16, swapped);
	format_put(c, r, interface, block + PACKET_BYTES, captured, format_32(block + 24, swapped),
		   nanoseconds(&c->interfaces[interface], time));
	if (c->interfaces[interface].selected)
		select_frame(c, r, block + PACKET_BYTES + (captured + 3) / 4 * 4, block + length - TRAILER);
	return 0;
}

/* It has no time: use the latest time before it. The captured length follows from the other lengths. */
static int take_simple(struct capture *c, struct pcap_run *r, __u32 length)
{
	__u32 wire, captured;

	if (length < SIMPLE_BYTES + TRAILER)
		return format_damaged(c, "a packet's block of %u bytes", length);
	if (!c->interface_count)
		return format_damaged(c, "a packet before its interface");
	captured = wire = format_32(r->at + 8, c->swapped);
	if (c->interfaces[0].snaplen && captured > c->interfaces[0].snaplen)
		captured = c->interfaces[0].snaplen;
	if (captured > length - SIMPLE_BYTES - TRAILER)
		captured = length - SIMPLE_BYTES - TRAILER;
	if (captured > CAPTURE_FRAME_MAX)
		return format_damaged(c, "a frame of %u bytes", captured);
	format_put(c, r, 0, r->at + SIMPLE_BYTES, captured, wire, c->latest);
	if (c->interfaces[0].selected)
		select_frame(c, r, r->end, r->end);
	return 0;
}

/* ---- statistics ---- */

static void take_statistics(struct capture *c, const __u8 *block, __u32 length)
{
	char text[sizeof(NG_LEFT_OUT) + 20] = "";
	const char *comment = NULL;
	__u16 bytes;

	if (length >= STATISTICS_OPTIONS + TRAILER)
		comment = find_comment(c, block + STATISTICS_OPTIONS, block + length - TRAILER, &bytes);
	if (!comment || bytes >= sizeof(text))
		return;
	memcpy(text, comment, bytes);
	if (!strncmp(text, NG_LEFT_OUT, strlen(NG_LEFT_OUT)))
		c->left_out += strtoull(text + strlen(NG_LEFT_OUT), NULL, 10);
}

/* ---- sections ---- */

static int take_section(struct capture *c, const __u8 *block, __u32 length)
{
	if (length < SECTION_LEAST)
		return format_damaged(c, "a section's block of %u bytes", length);
	if (format_16(block + SECTION_VERSION, c->swapped) != 1)
		return format_damaged(c, "pcapng of the unknown version %u", format_16(block + SECTION_VERSION, c->swapped));
	c->interfaces_before += c->interface_count;
	c->interface_count = 0;
	return 0;
}

/* Finds the section's byte order, which the length of its block needs. */
static int take_order(struct capture *c, const __u8 *block)
{
	__u32 order = format_32(block + SECTION_ORDER, false);

	if (order != ORDER && order != ORDER_SWAPPED)
		return format_damaged(c, "a section without byte order");
	c->swapped = order == ORDER_SWAPPED;
	return 0;
}

/* ---- blocks ---- */

static bool is_parsed(const struct capture *c, __u32 type, __u32 length)
{
	if (type == BLOCK_STATISTICS)
		return c->selection && length <= LONGEST;
	return type == BLOCK_PACKET || type == BLOCK_SIMPLE_PACKET || type == BLOCK_PACKET_OBSOLETE ||
	       type == BLOCK_INTERFACE || type == BLOCK_SECTION;
}

static inline int take_block(struct capture *c, struct pcap_run *r, __u32 type, __u32 length)
{
	switch (type) {
	case BLOCK_PACKET:
		return c->swapped ? take_packet(c, r, length, false, true) : take_packet(c, r, length, false, false);
	case BLOCK_PACKET_OBSOLETE:
		return take_packet(c, r, length, true, c->swapped);
	case BLOCK_SIMPLE_PACKET:
		return take_simple(c, r, length);
	case BLOCK_INTERFACE:
		return take_interface(c, r->at, length);
	case BLOCK_STATISTICS:
		take_statistics(c, r->at, length);
		return 0;
	default:
		return take_section(c, r->at, length);
	}
}

static bool at_hand(struct pcap_run *r, size_t need)
{
	r->need = need;
	return (size_t)(r->end - r->at) >= need;
}

/* Skips bytes that are not needed, as far as they were read. 1: all of them. */
static int skip(struct capture *c, struct pcap_run *r)
{
	size_t left = r->end - r->at, n = c->skip < left ? c->skip : left;

	r->at += n;
	c->skip -= n;
	if (c->skip || !at_hand(r, TRAILER))
		return 0;
	if (format_32(r->at, c->swapped) != c->trailer)
		return format_damaged(c, "a block whose two lengths differ");
	r->at += TRAILER;
	c->trailer = 0;
	return 1;
}

/* 1: one block was read; 0: more bytes are needed; -1: damaged. */
static inline int step(struct capture *c, struct pcap_run *r)
{
	__u32 type, length;

	if (c->trailer)
		return skip(c, r);
	if (!at_hand(r, LEAST))
		return 0;
	type = format_32(r->at, c->swapped);
	if (type == BLOCK_SECTION && take_order(c, r->at))
		return -1;
	length = format_32(r->at + 4, c->swapped);
	if (length < LEAST || length % 4)
		return format_damaged(c, "a block of %u bytes", length);
	if (!is_parsed(c, type, length)) {
		c->skip = length - LEAST;
		c->trailer = length;
		r->at += LEAST - TRAILER;
		return 1;
	}
	if (length > LONGEST)
		return format_damaged(c, "a block of %u bytes", length);
	if (!at_hand(r, length))
		return 0;
	if (format_32(r->at + length - TRAILER, c->swapped) != length)
		return format_damaged(c, "a block whose two lengths differ");
	if (take_block(c, r, type, length))
		return -1;
	r->at += length;
	return 1;
}

static int walk(struct capture *c, struct pcap_run *r)
{
	int more;

	do
		more = step(c, r);
	while (more > 0);
	return more;
}

static int finish(struct capture *c)
{
	if (c->trailer)
		return format_damaged(c, "the file ends inside a block");
	/* without packets an unknown link type does not matter */
	return c->count && !c->any_known ? format_unknown_link(c, c->unknown) : 0;
}

const struct format format_pcapng = { is, start, walk, finish };
