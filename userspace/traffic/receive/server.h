/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a receiver does beside the kernel's program, in a thread of its own: it posts receives again as they are used up, and
 * serves the control connection (lib/rdma_end.h), by which a sender learns QPNs and keys and is told when all has arrived. The
 * connection arms QPs and cannot change what is registered.
 */
#ifndef USERSPACE_TRAFFIC_RECEIVE_SERVER_H
#define USERSPACE_TRAFFIC_RECEIVE_SERVER_H

#include "lib/control_listener.h"
#include "userspace/traffic/receive/maps.h"
#include "userspace/traffic/receive/setup.h"

/* A sender by the control connection: what it said, and what its QPs received. */
struct receive_run {
	__u8 peer[16];
	enum rdma_service service;
	enum rdma_operation operation;
	__u32 flows, path_mtu;
	__u64 size; /* bytes of a message */
	bool told;  /* its totals came: */
	__u64 sent;	 /* messages posted */
	__u64 completed; /* of these, at the sender */
	__u64 messages, incomplete, packets, bytes, refused; /* here */
	double seconds; /* from the first to the last packet */
	char why[CONTROL_WHY]; /* it ended early; empty: it did not */
};

#define RECEIVE_RUNS 128 /* that are kept */

/* Of QPs, before they were armed again. */
struct receive_past {
	__u64 messages, incomplete;
};

struct receive_server;

struct receive_server_options {
	const struct receive_setup *setup;
	const struct receive_maps *maps;
	bool native; /* answers leave by XDP_TX */
	bool posts;  /* receives again */
	int over;    /* an eventfd, which is written when the runs are over */
	struct control_listener *listener; /* which the thread alone uses, until it has ended; NULL: without --control */
};

/* Listens where --control says. false: it cannot, which is reported. */
bool receive_listen(const struct receive_setup *s, struct control_listener *l);

/* Starts the thread. NULL: it cannot, which is reported. */
struct receive_server *receive_server_start(const struct receive_server_options *o);

/* Ends the thread. A run that is open has ended early. NULL is allowed, and to call it again. */
void receive_server_stop(struct receive_server *s);
void receive_server_free(struct receive_server *s);

/* Keeps the QPs' counters from being begun again, while they are read with *past. */
void receive_server_lock(struct receive_server *s, struct receive_past *past);
void receive_server_unlock(struct receive_server *s);

/* Run number k, from 0. false: it has not ended yet, or is not kept any more. */
bool receive_server_run(struct receive_server *s, __u64 k, struct receive_run *run);
__u64 receive_server_runs(struct receive_server *s);

/* Records of completions that were overwritten before this process saw them. */
__u64 receive_server_lost(struct receive_server *s);

#endif
