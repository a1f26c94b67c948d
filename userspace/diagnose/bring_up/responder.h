/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is sent to a responder, and what it answers: responder_wire.c sends packets, waits for answers, and judges what every one
 * shows. responder.c has the steps. Nothing is sent any more when a step is wrong, unless --all-steps is given.
 */
#ifndef USERSPACE_DIAGNOSE_BRING_UP_RESPONDER_H
#define USERSPACE_DIAGNOSE_BRING_UP_RESPONDER_H

#include "userspace/diagnose/bring_up/bring_up.h"
#include "userspace/traffic/send/compose.h"

#define ASKING_WAIT NSEC_PER_SEC /* for an answer: many times what a responder takes */
#define ASKING_TRIES 3 /* packets may be lost on the way */
#define ASKING_ANSWERS 16 /* that may wait to be judged */
#define ASKING_SMALL 32 /* bytes of a message */
#define ASKING_ACK 0x11 /* opcode */

struct asking_answer {
	struct roce_packet packet;
	enum icrc_verdict icrc;
	char wrong[BRING_UP_TEXT]; /* with the frame, for RoCE; "": nothing */
	__u64 row;
	__u64 took; /* ns since the last request */
	__u32 length;
	__u8 bytes[FRAME_MAX + ROCE_WINDOW_BYTES];
};

/* A packet to the responder; what is 0 is the usual. */
struct asking_request {
	__u8 opcode;
	__u32 psn, dqpn, rkey;
	__u32 bytes, dma_length, offset; /* from the beginning of the memory */
	bool quiet; /* without AckReq */
	bool bad_icrc;
};

struct asking {
	struct bring_up *b;
	struct bring_up_asked *to;
	const struct endpoint *endpoint;
	const struct rdma_qp_address *qp;
	void (*meanwhile)(void *context);
	void *context;
	struct send_plan plan;
	struct composer *composer;
	__u8 *payload; /* of PAYLOAD_CELLS; the memory from the QP's address on shall have its beginning */
	struct send_frame frame;
	int raw, udp; /* sockets */
	__u64 gap, next; /* ns: between two packets; no packet before that time */
	__u64 sent; /* ns, CLOCK_REALTIME: the last one */
	__u32 room; /* bytes of memory from the QP's address on, so many as are used */
	__u32 written; /* of them */
	__u32 psn; /* of the next request */
	bool psn_told; /* by --expect */
	__u32 begun; /* the first one */
	__u32 msn, packets; /* of the last answer; packets of requests since the MSN was learnt */
	__u32 msn_begun;
	bool msn_known;
	unsigned int late; /* answers that may come to a request that was sent again */
	struct asking_answer first; /* the answer to the first request */
	struct asking_answer answer[ASKING_ANSWERS];
	__u64 came, judged; /* answers */
};

static inline bool is_ack(const struct asking_answer *n)
{
	return n->packet.opcode == ASKING_ACK && n->packet.syndrome >> 5 == 0;
}

/* syndrome: AETH_NAK_* */
static inline bool is_nak(const struct asking_answer *n, __u8 syndrome)
{
	return n->packet.opcode == ASKING_ACK && n->packet.syndrome == syndrome;
}

static inline enum bring_up_state asking_state(const struct asking *a, enum bring_up_step step)
{
	return a->to->report.step[step].state;
}

/* Nothing more is asked: something is wrong, or nothing answers, or a signal has come. */
bool asking_is_over(const struct asking *a);

/* ---- what is said ---- */

/* The answer, as its row in the exchange says it. */
struct bring_up_text asking_words(const struct asking *a, const struct asking_answer *n);

/* Sets a step's state, unless it is wrong: then it stays so. */
void asking_say(struct asking *a, enum bring_up_step step, enum bring_up_state state, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The step is wrong, as this answer shows; n: NULL: the lack of one. Only the first time counts. */
void asking_wrong(struct asking *a, enum bring_up_step step, const struct asking_answer *n, const char *expected,
		  const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* The step is wrong, because nothing comes: or the link is, if it has gone. */
void asking_silence(struct asking *a, enum bring_up_step step, const char *expected);

/* ---- packets ---- */

/* Prepares all but the responder's MAC address. false: it cannot, which was reported. Call asking_end() in any case. */
bool asking_begin(struct asking *a);
void asking_end(struct asking *a);

/* Takes what comes until then (CLOCK_MONOTONIC, ns), but for some milliseconds at most. */
void asking_turn(struct asking *a, __u64 until);

/* Sends a packet when its time has come. */
void asking_transmit(struct asking *a, const struct asking_request *q);

/* Judges what every answer shows. Whether a requester can make something of it, apart from what is wrong in it. */
bool asking_can_read(struct asking *a, const struct asking_answer *n);

/*
 * The answer to the packet with that PSN, which can be read; NULL: none comes in time, or it is over. It is valid until others
 * are waited for.
 */
const struct asking_answer *asking_wait(struct asking *a, __u32 psn);

/* The same, after it was sent, and sent again as often as nothing came. */
const struct asking_answer *asking_ask(struct asking *a, const struct asking_request *q, int tries);

#endif
