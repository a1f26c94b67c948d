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

#define LINK_ETHERNET_BYTES 14
#define LINK_GRH_BYTES 40
#define LINK_ICRC_BYTES 4
/* By so much a frame may grow that is copied. */
#define LINK_MADE_UP (LINK_ETHERNET_BYTES + LINK_GRH_BYTES + LINK_ICRC_BYTES)

/* What the frames so far have shown, where one alone does not say it. */
struct link_memory {
	bool no_icrc; /* bare transport headers: their packets end without one */
};

/* type: LINKTYPE_ of a file. */
enum link_kind link_find(__u32 type, enum capture_link wanted);

/*
 * The frame as the file has it becomes one of Ethernet: with its new header in the 14 bytes before it, which the reader is
 * done with, or at *copies, which moves behind it. A frame that is cut inside its own header: captured is 0.
 */
void link_to_ethernet(enum link_kind link, struct capture_frame *f, __u8 **copies, struct link_memory *memory);

/* The same for what has no IP: LINK_INFINIBAND and LINK_BTH become RoCEv1. */
void link_from_infiniband(struct capture_frame *f, __u8 **copies);
void link_from_bth(struct capture_frame *f, __u8 **copies, struct link_memory *memory);

/* `more` bytes, any, in front of the frame; below 0: so many less of it. */
void link_move(struct capture_frame *f, int more);
/* A header without addresses in front of it. */
void link_put_ethernet(struct capture_frame *f, __u16 ethertype);

#endif
