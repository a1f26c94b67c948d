/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef RDMA_STREAM_H
#define RDMA_STREAM_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/histogram.h"
#include "lib/ping_pong.h"
#include "lib/rdma_end.h"
#include "lib/receiver.h"
#include "lib/sender.h"
#include "lib/stream_options.h"

#define RDMA_PORT	1	/* port number; a RoCE device has one port */
#define RDMA_GRH	40	/* bytes before each UD payload at the receiver (IBTA, 11.4.1.2) */
#define RDMA_CQ_BATCH	32
#define RDMA_QKEY	0x11111111	/* of every UD QP */

struct rdma_options {
	struct stream_options common;
	enum rdma_service service;	/* 0 at a receiver: the sender's choice */
	enum rdma_operation operation;	/* RDMA_USUAL at a receiver: the sender's choice */
	const char *device;		/* NULL: the first device */
	int gid_index;			/* -1: the first RoCEv2 GID of the same kind as peer_gid */
	unsigned int path_mtu;		/* bytes; 0: that of the port */
	const char *control;		/* [HOST]:PORT */
	int64_t psn;			/* of each QP's first packet; -1: random */
	unsigned int window;		/* messages (UD: packets) that a QP may have outstanding */
	unsigned int depth;		/* receives posted per QP */
	unsigned int ack_timeout;	/* Local ACK Timeout of RC (IBTA 9.7.6.1.3): 4.096 us * 2^n, 0 to 31; 0: none */
	bool poll;			/* spin on the completion queue instead of sleeping for its events */

	/* recv, for a sender without a control connection */
	bool manual;			/* --peer-address: both ends get the parameters by hand */
	uint8_t peer_gid[16];		/* of --peer-address; IPv4 as ::ffff:a.b.c.d, also by default */
	uint32_t peer_psn;		/* first PSN that the sender sends to each QP */
	uint32_t peer_qpn;		/* of the first QP; counts up */
	const char *tell;		/* file for the data that the sender needs; "-": standard output */
	const char *dump;		/* file that gets the buffers at the end, or NULL */
};

struct rdma_device {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp **qp;		/* one per flow */
	struct ibv_mr *mr[2];		/* all that are registered, at most one of each kind of end */
	uint8_t gid_index;
	uint8_t ack_timeout;
	bool poll;
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

/* How many buffers of that size, of `wanted`, fit into the memory that a QP may have: at least 2. */
unsigned int rdma_buffers(uint64_t size, unsigned int wanted);

/*
 * Opens device and port, and sets self's GID, LID, path MTU, and the number of READs that a QP may serve (send) or have
 * outstanding (recv). In this and the next three functions errors end the program.
 */
void rdma_open(struct rdma_device *d, const struct rdma_options *o, struct rdma_end *self);

/* Allocates and registers the buffers of all QPs, zeroed. They are at ->addr, and stay until rdma_close(). */
struct ibv_mr *rdma_register(struct rdma_device *d, size_t bytes);

/* Creates self->flows QPs of self->service in state INIT, with so many sends and receives each, and one completion queue. */
void rdma_create_qps(struct rdma_device *d, const struct rdma_options *o, unsigned int sends, unsigned int receives,
		     struct rdma_end *self);

void rdma_close(struct rdma_device *d, const struct rdma_end *self);

/* Moves every QP to RTR, and if it `requests` to RTS. */
void rdma_connect(struct rdma_device *d, const struct rdma_end *self, const struct rdma_end *peer, bool requests);

/* Creates the address handle of the peer, for UD. */
struct ibv_ah *rdma_peer_ah(struct rdma_device *d, const struct rdma_end *peer);

/*
 * Reads completions, at most RDMA_CQ_BATCH. Waits up to `timeout_ns` for the first one, or until `fd` (-1: none) is readable.
 * Negative: the queue is broken.
 */
int rdma_completions(struct rdma_device *d, struct ibv_wc *wc, uint64_t timeout_ns, int fd);

struct rdma_flow {
	uint64_t posted, completed;
	uint64_t *posted_ns;	/* [window] */
};

/* The end that posts work requests. The caller sets the first members, and zeroes the others. */
struct rdma_requester {
	struct rdma_device *d;
	const struct rdma_end *self, *peer;
	const struct stream_options *options;	/* how much and how fast */
	unsigned int window;
	int wake_fd;			/* ends the run when it can be read; -1: none */
	void (*arrived)(void *context, unsigned int flow, uint64_t message, uint64_t now);	/* a READ; else NULL */
	void *context;

