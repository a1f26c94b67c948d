/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blocks of pcapng (draft-ietf-opsawg-pcapng), built in memory in this machine's byte order. */
#ifndef PCAP_NG_BLOCK_H
#define PCAP_NG_BLOCK_H

#include "pcap/ng_writer.h"

#define NG_PACKET_MOST 262144	/* longest that libpcap and Wireshark read */
#define NG_OPTION_MOST 0xffff	/* the length of an option has 16 bits */
#define NG_BLOCK_MOST (NG_PACKET_MOST + NG_OPTION_MOST + 1 + 256)
#define NG_STATISTICS_BYTES 160 /* most bytes for one interface */

enum ng_block_type { NG_SECTION = 0x0a0d0d0a, NG_INTERFACE = 1, NG_STATISTICS = 5, NG_PACKET = 6 };

struct ng_block {
	__u32 length;
	__u8 bytes[NG_BLOCK_MOST];
};

/* Each replaces the block in b. Strings that do not fit are cut. NULL and empty strings are left out. */
void ng_block_section(struct ng_block *b);
void ng_block_interface(struct ng_block *b, const struct ng_interface *i);

/* snaplen: longer packets are cut to it; 0: none. */
void ng_block_packet(struct ng_block *b, const struct ng_packet *p, __u32 snaplen);

/* time: when the figures were read, ns since 1970. s: NULL: no figures. */
void ng_block_statistics(struct ng_block *b, __u32 interface, __u64 time, const struct ng_statistics *s);

#endif
