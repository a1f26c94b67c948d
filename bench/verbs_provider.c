// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "bench/verbs_provider.h"

#define SMALL ((uintptr_t)65536) /* no address below it is read */

/*
 * Each function three times, by how it begins: with a push, with endbr64 before it, with a mov. All then call the function that
 * does the work.
 */
#ifdef __x86_64__
#define BEGINNINGS(name) \
	__asm__(".pushsection .text\n" \
		".type " #name "_push, @function\n" #name "_push:\n\tpush %rbp\n\tcall " #name "\n\tpop %rbp\n\tret\n" \
		".type " #name "_endbr64, @function\n" #name "_endbr64:\n\tendbr64\n\tpush %rbp\n\tcall " #name "\n\tpop %rbp\n\tret\n" \
		".type " #name "_mov, @function\n" #name "_mov:\n\tmov %rdi, %rax\n\tpush %rbp\n\tcall " #name "\n\tpop %rbp\n\tret\n" \
		".popsection\n"); \
	extern char name##_push[], name##_endbr64[], name##_mov[];
#define BEGIN(name, how) \
	((void *)(!strcmp(how, "endbr64") ? name##_endbr64 : !strcmp(how, "mov") ? name##_mov : name##_push))
#else
#define BEGINNINGS(name)
#define BEGIN(name, how) ((void)(how), (void *)(name))
#endif
#define FUNCTION(name) __attribute__((used, visibility("hidden"))) name

static uint64_t sum(const struct ibv_sge *list, int n)
{
	uint64_t bytes = 0;

	for (int i = 0; i < n; i++)
		bytes += list[i].length;
	return bytes;
}

static void complete(struct provider_cq *cq, struct provider_qp *qp, unsigned int freed, struct ibv_wc wc)
{
	pthread_mutex_lock(&cq->lock);
	cq->wc[cq->tail % (2 * PROVIDER_DEPTH)] = wc;
	cq->freed[cq->tail % (2 * PROVIDER_DEPTH)] = freed;
	cq->qp[cq->tail % (2 * PROVIDER_DEPTH)] = qp;
	cq->tail++;
	pthread_mutex_unlock(&cq->lock);
}

static enum ibv_wc_opcode wc_opcode(enum ibv_wr_opcode opcode)
{
	static const enum ibv_wc_opcode of[] = {
		[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE, [IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
		[IBV_WR_SEND] = IBV_WC_SEND, [IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND, [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
		[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP, [IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
	};

	return opcode < sizeof(of) / sizeof(*of) ? of[opcode] : IBV_WC_SEND;
}

/* One request that was taken. */
static void take(struct provider_qp *qp, const struct ibv_send_wr *wr, uint64_t bytes, int sges)
{
	struct provider_cq *cq = (struct provider_cq *)qp->x.qp_base.send_cq;
	int is_signalled = qp->sig_all || wr->send_flags & IBV_SEND_SIGNALED;
	struct ibv_wc wc = { .wr_id = wr->wr_id, .qp_num = qp->x.qp_base.qp_num, .opcode = wc_opcode(wr->opcode) };
	struct truth *t = &qp->truth;

	__atomic_fetch_add(&qp->used, 1, __ATOMIC_RELAXED);
	qp->unsignalled++;
	t->wrs++;
	t->opcode[wr->opcode & 15]++;
	t->bytes[wr->opcode & 15] += bytes;
	t->sges += sges;
	t->signalled += is_signalled;
	t->inlined += !!(wr->send_flags & IBV_SEND_INLINE);
	t->fenced += !!(wr->send_flags & IBV_SEND_FENCE);
	t->solicited += !!(wr->send_flags & IBV_SEND_SOLICITED);
	if (qp->failed)
		wc.status = IBV_WC_WR_FLUSH_ERR;
	else if (qp->fail)
		wc.status = qp->fail, wc.vendor_err = 0x89, qp->failed = 1;
	if (wc.status)
		wc.opcode = 0;
	if (!is_signalled && !wc.status)
		return;
	complete(cq, qp, qp->unsignalled, wc);
	qp->unsignalled = 0;
}

int FUNCTION(provider_post_send)(struct ibv_qp *base, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct provider_qp *qp = (struct provider_qp *)base;
	struct truth *t = &qp->truth;
	uint64_t count = 0;
	int error = 0;

	if ((uintptr_t)base < SMALL)
		return EINVAL;
	pthread_mutex_lock(&qp->lock);
	t->posts++;
	for (; wr && !error; wr = wr->next) {
		error = (uintptr_t)wr < SMALL ? EINVAL : qp->used == qp->depth ? ENOMEM : 0;
		if (error)
			break;
		take(qp, wr, sum(wr->sg_list, wr->num_sge), wr->num_sge);
		count++;
	}
	if (error) {
		t->posts_refused++;
		if ((uintptr_t)bad >= SMALL)
			*bad = wr;
		for (uint64_t i = 0; (uintptr_t)wr >= SMALL && i < PROVIDER_DEPTH; wr = wr->next, i++)
			t->wrs_refused++;
	}
	if (count > t->list_most)
		t->list_most = count;
	pthread_mutex_unlock(&qp->lock);
	return error;
}
BEGINNINGS(provider_post_send)

int FUNCTION(provider_post_recv)(struct ibv_qp *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct provider_qp *qp = (struct provider_qp *)base;

	if ((uintptr_t)base < SMALL)
		return EINVAL;
	qp->truth.recv_posts++;
	for (; wr; wr = wr->next) {
		if (qp->recv_used == qp->recv_depth) {
			*bad = wr;
			for (; wr; wr = wr->next)
				qp->truth.recv_refused++;
			return ENOMEM;
		}
		qp->recv_used++;
		qp->truth.recv_wrs++;
		qp->truth.recv_bytes += sum(wr->sg_list, wr->num_sge);
	}
	return 0;
}
BEGINNINGS(provider_post_recv)

int FUNCTION(provider_post_srq_recv)(struct ibv_srq *base, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct provider_srq *srq = (struct provider_srq *)base;

	srq->posts++;
	for (; wr; wr = wr->next) {
		if (srq->used == srq->depth) {
			*bad = wr;
			for (; wr; wr = wr->next)
				srq->refused++;
			return ENOMEM;
		}
		srq->used++;
		srq->wrs++;
		srq->bytes += sum(wr->sg_list, wr->num_sge);
	}
	return 0;
}
BEGINNINGS(provider_post_srq_recv)

/* Takes the oldest completion; the lock is held. */
static struct ibv_wc *reap(struct provider_cq *cq)
{
	unsigned int at = cq->head % (2 * PROVIDER_DEPTH);
	struct ibv_wc *wc = &cq->wc[at];
	struct provider_qp *qp = cq->qp[at];

	if (cq->head == cq->tail)
		return NULL;
	cq->head++;
	cq->completions++;
	__atomic_fetch_add(&qp->truth.status[wc->status & 31], 1, __ATOMIC_RELAXED);
	if (!cq->freed[at]) {
		qp->truth.recv_completions++;
		if (wc->status)
			return wc;
		qp->truth.received[wc->opcode & 1]++;
		qp->truth.received_bytes[wc->opcode & 1] += wc->byte_len;
		return wc;
	}
	__atomic_fetch_sub(&qp->used, cq->freed[at], __ATOMIC_RELAXED);
	__atomic_fetch_add(&qp->truth.completions, 1, __ATOMIC_RELAXED);
	if (!wc->status)
		__atomic_fetch_add(&qp->truth.done[wc->opcode & 15], 1, __ATOMIC_RELAXED);
	return wc;
}

int FUNCTION(provider_poll_cq)(struct ibv_cq *base, int room, struct ibv_wc *wc)
{
	struct provider_cq *cq = (struct provider_cq *)base;
	struct ibv_wc *one;
	int count = 0;

	if ((uintptr_t)base < SMALL)
		return -EINVAL;
	pthread_mutex_lock(&cq->lock);
	cq->polls++;
	while (count < room && (one = reap(cq)))
		wc[count++] = *one;
	cq->empty += !count;
	pthread_mutex_unlock(&cq->lock);
	return count;
}
BEGINNINGS(provider_poll_cq)

int FUNCTION(provider_req_notify_cq)(struct ibv_cq *base, int solicited_only)
{
	(void)solicited_only;
	((struct provider_cq *)base)->notified++;
	return 0;
}
BEGINNINGS(provider_req_notify_cq)

/* ---- extended QPs ---- */

void FUNCTION(provider_wr_start)(struct ibv_qp_ex *x)
{
	struct provider_qp *qp = (struct provider_qp *)x;

	pthread_mutex_lock(&qp->lock);
	qp->pending = 0;
}
BEGINNINGS(provider_wr_start)

static void pend(struct ibv_qp_ex *x, enum ibv_wr_opcode opcode)
{
	struct provider_qp *qp = (struct provider_qp *)x;

	qp->wr[qp->pending] = (struct ibv_send_wr){ .wr_id = x->wr_id, .opcode = opcode, .send_flags = x->wr_flags };
	qp->length[qp->pending++] = 0;
}

void FUNCTION(provider_wr_write)(struct ibv_qp_ex *x, uint32_t rkey, uint64_t remote_addr)
{
	(void)rkey, (void)remote_addr;
	pend(x, IBV_WR_RDMA_WRITE);
}
BEGINNINGS(provider_wr_write)

void FUNCTION(provider_wr_read)(struct ibv_qp_ex *x, uint32_t rkey, uint64_t remote_addr)
{
	(void)rkey, (void)remote_addr;
	pend(x, IBV_WR_RDMA_READ);
}
BEGINNINGS(provider_wr_read)

void FUNCTION(provider_wr_send)(struct ibv_qp_ex *x)
{
	pend(x, IBV_WR_SEND);
}
BEGINNINGS(provider_wr_send)

static void add_data(struct ibv_qp_ex *x, uint64_t bytes, int sges, int inlined)
{
	struct provider_qp *qp = (struct provider_qp *)x;

	qp->length[qp->pending - 1] += bytes;
	qp->wr[qp->pending - 1].num_sge += sges;
	if (inlined)
		qp->wr[qp->pending - 1].send_flags |= IBV_SEND_INLINE;
}

void FUNCTION(provider_wr_set_sge)(struct ibv_qp_ex *x, uint32_t lkey, uint64_t addr, uint32_t length)
{
	(void)lkey, (void)addr;
	add_data(x, length, 1, 0);
}
BEGINNINGS(provider_wr_set_sge)

void FUNCTION(provider_wr_set_sge_list)(struct ibv_qp_ex *x, size_t n, const struct ibv_sge *list)
{
	add_data(x, sum(list, n), n, 0);
}
BEGINNINGS(provider_wr_set_sge_list)

void FUNCTION(provider_wr_set_inline)(struct ibv_qp_ex *x, void *data, size_t length)
{
	(void)data;
	add_data(x, length, 1, 1);
}
BEGINNINGS(provider_wr_set_inline)

void FUNCTION(provider_wr_set_inline_list)(struct ibv_qp_ex *x, size_t n, const struct ibv_data_buf *list)
{
	for (size_t i = 0; i < n; i++)
		add_data(x, list[i].length, 1, 1);
}
BEGINNINGS(provider_wr_set_inline_list)

int FUNCTION(provider_wr_complete)(struct ibv_qp_ex *x)
{
	struct provider_qp *qp = (struct provider_qp *)x;
	int error = qp->used + qp->pending > qp->depth ? ENOMEM : 0;

	qp->truth.posts++;
	if (error) {
		qp->truth.posts_refused++;
		qp->truth.wrs_refused += qp->pending;
	} else {
		for (unsigned int i = 0; i < qp->pending; i++)
			take(qp, &qp->wr[i], qp->length[i], qp->wr[i].num_sge);
		if (qp->pending > qp->truth.list_most)
			qp->truth.list_most = qp->pending;
	}
	qp->pending = 0;
	pthread_mutex_unlock(&qp->lock);
	return error;
}
BEGINNINGS(provider_wr_complete)

void FUNCTION(provider_wr_abort)(struct ibv_qp_ex *x)
{
	struct provider_qp *qp = (struct provider_qp *)x;

	qp->truth.aborts++;
	qp->pending = 0;
	pthread_mutex_unlock(&qp->lock);
}
BEGINNINGS(provider_wr_abort)

/* ---- extended CQs ---- */

static int present(struct provider_cq *cq)
{
	cq->present = reap(cq);
	if (!cq->present)
		return ENOENT;
	cq->x.status = cq->present->status;
	cq->x.wr_id = cq->present->wr_id;
	return 0;
}

int FUNCTION(provider_start_poll)(struct ibv_cq_ex *x, struct ibv_poll_cq_attr *attributes)
{
	struct provider_cq *cq = (struct provider_cq *)x;
	int none;

	(void)attributes;
	cq->polls++;
	none = present(cq);
	cq->empty += !!none;
	return none;
}
BEGINNINGS(provider_start_poll)

int FUNCTION(provider_next_poll)(struct ibv_cq_ex *x)
{
	return present((struct provider_cq *)x);
}
BEGINNINGS(provider_next_poll)

void FUNCTION(provider_end_poll)(struct ibv_cq_ex *x)
{
	((struct provider_cq *)x)->present = NULL;
}
BEGINNINGS(provider_end_poll)

enum ibv_wc_opcode FUNCTION(provider_read_opcode)(struct ibv_cq_ex *x)
{
	return ((struct provider_cq *)x)->present->opcode;
}
BEGINNINGS(provider_read_opcode)

uint32_t FUNCTION(provider_read_vendor_err)(struct ibv_cq_ex *x)
{
	return ((struct provider_cq *)x)->present->vendor_err;
}
BEGINNINGS(provider_read_vendor_err)

uint32_t FUNCTION(provider_read_byte_len)(struct ibv_cq_ex *x)
{
	return ((struct provider_cq *)x)->present->byte_len;
}
BEGINNINGS(provider_read_byte_len)

uint32_t FUNCTION(provider_read_qp_num)(struct ibv_cq_ex *x)
{
	return ((struct provider_cq *)x)->present->qp_num;
}
BEGINNINGS(provider_read_qp_num)

/* ---- objects ---- */

struct ibv_context *provider_open(const char *how, int cmd_fd)
{
	struct ibv_context *context = calloc(1, sizeof(*context));
	struct ibv_device *device = calloc(1, sizeof(*device));

	strcpy(device->name, "standin0");
	context->device = device;
	context->cmd_fd = cmd_fd;
	context->ops.post_send = BEGIN(provider_post_send, how);
	context->ops.post_recv = BEGIN(provider_post_recv, how);
	context->ops.post_srq_recv = BEGIN(provider_post_srq_recv, how);
	context->ops.poll_cq = BEGIN(provider_poll_cq, how);
	context->ops.req_notify_cq = BEGIN(provider_req_notify_cq, how);
	return context;
}

struct provider_cq *provider_cq(struct ibv_context *context, const char *how)
{
	struct provider_cq *cq = calloc(1, sizeof(*cq));

	pthread_mutex_init(&cq->lock, NULL);
	cq->x.context = context;
	cq->x.start_poll = BEGIN(provider_start_poll, how);
	cq->x.next_poll = BEGIN(provider_next_poll, how);
	cq->x.end_poll = BEGIN(provider_end_poll, how);
	cq->x.read_opcode = BEGIN(provider_read_opcode, how);
	cq->x.read_vendor_err = BEGIN(provider_read_vendor_err, how);
	cq->x.read_byte_len = BEGIN(provider_read_byte_len, how);
	cq->x.read_qp_num = BEGIN(provider_read_qp_num, how);
	return cq;
}

struct provider_qp *provider_qp(struct ibv_context *context, const char *how, struct provider_cq *send, struct provider_cq *recv,
				uint32_t qpn)
{
	struct provider_qp *qp = calloc(1, sizeof(*qp));
	struct ibv_qp *base = &qp->x.qp_base;

	pthread_mutex_init(&qp->lock, NULL);
	qp->depth = qp->recv_depth = 128;
	base->context = context;
	base->send_cq = (struct ibv_cq *)send;
	base->recv_cq = (struct ibv_cq *)recv;
	base->qp_num = qpn;
	base->state = IBV_QPS_RTS;
	base->qp_type = IBV_QPT_RC;
	qp->x.wr_rdma_write = BEGIN(provider_wr_write, how);
	qp->x.wr_rdma_read = BEGIN(provider_wr_read, how);
	qp->x.wr_send = BEGIN(provider_wr_send, how);
	qp->x.wr_set_sge = BEGIN(provider_wr_set_sge, how);
	qp->x.wr_set_sge_list = BEGIN(provider_wr_set_sge_list, how);
	qp->x.wr_set_inline_data = BEGIN(provider_wr_set_inline, how);
	qp->x.wr_set_inline_data_list = BEGIN(provider_wr_set_inline_list, how);
	qp->x.wr_start = BEGIN(provider_wr_start, how);
	qp->x.wr_complete = BEGIN(provider_wr_complete, how);
	qp->x.wr_abort = BEGIN(provider_wr_abort, how);
	return qp;
}

struct provider_srq *provider_srq(struct ibv_context *context, unsigned int depth)
{
	struct provider_srq *srq = calloc(1, sizeof(*srq));

	srq->srq.context = context;
	srq->depth = depth;
	return srq;
}

void provider_deliver(struct provider_qp *qp, struct provider_srq *srq, uint32_t bytes, int with_imm)
{
	struct ibv_wc wc = {
		.wr_id = 0x7ec, .opcode = with_imm ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV, .byte_len = bytes,
		.qp_num = qp->x.qp_base.qp_num,
	};

	if (srq)
		srq->used--;
	else
		qp->recv_used--;
	complete((struct provider_cq *)qp->x.qp_base.recv_cq, qp, 0, wc);
}
