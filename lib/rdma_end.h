/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the two ends of an RDMA transfer tell each other by the control connection (docs/json.md, "Control connection"), and
 * what both must compute alike. Nothing here needs verbs. Values are in host byte order.
 */
#ifndef LIB_RDMA_END_H
#define LIB_RDMA_END_H

#include "lib/control_listener.h"
#include "lib/number.h"

#define RDMA_FLOWS_MAX	65535	/* QPs; the stream header's flow number has 16 bits */
#define RDMA_BURST_MAX	1000000	/* messages */
#define RDMA_REGIONS_MAX	64	/* memory regions of a QP: one a slot (rdma_write_slots()) */

/* 0: not told. */
enum rdma_service { RDMA_RC = 1, RDMA_UC, RDMA_UD, RDMA_XRC };

/* Whether it acknowledges, and sends again what is lost. */
static inline bool rdma_is_reliable(enum rdma_service service)
{
	return service == RDMA_RC || service == RDMA_XRC;
}

/* How a message goes from `send` to `recv`. Only for RDMA_READ it is `recv` that posts work requests. */
enum rdma_operation {
	RDMA_USUAL,		/* not told: WRITE with immediate, UD: SEND */
	RDMA_WRITE_IMM, RDMA_WRITE, RDMA_SEND, RDMA_SEND_IMM, RDMA_READ,
	RDMA_FETCH_ADD, RDMA_COMPARE_SWAP	/* add 1 to the QP's counter at the receiver */
};

#define RDMA_ATOMIC_BYTES	8

/* Whether the end that serves it returns data: it can do so for a limited number at a time. */
static inline bool rdma_fetches(enum rdma_operation operation)
{
	return operation >= RDMA_READ;
}

static inline bool rdma_is_atomic(enum rdma_operation operation)
{
	return operation == RDMA_FETCH_ADD || operation == RDMA_COMPARE_SWAP;
}

/* Whether a message moves without the receiver's knowing: it completes nothing there. */
static inline bool rdma_is_silent(enum rdma_operation operation)
{
	return operation == RDMA_WRITE || rdma_is_atomic(operation);
}

/* What each end sends to the other about a QP. `address` and `rkey` are the target of RDMA WRITEs, or the source of READs. */
struct rdma_qp_address {
	uint32_t qpn, psn;	/* 24 bits each; psn: of the first packet that this QP sends */
	uint32_t rkey;
	uint64_t address;
	uint32_t srqn;		/* XRC, of the end that receives: number of the shared queue that messages to the QP name, 24 bits */
	uint16_t flow;		/* by which this end counts it: the QP's place behind first_flow */
};

/* What `send` tells `recv`, which shall read; `recv` answers with the window and limit that it uses. Of atomics the limit. */
struct rdma_reads {
	struct rate rate;
	double duration;	/* s; 0: not given */
	uint64_t messages;	/* 0: not given */
	unsigned int window;	/* READs outstanding per QP: buffers */
	unsigned int limit;	/* that the device lets a QP serve, or have outstanding at the end that posts, 1 to 255 */
};

struct rdma_end {
	enum rdma_service service;
	enum rdma_operation operation;	/* RDMA_USUAL: without a control connection */
	bool ping_pong;			/* both ends send and receive (userspace/traffic/streams/ping_pong.h) */
	bool filler;			/* a sender: messages have stream header and filler (userspace/traffic/streams/filler.h) */
	bool solicited;			/* a sender: some messages ask for an event, and no other needs one */
	unsigned int slots;		/* a receiver of WRITEs, for rdma_slot(); 0: rdma_write_slots() of these QPs */
	uint32_t sample_every, sample_slots;	/* a receiver of WRITEs: rdma_slot(); 0: none */
	struct rdma_reads reads;	/* only of RDMA_READ and atomics */
	bool ring;			/* messages go round a ring of the receiver (docs/json.md, "Ring") */
	uint64_t burst, capacity;	/* messages of a burst, 0: a stream (said by the sender); of the ring (by the receiver) */
	uint64_t size;			/* bytes of a message, 1 to 2^32 - 1 */
	unsigned int path_mtu;		/* bytes: 256, 512, 1024, 2048 or 4096 */
	uint8_t gid[16];		/* network byte order; of RoCEv2 the IP address, IPv4 as ::ffff:a.b.c.d */
	uint16_t lid;			/* 0 for RoCE */
	unsigned int flows;		/* QPs, 1 to RDMA_FLOWS_MAX */
	unsigned int first_flow;	/* a receiver of several senders: its number for the first of these QPs */
	struct rdma_qp_address *qp;
	unsigned int regions;		/* a receiver of WRITEs: of each QP, up to RDMA_REGIONS_MAX; 0: only that of qp->rkey */
	uint32_t *rkeys;		/* [flow][regions] */
};

