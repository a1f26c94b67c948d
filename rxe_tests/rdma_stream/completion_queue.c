// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Completion queues, and the threads that read them. */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

#include "lib/clock.h"
#include "rxe_tests/rdma_stream/rdma_stream.h"

static void create_queue(struct rdma_device *d, struct rdma_queue *queue, unsigned int completions)
{
	queue->channel = ibv_create_comp_channel(d->context);
	if (!queue->channel)
		err(1, "completion channel");
	fcntl(queue->channel->fd, F_SETFL, fcntl(queue->channel->fd, F_GETFL) | O_NONBLOCK);
	queue->cq = ibv_create_cq(d->context, completions ? completions : 1, NULL, queue->channel, 0);
	if (!queue->cq)
		err(1, "completion queue of %u entries (fewer --flows, --window, --depth or --srq)", completions);
}

void rdma_create_queues(struct rdma_device *d, const struct rdma_options *o, const struct rdma_end *self, unsigned int sends,
			unsigned int receives, unsigned int shared)
{
	bool one = self->ping_pong || (self->service == RDMA_XRC && !rdma_requests(o, self));
	unsigned int flows = self->flows, threads = shared && o->srqs > 1 ? o->srqs : o->threads;

	d->queues = one ? 1 : threads < flows ? threads : flows;
	d->queue = calloc(d->queues, sizeof(*d->queue));
	if (!d->queue)
		err(1, "no memory");
	for (unsigned int i = 0; i < d->queues; i++) {
		struct rdma_queue *queue = &d->queue[i];

		queue->poll = o->poll;
		queue->first = (uint64_t)i * flows / d->queues;
		queue->flows = (uint64_t)(i + 1) * flows / d->queues - queue->first;
		create_queue(d, queue, queue->flows * (sends + receives) + shared);
	}
}

static void sleep_for_event(struct rdma_queue *queue, uint64_t timeout_ns, int fd)
{
	struct timespec timeout = { timeout_ns / NSEC_PER_SEC, timeout_ns % NSEC_PER_SEC };
	struct pollfd p[] = { { .fd = queue->channel->fd, .events = POLLIN }, { .fd = fd, .events = POLLIN } };
	unsigned int events = 0;
	struct ibv_cq *cq;
	void *context;

	ppoll(p, 2, &timeout, NULL);
	while (!ibv_get_cq_event(queue->channel, &cq, &context))
		events++;
	if (events)
		ibv_ack_cq_events(queue->cq, events);
	queue->events += events;
}

static int take(struct rdma_queue *queue, struct ibv_wc *wc)
{
	int n = ibv_poll_cq(queue->cq, RDMA_CQ_BATCH, wc);

	if (n > 0)
		queue->completions += n;
	return n;
}

/* Armed before the second look, so that a completion in between ends the sleep. */
int rdma_completions(struct rdma_queue *queue, struct ibv_wc *wc, uint64_t timeout_ns, int fd)
{
	int n = take(queue, wc);

	if (n || !timeout_ns || queue->poll)
		return n;
	if (ibv_req_notify_cq(queue->cq, queue->solicited))
		return -1;
	n = take(queue, wc);
	if (n)
		return n;
	sleep_for_event(queue, timeout_ns, fd);
	return take(queue, wc);
}

void rdma_report_queues(const struct rdma_device *d, struct stream_report *report)
{
	uint64_t completions = 0, events = 0;

	for (unsigned int i = 0; i < d->queues; i++) {
		completions += d->queue[i].completions;
		events += d->queue[i].events;
	}
	report_extra(report, "threads", d->queues);
	report_extra(report, "completions", completions);
	report_extra(report, "completion_events", events);
}

void rdma_threads(const struct rdma_device *d, void *(*run)(void *), void *each, size_t bytes)
{
	pthread_t *thread = calloc(d->queues, sizeof(*thread));

	if (!thread)
		err(1, "no memory");
	for (unsigned int i = 1; i < d->queues; i++) {
		errno = pthread_create(&thread[i], NULL, run, (char *)each + i * bytes);
		if (errno)
			err(1, "thread %u", i + 1);
	}
	run(each);
	for (unsigned int i = 1; i < d->queues; i++)
		pthread_join(thread[i], NULL);
	free(thread);
}
