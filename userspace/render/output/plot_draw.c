// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes commands for gnuplot: the rate at the top, and a strip for each stream below, all on the same time axis. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/gnuplot.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/render/output/plot.h"

#define NSEC 1000000000ll

/* Sizes in pixels of the SVG. */
#define WIDTH 1000
#define LEFT 80
#define RIGHT 80
#define HEAD 72 /* title and legend */
#define RATE 200
#define BETWEEN 90 /* between rate and strips, with their heading */
#define STRIP 84
#define GAP 34 /* between strips, with the name of the next one */
#define FOOT 60
#define LONG 125 /* characters that fit in the name of a strip */

#define SKY "#9FD3F0"
#define PURPLE "#AA4499"
#define BLACK "#000000"

/* They differ in shape as well. */
static const struct {
	const char *words, *style; /* gnuplot's point style */
	double lift; /* fraction of the strip's height, so that marks of one bin do not hide each other */
} marks[PLOT_MARKS] = {
	[MARK_LOST] = { "PSNs missing", "pt 11 ps 1.1 lc rgb '" COLOUR_ORANGE "'", 0.12 },
	[MARK_AGAIN] = { "late or seen before", "pt 6 ps 0.8 lw 1.5 lc rgb '" COLOUR_GREEN "'", -0.12 },
	[MARK_RESYNC] = { "elsewhere in the sequence", "pt 13 ps 1.1 lc rgb '" BLACK "'", 0 },
	[MARK_BAD] = { "wrong ICRC", "pt 2 ps 0.9 lw 1.5 lc rgb '" PURPLE "'", 0 },
};

struct unit {
	double size;
	const char *name;
};

/* The picture while it is written. */
struct sheet {
	const struct gnuplot *g;
	FILE *out; /* its script */
	struct plot_picture *picture;
	__u64 start, end; /* of the capture; ns */
	struct unit time; /* size in ns */
	double bits, packets; /* the highest rates, a second */
};

/* The largest unit that is not larger than n. */
static struct unit choose_unit(double n, const struct unit *units)
{
	while (units[1].name && n < units->size)
		units++;
	return *units;
}

static struct unit rate_unit(double n)
{
	static const struct unit units[] = { { 1e9, "G" }, { 1e6, "M" }, { 1e3, "k" }, { 1, "" }, { 0, NULL } };

	return choose_unit(n, units);
}

static struct unit time_unit(double ns)
{
	static const struct unit units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "µs" }, { 0, NULL } };

	return choose_unit(ns, units);
}

static double time_at(const struct sheet *s, __u64 ns)
{
	if (ns < s->start)
		ns = s->start;
	if (ns > s->end)
		ns = s->end;
	return (ns - s->start) / s->time.size;
}

/* ---- data ---- */

struct span {
	__u64 begin, end; /* ns */
	double packets, bytes;
};

static struct span span_of(const struct sheet *s, struct plot_row *r, __u64 number)
{
	const struct plot_cell *cell = plot_row_cell(r, number);
	struct span span = { number << r->shift, (number + 1) << r->shift, cell->packets, cell->bytes };

	if (span.begin < s->start)
		span.begin = s->start;
	if (span.end > s->end)
		span.end = s->end;
	return span;
}

static void print_span(struct sheet *s, const struct span *span)
{
	double seconds = span->end > span->begin ? (span->end - span->begin) / 1e9 : 0;
	double bits = seconds ? span->bytes * 8 / seconds : 0, packets = seconds ? span->packets / seconds : 0;

	fprintf(s->out, "%.6g %.6g %.6g\n%.6g %.6g %.6g\n", time_at(s, span->begin), bits, packets, time_at(s, span->end), bits,
		packets);
	s->bits = fmax(s->bits, bits);
	s->packets = fmax(s->packets, packets);
}

