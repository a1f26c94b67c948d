// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What rocescope receive and rdma_stream recv share: whoever connects and is no sender keeps no sender off. Over
 * loopback.
 */
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/rdma_end.h"
#include "tests/unit/cmocka_includes.h"

#define SHORT	0.02	/* s: for peers that never do what is awaited */
#define LONG	60.0	/* s: for what comes */
static const char said[] = "{\"transport\":\"uc\",\"size\":8,\"path_mtu\":1024,\"gid\":\"00000000000000000000ffff7f000001\","
			   "\"lid\":0,\"qps\":[{\"qpn\":17,\"psn\":0,\"rkey\":0,\"address\":0}]}\n";

static struct control_listener listener;
static uint16_t port;
static FILE *log_file;

/* From here on standard error is read by logged(). */
static int begin(void **state)
{
	struct sockaddr_in address;
	socklen_t length = sizeof(address);
	struct control_place place;
	char why[CONTROL_WHY];

	(void)state;
	assert_true(control_find(&place, "127.0.0.1:0", 0, true, why));
	assert_true(control_listener_open(&listener, "test", &place, why));
	assert_int_equal(getsockname(listener.listening, (struct sockaddr *)&address, &length), 0);
	port = ntohs(address.sin_port);
	log_file = tmpfile();
	assert_non_null(log_file);
	*state = stderr;
	stderr = log_file;
	return 0;
}

static int end(void **state)
{
	control_listener_close(&listener);
	stderr = *state;
	fclose(log_file);
	return 0;
}

/* How many lines the log has with these words. */
static unsigned int logged(const char *words)
{
	unsigned int count = 0;
	char line[1024];

	fflush(log_file);
	rewind(log_file);
	while (fgets(line, sizeof(line), log_file))
		count += strstr(line, words) != NULL;
	return count;
}

static struct control *come(const char *words)
{
	struct control_place place;
	struct control *c;
	char why[CONTROL_WHY];

	assert_true(control_find(&place, "127.0.0.1", port, false, why));
	c = control_connect(&place, why);
	assert_non_null(c);
	assert_int_equal(send(c->fd, words, strlen(words), 0), strlen(words));
	return c;
}

/* The next sender comes, and is that one. */
static void meets(struct control *sender)
{
	struct rdma_end end;
	json_t *message;
	struct control *c = rdma_end_meet(&listener, LONG, &end, &message);

	assert_non_null(c);
	assert_int_equal(end.qp->qpn, 17);
	json_decref(message);
	rdma_end_free(&end);
	assert_true(control_send(c, json_pack("{s:b}", "done", 1)));
	message = control_receive(sender);
	assert_true(json_is_true(json_object_get(message, "done")));
	json_decref(message);
	control_close(c);
	control_close(sender);
}

static void meets_nobody(void)
{
	struct rdma_end end;
	json_t *message;

	assert_null(rdma_end_meet(&listener, SHORT, &end, &message));
	assert_null(message);
}

/* The peer was told so, and the connection is closed. */
static void was_refused(struct control *c, const char *words)
{
	json_t *message = control_receive(c);
	char why[CONTROL_WHY];

	assert_true(control_refused(message, why));
	if (!strstr(why, words))
		fail_msg("%s: not in: %s", words, why);
	json_decref(message);
	assert_null(control_receive(c));
	control_close(c);
}

static void scan(void **state)
{
	(void)state;
	control_close(come(""));
	control_close(come("{\"tran"));
	meets(come(said));
	assert_int_equal(logged("refused 127.0.0.1: closed; a sender of this version says first"), 1);
	assert_int_equal(logged("closed in the middle of a line; a sender"), 1);
}

static void nonsense(void **state)
{
	static const struct {
		const char *line, *words;
	} cases[] = {
		{ "GET / HTTP/1.1\r\n\r\n", "no JSON" }, { "[]\n", "no JSON object" }, { "{}\n", "\"transport\" is none of" },
		{ "{\"transport\":\"rc\",\"size\":8,\"path_mtu\":2}\n", "\"path_mtu\" is" }, { "{\"error\":\"no\"}\n", "no" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct control *stranger = come(cases[i].line);

		meets(come(said));
		was_refused(stranger, cases[i].words);
	}
	assert_int_equal(logged("a sender of this version says first"), sizeof(cases) / sizeof(*cases));
}

static void silence(void **state)
{
	struct control *silent = come(""), *half = come("{\"transport\":"), *late;

	(void)state;
	meets(come(said));
	meets(come(said));
	meets_nobody();
	assert_int_equal(listener.count, 2);
	listener.seconds = SHORT; /* for those to come */
	late = come("");
	while (!logged("no whole line"))
		meets_nobody();
	was_refused(late, "no whole line within 0.02 s");
	assert_int_equal(listener.count, 2);
	control_close(silent);
	control_close(half);
	meets_nobody();
	assert_int_equal(listener.count, 0);
}

/* Those that have begun their line stay longer. */
static void crowd(void **state)
{
	struct control *half = come("{"), *silent[CONTROL_PENDING];

	(void)state;
	meets_nobody();
	for (int i = 0; i < CONTROL_PENDING; i++) {
		silent[i] = come("");
		meets_nobody();
	}
	assert_int_equal(listener.count, CONTROL_PENDING);
	was_refused(silent[0], "it said nothing, and others have connected");
	meets(come(said));
	was_refused(silent[1], "it said nothing");
	assert_int_equal(send(half->fd, said + 1, strlen(said + 1), 0), strlen(said + 1));
	meets(half);
	for (int i = 2; i < CONTROL_PENDING; i++)
		control_close(silent[i]);
}

static void one_peer(void **state)
{
	static const uint8_t other[16] = { [10] = 0xff, 0xff, 192, 0, 2, 1 };
	struct control *c = come(said);

	(void)state;
	listener.only = other;
	meets_nobody();
	was_refused(c, "the receiver has another peer, 192.0.2.1");
	listener.only = NULL;
	meets(come(said));
}

static void flood(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		control_close(come(""));
		while (listener.log_lines == i)
			meets_nobody();
	}
	meets(come(said));
	assert_int_equal(logged("test: refused"), CONTROL_LOG_LINES);
	assert_int_equal(listener.unsaid, 100 - CONTROL_LOG_LINES);
	listener.log_ns -= CONTROL_LOG_SECONDS * NSEC_PER_SEC;
	meets_nobody();
	assert_int_equal(logged("test: refused 90 more connections"), 1);
}

static void long_line(void **state)
{
	char text[4096];
	struct control *c;

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	listener.line_max = 1000;
	c = come(text);
	meets_nobody();
	assert_int_equal(logged("a line of more than 1000 bytes"), 1);
	control_close(c);
	meets(come(said));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(scan, begin, end), cmocka_unit_test_setup_teardown(nonsense, begin, end),
		cmocka_unit_test_setup_teardown(silence, begin, end), cmocka_unit_test_setup_teardown(crowd, begin, end),
		cmocka_unit_test_setup_teardown(one_peer, begin, end), cmocka_unit_test_setup_teardown(flood, begin, end),
		cmocka_unit_test_setup_teardown(long_line, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
