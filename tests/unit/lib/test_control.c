// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Control connections over loopback: addresses, lines, and peers that cut, stall, flood or insult. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/control.h"
#include "lib/stop.h"
#include "tests/unit/cmocka_includes.h"

#define SHORT	0.05	/* s: for peers that never do what is awaited */

/* Both ends of a connection; raw: the peer's descriptor. */
struct pair {
	struct control *server, *client;
	int raw;
};

static int listen_at(const char *where, uint16_t *port)
{
	struct sockaddr_in6 address;
	socklen_t length = sizeof(address);
	struct control_place place;
	char why[CONTROL_WHY];
	int listener;

	assert_true(control_find(&place, where, 0, true, why));
	listener = control_listen(&place, why);
	if (listener < 0)
		return -1;
	assert_int_equal(getsockname(listener, (struct sockaddr *)&address, &length), 0);
	*port = ntohs(address.sin6_port);	/* at the same place for IPv4 */
	return listener;
}

/* false: this machine has no such address. */
static bool meet(struct pair *p, const char *listen_where, const char *connect_where)
{
	struct control_place place;
	char why[CONTROL_WHY];
	uint16_t port;
	int listener = listen_at(listen_where, &port);

	if (listener < 0)
		return false;
	assert_true(control_find(&place, connect_where, port, false, why));
	assert_null(control_accept(listener, 0, why));
	assert_string_equal(why, "");
	p->client = control_connect(&place, why);
	assert_non_null(p->client);
	p->server = control_accept(listener, 10, why);
	assert_non_null(p->server);
	p->raw = p->client->fd;
	close(listener);
	return true;
}

static void part(struct pair *p)
{
	control_close(p->server);
	control_close(p->client);
}

/* Sends all of it, which must fit into the socket's buffers. */
static void say(const struct pair *p, const char *text)
{
	assert_int_equal(send(p->raw, text, strlen(text), MSG_DONTWAIT), strlen(text));
}

/* The server refuses this line with these words. */
static void refuses(const char *line, const char *words)
{
	struct pair p;

	assert_true(meet(&p, "127.0.0.1", "127.0.0.1"));
	say(&p, line);
	p.server->seconds = 10;
	assert_null(control_receive(p.server));
	if (strncmp(p.server->why, words, strlen(words)))
		fail_msg("%s: %s, not %s", line, p.server->why, words);
	part(&p);
}

static void test_places(void **state)
{
	static const struct {
		const char *where, *address;
		uint16_t port;
		bool listen;
	} good[] = {
		{ NULL, "0.0.0.0", 7471, true }, { "", "0.0.0.0", 7471, true }, { ":7", "0.0.0.0", 7, true },
		{ ":7", NULL, 7, false }, { "192.0.2.1", "192.0.2.1", 7471, true },
		{ "192.0.2.1:65535", "192.0.2.1", 65535, false }, { "fd00::1", "fd00::1", 7471, true },
		{ "[fd00::1]", "fd00::1", 7471, false }, { "[fd00::1]:7", "fd00::1", 7, true },
		{ "::", "::", 7471, true }, { "[::]:0", "::", 0, true }, { "::1", "::1", 7471, false },
	};
	static const char *const bad[] = {
		"192.0.2.1:", "192.0.2.1:x", "192.0.2.1:65536", "192.0.2.1:-1", "192.0.2.1:0x7", "[fd00::1", "[fd00::1]7",
		"[fd00::1]x:7", "[fd00::1]:", "fd00::g", "192.0.2.1 :7", "[]x",
	};
	char why[CONTROL_WHY], text[INET6_ADDRSTRLEN], endless[4096];
	struct control_place place;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&place.address;
		const struct sockaddr_in *four = (const struct sockaddr_in *)&place.address;
		bool is_six;

		if (!control_find(&place, good[i].where, 7471, good[i].listen, why))
			fail_msg("%s: %s", good[i].where, why);
		is_six = place.address.ss_family == AF_INET6;
		assert_int_equal(ntohs(is_six ? six->sin6_port : four->sin_port), good[i].port);
		inet_ntop(place.address.ss_family, is_six ? (const void *)&six->sin6_addr : &four->sin_addr, text,
			  sizeof(text));
		if (good[i].address)
			assert_string_equal(text, good[i].address);
		else
			assert_true(!strcmp(text, "127.0.0.1") || !strcmp(text, "::1"));
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		*why = 0;
		if (control_find(&place, bad[i], 7471, false, why) || !*why)
			fail_msg("%s was taken", bad[i]);
	}
	memset(endless, 'a', sizeof(endless));
	endless[sizeof(endless) - 1] = 0;
	assert_false(control_find(&place, endless, 7471, false, why));
}

