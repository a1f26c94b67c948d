/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Turns frames of other link types into Ethernet frames. */
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
	LINK_INFINIBAND, /* begins with the local route header */
	LINK_MPLS,	 /* begins with a label */
	LINK_ERF,	 /* records of Endace's cards, each with a type of its own */
	LINK_BTH,
};

#define LINK_ETHERNET_BYTES 14
#define LINK_GRH_BYTES 40
#define LINK_ICRC_BYTES 4
/* Most bytes that a copied frame may grow. */
#define LINK_MADE_UP (LINK_ETHERNET_BYTES + LINK_GRH_BYTES + LINK_ICRC_BYTES)

/* What earlier frames have shown that one frame alone does not show. */
struct link_memory {
	bool no_icrc; /* bare transport headers: the packets have no ICRC */
};

/* type: LINKTYPE_ of a file. */
enum link_kind link_find(__u32 type, enum capture_link wanted);

/* What LINK_UNKNOWN of that type is, and what makes it readable, in words. NULL: not known. */
const char *link_words(__u32 type);

/*
 * Turns the frame into an Ethernet frame. The new header goes into the 14 bytes before the frame, which the reader no longer
 * needs, or the frame is copied to *copies, which moves past it. If the frame is cut inside its own header, captured becomes 0.
 */
void link_to_ethernet(enum link_kind link, struct capture_frame *f, __u8 **copies, struct link_memory *memory);

/* The same for frames without IP: LINK_INFINIBAND and LINK_BTH become RoCEv1. */
void link_from_infiniband(struct capture_frame *f, __u8 **copies);
void link_from_bth(struct capture_frame *f, __u8 **copies, struct link_memory *memory);

/* Adds `more` bytes of any value before the frame. Negative: removes bytes. */
void link_move(struct capture_frame *f, int more);
/* Puts a header without addresses before the frame. */
void link_put_ethernet(struct capture_frame *f, __u16 ethertype);

#endif
