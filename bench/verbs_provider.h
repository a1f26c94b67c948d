/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A provider of verbs without a device: real structs of <infiniband/verbs.h>, functions that take requests and complete them at
 * once, and counts of all that it was given, which are the truth for tests of probes. It links no libibverbs.
 */
#ifndef BENCH_VERBS_PROVIDER_H
#define BENCH_VERBS_PROVIDER_H

#include <pthread.h>

#include <infiniband/verbs.h>

#define PROVIDER_DEPTH 4096

struct truth {
	uint64_t posts, posts_refused, wrs, wrs_refused, sges, inlined, signalled, fenced, solicited, aborts;
	uint64_t recv_posts, recv_refused, recv_wrs, recv_bytes, completions, recv_completions;
	uint64_t opcode[16], bytes[16], done[16], received[2], received_bytes[2], status[32];
	uint64_t list_most;
};

struct provider_cq {
	struct ibv_cq_ex x;
	pthread_mutex_t lock;
	struct ibv_wc wc[2 * PROVIDER_DEPTH];
	unsigned int freed[2 * PROVIDER_DEPTH]; /* requests of the queue that this completion sets free */
	struct provider_qp *qp[2 * PROVIDER_DEPTH];
	unsigned int head, tail;
	struct ibv_wc *present; /* of start_poll() */
	uint64_t polls, empty, completions, notified;
};

struct provider_qp {
	struct ibv_qp_ex x; /* its qp_base is the QP */
	pthread_mutex_t lock;
	unsigned int depth, used, unsignalled; /* unsignalled: since the last that was signalled */
	unsigned int recv_depth, recv_used;
	int sig_all;
	int fail;   /* status of the next request, and flushes from there on; 0: none */
	int failed;
	/* between wr_start() and wr_complete() */
	unsigned int pending;
	struct ibv_send_wr wr[PROVIDER_DEPTH];
	uint32_t length[PROVIDER_DEPTH];
	struct truth truth;
};

struct provider_srq {
	struct ibv_srq srq;
	unsigned int depth, used;
	uint64_t posts, wrs, bytes, refused;
};

/* beginning: of its functions: "push", "endbr64", "mov". */
struct ibv_context *provider_open(const char *beginning, int cmd_fd);
struct provider_cq *provider_cq(struct ibv_context *context, const char *beginning);
struct provider_qp *provider_qp(struct ibv_context *context, const char *beginning, struct provider_cq *send, struct provider_cq *recv,
				uint32_t qpn);
struct provider_srq *provider_srq(struct ibv_context *context, unsigned int depth);

/* A message arrives, for a receive that was posted. */
void provider_deliver(struct provider_qp *qp, struct provider_srq *srq, uint32_t bytes, int with_imm);

#endif
