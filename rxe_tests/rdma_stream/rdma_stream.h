/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef RDMA_STREAM_H
#define RDMA_STREAM_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/rdma_end.h"
#include "userspace/traffic/streams/histogram.h"
#include "userspace/traffic/streams/ping_pong.h"
#include "userspace/traffic/streams/receiver.h"
#include "userspace/traffic/streams/sender.h"
#include "userspace/traffic/streams/stream_options.h"

#define RDMA_PORT	1	/* a RoCE device has one port */
#define RDMA_GRH	40	/* bytes before each UD payload at the receiver (IBTA, 11.4.1.2) */
#define RDMA_CQ_BATCH	32
#define RDMA_QKEY	0x11111111	/* of every UD QP */
#define RDMA_PEERS_MAX	64

/* What the buffers of messages are made of. */
enum rdma_pages { RDMA_NORMAL, RDMA_THP, RDMA_2M, RDMA_1G, RDMA_CUDA };
extern const char *const rdma_pages_names[];

struct rdma_options {
	struct stream_options common;
	enum rdma_service service;	/* 0 at a receiver: the sender's choice */
	enum rdma_operation operation;	/* RDMA_USUAL at a receiver: the sender's choice */
	const char *device;		/* NULL: the first device */
	int gid_index;			/* -1: the first RoCEv2 GID of the same kind as peer_gid */
	unsigned int path_mtu;		/* bytes; 0: that of the port */
	const char *control[RDMA_PEERS_MAX];	/* [HOST]:PORT; only `send` has several */
	unsigned int controls;
	int64_t psn;			/* of each QP's first packet; -1: random */
	unsigned int window;		/* messages (UD: packets) that a QP may have outstanding */
	unsigned int depth;		/* receives posted per QP */
	unsigned int ack_timeout;	/* Local ACK Timeout of RC (IBTA 9.7.6.1.3): 4.096 us * 2^n, 0 to 31; 0: none */
	unsigned int reads;		/* READs or atomics that a QP has outstanding at most; 0: as many as the device can */
	bool poll;			/* spin on the completion queue instead of sleeping for its events */
	unsigned int threads;		/* the QPs are divided among them */
	enum rdma_pages pages;
	unsigned int regions;		/* memory regions of each QP; 0: one for all QPs */

	/* the end that posts messages */
	unsigned int link;		/* work requests in a list */
	unsigned int signal;		/* every Nth work request is signalled */
	unsigned int solicited;		/* every Nth message asks for an event; 0: none does, and each causes one */
	bool inline_data;
	unsigned int stagger_ms;	/* each QP begins so much after the one before */
	struct rate qp_rate;		/* of each QP at most; 0: no limit */

	/* recv */
	unsigned int srq;		/* receives of a queue that QPs share; 0: each QP has its own */
	unsigned int srqs;		/* such queues; with several each has a thread: QP i is of number i modulo srqs */
	const char *gaps;		/* file for the list of gaps, or NULL */
	unsigned int senders;		/* that it waits for */

	/* a ring */
	bool ring;
	uint64_t burst;			/* messages; 0: a stream */
	uint64_t capacity;		/* bursts, or messages of a stream; 0: what 64 MiB hold */
	unsigned int workers;
	unsigned int upper, lower;	/* percent of the ring */
	uint64_t slow_us;		/* a worker takes so long for each message */

	/* recv, for a sender without a control connection */
	bool manual;			/* --peer-address: both ends get the parameters by hand */
	uint8_t peer_gid[16];		/* of --peer-address; IPv4 as ::ffff:a.b.c.d, also by default */
	uint32_t peer_psn;		/* first PSN that the sender sends to each QP */
	uint32_t peer_qpn;		/* of the first QP; counts up */
	const char *tell;		/* file for the data that the sender needs; "-": standard output */
	const char *dump;		/* file that gets the buffers at the end, or NULL */
};

/* A completion queue, for one thread. */
struct rdma_queue {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	unsigned int first, flows;	/* the QPs that complete there; with several shared queues those that there would be */
	bool poll;
	bool solicited;			/* sleeps for solicited completions only */
	uint64_t completions, events;	/* that were read */
};

struct rdma_memory {
	struct rdma_device *d;
	enum rdma_pages pages;
	char *at;		/* of CUDA: an address of the device, which the CPU cannot read */
	size_t bytes;
	int dma_buf;		/* of CUDA; -1: none */
};

#define RDMA_MEMORIES	3	/* headers and filler of messages, and where messages arrive */

