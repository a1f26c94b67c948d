// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The content of `monitor`'s table, without a terminal: numbers, columns, order, counters since a moment, a stream's page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roce/dialogue/follow_dialogue.h"
#include "roce/sequence/psn.h"
#include "tests/unit/cmocka_includes.h"
#include "userspace/render/output/text_cut.h"
#include "userspace/render/screen/state.h"

#define SECOND 1000000000ull

/* ---- formats ---- */

static void check_count(__u64 n, const char *want)
{
	char text[CELL];

	format_count(text, n);
	assert_string_equal(text, want);
	assert_true(strlen(text) <= 7);
}

static void counts(void **state)
{
	(void)state;
	check_count(0, "0");
	check_count(9999999, "9999999");
	check_count(10000000, "10.00M");
	check_count(12345678, "12.35M");
	check_count(123456789, "123.5M");
	check_count(999949999, "999.9M");
	check_count(999950000, "1.000G");
	check_count(1234567890, "1.235G");
	check_count(12345678901234ull, "12.35T");
	check_count(-1ull, "18.45E");
	for (__u64 n = 1; n < 1ull << 63; n = n * 3 + 1) {
		char text[CELL];

		format_count(text, n);
		assert_true(strlen(text) <= 7);
	}
}

static void check_rate(double rate, const char *want)
{
	char text[CELL];

	format_rate(text, rate, 0);
	assert_string_equal(text, want);
}

static void check_known(double rate, double known, const char *want)
{
	char text[CELL];

	format_rate(text, rate, known);
	assert_string_equal(text, want);
}

static void rates(void **state)
{
	(void)state;
	check_rate(0, "0");
	check_rate(-1, "0");
	check_rate(0.25, "0.250");
	check_rate(13.14, "13.14");
	check_rate(999.94, "999.9");
	check_rate(999.96, "1.000k");
	check_rate(12345, "12.35k");
	check_rate(98.76e9, "98.76G");
	check_rate(1e30, "999.9E");
	for (double rate = 0.0001; rate < 1e20; rate *= 1.01) {
		char text[CELL];

		format_rate(text, rate, 0);
		assert_true(strlen(text) <= 6);
	}
	check_known(74.99, 1, "75");	/* 75 packets in 1.0001 s */
	check_known(74.99, 0.9999, "75");
	check_known(75.01, 1.0002, "75");
	check_known(74.99, 0.1, "75.0"); /* 750 in 10 s */
	check_known(75, 5, "75");	/* 15 in 0.2 s */
	check_known(0.25, 0.25, "0.2");	/* one in 4 s */
	check_known(684.6e3, 8666, "685k"); /* the bits of 79 packets */
	check_known(39630, 1, "39.63k");
	check_known(39630, 120, "39.6k");
	check_known(1.2345e9, 1e6, "1.234G");
}

static void check_ago(double seconds, const char *want)
{
	char text[CELL];

	format_ago(text, seconds);
	assert_string_equal(text, want);
}

static void times(void **state)
{
	char text[CELL];

	(void)state;
	check_ago(0.9, "now");
	check_ago(1, "1s");
	check_ago(59.9, "59s");
	check_ago(60, "1m");
	check_ago(3599, "59m");
	check_ago(3600, "1h");
	check_ago(86400 * 12.5, "12d");
	check_ago(1e12, "999d");
	format_clock(text, 83);
	assert_string_equal(text, "0:01:23");
	format_clock(text, 360000);
	assert_string_equal(text, "100:00:00");
	format_latency(text, 850);
	assert_string_equal(text, "850 ns");
	format_latency(text, 12340);
	assert_string_equal(text, "12.3 us");
	format_latency(text, 15400000);
	assert_string_equal(text, "15.40 ms");
	format_latency(text, -1ull);
	assert_true(strlen(text) < CELL);
	format_bytes(text, 1023);
	assert_string_equal(text, "1023 B");
	format_bytes(text, 8 << 20);
	assert_string_equal(text, "8.0 MiB");
	format_bytes(text, -1ull);
	assert_string_equal(text, "16.0 EiB");
}