	struct sender *s;
	struct rdma_flow *flow;
	struct ibv_mr *mr;
	struct stream_header *headers;	/* [flow][window] */
	struct ibv_ah *ah;		/* UD */
	uint64_t outstanding;		/* posted, not completed */
	uint64_t progress_ns;		/* the last completion, or the first post after a pause */
	struct histogram latency;	/* from posting to completion; for RC this includes the acknowledgement */
	const char *error;
};

/* Registers the buffers: headers and the pattern of all fillers, or for READ those in which messages arrive. */
void requester_register(struct rdma_requester *q);

/* Posts until all is sent and completed, or until `error`. */
void requester_run(struct rdma_requester *q);

/* The parts of it, for ping-pong. requester_post() needs room. It posts a flow's next message (UD: packet). wc: of a good send. */
void requester_begin(struct rdma_requester *q);
bool requester_room(const struct rdma_requester *q, const struct sender_flow *flow);
void requester_post(struct rdma_requester *q, struct sender_flow *flow, uint64_t now, uint64_t realtime);
void requester_take(struct rdma_requester *q, const struct ibv_wc *wc, uint64_t now);

/* Where a READ's message has arrived; it stays until the next one is posted. */
const char *requester_buffer(const struct rdma_requester *q, unsigned int flow, uint64_t message);

/* For the other end: [{ "packets", "messages", "completed" }] of each flow, "end", and "ns", the time of the run. */
json_t *requester_totals(const struct rdma_requester *q);

/* The end that messages come to. The caller sets the first members, and zeroes the others. */
struct rdma_responder {
	struct rdma_device *d;
	const struct rdma_options *o;
	struct rdma_end *self;		/* gets QPs, and what WRITEs need to know */
	const struct rdma_end *peer;
	struct receiver *r;

	unsigned int depth;		/* receives posted per QP */
	size_t room;			/* of the buffer of a receive */
	uint64_t receives;		/* that completed */
	struct ibv_mr *mr;
	const char *error;
};

/* Creates the QPs, with `sends` sends each, and posts receives to them. */
void responder_make(struct rdma_responder *p, unsigned int sends);

/* Where a QP's WRITEs go. */
char *responder_region(const struct rdma_responder *p, unsigned int flow);

/* Takes the completion of a receive, which is good, and posts it again. */
void responder_take(struct rdma_responder *p, const struct ibv_wc *wc, uint64_t now);

/* Whether message `number` lies there. Older senders send zeroes: their messages cannot be told. */
bool responder_right(const struct rdma_responder *p, unsigned int flow, uint64_t number, const char *at);

/* Both ends of --ping-pong: each is requester and responder. The caller sets q and p, and zeroes the others. */
struct rdma_players {
	struct rdma_requester *q;
	struct rdma_responder *p;
	struct ping_pong ping_pong;	/* only of the sender */
	bool due;			/* an answer, to this message */
	unsigned int flow;
	uint64_t message;
};

/* The sender: runs to the end. Returns what ended it early, or NULL. */
const char *players_send(struct rdma_players *u);

/*
 * The receiver: takes what has come, and answers. Waits up to timeout_ns, or until `fd` is readable. Returns the number of
 * completions; an error is at q or p.
 */
int players_answer(struct rdma_players *u, uint64_t timeout_ns, int fd);

/* The device's hardware counters now (name: value), and their increase since `before`. */
json_t *rdma_counters(const struct rdma_device *d);
json_t *rdma_counters_since(const struct rdma_device *d, json_t *before);

/* The control connection (lib/control.h). An error ends the program, as does a refusal of the other end. */
int must_listen(const struct rdma_options *o);
struct control *must_connect(const struct rdma_options *o);
void must_receive_end(struct control *control, struct rdma_end *end);

/* Both run to the end, print the JSON object and return the exit status. */
int rdma_send(const struct rdma_options *o);
int rdma_receive(const struct rdma_options *o);
int rdma_receive_reads(const struct rdma_options *o);
int rdma_receive_manual(const struct rdma_options *o);

#endif
