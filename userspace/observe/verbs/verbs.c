// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/complain.h"
#include "lib/grow.h"
#include "userspace/observe/host/book.h"
#include "userspace/observe/verbs/calls.h"
#include "userspace/observe/verbs/kernel.h"
#include "userspace/observe/verbs/qps.h"

#define SHARE 5 /* listing QPs takes at most one part in SHARE of the time: some drivers ask their firmware for each QP */
#define SLOW "listing the QPs took "

struct verbs {
	struct verbs_options options;
	struct rdma *rdma;
	struct processes *processes;
	struct qps *qps;
	struct qps_device *devices;
	size_t device_count;
	struct kernel_half kernel;
	struct calls *calls; /* NULL: not asked for, or not possible */
	struct calls_options calls_options;
	struct notes notes; /* those of the calls as well */
	struct book book;
	__u64 again; /* ns: nothing is listed before this */
	__u64 lost;  /* kernel_half_lost(), at the listing before */
	__u32 *pids; /* of the QPs that exist, for calls_update() */
	size_t pid_count, pid_room;
};

/* ---- devices ---- */

static const struct rdma_host_device *find_device(const struct rdma_host_device *list, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

/* Says that there is no such device, and which there are. */
static void say_unknown(const char *name, const struct rdma_host_device *list, size_t count)
{
	char names[1024] = "";
	size_t used = 0;

	for (size_t i = 0; i < count && used < sizeof(names); i++)
		used += snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "", list[i].name);
	complain("no RDMA device %s here: there %s %s", name, count == 1 ? "is" : "are", count ? names : "none");
}

static bool devices_are_known(const struct verbs *v)
{
	const struct rdma_host_device *list;
	size_t count = rdma_devices(v->rdma, &list);

	for (size_t i = 0; i < v->options.device_count; i++) {
		if (find_device(list, count, v->options.device[i]))
			continue;
		say_unknown(v->options.device[i], list, count);
		return false;
	}
	return true;
}

static void fill_device(struct qps_device *to, const struct rdma_host_device *from)
{
	memcpy(to->name, from->name, sizeof(to->name));
	for (__u32 i = 0; i < from->ports && i < RDMA_PORTS; i++)
		if (from->interface[i])
			if_indextoname(from->interface[i], to->interface[i]);
}

/* ---- both halves of the kernel's programs ---- */

static void choose_calls(void *context, struct verbs_bpf *b)
{
	struct verbs *v = context;
	const char *why = calls_prepare(b, true, &v->calls_options);

	if (why)
		notes_add(&v->notes, "%s", why);
}

static void calls_refused(void *context, const char *why)
{
	struct verbs *v = context;

	notes_add(&v->notes, "calls are not counted: this kernel refuses the programs for them: %s", why);
	v->options.calls = false;
}

static void take_change(void *context, const struct verbs_change *c)
{
	struct verbs *v = context;

	qps_change(v->qps, c);
	if (v->calls && c->kind == VERBS_CREATED && !c->error && c->owner)
		calls_begun(v->calls, c->owner);
}

/* The calls come first: to find providers they open devices for a moment, which needs not be told. */
static void load(struct verbs *v)
{
	struct calls_half calls = { .choose = v->options.calls ? choose_calls : NULL, .refused = calls_refused, .context = v };

	v->calls_options = (struct calls_options){ .expensive = v->options.expensive, .most = v->options.most };
	kernel_half_load(&v->kernel, &calls, &v->notes);
	if (v->options.calls && v->kernel.programs)
		v->calls = calls_open(v->kernel.programs, &v->calls_options, &v->notes);
	kernel_half_attach(&v->kernel, &v->notes, take_change, v);
}

/* ---- opening ---- */

static void take_counter(void *context, const char *device, const char *name, __u64 value)
{
	struct verbs *v = context;
	bool wanted = !v->options.device_count;

	for (size_t i = 0; i < v->options.device_count; i++)
		wanted |= !strcmp(v->options.device[i], device);
	if (wanted)
		book_add(&v->book, device, name, value);
}