static void names(void **state)
{
	char text[CELL];

	(void)state;
	format_safe(text, 20, "a\033[31mb\n\xc2\x9b\x7f");
	assert_string_equal(text, "a?[31mb????");
	format_safe(text, 4, "abcdef");
	assert_string_equal(text, "abc");
	text_cut(text, 5, "abcdefgh");
	assert_string_equal(text, "ab~gh");
	text_cut(text, 8, "abcdefgh");
	assert_string_equal(text, "abcdefgh");
	text_cut_path(text, 40, "10.9.0.1", "10.9.0.2");
	assert_string_equal(text, "10.9.0.1 > 10.9.0.2");
	text_cut_path(text, 24, "2001:db8:1111:2222:3333:4444:5555:6666", "2001:db8::2");
	assert_string_equal(text, "2001~:6666 > 2001:db8::2");
	text_cut_path(text, 23, "2001:db8:1111:2222:3333:4444:5555:6666", "2001:db8:1111:2222:3333:4444:5555:7777");
	assert_string_equal(text, "2001~:6666 > 2001~:7777");
	for (size_t width = 9; width < CELL; width++) {
		text_cut_path(text, width, "2001:db8:1111:2222:3333:4444:5555:6666", "2001:db8:1111:2222:3333:4444:5555:7777");
		assert_true(strlen(text) <= width);
	}
}

static void bars(void **state)
{
	struct spark s = { 0 };
	char text[3 * SPARK_SAMPLES + 1];
	__u8 level[SPARK_SAMPLES];

	(void)state;
	assert_true(spark_text(&s, 4, false, text) == 0);
	assert_string_equal(text, "    ");
	spark_add(&s, 0);
	spark_add(&s, 0.001);
	spark_add(&s, 70);
	assert_true(spark_levels(&s, 5, level) == 70);
	assert_memory_equal(level, ((__u8[]){ 0, 0, 1, 2, 8 }), 5);
	spark_text(&s, 4, false, text);
	assert_string_equal(text, " _.#");
	spark_text(&s, 3, true, text);
	assert_string_equal(text, "▁▂█");
	for (int i = 0; i < 1000; i++)
		spark_add(&s, i);
	assert_true(spark_levels(&s, 2, level) == 999);
	spark_text(&s, 100000, true, text);
	assert_int_equal(strlen(text), 3 * SPARK_SAMPLES);
}

/* ---- rows ---- */

enum { STREAMS = 8 };

/* QPNs 100 + i, all from 10.9.0.1 to 10.9.0.2, seen from the start. */
static void make_snapshot(struct snapshot *s, double seconds)
{
	*s = (struct snapshot){ .seconds = seconds, .time = { .tv_sec = 1000 + (time_t)seconds }, .stream_count = STREAMS };
	s->streams = calloc(STREAMS, sizeof(*s->streams));
	s->realtime_offset = 1000 * SECOND;
	for (__u32 i = 0; i < STREAMS; i++) {
		struct snapshot_stream *x = &s->streams[i];

		x->key = (struct roce_key){ .kind = KEY_CONNECTED, .qpn = 100 + i };
		memcpy(x->key.src, (__u8[]){ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 0, 1 }, 16);
		memcpy(x->key.dst, (__u8[]){ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 0, 2 }, 16);
		x->stream.service = SERVICE_UC;
		x->stream.trusted = x->stream.met = x->stream.used = 1;
		x->stream.first_seen = 1;
		x->stream.counters.value[COUNTER_roce_packets] = seconds * 1000;
		x->stream.counters.value[COUNTER_bytes] = seconds * 1000000;
		x->stream.counters.value[COUNTER_messages] = seconds * 10;
	}
}

static __u64 *counters(struct snapshot *s, int stream)
{
	return s->streams[stream].stream.counters.value;
}

static void update(struct rows *r, const struct snapshot *now, const struct snapshot *previous, const struct snapshot *base)
{
	struct rows_source source = { .now = now, .previous = previous, .base = base };

	assert_true(rows_update(r, &source));
}

