/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * UD packets whose payload stands where the DETH is expected: Q_Key and source QPN are then payload, and each packet seems to be of
 * another source QPN, a stream of its own.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_DETH_H
#define USERSPACE_DIAGNOSE_FLOW_DETH_H

#include "userspace/diagnose/finding/packet.h"
#include "userspace/diagnose/finding/symptom.h"

#define DETHS 64 /* packets to one QP that are looked at */

/* All UD packets from one address to one QP. */
struct deth_study {
	struct deth_key {
		__u8 src[16], dst[16];
		__u32 qpn; /* destination QPN */
	} key; /* first member: the key of the index */
	__u64 packets;
	__u32 count; /* of them looked at */
	bool good;   /* their ICRCs are right; otherwise none was */
	__u32 qkey[DETHS], sqpn[DETHS];
	__u32 same_qkeys, same_sqpns; /* packets whose Q_Key, source QPN another one had before */
	__u32 psn, next; /* of the latest packet; packets with the PSN behind that of the one before */
	__u64 frame[FINDING_EVIDENCE]; /* the first packets */
};

/* taken: a packet of a UD stream. */
void deth_take(struct deth_study *d, const struct doctor_packet *taken);

/* Whether its packets have no DETH. */
bool deth_is_missing(const struct deth_study *d);

/* Adds the symptom. */
void deth_conclude(const struct deth_study *d, struct symptoms *symptoms);

#endif
