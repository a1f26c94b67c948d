// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The metrics of a snapshot, and the addresses that Prometheus can scrape; with the sanitizers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "userspace/render/prometheus/dialogues.c"
#include "userspace/render/prometheus/exporter.c"
#include "userspace/render/prometheus/metrics.c"
#include "userspace/render/prometheus/streams.c"
#include "userspace/render/prometheus/text.c"
#include "roce/dialogue/follow_dialogue.h"

#define STREAMS 300

static struct host_counter known[] = { { .where = "rxe0", .name = "out_of_sequence", .value = 7, .dropped = true } };

size_t host_counters(const struct host *h, const struct host_counter **counters)
{
	(void)h;
	*counters = known;
	return 1;
}

size_t host_hints(const struct host *h, const char *const **lines)
{
	(void)h;
	*lines = NULL;
	return 3;
}

/* ---- the text ---- */

static char *written(const struct snapshot *s, const struct metrics_options *o)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(metrics_write(out, s, (const struct host *)"", o), 0);
	fclose(out);
	assert_int_equal(strlen(text), length);
	return text;
}

static void has(const char *text, const char *line)
{
	char whole[600];

	snprintf(whole, sizeof(whole), "\n%s\n", line);
	if (!strstr(text, whole))
		fail_msg("not there: %s", line);
}

static size_t times(const char *text, const char *what)
{
	size_t count = 0;

	for (; (text = strstr(text, what)); text++)
		count++;
	return count;
}

/* QPNs 0 .. STREAMS - 1. Each loses as many PSNs as its index. */
static struct snapshot filled(void)
{
	static struct snapshot_interface interfaces[2];
	struct snapshot s = { .seconds = 1.5, .interfaces = interfaces, .interface_count = 2, .stream_count = STREAMS };

	interfaces[0] = (struct snapshot_interface){ "eth0", "native", "in", false, 5 };
	interfaces[1] = (struct snapshot_interface){ "a\"b\\c\n\xff", "generic", "in", true, 0 };
	s.streams = calloc(STREAMS, sizeof(*s.streams));
	for (int i = 0; i < STREAMS; i++) {
		struct snapshot_stream *one = &s.streams[i];

		one->key = (struct roce_key){ .src = { [10] = 0xff, 0xff, 10, 9, 0, 1 }, .dst = { 0xfd, [15] = 2 },
					      .qpn = i, .kind = KEY_CONNECTED };
		one->stream.trusted = one->stream.used = 1;
		one->stream.counters.value[COUNTER_psn_skipped] = i;
		one->stream.counters.value[COUNTER_psn_lost] = i;
		one->stream.counters.value[COUNTER_roce_packets] = 1000 - i;
	}
	s.totals.value[COUNTER_roce_packets] = UINT64_MAX;
	return s;
}

static void test_totals(void **state)
{
	struct snapshot s = filled();
	struct metrics_options o = { .room = 65536, .took = 1234567890, .events = true, .events_suppressed = 4 };
	char *text = written(&s, &o);

	(void)state;
	has(text, "# HELP rocescope_roce_packets_total RoCEv2 packets");
	has(text, "# TYPE rocescope_roce_packets_total counter");
	has(text, "rocescope_roce_packets_total 18446744073709551615");
	has(text, "# TYPE rocescope_psn_lost gauge");
	has(text, "rocescope_interface_watched{interface=\"eth0\"} 1");
	has(text, "rocescope_interface_watched{interface=\"a\\\"b\\\\c??\"} 0");
	has(text, "rocescope_interface_ring_missed_total{interface=\"eth0\"} 5");
	has(text, "rocescope_snapshot_seconds 1.234567890");
	has(text, "rocescope_seconds 1.500000000");
	has(text, "rocescope_events_suppressed_total 4");
	has(text, "rocescope_host_counter_total{where=\"rxe0\",name=\"out_of_sequence\",dropped=\"true\"} 7");
	has(text, "rocescope_host_hints 3");
	has(text, "rocescope_streams 300");
	has(text, "rocescope_streams_faulty 299");
	has(text, "rocescope_streams_exported 0");
	has(text, "rocescope_streams_cut_off 300");
	assert_int_equal(times(text, "rocescope_stream_"), 0);
	assert_int_equal(times(text, "dialogues"), 0);
	free(text);
	free(s.streams);
}

