// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rocescope whose QPs are made up, so that what is shown of them is tested where there is no RDMA: this file takes the place of
 * userspace/observe/verbs/verbs.c. VERBS_QPS: how many there are, at least those that are made by hand below. Their figures are
 * computed from their QPN and from the time since the start, in whole tenths of a second, so that a test knows them.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "roce/packet/base.h"
#include "userspace/observe/verbs/verbs.h"

enum { RC = 2, UD = 4, GSI = 1, INIT = 1, RTR = 2, RTS = 3, ERR = 6 };
#define TENTH 100000000ull
#define WRITES 100 /* of QPN 17, in a tenth of a second */
#define BYTES 65536

struct verbs {
	struct verbs_options options;
	struct verbs_qp *qps;
	const struct verbs_qp **list;
	size_t count;
	__u64 start, now, told;
	struct verbs_cq cq;
	struct verbs_srq srq;
	struct verbs_cost cost;
	struct host_counter counter;
};

static void join(struct verbs_qp *q, __u32 peer)
{
	static const __u8 prefix[] = { [10] = 0xff, 0xff, 10, 9, 0, 1 };

	q->qp.peer_qpn = peer;
	q->attributes = (struct verbs_attributes){
		.known = VERBS_KNOWS_RQ_PSN | VERBS_KNOWS_SQ_PSN | VERBS_KNOWS_PATH | VERBS_KNOWS_MTU | VERBS_KNOWS_TIMEOUT | VERBS_KNOWS_RESPONDER | VERBS_KNOWS_ACCESS |
			 VERBS_KNOWS_CAPABILITIES | VERBS_KNOWS_LIMITS | VERBS_KNOWS_ASKED,
		.state = q->qp.state, .type = q->qp.type, .port = 1, .path_mtu = 1024, .peer_qpn = peer, .sq_psn_first = 100,
		.rq_psn_first = 200, .access = 7, .max_send_wr = 128, .max_recv_wr = 512, .asked_send_wr = 100,
		.asked_recv_wr = 500, .gid_type = 2, .sgid_index = 3,
		.hop_limit = 64, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 12, .max_rd_atomic = 16,
		.max_dest_rd_atomic = 16, .is_user = 1, .sq_sig_all = 1,
	};
	memcpy(q->attributes.sgid, prefix, 16);
	memcpy(q->attributes.dgid, prefix, 16);
	q->attributes.dgid[15] = 2 + peer % 200;
}

static void post(struct verbs_qp *q, __u64 wrs, __u64 done, __u64 now)
{
	struct verbs_calls *c = &q->calls;

	q->has_calls = true;
	q->blind = VERBS_SEEN;
	c->since = c->first_post = q->first_seen;
	c->last_post = now;
	c->count[VERBS_posts] = c->count[VERBS_wrs] = c->count[VERBS_signalled] = c->wrs[0] = wrs;
	c->bytes[0] = wrs * BYTES;
	c->tail = wrs;
	c->count[VERBS_completions] = c->count[VERBS_matched] = c->head = c->done[1] = c->status[0] = c->latency_count = done;
	c->latency[12] = done - done / 50;
	c->latency[17] = done / 50;
	c->latency_sum = done * 6000;
	c->latency_most = done ? 200000 : 0;
	c->outstanding_most = 128;
	c->list_most = 1;
	c->threads = 1;
	c->sig_all = c->paired = 1;
	c->type = RC;
	c->error_request.opcode = c->good_request.opcode = VERBS_OPCODES;
}

static void fail(struct verbs_qp *q, __u32 status, __u64 when)
{
	struct verbs_calls *c = &q->calls;

	q->qp.state = ERR;
	q->state_since = c->error_time = when;
	c->error_status = status;
	c->error_vendor = 0x88;
	c->error_request = (struct verbs_request){ .wr_id = 7, .remote_addr = 0x7f0000001000, .bytes = BYTES, .rkey = 0x1234 };
	c->status[0] -= 128;
	c->status[status] = 1;
	c->status[5] = 127;
}

static void step(struct verbs_qp *q, __u8 kind, __u8 before, __u8 state, __u64 time, __u32 mask)
{
	q->history[q->steps++ % VERBS_HISTORY] = (struct verbs_step){ .time = time, .kind = kind, .state_before = before, .state = state,
								       .mask = mask, .pid = q->qp.pid };
}

