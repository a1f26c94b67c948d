// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rdma_stream's XRC with a made-up device, since none was at hand: what verbs are asked for is what their man pages, rdma-core's
 * libibverbs/examples/xsrq_pingpong.c and the kernel's table of QP states ask for, and messages come to the shared queue that
 * they name. It shows no device's behaviour.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "rxe_tests/rdma_stream/rdma_stream.h"
#include "tests/unit/cmocka_includes.h"

#undef ibv_reg_mr

#define FLOWS	3
#define SIZE	3000
#define MESSAGES 20	/* fewer than RDMA_CQ_BATCH */
#define SRQN	0x123456
#define FIRST_QPN 0x800
#define KEY	7

/* Nothing is freed, as in a program that ends. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

/* ---- the device ---- */

static unsigned int capabilities, domains, qps, receiving_qps, srqs;	/* IBV_DEVICE_...; how many there are */
static struct ibv_qp *qp_of[64];		/* [QPN - FIRST_QPN] */
static uint32_t dest_of[64];
static struct { uint64_t wr_id; struct ibv_sge sge; } posted[256];	/* to the shared queue */
static unsigned int first_posted, next_posted;

static struct completions {
	struct ibv_cq cq;
	struct ibv_wc wc[256];
	unsigned int first, next;
} *completions_of(struct ibv_cq *cq)
{
	return (struct completions *)cq;
}

static void complete(struct ibv_cq *cq, struct ibv_wc wc)
{
	completions_of(cq)->wc[completions_of(cq)->next++] = wc;
}

static int poll_cq(struct ibv_cq *cq, int entries, struct ibv_wc *wc)
{
	struct completions *c = completions_of(cq);
	int n = 0;

	while (n < entries && c->first < c->next)
		wc[n++] = c->wc[c->first++];
	return n;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)srq, (void)bad;
	posted[next_posted].wr_id = wr->wr_id;
	if (wr->num_sge)
		posted[next_posted].sge = *wr->sg_list;
	next_posted++;
	return 0;
}

static void gather(char *to, const struct ibv_send_wr *wr)
{
	for (int i = 0; i < wr->num_sge; to += wr->sg_list[i++].length)
		memcpy(to, (void *)(uintptr_t)wr->sg_list[i].addr, wr->sg_list[i].length);
}

static struct ibv_srq the_srq;
static struct ibv_cq *srq_cq;

/* A message consumes the next receive of the queue that it names; a WRITE without immediate data consumes none. */
static void carry(struct ibv_qp *qp, const struct ibv_send_wr *wr)
{
	bool write = wr->opcode == IBV_WR_RDMA_WRITE || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS, .opcode = IBV_WC_RECV, .imm_data = wr->imm_data, .byte_len = SIZE };

	assert_int_equal(qp->qp_type, IBV_QPT_XRC_SEND);
	wc.qp_num = dest_of[qp->qp_num - FIRST_QPN];
	assert_int_equal(qp_of[wc.qp_num - FIRST_QPN]->qp_type, IBV_QPT_XRC_RECV);
	assert_int_equal(dest_of[wc.qp_num - FIRST_QPN], qp->qp_num);
	assert_int_equal(wr->qp_type.xrc.remote_srqn, SRQN);
	if (write) {
		assert_int_equal(wr->wr.rdma.rkey, KEY);
		gather((char *)(uintptr_t)wr->wr.rdma.remote_addr, wr);
	}
	if (wr->opcode == IBV_WR_RDMA_WRITE)
		return;
	assert_true(first_posted < next_posted);
	if (!write)
		gather((char *)(uintptr_t)posted[first_posted].sge.addr, wr);
	wc.wr_id = posted[first_posted++].wr_id;
	complete(srq_cq, wc);
}

/* Senders are threads. */
static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	(void)bad;
	for (; wr; wr = wr->next) {
		pthread_mutex_lock(&lock);
		carry(qp, wr);
		pthread_mutex_unlock(&lock);
		if (wr->send_flags & IBV_SEND_SIGNALED)
			complete(qp->send_cq, (struct ibv_wc){ .status = IBV_WC_SUCCESS, .wr_id = wr->wr_id, .qp_num = qp->qp_num });
	}
	return 0;
}

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *init)
{
	static struct ibv_xrcd domain;

	assert_int_equal(init->comp_mask, IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS);
	assert_int_equal(init->fd, -1);	/* then O_CREAT has to be set: ibv_open_xrcd(3) */
	assert_int_equal(init->oflags, O_CREAT);
	domain.context = context;
	domains++;
	return &domain;
}

static int close_xrcd(struct ibv_xrcd *domain)
{
	(void)domain;
	assert_true(!srqs && !receiving_qps);	/* else EBUSY */
	domains--;
	return 0;
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *init)
{
	assert_int_equal(init->comp_mask, IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
		IBV_SRQ_INIT_ATTR_CQ);
	assert_int_equal(init->srq_type, IBV_SRQT_XRC);
	assert_true(init->pd && init->xrcd && init->cq && domains == 1 && init->attr.max_wr && init->attr.max_sge == 1);
	the_srq.context = context;
	srq_cq = init->cq;
	srqs++;
	return &the_srq;
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
	assert_ptr_equal(srq, &the_srq);
	*number = SRQN;
	return 0;
}

