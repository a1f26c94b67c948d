// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/observe/verbs/qp_table.h"
#include "userspace/observe/verbs/qps.h"

#define SLOTS (VERBS_QPS / 4)

bool qp_table_open(struct qp_table *t)
{
	*t = (struct qp_table){ .slots = calloc(SLOTS, sizeof(*t->slots)) };
	return t->slots;
}

static void free_chain(struct qp_entry *e)
{
	while (e) {
		struct qp_entry *next = e->next;

		free(e);
		e = next;
	}
}

void qp_table_close(struct qp_table *t)
{
	for (size_t i = 0; t->slots && i < SLOTS; i++)
		free_chain(t->slots[i]);
	free_chain(t->oldest_gone);
	free(t->slots);
	free(t->sorted);
	*t = (struct qp_table){ 0 };
}

/* ---- those that exist ---- */

static __u32 port_of(__u32 qpn, __u32 port)
{
	return qpn > 1 ? 0 : port ?: 1;
}

static struct qp_entry **slot_of(const struct qp_table *t, const char *device, __u32 qpn)
{
	__u32 hash = qpn * 0x9e3779b1;

	for (; *device; device++)
		hash = (hash ^ (__u8)*device) * 16777619;
	return &t->slots[(hash ^ hash >> 15) % SLOTS];
}

struct qp_entry *qp_table_find(const struct qp_table *t, const char *device, __u32 qpn, __u32 port)
{
	struct qp_entry *e = *slot_of(t, device, qpn);

	while (e && (e->qp.qp.qpn != qpn || strcmp(e->qp.qp.device, device) ||
		     port_of(qpn, e->qp.qp.port) != port_of(qpn, port)))
		e = e->next;
	return e;
}

struct qp_entry *qp_table_add(struct qp_table *t, const char *device, __u32 qpn, __u32 port)
{
	struct qp_entry *e = t->count < VERBS_QPS ? calloc(1, sizeof(*e)) : NULL;
	struct qp_entry **slot = slot_of(t, device, qpn);

	if (!e) {
		t->refused++;
		return NULL;
	}
	snprintf(e->qp.qp.device, sizeof(e->qp.qp.device), "%s", device);
	e->qp.qp.qpn = qpn;
	e->qp.qp.port = port;
	e->next = *slot;
	*slot = e;
	t->count++;
	t->is_sorted = false;
	return e;
}

void qp_table_each(struct qp_table *t, void (*take)(void *context, struct qp_entry *e), void *context)
{
	for (size_t i = 0; i < SLOTS; i++)
		for (struct qp_entry *e = t->slots[i], *next; e; e = next) {
			next = e->next;
			take(context, e);
		}
}

/* ---- those that are gone ---- */

static void forget_oldest(struct qp_table *t)
{
	struct qp_entry *e = t->oldest_gone;

	t->oldest_gone = e->next;
	if (!t->oldest_gone)
		t->newest_gone = NULL;
	t->gone--;
	t->is_sorted = false;
	free(e);
}

void qp_table_retire(struct qp_table *t, struct qp_entry *e)
{
	struct qp_entry **at = slot_of(t, e->qp.qp.device, e->qp.qp.qpn);

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	e->next = NULL;
	t->count--;
	if (t->newest_gone)
		t->newest_gone->next = e;
	else
		t->oldest_gone = e;
	t->newest_gone = e;
	t->gone++;
	t->is_sorted = false;
}

void qp_table_expire(struct qp_table *t, __u64 before)
{
	while (t->oldest_gone && (t->gone > QPS_GONE || t->oldest_gone->qp.gone < before))
		forget_oldest(t);
}

/* ---- all of them ---- */

static int compare(const void *a, const void *b)
{
	const struct verbs_qp *x = *(const struct verbs_qp *const *)a, *y = *(const struct verbs_qp *const *)b;
	int device = strcmp(x->qp.device, y->qp.device);

	if (device)
		return device;
	if (x->qp.qpn != y->qp.qpn)
		return (x->qp.qpn > y->qp.qpn) - (x->qp.qpn < y->qp.qpn);
	return (x->first_seen > y->first_seen) - (x->first_seen < y->first_seen);
}

static bool make_room(struct qp_table *t)
{
	size_t wanted = t->count + t->gone + 1;
	const struct verbs_qp **larger;

	if (wanted <= t->sorted_room)
		return true;
	wanted += wanted / 2;
	larger = realloc(t->sorted, wanted * sizeof(*larger));
	if (!larger)
		return false;
	t->sorted = larger;
	t->sorted_room = wanted;
	return true;
}

size_t qp_table_list(struct qp_table *t, const struct verbs_qp *const **list)
{
	size_t count = 0;

	if (!t->is_sorted && !make_room(t))
		return 0;
	for (size_t i = 0; !t->is_sorted && i < SLOTS; i++)
		for (const struct qp_entry *e = t->slots[i]; e; e = e->next)
			t->sorted[count++] = &e->qp;
	for (const struct qp_entry *e = t->is_sorted ? NULL : t->oldest_gone; e; e = e->next)
		t->sorted[count++] = &e->qp;
	if (!t->is_sorted && count)
		qsort(t->sorted, count, sizeof(*t->sorted), compare);
	t->is_sorted = true;
	*list = t->sorted;
	return t->count + t->gone;
}