struct rdma_device {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct rdma_queue *queue;
	unsigned int queues;
	struct ibv_srq **srq;		/* [srqs] */
	unsigned int srqs;		/* 0: each QP has its own receives */
	struct ibv_xrcd *xrcd;		/* of an XRC receiver, else NULL */
	struct ibv_qp **qp;		/* one per flow */
	uint16_t *flow_of;		/* [QPN] */
	struct rdma_memory memory[RDMA_MEMORIES];
	unsigned int memories;
	struct ibv_mr **mr;		/* all that are registered */
	unsigned int mrs;
	uint8_t gid_index;
	uint8_t ack_timeout;
};

/* Another end. The QPs of this one are divided among several in order. */
struct rdma_peer {
	struct rdma_end end;
	struct control *control;
	bool open;			/* it may still say something */
	unsigned int first, flows;	/* its QPs among those of this end */
};

struct rdma_peers {
	struct rdma_peer peer[RDMA_PEERS_MAX];
	unsigned int count, open;
	int news;			/* epoll: readable when an open peer says something */
	struct rdma_end all;		/* what a single other end would say that had all their QPs */
};

/* Whether this end posts work requests; the other one posts receives or nothing. */
static inline bool rdma_requests(const struct rdma_options *o, const struct rdma_end *self)
{
	return o->common.send != (self->operation == RDMA_READ);
}

/* Bytes of stream header in a message: 0 if it has no room for one. */
static inline size_t rdma_header_bytes(uint64_t size)
{
	return size < sizeof(struct stream_header) ? 0 : sizeof(struct stream_header);
}

/* How many buffers of that size, of `wanted`, fit into the memory that each of so many QPs may have: at least 2. */
unsigned int rdma_affordable(uint64_t size, unsigned int flows, unsigned int wanted);

/* The shared queue of a QP. NULL: it has its own receives. */
static inline struct ibv_srq *rdma_srq_of(const struct rdma_device *d, unsigned int flow)
{
	return d->srqs ? d->srq[flow % d->srqs] : NULL;
}

/* Opens device and port, and sets self's GID, LID and path MTU. Here and up to rdma_close() errors end the program. */
void rdma_open(struct rdma_device *d, const struct rdma_options *o, struct rdma_end *self);

bool rdma_has_xrc(const struct rdma_device *d);

/* Memory of zeroes, which stays until the program ends. */
struct rdma_memory *rdma_allocate(struct rdma_device *d, enum rdma_pages pages, size_t bytes);

/* Registers a part of it, until rdma_close(). access: enum ibv_access_flags. */
struct ibv_mr *rdma_register(struct rdma_memory *m, size_t from, size_t bytes, int access);

/* Lets `make` write the first bytes of it. */
void rdma_fill(const struct rdma_memory *m, void (*make)(void *at, size_t bytes), size_t bytes);

/* What lies at an address of it, to be read by the CPU; valid until this thread's next call. */
const char *rdma_readable(const struct rdma_memory *m, const char *at, size_t bytes);

/* The buffers of all QPs, of so many bytes, `each` of a QP: number n is of QP n / each. --regions divides those of a QP. */
struct rdma_buffers {
	struct rdma_memory *memory;
	uint64_t each;
	size_t bytes;
	unsigned int regions;		/* of a QP; 0: one for all QPs */
	uint64_t per_region;		/* buffers */
	struct ibv_mr **mr;		/* [QP][regions] */
};
struct rdma_buffers rdma_make_buffers(struct rdma_device *d, const struct rdma_options *o, unsigned int flows, uint64_t each,
				      size_t bytes, int access);

static inline char *rdma_buffer(const struct rdma_buffers *b, uint64_t number)
{
	return b->memory->at + number * b->bytes;
}

/* The memory region of a buffer. */
struct ibv_mr *rdma_region(const struct rdma_buffers *b, uint64_t number);

/*
 * Creates self->flows QPs of self->service in state INIT, with so many sends and receives each, and a completion queue for each
 * thread. Receives are those of shared queues instead if --srq wants it, or XRC. Sets how many READs or atomics a QP may serve,
 * or have outstanding if this end posts them.
 */
void rdma_create_qps(struct rdma_device *d, const struct rdma_options *o, unsigned int sends, unsigned int receives,
		     struct rdma_end *self);

void rdma_close(struct rdma_device *d, const struct rdma_end *self);

/*
 * The queues of the threads, for so many sends and receives of each QP, and receives of a shared queue. One thread plays ping-pong,
 * and one takes what comes to the shared queue of XRC, which completes to a single queue.
 */