static bool open_parts(struct verbs *v)
{
	struct qps_options o = { .device = v->options.device, .device_count = v->options.device_count, .tell = v->options.tell,
				 .context = v->options.context, .hidden = host_is_in_container() };

	v->rdma = rdma_open();
	if (!v->rdma)
		return complain("this kernel has no RDMA: `modprobe ib_uverbs` loads it");
	if (!devices_are_known(v))
		return false;
	o.processes = v->processes = processes_open();
	v->qps = v->processes ? qps_open(&o) : NULL;
	if (!v->qps)
		return complain("no memory");
	if (o.hidden)
		notes_add(&v->notes, "in a container: QPs of other PID namespaces are hidden, or have no process (run it in the host's)");
	return true;
}

struct verbs *verbs_open(const struct verbs_options *o)
{
	struct verbs *v = calloc(1, sizeof(*v));

	if (!v) {
		complain("no memory");
		return NULL;
	}
	v->options = *o;
	if (!open_parts(v)) {
		verbs_close(v);
		return NULL;
	}
	rdma_counters(v->rdma, take_counter, v);
	load(v);
	return v;
}

void verbs_close(struct verbs *v)
{
	if (!v)
		return;
	calls_close(v->calls);
	kernel_half_close(&v->kernel);
	qps_close(v->qps);
	processes_close(v->processes);
	rdma_close(v->rdma);
	book_free(&v->book);
	notes_free(&v->notes);
	free(v->devices);
	free(v->pids);
	free(v);
}

/* ---- reading ---- */

size_t verbs_fds(const struct verbs *v, int *fds, size_t room)
{
	int fd = kernel_half_fd(&v->kernel);

	if (fd < 0 || !room)
		return 0;
	fds[0] = fd;
	return 1;
}

void verbs_read(struct verbs *v)
{
	kernel_half_read(&v->kernel);
}

static bool take_known(void *context, const struct verbs_qp_key *key, const struct verbs_kernel_qp *known)
{
	struct verbs *v = context;

	return qps_known(v->qps, key, known);
}

/* Asks for the devices. false: no memory, and those before stay. */
static bool list_devices(struct verbs *v, struct qps_listing *l)
{
	const struct rdma_host_device *list;
	struct qps_device *devices;

	l->device_count = rdma_devices(v->rdma, &list);
	devices = calloc(l->device_count + 1, sizeof(*devices));
	if (!devices)
		return false;
	for (size_t i = 0; i < l->device_count; i++)
		fill_device(&devices[i], &list[i]);
	l->devices = devices;
	return true;
}

static void say_if_slow(struct verbs *v, __u64 took)
{
	notes_remove(&v->notes, SLOW);
	if (took > NSEC_PER_SEC)
		notes_add(&v->notes, SLOW "%.1f s, so it is done every %.0f s: states that no call has changed are that old",
			  (double)took / NSEC_PER_SEC, (double)took * SHARE / NSEC_PER_SEC);
}

static void list_qps(struct verbs *v)
{
	struct qps_listing l = { .begun = now_ns() };
	__u64 lost = kernel_half_lost(&v->kernel);

	if (l.begun < v->again || !list_devices(v, &l))
		return;
	l.round = kernel_half_begin_round(&v->kernel);
	l.count = rdma_qps(v->rdma, &l.list);
	l.complete = rdma_qps_complete(v->rdma);
	l.ended = now_ns();
	kernel_half_read(&v->kernel);
	l.has_lost = lost != v->lost;
	v->lost = lost;
	qps_listed(v->qps, &l);
	kernel_half_walk(&v->kernel, take_known, v);
	qps_end(v->qps);
	free(v->devices);
	v->devices = (struct qps_device *)l.devices;
	rdma_counters(v->rdma, take_counter, v);
	v->again = l.begun + (now_ns() - l.begun) * SHARE;
	say_if_slow(v, now_ns() - l.begun);
}