static const char *cell(const struct rows *r, int stream, enum column c)
{
	static char text[TEXT_CELL];

	column_fill(c, text, r, &r->row[stream], 60);
	return text;
}

static void figures(void **state)
{
	struct snapshot first, second, third;
	struct rows r = { 0 };
	char text[TEXT_CELL];

	(void)state;
	make_snapshot(&first, 1);
	make_snapshot(&second, 3);
	make_snapshot(&third, 13);
	counters(&second, 2)[COUNTER_psn_skipped] = 7;
	counters(&second, 2)[COUNTER_psn_gaps] = 1;
	counters(&second, 2)[COUNTER_psn_recovered] = 2;
	counters(&third, 2)[COUNTER_psn_skipped] = 7;
	counters(&third, 2)[COUNTER_psn_gaps] = 1;
	counters(&third, 2)[COUNTER_psn_recovered] = 2;
	counters(&third, 3)[COUNTER_icrc_bad] = 12345678;
	third.streams[4].stream.trusted = 0;
	third.streams[5].stream.service = SERVICE_UD;
	third.streams[6].stream.lint[LINT_udp_length] = 3;
	update(&r, &first, NULL, NULL);
	assert_int_equal(r.faulty, 0);
	assert_string_equal(cell(&r, 2, COLUMN_FAULT), "-");
	update(&r, &second, &first, NULL);
	assert_int_equal(r.faulty, 1);
	assert_string_equal(cell(&r, 2, COLUMN_FAULT), "now");
	update(&r, &third, &second, NULL);
	assert_int_equal(r.faulty, 3);
	assert_string_equal(cell(&r, 2, COLUMN_STREAM), "10.9.0.1 > 10.9.0.2");
	assert_string_equal(cell(&r, 2, COLUMN_QPN), "102");
	assert_string_equal(cell(&r, 2, COLUMN_HEX), "0x66");
	assert_string_equal(cell(&r, 2, COLUMN_SERVICE), "UC");
	assert_string_equal(cell(&r, 4, COLUMN_SERVICE), "UC?");
	assert_string_equal(cell(&r, 2, COLUMN_LOST), "5");
	assert_string_equal(cell(&r, 5, COLUMN_LOST), "~0");
	assert_string_equal(cell(&r, 2, COLUMN_RECOVERED), "2");
	assert_string_equal(cell(&r, 2, COLUMN_FAULT), "10s");
	assert_string_equal(cell(&r, 3, COLUMN_BAD), "12.35M");
	assert_string_equal(cell(&r, 3, COLUMN_FAULT), "now");
	assert_string_equal(cell(&r, 6, COLUMN_LINT), "udp_length");
	/* 8 Mbit/s, 1000 packets/s, 10 messages/s */
	assert_string_equal(cell(&r, 2, COLUMN_BITS), "8.000M");
	assert_string_equal(cell(&r, 2, COLUMN_RATE), "1.000k");
	assert_string_equal(cell(&r, 2, COLUMN_MESSAGES), "10.0"); /* in ten seconds */
	assert_false(column_fill(COLUMN_LOST, text, &r, &r.row[1], 7));
	assert_true(column_fill(COLUMN_LOST, text, &r, &r.row[2], 7));
	rows_free(&r);
	snapshot_free(&first);
	snapshot_free(&second);
	snapshot_free(&third);
}