/* Totals do not fall when streams are evicted, or turn out to be phantoms. */
static void test_memory(void **state)
{
	struct roce_dialogue d[2] = { { .waiting_ns = 2000000000, .back = { [DIALOGUE_NAK] = 5 } }, { .waiting_ns = 1000000000 } };
	struct metrics_memory memory = { 0 };
	struct metrics_options o = { .memory = &memory };
	struct snapshot s = filled();
	char *text;

	(void)state;
	s.totals.value[COUNTER_psn_gaps] = 100;
	s.totals.value[COUNTER_psn_lost] = 100;
	for (int i = 0; i < 2; i++) {
		latency_add(&d[i].ack, 1000000, 1);
		s.streams[i].dialogue = &d[i];
		s.streams[i].stream.lint[LINT_tver] = 10 - i;
	}
	text = written(&s, &o);
	has(text, "rocescope_lint_packets_total{lint=\"tver\"} 19");
	has(text, "rocescope_waiting_seconds_total 3.000000000");
	has(text, "rocescope_ack_seconds_count 2");
	free(text);
	s.totals.value[COUNTER_psn_gaps] = s.totals.value[COUNTER_psn_lost] = 90;
	s.streams[0].stream.lint[LINT_tver] = 0;
	s.streams[0].dialogue = NULL;
	s.streams[1].stream.lint[LINT_tver]++;
	latency_add(&d[1].ack, 1000000, 1);
	text = written(&s, &o);
	has(text, "rocescope_psn_gaps_total 100");
	has(text, "rocescope_psn_lost 90");
	has(text, "rocescope_lint_packets_total{lint=\"tver\"} 19");
	has(text, "rocescope_waiting_seconds_total 3.000000000");
	has(text, "rocescope_back_total{cause=\"nak\"} 5");
	has(text, "rocescope_ack_seconds_count 2");
	free(text);
	s.streams[1].stream.lint[LINT_tver]++;
	d[1].waiting_ns += 500000000;
	latency_add(&d[1].ack, 1000000, 1);
	text = written(&s, &o);
	has(text, "rocescope_lint_packets_total{lint=\"tver\"} 20");
	has(text, "rocescope_waiting_seconds_total 3.500000000");
	has(text, "rocescope_ack_seconds_bucket{le=\"+Inf\"} 3");
	free(text);
	free(s.streams);
}

static void test_worst(void **state)
{
	struct snapshot s = filled();
	struct metrics_options o = { .streams = 2 };
	__u32 shown[100];
	char *text;

	(void)state;
	for (__u32 i = 0; i < ROCE_ARRAY_SIZE(shown); i++)
		shown[i] = i;
	s.shown = shown;
	s.shown_count = ROCE_ARRAY_SIZE(shown);
	text = written(&s, &o);
	has(text, "rocescope_streams_wanted 100");
	has(text, "rocescope_streams_exported 2");
	has(text, "rocescope_streams_exported_faulty 2");
	has(text, "rocescope_streams_cut_off 98");
	has(text, "rocescope_stream_psn_lost{src=\"10.9.0.1\",dst=\"fd00::2\",dqpn=\"99\",service=\"RC\",side=\"request\"} 99");
	has(text, "rocescope_stream_psn_lost{src=\"10.9.0.1\",dst=\"fd00::2\",dqpn=\"98\",service=\"RC\",side=\"request\"} 98");
	assert_int_equal(times(text, "\nrocescope_stream_psn_lost{"), 2);
	free(text);
	o = (struct metrics_options){ .streams = METRICS_STREAMS };
	s.shown = NULL;
	text = written(&s, &o);
	has(text, "rocescope_streams_exported 300");
	has(text, "rocescope_streams_cut_off 0");
	free(text);
	free(s.streams);
}

