/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Headers as on the wire, all fields big-endian. The parser reads by the offsets of these structs, so that every field has one
 * definition. IBTA = InfiniBand Architecture Specification, volume 1.
 */
#ifndef ROCE_PACKET_WIRE_H
#define ROCE_PACKET_WIRE_H

#include "roce/packet/base.h"

#define WIRE_ETH_LEN 14
#define WIRE_VLAN_LEN 4
#define WIRE_UDP_LEN 8
#define WIRE_IPV4_LEN 20 /* without options */
#define WIRE_IPV6_LEN 40 /* without extension headers */
#define WIRE_ICRC_LEN 4

#define WIRE_ETHERTYPE_IPV4 0x0800
#define WIRE_ETHERTYPE_IPV6 0x86dd
#define WIRE_ETHERTYPE_VLAN 0x8100
#define WIRE_ETHERTYPE_QINQ 0x88a8
#define WIRE_ETHERTYPE_QINQ_OLD 0x9100 /* before 802.1ad */
#define WIRE_ETHERTYPE_QINQ_OLDER 0x9200
#define WIRE_ETHERTYPE_ROCEV1 0x8915 /* IBTA annex A16 */
/* What these carry is not parsed. */
#define WIRE_ETHERTYPE_MPLS 0x8847
#define WIRE_ETHERTYPE_MPLS_MULTICAST 0x8848
#define WIRE_ETHERTYPE_PPPOE 0x8864
#define WIRE_ETHERTYPE_MACSEC 0x88e5

/* MAC control frames (IEEE 802.3, 31; 802.1Q, 36): an opcode, then the time to pause, or a mask of priorities and eight times. */
#define WIRE_ETHERTYPE_MAC_CONTROL 0x8808
#define WIRE_MAC_CONTROL_PAUSE 0x0001
#define WIRE_MAC_CONTROL_PFC 0x0101
#define WIRE_PRIORITIES 8

#define WIRE_VLAN_TAGS 3 /* at most; more are not parsed */

roce_inline bool wire_is_vlan(__u32 ethertype)
{
	return ethertype == WIRE_ETHERTYPE_VLAN || ethertype == WIRE_ETHERTYPE_QINQ ||
	       ethertype == WIRE_ETHERTYPE_QINQ_OLD || ethertype == WIRE_ETHERTYPE_QINQ_OLDER;
}

#define WIRE_PROTO_UDP 17
#define WIRE_PROTO_IBA 0x1b /* next header of a GRH before a BTH, IBTA 8.3.4 */
#define WIRE_ROCEV2_PORT 4791 /* IBTA annex A17 */

/* Tunnels, see roce/packet/decap.h. Numbers of IP protocols are IANA's. */
#define WIRE_PROTO_IPV4 4
#define WIRE_PROTO_IPV6 41
#define WIRE_PROTO_GRE 47
#define WIRE_PROTO_MPLS 137
#define WIRE_PROTO_ETHERNET 143 /* RFC 8986, 9.1 */
#define WIRE_GRE_LEN 4 /* without optional fields */
#define WIRE_GRE_CHECKSUM 0x8000
#define WIRE_GRE_ROUTING 0x4000
#define WIRE_GRE_KEY 0x2000
#define WIRE_GRE_SEQUENCE 0x1000
#define WIRE_GRE_VERSION 0x0007
#define WIRE_TYPE_ETHERNET 0x6558 /* payload of GRE and Geneve: Ethernet */
#define WIRE_GRE_ERSPAN 0x88be	 /* types I and II */
#define WIRE_GRE_ERSPAN_III 0x22eb
#define WIRE_ERSPAN_II_LEN 8
#define WIRE_ERSPAN_III_LEN 12
#define WIRE_ERSPAN_III_PLATFORM_LEN 8 /* if the last bit before it is set */
#define WIRE_ETHERTYPE_MIRROR 0x8949 /* of NVIDIA's (Mellanox') switches, in GRE or behind an Ethernet header */
#define WIRE_MIRROR_LEN 22
#define WIRE_VXLAN_PORT 4789
#define WIRE_VXLAN_PORT_LINUX 8472 /* Linux' usual port, older than IANA's */
#define WIRE_VXLAN_LEN 8
#define WIRE_VXLAN_VALID 0x08 /* the identifier is valid: the only flag, always set */
#define WIRE_GENEVE_PORT 6081
#define WIRE_GENEVE_LEN 8 /* without options */
#define WIRE_GENEVE_CONTROL 0x80
#define WIRE_LABEL_LEN 4 /* an entry of MPLS' label stack, RFC 3032 */
#define WIRE_LABELS 8 /* at most; more are not parsed */

/* Base Transport Header, IBTA 9.2. */
struct wire_bth {
	__u8 opcode;
	__u8 flags; /* solicited event, MigReq, pad count (2 bits), TVer (4 bits) */
	__u8 pkey[2];
	__u8 resv8a; /* RoCEv2: FECN, BECN, 6 reserved bits (annex A17); outside the ICRC */
	__u8 dqpn[3];
	__u8 ackreq; /* AckReq and 7 reserved bits */
	__u8 psn[3];
};
_Static_assert(sizeof(struct wire_bth) == 12, "IBTA 9.2");

/* RDMA Extended Transport Header, IBTA 9.3.3. */
struct wire_reth {
	__u8 va[8];
	__u8 rkey[4];
	__u8 dma_length[4];
};
_Static_assert(sizeof(struct wire_reth) == 16, "IBTA 9.3.3");

/* ACK Extended Transport Header, IBTA 9.3.5. */
struct wire_aeth {
	__u8 syndrome;
	__u8 msn[3];
};
_Static_assert(sizeof(struct wire_aeth) == 4, "IBTA 9.3.5");

/* Datagram Extended Transport Header, IBTA 9.3.2. */
struct wire_deth {
	__u8 qkey[4];
	__u8 resv;
	__u8 sqpn[3];
};
_Static_assert(sizeof(struct wire_deth) == 8, "IBTA 9.3.2");

/* Sizes of the extension headers that are skipped. */
#define WIRE_RDETH_LEN 4      /* IBTA 9.3.1 */
#define WIRE_ATOMICETH_LEN 28 /* IBTA 9.3.4 */
#define WIRE_ATOMICACKETH_LEN 8 /* IBTA 9.3.6 */
#define WIRE_IMMDT_LEN 4      /* IBTA 9.3.7 */
#define WIRE_IETH_LEN 4       /* IBTA 9.3.8 */
#define WIRE_XRCETH_LEN 4     /* IBTA annex A14 */
#define WIRE_FETH_LEN 4       /* IBTA annex A19 (FLUSH) */

#endif
