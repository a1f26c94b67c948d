/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef RXE_TESTS_RDMA_STREAM_H
#define RXE_TESTS_RDMA_STREAM_H

#include <infiniband/verbs.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/stream_options.h"

#define RDMA_PORT	1	/* port number; a RoCE device has one port */
#define RDMA_GRH	40	/* bytes before each UD payload at the receiver (IBTA, 11.4.1.2) */
#define RDMA_CQ_BATCH	32
#define RDMA_QKEY	0x11111111	/* of every UD QP */

struct rdma_options {
	struct stream_options common;
	enum ibv_qp_type service;	/* RC, UC or UD; 0 at a receiver: the sender's choice */
	const char *device;		/* NULL: the first device */
	int gid_index;			/* -1: the first RoCEv2 GID of the same kind as peer_gid */
	unsigned int path_mtu;		/* bytes; 0: that of the port */
	const char *control;		/* [HOST]:PORT */
	int64_t psn;			/* of each QP's first packet; -1: random */
	unsigned int window;		/* messages (UD: packets) that a QP may have outstanding */
	unsigned int depth;		/* receives posted per QP */
	bool poll;			/* spin on the completion queue instead of sleeping for its events */

	/* recv, for a sender without a control connection */
	bool manual;			/* --peer-address: both ends get the parameters by hand */
	union ibv_gid peer_gid;		/* of --peer-address; IPv4 as ::ffff:a.b.c.d, also by default */
	uint32_t peer_psn;		/* first PSN that the sender sends to each QP */
	uint32_t peer_qpn;		/* of the first QP; counts up */
	const char *tell;		/* file for the data that the sender needs; "-": standard output */
	const char *dump;		/* file that gets the buffers at the end, or NULL */
};

/* What each end sends to the other about a QP. `address` and `rkey` are the target of RDMA WRITEs. */
struct rdma_qp_address {
	uint32_t qpn, psn, rkey;
	uint64_t address;
};

struct rdma_end {
	enum ibv_qp_type service;
	uint64_t size;
	unsigned int path_mtu;		/* bytes */
	union ibv_gid gid;
	uint16_t lid;
	unsigned int flows;
	struct rdma_qp_address *qp;
};

struct rdma_device {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_qp **qp;		/* one per flow */
	struct ibv_mr *mr;
	char *buffer;
	uint8_t gid_index;
	bool poll;
};

/* "rc", "uc", "ud" */
const char *rdma_service_name(enum ibv_qp_type service);

/*
 * The number of message slots in each QP's region for RDMA WRITEs: message k is written to slot k % slots. Both ends compute it
 * from the message size.
 */
unsigned int rdma_write_slots(uint64_t size);

/* Opens device and port, and sets self's GID, LID and path MTU. In this and the next three functions errors end the program. */
void rdma_open(struct rdma_device *d, const struct rdma_options *o, struct rdma_end *self);

/* Allocates and registers the buffers of all QPs, zeroed. */
void rdma_register(struct rdma_device *d, size_t bytes);

/* Creates self->flows QPs of self->service in state INIT, with `wqes` sends or receives each, and one completion queue. */
void rdma_create_qps(struct rdma_device *d, const struct rdma_options *o, unsigned int wqes, struct rdma_end *self);

void rdma_close(struct rdma_device *d, const struct rdma_end *self);

/* Moves every QP to RTR, and with `send` to RTS. */
void rdma_connect(struct rdma_device *d, const struct rdma_end *self, const struct rdma_end *peer, bool send);

/* Creates the address handle of the peer, for UD. */
struct ibv_ah *rdma_peer_ah(struct rdma_device *d, const struct rdma_end *peer);

/*
 * Reads completions, at most RDMA_CQ_BATCH. Waits up to `timeout_ns` for the first one, or until `fd` (-1: none) is readable.
 * Negative: the queue is broken.
 */
int rdma_completions(struct rdma_device *d, struct ibv_wc *wc, uint64_t timeout_ns, int fd);

/* The device's hardware counters now (name: value), and their increase since `before`. */
json_t *rdma_counters(const struct rdma_device *d);
json_t *rdma_counters_since(const struct rdma_device *d, json_t *before);

/* The control connection: one JSON object a line each way. Errors end the program. */
int control_listen(const struct rdma_options *o);
FILE *control_accept(int listener, double seconds);	/* NULL: no peer came */
FILE *control_connect(const struct rdma_options *o);
json_t *rdma_end_json(const struct rdma_end *end);
void control_send_end(FILE *control, const struct rdma_end *end);
void control_receive_end(FILE *control, struct rdma_end *end);
void control_refuse(FILE *control, const char *why);
void control_send(FILE *control, json_t *message);	/* takes the reference */
json_t *control_receive(FILE *control);			/* NULL: the peer has closed it */

/* Both run to the end, print the JSON object and return the exit status. */
int rdma_send(const struct rdma_options *o);
int rdma_receive(const struct rdma_options *o);
int rdma_receive_manual(const struct rdma_options *o);

#endif
