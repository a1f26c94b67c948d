// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps and the exchange as a picture: two lines of life, and an arrow for each packet; below, what is wrong first. */
#include <string.h>

#include "lib/address.h"
#include "lib/gnuplot.h"
#include "userspace/diagnose/bring_up/bring_up.h"

#define WIDTH 1100
#define SENDER 240 /* x of the lines of life */
#define RECEIVER 980
#define MIDDLE ((SENDER + RECEIVER) / 2)
#define TOP 70
#define ROW 40
#define ROWS 20 /* of the exchange, the last ones */
#define STEP_HEIGHT 22
#define NOTE 102 /* characters that fit between them */
#define LINE 150 /* and from left to right */
#define LINE_HEIGHT 19

#define FONT " font 'sans-serif,13'"
#define BOLD " font 'sans-serif Bold,13'"

/* At most so many characters; three dots where it is cut. style: left, center or right, and FONT or BOLD. */
static void words(const struct gnuplot *g, int x, int y, const char *style, const char *colour, const char *text, int most)
{
	bool cut = (int)strlen(text) > most;
	char whole[80], shown[LINE + 1];

	SAY(whole, "%s tc rgb '%s'", style, colour);
	SAY(shown, "%.*s%s", cut ? most - 3 : most, text, cut ? "..." : "");
	gnuplot_label(g, x, y, whole, shown);
}

static void draw_steps(const struct gnuplot *g, const struct bring_up *b, const struct bring_up_report *r)
{
	static const struct {
		const char *colour, *point;
	} states[] = {
		[STEP_NOT_YET] = { COLOUR_GREY, "point pt 6 lc rgb '" COLOUR_GREY "'" },
		[STEP_GOOD] = { COLOUR_GREEN, "point pt 7 lc rgb '" COLOUR_GREEN "'" },
		[STEP_WRONG] = { COLOUR_ORANGE, "point pt 2 lw 2 lc rgb '" COLOUR_ORANGE "'" },
		[STEP_NOT_TOLD] = { COLOUR_GREY, NULL },
	};

	for (enum bring_up_step s = steps_begin(b); s < steps_end(b); s++) {
		const char *colour = states[r->step[s].state].colour, *point = states[r->step[s].state].point;
		int y = TOP - 4 + (int)(s - steps_begin(b)) * STEP_HEIGHT;

		gnuplot_label(g, 24, y, point ?: "center" FONT " tc rgb '" COLOUR_GREY "'", point ? "" : "?");
		words(g, 42, y, r->wrong == s ? "left" BOLD : "left" FONT, colour, step_name(s).text, NOTE);
	}
}

/* before: as in add_row() of view.c. A packet that was not taken ends with a cross. */
static void draw_row(const struct gnuplot *g, const struct bring_up *b, const struct bring_up_row *row, enum bring_up_step before, int y)
{
	bool answers = row_answers(b, row), taken = row->failed == STEPS;
	int from = answers ? RECEIVER : SENDER, to = answers ? SENDER : RECEIVER;
	const char *colour = taken ? COLOUR_BLUE : COLOUR_ORANGE;
	char note[2 * BRING_UP_TEXT + 64], time[32];

	SAY(time, "%.6f", row_seconds(b, row));
	words(g, SENDER - 10, y, "right" FONT, COLOUR_GREY, time, NOTE);
	words(g, MIDDLE, y - 9, "center" FONT, colour, row->words, NOTE);
	if (taken) {
		gnuplot_line(g, from, y, to, y, "head size screen 0.009,26 lc rgb '" COLOUR_BLUE "'");
		return;
	}
	gnuplot_line(g, from, y, to, y, "nohead lc rgb '" COLOUR_ORANGE "'");
	gnuplot_label(g, to, y, "point pt 2 lw 2 lc rgb '" COLOUR_ORANGE "'", "");
	if (row->failed == before)
		return;
	SAY(note, "%s: %s", step_name(row->failed).text, row->note);
	words(g, MIDDLE, y + 9, "center" FONT, COLOUR_ORANGE, note, NOTE);
}

/* Lines of words from y on. Returns the y behind them. g NULL: only that. */
static int draw_lines(const struct gnuplot *g, int y, const char *text)
{
	while (*text) {
		int length = strlen(text);

		if (length > LINE)
			for (length = LINE; length && text[length] != ' ';)
				length--;
		length = length ?: LINE;
		if (g) {
			char line[LINE + 1];

			SAY(line, "%.*s", length, text);
			words(g, 20, y, "left" FONT, COLOUR_ORANGE, line, LINE);
		}
		text += length;
		text += strspn(text, " ");
		y += LINE_HEIGHT;
	}
	return y;
}

/* What is wrong first. Returns as draw_lines() does. */
static int draw_wrong(const struct gnuplot *g, const struct bring_up_report *r, int y)
{
	char text[FINDING_TEXT + 2 * BRING_UP_TEXT];

	if (r->wrong == STEPS)
		return y;
	SAY(text, "%s: %s", step_name(r->wrong).text, r->step[r->wrong].found);
	y = draw_lines(g, y, text);
	SAY(text, "fix: %s", r->step[r->wrong].fix);
	return draw_lines(g, y, text);
}

/* The lines of life, with who stands there. */
static void draw_ends(const struct gnuplot *g, const struct bring_up *b, int bottom)
{
	const struct bring_up_stream *s = b->shown;
	const __u8 *src = b->asked ? b->asked->src : s ? s->src : NULL, *dst = b->asked ? b->asked->dst : s ? s->dst : NULL;

	for (int i = 0; i < 2; i++) {
		int x = i ? RECEIVER : SENDER;

		words(g, x, 20, "center" FONT, COLOUR_GREY, i == !b->asked ? "this end" : i ? "responder" : "sender", NOTE);
		if (src)
			words(g, x, 38, "center" FONT, COLOUR_GREY, address_text(i ? dst : src).text, NOTE);
		gnuplot_line(g, x, 50, x, bottom, "nohead lc rgb '" COLOUR_GREY "'");
	}
}

bool bring_up_picture(const char *path, const struct bring_up *b, const struct bring_up_report *r)
{
	const struct bring_up_row *exchange[ROWS];
	bool more;
	int rows = bring_up_rows(b, exchange, ROWS, &more), steps = TOP + (int)(steps_end(b) - steps_begin(b)) * STEP_HEIGHT;
	int bottom = TOP + rows * ROW + 10;
	enum bring_up_step before = STEPS;
	struct gnuplot g;

	if (bottom < steps)
		bottom = steps;
	if (!gnuplot_open(&g, path, false, WIDTH, draw_wrong(NULL, r, bottom + 15)))
		return false;
	draw_steps(&g, b, r);
	draw_ends(&g, b, bottom);
	for (int i = 0; i < rows; i++) {
		draw_row(&g, b, exchange[i], before, TOP + 10 + i * ROW);
		if (!exchange[i]->ours)
			before = exchange[i]->failed;
	}
	draw_wrong(&g, r, bottom + 15);
	fputs("unset border\nunset tics\nplot [0:1] [0:1] 2 notitle\n", g.script);
	return gnuplot_close(&g);
}
