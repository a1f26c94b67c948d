/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef RDMA_STREAM_RING_MODE_H
#define RDMA_STREAM_RING_MODE_H

#include "rxe_tests/rdma_stream/rdma_stream.h"
#include "rxe_tests/rdma_stream/ring.h"

#define RING_NOTES	16	/* that an end may have outstanding on a QP; it has receives for four times as many */
#define RING_RECEIVES	(4 * RING_NOTES)
#define RING_NAP_NS	(20 * NSEC_PER_MSEC)	/* the longest time between two looks at the clock */
#define RING_SIGN_NS	NSEC_PER_SEC		/* each end sends a note at least so often */
#define RING_SILENCE_NS	(20 * NSEC_PER_SEC)	/* after so long without a note or a completion the other end is given up */

/* ---- ring_notes.c: what the ends tell each other in SENDs ---- */

/*
 * The sender's note: `messages` have been written. RC keeps the order, so all of them are there when it comes. The receiver's
 * note: it has handed `messages` back, and there is back-pressure or not. A note tells the whole state, so a later one replaces
 * an earlier one. SENDs, and no WRITEs of a word: a SEND completes a receive, so that the other end can sleep until it comes.
 */
struct ring_note {
	__be64 messages;
	__be32 paused;
	__be32 reserved;
};

struct ring_notes {
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct ring_note *out, *in;	/* [RING_NOTES], [RING_RECEIVES] */
	uint64_t posted, completed;
	uint64_t posted_ns, came_ns;	/* the last ones */
};

#define RING_NOTE_OUT	(1ull << 32)	/* wr_id of a note sent, and of the receives, from here on. A message's is 0 */
#define RING_NOTE_IN	(2ull << 32)

/* Those of the first QPs of the device. Posts the receives. */
struct ring_notes *notes_make(struct rdma_device *d, unsigned int qps);

/* Posts a note. false: RING_NOTES are outstanding, try again after a completion. *error is set if the QP fails. */
bool notes_send(struct ring_notes *n, uint64_t messages, bool paused, uint64_t now, const char **error);

/* Takes a good completion of a note. true: the other end sent it, and it is in *note. *error is set as above. */
bool notes_take(struct ring_notes *n, const struct ibv_wc *wc, uint64_t now, struct ring_note *note, const char **error);

/* ---- ring_workers.c ---- */

struct ring_worker {
	struct ring_workers *all;
	unsigned int number;
	uint64_t done;			/* end of the last batch that it had a share of */
	uint64_t messages, wrong, straddled;
	uint64_t first_wrong;		/* the number of the first one */
};

/*
 * W workers, which are started once. They wait on a condition variable for messages, meet at a barrier, and each verifies its
 * share of a batch: a burst, or all of a stream that has been told. When all are done the first worker hands the batch back.
 */
struct ring_workers {
	/* set before workers_start() */
	const char *ring;
	uint64_t size, capacity, unit;	/* bytes of a message; messages of the ring, and of a burst (1: a stream) */
	unsigned int count;
	uint64_t slow_ns;
	void (*handed_back)(void *context);	/* called by the first worker, with `lock` held */
	void *context;

	pthread_mutex_t lock;		/* of the following */
	pthread_cond_t arrived;
	uint64_t told, handed;		/* messages: of the sender's last note, and handed back */
	bool over;			/* no more will come */
	_Atomic bool hurry;		/* slow no more, and read nothing more */
	uint64_t handed_ns;

	pthread_barrier_t barrier;
	struct ring_span batch;		/* between two barriers */
	bool quit;
	uint64_t batches, straddled;
	uint64_t wrong, first_wrong;	/* of all workers, after workers_end() */
	pthread_t *thread;
	struct ring_worker *worker;
};

void workers_start(struct ring_workers *c);

/* Tells the workers of messages, up to this one; with `lock` held. */
void workers_tell(struct ring_workers *c, uint64_t told);

/* Ends the workers, once all that was told is handed back, or at once: `discard`. */
void workers_end(struct ring_workers *c, bool discard);

/* ---- ring_report.c ---- */

/* Their number, and how long they were, in seconds. */
json_t *ring_episodes_json(const struct ring_episodes *e);

/* Adds how many messages of `size` bytes were carried in ns. */
void ring_carried(json_t *object, uint64_t messages, uint64_t size, uint64_t ns);

/* Completes the object, and prints it or what a reader wants of it. Takes the reference. */
void ring_print(const struct rdma_options *o, const struct rdma_end *sender, const struct cpu_meter *cpu, const char *error, json_t *report);

#endif
