// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/shown.h"
#include "userspace/observe/verbs/qp_table.h"
#include "userspace/observe/verbs/qps.h"

struct qps {
	struct qps_options options;
	struct qp_table table;
	struct qps_listing listing; /* the newest one */
	bool has_listed;	    /* there was one before it */
	const struct qp_entry *went; /* the first that went since it began; NULL: none has */
};

struct qps *qps_open(const struct qps_options *o)
{
	struct qps *q = calloc(1, sizeof(*q));

	if (!q || !qp_table_open(&q->table)) {
		free(q);
		return NULL;
	}
	q->options = *o;
	return q;
}

void qps_close(struct qps *q)
{
	if (q)
		qp_table_close(&q->table);
	free(q);
}

static bool wants(const struct qps *q, const char *device)
{
	for (size_t i = 0; i < q->options.device_count; i++)
		if (!strcmp(q->options.device[i], device))
			return true;
	return !q->options.device_count;
}

/* ---- what happens ---- */

static void remember(struct verbs_qp *qp, const struct verbs_step *s)
{
	if (qp->steps == VERBS_HISTORY) {
		memmove(qp->history, qp->history + 1, sizeof(qp->history) - sizeof(*s));
		qp->steps--;
		qp->steps_forgotten++;
	}
	qp->history[qp->steps++] = *s;
}

static void happen(struct qps *q, struct verbs_qp *qp, const struct verbs_step *s)
{
	remember(qp, s);
	if (q->options.tell)
		q->options.tell(q->options.context, &(struct verbs_event){ .step = *s, .qp = qp });
}

static void go(struct qps *q, struct qp_entry *e, struct verbs_step *s)
{
	s->kind = VERBS_DESTROYED;
	s->state_before = e->qp.qp.state;
	s->state = e->qp.qp.state = HOST_QP_GONE;
	e->qp.gone = e->qp.state_since = s->time;
	qp_table_retire(&q->table, e);
	happen(q, &e->qp, s);
}

/* It is not there any more, and nobody saw how. */
static void miss(struct qps *q, struct qp_entry *e, __u64 time)
{
	go(q, e, &(struct verbs_step){ .time = time, .by_netlink = true });
}

/* ---- who and where it is ---- */

static void set_process(struct qps *q, struct verbs_qp *qp, __u32 pid)
{
	const struct process *p = pid ? processes_find(q->options.processes, pid) : NULL;

	qp->qp.pid = pid;
	if (!p)
		return;
	memcpy(qp->qp.program, p->name, sizeof(qp->qp.program));
	memcpy(qp->container, p->container, sizeof(qp->container));
	qp->process_start = p->start;
}

static void set_interface(const struct qps *q, struct verbs_qp *qp)
{
	const struct qps_device *d = q->listing.devices;
	__u32 port = qp->attributes.port ?: qp->qp.port ?: 1;

	if (qp->attributes.interface[0]) {
		snprintf(qp->interface, sizeof(qp->interface), "%s", qp->attributes.interface);
		shown(qp->interface);
		return;
	}
	for (size_t i = 0; i < q->listing.device_count; i++)
		if (port <= RDMA_PORTS && !strcmp(d[i].name, qp->qp.device))
			memcpy(qp->interface, d[i].interface[port - 1], sizeof(qp->interface));
}

static void set_attributes(const struct qps *q, struct verbs_qp *qp, const struct verbs_attributes *a)
{
	qp->attributes = *a;
	qp->attributes.state = qp->qp.state;
	qp->qp.type = a->type;
	if (a->peer_qpn)
		qp->qp.peer_qpn = a->peer_qpn;
	if (a->port && qp->qp.qpn > 1)
		qp->qp.port = a->port;
	set_interface(q, qp);
}

/* ---- changes ---- */

/*
 * The kernel lists a QP, and lets it be queried, before the function ends at which we see it made: the newest listing may have been
 * told of it first.
 */
static bool was_listed_first(const struct qps *q, const struct qp_entry *e, const struct verbs_change *c)
{
	return c->kind == VERBS_CREATED && !e->changed && e->qp.first_seen == q->listing.ended && c->born >= q->listing.begun;
}

static bool is_another(const struct qps *q, const struct qp_entry *e, const struct verbs_change *c)
{
	if (!c->born || e->qp.born == c->born || was_listed_first(q, e, c))
		return false;
	return e->qp.born || c->kind == VERBS_CREATED;
}

static struct qp_entry *entry_of(struct qps *q, const struct verbs_change *c)
{
	struct qp_entry *e = qp_table_find(&q->table, c->device, c->qpn, c->attributes.port);

	if (e && is_another(q, e, c)) {
		miss(q, e, c->time);
		e = NULL;
	}
	if (e)
		return e;
	e = qp_table_add(&q->table, c->device, c->qpn, c->attributes.port);
	if (!e)
		return NULL;
	e->qp.first_seen = c->time;
	e->qp.qp.state = c->state_before;
	e->qp.qp.rq_psn = e->qp.qp.sq_psn = HOST_NO_PSN;
	snprintf(e->qp.qp.program, sizeof(e->qp.qp.program), "%s", c->comm);
	shown(e->qp.qp.program);
	if (c->attributes.is_user && !q->options.hidden)
		set_process(q, &e->qp, c->owner);
	return e;
}

