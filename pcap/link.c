// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "pcap/link.h"

enum { ETHERNET = 14, TYPE_IPV4 = 0x0800, TYPE_IPV6 = 0x86dd };

/* https://www.tcpdump.org/linktypes.html; IP has three numbers, of different systems */
static const struct {
	__u32 type;
	enum link_kind kind;
} types[] = {
	{ 0, LINK_NULL }, { 1, LINK_ETHERNET }, { 12, LINK_IP }, { 14, LINK_IP }, { 101, LINK_IP }, { 108, LINK_NULL },
	{ 113, LINK_SLL }, { 228, LINK_IP }, { 229, LINK_IP }, { 247, LINK_INFINIBAND }, { 276, LINK_SLL2 },
};

enum link_kind link_find(__u32 type, enum capture_link wanted)
{
	switch (wanted) {
	case CAPTURE_LINK_ETHERNET:
		return LINK_ETHERNET;
	case CAPTURE_LINK_IP:
		return LINK_IP;
	case CAPTURE_LINK_BTH:
		return LINK_BTH;
	case CAPTURE_LINK_FILE:
		break;
	}
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].type == type)
			return types[i].kind;
	return LINK_UNKNOWN;
}

/* `more` bytes in front of the frame, or less of it. */
static void move(struct capture_frame *f, int more)
{
	f->bytes -= more;
	f->captured += more;
	f->wire = more > 0 && f->wire > ~0u - more ? ~0u : f->wire + more;
}

static void put_type(__u8 *header, __u16 type)
{
	header[12] = type >> 8;
	header[13] = type;
}

/* A header without addresses; of what is not IP it says nothing (length 0 of IEEE 802.3). */
static void from_ip(struct capture_frame *f)
{
	__u8 version = f->captured ? f->bytes[0] >> 4 : 0;

	move(f, ETHERNET);
	memset(f->bytes, 0, ETHERNET);
	put_type(f->bytes, version == 4 ? TYPE_IPV4 : version == 6 ? TYPE_IPV6 : 0);
}

void link_to_ethernet(enum link_kind link, struct capture_frame *f, __u8 **copies, struct link_memory *memory)
{
	(void)copies;
	(void)memory;
	switch (link) {
	case LINK_IP:
		from_ip(f);
		break;
	default:
		f->captured = 0;
	}
}
