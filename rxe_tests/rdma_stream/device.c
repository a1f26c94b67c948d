// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "rxe_tests/rdma_stream/rdma_stream.h"

#define HOP_LIMIT	64
#define MIN_RNR_TIMER	12	/* 0.64 ms */
#define RETRIES		7	/* for RNR: without limit */
#define MAX_BUFFERS	(64u << 20)	/* bytes, of a QP */
#define ALL_BUFFERS	(256u << 20)	/* bytes, of all QPs */

static struct ibv_context *open_device(const char *name)
{
	int count = 0;
	struct ibv_device **list = ibv_get_device_list(&count);
	struct ibv_context *context = NULL;

	if (!list || !count)
		errx(1, "no RDMA device: 'rdma link add rxe0 type rxe netdev NAME' makes one of a network interface");
	for (int i = 0; i < count && !context; i++)
		if (!name || !strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	if (!context && name)
		errx(1, "no RDMA device: --device %s is not there ('rdma link' lists them)", name);
	if (!context)
		err(1, "RDMA device %s does not open", ibv_get_device_name(list[0]));
	ibv_free_device_list(list);
	return context;
}

/* Its port, which has to be active, and self's LID and path MTU. UD's messages are split here, and may be longer than the port's. */
static struct ibv_port_attr query_port(struct ibv_context *context, const struct rdma_options *o, struct rdma_end *self)
{
	const char *name = ibv_get_device_name(context->device);
	struct ibv_port_attr port;
	unsigned int active;

	if (ibv_query_port(context, RDMA_PORT, &port))
		err(1, "port %d of %s", RDMA_PORT, name);
	if (port.state != IBV_PORT_ACTIVE)
		errx(1, "%s is not active: is its interface up?", name);
	active = 128u << port.active_mtu;
	if (o->path_mtu > active)
		errx(1, "--path-mtu %u: the port has %u (a larger MTU of its interface makes it larger)", o->path_mtu, active);
	if (o->common.send && o->service != RDMA_UD && o->common.size > port.max_msg_sz)
		usage_error("--size %llu: the port takes messages up to %u bytes", (unsigned long long)o->common.size,
			    port.max_msg_sz);
	self->path_mtu = o->path_mtu ? o->path_mtu : active;
	self->lid = port.lid;
	return port;
}

static bool is_ipv4(const uint8_t gid[16])
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid, mapped, sizeof(mapped));
}

static bool is_link_local(const uint8_t gid[16])
{
	return gid[0] == 0xfe && (gid[1] & 0xc0) == 0x80;
}

/* Whether packets can go from one to the other, as far as the kinds of their addresses tell. */
static bool alike(const uint8_t a[16], const uint8_t b[16])
{
	return is_ipv4(a) == is_ipv4(b) && is_link_local(a) == is_link_local(b);
}

static uint8_t choose_gid(struct ibv_context *context, const struct ibv_port_attr *port, int wanted,
			  const uint8_t peer[16], uint8_t gid[16])
{
	static const union ibv_gid none;
	struct ibv_gid_entry entry;

	if (wanted >= 0) {
		if (wanted >= port->gid_tbl_len || ibv_query_gid(context, RDMA_PORT, wanted, &entry.gid) ||
		    !memcmp(&entry.gid, &none, sizeof(none)))
			errx(1, "--gid-index %d: the port has no such GID", wanted);
		memcpy(gid, entry.gid.raw, sizeof(entry.gid.raw));
		return wanted;
	}
	for (int i = 0; i < port->gid_tbl_len; i++) {
		if (ibv_query_gid_ex(context, RDMA_PORT, i, &entry, 0))
			continue;
		if (entry.gid_type == IBV_GID_TYPE_ROCE_V2 && alike(entry.gid.raw, peer)) {
			memcpy(gid, entry.gid.raw, sizeof(entry.gid.raw));
			return i;
		}
	}
	errx(1, "%s has no RoCEv2 GID of an %s address: give its interface one, or say --gid-index",
	     ibv_get_device_name(context->device), is_ipv4(peer) ? "IPv4" : "IPv6");
}