/* A bin that the capture covers by less than half says little, so it is added to its neighbour. */
static void print_rates(struct sheet *s)
{
	struct plot_row *r = &s->picture->rate;
	__u64 packets = 0, half;
	struct span span, last;

	fputs("$rate << EOD\n", s->out);
	for (__u64 i = r->first; r->used && i <= r->last; i++)
		packets += plot_row_cell(r, i)->packets;
	/* Bins with few packets would hide the rate, and more than 256 bins cannot be told apart. */
	while (r->used && (r->last - r->first >= 256 || (r->last - r->first > 32 && packets < 100 * (r->last - r->first))))
		plot_row_coarsen(r);
	half = 1ull << r->shift >> 1;
	span = r->used ? span_of(s, r, r->first) : (struct span){ .begin = s->start, .end = s->end };
	for (__u64 i = r->first + 1; r->used && i <= r->last; i++) {
		last = span_of(s, r, i);
		if (span.end - span.begin < half || (i == r->last && last.end - last.begin < half)) {
			span.end = last.end;
			span.packets += last.packets;
			span.bytes += last.bytes;
			continue;
		}
		print_span(s, &span);
		span = last;
	}
	print_span(s, &span);
	fputs("EOD\n", s->out);
}

/* What a strip shows. */
struct strip {
	double least, most; /* PSNs since the stream's first */
	unsigned int points;
	unsigned int marks; /* marks in the strip, bits of enum plot_mark */
};

static void print_track(struct sheet *s, int t, struct strip *strip)
{
	struct plot_row *r = &s->picture->track[t]->row;
	__u64 first_psn = s->picture->stream[t]->stream.sequence.first_psn;

	strip->most = 1;
	fprintf(s->out, "$psn%d << EOD\n", t);
	for (__u64 i = r->first; i <= r->last; i++) {
		const struct plot_cell *cell = plot_row_cell(r, i);
		double psn = cell->psn ? (double)(__s64)(cell->psn - 1 - first_psn) : 0;

		if (!cell->psn)
			continue;
		fprintf(s->out, "%.6g %.12g\n", time_at(s, (i << r->shift) + (1ull << r->shift >> 1)), psn);
		strip->points++;
		strip->least = fmin(strip->least, psn);
		strip->most = fmax(strip->most, psn);
	}
	fputs("EOD\n", s->out);
}

/* Prints the marks, each at the PSN that the stream had reached. */
static void print_marks(struct sheet *s, int t, struct strip *strip)
{
	struct plot_row *r = &s->picture->track[t]->row;
	__u64 first_psn = s->picture->stream[t]->stream.sequence.first_psn;

	for (int m = 0; m < PLOT_MARKS; m++) {
		double psn = 0;

		fprintf(s->out, "$mark%d_%d << EOD\n", t, m);
		for (__u64 i = r->first; i <= r->last; i++) {
			const struct plot_cell *cell = plot_row_cell(r, i);

			if (cell->psn)
				psn = (double)(__s64)(cell->psn - 1 - first_psn);
			if (!cell->mark[m])
				continue;
			fprintf(s->out, "%.6g %.12g\n", time_at(s, (i << r->shift) + (1ull << r->shift >> 1)),
				psn + marks[m].lift * (strip->most - strip->least));
			strip->marks |= 1u << m;
		}
		fputs("EOD\n", s->out);
	}
}

/* ---- words ---- */

