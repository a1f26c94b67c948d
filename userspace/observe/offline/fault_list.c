// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "userspace/observe/model/faults.h"
#include "userspace/observe/offline/fault_list.h"

bool fault_list_init(struct fault_list *l, size_t most, const struct filter *filter)
{
	memset(l, 0, sizeof(*l));
	pthread_mutex_init(&l->lock, NULL);
	l->most = most;
	l->filter = filter;
	l->bound = most ? ~0ull : 0;
	/* room for twice as many: sorting is needed only once in `most` faults */
	l->faults = calloc(most ? 2 * most : 1, sizeof(*l->faults));
	return l->faults;
}

__u32 fault_kinds(const struct analysis_seen *seen)
{
	const struct roce_stream *s = seen->stream;

	return faults_of_event(seen->event->kinds, s && s->trusted, s ? s->service : seen->parsed->packet.service);
}

static int compare_numbers(const void *a, const void *b)
{
	const struct listed_fault *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Sorts the faults and keeps the first `most`. */
static void cut(struct fault_list *l)
{
	qsort(l->faults, l->count, sizeof(*l->faults), compare_numbers);
	if (l->count < l->most)
		return;
	l->count = l->most;
	__atomic_store_n(&l->bound, l->faults[l->most - 1].number, __ATOMIC_RELAXED);
}

static void fill(struct listed_fault *f, const struct analysis_seen *seen, __u32 kinds)
{
	const struct roce_packet *p = &seen->parsed->packet;

	*f = (struct listed_fault){ .number = seen->number, .time = seen->time, .dqpn = p->dqpn, .event = *seen->event };
	f->event.kinds = kinds;
	f->service = seen->stream ? seen->stream->service : p->service;
	if (seen->parsed->has_stream) {
		f->key = seen->parsed->key;
	} else {
		memcpy(f->key.src, p->src, sizeof(p->src));
		memcpy(f->key.dst, p->dst, sizeof(p->dst));
	}
	memcpy(f->dst, p->dst, sizeof(p->dst));
}

static bool wants(const struct fault_list *l, const struct analysis_seen *seen)
{
	struct listed_fault f;

	if (!l->filter)
		return true;
	fill(&f, seen, 0);
	return filter_wants_stream(l->filter, &f.key, seen->stream);
}

static void count(struct fault_count *c, __u32 kinds)
{
	c->packets++;
	for (int i = 0; i < ROCE_EVENTS; i++)
		c->kind[i] += kinds >> i & 1;
}

void fault_list_see(struct fault_list *l, const struct analysis_seen *seen)
{
	__u32 kinds = seen->event->kinds ? fault_kinds(seen) : 0;

	if (!kinds || !wants(l, seen))
		return;
	count(&l->shard[seen->shard], kinds);
	/* the bound only falls: an old one admits faults that the next cut removes */
	if (seen->number >= __atomic_load_n(&l->bound, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&l->lock);
	if (l->count == 2 * l->most)
		cut(l);
	fill(&l->faults[l->count++], seen, kinds);
	pthread_mutex_unlock(&l->lock);
}

void fault_list_finish(struct fault_list *l)
{
	if (l->count)
		cut(l);
	for (size_t s = 0; s < ANALYSIS_SHARDS; s++) {
		l->packets += l->shard[s].packets;
		for (int i = 0; i < ROCE_EVENTS; i++)
			l->kind[i] += l->shard[s].kind[i];
	}
}

void fault_list_free(struct fault_list *l)
{
	free(l->faults);
	pthread_mutex_destroy(&l->lock);
}
