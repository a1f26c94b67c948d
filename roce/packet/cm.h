/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Connection management: the two management datagrams (MADs) in which the ends of a connection tell each other their QPNs. They
 * are UD packets to QPN 1. IBTA 12.6 and 12.7; the offsets are those of Linux' ibta_vol1_c12.h. The starting PSN is that of the
 * other end's requests: cm_send_req() in Linux' cm.c stores it as rq_psn. A REQ and its REP make two pairs (roce/packet/pair.h).
 */
#ifndef ROCE_PACKET_CM_H
#define ROCE_PACKET_CM_H

#include "roce/packet/pair.h"
#include "roce/packet/parse.h"

#define CM_QPN 1
#define CM_MAD_HEADER 24 /* IBTA 13.4.3 */
#define CM_CLASS 0x07
#define CM_REQUEST 0x0010 /* attribute identifiers, IBTA 16.7.3 */
#define CM_REPLY 0x0013
#define CM_MAD_BYTES 256 /* always, IBTA 13.4.2 */
#define CM_BYTES (CM_MAD_HEADER + 51) /* of the MAD, up to the REQ's path MTU */

/* Fields of the MAD. REQ and REP differ behind its header. */
enum {
	CM_AT_CLASS = 1,
	CM_AT_ATTRIBUTE = 16,
	CM_AT_LOCAL_ID = CM_MAD_HEADER,
	CM_AT_REQ_QPN = CM_MAD_HEADER + 32,
	CM_AT_REQ_PSN = CM_MAD_HEADER + 44,
	CM_AT_REQ_MTU = CM_MAD_HEADER + 50,
	CM_AT_REP_REMOTE_ID = CM_MAD_HEADER + 4,
	CM_AT_REP_QPN = CM_MAD_HEADER + 12,
	CM_AT_REP_PSN = CM_MAD_HEADER + 20,
};

/* What a REQ or REP says. */
struct roce_cm {
	__u32 attribute; /* CM_REQUEST or CM_REPLY */
	__u32 local_id;	 /* communication ID of the sender */
	__u32 remote_id; /* REP: communication ID of the REQ it answers */
	__u32 qpn;	 /* the sender's */
	__u32 psn;	 /* first PSN of the other end's requests: each end names the PSN it expects */
	__u32 path_mtu;	 /* REQ: bytes, 0: a reserved value */
};

/* Whether the packet may be a REQ or REP. Called for every packet. */
roce_inline bool roce_is_management(const struct roce_packet *p)
{
	return p->dqpn == CM_QPN && p->op & OP_DETH && p->service == SERVICE_UD;
}

/*
 * Parses a REQ or REP. window: as for roce_parse(), with `available` bytes of the frame. p: a packet for which
 * roce_is_management() holds. Returns false if it is neither, or does not fit into the window. The caller checks the ICRC.
 */
roce_inline bool roce_cm_parse(const __u8 *window, __u32 available, const struct roce_packet *p, struct roce_cm *cm)
{
	__u32 offset = p->l4_offset + (p->rocev1 ? 0 : WIRE_UDP_LEN) + sizeof(struct wire_bth) + sizeof(struct wire_deth);
	__u32 path_mtu;
	const __u8 *m;

	roce_opaque(offset);
	if (offset > ROCE_WINDOW_BYTES - CM_BYTES || offset + CM_BYTES > available || p->payload_bytes != CM_MAD_BYTES)
		return false;
	m = window + offset;
	cm->attribute = roce_be16(m + CM_AT_ATTRIBUTE);
	if (m[CM_AT_CLASS] != CM_CLASS || (cm->attribute != CM_REQUEST && cm->attribute != CM_REPLY))
		return false;
	cm->local_id = roce_be32(m + CM_AT_LOCAL_ID);
	cm->remote_id = 0;
	cm->path_mtu = 0;
	if (cm->attribute == CM_REPLY) {
		cm->remote_id = roce_be32(m + CM_AT_REP_REMOTE_ID);
		cm->qpn = roce_be24(m + CM_AT_REP_QPN);
		cm->psn = roce_be24(m + CM_AT_REP_PSN);
		return true;
	}
	cm->qpn = roce_be24(m + CM_AT_REQ_QPN);
	cm->psn = roce_be24(m + CM_AT_REQ_PSN);
	path_mtu = m[CM_AT_REQ_MTU] >> 4;
	if (path_mtu >= 1 && path_mtu <= 5) /* 1 is 256, 5 is 4096 */
		cm->path_mtu = 128u << path_mtu;
	return true;
}

/* ---- the pairs that they make ---- */

/* A REQ, to be stored under `key` until its REP arrives. */
roce_inline void pair_request(const struct roce_packet *p, const struct roce_cm *cm, struct roce_pair_key *key,
			      struct roce_pair *request)
{
	pair_key(key, p->src, p->dst, cm->local_id);
	*request = (struct roce_pair){ .connection = cm->local_id, .peer_qpn = cm->qpn, .path_mtu = cm->path_mtu,
				       .first_psn = cm->psn, .from = PAIR_CM };
}

/* Key of the REQ that this REP answers. */
roce_inline void pair_request_key(const struct roce_packet *p, const struct roce_cm *cm, struct roce_pair_key *key)
{
	pair_key(key, p->dst, p->src, cm->remote_id);
}

/* The pair of the streams that the REQ's sender sends. p: the REP. */
roce_inline void pair_forth(const struct roce_packet *p, const struct roce_cm *cm, const struct roce_pair *request,
			    struct roce_pair_key *key, struct roce_pair *pair)
{
	pair_key(key, p->dst, p->src, cm->qpn);
	*pair = *request;
	pair->connection |= (__u64)cm->local_id << 32;
	pair->first_psn = cm->psn;
}

/* The pair of the streams that the REP's sender sends. */
roce_inline void pair_back(const struct roce_packet *p, const struct roce_cm *cm, const struct roce_pair *request,
			   struct roce_pair_key *key, struct roce_pair *pair)
{
	pair_key(key, p->src, p->dst, request->peer_qpn);
	*pair = *request;
	pair->connection |= (__u64)cm->local_id << 32;
	pair->peer_qpn = cm->qpn;
}

#endif