void rdma_create_queues(struct rdma_device *d, const struct rdma_options *o, const struct rdma_end *self, unsigned int sends,
			unsigned int receives, unsigned int shared);

/* Moves the peer's QPs, the first of which is self's `first`, to RTR, and if it `requests` to RTS. */
void rdma_connect(struct rdma_device *d, const struct rdma_end *self, const struct rdma_end *peer, unsigned int first,
		  bool requests);

/* A sender: connects to its receivers, each of which gets --flows QPs. Errors end the program, here and up to peers_connect(). */
void peers_call(struct rdma_peers *p, const struct rdma_options *o);

/* Agrees with them on all parameters, and connects the QPs. self: with its QPs. */
void peers_agree(struct rdma_peers *p, const struct rdma_options *o, struct rdma_device *d, struct rdma_end *self);

/*
 * A receiver: says "ready", accepts all senders, and takes what each says of itself. check: ends the program if this end cannot do it.
 * false: none came within --wait.
 */
bool peers_accept(struct rdma_peers *p, const struct rdma_options *o,
		  void (*check)(const void *context, const struct rdma_peer *peer), const void *context);

/*
 * Joins what all peers have said: ->all, and the smallest path MTU and limit of READs in self. It must be one transfer: an error
 * ends the program, and the peer whose word differs is refused where this end is the receiver.
 */
void peers_join(struct rdma_peers *p, struct rdma_end *self);

void peers_connect(struct rdma_device *d, const struct rdma_peers *p, const struct rdma_end *self, bool requests);

/* Tells each peer this end's part of the QPs that is for it. */
void peers_tell(const struct rdma_peers *p, const struct rdma_end *self);

/* All are open from now on, until each is closed. */
void peers_open(struct rdma_peers *p);
void peers_close(struct rdma_peers *p, struct rdma_peer *peer);

/* Tells every peer whether it is "done" or may "go". */
void peers_say(const struct rdma_peers *p, const char *word);

/*
 * Of several peers the report has what each got or sent: messages of a flow are counted by messages(context, flow). run_ns: of
 * the run, STREAM_UNKNOWN if nobody knows.
 */
void peers_report(const struct rdma_peers *p, uint64_t size, uint64_t run_ns, struct stream_report *report,
		  uint64_t (*messages)(const void *context, unsigned int flow), const void *context);

/* How many messages each got, compared: 1 if all got as many, 1/n if one of n got all (Jain, Chiu and Hawe, DEC TR-301, 1984). */
double peers_fairness(const uint64_t *messages, unsigned int n);

/* Creates the address handle of the peer, for UD. */
struct ibv_ah *rdma_peer_ah(struct rdma_device *d, const struct rdma_end *peer);

/*
 * Reads completions, at most RDMA_CQ_BATCH. Waits up to `timeout_ns` for the first one, or until `fd` (-1: none) is readable.
 * Negative: the queue is broken.
 */
int rdma_completions(struct rdma_queue *queue, struct ibv_wc *wc, uint64_t timeout_ns, int fd);

/* What all queues have read. */
void rdma_report_queues(const struct rdma_device *d, struct stream_report *report);

/* Runs run(each[i]) in a thread for every queue but the first, whose thread is this one; and waits for them. Ends on errors. */
void rdma_threads(const struct rdma_device *d, void *(*run)(void *), void *each, size_t bytes);

struct rdma_flow {
	uint64_t posted, completed;
	uint64_t signalled;	/* all before this one complete with a signalled one */
	uint64_t *posted_ns;	/* [window] */
	struct pacer pacer;	/* of --qp-rate */
};

/* What one thread of a requester posts: to the QPs of its queue. */
struct rdma_poster {
	struct rdma_requester *q;
	struct rdma_queue *queue;
	struct stream_options part;	/* how much and how fast */
	struct stream_sender *s;
	struct ibv_send_wr *wr;		/* [--link] */
	struct ibv_sge (*sge)[2];
	bool closing;			/* the last messages, which are all signalled */
	uint64_t lists;			/* that were posted */
	uint64_t outstanding;		/* posted, not completed */
	uint64_t progress_ns;		/* the last completion, or the first post after a pause */
	struct histogram latency;	/* from posting to completion; for RC this includes the acknowledgement */
};

/* The end that posts work requests. The caller sets the first members, and zeroes the others. */
struct rdma_requester {
	struct rdma_device *d;
	const struct rdma_options *o;
	const struct rdma_end *self, *peer;
	const struct stream_options *options;	/* how much and how fast */
	unsigned int window;
	int wake_fd;			/* ends the run when it can be read; -1: none */
	void (*arrived)(void *context, unsigned int flow, uint64_t message, uint64_t now);	/* a READ; else NULL */
	void *context;