static void change_state(struct verbs_qp *qp, const struct verbs_change *c)
{
	if (c->attributes.state != qp->qp.state)
		qp->state_since = c->time;
	qp->qp.state = c->attributes.state;
}

static void take_change(struct verbs_qp *qp, const struct verbs_change *c)
{
	if (c->born)
		qp->born = c->born;
	if (c->kind == VERBS_CREATED)
		qp->state_since = c->born;
	if (c->kind != VERBS_MODIFIED || c->error)
		return;
	if (c->mask & IBV_QP_STATE)
		change_state(qp, c);
	if (c->mask & IBV_QP_RQ_PSN)
		qp->qp.rq_psn = c->attributes.rq_psn_first;
	if (c->mask & IBV_QP_SQ_PSN)
		qp->qp.sq_psn = c->attributes.sq_psn_first;
}

void qps_change(struct qps *q, const struct verbs_change *c)
{
	struct verbs_step s = { .time = c->time, .kind = c->kind, .error = c->error, .mask = c->mask, .async_event = c->async_event,
				.pid = q->options.hidden ? 0 : c->pid, .signal = c->signal };
	struct qp_entry *e = wants(q, c->device) ? entry_of(q, c) : NULL;

	if (!e || (c->kind == VERBS_CREATED && e->changed)) /* adopt() has told it from the map already */
		return;
	e->changed = c->time;
	s.state_before = e->qp.qp.state;
	take_change(&e->qp, c);
	set_attributes(q, &e->qp, &c->attributes);
	s.state = e->qp.qp.state;
	if (!c->attributes.is_user)
		s.pid = 0;
	if (c->kind != VERBS_DESTROYED) {
		happen(q, &e->qp, &s);
		return;
	}
	e->qp.killed = c->exiting;
	if (c->exiting)
		s.pid = 0;
	go(q, e, &s);
	qp_table_expire(&q->table, 0);
}

/* ---- what netlink lists ---- */

/* The process of that number is another one by now. */
static bool is_another_process(const struct qps *q, const struct verbs_qp *qp, __u32 pid)
{
	const struct process *p = qp->process_start && qp->qp.pid == pid ? processes_find(q->options.processes, pid) : NULL;

	return p && p->start != qp->process_start;
}

/* The number is that of another QP by now. That it goes back to RESET is allowed. */
static bool is_reused(const struct qps *q, const struct verbs_qp *qp, const struct host_qp *now)
{
	return is_another_process(q, qp, now->pid) || (qp->qp.pid && now->pid && qp->qp.pid != now->pid) ||
	       (qp->qp.type != now->type && qp->qp.type != HOST_QP_GONE);
}

static void take_listed(struct qps *q, struct verbs_qp *qp, const struct host_qp *now)
{
	struct host_qp before = qp->qp;

	qp->psn_moved = before.sq_psn != HOST_NO_PSN && now->sq_psn != HOST_NO_PSN && before.sq_psn != now->sq_psn;
	qp->qp = *now;
	if (!now->port)
		qp->qp.port = before.port;
	if (!now->peer_qpn)
		qp->qp.peer_qpn = before.peer_qpn;
	if (!now->program[0]) { /* its process has ended, and another one still holds it */
		memcpy(qp->qp.program, before.program, sizeof(before.program));
		qp->qp.pid = now->pid ?: before.pid;
	}
	qp->attributes.state = now->state;
	if (now->pid && !(before.pid == now->pid && qp->container[0]))
		set_process(q, qp, now->pid);
	set_interface(q, qp);
}

static void notice_new(struct qps *q, struct qp_entry *e, const struct host_qp *now)
{
	__u64 time = q->listing.ended;

	e->qp.first_seen = time;
	e->qp.qp.sq_psn = HOST_NO_PSN;
	take_listed(q, &e->qp, now);
	if (q->has_listed && (!q->listing.round || q->listing.has_lost)) /* otherwise its record is on the way */
		happen(q, &e->qp, &(struct verbs_step){ .time = time, .kind = VERBS_CREATED, .by_netlink = true, .state = now->state });
}

static void notice_state(struct qps *q, struct verbs_qp *qp, const struct host_qp *now)
{
	struct verbs_step s = { .time = q->listing.ended, .kind = VERBS_MODIFIED, .by_netlink = true, .state_before = qp->qp.state,
				.state = now->state, .mask = IBV_QP_STATE };
	bool differs = qp->qp.state != now->state;

	take_listed(q, qp, now);
	if (!differs)
		return;
	qp->state_since = s.time;
	happen(q, qp, &s);
}

static void take_reading(struct qps *q, const struct host_qp *now)
{
	struct qp_entry *e = qp_table_find(&q->table, now->device, now->qpn, now->port);

	if (e && e->changed < q->listing.begun && is_reused(q, &e->qp, now)) {
		miss(q, e, q->listing.ended);
		e = NULL;
	}
	if (!e) {
		e = qp_table_add(&q->table, now->device, now->qpn, now->port);
		if (!e)
			return;
		notice_new(q, e, now);
	} else if (e->changed < q->listing.begun) {
		notice_state(q, &e->qp, now);
	}
	e->listed = e->ever_listed = true;
}

