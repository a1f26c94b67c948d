// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <endian.h>
#include <err.h>
#include <stdlib.h>

#include "rxe_tests/rdma_stream/ring_mode.h"

static bool post_receive(struct ring_notes *n, unsigned int place)
{
	struct ibv_sge sge = { (uintptr_t)&n->in[place], sizeof(*n->in), n->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = RING_NOTE_IN + place, .sg_list = &sge, .num_sge = 1 }, *bad;

	return !ibv_post_recv(n->qp, &wr, &bad);
}

struct ring_notes *notes_make(struct rdma_device *d, unsigned int qps)
{
	struct ring_notes *all = calloc(qps, sizeof(*all));
	size_t each = (RING_NOTES + RING_RECEIVES) * sizeof(*all->out);
	struct rdma_memory *memory = rdma_allocate(d, RDMA_NORMAL, qps * each);
	struct ibv_mr *mr = rdma_register(memory, 0, qps * each, IBV_ACCESS_LOCAL_WRITE);

	if (!all)
		err(1, "no memory");
	for (unsigned int i = 0; i < qps; i++) {
		struct ring_note *at = (struct ring_note *)(memory->at + i * each);

		all[i] = (struct ring_notes){ .qp = d->qp[i], .mr = mr, .out = at, .in = at + RING_NOTES };
		for (unsigned int place = 0; place < RING_RECEIVES; place++)
			post_receive(&all[i], place);
	}
	return all;
}

bool notes_send(struct ring_notes *n, uint64_t messages, bool paused, uint64_t now, const char **error)
{
	struct ring_note *note = &n->out[n->posted % RING_NOTES];
	struct ibv_sge sge = { (uintptr_t)note, sizeof(*note), n->mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = RING_NOTE_OUT, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED, .sg_list = &sge, .num_sge = 1,
	}, *bad;

	if (n->posted - n->completed == RING_NOTES)
		return false;
	*note = (struct ring_note){ .messages = htobe64(messages), .paused = htonl(paused) };
	if (ibv_post_send(n->qp, &wr, &bad))
		*error = "the QP takes no more work requests";
	n->posted++;
	n->posted_ns = now;
	return true;
}

bool notes_take(struct ring_notes *n, const struct ibv_wc *wc, uint64_t now, struct ring_note *note, const char **error)
{
	n->came_ns = now;
	if (wc->wr_id < RING_NOTE_IN) {
		n->completed++;
		return false;
	}
	*note = n->in[wc->wr_id - RING_NOTE_IN];
	if (wc->byte_len != sizeof(*note))
		*error = "a SEND of the other end is no note";
	else if (!post_receive(n, wc->wr_id - RING_NOTE_IN))
		*error = "the QP takes no more receives";
	return !*error;
}