static void test_listen_twice(void **state)
{
	struct control_place place;
	char why[CONTROL_WHY];
	uint16_t port;
	int listener = listen_at("127.0.0.1", &port);

	(void)state;
	assert_true(listener >= 0 && control_find(&place, "127.0.0.1", port, true, why));
	assert_int_equal(control_listen(&place, why), -1);
	assert_string_equal(why, "cannot listen: Address already in use");
	close(listener);
	assert_null(control_connect(&place, why));
	assert_string_equal(why, "Connection refused");
}

static void test_the_peer_is_known(void **state)
{
	static const uint8_t four[16] = { [10] = 0xff, 0xff, 127, 0, 0, 1 }, six[16] = { [15] = 1 };
	struct pair p;

	(void)state;
	assert_true(meet(&p, "127.0.0.1", "127.0.0.1"));
	assert_memory_equal(p.server->peer, four, 16);
	assert_memory_equal(p.client->peer, four, 16);
	part(&p);
	if (!meet(&p, "::", "127.0.0.1")) {
		print_message("no IPv6 here\n");
		return;
	}
	assert_memory_equal(p.server->peer, four, 16);
	part(&p);
	if (!meet(&p, "::1", "::1"))
		return;
	assert_memory_equal(p.server->peer, six, 16);
	part(&p);
}

static void test_messages_both_ways(void **state)
{
	json_t *message;
	struct pair p;

	(void)state;
	assert_true(meet(&p, "127.0.0.1", "127.0.0.1"));
	assert_int_equal(control_take(p.server, &message), 0);
	assert_true(control_send(p.client, json_pack("{s:i}", "size", 4096)));
	message = control_receive(p.server);
	assert_int_equal(json_integer_value(json_object_get(message, "size")), 4096);
	json_decref(message);
	assert_false(control_readable(p.server, 0));
	assert_true(control_refuse(p.server, "no room"));
	assert_true(control_readable(p.client, -1));
	message = control_receive(p.client);
	assert_true(control_refused(message, p.client->why));
	assert_string_equal(p.client->why, "no room");
	json_decref(message);
	assert_false(control_send(p.client, NULL));
	part(&p);
}

/* What is left of several lines that come together is seen by poll(). */
static void test_one_line_at_a_time(void **state)
{
	json_t *message;
	struct pair p;

	(void)state;
	assert_true(meet(&p, "127.0.0.1", "127.0.0.1"));
	say(&p, "{\"line\":1}\n{\"line\": 2}\r\n{\"li");
	for (int i = 1; i <= 2; i++) {
		assert_true(control_readable(p.server, -1));
		assert_int_equal(control_take(p.server, &message), 1);
		assert_int_equal(json_integer_value(json_object_get(message, "line")), i);
		json_decref(message);
	}
	assert_true(control_readable(p.server, -1));
	assert_int_equal(control_take(p.server, &message), 0);
	assert_null(message);
	assert_false(control_readable(p.server, 0));
	say(&p, "ne\":3}\n");
	message = control_receive(p.server);
	assert_int_equal(json_integer_value(json_object_get(message, "line")), 3);
	json_decref(message);
	part(&p);
}