static void test_kinds(void **state)
{
	struct snapshot s = filled();
	struct metrics_options o = { .streams = 1 };
	struct host_qp qp = { .device = "mlx5_0", .program = "\"} 1\nevil 2" };
	struct host_owner owner = { .qp = &qp };
	char *text;

	(void)state;
	s.stream_count = 1;
	s.streams[0].key = (struct roce_key){ .src = { 0xfd, [15] = 1 }, .qpn = 77, .kind = KEY_DATAGRAM };
	s.streams[0].stream.service = SERVICE_UD;
	s.streams[0].stream.lint[LINT_tver] = 6;
	s.streams[0].stream.path_mtu = 4096;
	s.streams[0].owner = &owner;
	o.known = &s;
	text = written(&s, &o);
	has(text, "rocescope_stream_roce_packets_total{src=\"fd00::1\",sqpn=\"77\",service=\"UD\",side=\"request\"} 1000");
	has(text, "rocescope_stream_lint_packets_total{src=\"fd00::1\",sqpn=\"77\",service=\"UD\",side=\"request\",lint=\"tver\"} 6");
	has(text, "rocescope_lint_packets_total{lint=\"tver\"} 6");
	has(text, "rocescope_stream_info{src=\"fd00::1\",sqpn=\"77\",service=\"UD\",side=\"request\",path_mtu=\"4096\","
		  "device=\"mlx5_0\",program=\"\\\"} 1?evil 2\"} 1");
	/* a request stream has no ACKs */
	assert_int_equal(times(text, "rocescope_stream_acks_total"), 0);
	free(text);
	free(s.streams);
}

static void test_no_streams(void **state)
{
	struct snapshot s = { 0 };
	struct metrics_options o = { .streams = 5 };
	char *text = written(&s, &o);

	(void)state;
	has(text, "rocescope_streams 0");
	has(text, "rocescope_streams_exported 0");
	free(text);
}

static void test_dialogues(void **state)
{
	struct snapshot s = filled();
	struct roce_dialogue d[2] = { { .outstanding = 3, .outstanding_most = 128, .waiting_ns = 2500000000,
					.back = { [DIALOGUE_TIMEOUT] = 2 } },
				      { .outstanding = 4, .outstanding_most = 7 } };
	__u8 limits[STREAMS] = { [298] = LIMIT_WINDOW, [299] = LIMIT_STALLED };
	struct metrics_options o = { .streams = 1, .known = &s, .limits = limits };
	const char *who = "src=\"10.9.0.1\",dst=\"fd00::2\",dqpn=\"299\",service=\"RC\",side=\"request\"";
	char line[300], *text;

	(void)state;
	latency_add(&d[0].ack, 1, 1);	    /* the first bucket */
	latency_add(&d[0].ack, 1024, 1);	    /* the lower bound of the third bucket */
	latency_add(&d[1].ack, 1ull << 60, 1); /* the last */
	s.streams[299].dialogue = &d[0];
	s.streams[298].dialogue = &d[1];
	text = written(&s, &o);
	has(text, "rocescope_dialogues 2");
	has(text, "rocescope_outstanding 7");
	has(text, "rocescope_outstanding_most 128");
	has(text, "rocescope_waiting_seconds_total 2.500000000");
	has(text, "rocescope_back_total{cause=\"timeout\"} 2");
	has(text, "rocescope_streams_limited{limit=\"stalled\"} 1");
	has(text, "rocescope_streams_limited{limit=\"window-limited\"} 1");
	has(text, "rocescope_streams_limited{limit=\"unknown\"} 0");
	has(text, "# TYPE rocescope_ack_seconds histogram");
	has(text, "rocescope_ack_seconds_bucket{le=\"7.68e-07\"} 1");
	has(text, "rocescope_ack_seconds_bucket{le=\"1.024e-06\"} 1");
	has(text, "rocescope_ack_seconds_bucket{le=\"1.536e-06\"} 2");
	has(text, "rocescope_ack_seconds_bucket{le=\"+Inf\"} 3");
	has(text, "rocescope_ack_seconds_count 3");
	has(text, "rocescope_read_seconds_count 0");
	snprintf(line, sizeof(line), "rocescope_stream_ack_seconds_bucket{%s,le=\"2.048e-06\"} 2", who);
	has(text, line);
	snprintf(line, sizeof(line), "rocescope_stream_ack_seconds_sum{%s} 0.000001025", who);
	has(text, line);
	snprintf(line, sizeof(line), "rocescope_stream_limit{%s,limit=\"stalled\"} 1", who);
	has(text, line);
	assert_int_equal(times(text, "\nrocescope_ack_seconds_bucket"), DIALOGUE_BUCKETS);
	assert_int_equal(times(text, "\nrocescope_stream_ack_seconds_bucket"), DIALOGUE_BUCKETS / MERGED);
	free(text);
	free(s.streams);
}

