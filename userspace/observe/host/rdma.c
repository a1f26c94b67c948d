// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>

#include "lib/grow.h"
#include "roce/packet/base.h"
#include "userspace/observe/host/processes.h"
#include "userspace/observe/host/rdma.h"

#define UNKNOWN 0xfe /* type or state unknown */
#define FIRST_ROOM ((size_t)16) /* items of a list */
#define ANSWER_SECONDS 1 /* the kernel answers at once: after this there is no answer */

struct rdma {
	struct nl_sock *socket;
	struct rdma_host_device *devices;
	size_t device_count, device_room;
	struct host_qp *qps;
	size_t qp_count, qp_room;
	bool qps_complete;
	struct processes *processes;
	struct rdma_counters counters; /* of one device */
	struct host_mr *mrs;
	size_t mr_count, mr_room;
};

/* ---- asking ---- */

static bool connect_socket(struct nl_sock *s)
{
	struct timeval patience = { .tv_sec = ANSWER_SECONDS };

	return !nl_connect(s, NETLINK_RDMA) &&
	       !setsockopt(nl_socket_get_fd(s), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

struct rdma *rdma_open(void)
{
	struct rdma *r = calloc(1, sizeof(*r));

	if (r) {
		r->socket = nl_socket_alloc();
		r->processes = processes_open();
	}
	if (!r || !r->socket || !r->processes || !connect_socket(r->socket)) {
		rdma_close(r);
		return NULL;
	}
	nl_socket_disable_auto_ack(r->socket);
	nl_socket_disable_seq_check(r->socket);
	return r;
}

void rdma_close(struct rdma *r)
{
	if (!r)
		return;
	nl_socket_free(r->socket);
	processes_close(r->processes);
	free(r->devices);
	free(r->qps);
	free(r->counters.items);
	free(r->mrs);
	free(r);
}

struct rdma_question {
	int command; /* enum rdma_nldev_command */
	bool dump;
	const struct rdma_host_device *device; /* NULL: all devices */
	__u32 port;			       /* 0: none */
	const char *character;		       /* of GET_CHARDEV */
};

static bool put(struct nl_msg *m, const struct rdma_question *q)
{
	return (!q->device || !nla_put_u32(m, RDMA_NLDEV_ATTR_DEV_INDEX, q->device->index)) &&
	       (!q->port || !nla_put_u32(m, RDMA_NLDEV_ATTR_PORT_INDEX, q->port)) &&
	       (!q->character || !nla_put_string(m, RDMA_NLDEV_ATTR_CHARDEV_TYPE, q->character));
}

/* Asks, and passes each message of the answer to `take`. */
static bool ask(struct rdma *r, const struct rdma_question *q, nl_recvmsg_msg_cb_t take, void *context)
{
	int type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, q->command);
	struct nl_msg *m = nlmsg_alloc_simple(type, NLM_F_REQUEST | (q->dump ? NLM_F_DUMP : 0));
	bool good = m && put(m, q);

	nl_socket_modify_cb(r->socket, NL_CB_VALID, NL_CB_CUSTOM, take, context);
	good = good && nl_send_auto(r->socket, m) >= 0 && nl_recvmsgs_default(r->socket) >= 0;
	nlmsg_free(m);
	if (!good) { /* an answer that comes late must not be taken for that to the next question */
		nl_close(r->socket);
		connect_socket(r->socket);
	}
	return good;
}

static bool has(const struct nlattr *a, int bytes)
{
	return a && nla_len(a) >= bytes;
}

static __u32 u32_of(const struct nlattr *a, __u32 otherwise)
{
	return has(a, sizeof(__u32)) ? nla_get_u32(a) : otherwise;
}

static void copy_text(char *to, size_t size, const struct nlattr *a)
{
	if (a && nla_len(a) > 0)
		snprintf(to, size, "%.*s", nla_len(a), (const char *)nla_data(a));
}

static bool parse(const struct nlmsghdr *message, struct nlattr *a[RDMA_NLDEV_ATTR_MAX])
{
	return !nlmsg_parse((struct nlmsghdr *)message, 0, a, RDMA_NLDEV_ATTR_MAX - 1, NULL);
}

/* ---- devices ---- */

static const char *driver_name(__u32 id)
{
	static const char *const names[] = {
		[RDMA_DRIVER_MLX5] = "mlx5", [RDMA_DRIVER_MLX4] = "mlx4", [RDMA_DRIVER_CXGB4] = "cxgb4",
		[RDMA_DRIVER_BNXT_RE] = "bnxt_re", [RDMA_DRIVER_OCRDMA] = "ocrdma", [RDMA_DRIVER_IRDMA] = "irdma",
		[RDMA_DRIVER_VMW_PVRDMA] = "vmw_pvrdma", [RDMA_DRIVER_QEDR] = "qedr", [RDMA_DRIVER_HNS] = "hns",
		[RDMA_DRIVER_RXE] = "rxe", [RDMA_DRIVER_EFA] = "efa", [RDMA_DRIVER_SIW] = "siw",
	};

	return id < ROCE_ARRAY_SIZE(names) && names[id] ? names[id] : "?";
}

static int take_device(struct nl_msg *m, void *context)
{
	struct rdma *r = context;
	struct nlattr *a[RDMA_NLDEV_ATTR_MAX];
	struct rdma_host_device *d;

	if (!parse(nlmsg_hdr(m), a) || !a[RDMA_NLDEV_ATTR_DEV_INDEX] ||
	    !grow(r->devices, r->device_count, r->device_room, FIRST_ROOM))
		return NL_OK;
	d = &r->devices[r->device_count++];
	*d = (struct rdma_host_device){
		.index = u32_of(a[RDMA_NLDEV_ATTR_DEV_INDEX], 0),
		.ports = u32_of(a[RDMA_NLDEV_ATTR_PORT_INDEX], 0), /* for a device this attribute is the number of ports */
		.driver = "?",
	};
	copy_text(d->name, sizeof(d->name), a[RDMA_NLDEV_ATTR_DEV_NAME]);
	return NL_OK;
}

/* The kernel names the driver at the device's character device for verbs. */
static int take_driver(struct nl_msg *m, void *context)
{
	struct nlattr *a[RDMA_NLDEV_ATTR_MAX];
	struct rdma_host_device *d = context;
	__u32 id;

	if (parse(nlmsg_hdr(m), a) && a[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID]) {
		id = u32_of(a[RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID], RDMA_DRIVER_UNKNOWN);
		d->driver = driver_name(id);
		d->software = id == RDMA_DRIVER_RXE || id == RDMA_DRIVER_SIW;
	}
	return NL_OK;
}

static int take_port(struct nl_msg *m, void *context)
{
	struct nlattr *a[RDMA_NLDEV_ATTR_MAX];
	unsigned int *interface = context;

	if (parse(nlmsg_hdr(m), a))
		*interface = u32_of(a[RDMA_NLDEV_ATTR_NDEV_INDEX], 0);
	return NL_OK;
}

size_t rdma_devices(struct rdma *r, const struct rdma_host_device **list)
{
	struct rdma_host_device *d;

	r->device_count = 0;
	ask(r, &(struct rdma_question){ .command = RDMA_NLDEV_CMD_GET, .dump = true }, take_device, r);
	*list = d = r->devices;
	for (size_t i = 0; i < r->device_count; i++, d++) {
		ask(r, &(struct rdma_question){ .command = RDMA_NLDEV_CMD_GET_CHARDEV, .device = d, .character = "uverbs" },
		    take_driver, d);
		for (__u32 port = 1; port <= d->ports && port <= RDMA_PORTS; port++)
			ask(r, &(struct rdma_question){ .command = RDMA_NLDEV_CMD_PORT_GET, .device = d, .port = port },
			    take_port, &d->interface[port - 1]);
	}
	return r->device_count;
}

/* ---- QPs ---- */

static bool fill_qp(const struct nlattr *nested, struct host_qp *qp)
{
	struct nlattr *a[RDMA_NLDEV_ATTR_MAX];

	*qp = (struct host_qp){ 0 };
	if (nla_parse_nested(a, RDMA_NLDEV_ATTR_MAX - 1, (struct nlattr *)nested, NULL) || !a[RDMA_NLDEV_ATTR_RES_LQPN])
		return false;
	qp->qpn = u32_of(a[RDMA_NLDEV_ATTR_RES_LQPN], 0);
	qp->port = u32_of(a[RDMA_NLDEV_ATTR_PORT_INDEX], 0);
	qp->peer_qpn = u32_of(a[RDMA_NLDEV_ATTR_RES_RQPN], 0);
	qp->rq_psn = u32_of(a[RDMA_NLDEV_ATTR_RES_RQ_PSN], HOST_NO_PSN);
	qp->sq_psn = u32_of(a[RDMA_NLDEV_ATTR_RES_SQ_PSN], HOST_NO_PSN);
	qp->type = has(a[RDMA_NLDEV_ATTR_RES_TYPE], 1) ? nla_get_u8(a[RDMA_NLDEV_ATTR_RES_TYPE]) : UNKNOWN;
	qp->state = has(a[RDMA_NLDEV_ATTR_RES_STATE], 1) ? nla_get_u8(a[RDMA_NLDEV_ATTR_RES_STATE]) : UNKNOWN;
	qp->pid = u32_of(a[RDMA_NLDEV_ATTR_RES_PID], 0);
	copy_text(qp->program, sizeof(qp->program), a[RDMA_NLDEV_ATTR_RES_KERN_NAME]);
	return true;
}

void rdma_parse_qps(const struct nlmsghdr *message, void (*take)(void *context, const struct host_qp *qp), void *context)
{
	struct nlattr *a[RDMA_NLDEV_ATTR_MAX], *nested;
	struct host_qp qp;
	int left;

	if (!parse(message, a) || !a[RDMA_NLDEV_ATTR_RES_QP])
		return;
	nla_for_each_nested(nested, a[RDMA_NLDEV_ATTR_RES_QP], left)
		if (nla_type(nested) == RDMA_NLDEV_ATTR_RES_QP_ENTRY && fill_qp(nested, &qp))
			take(context, &qp);
}

/* For what a device's answer is kept. */
struct keeping {
	struct rdma *r;
	const struct rdma_host_device *device;
};

static void name_program(struct processes *p, struct host_qp *qp)
{
	const struct process *process = processes_find(p, qp->pid);

	if (process)
		memcpy(qp->program, process->name, sizeof(qp->program));
}

static void keep_qp(void *context, const struct host_qp *qp)
{
	const struct keeping *k = context;
	struct rdma *r = k->r;
	struct host_qp *to;

	if (!grow(r->qps, r->qp_count, r->qp_room, FIRST_ROOM)) {
		r->qps_complete = false;
		return;
	}
	to = &r->qps[r->qp_count++];
	*to = *qp;
	memcpy(to->device, k->device->name, sizeof(to->device));
	if (to->pid)
		name_program(r->processes, to);
}

static int take_qps(struct nl_msg *m, void *context)
{
	rdma_parse_qps(nlmsg_hdr(m), keep_qp, context);
	return NL_OK;
}

static int compare_qps(const void *a, const void *b)
{
	const struct host_qp *x = a, *y = b;

	return x->qpn != y->qpn ? (x->qpn > y->qpn) - (x->qpn < y->qpn) : strcmp(x->device, y->device);
}

size_t rdma_qps(struct rdma *r, const struct host_qp **list)
{
	const struct rdma_host_device *d = r->devices;

	r->qp_count = 0;
	r->qps_complete = true;
	processes_begin(r->processes);
	for (size_t i = 0; i < r->device_count; i++, d++)
		if (!ask(r, &(struct rdma_question){ .command = RDMA_NLDEV_CMD_RES_QP_GET, .dump = true, .device = d }, take_qps,
			 &(struct keeping){ r, d }))
			r->qps_complete = false;
	if (r->qp_count)
		qsort(r->qps, r->qp_count, sizeof(*r->qps), compare_qps);
	*list = r->qps;
	return r->qp_count;
}

bool rdma_qps_complete(const struct rdma *r)
{
	return r->qps_complete;
}

/* ---- counters ---- */

/* All ports have the same names in the same order. */
static struct rdma_counter *find_counter(struct rdma_counters *c, const char *name)
{
	for (size_t i = 0; i < c->count; i++) {
		struct rdma_counter *found = &c->items[(c->next + i) % c->count];

		if (!strcmp(found->name, name)) {
			c->next = found - c->items + 1;
			return found;
		}
	}
	return NULL;
}

static void add_counter(struct rdma_counters *c, const char *name, __u64 value)
{
	struct rdma_counter *known = find_counter(c, name);

	if (known) {
		known->value += value;
		return;
	}
	if (!grow(c->items, c->count, c->room, FIRST_ROOM))
		return;
	known = &c->items[c->count++];
	known->value = value;
	snprintf(known->name, sizeof(known->name), "%s", name);
}

void rdma_add_counters(const struct nlmsghdr *message, struct rdma_counters *c)
{
	struct nlattr *a[RDMA_NLDEV_ATTR_MAX], *entry[RDMA_NLDEV_ATTR_MAX], *nested;
	int left;

	if (!parse(message, a) || !a[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS])
		return;
	nla_for_each_nested(nested, a[RDMA_NLDEV_ATTR_STAT_HWCOUNTERS], left) {
		char name[HOST_NAME] = "";

		if (nla_parse_nested(entry, RDMA_NLDEV_ATTR_MAX - 1, nested, NULL) ||
		    !entry[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME] ||
		    !has(entry[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE], sizeof(__u64)))
			continue;
		copy_text(name, sizeof(name), entry[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME]);
		add_counter(c, name, nla_get_u64(entry[RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE]));
	}
}

static int take_counters(struct nl_msg *m, void *context)
{
	rdma_add_counters(nlmsg_hdr(m), context);
	return NL_OK;
}

/* Adds up the ports' counters. If a port does not answer there is no sum. */
static bool ask_counters(struct rdma *r, const struct rdma_host_device *d)
{
	struct rdma_question q = { .command = RDMA_NLDEV_CMD_STAT_GET, .device = d };

	r->counters.count = 0;
	for (q.port = 1; q.port <= d->ports && q.port <= RDMA_PORTS; q.port++)
		if (!ask(r, &q, take_counters, &r->counters))
			return false;
	return true;
}

void rdma_counters(struct rdma *r, rdma_take_counter *take, void *context)
{
	const struct rdma_host_device *d = r->devices;

	for (size_t i = 0; i < r->device_count; i++, d++) {
		if (!ask_counters(r, d))
			continue;
		for (size_t c = 0; c < r->counters.count; c++)
			take(context, d->name, r->counters.items[c].name, r->counters.items[c].value);
	}
}

/* ---- memory regions ---- */

static bool fill_mr(const struct nlattr *nested, struct host_mr *mr)
{
	struct nlattr *a[RDMA_NLDEV_ATTR_MAX];

	*mr = (struct host_mr){ 0 };
	if (nla_parse_nested(a, RDMA_NLDEV_ATTR_MAX - 1, (struct nlattr *)nested, NULL) ||
	    !has(a[RDMA_NLDEV_ATTR_RES_MRLEN], sizeof(__u64)))
		return false;
	mr->length = nla_get_u64(a[RDMA_NLDEV_ATTR_RES_MRLEN]);
	mr->has_iova = has(a[RDMA_NLDEV_ATTR_RES_IOVA], sizeof(__u64));
	if (mr->has_iova)
		mr->iova = nla_get_u64(a[RDMA_NLDEV_ATTR_RES_IOVA]);
	mr->has_keys = a[RDMA_NLDEV_ATTR_RES_RKEY];
	mr->rkey = u32_of(a[RDMA_NLDEV_ATTR_RES_RKEY], 0);
	mr->lkey = u32_of(a[RDMA_NLDEV_ATTR_RES_LKEY], 0);
	mr->pid = u32_of(a[RDMA_NLDEV_ATTR_RES_PID], 0);
	return true;
}

void rdma_parse_mrs(const struct nlmsghdr *message, void (*take)(void *context, const struct host_mr *mr), void *context)
{
	struct nlattr *a[RDMA_NLDEV_ATTR_MAX], *nested;
	struct host_mr mr;
	int left;

	if (!parse(message, a) || !a[RDMA_NLDEV_ATTR_RES_MR])
		return;
	nla_for_each_nested(nested, a[RDMA_NLDEV_ATTR_RES_MR], left)
		if (nla_type(nested) == RDMA_NLDEV_ATTR_RES_MR_ENTRY && fill_mr(nested, &mr))
			take(context, &mr);
}

static void keep_mr(void *context, const struct host_mr *mr)
{
	const struct keeping *k = context;
	struct host_mr *to;

	if (!grow(k->r->mrs, k->r->mr_count, k->r->mr_room, FIRST_ROOM))
		return;
	to = &k->r->mrs[k->r->mr_count++];
	*to = *mr;
	memcpy(to->device, k->device->name, sizeof(to->device));
}

static int take_mrs(struct nl_msg *m, void *context)
{
	rdma_parse_mrs(nlmsg_hdr(m), keep_mr, context);
	return NL_OK;
}

size_t rdma_mrs(struct rdma *r, const struct host_mr **list)
{
	const struct rdma_host_device *d = r->devices;

	r->mr_count = 0;
	for (size_t i = 0; i < r->device_count; i++, d++)
		ask(r, &(struct rdma_question){ .command = RDMA_NLDEV_CMD_RES_MR_GET, .dump = true, .device = d }, take_mrs,
		    &(struct keeping){ r, d });
	*list = r->mrs;
	return r->mr_count;
}