static void test_no_message(void **state)
{
	(void)state;
	refuses("\n", "no JSON: ");
	refuses("{\"size\": 4096\n", "no JSON: ");
	refuses("{\"size\": 4096} x\n", "no JSON: ");
	refuses("{} {}\n", "no JSON: ");
	refuses("[1, 2]\n", "no JSON object");
	refuses("1\n", "no JSON: ");
	refuses("{\"a\":\"\xff\"}\n", "no JSON: ");
	refuses("{\"a\":18446744073709551616}\n", "no JSON: too big integer");
	refuses("{\"a\":1e999}\n", "no JSON: real number overflow");
	refuses("GET / HTTP/1.1\n", "no JSON: ");
}

static void test_the_peer_closes(void **state)
{
	json_t *message;
	struct pair p;

	(void)state;
	for (int cut = 0; cut < 2; cut++) {
		assert_true(meet(&p, "127.0.0.1", "127.0.0.1"));
		if (cut)
			say(&p, "{\"a\":1}");
		control_close(p.client);
		p.client = NULL;
		assert_true(control_readable(p.server, -1));
		assert_null(control_receive(p.server));
		assert_string_equal(p.server->why, cut ? "closed in the middle of a line" : "closed");
		assert_int_equal(control_take(p.server, &message), -1);
		part(&p);
	}
}

static void test_the_peer_is_late(void **state)
{
	json_t *message;
	struct pair p;
	int got;

	(void)state;
	for (int some = 0; some < 2; some++) {		/* nothing, or a part of the line */
		assert_true(meet(&p, "127.0.0.1", "127.0.0.1"));
		if (some)
			say(&p, "{\"a\":");
		p.server->seconds = SHORT;
		while (!(got = control_take(p.server, &message)))
			poll(NULL, 0, 1);
		assert_int_equal(got, -1);
		assert_string_equal(p.server->why, "no whole line within 0.05 s");
		p.client->seconds = SHORT;
		assert_null(control_receive(p.client));
		assert_string_equal(p.client->why, "no whole line within 0.05 s");
		part(&p);
	}
}

/* After its first line a peer may be silent for as long as it likes. */
static void test_silence_between_lines(void **state)
{
	json_t *message;
	struct pair p;

	(void)state;
	assert_true(meet(&p, "127.0.0.1", "127.0.0.1"));
	p.server->seconds = SHORT;
	say(&p, "{}\n");
	assert_true(control_readable(p.server, -1));
	assert_int_equal(control_take(p.server, &message), 1);
	json_decref(message);
	poll(NULL, 0, 2 * SHORT * 1000);
	assert_int_equal(control_take(p.server, &message), 0);
	part(&p);
}

/* Sends `unit` again and again until the server has enough; at most so many bytes. */
static int flood(struct pair *p, const char *unit, size_t most)
{
	size_t length = strlen(unit), sent = 0;
	json_t *message;
	int got = 0;

	assert_int_equal(fcntl(p->raw, F_SETFL, O_NONBLOCK), 0);
	p->server->seconds = 1000;
	while (!got && sent < most) {
		ssize_t n = send(p->raw, unit + sent % length, length - sent % length, MSG_NOSIGNAL);

		if (n > 0)
			sent += n;
		else
			got = control_take(p->server, &message);
	}
	return got;
}

static void test_an_endless_line(void **state)
{
	struct pair p;
	char unit[4097];

	(void)state;
	memset(unit, 'x', sizeof(unit) - 1);
	unit[sizeof(unit) - 1] = 0;
	assert_true(meet(&p, "127.0.0.1", "127.0.0.1"));
	assert_int_equal(flood(&p, unit, 10 * CONTROL_LINE_MAX), -1);
	assert_string_equal(p.server->why, "a line of more than 8388608 bytes");
	assert_true(p.server->room <= 4 * CONTROL_LINE_MAX);
	part(&p);
}