static void test_labels(void **state)
{
	struct text_labels l = { "" };
	char longest[2000];

	(void)state;
	memset(longest, '"', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	text_label(&l, "a", longest);
	assert_true(strlen(l.text) < sizeof(l.text));
	assert_int_equal(l.text[strlen(l.text) - 1], '"');
	/* the buffer is too small for another one */
	text_label(&l, "b", "x");
	assert_null(strstr(l.text, "b="));
}

/* ---- addresses ---- */

static void test_addresses(void **state)
{
	static const char *const good[] = { "9795", "127.0.0.1:9795", "[::1]:9795", "[::]:0", ":9795", "localhost:1", "0.0.0.0:65535" };
	static const char *const bad[] = { "", ":", "127.0.0.1", "127.0.0.1:", "::1:9795", "[::1]", "[127.0.0.1]:1", "[]:1", "[::1:9795",
					   "::1]:9795", "host:9795", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:1x", "1.2.3.4.5:1", "[", "]", "[:1" };
	char longest[1000];

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(good); i++)
		if (!exporter_is_address(good[i]))
			fail_msg("%s is an address", good[i]);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(bad); i++)
		if (exporter_is_address(bad[i]))
			fail_msg("'%s' is no address", bad[i]);
	memset(longest, '1', sizeof(longest));
	strcpy(longest + sizeof(longest) - 3, ":1");
	assert_false(exporter_is_address(longest));
}

/* ---- answers ---- */

static bool fill(void *context, FILE *out)
{
	int *count = context;

	fprintf(out, "answer %d\n", ++*count);
	return *count != 2;
}

/* The server's answer. The server runs on this thread as well. */
static void ask(struct exporter *e, int port, const char *request, char answer[4096])
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	size_t length = 0;
	ssize_t n;

	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
	for (int turn = 0; turn < 2000; turn++) {
		exporter_run(e);
		n = recv(fd, answer + length, 4095 - length, MSG_DONTWAIT);
		if (!n)
			break;
		length += n > 0 ? n : 0;
		if (n < 0)
			usleep(1000);
	}
	assert_int_equal(n, 0);
	answer[length] = 0;
	close(fd);
}

static void test_answers(void **state)
{
	static const char get[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	int count = 0, port;
	struct exporter *e = exporter_start("127.0.0.1:0", fill, &count);
	char answer[4096];

	(void)state;
	assert_non_null(e);
	assert_int_equal(sscanf(exporter_url(e), "http://127.0.0.1:%d/metrics", &port), 1);
	ask(e, port, get, answer);
	assert_non_null(strstr(answer, "200 OK"));
	assert_non_null(strstr(answer, "\r\n\r\nanswer 1\n"));
	/* the same text is served for a second; a failed one is not kept */
	ask(e, port, get, answer);
	assert_non_null(strstr(answer, "\r\n\r\nanswer 1\n"));
	e->made -= FRESH;
	ask(e, port, get, answer);
	assert_non_null(strstr(answer, " 503 "));
	ask(e, port, get, answer);
	assert_non_null(strstr(answer, "\r\n\r\nanswer 3\n"));
	ask(e, port, "BREW / HTTP/1.1\r\nHost: x\r\n\r\n", answer);
	assert_non_null(strstr(answer, " 405 "));
	assert_non_null(strstr(answer, "Allow: GET, HEAD"));
	for (int i = 0; i < 3 * CLIENTS; i++)
		ask(e, port, get, answer);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(e->clients); i++)
		assert_int_equal(e->clients[i].fd, -1);
	exporter_stop(e);
	exporter_stop(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_totals),	   cmocka_unit_test(test_memory), cmocka_unit_test(test_worst),     cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_no_streams), cmocka_unit_test(test_dialogues), cmocka_unit_test(test_labels),
		cmocka_unit_test(test_addresses),  cmocka_unit_test(test_answers),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