static void orders(void **state)
{
	struct snapshot s;
	struct rows r = { 0 };

	(void)state;
	make_snapshot(&s, 1);
	counters(&s, 5)[COUNTER_psn_skipped] = 3;
	counters(&s, 2)[COUNTER_psn_skipped] = 9;
	counters(&s, 6)[COUNTER_icrc_bad] = 4;
	counters(&s, 7)[COUNTER_roce_packets] = 5000;
	update(&r, &s, NULL, NULL);
	assert_int_equal(r.shown_count, STREAMS);
	rows_order(&r, COLUMN_WORST, false);
	assert_memory_equal(r.shown, ((__u32[]){ 2, 6, 5, 7, 0, 1, 3, 4 }), STREAMS * sizeof(__u32));
	rows_order(&r, COLUMN_LOST, false);
	assert_memory_equal(r.shown, ((__u32[]){ 2, 5, 0, 1, 3, 4, 6, 7 }), STREAMS * sizeof(__u32));
	rows_order(&r, COLUMN_LOST, true);
	assert_memory_equal(r.shown, ((__u32[]){ 0, 1, 3, 4, 6, 7, 5, 2 }), STREAMS * sizeof(__u32));
	for (int c = 0; c < COLUMNS; c++) {
		rows_order(&r, c, false);
		for (size_t i = 1; i < r.shown_count; i++)
			assert_true(column_compare(c, &r.row[r.shown[i - 1]], &r.row[r.shown[i]]) <= 0);
	}
	rows_order(&r, COLUMN_QPN, true);
	assert_int_equal(rows_find(&r, &s.streams[6].key), 1);
	assert_int_equal(rows_find(&r, &(struct roce_key){ 0 }), STREAMS);
	rows_free(&r);
	snapshot_free(&s);
}

static void filters(void **state)
{
	char mistake[FILTER_MISTAKE];
	struct filter *f = filter_parse("qpn 103 or lost", mistake);
	struct rows r = { 0 };
	struct snapshot s;

	(void)state;
	assert_non_null(f);
	make_snapshot(&s, 1);
	counters(&s, 5)[COUNTER_psn_skipped] = counters(&s, 5)[COUNTER_psn_lost] = 3;
	update(&r, &s, NULL, NULL);
	rows_filter(&r, &s, f);
	assert_int_equal(r.shown_count, 2);
	assert_memory_equal(r.shown, ((__u32[]){ 3, 5 }), 2 * sizeof(__u32));
	rows_filter(&r, &s, NULL);
	assert_int_equal(r.shown_count, STREAMS);
	filter_free(f);
	rows_free(&r);
	snapshot_free(&s);
}

/* ---- counters since a moment ---- */

static void since(void **state)
{
	struct roce_dialogue dialogue = { .outstanding = 7 };
	struct hold base = { 0 };
	struct snapshot first, second;
	struct rows r = { 0 };

	(void)state;
	make_snapshot(&first, 1);
	counters(&first, 2)[COUNTER_psn_skipped] = 9;
	counters(&first, 2)[COUNTER_psn_recovered] = 1;
	first.totals.value[COUNTER_psn_skipped] = 9;
	first.streams[1].dialogue = &dialogue;
	first.streams[3].stream.lint[LINT_tver] = 5;
	assert_true(hold_take(&base, &first));
	assert_int_equal(base.snapshot.streams[1].dialogue->outstanding, 7);
	assert_ptr_not_equal(base.snapshot.streams[1].dialogue, &dialogue);
	make_snapshot(&second, 2);
	counters(&second, 2)[COUNTER_psn_skipped] = 12;
	counters(&second, 2)[COUNTER_psn_recovered] = 6; /* more than were skipped since then */
	second.streams[3].stream.lint[LINT_tver] = 5;
	counters(&second, 4)[COUNTER_roce_packets] = 3; /* another stream with this key */
	second.streams[4].stream.first_seen = SECOND;
	update(&r, &second, &first, &base.snapshot);
	assert_int_equal(r.row[0].packets, 1000);
	assert_int_equal(r.row[2].lost, 0);
	assert_int_equal(r.row[2].recovered, 5);
	assert_int_equal(r.row[3].lints, 0);
	assert_int_equal(r.row[4].packets, 3);
	rows_rebase(&r, &second, NULL);
	assert_int_equal(r.row[0].packets, 2000);
	assert_int_equal(r.row[2].lost, 6);
	assert_int_equal(r.faulty, 2);
	rows_free(&r);
	hold_release(&base);
	snapshot_free(&first);
	snapshot_free(&second);
}

/* ---- columns ---- */