static enum ibv_qp_type qp_type(enum rdma_service service, bool requests)
{
	return service == RDMA_UD ? IBV_QPT_UD : service == RDMA_UC ? IBV_QPT_UC : service == RDMA_RC ? IBV_QPT_RC :
	       requests ? IBV_QPT_XRC_SEND : IBV_QPT_XRC_RECV;
}

static int access_flags(enum rdma_operation operation)
{
	return operation == RDMA_READ ? IBV_ACCESS_REMOTE_READ :
	       rdma_is_atomic(operation) ? IBV_ACCESS_REMOTE_ATOMIC : IBV_ACCESS_REMOTE_WRITE;
}

static void to_init(struct ibv_qp *qp, const struct rdma_end *self)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RDMA_PORT };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	if (self->service == RDMA_UD) {
		attr.qkey = RDMA_QKEY;
		mask |= IBV_QP_QKEY;
	} else {
		attr.qp_access_flags = access_flags(self->operation);
		mask |= IBV_QP_ACCESS_FLAGS;
	}
	errno = ibv_modify_qp(qp, &attr, mask);
	if (errno)
		err(1, "QP to INIT");
}

/* No attribute of the device tells it. Asking for more fails (ibv_create_qp(3)). */
static unsigned int most_inline(struct rdma_device *d, struct ibv_qp_init_attr_ex init, unsigned int wanted)
{
	unsigned int takes = 0;

	for (unsigned int step = 1u << 31; step; step /= 2) {
		struct ibv_qp *qp = NULL;

		init.cap.max_inline_data = takes + step;
		if (takes + step < wanted)
			qp = ibv_create_qp_ex(d->context, &init);
		if (!qp)
			continue;
		takes += step;
		ibv_destroy_qp(qp);
	}
	return takes;
}

static struct ibv_qp *create_qp(struct rdma_device *d, struct rdma_queue *queue, struct ibv_qp_init_attr_ex init)
{
	struct ibv_qp *qp;

	init.send_cq = init.recv_cq = queue->cq;
	qp = ibv_create_qp_ex(d->context, &init);
	if (!qp && init.cap.max_inline_data && most_inline(d, init, init.cap.max_inline_data) < init.cap.max_inline_data)
		errx(1, "--inline: the device takes %u bytes inline, and a message has %u",
		     most_inline(d, init, init.cap.max_inline_data), init.cap.max_inline_data);
	if (!qp)
		err(1, "QP with %u sends and %u receives", init.cap.max_send_wr, init.cap.max_recv_wr);
	return qp;
}

static uint32_t first_psn(const struct rdma_options *o)
{
	uint32_t psn;

	if (o->psn >= 0)
		return o->psn;
	if (getrandom(&psn, sizeof(psn), 0) != sizeof(psn))
		err(1, "getrandom");
	return psn & 0xffffff;
}

static struct ibv_device_attr attributes(const struct rdma_device *d)
{
	struct ibv_device_attr attr;

	if (ibv_query_device(d->context, &attr))
		err(1, "attributes of %s", ibv_get_device_name(d->context->device));
	return attr;
}

bool rdma_has_xrc(const struct rdma_device *d)
{
	return attributes(d).device_cap_flags & IBV_DEVICE_XRC;
}

/* How many READs or atomics. The attributes of a QP have 8 bits for it. */
static unsigned int fetch_limit(const struct rdma_device *d, const struct rdma_options *o, bool requests, enum rdma_operation operation)
{
	int limit, wanted = o->reads ? o->reads : UINT8_MAX;
	struct ibv_device_attr attr = attributes(d);

	if (rdma_is_atomic(operation) && attr.atomic_cap == IBV_ATOMIC_NONE)
		errx(1, "--operation %s: %s has no atomics", rdma_operation_name(operation),
		     ibv_get_device_name(d->context->device));
	limit = requests ? attr.max_qp_init_rd_atom : attr.max_qp_rd_atom;
	return limit < wanted ? limit : wanted;
}

void rdma_open(struct rdma_device *d, const struct rdma_options *o, struct rdma_end *self)
{
	struct ibv_port_attr port;

	d->context = open_device(o->device);
	if (o->service == RDMA_XRC && !rdma_has_xrc(d))
		errx(1, "--transport xrc: %s has no XRC", ibv_get_device_name(d->context->device));
	port = query_port(d->context, o, self);
	d->gid_index = choose_gid(d->context, &port, o->gid_index, o->peer_gid, self->gid);
	d->ack_timeout = o->ack_timeout;
	d->pd = ibv_alloc_pd(d->context);
	if (!d->pd)
		err(1, "protection domain");
}