static struct ibv_qp *make_qp(enum ibv_qp_type type, struct ibv_context *context, struct ibv_cq *send_cq)
{
	struct ibv_qp *qp = calloc(1, sizeof(*qp));

	*qp = (struct ibv_qp){ .context = context, .qp_type = type, .send_cq = send_cq, .qp_num = FIRST_QPN + qps };
	qp_of[qps++] = qp;
	receiving_qps += type == IBV_QPT_XRC_RECV;
	return qp;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *init)
{
	assert_int_equal(init->comp_mask, IBV_QP_INIT_ATTR_XRCD);
	assert_int_equal(init->qp_type, IBV_QPT_XRC_RECV);
	assert_true(init->xrcd && !init->srq && !init->cap.max_send_wr && !init->cap.max_recv_wr);
	return make_qp(init->qp_type, context, NULL);
}

static struct verbs_context device = {
	.get_srq_num = get_srq_num, .create_srq_ex = create_srq_ex, .open_xrcd = open_xrcd, .close_xrcd = close_xrcd,
	.create_qp_ex = create_qp_ex, .sz = sizeof(device),
	.context = { .abi_compat = __VERBS_ABI_IS_EXTENDED,
		     .ops = { .poll_cq = poll_cq, .post_srq_recv = post_srq_recv, .post_send = post_send } },
};

/* With a PD only, ibv_create_qp_ex() is ibv_create_qp(). */
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
	const struct ibv_qp_init_attr *init = qp_init_attr;

	assert_int_equal(init->qp_type, IBV_QPT_XRC_SEND);
	assert_true(pd && init->send_cq && !init->srq && init->cap.max_send_wr && !init->cap.max_recv_wr);
	return make_qp(init->qp_type, &device.context, init->send_cq);
}

/* drivers/infiniband/core/verbs.c, qp_state_table: XRC_INI and XRC_TGT. ib_modify_qp_is_ok() wants all of them. */
static const struct {
	enum ibv_qp_type type;
	enum ibv_qp_state state;
	int required;
} transitions[] = {
	{ IBV_QPT_XRC_SEND, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
	{ IBV_QPT_XRC_RECV, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS },
	{ IBV_QPT_XRC_SEND, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN },
	{ IBV_QPT_XRC_RECV, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER },
	{ IBV_QPT_XRC_SEND, IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	  IBV_QP_MAX_QP_RD_ATOMIC },
};

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	for (size_t i = 0; i < sizeof(transitions) / sizeof(*transitions); i++) {
		if (transitions[i].type != qp->qp_type || transitions[i].state != attr->qp_state)
			continue;
		assert_int_equal(mask, transitions[i].required | IBV_QP_STATE);
		assert_int_equal(attr->qp_state, qp->state + 1);
		qp->state = attr->qp_state;
		if (mask & IBV_QP_DEST_QPN)
			dest_of[qp->qp_num - FIRST_QPN] = attr->dest_qp_num;
		return 0;
	}
	fail_msg("QP of type %d to state %d", qp->qp_type, attr->qp_state);
	return EINVAL;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	*attr = (struct ibv_device_attr){ .device_cap_flags = capabilities, .max_qp_init_rd_atom = 1, .max_qp_rd_atom = 1 };
	return 0;
}

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	static struct ibv_comp_channel channel = { .fd = -1 };

	(void)context;
	return &channel;
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
			     int comp_vector)
{
	struct completions *c = calloc(1, sizeof(*c));

	(void)cqe, (void)cq_context, (void)channel, (void)comp_vector;
	c->cq.context = context;
	return &c->cq;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
	static struct ibv_mr mr = { .lkey = KEY, .rkey = KEY };

	(void)pd, (void)addr, (void)length, (void)access;
	return &mr;
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access)
{
	(void)iova;
	return ibv_reg_mr(pd, addr, length, access);
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	qps--;
	receiving_qps -= qp->qp_type == IBV_QPT_XRC_RECV;
	return 0;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	(void)srq;
	assert_int_equal(receiving_qps, 0);
	srqs--;
	return 0;
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	assert_int_equal(srqs, 0);
	return 0;
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	(void)channel;
	return 0;
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
	(void)mr;
	return 0;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	(void)pd;
	assert_int_equal(domains, 0);
	return 0;
}

int ibv_close_device(struct ibv_context *context)
{
	(void)context;
	return 0;
}

/* ---- the ends ---- */

struct test_end {
	struct rdma_options o;
	struct rdma_device d;
	struct rdma_end self;
};

static struct ibv_pd pd;

