// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "lib/clock.h"
#include "rxe_tests/rdma_ring/rdma_ring.h"

#define HOP_LIMIT	64
#define MIN_RNR_TIMER	12	/* 0.64 ms (IBTA 9.7.5.2.8) */
#define ACK_TIMEOUT	14	/* 4.096 us * 2^14 = 67 ms (IBTA 9.7.6.1.3) */
#define RETRIES		7	/* for RNR: without limit */

/* The GID with that index, or without one (-1) the first RoCEv2 GID of an IPv4 address. */
static uint8_t choose_gid(struct ibv_context *context, const struct ibv_port_attr *port, int wanted, uint8_t gid[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct ibv_gid_entry entry;

	for (int i = wanted < 0 ? 0 : wanted; i < port->gid_tbl_len; i++) {
		bool there = !ibv_query_gid_ex(context, RDMA_PORT, i, &entry, 0) && entry.gid_type == IBV_GID_TYPE_ROCE_V2;

		if (there && (wanted >= 0 || !memcmp(entry.gid.raw, mapped, sizeof(mapped)))) {
			memcpy(gid, entry.gid.raw, 16);
			return i;
		}
		if (wanted >= 0)
			break;
	}
	if (wanted >= 0)
		errx(1, "--gid-index %d: the port has no such RoCEv2 GID", wanted);
	errx(1, "%s has no RoCEv2 GID of an IPv4 address: give its interface one, or say --gid-index",
	     ibv_get_device_name(context->device));
}

void ring_open(struct ring_device *d, const struct ring_options *o, unsigned int completions, struct rdma_end *self)
{
	struct ibv_port_attr port;

	d->context = rdma_device_open(o->device);
	rdma_port_query(d->context, o->path_mtu, o->send ? o->size : 0, &port, self);
	d->gid_index = choose_gid(d->context, &port, o->gid_index, self->gid);
	d->pd = ibv_alloc_pd(d->context);
	d->channel = ibv_create_comp_channel(d->context);
	if (!d->pd || !d->channel)
		err(1, "protection domain, completion channel");
	fcntl(d->channel->fd, F_SETFL, fcntl(d->channel->fd, F_GETFL) | O_NONBLOCK);
	d->cq = ibv_create_cq(d->context, completions, NULL, d->channel, 0);
	if (!d->cq)
		err(1, "completion queue of %u entries (a smaller --window?)", completions);
}

struct ibv_mr *ring_memory(struct ring_device *d, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr = NULL;

	if (at != MAP_FAILED)
		mr = ibv_reg_mr(d->pd, at, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	if (!mr)
		err(1, "%zu bytes of registered memory (a smaller --capacity? ulimit -l?)", bytes);
	return mr;
}

struct ibv_qp *ring_qp(struct ring_device *d, unsigned int sends, unsigned int receives, struct rdma_qp_address *self)
{
	struct ibv_qp_init_attr init = {
		.send_cq = d->cq, .recv_cq = d->cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = sends, .max_recv_wr = receives, .max_send_sge = 2, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = RDMA_PORT, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_qp *qp = ibv_create_qp(d->pd, &init);

	if (!qp)
		err(1, "QP with %u sends and %u receives", sends, receives);
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (errno)
		err(1, "QP to INIT");
	self->qpn = qp->qp_num;
	if (getrandom(&self->psn, sizeof(self->psn), 0) != sizeof(self->psn))
		err(1, "getrandom");
	self->psn &= 0xffffff;
	return qp;
}

void ring_connect(struct ring_device *d, struct ibv_qp *qp, const struct rdma_end *self, const struct rdma_end *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = rdma_mtu(self->path_mtu < peer->path_mtu ? self->path_mtu : peer->path_mtu),
		.dest_qp_num = peer->qp[0].qpn,
		.rq_psn = peer->qp[0].psn,
		.ah_attr = {
			.is_global = 1, .dlid = peer->lid, .port_num = RDMA_PORT,
			.grh = { .sgid_index = d->gid_index, .hop_limit = HOP_LIMIT },
		},
		.min_rnr_timer = MIN_RNR_TIMER, .max_dest_rd_atomic = 1, .max_rd_atomic = 1,
		.timeout = ACK_TIMEOUT, .retry_cnt = RETRIES, .rnr_retry = RETRIES,
		.sq_psn = self->qp[0].psn,
	};

	memcpy(attr.ah_attr.grh.dgid.raw, peer->gid, sizeof(peer->gid));
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	if (errno)
		err(1, "QP to RTR (is the other end's address reachable?)");
	attr.qp_state = IBV_QPS_RTS;
	errno = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			      IBV_QP_MAX_QP_RD_ATOMIC);
	if (errno)
		err(1, "QP to RTS");
}

/* Armed before the last look, so that a completion in between ends the wait. */
int ring_poll(struct ring_device *d, struct ibv_wc wc[RING_BATCH], bool arm)
{
	int n = ibv_poll_cq(d->cq, RING_BATCH, wc);

	if (n || !arm)
		return n;
	if (ibv_req_notify_cq(d->cq, 0))
		return -1;
	return ibv_poll_cq(d->cq, RING_BATCH, wc);
}

void ring_wait(struct ring_device *d, uint64_t when, struct control *const *controls, unsigned int count)
{
	struct pollfd p[1 + RING_RECEIVERS] = { { .fd = d->channel->fd, .events = POLLIN } };
	uint64_t now = now_ns(), left = when > now ? when - now : 0;
	struct timespec timeout = { left / NSEC_PER_SEC, left % NSEC_PER_SEC };
	unsigned int events = 0;
	struct ibv_cq *cq;
	void *context;

	for (unsigned int i = 0; i < count; i++)
		p[1 + i] = (struct pollfd){ .fd = controls[i] ? controls[i]->fd : -1, .events = POLLIN };
	ppoll(p, 1 + count, &timeout, NULL);
	while (!ibv_get_cq_event(d->channel, &cq, &context))
		events++;
	if (events)
		ibv_ack_cq_events(d->cq, events);
}