static size_t width_of(const struct text_table *l)
{
	size_t width = 0;

	for (int c = 0; c < COLUMNS; c++)
		width += l->width[c] ? l->width[c] + 1 : 0;
	return width ? width - 1 : 0;
}

static void check_columns(size_t room, int sorted, size_t path, bool ipv6)
{
	struct rows r = { .has_qpns = true, .has_owners = true, .has_limits = true, .has_blocks = true };
	struct text_table l;

	columns_begin(&l);
	l.need[COLUMN_STREAM] = path;
	l.need[COLUMN_QPN] = 4;
	l.need[COLUMN_LINT] = 60;
	l.need[COLUMN_OWNER] = 20;
	l = columns_choose(&l, &r, room, sorted);
	if (room >= 60)
		assert_true(width_of(&l) <= room);
	assert_true(sorted == COLUMN_WORST || l.width[sorted]);
	for (int c = 1; c < COLUMNS; c++) /* the one in hexadecimal is left out first, then those at the right */
		if (l.width[c] && c != sorted && c != COLUMN_SERVICE)
			assert_true(l.width[c - 1] || c - 1 == sorted);
	if (l.width[COLUMN_HEX] && sorted != COLUMN_HEX)
		for (int c = 0; c < COLUMNS; c++)
			assert_true(l.width[c]);
	if (room >= 80)
		assert_true(l.width[COLUMN_BAD] && l.width[COLUMN_LOST]);
	if (room >= 80 && !ipv6 && sorted == COLUMN_WORST)
		assert_true(l.width[COLUMN_BROKEN] && l.width[COLUMN_FAULT]);
}

static void columns(void **state)
{
	struct text_table measured, l;
	struct rows r = { 0 };

	(void)state;
	for (size_t room = 1; room < 300; room++)
		for (int sorted = 0; sorted <= COLUMNS; sorted++) {
			check_columns(room, sorted, 19, false);
			check_columns(room, sorted, 79, true);
		}
	columns_begin(&measured);
	l = columns_choose(&measured, &r, 300, COLUMN_WORST);
	assert_false(l.width[COLUMN_OWNER] || l.width[COLUMN_LIMIT]); /* the columns would be empty */
	assert_false(l.width[COLUMN_HEX] || l.width[COLUMN_INCOMPLETE] || l.width[COLUMN_MISSING]);
	assert_true(l.width[COLUMN_LINT]);
}

/* ---- pages ---- */

static void wrapping(void **state)
{
	struct lines l = { .width = 30 };

	(void)state;
	lines_add(&l, STYLE_PLAIN, "label", "one two three four five six \033 seven");
	assert_int_equal(l.count, 3);
	assert_string_equal(l.line[0].text, "label        one two three");
	assert_string_equal(l.line[1].text, "             four five six ?");
	assert_string_equal(l.line[2].text, "             seven");
	lines_clear(&l);
	lines_add(&l, STYLE_PLAIN, NULL, "%0100d", 0);
	assert_int_equal(l.count, 4);
	assert_int_equal(strlen(l.line[0].text), 30);
	lines_clear(&l);
	l.width = 1;
	lines_add(&l, STYLE_PLAIN, "label", "something to say");
	lines_add(&l, STYLE_PLAIN, "label", "%s", "");
	assert_true(l.count > 1);
	lines_clear(&l);
}

static const char *line_with(const struct lines *l, const char *words)
{
	for (size_t i = 0; i < l->count; i++)
		if (strstr(l->line[i].text, words))
			return l->line[i].text;
	return "";
}

