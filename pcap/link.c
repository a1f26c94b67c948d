// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "pcap/link.h"
#include "roce/packet/base.h"

enum { TYPE_IPV4 = 0x0800, TYPE_IPV6 = 0x86dd, TYPE_MPLS = 0x8847 };

/* https://www.tcpdump.org/linktypes.html; raw IP has three numbers, from different systems */
static const struct {
	__u32 type;
	enum link_kind kind;
} types[] = {
	{ 0, LINK_NULL }, { 1, LINK_ETHERNET }, { 12, LINK_IP }, { 14, LINK_IP }, { 101, LINK_IP }, { 108, LINK_NULL },
	{ 113, LINK_SLL }, { 197, LINK_ERF }, { 219, LINK_MPLS }, { 228, LINK_IP }, { 229, LINK_IP }, { 247, LINK_INFINIBAND },
	{ 276, LINK_SLL2 },
};

/* Others that may carry RoCE. editcap is Wireshark's. */
static const struct {
	__u32 type;
	const char *words;
} refused[] = {
	{ 50, "PPP: `editcap -C 4 -T rawip OLD NEW` makes IP of it" },
	{ 104, "Cisco HDLC: `editcap -C 4 -T rawip OLD NEW` makes IP of it" },
	{ 109, "OpenBSD's IPsec: `editcap -C 12 -T rawip OLD NEW` makes IP of it" },
	{ 192, "PPI, whose headers have any length: capture as Ethernet" },
	{ 226, "Solaris IPNET: `editcap -C 24 -T rawip OLD NEW` makes IP of it" },
	{ 240, "netANALYZER: `editcap -C 4 -T ether OLD NEW` makes Ethernet of it" },
	{ 241, "netANALYZER with preambles: `editcap -C 12 -T ether OLD NEW` makes Ethernet of it" },
	{ 242, "IP over InfiniBand: `editcap -C 44 -T rawip OLD NEW` makes IP of it" },
	{ 252, "Wireshark's exported PDUs, without the headers below: save the packets themselves" },
	{ 274, "Ethernet mPackets: `editcap -C 8 -T ether OLD NEW` makes Ethernet of it" },
};

const char *link_words(__u32 type)
{
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (refused[i].type == type)
			return refused[i].words;
	return NULL;
}

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

/* The record's header, with the type and length of what it holds; Ethernet has two more bytes before the frame. */
#define ERF_HEADER 16
#define ERF_EXTENSION 8

enum { ERF_TYPE = 8, ERF_FLAGS = 9, ERF_RECORD = 10, ERF_WIRE = 14, ERF_MORE = 0x80, ERF_PORT = 3 };

static enum link_kind erf_kind(__u8 type)
{
	switch (type & ~ERF_MORE) {
	case 2:
	case 11:
	case 16:
	case 20:
		return LINK_ETHERNET;
	case 21:
		return LINK_INFINIBAND;
	case 22:
	case 23:
		return LINK_IP;
	default:
		return LINK_UNKNOWN;
	}
}

/*
 * https://www.endace.com/erf-extensible-record-format-types.pdf. A record may be filled up behind its frame, and the frame's length
 * on the wire includes the FCS. Returns what is left: LINK_UNKNOWN if that is nothing, or another kind of record.
 */
static enum link_kind from_erf(struct capture_frame *f)
{
	enum link_kind kind = f->captured < ERF_HEADER ? LINK_UNKNOWN : erf_kind(f->bytes[ERF_TYPE]);
	__u32 at = ERF_HEADER, record, wire;
	__u8 more;

	if (kind == LINK_UNKNOWN)
		return kind;
	record = roce_be16(f->bytes + ERF_RECORD);
	wire = roce_be16(f->bytes + ERF_WIRE);
	if (f->captured > record)
		f->captured = record;
	f->interface = f->bytes[ERF_FLAGS] & ERF_PORT;
	for (more = f->bytes[ERF_TYPE]; more & ERF_MORE && at < f->captured; at += ERF_EXTENSION)
		more = f->bytes[at];
	at += kind == LINK_ETHERNET ? 2 : 0;
	if (f->captured < at)
		return LINK_UNKNOWN;
	link_move(f, -(int)at);
	if (f->captured > wire)
		f->captured = wire;
	f->wire = wire;
	return kind;
}

void link_to_ethernet(enum link_kind link, struct capture_frame *f, __u8 **copies, struct link_memory *memory)
{
	if (link == LINK_ERF)
		link = from_erf(f);
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
	case LINK_MPLS:
		link_put_ethernet(f, TYPE_MPLS);
		break;
	case LINK_INFINIBAND:
		link_from_infiniband(f, copies);
		break;
	case LINK_BTH:
		link_from_bth(f, copies, memory);
		break;
	case LINK_ERF:
	case LINK_UNKNOWN:
		f->captured = 0;
	}
}
