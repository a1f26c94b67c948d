// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Turns frames with InfiniBand headers into RoCEv1, which has the same headers from the GRH on. */
#include <string.h>

#include "pcap/link.h"
#include "roce/packet/parse.h"

#define LRH 8

/* LRH (IBTA 7.7): the next header, and the end of the packet's ICRC, in words from the LRH. */
enum { LNH = 3, LNH_BTH = 2, LNH_GRH = 3 };

static __u32 lrh_bytes(const __u8 *lrh)
{
	return (roce_be16(lrh + 4) & 0x7ff) * 4;
}

/*
 * Copies to *copies, with an Ethernet header and a GRH without addresses. length: of the rest, up to the end of the ICRC.
 * missing: zero bytes to append if the rest is complete.
 */
static void copy_behind_grh(struct capture_frame *f, __u8 **copies, __u32 length, __u32 missing)
{
	__u8 *grh = *copies + LINK_ETHERNET_BYTES, *transport = grh + LINK_GRH_BYTES;
	__u32 there = f->captured == f->wire ? missing : 0;

	memset(grh, 0, LINK_GRH_BYTES);
	if (length > 0xffff)
		length = 0xffff;
	grh[0] = 6 << 4;
	grh[4] = length >> 8;
	grh[5] = length;
	grh[6] = WIRE_PROTO_IBA;
	memcpy(transport, f->bytes, f->captured);
	memset(transport + f->captured, 0, there);
	*copies = transport + f->captured + there;
	f->bytes = transport;
	f->captured += there;
	link_move(f, LINK_GRH_BYTES);
	f->wire += missing;
	link_put_ethernet(f, WIRE_ETHERTYPE_ROCEV1);
}

/* Sets no_icrc: the ICRC of the packet covers the LRH, that of RoCEv1 does not. */
void link_from_infiniband(struct capture_frame *f, __u8 **copies)
{
	__u8 next = f->captured < LRH ? 0 : f->bytes[1] & LNH;
	__u32 bytes;

	f->no_icrc = true;
	if (next < LNH_BTH) {
		f->captured = 0;
		return;
	}
	bytes = lrh_bytes(f->bytes);
	link_move(f, -LRH);
	if (next == LNH_GRH)
		link_put_ethernet(f, WIRE_ETHERTYPE_ROCEV1);
	else
		copy_behind_grh(f, copies, bytes < LRH ? 0 : bytes - LRH, 0);
}

/* Bytes before the ICRC of a packet with `left` bytes after its headers, if its opcode tells; else -1. */
static __s64 payload_bytes(const __u8 *bth, __u32 op, __u32 left)
{
	__u32 reth_end = sizeof(struct wire_bth) + parse_extension_bytes(op & (OP_RDETH | OP_DETH | OP_XRCETH | OP_RETH));

	if (op & (OP_READ_REQUEST | OP_ACK | OP_ATOMICETH | OP_ATOMICACKETH | OP_FETH))
		return 0;
	if (op & OP_CNP)
		return 16;
	if ((op & OP_RETH) && (op & OP_LAST))
		return roce_be32(bth + reth_end - 4);
	if (!(op & (OP_FIRST | OP_MIDDLE)) || op & OP_LAST)
		return -1;
	if (roce_is_path_mtu(left))
		return left;
	return roce_is_path_mtu(left - LINK_ICRC_BYTES) ? (__s64)left - LINK_ICRC_BYTES : -1;
}

/* Whether the packet has no ICRC. If it does not show, the answer for earlier packets holds. */
static bool is_without_icrc(const __u8 *bth, __u32 captured, __u32 wire, bool before)
{
	__u32 op = captured < sizeof(struct wire_bth) ? 0 : roce_opcodes[bth[0]], headers, left;
	__s64 payload;

	headers = sizeof(struct wire_bth) + parse_extension_bytes(op);
	if (!op || captured < headers)
		return before;
	headers += bth[1] >> 4 & 3;
	left = wire < headers ? 0 : wire - headers;
	payload = payload_bytes(bth, op, left);
	if (left < LINK_ICRC_BYTES || left == payload)
		return true;
	return left == payload + LINK_ICRC_BYTES ? false : before;
}

/* The lengths include an ICRC. If there is none, it is taken as 0. */
void link_from_bth(struct capture_frame *f, __u8 **copies, struct link_memory *memory)
{
	__u32 missing;

	memory->no_icrc = is_without_icrc(f->bytes, f->captured, f->wire, memory->no_icrc);
	missing = memory->no_icrc ? LINK_ICRC_BYTES : 0;
	f->no_icrc = true;
	copy_behind_grh(f, copies, f->wire < 0xffff ? f->wire + missing : f->wire, missing);
}
