/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A control connection: TCP, and one JSON object a line each way. lib/rdma_end.h says what the RDMA programs say by it.
 *
 * A long-lived server may use it: nothing here ends the process, and no peer can make it wait or allocate without limit. A
 * `why` has room for CONTROL_WHY bytes. It gets the reason of a failure: one line without a control character, whatever the
 * peer sent.
 */
#ifndef LIB_CONTROL_H
#define LIB_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "lib/json.h"

#define CONTROL_WHY		JSON_WHY	/* bytes */
#define CONTROL_SECONDS		20.0	/* the longest time in which a peer sets up its QPs and answers */
#define CONTROL_LINE_MAX	(8u << 20)	/* bytes; 65535 QPs with the longest numbers need 5.4 million */
/* JSON values of a line: a QP is an object of four numbers, a region one of three. */
#define CONTROL_VALUES_MAX	(5 * 65536 + 4 * 4096 + 64)

struct control {
	int fd;			/* for poll(): POLLIN while control_take() has something to read */
	double seconds;		/* how long sending, receiving and a line that has begun may take; CONTROL_SECONDS at first */
	size_t line_max;	/* bytes of a line that are taken; CONTROL_LINE_MAX at first */
	uint8_t peer[16];	/* the other end's IP address; IPv4 as ::ffff:a.b.c.d */
	char why[CONTROL_WHY];	/* why the last function with this argument failed */

	/* private */
	uint64_t begin_ns;	/* since when a line is awaited that must come in time; 0: none is */
	char *line;		/* the part of it that has come; no byte of the next line is read with it */
	size_t length, room;
};

/* Says why (CONTROL_WHY bytes): one line, cut if it is too long, with ? for control characters. Returns false. */
bool control_fail(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Where to listen, or to connect to. */
struct control_place {
	struct sockaddr_storage address;
	socklen_t length;
};

/*
 * `where`: "HOST", "HOST:PORT", ":PORT", or NULL. HOST: a name, an IPv4 address, or an IPv6 address, which needs [brackets]
 * before a :PORT. Without HOST it is every (IPv4) address to `listen`, else this machine itself. `port`: where none is named.
 * Names are looked up, which takes as long as the resolver does.
 */
bool control_find(struct control_place *place, const char *where, uint16_t port, bool listen, char *why);

/* Returns a listening descriptor, which does not block; or -1. */
int control_listen(const struct control_place *place, char *why);

/*
 * The next peer that has connected; control_close() frees it. Waits `seconds` for one (0: not at all; a million: without
 * limit). NULL: none came, or a signal that ends the run (lib/stop.h), with an empty `why`; or it failed. A server that serves
 * only some peers looks at ->peer. For its first line the peer has ->seconds from now on.
 */
struct control *control_accept(int listener, double seconds, char *why);

/* Waits as long as TCP does. NULL: it failed; `why` does not name the place. */
struct control *control_connect(const struct control_place *place, char *why);

/* NULL is allowed. */
void control_close(struct control *c);

/* Sends the message as a line; takes the reference. false: not all of it could be sent in ->seconds. */
bool control_send(struct control *c, json_t *message);

/* Sends { "error": why }, after which nothing else is said; and whether a message is one. `why` gets the other end's words. */
bool control_refuse(struct control *c, const char *why);
bool control_refused(const json_t *message, char *why);

/*
 * Reads what has come, without waiting. 1: *message is the next one, an object, which the caller owns. 0: not all of its line
 * has come. -1: the connection is of no use any more: the peer closed it, or its line is too long, no JSON object, or late. A
 * late line is only noticed by a call: without POLLIN, too, a server calls this now and then.
 */
int control_take(struct control *c, json_t **message);

/* The JSON object in a line; what control_take() does with it. NULL: it is none, or has more than CONTROL_VALUES_MAX values. */
json_t *control_parse(const char *line, size_t length, char *why);

/* Waits for the next message, at most ->seconds. NULL: as -1 of control_take(), or a signal that ends the run came. */
json_t *control_receive(struct control *c);

/* Waits up to timeout_ms (-1: without limit) until there is something to read, or the peer has closed the connection. */
bool control_readable(const struct control *c, int timeout_ms);

#endif
