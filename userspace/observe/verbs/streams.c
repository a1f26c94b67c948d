// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the wire and the host tell of one QP, together. */
#include <string.h>

#include "userspace/observe/host/host.h"
#include "userspace/observe/model/snapshot.h"
#include "userspace/observe/verbs/qp_rows.h"
#include "userspace/observe/verbs/verbs.h"

/* Whether the calls of this QP's process are counted, and it is the one that is wanted. */
static bool is_counted_for(const struct verbs_qp *q, const struct host_qp *wanted)
{
	return q->has_calls && q->blind == VERBS_SEEN && (!q->qp.pid || !wanted->pid || q->qp.pid == wanted->pid);
}

/*
 * The newest QP of this number and process whose calls are still counted. One that is gone is taken only if no other is there. A list
 * has those of one number in the order in which they were seen.
 */
static const struct verbs_qp *find(const struct verbs_qp *const *list, size_t count, const struct host_qp *wanted)
{
	const struct verbs_qp *found = NULL;
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct host_qp *q = &list[middle]->qp;
		int order = strcmp(q->device, wanted->device);

		if (order < 0 || (!order && q->qpn < wanted->qpn))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && list[low]->qp.qpn == wanted->qpn && !strcmp(list[low]->qp.device, wanted->device); low++)
		if (is_counted_for(list[low], wanted) && (!found || found->gone || !list[low]->gone))
			found = list[low];
	return found;
}

static __u64 failures(const struct verbs_calls *c)
{
	__u64 sum = 0;

	for (int i = 1; i < VERBS_STATUSES; i++)
		sum += c->status[i];
	return sum;
}

void verbs_add_calls(const struct verbs *v, struct snapshot *s)
{
	const struct verbs_qp *const *list;
	size_t count = verbs_qps(v, &list);

	for (size_t i = 0; i < s->stream_count; i++) {
		const struct host_owner *o = s->streams[i].owner;
		const struct verbs_qp *q = o && o->qp ? find(list, count, o->qp) : NULL;
		const struct verbs_calls *c = q ? &q->calls : NULL;

		if (!q)
			continue;
		host_add_calls(&s->streams[i], &(struct host_calls){
			.known = true,
			.wrs = c->count[VERBS_wrs],
			.completions = c->count[VERBS_completions] + c->count[VERBS_recv_completions],
			.failed = failures(c),
			.outstanding = qp_outstanding(q),
			.half_ns = qp_latency(c, 0.5),
			.late_ns = qp_latency(c, 0.99),
		});
	}
}
