/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef RXE_TESTS_RDMA_STREAM_H
#define RXE_TESTS_RDMA_STREAM_H

#include <infiniband/verbs.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/stream_options.h"

#define RDMA_PORT	1	/* of the device; RoCE devices have one each */
#define RDMA_GRH	40	/* bytes before each UD payload at the receiver (IBTA, 11.4.1.2) */
#define RDMA_CQ_BATCH	32
#define RDMA_QKEY	0x11111111	/* of every UD QP */

struct rdma_options {
	struct stream_options common;
	enum ibv_qp_type service;	/* RC, UC or UD; 0 at a receiver: whatever the sender says */
	const char *device;		/* NULL: the first */
	int gid_index;			/* -1: the first RoCEv2 GID of an address like peer_gid */
	unsigned int path_mtu;		/* bytes; 0: what the port has */
	const char *control;		/* [HOST]:PORT */
	int64_t psn;			/* of each QP's first packet; -1: random */
	unsigned int window;		/* messages (UD: packets) a QP may have outstanding */
	unsigned int depth;		/* receives each QP has posted */
	bool poll;			/* spin on the completion queue instead of sleeping for its events */

	/* recv, for a sender without a control connection */
	bool told;
	union ibv_gid peer_gid;		/* its address; IPv4 as ::ffff:a.b.c.d, also where there is none */
	uint32_t peer_psn;		/* of the first packet to each QP */
	uint32_t peer_qpn;		/* of the first QP; counts up */
	const char *tell;		/* file for what the sender must know; "-": standard output */
	const char *dump;		/* file for the buffers at the end, or NULL */
};

/* What one end tells the other of a QP; `address` and `rkey` are where RDMA WRITEs go. */
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
	struct ibv_qp **qp;		/* one a flow */
	struct ibv_mr *mr;
	char *buffer;
	uint8_t gid_index;
	bool poll;
};

/* "rc", "uc", "ud" */
const char *rdma_service_name(enum ibv_qp_type service);

/*
 * Messages that lie beside each other in each QP's region for RDMA WRITEs: message k goes to place k % slots. Both ends
 * reckon it from the message's size.
 */
unsigned int rdma_write_slots(uint64_t size);

/* Opens device and port, and fills in self's GID, LID and path MTU. This and the next three: errors end the program. */
void rdma_open(struct rdma_device *d, const struct rdma_options *o, struct rdma_end *self);

/* Buffers of all QPs, registered; zeroed. */
void rdma_register(struct rdma_device *d, size_t bytes);

/* self->flows QPs of self->service in state INIT, with `wqes` sends or receives each, and one completion queue. */
void rdma_create_qps(struct rdma_device *d, const struct rdma_options *o, unsigned int wqes, struct rdma_end *self);

void rdma_close(struct rdma_device *d, const struct rdma_end *self);

/* Every QP to RTR, and with `send` on to RTS. */
void rdma_connect(struct rdma_device *d, const struct rdma_end *self, const struct rdma_end *peer, bool send);

/* The address handle of the peer, for UD. */
struct ibv_ah *rdma_peer_ah(struct rdma_device *d, const struct rdma_end *peer);

/*
 * Completions, at most RDMA_CQ_BATCH; waits up to `timeout_ns` for the first of them, or until `fd` (-1: none) can be
 * read. Negative: the queue is broken.
 */
int rdma_completions(struct rdma_device *d, struct ibv_wc *wc, uint64_t timeout_ns, int fd);

/* The device's hardware counters now (name: value); what they grew by since `before`. */
json_t *rdma_counters(const struct rdma_device *d);
json_t *rdma_counters_since(const struct rdma_device *d, json_t *before);

/* The control connection: one JSON object a line each way. Errors end the program. */
int control_listen(const struct rdma_options *o);
FILE *control_accept(int listener, double seconds);	/* NULL: nobody came */
FILE *control_connect(const struct rdma_options *o);
json_t *rdma_end_json(const struct rdma_end *end);
void control_send_end(FILE *control, const struct rdma_end *end);
void control_receive_end(FILE *control, struct rdma_end *end);
void control_refuse(FILE *control, const char *why);
void control_send(FILE *control, json_t *message);	/* takes the reference */
json_t *control_receive(FILE *control);			/* NULL: gone */

/* Each runs to the end, prints the object and returns the exit status. */
int rdma_send(const struct rdma_options *o);
int rdma_receive(const struct rdma_options *o);
int rdma_receive_told(const struct rdma_options *o);

#endif