static void forget_marks(void *context, struct qp_entry *e)
{
	(void)context;
	e->listed = e->mapped = e->qp.psn_moved = false;
}

/* A QP that the listing has may have been destroyed since, and the record says so: it is one of the newest that are gone. */
static bool went_meanwhile(const struct qps *q, const struct host_qp *now)
{
	for (const struct qp_entry *e = q->went; e; e = e->next)
		if (e->qp.qp.qpn == now->qpn && !strcmp(e->qp.qp.device, now->device))
			return true;
	return false;
}

void qps_listed(struct qps *q, const struct qps_listing *l)
{
	q->listing = *l;
	qp_table_expire(&q->table, l->ended > QPS_GONE_NS ? l->ended - QPS_GONE_NS : 0);
	qp_table_each(&q->table, forget_marks, NULL);
	q->went = q->table.oldest_gone;
	while (q->went && q->went->qp.gone < l->begun)
		q->went = q->went->next;
	for (size_t i = 0; i < l->count; i++)
		if (wants(q, l->list[i].device) && !went_meanwhile(q, &l->list[i]))
			take_reading(q, &l->list[i]);
	q->went = NULL;
}

/* ---- what the kernel's map has ---- */

static bool is_device(const struct qps *q, const char *device)
{
	for (size_t i = 0; i < q->listing.device_count; i++)
		if (!strcmp(q->listing.devices[i].name, device))
			return true;
	return false;
}

/* Netlink would list each QP of this device. */
static bool lists_all_of(const struct qps *q, const char *device)
{
	return q->listing.complete && !q->options.hidden && is_device(q, device);
}

/* Netlink, which should list it, does not. */
static bool is_missing(const struct qps *q, const struct qp_entry *e)
{
	return !e->listed && e->changed < q->listing.begun && q->listing.complete &&
	       (e->ever_listed || lists_all_of(q, e->qp.qp.device));
}

/* What the records would have told that were lost. */
static struct qp_entry *adopt(struct qps *q, const struct verbs_qp_key *key, const struct verbs_kernel_qp *v)
{
	struct verbs_change c = { .time = v->born, .born = v->born, .kind = VERBS_CREATED, .owner = v->pid, .pid = v->pid,
				  .qpn = key->qpn, .attributes = v->attributes };
	struct qp_entry *e;

	memcpy(c.device, v->device, sizeof(c.device));
	qps_change(q, &c);
	e = qp_table_find(&q->table, v->device, key->qpn, v->attributes.port);
	if (e && v->attributes.state != e->qp.qp.state) {
		c.kind = VERBS_MODIFIED;
		c.time = v->state_since;
		c.mask = IBV_QP_STATE;
		qps_change(q, &c);
	}
	return e;
}

static bool fits(const struct verbs_qp *qp, const struct verbs_kernel_qp *v)
{
	return !qp->born || qp->born == v->born;
}

static void take_known(struct qps *q, struct verbs_qp *qp, const struct verbs_kernel_qp *v)
{
	if (!qp->born)
		qp->born = v->born;
	if (!qp->state_since && v->attributes.state == qp->qp.state)
		qp->state_since = v->state_since;
	set_attributes(q, qp, &v->attributes);
}

bool qps_known(struct qps *q, const struct verbs_qp_key *key, const struct verbs_kernel_qp *v)
{
	struct qp_entry *e = qp_table_find(&q->table, v->device, key->qpn, v->attributes.port);

	if (q->listing.has_lost && v->born && (!e || !fits(&e->qp, v)) && wants(q, v->device))
		e = adopt(q, key, v);
	if (!e) /* as old as the listing, and not in it: it was destroyed where no program of ours is */
		return lists_all_of(q, v->device) && v->query != q->listing.round && v->born < q->listing.begun;
	if (!fits(&e->qp, v))
		return false;
	if (is_missing(q, e))
		return true;
	e->mapped = true;
	take_known(q, &e->qp, v);
	return false;
}

/* ---- those that are gone ---- */

static void take_leave(void *context, struct qp_entry *e)
{
	struct qps *q = context;
	bool unknown = q->listing.round && !e->mapped && !e->listed && !e->ever_listed && e->changed < q->listing.begun;

	if (is_missing(q, e) || unknown)
		miss(q, e, q->listing.ended);
}

void qps_end(struct qps *q)
{
	qp_table_each(&q->table, take_leave, q);
	q->has_listed = true;
}

/* ---- what is asked for ---- */

size_t qps_list(struct qps *q, const struct verbs_qp *const **list)
{
	return qp_table_list(&q->table, list);
}

void qps_each(struct qps *q, void (*take)(void *context, struct verbs_qp *qp), void *context)
{
	const struct verbs_qp *const *list;
	size_t count = qp_table_list(&q->table, &list);

	for (size_t i = 0; i < count; i++)
		take(context, (struct verbs_qp *)list[i]);
}

__u64 qps_refused(const struct qps *q)
{
	return q->table.refused;
}
