// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/stop.h"
#include "rxe_tests/rdma_stream.h"

#define ANSWER_SECONDS	20	/* the longest time in which the other end sets up its QPs */

static struct addrinfo *resolve(const struct rdma_options *o, bool passive)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = passive ? AI_PASSIVE : 0 }, *found;
	char *text = strdup(o->control ? o->control : ""), *host = text, *colon = strrchr(text, ':');
	char port[8];
	int error;

	snprintf(port, sizeof(port), "%u", o->common.port);
	if (*host == '[') {		/* [IPv6]:PORT */
		host++;
		if (colon && colon > text && colon[-1] == ']')
			colon[-1] = 0;
		else
			colon = NULL;
		host[strcspn(host, "]")] = 0;
	} else if (colon && strchr(text, ':') != colon) {
		colon = NULL;		/* IPv6 without a port */
	}
	if (colon)
		*colon = 0;
	error = getaddrinfo(*host ? host : NULL, colon ? colon + 1 : port, &hints, &found);
	if (error)
		errx(1, "--control %s: %s", o->control, gai_strerror(error));
	free(text);
	return found;
}

/* A read takes ANSWER_SECONDS at most. Keepalive detects a peer that vanished without closing the connection. */
static void set_timeouts(int fd)
{
	struct timeval limit = { .tv_sec = ANSWER_SECONDS };
	int on = 1, idle = 5, interval = 2, probes = 5;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
}

int control_listen(const struct rdma_options *o)
{
	struct addrinfo *a = resolve(o, true);
	int fd = socket(a->ai_family, a->ai_socktype, 0), on = 1;

	if (fd < 0)
		err(1, "socket");
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, 1))
		err(1, "control connection: cannot listen");
	freeaddrinfo(a);
	return fd;
}

FILE *control_accept(int listener, double seconds)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };
	int fd;

	if (poll(&p, 1, seconds < 1e6 ? (int)(seconds * 1000) : -1) <= 0)
		return NULL;
	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		return NULL;
	set_timeouts(fd);
	return fdopen(fd, "r+");
}

FILE *control_connect(const struct rdma_options *o)
{
	struct addrinfo *a = resolve(o, false);
	int fd = socket(a->ai_family, a->ai_socktype, 0);

	if (fd < 0)
		err(1, "socket");
	if (connect(fd, a->ai_addr, a->ai_addrlen))
		err(1, "control connection to %s (is 'rdma_stream recv' running there?)", o->control);
	freeaddrinfo(a);
	set_timeouts(fd);
	return fdopen(fd, "r+");
}

/*
 * Alternating reads and writes on one FILE need a seek in between (C11 7.21.5.3), which a socket cannot do. So write to its
 * descriptor.
 */
