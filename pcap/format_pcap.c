// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pcap (draft-ietf-opsawg-pcap): a header, then records of four words and a frame. Another file may follow. */
#include <stdlib.h>

#include "pcap/format.h"

#define HEADER 24
#define LINK_TYPE 0x03ffffff /* the other bits say whether frames end with an FCS */

static const struct pcap_kind {
	__u32 magic, unit, record;
} kinds[] = {
	{ 0xa1b2c3d4, 1000, 16 },
	{ 0xa1b23c4d, 1, 16 },
	{ 0xa1b2cd34, 1000, 24 }, /* libpcap for Linux 2.0 (Kuznetzov): two more words, which are not needed */
};

static const struct pcap_kind *find(__u32 magic)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (kinds[i].magic == magic)
			return &kinds[i];
	return NULL;
}

static bool is(const __u8 *bytes, bool *swapped)
{
	*swapped = !find(format_32(bytes, false));
	return find(format_32(bytes, *swapped));
}

static ssize_t start(struct capture *c, const __u8 *bytes, size_t length)
{
	const struct pcap_kind *kind = find(format_32(bytes, c->swapped));
	__u32 type;

	if (length < HEADER)
		return format_fail(c, "cut inside the file header");
	if (format_16(bytes + 4, c->swapped) != 2)
		return format_fail(c, "pcap of the unknown version %u", format_16(bytes + 4, c->swapped));
	type = format_32(bytes + 20, c->swapped) & LINK_TYPE;
	if (!c->interfaces)
		c->interfaces = calloc(1, sizeof(*c->interfaces));
	if (!c->interfaces)
		return format_fail(c, "no memory");
	c->interfaces->link = link_find(type, c->link);
	if (c->interfaces->link == LINK_UNKNOWN)
		return format_unknown_link(c, type);
	c->record = kind->record;
	c->unit = kind->unit;
	return HEADER;
}

/* Whether another pcap file begins at a record's place. As a record this would be an empty frame. */
static bool is_header(const __u8 *bytes)
{
	bool swapped;

	return is(bytes, &swapped) && format_16(bytes + 4, swapped) == 2 && format_16(bytes + 6, swapped) == 4 &&
	       !format_64(bytes + 8, swapped);
}

/* Reads records until no whole one is left. 1: a file header is next. */
static inline int walk_order(struct capture *c, struct pcap_run *r, const bool swapped)
{
	const __u32 record = c->record, unit = c->unit;

	for (;;) {
		size_t left = r->end - r->at;
		__u32 captured;

		if (left < record) {
			r->need = record;
			return 0;
		}
		captured = format_32(r->at + 8, swapped);
		if (!captured && is_header(r->at))
			return 1;
		if (captured > CAPTURE_FRAME_MAX)
			return format_damaged(c, "a frame of %u bytes", captured);
		if (left < record + captured) {
			r->need = record + captured;
			return 0;
		}
		format_put(c, r, 0, r->at + record, captured, format_32(r->at + 12, swapped),
			   format_32(r->at, swapped) * 1000000000ull + (__u64)format_32(r->at + 4, swapped) * unit);
		r->at += record + captured;
	}
}

/* Several files may follow each other (`cat a.pcap.gz b.pcap.gz`). Each is read by its own header. */
static int walk(struct capture *c, struct pcap_run *r)
{
	int result;

	while ((result = c->swapped ? walk_order(c, r, true) : walk_order(c, r, false)) > 0) {
		if (r->end - r->at < HEADER) {
			r->need = HEADER;
			return 0;
		}
		is(r->at, &c->swapped);
		if (start(c, r->at, HEADER) < 0)
			return -1;
		r->at += HEADER;
	}
	return result;
}

static int finish(struct capture *c)
{
	(void)c;
	return 0;
}

const struct format format_pcap = { is, start, walk, finish };
