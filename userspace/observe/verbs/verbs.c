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
