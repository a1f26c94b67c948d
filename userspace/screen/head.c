// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The head above the table: interfaces and time, totals, rates and their history, and what was not seen. */
#include <ncurses.h>
#include <stdarg.h>
#include <string.h>

#include "userspace/model/faults.h"
#include "userspace/screen/state.h"

#define LEAST_HEIGHT 16 /* terminals with fewer lines show only the first line of the head */

/* ---- figures ---- */

static void fill_interfaces(struct head *h, const struct snapshot *now)
{
	size_t length = 0;

	h->interfaces[0] = '\0';
	for (size_t i = 0; i < now->interface_count && length < sizeof(h->interfaces) - 1; i++) {
		const struct snapshot_interface *f = &now->interfaces[i];
		char text[TEXT];

		snprintf(text, sizeof(text), "%s%s (%s, %s)", i ? ", " : "", f->name, f->gone ? "gone" : f->mode,
			 f->direction);
		format_safe(h->interfaces + length, sizeof(h->interfaces) - length, text);
		length += strlen(h->interfaces + length);
	}
}

static void fill_hints(struct head *h, const struct host *host)
{
	const char *const *lines;

	h->hint[0] = '\0';
	h->hints = host ? host_hints(host, &lines) : 0;
	if (h->hints)
		format_safe(h->hint, sizeof(h->hint), lines[0]);
}

void head_fill(struct screen *s, const struct screen_source *source)
{
	const struct snapshot *now = source->now;
	struct head *h = &s->live.head;

	fill_interfaces(h, now);
	fill_hints(h, source->host);
	h->seconds = now->seconds;
	h->time = s->live.rows.time;
	totals_since(&now->totals, s->base.held ? &s->base.snapshot.totals : NULL, &h->totals);
	h->events_lost = source->events_lost - s->base_lost;
	h->events_suppressed = source->events_suppressed - s->base_suppressed;
	h->rates = rates_of_totals(now, source->previous);
	spark_add(&h->gbps, h->rates.gbps);
	spark_add(&h->packets, h->rates.packets);
	h->rates.lost += h->rates.udp_lost;
	spark_add(&h->lost, h->rates.lost);
	spark_add(&h->icrc_bad, h->rates.icrc_bad);
}

/* ---- a line of pieces ---- */

struct writer {
	int y, x;
};