	unsigned int link, signal;
	struct rdma_poster *poster;	/* [d->queues]; after the run the first one has the sums */
	pthread_barrier_t all;		/* that are there begin together */
	struct rdma_flow *flow;
	struct stream_header *headers;	/* [flow][window] */
	struct ibv_mr *headers_mr;
	struct rdma_memory *filler;
	struct ibv_mr **filler_mr;	/* [flow][regions], or one */
	struct rdma_buffers fetched;	/* where READs and atomics put what they fetch: [flow][window] */
	struct ibv_ah *ah;		/* UD */
	const char *_Atomic error;
};

/* Registers the buffers: headers and the pattern of all fillers, or for READ those in which messages arrive. */
void requester_register(struct rdma_requester *q);

/* Posts until all is sent and completed, or until `error`. */
void requester_run(struct rdma_requester *q);

/* The parts of it, for ping-pong. requester_post() needs room. It posts a flow's next message (UD: packet). wc: of a good send. */
void requester_begin(struct rdma_requester *q);
bool requester_room(const struct rdma_requester *q, const struct sender_flow *flow);
void requester_post(struct rdma_poster *p, struct sender_flow *flow, uint64_t now, uint64_t realtime);
void requester_take(struct rdma_poster *p, const struct ibv_wc *wc, uint64_t now);

/* What a READ has brought; it stays until the next one is posted. */
const char *requester_fetched(const struct rdma_requester *q, unsigned int flow, uint64_t message);

/* For a peer: [{ "packets", "messages", "completed" }] of each of its flows, "end", and "ns", the time of the run. */
json_t *requester_totals(const struct rdma_requester *q, unsigned int first, unsigned int flows);

/* The end that messages come to. The caller sets the first members, and zeroes the others. */
struct rdma_responder {
	struct rdma_device *d;
	const struct rdma_options *o;
	struct rdma_end *self;		/* gets QPs, and what WRITEs need to know */
	const struct rdma_end *peer;
	struct stream_receiver *r;

	unsigned int depth;		/* receives posted per QP, or of the shared queue */
	uint64_t receives;		/* that completed */
	uint64_t broken;		/* of a shared queue: that completed without a message, of which a packet was lost */
	struct rdma_buffers buffers;	/* those of receives, or those that WRITEs and atomics go to */
	const char *_Atomic error;
};

/* Creates the QPs, with `sends` sends each, and posts receives to them. */
void responder_make(struct rdma_responder *p, unsigned int sends);

/*
 * Whether it is that of a receive of a shared queue whose message broke off: UC completes it with an error, and the QP goes on.
 * It has to be taken and posted again, too.
 */
bool responder_broken(const struct rdma_responder *p, const struct ibv_wc *wc);

/* Takes the completion of a receive; one thread at a time. If no error is set, the receive has to be posted again. */
void responder_take(struct rdma_responder *p, const struct ibv_wc *wc, uint64_t now);
void responder_post_again(struct rdma_responder *p, const struct ibv_wc *wc);

/*
 * An operation that completes nothing here: verifies what it has left in memory, at the end. sent: of this QP.
 */
void responder_verify_memory(struct rdma_responder *p, unsigned int flow, const struct rdma_totals *sent);

/* Both ends of --ping-pong: each is requester and responder. The caller sets q and p, and zeroes the others. */
struct rdma_duplex {
	struct rdma_requester *q;
	struct rdma_responder *p;
	struct ping_pong ping_pong;	/* only of the sender */
	bool due;			/* an answer, to this message */
	unsigned int flow;
	uint64_t message;
};

/* The sender: runs to the end. Returns what ended it early, or NULL. */
const char *duplex_send(struct rdma_duplex *u);

/*
 * The receiver: takes what has come, and answers. Waits up to timeout_ns, or until `fd` is readable. Returns the number of
 * completions; an error is at q or p.
 */
int duplex_answer(struct rdma_duplex *u, uint64_t timeout_ns, int fd);

/* The device's hardware counters now (name: value), and their increase since `before`. */
json_t *rdma_counters(const struct rdma_device *d);
json_t *rdma_counters_since(const struct rdma_device *d, json_t *before);

/* Both run to the end, print the JSON object and return the exit status. */
int rdma_send(const struct rdma_options *o);
int rdma_receive(const struct rdma_options *o);
int rdma_receive_manual(const struct rdma_options *o);
int rdma_send_ring(const struct rdma_options *o);
int rdma_receive_ring(const struct rdma_options *o);

#endif
