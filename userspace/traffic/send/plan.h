/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What to send, from the command line, plan files and presets. Numbers are in host byte order. */
#ifndef USERSPACE_TRAFFIC_SEND_PLAN_H
#define USERSPACE_TRAFFIC_SEND_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "lib/number.h"

struct send_fault;

/* --op */
enum send_op {
	SEND_UC_WRITE_IMM, SEND_UC_WRITE, SEND_UC_SEND, SEND_RC_WRITE, SEND_RC_SEND, SEND_UD_SEND, SEND_READ_RESPONSE,
	SEND_ACK, SEND_CNP,
};

enum send_ports { PORTS_ONE, PORTS_PER_QP, PORTS_RANDOM };
enum send_order { ORDER_MESSAGE, ORDER_PACKET, ORDER_WEIGHTS, ORDER_SEQUENCE };
enum send_pattern { PATTERN_COUNTER, PATTERN_LFSR, PATTERN_FILE };
enum send_out { OUT_AUTO, OUT_LIVE, OUT_XDP, OUT_PACKET, OUT_FILE };

/* The values of one --qp. The k-th --qp is for QP k. */
struct plan_qp {
	uint32_t qpn, psn, rkey;
	uint64_t va;
};

struct send_plan {
	/* output */
	const char *interface; /* or NULL */
	const char *file;      /* -w; "-": standard output */
	const char *truth;     /* file, or NULL */
	enum send_out out;

	/* the path */
	bool ipv6;
	__u8 src[16], dst[16]; /* IPv4 as ::ffff:a.b.c.d, as the engine has them */
	__u8 src_mac[6], dst_mac[6];
	bool tagged;
	uint16_t vlan;
	uint8_t pcp, tos /* DSCP and ECN */, ttl;
	uint32_t flow_label;
	bool dont_fragment;
	enum send_ports ports;
	uint16_t port;	       /* of the source, or of QP 0 */
	bool udp_checksum;

	/* QPs */
	enum send_op op;
	uint32_t qps, first_qpn, first_psn;
	uint16_t pkey;
	uint32_t rkey;
	uint64_t va;	       /* of QP 0's first region */
	uint32_t regions;      /* per QP; used in turn, one per message */
	uint64_t region_bytes; /* distance from one region to the next; the regions of QP k + 1 follow those of QP k */
	uint32_t immediate;    /* of each QP's first message that has it; counts up by: */
	uint32_t immediate_step;
	uint32_t immediate_messages; /* so many messages in a row have the same */
	bool immediate_page;   /* instead: the page of the ring, and the PSN from bit 12 on (Holoscan Sensor Bridge) */
	uint32_t frame;	       /* messages of a frame, of which only the last one has immediate data; of a page, too */
	uint8_t reserved;      /* the BTH's fifth byte: FECN, BECN and six reserved bits */
	struct plan_qp *qp;    /* NULL, or [qps] */
	uint32_t other_psn;    /* first PSN of the other side, for the fault that uses it */

	/* messages */
	uint64_t message;      /* bytes of payload */
	uint32_t mtu;	       /* payload of First and Middle packets: any size */
	uint64_t messages;     /* over all QPs; 0: no limit */
	double duration;       /* s; 0: no limit */
	enum send_order order;
	uint32_t *turn;	       /* ORDER_WEIGHTS: packets of each QP's turn; ORDER_SEQUENCE: QP indexes */
	size_t turns;
	enum send_pattern pattern;
	const char *pattern_file;

	/* departures */
	struct rate rate;      /* frame bits without FCS, or packets; 0: as fast as possible */
	uint32_t burst;	       /* packets that leave back to back; 1: no bursts */
	uint64_t seed;

	struct send_fault *faults;
	size_t fault_count;
};

/* The values of QP k: from its --qp, or from the plan. */
static inline struct plan_qp plan_qp(const struct send_plan *plan, uint32_t k)
{
	if (plan->qp)
		return plan->qp[k];
	return (struct plan_qp){
		.qpn = plan->first_qpn + k, .psn = plan->first_psn, .rkey = plan->rkey,
		.va = plan->va + k * plan->region_bytes * plan->regions,
	};
}

#endif