/* What the end that posted tells of a QP after the run. */
struct rdma_totals {
	uint64_t packets;	/* UD; of RC and UC as many as messages */
	uint64_t messages;	/* that were posted */
	uint64_t completed;	/* of the packets; 0 from an older version */
};

/* "rc", "uc", "ud", "xrc" and NULL; that of a service ("rc" if it is not told). */
extern const char *const rdma_service_names[];
const char *rdma_service_name(enum rdma_service service);

/* "write-imm" and so on, NULL; that of an operation; the operation of that name, RDMA_USUAL if there is none. */
extern const char *const rdma_operation_names[];
const char *rdma_operation_name(enum rdma_operation operation);
enum rdma_operation rdma_operation_named(const char *name);

/* What a service does unless told otherwise, and whether it knows an operation. */
enum rdma_operation rdma_usual_operation(enum rdma_service service);
bool rdma_service_knows(enum rdma_service service, enum rdma_operation operation);

/*
 * The number of message slots in each QP's region for RDMA WRITEs: message k is written to slot k % slots. It follows from the
 * message size and the number of the receiver's QPs (each at least 1), since the memory of all QPs is limited. A receiver of
 * several senders tells it, because each of them knows its own QPs only.
 */
unsigned int rdma_write_slots(uint64_t size, unsigned int flows);

/*
 * The slot of the receiver's region to which message k is written. Those that the receiver verifies, one of sample_every, take
 * turns in sample_slots slots of their own behind the others, so that nothing overwrites them before it has looked.
 */
uint64_t rdma_slot(const struct rdma_end *receiver, uint64_t message);
uint64_t rdma_slots(const struct rdma_end *receiver);

/* How many of `slots` a memory region has: they are divided in order, and the last region may have less. */
static inline uint64_t rdma_slots_per_region(uint64_t slots, unsigned int regions)
{
	return (slots + regions - 1) / regions;
}

/* The rkey of a slot of the receiver's region. */
uint32_t rdma_rkey(const struct rdma_end *receiver, unsigned int flow, uint64_t slot);

/* A GID as 32 hexadecimal digits (NULL: no memory), and back. false: value is no such; gid is then undefined. */
json_t *rdma_gid_json(const uint8_t gid[16]);
bool rdma_gid_parse(const json_t *value, uint8_t gid[16]);

/* As it is sent. NULL: no memory. */
json_t *rdma_end_json(const struct rdma_end *end);

/*
 * Fills in `end`, whose former content does not matter; rdma_end_free() frees its QPs. Every number is in the range above, and
 * the operation is one of the service. false: it is not what an end says, and `end` is empty; `why` (CONTROL_WHY bytes) names
 * the member.
 */
bool rdma_end_parse(const json_t *message, struct rdma_end *end, char *why);
void rdma_end_free(struct rdma_end *end);

/*
 * The next peer that has connected and said an end, which rdma_end_free() frees. Waits `seconds` for it (0: not at all; a million:
 * without limit); all others are turned away. NULL: none came. The caller owns the peer and *message, which may say more.
 */
struct control *rdma_end_meet(struct control_listener *l, double seconds, struct rdma_end *end, json_t **message);

/* { "end": [...], "ns" }: each QP's totals, and the time of the run (ns; 0 from an older version). false: the message is no such. */
json_t *rdma_totals_json(const struct rdma_totals *totals, unsigned int flows, uint64_t ns);
bool rdma_totals_parse(const json_t *message, struct rdma_totals *totals, unsigned int flows, uint64_t *ns, char *why);

#endif