__attribute__((format(printf, 3, 4))) static void say(struct writer *w, enum style style, const char *format, ...)
{
	char text[TEXT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	draw_text(w->y, w->x, COLS, style, text, false);
	w->x += strlen(text);
}

static struct writer line(int y, const char *label)
{
	struct writer w = { .y = y };

	say(&w, STYLE_DIM, "%-10s", label);
	return w;
}

struct figure {
	enum roce_counter counter;
	const char *words;
	bool always;
};

/* Adds text after a comma if it fits. It is never cut, since half a number is a wrong number. */
static void say_figure(struct writer *w, __u64 n, const char *words, bool fault, bool first)
{
	char number[CELL];

	format_count(number, n);
	if (w->x + strlen(number) + strlen(words) + strlen(",  ...") > (size_t)COLS) {
		say(w, STYLE_PLAIN, " ...");
		w->x = COLS;
		return;
	}
	say(w, STYLE_PLAIN, "%s", first ? "" : ", ");
	say(w, fault && n ? STYLE_FAULT : STYLE_PLAIN, "%s %s", number, words);
}

/* Adds the counters that are not 0, and those that are always shown. */
static void say_figures(struct writer *w, const struct roce_totals *c, const struct figure *figure, size_t count, bool first)
{
	for (size_t i = 0; i < count; i++) {
		__u64 n = c->value[figure[i].counter];

		if (!n && !figure[i].always)
			continue;
		say_figure(w, n, figure[i].words, faults_highlights(figure[i].counter), first);
		first = false;
	}
}

/* ---- lines ---- */

static void draw_first(const struct shown *v)
{
	const struct rows *r = &v->rows;
	struct writer w = { 0 };
	char clock[CELL], time[CELL], streams[64], faults[64] = "";
	int room;

	format_clock(clock, v->head.seconds);
	format_time(time, v->head.time);
	time[8] = '\0';
	snprintf(streams, sizeof(streams), "  %.20s  %zu stream%s", clock, r->count, r->count == 1 ? "" : "s");
	if (r->faulty)
		snprintf(faults, sizeof(faults), ", %zu with faults", r->faulty);
	room = COLS - (int)strlen(streams) - (int)strlen(faults);
	if ((int)strlen(v->head.interfaces) > room)
		say(&w, STYLE_TITLE, "%.*s...", room > 3 ? room - 3 : 0, v->head.interfaces);
	else
		say(&w, STYLE_TITLE, "%s", v->head.interfaces);
	say(&w, STYLE_PLAIN, "%s", streams);
	say(&w, STYLE_FAULT, "%s", faults);
	if (w.x + 10 <= COLS)
		draw_text(0, COLS - 8, 8, STYLE_PLAIN, time, false);
}

/* Draws a rate and its history in `width` columns. */
static void draw_rate(const struct screen *s, int y, int x, int width, const char *label, double rate,
		      double known, const struct spark *spark, bool fault)
{
	char number[CELL], text[32], bars[3 * SPARK_SAMPLES + 1];
	int room = width - 10 - 8 - 2;

	format_rate(number, rate, known);
	draw_text(y, x, 10, STYLE_DIM, label, false);
	snprintf(text, sizeof(text), "%7.7s", number);
	draw_text(y, x + 10, 8, fault && rate > 0 ? STYLE_FAULT : STYLE_TITLE, text, false);
	if (room <= 0)
		return;
	spark_text(spark, room, s->utf8, bars);
	draw_text(y, x + 18, room, STYLE_BARS, bars, false);
}

static void draw_rates(const struct screen *s, const struct head *h, int y)
{
	const struct rates *r = &h->rates;
	int half = COLS / 2;

	draw_rate(s, y, 0, half, "bit/s", r->gbps * 1e9, rates_known_bits(r), &h->gbps, false);
	draw_rate(s, y, half, COLS - half, "pkt/s", r->packets, rates_known(r, r->packets), &h->packets, false);
	draw_rate(s, y + 1, 0, half, "skipped/s", r->lost, rates_known(r, r->lost), &h->lost, true);
	draw_rate(s, y + 1, half, COLS - half, "badICRC/s", r->icrc_bad, rates_known(r, r->icrc_bad), &h->icrc_bad, true);
}

static void draw_psn(const struct head *h, int y)
{
	static const struct figure figures[] = {
		{ COUNTER_psn_lost, "lost", true },
		{ COUNTER_psn_recovered, "recovered", true },
		{ COUNTER_psn_duplicates, "duplicates", true },
		{ COUNTER_psn_resyncs, "resyncs", false },
		{ COUNTER_psn_strays, "strays", false },
		{ COUNTER_psn_interleaved, "of another sequence", false },
		{ COUNTER_naks, "NAKs", false },
		{ COUNTER_rnr_naks, "RNR NAKs", false },
		{ COUNTER_cnps, "CNPs", false },
	};
	struct writer w = line(y, "PSN");

	say_figures(&w, &h->totals, figures, ROCE_ARRAY_SIZE(figures), true);
}

static void draw_messages(const struct head *h, int y)
{
	static const struct figure figures[] = {
		{ COUNTER_messages, "complete", true },
		{ COUNTER_messages_broken, "broken", true },
		{ COUNTER_imm_skipped, "left out", false },
		{ COUNTER_blocks_incomplete, "blocks incomplete", false },
		{ COUNTER_blocks_missing, "blocks missing", false },
	};
	struct writer w = line(y, "messages");

	say_figures(&w, &h->totals, figures, ROCE_ARRAY_SIZE(figures), true);
}

/* --udp */
static bool has_udp(const struct head *h)
{
	return h->totals.value[COUNTER_udp_packets];
}

static void draw_udp(const struct head *h, int y)
{
	static const struct figure figures[] = {
		{ COUNTER_udp_lost, "lost", true },
		{ COUNTER_udp_recovered, "recovered", true },
		{ COUNTER_udp_duplicates, "duplicates", true },
		{ COUNTER_udp_resyncs, "resyncs", false },
		{ COUNTER_udp_strays, "strays", false },
		{ COUNTER_udp_interleaved, "of another sequence", false },
		{ COUNTER_udp_messages, "heaps complete", false },
		{ COUNTER_udp_messages_broken, "heaps broken", false },
	};
	struct writer w = line(y, "UDP");

	say_figures(&w, &h->totals, figures, ROCE_ARRAY_SIZE(figures), true);
}

static bool misses(const struct head *h)
{
	return h->totals.value[COUNTER_ring_missed] || h->totals.value[COUNTER_untracked_packets] ||
	       h->totals.value[COUNTER_streams_evicted] || h->events_lost || h->events_suppressed;
}

static void draw_icrc(const struct head *h, int y)
{
	static const struct figure figures[] = {
		{ COUNTER_icrc_bad, "bad of", true },
		{ COUNTER_icrc_checked, "checked", true },
		{ COUNTER_icrc_unchecked, "unchecked", false },
		{ COUNTER_malformed, "malformed", false },
		{ COUNTER_unknown_opcodes, "unknown opcodes", false },
		{ COUNTER_ip_fragments, "IP fragments", false },
	};
	static const char nothing[] = "   nothing is known to be missed";
	struct writer w = line(y, "ICRC");

	say_figures(&w, &h->totals, figures, 1, true);
	say(&w, STYLE_PLAIN, " ");
	say_figures(&w, &h->totals, figures + 1, ROCE_ARRAY_SIZE(figures) - 1, true);
	if (!misses(h) && w.x + (int)strlen(nothing) <= COLS)
		say(&w, STYLE_DIM, "%s", nothing);
}

static void draw_unseen(const struct head *h, int y)
{
	static const struct figure figures[] = {
		{ COUNTER_ring_missed, "frames missed by the interface", false },
		{ COUNTER_untracked_packets, "packets of streams without room", false },
		{ COUNTER_streams_evicted, "streams evicted", false },
	};
	struct writer w = line(y, "not seen");
	int begin = w.x;

	say_figures(&w, &h->totals, figures, ROCE_ARRAY_SIZE(figures), true);
	if (h->events_lost)
		say_figure(&w, h->events_lost, "events lost", true, w.x == begin);
	if (h->events_suppressed)
		say_figure(&w, h->events_suppressed, "events beyond the limit", false, w.x == begin);
}

static void draw_hint(const struct head *h, int y)
{
	struct writer w = line(y, "hint");
	char more[32] = "";
	int room = COLS - w.x;

	if (h->hints > 1)
		snprintf(more, sizeof(more), " (+%zu: i)", h->hints - 1);
	else if ((int)strlen(h->hint) > room)
		snprintf(more, sizeof(more), "... (i)");
	room -= strlen(more);
	draw_text(y, w.x, room, STYLE_HINT, h->hint, false);
	draw_text(y, w.x + ((int)strlen(h->hint) < room ? (int)strlen(h->hint) : room), COLS, STYLE_HINT, more, false);
}

int head_height(const struct screen *s)
{
	if (LINES < LEAST_HEIGHT)
		return 1;
	return 6 + has_udp(&screen_shown(s)->head) + misses(&screen_shown(s)->head) + !!screen_shown(s)->head.hints;
}

void head_draw(const struct screen *s)
{
	const struct shown *v = screen_shown(s);
	int y = 6;

	draw_first(v);
	if (head_height(s) == 1)
		return;
	draw_rates(s, &v->head, 1);
	draw_psn(&v->head, 3);
	draw_messages(&v->head, 4);
	draw_icrc(&v->head, 5);
	if (has_udp(&v->head))
		draw_udp(&v->head, y++);
	if (misses(&v->head))
		draw_unseen(&v->head, y++);
	if (v->head.hints)
		draw_hint(&v->head, y);
}
