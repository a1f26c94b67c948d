// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <sched.h>
#include <stddef.h>
#include <string.h>

#include "lib/clock.h"
#include "userspace/traffic/receive/qps.h"

/* A packet holds the claim for a microsecond; a hypervisor may take the CPU away meanwhile. */
#define CLAIM_NS NSEC_PER_SEC

#define COUNTERS offsetof(struct receive_qp, packets) /* up to `posted` */

static bool claim(struct receive_qp *q)
{
	__u64 end = now_ns() + CLAIM_NS;
	__u32 nobody = 0;

	while (!__atomic_compare_exchange_n(&q->claim, &nobody, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		if (now_ns() > end)
			return false;
		nobody = 0;
		sched_yield();
	}
	return true;
}

static void release(struct receive_qp *q)
{
	__atomic_store_n(&q->claim, 0, __ATOMIC_RELEASE);
}

void receive_qp_recover(struct receive_qp *q)
{
	if (!claim(q))	/* who has it was killed, and may have armed a half of it */
		q->responder.state = RESPONDER_RESET;
	release(q);
}

bool receive_qp_arm(struct receive_qp *q, const struct roce_responder *r, __u64 posted)
{
	if (!claim(q))
		return false;
	q->responder = *r;
	memset((char *)q + COUNTERS, 0, offsetof(struct receive_qp, posted) - COUNTERS);
	q->posted = posted;
	q->armed++;
	release(q);
	return true;
}

bool receive_qp_reset(struct receive_qp *q)
{
	if (!claim(q))
		return false;
	q->responder.state = RESPONDER_RESET;
	q->incomplete += q->responder.open != OPEN_NONE;
	q->responder.open = OPEN_NONE;
	release(q);
	return true;
}

struct roce_responder receive_responder(const struct receive_setup *s, __u32 qp, const __u8 peer[16], enum rdma_service service,
					__u32 peer_qpn, __u32 expected, __u32 path_mtu, __u32 receive_bytes)
{
	const struct receive_options *o = s->options;
	struct roce_responder r = {
		.receive_at = receive_setup_at(s, qp),
		.receive_bytes = receive_bytes,
		.receive_slots = receive_setup_slots(s, receive_bytes),
		.qpn = s->settings.first_qpn + qp,
		.peer_qpn = peer_qpn & 0xffffff,
		.path_mtu = path_mtu,
		.expected = expected & 0xffffff,
		.pkey = o->pkey,
		.service = service == RDMA_RC ? SERVICE_RC : SERVICE_UC,
		.state = RESPONDER_READY,
		.rnr_timer = o->rnr_timer,
		.endless = !o->receives,
	};

	memcpy(r.peer, peer, sizeof(r.peer));
	return r;
}

__u64 receive_receives(const struct receive_setup *s, __u32 receive_bytes)
{
	__u32 slots = receive_setup_slots(s, receive_bytes), wanted = s->options->receives;

	return slots && slots < wanted ? slots : wanted;
}