void control_send(FILE *control, json_t *message)
{
	char *text = json_dumps(message, JSON_COMPACT);
	size_t length = text ? strlen(text) : 0;

	json_decref(message);
	if (!text)
		errx(1, "no memory");
	text[length] = '\n';
	for (size_t done = 0; done <= length; ) {
		ssize_t n = send(fileno(control), text + done, length + 1 - done, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;	/* the next read fails */
		done += n;
	}
	free(text);
}

json_t *control_receive(FILE *control)
{
	return json_loadf(control, JSON_DISABLE_EOF_CHECK, NULL);
}

bool control_readable(FILE *control, int timeout_ms)
{
	struct pollfd p = { .fd = fileno(control), .events = POLLIN };

	return poll(&p, 1, timeout_ms) > 0;
}

void control_refuse(FILE *control, const char *why)
{
	control_send(control, json_pack("{s:s}", "error", why));
}

static json_t *gid_json(const union ibv_gid *gid)
{
	char text[2 * sizeof(gid->raw) + 1];

	for (size_t i = 0; i < sizeof(gid->raw); i++)
		sprintf(text + 2 * i, "%02x", gid->raw[i]);
	return json_string(text);
}

static bool parse_gid(const char *text, union ibv_gid *gid)
{
	for (size_t i = 0; i < sizeof(gid->raw); i++)
		if (sscanf(text + 2 * i, "%2hhx", &gid->raw[i]) != 1)
			return false;
	return true;
}

/* What an older version neither sends nor reads. */
static void add_operation(json_t *object, const struct rdma_end *end)
{
	const struct rdma_reads *r = &end->reads;

	json_object_set_new(object, "operation", json_string(rdma_operation_name(end->operation)));
	json_object_set_new(object, "filler", json_boolean(end->filler));
	if (end->ping_pong)
		json_object_set_new(object, "ping_pong", json_true());
	if (end->sample_every)
		json_object_set_new(object, "samples", json_pack("{s:i, s:i}", "every", (int)end->sample_every,
								 "slots", (int)end->sample_slots));
	if (end->operation == RDMA_READ)
		json_object_set_new(object, "reads", json_pack("{s:f, s:b, s:f, s:I, s:i, s:i}",
			"rate", r->rate.per_second, "rate_of_packets", r->rate.unit == RATE_PACKETS,
			"duration", r->duration, "messages", (json_int_t)r->messages, "window", (int)r->window,
			"limit", (int)r->limit));
}

json_t *rdma_end_json(const struct rdma_end *end)
{
	json_t *qps = json_array(), *object;

	for (unsigned int i = 0; i < end->flows; i++)
		json_array_append_new(qps, json_pack("{s:I, s:I, s:I, s:I}",
			"qpn", (json_int_t)end->qp[i].qpn, "psn", (json_int_t)end->qp[i].psn,
			"rkey", (json_int_t)end->qp[i].rkey, "address", (json_int_t)end->qp[i].address));
	object = json_pack("{s:s, s:I, s:i, s:o, s:i, s:o}", "transport", rdma_service_name(end->service),
		"size", (json_int_t)end->size, "path_mtu", (int)end->path_mtu, "gid", gid_json(&end->gid),
		"lid", (int)end->lid, "qps", qps);
	if (end->operation != RDMA_USUAL)
		add_operation(object, end);
	return object;
}

void control_send_end(FILE *control, const struct rdma_end *end)
{
	control_send(control, rdma_end_json(end));
}

static void parse_qps(struct rdma_end *end, json_t *qps)
{
	size_t i;
	json_t *qp;

	end->flows = json_array_size(qps);
	end->qp = calloc(end->flows ? end->flows : 1, sizeof(*end->qp));
	if (!end->qp)
		err(1, "no memory");
	json_array_foreach(qps, i, qp) {
		json_int_t qpn = 0, psn = 0, rkey = 0, address = 0;

		json_unpack(qp, "{s:I, s:I, s:I, s:I}", "qpn", &qpn, "psn", &psn, "rkey", &rkey, "address", &address);
		end->qp[i] = (struct rdma_qp_address){ qpn, psn, rkey, address };
	}
}

static enum ibv_qp_type service_named(const char *name)
{
	return !strcmp(name, "rc") ? IBV_QPT_RC : !strcmp(name, "uc") ? IBV_QPT_UC : IBV_QPT_UD;
}

static void parse_operation(struct rdma_end *end, json_t *message)
{
	struct rdma_reads *r = &end->reads;
	const char *operation = NULL;
	json_int_t messages = 0;
	int filler = 0, ping_pong = 0, of_packets = 0;

	json_unpack(message, "{s?s, s?b, s?b, s?{s:i, s:i}}", "operation", &operation, "filler", &filler,
		    "ping_pong", &ping_pong,
		    "samples", "every", &end->sample_every, "slots", &end->sample_slots);
	json_unpack(message, "{s:{s:F, s:b, s:F, s:I, s:i, s:i}}", "reads", "rate", &r->rate.per_second,
		    "rate_of_packets", &of_packets, "duration", &r->duration, "messages", &messages, "window", &r->window,
		    "limit", &r->limit);
	end->operation = operation ? rdma_operation_named(operation) : rdma_usual_operation(end->service);
	end->filler = filler;
	end->ping_pong = ping_pong;
	r->rate.unit = of_packets ? RATE_PACKETS : RATE_BITS;
	r->messages = messages;
	if (!rdma_service_knows(end->service, end->operation) || (end->sample_every && !end->sample_slots) ||
	    (end->operation == RDMA_READ && (!r->window || !r->limit)))
		errx(1, "control connection: not an rdma_stream of this version");
}

void control_receive_end(FILE *control, struct rdma_end *end)
{
	json_t *message = control_receive(control), *qps;
	const char *error, *transport, *gid;
	json_int_t size;
	int path_mtu, lid;

	if (!message)
		errx(1, stop ? "stopped" : "control connection: no answer from the other end");
	if (!json_unpack(message, "{s:s}", "error", &error))
		errx(1, "the other end: %s", error);
	if (json_unpack(message, "{s:s, s:I, s:i, s:s, s:i, s:o}", "transport", &transport, "size", &size,
			"path_mtu", &path_mtu, "gid", &gid, "lid", &lid, "qps", &qps) ||
	    !parse_gid(gid, &end->gid) || !json_is_array(qps))
		errx(1, "control connection: not an rdma_stream of this version");
	end->service = service_named(transport);
	end->size = size;
	end->path_mtu = path_mtu;
	end->lid = lid;
	parse_operation(end, message);
	parse_qps(end, qps);
	json_decref(message);
}