/* Values of two bytes, each of which would take a hundred bytes of memory. */
static void test_too_many_values(void **state)
{
	size_t values = 3;	/* the line, the object, the array */
	char *line = malloc(3 * CONTROL_VALUES_MAX + 16), *at = line + sprintf(line, "{\"a\":[");
	char why[CONTROL_WHY];
	json_t *message;

	(void)state;
	for (; values + 2 <= CONTROL_VALUES_MAX; values += 2)
		at += sprintf(at, "[],");
	strcpy(at, "1]}");
	message = control_parse(line, strlen(line), why);
	assert_non_null(message);
	json_decref(message);
	strcpy(at, "1,1,1]}");
	assert_null(control_parse(line, strlen(line), why));
	assert_string_equal(why, "a line of more than 344128 values");
	free(line);
}

/* What a peer says is printed: it must not command the terminal, and stays UTF-8. */
static void test_words_of_the_peer(void **state)
{
	json_t *message = json_pack("{s:s}", "error", "a\x1b[2J\nb\x7f\xc2\x9b" "c\xc3\xa9\xe6\x97\xa5");
	char why[CONTROL_WHY], words[2 * CONTROL_WHY] = "";

	(void)state;
	assert_true(control_refused(message, why));
	assert_string_equal(why, "a?[2J?b??c\xc3\xa9\xe6\x97\xa5");
	json_decref(message);
	for (int shift = 0; shift < 3; shift++) {	/* three bytes a character: cut at its begin */
		memset(words, 'x', shift);
		for (size_t at = shift; at + 3 < sizeof(words); at += 3)
			strcpy(words + at, "\xe6\x97\xa5");
		message = json_pack("{s:s}", "error", words);
		assert_true(control_refused(message, why));
		assert_int_equal(strlen(why), shift + (CONTROL_WHY - 1 - shift) / 3 * 3);
		json_decref(message);
		message = json_string(why);
		assert_non_null(message);
		json_decref(message);
	}
	message = json_pack("{s:i}", "error", 1);
	assert_false(control_refused(message, why));
	json_decref(message);
}

/* A peer that reads nothing, or is gone, ends the sending. */
static void test_sending_in_vain(void **state)
{
	char *text = calloc(1, 4 << 20);
	struct pair p;
	bool sent = true;

	(void)state;
	memset(text, 'x', (4 << 20) - 1);
	assert_true(meet(&p, "127.0.0.1", "127.0.0.1"));
	p.server->seconds = SHORT;
	for (int i = 0; i < 100 && sent; i++)
		sent = control_send(p.server, json_pack("{s:s}", "text", text));
	assert_false(sent);
	assert_string_equal(p.server->why, "not all was taken within 0.05 s");
	control_close(p.client);
	p.client = NULL;
	for (int i = 0; i < 2; i++)
		sent = control_send(p.server, json_pack("{}"));
	assert_false(sent);
	part(&p);
	free(text);
}

/* A signal may come before poll(), so it comes until it is seen. */
static void test_a_signal_ends_waiting(void **state)
{
	struct pair p;
	pid_t child;

	(void)state;
	assert_true(meet(&p, "127.0.0.1", "127.0.0.1"));
	stop_on_signals();
	child = fork();
	if (!child)
		while (!kill(getppid(), SIGINT))
			poll(NULL, 0, 10);
	p.server->seconds = 1000;
	assert_null(control_receive(p.server));
	assert_string_equal(p.server->why, "stopped");
	assert_true(stop);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	stop = 0;
	part(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_listen_twice),
		cmocka_unit_test(test_the_peer_is_known),
		cmocka_unit_test(test_messages_both_ways),
		cmocka_unit_test(test_one_line_at_a_time),
		cmocka_unit_test(test_no_message),
		cmocka_unit_test(test_the_peer_closes),
		cmocka_unit_test(test_the_peer_is_late),
		cmocka_unit_test(test_silence_between_lines),
		cmocka_unit_test(test_an_endless_line),
		cmocka_unit_test(test_too_many_values),
		cmocka_unit_test(test_words_of_the_peer),
		cmocka_unit_test(test_sending_in_vain),
		cmocka_unit_test(test_a_signal_ends_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