static void say_what_was_lost(struct verbs *v)
{
	__u64 full = kernel_half_full(&v->kernel) + qps_refused(v->qps);

	notes_remove(&v->notes, "lost:");
	notes_remove(&v->notes, "more than");
	if (kernel_half_lost(&v->kernel))
		notes_add(&v->notes, "lost: %llu changes, because too many came at once; what they changed is known, their times are not",
			  (unsigned long long)kernel_half_lost(&v->kernel));
	if (full)
		notes_add(&v->notes, "more than %d QPs: the others are not shown, or without settings", VERBS_QPS);
}

/* ---- calls ---- */

static void collect_pid(void *context, struct verbs_qp *qp)
{
	struct verbs *v = context;

	if (!qp->gone && qp->qp.pid && !(v->pid_count && v->pids[v->pid_count - 1] == qp->qp.pid) &&
	    grow(v->pids, v->pid_count, v->pid_room, 64))
		v->pids[v->pid_count++] = qp->qp.pid;
}

static void take_calls(void *context, struct verbs_qp *qp)
{
	struct verbs *v = context;
	const struct verbs_calls *c;
	enum verbs_blind blind;

	if (qp->calls_final)
		return;
	if (!qp->attributes.is_user && !qp->qp.pid) {
		qp->blind = VERBS_KERNEL_USER;
		return;
	}
	c = calls_find(v->calls, qp->qp.pid, qp->qp.qpn, qp->qp.device, qp->born);
	if (c) {
		qp->has_calls = true;
		qp->calls = *c;
		qp->blind = VERBS_SEEN; /* also of a QP that came and went between two readings */
	}
	if (qp->gone) {
		calls_gone(v->calls, qp->qp.pid, qp->qp.qpn, qp->qp.device, qp->born, qp->gone);
		qp->calls_final = true;
		return;
	}
	blind = calls_blind(v->calls, qp->qp.pid);
	if (blind == VERBS_SEEN && !qp->has_calls)
		blind = qp->psn_moved || qp->blind == VERBS_NO_CALL ? VERBS_NO_CALL : VERBS_PASSIVE;
	qp->blind = blind;
}

static void take_no_calls(void *context, struct verbs_qp *qp)
{
	const struct verbs *v = context;

	qp->blind = !qp->attributes.is_user && !qp->qp.pid ? VERBS_KERNEL_USER : v->options.calls ? VERBS_REFUSED : VERBS_NOT_ASKED;
}

static void update_calls(struct verbs *v)
{
	if (!v->calls) {
		qps_each(v->qps, take_no_calls, v);
		return;
	}
	v->pid_count = 0;
	qps_each(v->qps, collect_pid, v);
	calls_update(v->calls, v->pids, v->pid_count);
	qps_each(v->qps, take_calls, v);
}

void verbs_update(struct verbs *v)
{
	processes_begin(v->processes);
	kernel_half_read(&v->kernel);
	list_qps(v);
	update_calls(v);
	book_close(&v->book);
	say_what_was_lost(v);
}

/* ---- what is known ---- */

size_t verbs_qps(const struct verbs *v, const struct verbs_qp *const **list)
{
	return qps_list(v->qps, list);
}

size_t verbs_cqs(const struct verbs *v, const struct verbs_cq **list)
{
	return v->calls ? calls_cqs(v->calls, list) : 0;
}

size_t verbs_srqs(const struct verbs *v, const struct verbs_srq **list)
{
	return v->calls ? calls_srqs(v->calls, list) : 0;
}

const struct verbs_cost *verbs_cost(const struct verbs *v)
{
	return v->calls ? calls_cost(v->calls) : NULL;
}

size_t verbs_counters(const struct verbs *v, const struct host_counter **list)
{
	*list = v->book.moved;
	return v->book.moved_count;
}

size_t verbs_notes(const struct verbs *v, const char *const **lines)
{
	*lines = (const char *const *)v->notes.lines;
	return v->notes.count;
}
