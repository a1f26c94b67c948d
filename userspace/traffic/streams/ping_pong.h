/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --ping-pong: the sender sends one message, and the receiver answers it with one of its size. Then the next one leaves.
 * Several flows take turns, so that there is never more than one message on its way. Latency is half of the time from before
 * the message is passed to the transport until the last packet of its answer is taken.
 */
#ifndef USERSPACE_TRAFFIC_STREAMS_PING_PONG_H
#define USERSPACE_TRAFFIC_STREAMS_PING_PONG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/clock.h"
#include "userspace/traffic/streams/histogram.h"
#include "userspace/traffic/streams/receiver.h"
#include "userspace/traffic/streams/sender.h"

#define PING_PONG_WARM_UP_NS	(100 * NSEC_PER_MSEC)	/* messages of so long after the start are not timed */
#define PING_PONG_LOST_NS	NSEC_PER_SEC		/* an answer that takes longer does not count: the next message leaves */
#define PING_PONG_DEAD_NS	(10 * NSEC_PER_SEC)	/* the same where nothing can be lost: the run ends */

/* The sender. The caller sets the first members, and zeroes the others. */
struct ping_pong {
	struct stream_sender *s;
	bool reliable;			/* the transport loses nothing */
	void *context;

	/* Sends the flow's next message, all packets of it. Returns what went wrong, or NULL. */
	const char *(*send)(void *context, struct sender_flow *flow);

	/*
	 * Waits for packets of that flow, at most timeout_ns, and gives what came to ping_pong_take() or ping_pong_answered().
	 * It may return earlier. Returns what went wrong, or NULL.
	 */
	const char *(*await)(void *context, uint16_t flow, uint64_t timeout_ns);

	uint16_t flow;			/* the message that is on its way */
	uint64_t message;
	bool answered;
	uint64_t sent_ns;
	uint64_t unanswered;		/* messages */
	struct stream_receiver *answers;
	struct histogram latency;	/* ns */
};

/* Runs to the end. Returns what ended it early, or NULL. */
const char *ping_pong_run(struct ping_pong *p);

/* Takes a packet that may be a part of an answer, received now (ns). */
void ping_pong_take(struct ping_pong *p, const void *payload, size_t length, uint64_t now);

/* The answer to this message of the flow is complete, now (ns). */
void ping_pong_answered(struct ping_pong *p, uint16_t flow, uint64_t message, uint64_t now);

/* Adds to what sender_report() says. */
void ping_pong_report(const struct ping_pong *p, struct stream_report *report);

/*
 * The receiver, where struct stream_receiver says `asked`: whether the packet of `length` bytes with this header is as long as
 * the header says. Then the answer is as large as the message. Otherwise nobody is answered, so that a short packet cannot ask
 * for a long one.
 */
bool ping_pong_sound(const struct stream_header *h, size_t length);

/*
 * Fills in the header of packet `index` of the answer to the message of `h`. It announces the filler filler_of(). Returns the
 * packet's length with header. h: sound.
 */
uint32_t ping_pong_answer(const struct stream_header *h, uint32_t index, struct stream_header *answer);

#endif