/* The domain is this process's own: no file names it. */
static void open_xrc_domain(struct rdma_device *d)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = -1, .oflags = O_CREAT,
	};

	d->xrcd = ibv_open_xrcd(d->context, &init);
	if (!d->xrcd)
		err(1, "XRC domain");
}

static struct ibv_srq *create_srq(struct rdma_device *d, unsigned int receives)
{
	struct ibv_srq_init_attr_ex init = {
		.attr = { .max_wr = receives, .max_sge = 1 }, .comp_mask = IBV_SRQ_INIT_ATTR_PD, .pd = d->pd,
	};
	struct ibv_srq *srq;

	if (d->xrcd) {
		init.comp_mask |= IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
		init.srq_type = IBV_SRQT_XRC;
		init.xrcd = d->xrcd;
		init.cq = d->queue->cq;
	}
	srq = ibv_create_srq_ex(d->context, &init);
	if (!srq)
		err(1, "shared queue of %u receives (--srq)", receives);
	return srq;
}

static void create_srqs(struct rdma_device *d, const struct rdma_options *o, unsigned int receives)
{
	d->srqs = o->srqs > 1 ? d->queues : 1;
	d->srq = calloc(d->srqs, sizeof(struct ibv_srq *));
	if (!d->srq)
		err(1, "no memory");
	for (unsigned int i = 0; i < d->srqs; i++)
		d->srq[i] = create_srq(d, receives);
}

/*
 * An XRC QP sends or receives (IBTA, annex A14). One that receives has no queue: each message names a shared one of its domain,
 * which a request that consumes no receive has to name as well.
 */
static void adapt_to_xrc(const struct rdma_device *d, struct ibv_qp_init_attr_ex *init)
{
	if (init->qp_type == IBV_QPT_XRC_SEND) {
		init->cap.max_recv_wr = init->cap.max_recv_sge = 0;
	} else if (init->qp_type == IBV_QPT_XRC_RECV) {
		init->cap = (struct ibv_qp_cap){ 0 };
		init->comp_mask = IBV_QP_INIT_ATTR_XRCD;
		init->xrcd = d->xrcd;
		init->srq = NULL;
	}
}

static uint32_t srq_number(const struct rdma_device *d)
{
	uint32_t number = 0;

	if (d->xrcd && ibv_get_srq_num(*d->srq, &number))
		err(1, "number of the shared queue");
	return number;
}

void rdma_create_qps(struct rdma_device *d, const struct rdma_options *o, unsigned int sends, unsigned int receives,
		     struct rdma_end *self)
{
	uint64_t bytes = self->service == RDMA_UD && self->size > self->path_mtu ? self->path_mtu : self->size;
	bool requests = rdma_requests(o, self), domain = self->service == RDMA_XRC && !requests;
	unsigned int shared = receives && o->srq ? o->srq : domain ? receives ? receives : 1 : 0;
	struct ibv_qp_init_attr_ex init = {
		.qp_type = qp_type(self->service, requests), .comp_mask = IBV_QP_INIT_ATTR_PD, .pd = d->pd,
		.cap = { .max_send_wr = sends ? sends : 1, .max_recv_wr = receives ? receives : 1, .max_send_sge = 2,
			 .max_recv_sge = 1, .max_inline_data = o->inline_data ? bytes : 0 },
	};

	self->reads.limit = fetch_limit(d, o, requests, self->operation);
	rdma_create_queues(d, o, self, sends, shared ? 0 : receives, shared);
	if (domain)
		open_xrc_domain(d);
	if (shared)
		create_srqs(d, o, shared);
	self->qp = calloc(self->flows, sizeof(*self->qp));
	d->qp = calloc(self->flows, sizeof(*d->qp));
	d->flow_of = calloc(1 << 24, sizeof(*d->flow_of));	/* the kernel gives memory to the pages that are used */
	if (!self->qp || !d->qp || !d->flow_of)
		err(1, "no memory for %u QPs", self->flows);
	for (unsigned int i = 0, k = 0; i < self->flows; i++) {
		k += i == d->queue[k].first + d->queue[k].flows;
		init.srq = rdma_srq_of(d, i);
		adapt_to_xrc(d, &init);
		d->qp[i] = create_qp(d, &d->queue[d->srqs > 1 ? i % d->srqs : k], init);
		to_init(d->qp[i], self);
		d->flow_of[d->qp[i]->qp_num] = i;
		self->qp[i].qpn = d->qp[i]->qp_num;
		self->qp[i].psn = first_psn(o);
		self->qp[i].srqn = srq_number(d);
	}
}

