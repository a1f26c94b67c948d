// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The engine's pool of far windows and trials in user space (bpf/extras.h is the kernel's). `far` of a stream is a pointer. What
 * is given back stays for the next stream.
 */
#include <pthread.h>
#include <stdlib.h>

#include "roce/sequence/trial.h"

#define EXTRAS_MOST 65536 /* 0.7 gigabytes */

struct entry {
	struct roce_extra extra; /* first: far_of() returns its beginning */
	struct entry *next_free, *next; /* next: of all */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *all, *unused;
static size_t count;

struct roce_far *far_of(const struct roce_psn *w)
{
	return w->far == PSN_NO_FAR ? NULL : (struct roce_far *)w->far;
}

static struct entry *make_entry(void)
{
	struct entry *e = count < EXTRAS_MOST ? calloc(1, sizeof(*e)) : NULL;

	if (e) {
		e->next = all;
		all = e;
		count++;
	}
	return e;
}

struct roce_far *far_take(struct roce_psn *w)
{
	struct entry *e;
	__u64 behind;

	if (w->far)
		return far_of(w);
	pthread_mutex_lock(&lock);
	e = unused;
	if (e)
		unused = e->next_free;
	else
		e = make_entry();
	pthread_mutex_unlock(&lock);
	if (!e)
		return NULL;
	far_move(&e->extra.far, e->extra.far.end + FAR_REACH, &behind); /* its last stream may have ended in the middle */
	e->extra.far.held = 0;
	w->far = (__u64)e;
	return &e->extra.far;
}

void far_give(struct roce_psn *w)
{
	struct entry *e = (struct entry *)far_of(w);

	w->far = 0;
	if (!e)
		return;
	pthread_mutex_lock(&lock);
	e->next_free = unused;
	unused = e;
	pthread_mutex_unlock(&lock);
}
