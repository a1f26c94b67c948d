/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Waits for the first line of peers that connect, of several at once: a peer that says nothing, or half a line, keeps nobody off.
 * A peer counts only when its line is whole and the caller has taken it. A peer that is not served is told why. Standard error
 * has the same reason, in at most CONTROL_LOG_LINES lines in CONTROL_LOG_SECONDS.
 */
#ifndef LIB_CONTROL_LISTENER_H
#define LIB_CONTROL_LISTENER_H

#include "lib/control.h"

#define CONTROL_PENDING		8	/* peers; if more connect, the one that has been silent for longest goes */
#define CONTROL_LOG_LINES	10
#define CONTROL_LOG_SECONDS	10

struct control_listener {
	/* the caller may change these after control_listener_open() */
	double seconds;		/* for a peer's first line; CONTROL_SECONDS at first */
	size_t line_max;	/* bytes of it; CONTROL_LINE_MAX at first */
	const uint8_t *only;	/* the one address that is served, as control.peer; NULL: any */

	/* private */
	const char *who;	/* what the lines on standard error begin with */
	int listening, poll;	/* poll: an epoll descriptor, which is readable while control_meet() has something to do */
	struct control *pending[CONTROL_PENDING];	/* the oldest first */
	unsigned int count;
	uint64_t log_ns;	/* when the present CONTROL_LOG_SECONDS began */
	unsigned int log_lines, unsaid;
};

/* Listens. false: it cannot. `who`: kept, not copied. */
bool control_listener_open(struct control_listener *l, const char *who, const struct control_place *place, char *why);

/* Closes the connections of all who have not said anything yet. */
void control_listener_close(struct control_listener *l);

/*
 * The next peer whose first message has come, which the caller owns, as it does *message. Without waiting, and NULL if there is
 * none. Call it now and then without an event, too: so a silent peer is noticed.
 */
struct control *control_meet(struct control_listener *l, json_t **message);

/* The same, but waits `seconds` for one (a million: without limit). NULL: none came, or a signal that ends the run (lib/stop.h). */
struct control *control_meet_within(struct control_listener *l, double seconds, json_t **message);

/* Tells the peer, and standard error, why it is not served, and closes the connection. */
__attribute__((format(printf, 3, 4)))
void control_turn_away(struct control_listener *l, struct control *c, const char *format, ...);

/* The same for a first line that is no rdma_end or the like: `why` says what is wrong with it. */
void control_turn_away_stranger(struct control_listener *l, struct control *c, const char *why);

#endif
