// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "lib/clock.h"
#include "rxe_tests/rdma_stream/rdma_stream.h"

#define HOP_LIMIT	64
#define MIN_RNR_TIMER	12	/* 0.64 ms */
#define RETRIES		7	/* for RNR: without limit */
#define MAX_BUFFERS	(64u << 20)	/* bytes */

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

static enum ibv_qp_type qp_type(enum rdma_service service)
{
	return service == RDMA_UD ? IBV_QPT_UD : service == RDMA_UC ? IBV_QPT_UC : IBV_QPT_RC;
}

static enum ibv_mtu mtu_enum(unsigned int bytes)
{
	enum ibv_mtu mtu = IBV_MTU_256;

	while (mtu < IBV_MTU_4096 && 128u << mtu < bytes)
		mtu++;
	return mtu;
}

static void query_port(struct rdma_device *d, const struct rdma_options *o, struct rdma_end *self)
{
	struct ibv_port_attr port;
	unsigned int active;

	if (ibv_query_port(d->context, RDMA_PORT, &port))
		err(1, "port %d of %s", RDMA_PORT, ibv_get_device_name(d->context->device));
	if (port.state != IBV_PORT_ACTIVE)
		errx(1, "%s is not active: is its interface up?", ibv_get_device_name(d->context->device));
	active = 128u << port.active_mtu;
	if (o->path_mtu > active)
		errx(1, "--path-mtu %u: the port has %u (a larger MTU of its interface makes it larger)", o->path_mtu,
		     active);
	if (o->common.send && o->service != RDMA_UD && o->common.size > port.max_msg_sz)
		usage_error("--size %llu: the port takes messages up to %u bytes", (unsigned long long)o->common.size,
			    port.max_msg_sz);
	self->path_mtu = o->path_mtu ? o->path_mtu : active;
	self->lid = port.lid;
	d->gid_index = choose_gid(d->context, &port, o->gid_index, o->peer_gid, self->gid);
}

static struct ibv_qp *create_qp(struct rdma_device *d, unsigned int sends, unsigned int receives, const struct rdma_end *self)
{
	struct ibv_qp_init_attr init = {
		.send_cq = d->cq, .recv_cq = d->cq, .qp_type = qp_type(self->service),
		.cap = { .max_send_wr = sends ? sends : 1, .max_recv_wr = receives ? receives : 1,
			 .max_send_sge = 2, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = RDMA_PORT };
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	struct ibv_qp *qp = ibv_create_qp(d->pd, &init);

	if (!qp)
		err(1, "QP with %u sends and %u receives", init.cap.max_send_wr, init.cap.max_recv_wr);
	if (self->service == RDMA_UD) {
		attr.qkey = RDMA_QKEY;
		mask |= IBV_QP_QKEY;
	} else {
		attr.qp_access_flags = self->operation == RDMA_READ ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
		mask |= IBV_QP_ACCESS_FLAGS;
	}
	errno = ibv_modify_qp(qp, &attr, mask);
	if (errno)
		err(1, "QP to INIT");
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

/* The attributes of a QP have 8 bits for it. */
static unsigned int read_limit(const struct rdma_device *d, bool send)
{
	struct ibv_device_attr attr;
	int limit;

	if (ibv_query_device(d->context, &attr))
		err(1, "attributes of %s", ibv_get_device_name(d->context->device));
	limit = send ? attr.max_qp_rd_atom : attr.max_qp_init_rd_atom;
	return limit < UINT8_MAX ? limit : UINT8_MAX;
}

void rdma_open(struct rdma_device *d, const struct rdma_options *o, struct rdma_end *self)
{
	d->context = open_device(o->device);
	query_port(d, o, self);
	self->reads.limit = read_limit(d, o->common.send);
	d->ack_timeout = o->ack_timeout;
	d->poll = o->poll;
	d->pd = ibv_alloc_pd(d->context);
	d->channel = ibv_create_comp_channel(d->context);
	if (!d->pd || !d->channel)
		err(1, "protection domain, completion channel");
	fcntl(d->channel->fd, F_SETFL, fcntl(d->channel->fd, F_GETFL) | O_NONBLOCK);
}

void rdma_create_qps(struct rdma_device *d, const struct rdma_options *o, unsigned int sends, unsigned int receives,
		     struct rdma_end *self)
{
	unsigned int completions = self->flows * (sends + receives);