/* The name of a stream and its faults in words. */
static void describe(char *to, size_t size, const struct snapshot_stream *s)
{
	static const struct {
		enum roce_counter counter;
		const char *one, *many;
	} figures[] = {
		{ COUNTER_psn_lost, "lost", "lost" },
		{ COUNTER_icrc_bad, "wrong ICRC", "wrong ICRCs" },
		{ COUNTER_messages_broken, "message broken", "messages broken" },
		{ COUNTER_psn_recovered, "recovered", "recovered" },
		{ COUNTER_psn_duplicates, "duplicate", "duplicates" },
		{ COUNTER_psn_resyncs, "resync", "resyncs" },
	};
	const struct roce_key *key = &s->key;
	const __u8 *dst = snapshot_destination(s);
	bool udp = key->kind == KEY_UDP;
	const char *side = key->side == SIDE_RESPONSE ? " responses" : "";
	__u64 packets = snapshot_packets(&s->stream), lints = 0;
	int length;

	length = snprintf(to, size, "%s > %s  %s %s  %s%s: %llu packet%s", address_text(key->src).text, address_text(dst).text,
			  udp ? "flow" : "QPN", (udp ? qpn_cell(key) : qpn_text(key->qpn)).text, roce_service_name(s->stream.service), side, packets, packets == 1 ? "" : "s");
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(figures) && (size_t)length < size; i++) {
		__u64 n = s->stream.counters.value[figures[i].counter];

		if (n)
			length += snprintf(to + length, size - length, ", %llu %s", n,
					   n == 1 ? figures[i].one : figures[i].many);
	}
	for (int i = 0; i < ROCE_LINTS; i++)
		lints += s->stream.lint[i];
	if (lints && (size_t)length < size)
		length += snprintf(to + length, size - length, ", %llu header mistake%s", lints, lints == 1 ? "" : "s");
	if ((size_t)length < size && (!s->stream.trusted || snapshot_is_estimate(&s->stream)))
		snprintf(to + length, size - length, s->stream.trusted ? " (an estimate)" : " (no right ICRC)");
}

/* ---- panels ---- */

/* Places the next panel. top, height: pixels; top counts from the upper edge. */
static void place(const struct sheet *s, int top, int height)
{
	fprintf(s->out, "set lmargin at screen %.5f\nset rmargin at screen %.5f\n", (double)LEFT / WIDTH,
		1 - (double)RIGHT / WIDTH);
	fprintf(s->out, "set tmargin at screen %.5f\nset bmargin at screen %.5f\n", 1 - (double)top / s->g->height,
		1 - (double)(top + height) / s->g->height);
}

/* Prints tics: up to four round numbers on each side of 0, all in one unit. */
static void print_tics(FILE *out, double least, double most)
{
	double size = fmax(most, -least), step = pow(10, floor(log10(size / 4)));
	struct unit unit = rate_unit(size);
	const char *before = "";

	step *= size / step > 20 ? 10 : size / step > 8 ? 5 : 2;
	step = fmax(step, 1);
	fputs("set ytics (", out);
	for (int i = ceil(least / step); i * step <= most; i++) {
		fprintf(out, "%s'%g%s' %.12g", before, i * step / unit.size, i ? unit.name : "", i * step);
		before = ", ";
	}
	fputs(") nomirror\n", out);
}

static void draw_rates(const struct sheet *s)
{
	struct unit bits = rate_unit(s->bits), packets = rate_unit(s->packets);
	double most_bits = s->bits > 0 ? s->bits / bits.size : 1, most_packets = s->packets > 0 ? s->packets / packets.size : 1;

	place(s, HEAD, RATE);
	/* The scales differ, so that the two lines do not cover each other when all packets have one size. */
	fprintf(s->out, "set border 11\nset yrange [0:%.6g]\nset y2range [0:%.6g]\nset xtics nomirror\n", most_bits * 1.1,
		most_packets * 1.3);
	fprintf(s->out, "set ytics nomirror autofreq\nset y2tics autofreq\nset grid ytics lc rgb '#dddddd'\n");
	fprintf(s->out, "set ylabel '%sbit/s' tc rgb '" COLOUR_BLUE "'\nset y2label '%spackets/s' tc rgb '" COLOUR_ORANGE "'\n", bits.name,
		*packets.name == 'M' ? "million " : *packets.name == 'k' ? "thousand " : packets.name);
	fprintf(s->out, "plot $rate using 1:($2/%g) axes x1y1 with filledcurves y1=0 lc rgb '" SKY "' notitle, \\\n"
			"  '' using 1:($2/%g) axes x1y1 with lines lw 1.5 lc rgb '" COLOUR_BLUE "' notitle, \\\n"
			"  '' using 1:($3/%g) axes x1y2 with lines lw 1.5 lc rgb '" COLOUR_ORANGE "' notitle\n",
		bits.size, bits.size, packets.size);
	fputs("unset label\nunset y2tics\nunset y2label\nunset ylabel\nset border 3\n", s->out);
}

