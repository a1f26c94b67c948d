// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The control connection of a receiver (userspace/traffic/receive/server.c, lib/control.c): whatever a peer sends, and however TCP cuts it,
 * only the QPs of a run take packets, into their shares of the memory, and none does when the peer has gone.
 * Input: the receiver's --service (2 bits of 1 byte), bytes that come at once (1 byte), then what peers send, one after the other.
 */
#include <fcntl.h>
#include <sys/socket.h>

#include "tests/fuzz/must.h"
#include "userspace/traffic/receive/server.c"

#define QPS 4
#define MEMORY RECEIVE_CHUNK
#define REPLIES (1 << 16) /* bytes; a receiver of a few QPs says less */

int LLVMFuzzerInitialize(int *argc, char ***argv);

struct served {
	struct receive_options options;
	struct receive_setup setup;
	struct receive_maps maps;
	struct receive_qp qps[QPS];
	struct control_listener listener;
	struct receive_server server;
	int peer; /* its end of the connection; -1: none */
};

static const __u8 own[16] = { [10] = 0xff, 0xff, 10, 9, 0, 2 }, peer[16] = { [10] = 0xff, 0xff, 10, 9, 0, 1 };
static struct receive_run runs[RECEIVE_RUNS];

static void begin(struct served *r, __u32 service)
{
	const struct receive_settings settings = { .first_qpn = 0x100, .qps = QPS, .memory = MEMORY, .block = MEMORY };
	struct roce_region *region = calloc(1, sizeof(*region));

	must(region);
	*region = (struct roce_region){ .va = 0x10000, .bytes = MEMORY, .rkey = 1 };
	memset(r, 0, sizeof(*r));
	r->options = (struct receive_options){ .interface = "lo", .service = service, .control = "", .path_mtu = 1024, .qps = QPS };
	receive_setup_resume(&r->setup, &r->options, &settings, region, 1);
	memcpy(r->setup.settings.own, own, sizeof(own));
	r->maps = (struct receive_maps){ .qps = r->qps, .qp_count = QPS, .regions = -1 };
	r->listener = (struct control_listener){ .who = "fuzz", .listening = -1, .poll = -1 };
	r->server = (struct receive_server){ .o = { .setup = &r->setup, .maps = &r->maps, .listener = &r->listener }, .wake = -1,
					     .runs = runs };
	pthread_mutex_init(&r->server.lock, NULL);
	r->peer = -1;
}

/* As if it had connected. */
static void meet_peer(struct served *r)
{
	struct control *c = calloc(1, sizeof(*c));
	int fd[2];

	must(c && !socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd));
	c->fd = fd[0];
	c->seconds = 1000; /* longer than an input takes */
	memcpy(c->peer, peer, sizeof(peer));
	c->line_max = CONTROL_LINE_MAX;
	r->listener.pending[r->listener.count++] = c;
	r->peer = fd[1];
}

/* All that a peer is told is objects, a line each. */
static void read_replies(struct served *r)
{
	static char text[REPLIES];
	ssize_t length = recv(r->peer, text, sizeof(text), 0);
	char why[CONTROL_WHY], *line = text, *end;

	for (; length > 0 && (end = memchr(line, '\n', text + length - line)); line = end + 1) {
		json_t *message = control_parse(line, end - line, why);

		must(message);
		json_decref(message);
	}
	must(length <= 0 || line == text + length);
}

static void check_qps(const struct served *r)
{
	const struct receive_server *s = &r->server;
	__u32 armed = s->phase >= RUNNING ? s->run.flows : 0;

	must(!s->control == (s->phase == WAITING));
	must(armed <= QPS);
	for (__u32 i = 0; i < QPS; i++) {
		const struct roce_responder *q = &r->qps[i].responder;

		must(q->state == (i < armed ? RESPONDER_READY : RESPONDER_RESET));
		if (i >= armed)
			continue;
		must(!memcmp(q->peer, peer, sizeof(peer)) && q->qpn == 0x100 + i);
		must(q->path_mtu >= 256 && q->path_mtu <= 1024 && !(q->path_mtu & (q->path_mtu - 1)));
		must(q->receive_at == i * r->setup.share && (__u64)q->receive_slots * q->receive_bytes <= r->setup.share);
		must(r->setup.service == 0 || q->service == (r->setup.service == RDMA_RC ? SERVICE_RC : SERVICE_UC));
	}
}

static void serve(struct served *r)
{
	struct receive_server *s = &r->server;

	do {
		if (s->phase == SETTLING) {
			s->settling = 0; /* long ago */
			settle(s);
			must(s->phase == WAITING);
		} else if (s->control) {
			serve_control(s);
		}
		greet_all(s);
		check_qps(r);
		read_replies(r);
	} while (s->control && (s->phase == SETTLING || control_readable(s->control, 0)));
}

/* Whether the peer is waited for, or served. */
static bool is_there(const struct served *r)
{
	return r->listener.count || r->server.control;
}

static void part(struct served *r)
{
	close(r->peer);
	r->peer = -1;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	stderr = fopen("/dev/null", "w"); /* where the receiver tells of each peer */
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const __u32 services[] = { 0, RDMA_RC, RDMA_UC, 0 };
	struct input in = { data, size };
	static struct served r;
	size_t piece;

	begin(&r, services[input_byte(&in) & 3]);
	piece = input_byte(&in) + 1;
	while (in.left) {
		ssize_t n;

		if (!is_there(&r))
			meet_peer(&r);
		n = send(r.peer, in.at, in.left < piece ? in.left : piece, MSG_NOSIGNAL);
		must(n > 0);
		in.at += n;
		in.left -= n;
		serve(&r);
		if (!is_there(&r))
			part(&r);
	}
	if (is_there(&r)) {
		shutdown(r.peer, SHUT_WR);
		serve(&r);
		must(!is_there(&r));
		part(&r);
	}
	receive_setup_free(&r.setup);
	pthread_mutex_destroy(&r.server.lock);
	return 0;
}