unsigned int rdma_affordable(uint64_t size, unsigned int flows, unsigned int wanted)
{
	uint64_t share = ALL_BUFFERS / flows, room = (share < MAX_BUFFERS ? share : MAX_BUFFERS) / size;

	return wanted < room ? wanted : room < 2 ? 2 : room;
}

void rdma_close(struct rdma_device *d, const struct rdma_end *self)
{
	for (unsigned int i = 0; i < self->flows; i++)
		ibv_destroy_qp(d->qp[i]);
	for (unsigned int i = 0; i < d->srqs; i++)
		ibv_destroy_srq(d->srq[i]);
	if (d->xrcd)
		ibv_close_xrcd(d->xrcd);
	for (unsigned int i = 0; i < d->mrs; i++)
		ibv_dereg_mr(d->mr[i]);
	for (unsigned int i = 0; i < d->queues; i++) {
		ibv_destroy_cq(d->queue[i].cq);
		ibv_destroy_comp_channel(d->queue[i].channel);
	}
	ibv_dealloc_pd(d->pd);
	ibv_close_device(d->context);
}

static struct ibv_ah_attr address_of(const struct rdma_device *d, const struct rdma_end *peer)
{
	struct ibv_ah_attr attr = {
		.is_global = 1, .dlid = peer->lid, .port_num = RDMA_PORT,
		.grh = { .sgid_index = d->gid_index, .hop_limit = HOP_LIMIT },
	};

	memcpy(attr.grh.dgid.raw, peer->gid, sizeof(peer->gid));
	return attr;
}

struct ibv_ah *rdma_peer_ah(struct rdma_device *d, const struct rdma_end *peer)
{
	struct ibv_ah_attr attr = address_of(d, peer);
	struct ibv_ah *ah = ibv_create_ah(d->pd, &attr);

	if (!ah)
		err(1, "address handle (is the other end's address reachable?)");
	return ah;
}

static void to_rtr(struct rdma_device *d, unsigned int flow, const struct rdma_end *self, const struct rdma_end *peer,
		   const struct rdma_qp_address *to)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = __builtin_ctz(self->path_mtu / 128),	/* IBV_MTU_256 is 1 */
		.dest_qp_num = to->qpn,
		.rq_psn = to->psn,
		.ah_attr = address_of(d, peer),
		.max_dest_rd_atomic = rdma_fetches(self->operation) ? self->reads.limit : 1,
		.min_rnr_timer = MIN_RNR_TIMER,
	};
	enum ibv_qp_type type = d->qp[flow]->qp_type;
	int mask = IBV_QP_STATE;

	if (type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (type == IBV_QPT_RC || type == IBV_QPT_XRC_RECV)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	errno = ibv_modify_qp(d->qp[flow], &attr, mask);
	if (errno)
		err(1, "QP to RTR (is the other end's address reachable?)");
}

static void to_rts(struct rdma_device *d, unsigned int flow, const struct rdma_end *self)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .sq_psn = self->qp[flow].psn, .timeout = d->ack_timeout, .retry_cnt = RETRIES,
		.rnr_retry = RETRIES, .max_rd_atomic = rdma_fetches(self->operation) ? self->reads.limit : 1,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (rdma_is_reliable(self->service))
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	errno = ibv_modify_qp(d->qp[flow], &attr, mask);
	if (errno)
		err(1, "QP to RTS");
}

void rdma_connect(struct rdma_device *d, const struct rdma_end *self, const struct rdma_end *peer, unsigned int first,
		  bool requests)
{
	for (unsigned int i = 0; i < peer->flows; i++) {
		to_rtr(d, first + i, self, peer, &peer->qp[i]);
		if (requests)
			to_rts(d, first + i, self);
	}
}
