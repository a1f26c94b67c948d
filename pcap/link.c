// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "pcap/link.h"
#include "roce/base.h"

enum { TYPE_IPV4 = 0x0800, TYPE_IPV6 = 0x86dd };

/* https://www.tcpdump.org/linktypes.html; raw IP has three numbers, from different systems */
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

void link_move(struct capture_frame *f, int more)
{
	__u32 longest = ~0u - LINK_MADE_UP;

	f->bytes -= more;
	f->captured = f->captured + more < CAPTURE_FRAME_MAX ? f->captured + more : CAPTURE_FRAME_MAX;
	f->wire = (f->wire < longest ? f->wire : longest) + more;
}

void link_put_ethernet(struct capture_frame *f, __u16 ethertype)
{
	link_move(f, LINK_ETHERNET_BYTES);
	memset(f->bytes, 0, 12);
	f->bytes[12] = ethertype >> 8;
	f->bytes[13] = ethertype;
}

/* The header of other IP versions tells nothing (a length of 0, IEEE 802.3). */
static void from_ip(struct capture_frame *f)
{
	switch (f->captured ? f->bytes[0] >> 4 : 0) {
	case 4:
		link_put_ethernet(f, TYPE_IPV4);
		break;
	case 6:
		link_put_ethernet(f, TYPE_IPV6);
		break;
	default:
		link_put_ethernet(f, 0);
	}
}

/*
 * Linux cooked captures: https://www.tcpdump.org/linktypes/LINKTYPE_LINUX_SLL.html and _SLL2. They have a source address (of
 * six bytes, on Ethernet) and the Ethertype.
 */
static void from_cooked(struct capture_frame *f, __u32 header, __u32 type_at, __u32 length_at, __u32 address_at)
{
	__u8 type[2], address[6] = { 0 };

	if (f->captured < header) {
		f->captured = 0;
		return;
	}
	memcpy(type, f->bytes + type_at, sizeof(type));
	if (f->bytes[length_at] == sizeof(address)) /* the lower byte of the length, or its only one */
		memcpy(address, f->bytes + address_at, sizeof(address));
	link_move(f, -(int)header);
	link_put_ethernet(f, type[0] << 8 | type[1]);
	memcpy(f->bytes + 6, address, sizeof(address));
}

static void from_null(struct capture_frame *f)
{
	if (f->captured < 4) {
		f->captured = 0;
		return;
	}
	link_move(f, -4);
	from_ip(f);
}

void link_to_ethernet(enum link_kind link, struct capture_frame *f, __u8 **copies, struct link_memory *memory)
{
	switch (link) {
	case LINK_ETHERNET:
		break;
	case LINK_IP:
		from_ip(f);
		break;
	case LINK_SLL:
		from_cooked(f, 16, 14, 5, 6);
		break;
	case LINK_SLL2:
		if (f->captured >= 8)
			f->interface = roce_be32(f->bytes + 4);
		from_cooked(f, 20, 0, 11, 12);
		break;
	case LINK_NULL:
		from_null(f);
		break;
	case LINK_INFINIBAND:
		link_from_infiniband(f, copies);
		break;
	case LINK_BTH:
		link_from_bth(f, copies, memory);
		break;
	case LINK_UNKNOWN:
		f->captured = 0;
	}
}