static void make(const struct verbs *v, struct verbs_qp *q, __u32 i)
{
	__u64 tenths = (v->now - v->start) / TENTH, now = v->start + tenths * TENTH;
	bool calls = v->options.calls;

	*q = (struct verbs_qp){ .first_seen = v->start, .blind = calls ? VERBS_PASSIVE : VERBS_NOT_ASKED };
	q->qp = (struct host_qp){ .port = 1, .qpn = 17 + i, .rq_psn = HOST_NO_PSN, .sq_psn = 100, .type = RC, .state = RTS, .pid = 4711 };
	strcpy(q->qp.device, "rxe0");
	strcpy(q->interface, "roce0");
	strcpy(q->qp.program, "ib_write_bw");
	switch (i) {
	case 0:
		join(q, 33);
		q->born = v->start - 7 * TENTH;
		step(q, VERBS_CREATED, 0, 0, q->born, 0);
		step(q, VERBS_MODIFIED, 0, INIT, q->born + 1000, 0x39);
		step(q, VERBS_MODIFIED, INIT, RTR, q->born + 2000, 0x129181);
		step(q, VERBS_MODIFIED, RTR, RTS, q->state_since = q->born + 3000, 0x12e01);
		q->psn_moved = true;
		if (calls)
			post(q, tenths * WRITES + 64, tenths * WRITES, now);
		break;
	case 1:
		join(q, 34);
		if (calls)
			post(q, 1128, 1128, now);
		q->calls.error_request.opcode = VERBS_OPCODES;
		if (calls)
			fail(q, 10, v->start);
		q->qp.state = ERR;
		strcpy(q->container, "docker 0123456789ab");
		break;
	case 2:
		join(q, 35);
		if (!calls)
			break;
		post(q, 500, 372, v->start);
		q->calls.oldest_post = v->start - 20 * TENTH;
		break;
	case 3:
		q->qp.type = UD;
		strcpy(q->qp.program, "e\033[31mvil \"\\ \xff");
		break;
	case 4:
		strcpy(q->qp.device, "mlx5_0");
		q->qp.qpn = 300;
		join(q, 36);
		q->psn_moved = true;
		if (calls)
			q->blind = VERBS_NO_CALL;
		break;
	case 5:
		join(q, 37);
		q->gone = v->start;
		q->killed = true;
		step(q, VERBS_DESTROYED, RTS, RTS, v->start, 0);
		break;
	case 6:
		q->qp.type = GSI;
		q->qp.qpn = 1;
		q->qp.pid = 0;
		q->blind = VERBS_KERNEL_USER;
		strcpy(q->qp.program, "ib_core");
		break;
	default:
		q->qp.pid = 5000 + i / 100;
		join(q, 1000 + i);
	}
}

static bool wanted(const struct verbs *v, const struct verbs_qp *q)
{
	for (size_t i = 0; i < v->options.device_count; i++)
		if (!strcmp(v->options.device[i], q->qp.device))
			return true;
	return !v->options.device_count;
}

static int by_qpn(const void *a, const void *b)
{
	const struct verbs_qp *x = a, *y = b;

	return strcmp(x->qp.device, y->qp.device) ?: (int)x->qp.qpn - (int)y->qp.qpn;
}

struct verbs *verbs_open(const struct verbs_options *o)
{
	struct verbs *v = calloc(1, sizeof(*v));
	const char *count = getenv("VERBS_QPS");
	size_t most = count ? strtoul(count, NULL, 10) : 0;

	most = most < 7 ? 7 : most;
	v->options = *o;
	v->start = now_ns();
	v->qps = calloc(most, sizeof(*v->qps));
	v->list = calloc(most, sizeof(*v->list));
	v->count = most;
	return v;
}

void verbs_close(struct verbs *v)
{
	if (!v)
		return;
	free(v->qps);
	free(v->list);
	free(v);
}

size_t verbs_fds(const struct verbs *v, int *fds, size_t room)
{
	(void)v, (void)fds, (void)room;
	return 0;
}

void verbs_read(struct verbs *v)
{
	const struct verbs_qp *q = v->list[0];

	for (size_t i = 0; i < v->count; i++)
		if (v->list[i]->qp.qpn == 17)
			q = v->list[i];
	/* the changes of that QP, and then one that the kernel refused */
	for (; v->options.tell && v->count && v->told <= q->steps; v->told++)
		v->options.tell(v->options.context, &(struct verbs_event){ .qp = q, .step = v->told < q->steps ? q->history[v->told] :
			(struct verbs_step){ .time = v->start, .kind = VERBS_MODIFIED, .state_before = RTS, .state = RTS, .error = -22, .pid = 4711 } });
}

void verbs_update(struct verbs *v)
{
	size_t all = v->count;

	v->now = now_ns();
	v->count = 0;
	for (size_t i = 0; i < all; i++) {
		make(v, &v->qps[v->count], i);
		v->count += wanted(v, &v->qps[v->count]);
	}
	qsort(v->qps, v->count, sizeof(*v->qps), by_qpn);
	for (size_t i = 0; i < v->count; i++)
		v->list[i] = &v->qps[i];
	v->cost = (struct verbs_cost){ .calls = 31000, .ns = 900, .share = 31000 * 900e-9, .empty_calls = 2000, .empty_share = 2000 * 800e-9 };
	v->cq = (struct verbs_cq){ 4711, 0x5600dead0000, 5000, 4000, 0, 1000, 16, 3 };
	v->srq = (struct verbs_srq){ 4711, 0x5600dead1000, 10, 160, 160 * BYTES, 0 };
	v->counter = (struct host_counter){ "rxe0", "duplicate_request", 129, false };
}

size_t verbs_qps(const struct verbs *v, const struct verbs_qp *const **list)
{
	*list = v->list;
	return v->count;
}

size_t verbs_cqs(const struct verbs *v, const struct verbs_cq **list)
{
	*list = &v->cq;
	return v->options.calls;
}

size_t verbs_srqs(const struct verbs *v, const struct verbs_srq **list)
{
	*list = &v->srq;
	return v->options.calls;
}

const struct verbs_cost *verbs_cost(const struct verbs *v)
{
	return v->options.calls ? &v->cost : NULL;
}

size_t verbs_counters(const struct verbs *v, const struct host_counter **list)
{
	*list = &v->counter;
	return 1;
}

size_t verbs_notes(const struct verbs *v, const char *const **lines)
{
	static const char *const notes[] = { "these QPs are made up" };

	(void)v;
	*lines = notes;
	return ROCE_ARRAY_SIZE(notes);
}