/* The missing PSNs of the window, newest first. */
static void opened(void **state)
{
	struct screen *s = calloc(1, sizeof(*s));
	struct snapshot now;
	struct screen_source source = { .now = &now };
	struct roce_stream *stream;

	(void)state;
	make_snapshot(&now, 1);
	stream = &now.streams[2].stream;
	psn_start(&stream->psn, 0xfffff0);
	for (int i = 0; i < 5; i++) { /* gaps of 3 PSNs, each after 400 */
		psn_plan(&stream->psn, 400, 3, 1);
		psn_forward(&stream->psn);
	}
	stream->counters.value[COUNTER_psn_skipped] = 15;
	stream->counters.value[COUNTER_psn_gaps] = 5;
	now.streams[2].stream.last.vlan_tags = 1;
	now.streams[2].stream.last.vlan = 0x2005;
	now.streams[2].stream.lint[LINT_tver] = 2;
	update(&s->live.rows, &now, NULL, NULL);
	s->lines.width = 200;
	stream_open(s, &source, &now.streams[2].key);
	assert_int_equal(s->page, PAGE_STREAM);
	stream_update(s, &source);
	stream_page(s, &source);
	assert_non_null(strstr(line_with(&s->lines, "10.9.0.1 > 10.9.0.2"), "QPN 102 (0x66)  UC requests"));
	assert_string_equal(line_with(&s->lines, "lost"), "lost         PSNs 15: skipped 15, came later 0; jumps 5");
	assert_string_equal(line_with(&s->lines, "missing"), "missing now  0x0007d0-0x0007d2, 0x00063c-0x00063e, 0x0004a8-0x0004aa, "
			    "and others before");
	assert_non_null(strstr(line_with(&s->lines, "last packet"), "VLAN 5,"));
	assert_non_null(strstr(line_with(&s->lines, "mistakes"), "tver, in 2 packets: transport header version"));
	lines_clear(&s->lines);
	now.stream_count = 2;
	stream_page(s, &source);
	assert_int_equal(s->lines.count, 1); /* the stream no longer exists */
	lines_clear(&s->lines);
	rows_free(&s->live.rows);
	snapshot_free(&now);
	free(s);
}

/* A bar's length is proportional to the longest. No bar is empty. */
static void histograms(void **state)
{
	struct screen *s = calloc(1, sizeof(*s));
	struct roce_dialogue dialogue = { 0 };
	struct history *history = history_new();
	struct snapshot now;
	struct screen_source source = { .now = &now, .history = history };
	struct roce_event event = { .kinds = ROCE_EVENT(psn_gap) };

	(void)state;
	make_snapshot(&now, 1);
	for (int i = 0; i < 48; i++)
		latency_add(&dialogue.ack, 1500, 1);
	for (int i = 0; i < 11; i++)
		latency_add(&dialogue.ack, 2 << 20, 1);
	latency_add(&dialogue.ack, 3ull << 20, 1);
	now.streams[2].dialogue = &dialogue;
	for (event.skipped = 1; event.skipped < 8; event.skipped++)
		history_add(history, &now.streams[2].key, &event, event.skipped * SECOND, 0, 0);
	s->lines.width = 200;
	stream_open(s, &source, &now.streams[2].key);
	stream_page(s, &source);
	assert_string_equal(line_with(&s->lines, "1.0 us on"), "               1.0 us on         48  ########################");
	assert_string_equal(line_with(&s->lines, "2.10 ms on"), "              2.10 ms on         11  ######");
	assert_string_equal(line_with(&s->lines, "3.15 ms on"), "              3.15 ms on          1  #");
	assert_string_equal(line_with(&s->lines, " 1 PSN "), "                   1 PSN          1  ######");
	assert_string_equal(line_with(&s->lines, "2-3 PSNs"), "                2-3 PSNs          2  ############");
	assert_string_equal(line_with(&s->lines, "4-7 PSNs"), "                4-7 PSNs          4  ########################");
	assert_string_equal(line_with(&s->lines, "8-15 PSNs"), "");
	lines_clear(&s->lines);
	history_free(history);
	snapshot_free(&now);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),  cmocka_unit_test(rates),    cmocka_unit_test(times),	 cmocka_unit_test(names),
		cmocka_unit_test(bars),	   cmocka_unit_test(figures),  cmocka_unit_test(orders), cmocka_unit_test(filters),
		cmocka_unit_test(since),   cmocka_unit_test(columns),  cmocka_unit_test(wrapping), cmocka_unit_test(opened),
		cmocka_unit_test(histograms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