	d->cq = ibv_create_cq(d->context, completions, NULL, d->channel, 0);
	if (!d->cq)
		err(1, "completion queue of %u entries (fewer --flows, --window or --depth)", completions);
	self->qp = calloc(self->flows, sizeof(*self->qp));
	d->qp = calloc(self->flows, sizeof(*d->qp));
	if (!self->qp || !d->qp)
		err(1, "no memory for %u QPs", self->flows);
	for (unsigned int i = 0; i < self->flows; i++) {
		d->qp[i] = create_qp(d, sends, receives, self);
		self->qp[i].qpn = d->qp[i]->qp_num;
		self->qp[i].psn = first_psn(o);
	}
}

unsigned int rdma_buffers(uint64_t size, unsigned int wanted)
{
	uint64_t room = MAX_BUFFERS / size;

	return wanted < room ? wanted : room < 2 ? 2 : room;
}

struct ibv_mr *rdma_register(struct rdma_device *d, size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	struct ibv_mr *mr;

	if (at == MAP_FAILED)
		err(1, "buffers of %zu bytes", bytes);
	mr = ibv_reg_mr(d->pd, at, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (!mr)
		err(1, "registering %zu bytes (ulimit -l?)", bytes);
	d->mr[!!d->mr[0]] = mr;
	return mr;
}

void rdma_close(struct rdma_device *d, const struct rdma_end *self)
{
	for (unsigned int i = 0; i < self->flows; i++)
		ibv_destroy_qp(d->qp[i]);
	for (int i = 0; i < 2 && d->mr[i]; i++)
		ibv_dereg_mr(d->mr[i]);
	ibv_destroy_cq(d->cq);
	ibv_destroy_comp_channel(d->channel);
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

static void to_rtr(struct rdma_device *d, unsigned int flow, const struct rdma_end *self, const struct rdma_end *peer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu_enum(self->path_mtu),
		.dest_qp_num = peer->qp[flow].qpn,
		.rq_psn = peer->qp[flow].psn,
		.ah_attr = address_of(d, peer),
		.max_dest_rd_atomic = self->operation == RDMA_READ ? self->reads.limit : 1,
		.min_rnr_timer = MIN_RNR_TIMER,
	};
	int mask = IBV_QP_STATE;

	if (self->service != RDMA_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	if (self->service == RDMA_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	errno = ibv_modify_qp(d->qp[flow], &attr, mask);
	if (errno)
		err(1, "QP to RTR (is the other end's address reachable?)");
}

static void to_rts(struct rdma_device *d, unsigned int flow, const struct rdma_end *self)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .sq_psn = self->qp[flow].psn, .timeout = d->ack_timeout, .retry_cnt = RETRIES,
		.rnr_retry = RETRIES, .max_rd_atomic = self->operation == RDMA_READ ? self->reads.limit : 1,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (self->service == RDMA_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	errno = ibv_modify_qp(d->qp[flow], &attr, mask);
	if (errno)
		err(1, "QP to RTS");
}

void rdma_connect(struct rdma_device *d, const struct rdma_end *self, const struct rdma_end *peer, bool requests)
{
	for (unsigned int i = 0; i < self->flows; i++) {
		to_rtr(d, i, self, peer);
		if (requests)
			to_rts(d, i, self);
	}
}

static void sleep_for_event(struct rdma_device *d, uint64_t timeout_ns, int fd)
{
	struct timespec timeout = { timeout_ns / NSEC_PER_SEC, timeout_ns % NSEC_PER_SEC };
	struct pollfd p[] = { { .fd = d->channel->fd, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
	unsigned int events = 0;
	struct ibv_cq *cq;
	void *context;

	ppoll(p, 2, &timeout, NULL);
	while (!ibv_get_cq_event(d->channel, &cq, &context))
		events++;
	if (events)
		ibv_ack_cq_events(d->cq, events);
}

/* Armed before the second poll, so that a completion in between ends the sleep. */
int rdma_completions(struct rdma_device *d, struct ibv_wc *wc, uint64_t timeout_ns, int fd)
{
	int n = ibv_poll_cq(d->cq, RDMA_CQ_BATCH, wc);

	if (n || !timeout_ns || d->poll)
		return n;
	if (ibv_req_notify_cq(d->cq, 0))
		return -1;
	n = ibv_poll_cq(d->cq, RDMA_CQ_BATCH, wc);
	if (n)
		return n;
	sleep_for_event(d, timeout_ns, fd);
	return ibv_poll_cq(d->cq, RDMA_CQ_BATCH, wc);
}
