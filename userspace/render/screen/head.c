// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The head above the table: interfaces and time, totals, rates and their history, and what was not seen. */
#include <ncurses.h>
#include <stdarg.h>
#include <string.h>

#include "userspace/observe/model/faults.h"
#include "userspace/render/screen/grid.h"
#include "userspace/render/screen/state.h"

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

struct head_writer {
	int y, x;
};

__attribute__((format(printf, 3, 4))) static void say(struct head_writer *w, enum style style, const char *format, ...)
{
	char text[TEXT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	draw_text(w->y, w->x, COLS, style, text, false);
	w->x += strlen(text);
}

static struct head_writer line(int y, const char *label)
{
	struct head_writer w = { .y = y };

	say(&w, STYLE_DIM, "%-10s", label);
	return w;
}

/* Adds text after a comma if it fits. It is never cut, since half a number is a wrong number. */
static void say_figure(struct head_writer *w, __u64 n, const char *words, bool fault, bool first)
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

/* Adds the line's counters, without those that are 0 and seldom shown. */
static void say_figures(struct head_writer *w, const struct roce_totals *c, enum counter_line figures)
{
	bool first = true;

	for (int i = 0; i < COUNTER_PLACES; i++) {
		const struct counter_shown *shown = &counter_lines[figures][i];
		__u64 n = c->value[shown->counter];

		if (!shown->label || (!n && !shown->always))
			continue;
		say_figure(w, n, shown->label, faults_highlights(shown->counter), first);
		first = false;
	}
}

/* A line that has figures only. */
static void draw_figures(const struct head *h, int y, const char *label, enum counter_line figures)
{
	struct head_writer w = line(y, label);

	say_figures(&w, &h->totals, figures);
}

/* ---- lines ---- */

static void draw_first(const struct shown *v)
{
	const struct rows *r = &v->rows;
	struct head_writer w = { 0 };
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

static void draw_rates(const struct screen *s, const struct head *h, int y)
{
	const struct rates *r = &h->rates;
	int half = COLS / 2;

	grid_rate(y, 0, half, "bit/s", r->gbps * 1e9, rates_known_bits(r), &h->gbps, false, s->utf8);
	grid_rate(y, half, COLS - half, "pkt/s", r->packets, rates_known(r, r->packets), &h->packets, false, s->utf8);
	grid_rate(y + 1, 0, half, "skipped/s", r->lost, rates_known(r, r->lost), &h->lost, true, s->utf8);
	grid_rate(y + 1, half, COLS - half, "badICRC/s", r->icrc_bad, rates_known(r, r->icrc_bad), &h->icrc_bad, true, s->utf8);
}

/* --udp */
static bool has_udp(const struct head *h)
{
	return h->totals.value[COUNTER_udp_packets];
}

static bool misses(const struct head *h)
{
	bool any = h->events_lost || h->events_suppressed;

	for (int i = 0; i < COUNTER_PLACES; i++)
		any |= counter_lines[TABLE_UNSEEN][i].label && h->totals.value[counter_lines[TABLE_UNSEEN][i].counter];
	return any;
}

static void draw_icrc(const struct head *h, int y)
{
	static const char nothing[] = "   nothing is known to be missed";
	struct head_writer w = line(y, "ICRC");

	say_figures(&w, &h->totals, TABLE_BAD);
	say(&w, STYLE_PLAIN, " ");
	say_figures(&w, &h->totals, TABLE_ICRC);
	if (!misses(h) && w.x + (int)strlen(nothing) <= COLS)
		say(&w, STYLE_DIM, "%s", nothing);
}

static void draw_unseen(const struct head *h, int y)
{
	struct head_writer w = line(y, "not seen");
	int begin = w.x;

	say_figures(&w, &h->totals, TABLE_UNSEEN);
	if (h->events_lost)
		say_figure(&w, h->events_lost, "events lost", true, w.x == begin);
	if (h->events_suppressed)
		say_figure(&w, h->events_suppressed, "events beyond the limit", false, w.x == begin);
}

static void draw_hint(const struct head *h, int y)
{
	struct head_writer w = line(y, "hint");
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
	draw_figures(&v->head, 3, "PSN", TABLE_PSN);
	draw_figures(&v->head, 4, "messages", TABLE_MESSAGES);
	draw_icrc(&v->head, 5);
	if (has_udp(&v->head))
		draw_figures(&v->head, y++, "UDP", TABLE_UDP);
	if (misses(&v->head))
		draw_unseen(&v->head, y++);
	if (v->head.hints)
		draw_hint(&v->head, y);
}
