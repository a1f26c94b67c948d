/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef RDMA_RING_H
#define RDMA_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/control.h"
#include "lib/number.h"
#include "lib/option.h"
#include "rxe_tests/rdma_ring/ring.h"
#include "userspace/traffic/streams/cpu.h"
#include "userspace/traffic/streams/rdma_device.h"
#include "userspace/traffic/streams/windows.h"

#define RING_RECEIVERS	64	/* that a sender can have */
#define RING_WORKERS	256
#define RING_BATCH	32	/* completions */
#define RING_NOTES	16	/* that an end may have outstanding; it has receives for four times as many */
#define RING_NAP_NS	(20 * NSEC_PER_MSEC)	/* the longest time between two looks at the clock */
#define RING_SIGN_NS	NSEC_PER_SEC		/* each end sends a note at least so often */
#define RING_SILENCE_NS	(20 * NSEC_PER_SEC)	/* after so long without a note or a completion the other end is given up */

struct ring_options {
	bool send, json;
	uint16_t port;			/* TCP, of the control connection */
	const char *device;		/* NULL: the first one */
	int gid_index;			/* -1: the first RoCEv2 GID of an IPv4 address */
	unsigned int path_mtu;		/* bytes; 0: that of the port */

	/* send */
	const char *receiver[RING_RECEIVERS];	/* HOST[:PORT] of the control connection */
	unsigned int receivers;
	uint64_t size;			/* bytes of a message, at least RING_HEADER */
	uint64_t burst;			/* messages; 0: a stream */
	uint64_t messages;		/* for each receiver; 0: not given */
	double duration;		/* s; 0: not given */
	struct rate rate;		/* bits of messages, over all receivers; 0: no limit */
	unsigned int window;		/* messages that may be outstanding to a receiver */

	/* recv */
	const char *listen;		/* [HOST][:PORT] */
	uint64_t capacity;		/* bursts, or messages of a stream; 0: what 64 MiB hold */
	unsigned int workers;
	unsigned int upper, lower;	/* percent of the ring */
	uint64_t slow_us;		/* a worker takes so long for each message */
	double wait;			/* s, for a sender */
};

/* ---- device.c: an RDMA device with RC QPs and one completion queue. Errors end the program. ---- */

struct ring_device {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	uint8_t gid_index;
};

/* Opens the device with a queue of so many completions; sets what of `self` it determines: GID, LID, path MTU. */
void ring_open(struct ring_device *d, const struct ring_options *o, unsigned int completions, struct rdma_end *self);

/* Zeroed memory, at ->addr, that the other end may write to. It stays until the process ends. */
struct ibv_mr *ring_memory(struct ring_device *d, size_t bytes);

/* An RC QP; its QPN and first PSN. And to RTS, once the other end's are known. */
struct ibv_qp *ring_qp(struct ring_device *d, unsigned int sends, unsigned int receives, struct rdma_qp_address *self);
void ring_connect(struct ring_device *d, struct ibv_qp *qp, const struct rdma_end *self, const struct rdma_end *peer);

/*
 * Completions that are there, at most RING_BATCH. arm: if there are none, the next one ends ring_wait(). Negative: the queue is
 * broken.
 */
int ring_poll(struct ring_device *d, struct ibv_wc wc[RING_BATCH], bool arm);

/* Waits until `when`, for a completion, a signal, or until one of `count` descriptors can be read. */
void ring_wait(struct ring_device *d, uint64_t when, struct control *const *controls, unsigned int count);

/* ---- notes.c: what the ends tell each other in SENDs ---- */

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
	struct ring_note *out, *in;	/* [RING_NOTES], [4 * RING_NOTES] */
	uint64_t posted, completed;
	uint64_t posted_ns, came_ns;	/* the last ones */
};

#define RING_NOTE_OUT	(1ull << 32)	/* wr_id of a note sent, and of the receives, from here on. A message's is 0 */
#define RING_NOTE_IN	(2ull << 32)

/* Posts the receives. */
void notes_make(struct ring_notes *n, struct ring_device *d, struct ibv_qp *qp);

/* Posts a note. false: RING_NOTES are outstanding, try again after a completion. *error is set if the QP fails. */
bool notes_send(struct ring_notes *n, uint64_t messages, bool paused, uint64_t now, const char **error);

/* Takes a good completion of a note. true: the other end sent it, and it is in *note. *error is set as above. */
bool notes_take(struct ring_notes *n, const struct ibv_wc *wc, uint64_t now, struct ring_note *note, const char **error);

/* ---- crew.c: the workers ---- */

struct crew_worker {
	struct crew *crew;
	unsigned int number;
	uint64_t done;			/* end of the last batch that it had a share of */
	uint64_t messages, wrong, straddled;
	uint64_t first_wrong;		/* the number of the first one */
};

/*
 * W workers, which are started once. They wait on a condition variable for messages, meet at a barrier, and each verifies its
 * share of a batch: a burst, or all of a stream that has been told. When all are done the first worker hands the batch back.
 */
struct crew {
	/* set before crew_start() */
	const char *ring;
	uint64_t size, capacity, unit;	/* bytes of a message; messages of the ring, and of a burst (1: a stream) */
	unsigned int workers;
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
	pthread_t *thread;
	struct crew_worker *worker;
};

void crew_start(struct crew *c);

/* Tells the workers of messages, up to this one; with `lock` held. */
void crew_tell(struct crew *c, uint64_t told);

/* Ends the workers, once all that was told is handed back, or at once: `discard`. */
void crew_end(struct crew *c, bool discard);

/* ---- report.c ---- */

json_t *ring_episodes_json(const struct ring_episodes *e);

/* Prints the object, or what a reader wants of it. Takes the reference. */
void ring_print(const struct ring_options *o, json_t *report);

/* Both run to the end, print the report and return the exit status. */
int ring_send(const struct ring_options *o);
int ring_receive(const struct ring_options *o);

#endif