static struct test_end *make_end(bool send, enum rdma_operation operation, unsigned int threads)
{
	struct test_end *e = calloc(1, sizeof(*e));

	e->o = (struct rdma_options){
		.common = { .send = send, .size = SIZE, .messages = MESSAGES, .flows = FLOWS, .verify = 1 },
		.service = RDMA_XRC, .operation = operation, .window = 16, .depth = 32, .threads = threads, .poll = true,
		.link = 1, .signal = 1, .psn = 5,
	};
	e->d.context = &device.context;
	e->d.pd = &pd;
	e->self = (struct rdma_end){ .service = RDMA_XRC, .operation = operation, .size = SIZE, .path_mtu = 1024, .flows = FLOWS,
				     .filler = send };
	return e;
}

static int take_all(struct rdma_responder *p)
{
	struct ibv_wc wc[RDMA_CQ_BATCH];
	int n = rdma_completions(p->d->queue, wc, 0, -1);

	for (int i = 0; i < n; i++) {
		responder_take(p, &wc[i], i);
		responder_post_again(p, &wc[i]);
		assert_null(p->error);
	}
	return n;
}

/* All messages of an operation, from three QPs to one queue of receives. */
static void carry_messages(enum rdma_operation operation)
{
	struct test_end *a = make_end(true, operation, 2), *b = make_end(false, operation, 2);
	bool silent = operation == RDMA_WRITE;
	struct rdma_responder p = { .d = &b->d, .o = &b->o, .self = &b->self, .peer = &a->self, .r = receiver_new(&b->o.common) };
	struct rdma_requester q = { .d = &a->d, .o = &a->o, .self = &a->self, .peer = &b->self, .options = &a->o.common,
				    .window = a->o.window, .wake_fd = -1 };

	first_posted = next_posted = 0;
	rdma_create_qps(&a->d, &a->o, a->o.window, 0, &a->self);
	p.r->message_size = SIZE;
	responder_make(&p, 0);
	assert_int_equal(a->d.queues, 2);
	assert_int_equal(b->d.queues, 1);	/* the shared queue completes there */
	assert_ptr_equal(srq_cq, b->d.queue->cq);
	assert_int_equal(next_posted, silent ? 0 : b->o.depth);
	for (unsigned int i = 0; i < FLOWS; i++) {
		assert_true(!a->self.qp[i].srqn && b->self.qp[i].srqn == SRQN);
		b->self.qp[i].flow = i;	/* as rdma_end_parse() has it */
	}
	rdma_connect(&a->d, &a->self, &b->self, 0, true);
	rdma_connect(&b->d, &b->self, &a->self, 0, false);
	requester_register(&q);
	requester_run(&q);
	assert_null(q.error);
	assert_int_equal(q.poster->s->messages, MESSAGES);
	assert_int_equal(take_all(&p), silent ? 0 : MESSAGES);
	for (unsigned int i = 0; i < FLOWS && silent; i++) {
		struct rdma_totals sent = { .messages = q.flow[i].posted, .completed = q.flow[i].completed };

		responder_verify_memory(&p, i, &sent);
	}
	assert_int_equal(p.r->messages, silent ? 0 : MESSAGES);
	assert_int_equal(p.r->checked, MESSAGES);
	assert_int_equal(p.r->wrong, 0);
	rdma_close(&b->d, &b->self);
	rdma_close(&a->d, &a->self);
	assert_true(!qps && !srqs && !domains);
}

static void test_messages(void **state)
{
	(void)state;
	carry_messages(RDMA_WRITE_IMM);
	carry_messages(RDMA_WRITE);
	carry_messages(RDMA_SEND);
	carry_messages(RDMA_SEND_IMM);
}

/* READ: it is the receiver that posts. */
static void test_read_turns_the_ends_round(void **state)
{
	struct test_end *a = make_end(true, RDMA_READ, 1), *b = make_end(false, RDMA_READ, 1);

	(void)state;
	rdma_create_qps(&a->d, &a->o, a->o.window, 0, &a->self);
	rdma_create_qps(&b->d, &b->o, b->o.window, 0, &b->self);
	for (unsigned int i = 0; i < FLOWS; i++) {
		assert_int_equal(a->d.qp[i]->qp_type, IBV_QPT_XRC_RECV);
		assert_int_equal(b->d.qp[i]->qp_type, IBV_QPT_XRC_SEND);
		assert_true(a->self.qp[i].srqn == SRQN && !b->self.qp[i].srqn);
	}
	rdma_close(&a->d, &a->self);
	rdma_close(&b->d, &b->self);
}

static void test_capability(void **state)
{
	struct rdma_device d = { .context = &device.context };

	(void)state;
	capabilities = ~IBV_DEVICE_XRC;
	assert_false(rdma_has_xrc(&d));
	capabilities = IBV_DEVICE_XRC;
	assert_true(rdma_has_xrc(&d));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages),
		cmocka_unit_test(test_read_turns_the_ends_round),
		cmocka_unit_test(test_capability),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
