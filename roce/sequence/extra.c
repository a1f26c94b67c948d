// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The engine's pool of late windows and probations in user space (bpf/extras.h is the kernel's). `late` of a stream is a
 * pointer. What is given back stays for the next stream.
 */
#include <pthread.h>
#include <stdlib.h>

#include "roce/sequence/probation.h"

#define EXTRAS_MOST 65536 /* 0.7 gigabytes */

struct extra_entry {
	struct roce_extra extra; /* first: late_of() returns its beginning */
	struct extra_entry *next_free, *next; /* next: of all */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct extra_entry *all, *unused;
static size_t count;

struct roce_late *late_of(const struct roce_psn *w)
{
	return w->late == PSN_NO_LATE ? NULL : (struct roce_late *)w->late;
}

static struct extra_entry *make_entry(void)
{
	struct extra_entry *e = count < EXTRAS_MOST ? calloc(1, sizeof(*e)) : NULL;

	if (e) {
		e->next = all;
		all = e;
		count++;
	}
	return e;
}

struct roce_late *late_take(struct roce_psn *w)
{
	struct extra_entry *e;
	__u64 behind;

	if (w->late)
		return late_of(w);
	pthread_mutex_lock(&lock);
	e = unused;
	if (e)
		unused = e->next_free;
	else
		e = make_entry();
	pthread_mutex_unlock(&lock);
	if (!e)
		return NULL;
	late_move(&e->extra.late, e->extra.late.end + LATE_REACH, &behind); /* its last stream may have ended in the middle */
	e->extra.late.held = 0;
	w->late = (__u64)e;
	return &e->extra.late;
}

void late_give(struct roce_psn *w)
{
	struct extra_entry *e = (struct extra_entry *)late_of(w);

	w->late = 0;
	if (!e)
		return;
	pthread_mutex_lock(&lock);
	e->next_free = unused;
	unused = e;
	pthread_mutex_unlock(&lock);
}
