// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps and the exchange as SVG: two lines of life, and an arrow for each packet; below, what is wrong first. */
#include <string.h>

#include "lib/address.h"
#include "userspace/diagnose/bring_up/bring_up.h"

#define WIDTH 1100
#define SENDER 240 /* x of the lines of life */
#define RECEIVER 980
#define TOP 70
#define ROW 40
#define ROWS 20 /* of the exchange, the last ones */
#define STEP_HEIGHT 22
#define NOTE 102 /* characters that fit between them */
#define LINE 150 /* and from left to right */
#define LINE_HEIGHT 19

/* Colours by Okabe and Ito, as in plots. */
#define BLUE "#0072B2"
#define ORANGE "#D55E00"
#define GREEN "#009E73"
#define GREY "#666666"

/* At most so many characters; three dots where it is cut. */
static void escaped(FILE *out, const char *text, int most)
{
	bool cut = (int)strlen(text) > most;

	for (most -= cut; *text && most--; text++) {
		switch (*text) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		default: fputc(*text, out);
		}
	}
	if (cut)
		fputs("…", out);
}

static void words(FILE *out, int x, int y, const char *anchor, const char *colour, const char *text, int most)
{
	fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor, colour);
	escaped(out, text, most);
	fputs("</text>\n", out);
}

static void draw_steps(FILE *out, const struct bring_up *b, const struct bring_up_report *r)
{
	static const char *const colours[] = { GREY, GREEN, ORANGE, GREY };
	static const char *const marks[] = { "○", "●", "✗", "?" };

	for (enum bring_up_step s = steps_begin(b); s < steps_end(b); s++) {
		const char *colour = colours[r->step[s].state];
		int y = TOP + (int)(s - steps_begin(b)) * STEP_HEIGHT;

		words(out, 20, y, "start", colour, marks[r->step[s].state], 4);
		if (r->wrong == s)
			fputs("<g font-weight=\"bold\">\n", out);
		words(out, 42, y, "start", colour, step_name(s).text, NOTE);
		if (r->wrong == s)
			fputs("</g>\n", out);
	}
}

/* An arrow; a cross instead of its head: the packet was not taken. */
static void draw_arrow(FILE *out, bool answers, bool taken, const char *colour, int y)
{
	int from = answers ? RECEIVER : SENDER, to = answers ? SENDER : RECEIVER, head = answers ? 10 : -10;

	fprintf(out, "<path d=\"M%d %dH%d", from, y, to);
	if (taken)
		fprintf(out, "m%d -5L%d %dl%d 5", head, to, y, head);
	else
		fprintf(out, "m-5 -5l10 10m0 -10l-10 10");
	fprintf(out, "\" fill=\"none\" stroke=\"%s\"/>\n", colour);
}

/* before: as in add_row() of view.c */
static void draw_row(FILE *out, const struct bring_up *b, const struct bring_up_row *row, enum bring_up_step before, int y)
{
	const char *colour = row->failed < STEPS ? ORANGE : BLUE;
	char note[2 * BRING_UP_TEXT + 64], time[32];

	SAY(time, "%.6f", row_seconds(b, row));
	words(out, SENDER - 10, y + 4, "end", GREY, time, NOTE);
	words(out, (SENDER + RECEIVER) / 2, y - 5, "middle", colour, row->words, NOTE);
	draw_arrow(out, row_answers(b, row), row->failed == STEPS, colour, y);
	if (row->failed == STEPS || row->failed == before)
		return;
	SAY(note, "%s: %s", step_name(row->failed).text, row->note);
	words(out, (SENDER + RECEIVER) / 2, y + 13, "middle", ORANGE, note, NOTE);
}

/* Lines of words from y on. Returns the y behind them. out NULL: only that. */
static int draw_lines(FILE *out, int y, const char *text)
{
	char line[LINE + 1];

	while (*text) {
		int length = strlen(text);

		if (length > LINE)
			for (length = LINE; length && text[length] != ' ';)
				length--;
		length = length ?: LINE;
		snprintf(line, sizeof(line), "%.*s", length, text);
		if (out)
			words(out, 20, y, "start", ORANGE, line, LINE);
		text += length;
		text += strspn(text, " ");
		y += LINE_HEIGHT;
	}
	return y;
}

/* What is wrong first. Returns as draw_lines() does. */
static int draw_wrong(FILE *out, const struct bring_up_report *r, int y)
{
	char text[FINDING_TEXT + 2 * BRING_UP_TEXT];

	if (r->wrong == STEPS)
		return y;
	SAY(text, "%s: %s", step_name(r->wrong).text, r->step[r->wrong].found);
	y = draw_lines(out, y, text);
	SAY(text, "fix: %s", r->step[r->wrong].fix);
	return draw_lines(out, y, text);
}

int bring_up_svg(FILE *out, const struct bring_up *b, const struct bring_up_report *r)
{
	const struct bring_up_row *exchange[ROWS];
	bool more;
	int rows = bring_up_rows(b, exchange, ROWS, &more), steps = TOP + (int)(steps_end(b) - steps_begin(b)) * STEP_HEIGHT;
	int bottom = TOP + rows * ROW + 10, height;
	enum bring_up_step before = STEPS;
	const struct bring_up_stream *s = b->shown;
	const __u8 *src = b->asked ? b->asked->src : s ? s->src : NULL, *dst = b->asked ? b->asked->dst : s ? s->dst : NULL;

	if (bottom < steps)
		bottom = steps;
	height = draw_wrong(NULL, r, bottom + LINE_HEIGHT);
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", WIDTH, height);
	draw_steps(out, b, r);
	draw_wrong(out, r, bottom + LINE_HEIGHT);
	for (int i = 0; i < 2; i++) {
		int x = i ? RECEIVER : SENDER;

		words(out, x, 24, "middle", GREY, i == !b->asked ? "this end" : i ? "responder" : "sender", NOTE);
		if (src)
			words(out, x, 42, "middle", GREY, address_text(i ? dst : src).text, NOTE);
		fprintf(out, "<path d=\"M%d 50V%d\" stroke=\"" GREY "\"/>\n", x, bottom);
	}
	for (int i = 0; i < rows; i++) {
		const struct bring_up_row *row = exchange[i];

		draw_row(out, b, row, before, TOP + 10 + i * ROW);
		if (!row->ours)
			before = row->failed;
	}
	fputs("</svg>\n", out);
	return ferror(out) ? -1 : 0;
}
