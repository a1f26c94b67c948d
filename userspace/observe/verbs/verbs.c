// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/complain.h"
#include "userspace/observe/verbs/verbs.h"

struct verbs {
	struct verbs_options options;
	struct rdma *rdma;
	struct verbs_qp *qps;
	const struct verbs_qp **list;
	size_t count;
};

struct verbs *verbs_open(const struct verbs_options *o)
{
	struct verbs *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->options = *o;
	v->rdma = rdma_open();
	if (!v->rdma) {
		complain("this kernel has no RDMA: `modprobe ib_uverbs` loads it");
		free(v);
		return NULL;
	}
	return v;
}

void verbs_close(struct verbs *v)
{
	if (!v)
		return;
	rdma_close(v->rdma);
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
	(void)v;
}

void verbs_update(struct verbs *v)
{
	const struct rdma_host_device *devices;
	const struct host_qp *list;
	size_t count;

	rdma_devices(v->rdma, &devices);
	count = rdma_qps(v->rdma, &list);
	free(v->qps);
	free(v->list);
	v->qps = calloc(count + 1, sizeof(*v->qps));
	v->list = calloc(count + 1, sizeof(*v->list));
	v->count = v->qps && v->list ? count : 0;
	for (size_t i = 0; i < v->count; i++) {
		v->qps[i] = (struct verbs_qp){ .qp = list[i], .first_seen = now_ns(), .blind = VERBS_NOT_ASKED };
		v->list[i] = &v->qps[i];
	}
}

size_t verbs_qps(const struct verbs *v, const struct verbs_qp *const **list)
{
	*list = v->list;
	return v->count;
}

size_t verbs_cqs(const struct verbs *v, const struct verbs_cq **list)
{
	(void)v;
	*list = NULL;
	return 0;
}

size_t verbs_srqs(const struct verbs *v, const struct verbs_srq **list)
{
	(void)v;
	*list = NULL;
	return 0;
}

const struct verbs_cost *verbs_cost(const struct verbs *v)
{
	(void)v;
	return NULL;
}

size_t verbs_counters(const struct verbs *v, const struct host_counter **list)
{
	(void)v;
	*list = NULL;
	return 0;
}

size_t verbs_notes(const struct verbs *v, const char *const **lines)
{
	(void)v;
	*lines = NULL;
	return 0;
}

const char *verbs_step_name(const struct verbs_step *s)
{
	return s->kind == VERBS_CREATED ? "created" : s->kind == VERBS_DESTROYED ? "destroyed" : host_state_name(s->state);
}

const char *verbs_status_name(__u32 status)
{
	static const char *const names[] = { "SUCCESS", "LOC_LEN_ERR", "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR", "LOC_PROT_ERR", "WR_FLUSH_ERR",
					     "MW_BIND_ERR", "BAD_RESP_ERR", "LOC_ACCESS_ERR", "REM_INV_REQ_ERR", "REM_ACCESS_ERR",
					     "REM_OP_ERR", "RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR" };

	return status < sizeof(names) / sizeof(names[0]) ? names[status] : "?";
}

const char *verbs_opcode_name(__u32 opcode)
{
	static const char *const names[] = { "RDMA_WRITE", "RDMA_WRITE_WITH_IMM", "SEND", "SEND_WITH_IMM", "RDMA_READ", "ATOMIC_CMP_AND_SWP",
					     "ATOMIC_FETCH_AND_ADD" };

	return opcode < sizeof(names) / sizeof(names[0]) ? names[opcode] : "?";
}

__u64 verbs_timeout_ns(const struct verbs_attributes *a)
{
	return a->timeout ? 4096ull << a->timeout : 0;
}

__u64 verbs_gives_up_ns(const struct verbs_attributes *a)
{
	return verbs_timeout_ns(a) * (a->retry_cnt + 1);
}