static void draw_strip(const struct sheet *s, int t, const struct strip *strip)
{
	int top = HEAD + RATE + BETWEEN + t * (STRIP + GAP);
	double margin = (strip->most - strip->least) / 5;
	bool bottom = t + 1 == (int)s->picture->tracks;
	char text[400];

	describe(text, sizeof(text), s->picture->stream[t]);
	place(s, top, STRIP);
	gnuplot_label(s->g, LEFT, top - 10, strlen(text) > LONG ? "left font ',8'" : "left", text);
	fprintf(s->out, "set yrange [%.6g:%.6g]\n", strip->least - margin, strip->most + margin);
	print_tics(s->out, strip->least, strip->most);
	fprintf(s->out, "set format x '%s'\n", bottom ? "%g" : "");
	if (bottom)
		fprintf(s->out, "set xlabel '%s since the first frame'\n", s->time.name);
	fprintf(s->out, "plot $psn%d using 1:2 with %s lw 1.5 lc rgb '" COLOUR_BLUE "' notitle", t,
		strip->points > 1 ? "lines" : "points pt 7 ps 0.3");
	for (int m = 0; m < PLOT_MARKS; m++)
		if (strip->marks >> m & 1)
			fprintf(s->out, ", $mark%d_%d using 1:2 with points %s notitle", t, m, marks[m].style);
	fputs("\nunset label\n", s->out);
}

/* ---- the sheet ---- */

static void draw_head(const struct sheet *s, unsigned int there)
{
	double x = LEFT;

	gnuplot_label(s->g, LEFT, 22, "left font ',16'", s->picture->title);
	gnuplot_label(s->g, LEFT, 54, "left tc rgb '" COLOUR_BLUE "'", "bits a second");
	gnuplot_label(s->g, LEFT + 130, 54, "left tc rgb '" COLOUR_ORANGE "'", "packets a second");
	if (!s->picture->tracks)
		return;
	gnuplot_label(s->g, x, HEAD + RATE + 50, "left", "PSNs since the stream's first");
	x += 250;
	for (int m = 0; m < PLOT_MARKS; m++) {
		char style[120];

		if (!(there >> m & 1))
			continue;
		snprintf(style, sizeof(style), "point %s", marks[m].style);
		gnuplot_label(s->g, x, HEAD + RATE + 50, style, "");
		gnuplot_label(s->g, x + 12, HEAD + RATE + 50, "left", marks[m].words);
		x += 40 + 7.4 * strlen(marks[m].words);
	}
}

bool plot_draw(struct plot_picture *picture, const char *path)
{
	const struct snapshot *now = picture->snapshot;
	int strips = picture->tracks, height = HEAD + RATE + (strips ? BETWEEN + strips * (STRIP + GAP) - GAP : 0) + FOOT;
	struct gnuplot g;
	struct sheet s = { .g = &g, .picture = picture, .end = snapshot_time(now) };
	struct strip strip[PLOT_STREAMS] = { 0 };
	unsigned int any = 0;

	if (!gnuplot_open(&g, path, strcmp(path + strlen(path) - 4, ".svg"), WIDTH, height))
		return false;
	s.out = g.script;
	s.start = s.end - llround(now->seconds * NSEC);
	s.time = time_unit(now->seconds * NSEC);
	print_rates(&s);
	for (int t = 0; t < strips; t++) {
		print_track(&s, t, &strip[t]);
		print_marks(&s, t, &strip[t]);
		any |= strip[t].marks;
	}
	fprintf(s.out, "set multiplot\nset xrange [0:%.9g]\nset tics out scale 0.6\nset format '%%g'\n",
		s.end > s.start ? (s.end - s.start) / s.time.size : 1);
	draw_head(&s, any);
	if (!strips)
		fprintf(s.out, "set xlabel '%s since the first frame'\n", s.time.name);
	draw_rates(&s);
	for (int t = 0; t < strips; t++)
		draw_strip(&s, t, &strip[t]);
	fputs("unset multiplot\n", s.out);
	return gnuplot_close(&g);
}
