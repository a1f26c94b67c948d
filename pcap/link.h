/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames of other link types than Ethernet, made into frames of Ethernet. */
#ifndef PCAP_LINK_H
#define PCAP_LINK_H

#include "pcap/reader.h"

enum link_kind {
	LINK_UNKNOWN,
	LINK_ETHERNET,
	LINK_IP,
	LINK_SLL,
	LINK_SLL2,
	LINK_NULL,	 /* four bytes of address family, then IP */
	LINK_INFINIBAND, /* from the local route header on */
	LINK_BTH,
};

/* Bytes that a frame may grow by: Ethernet header and GRH in front, ICRC behind. */
#define LINK_MADE_UP (14 + 40 + 4)

/* Of the frames so far, what helps to understand the next one. */
struct link_memory {
	bool icrc; /* bare transport headers: whether packets end with an ICRC */
};

/* type: LINKTYPE_ of a file. */
enum link_kind link_find(__u32 type, enum capture_link wanted);

/*
 * The frame as the file has it becomes one of Ethernet: with its new header in the 16 bytes before it, which the reader is
 * done with, or at *copies, which then is moved on.
 */
void link_to_ethernet(enum link_kind link, struct capture_frame *f, __u8 **copies, struct link_memory *memory);

#endif
