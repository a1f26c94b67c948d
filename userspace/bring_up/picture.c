// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The steps and the exchange as SVG: two lines of life, and an arrow for each packet. */
#include <string.h>

#include "userspace/bring_up/bring_up.h"
#include "userspace/model/address.h"

#define WIDTH 1000
#define SENDER 330 /* x of the lines of life */
#define RECEIVER 870
#define TOP 70
#define ROW 40
#define ROWS 20 /* of the exchange, the last ones */
#define STEP_HEIGHT 22
#define NOTE 76 /* characters that fit */

/* Colours by Okabe and Ito, as in plots. */
#define BLUE "#0072B2"
#define ORANGE "#D55E00"
#define GREEN "#009E73"
#define GREY "#666666"

static void escaped(FILE *out, const char *text, int most)
{
	for (; *text && most--; text++) {
		switch (*text) {
		case '<': fputs("&lt;", out); break;
		case '>': fputs("&gt;", out); break;
		case '&': fputs("&amp;", out); break;
		default: fputc(*text, out);
		}
	}
}

static void words(FILE *out, int x, int y, const char *anchor, const char *colour, const char *text, int most)
{
	fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor, colour);
	escaped(out, text, most);
	fputs("</text>\n", out);
}

static void draw_steps(FILE *out, const struct bring_up_report *r)
{
	static const char *const colours[] = { GREY, GREEN, ORANGE, GREY };
	static const char *const marks[] = { "○", "●", "✗", "?" };

	for (enum bring_up_step s = 0; s < STEPS; s++) {
		const char *colour = colours[r->step[s].state];
		int y = TOP + s * STEP_HEIGHT;

		words(out, 20, y, "start", colour, marks[r->step[s].state], 4);
		if (r->wrong == s)
			fputs("<g font-weight=\"bold\">\n", out);
		words(out, 42, y, "start", colour, step_name(s).text, NOTE);
		if (r->wrong == s)
			fputs("</g>\n", out);
	}
}

/* before: as in print_row() of view.c */
static void draw_row(FILE *out, const struct bring_up_row *row, enum bring_up_step before, int y)
{
	const char *colour = row->failed < STEPS ? ORANGE : BLUE;
	int from = row->ours ? RECEIVER : SENDER, to = row->ours ? SENDER : RECEIVER, head = row->ours ? 10 : -10;
	char note[2 * BRING_UP_TEXT + 64];

	words(out, (SENDER + RECEIVER) / 2, y - 5, "middle", colour, row->words, NOTE);
	fprintf(out, "<path d=\"M%d %dL%d %dm%d -5L%d %dl%d 5\" fill=\"none\" stroke=\"%s\"/>\n", from, y, to, y, head, to, y, head,
		colour);
	if (row->failed == STEPS || row->failed == before)
		return;
	SAY(note, "%s: %s", step_name(row->failed).text, row->note);
	words(out, (SENDER + RECEIVER) / 2, y + 13, "middle", ORANGE, note, NOTE);
}

int bring_up_svg(FILE *out, const struct bring_up *b, const struct bring_up_report *r)
{
	__u64 from = b->row_count > ROWS ? b->row_count - ROWS : 0;
	int rows = b->row_count - from, height = TOP + (int)STEPS * STEP_HEIGHT + 20, bottom = TOP + rows * ROW + 20;
	enum bring_up_step before = STEPS;
	const struct bring_up_stream *s = r->wrong < STEPS && r->step[r->wrong].stream ? r->step[r->wrong].stream : b->streams;

	if (bottom > height)
		height = bottom;
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"13\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n", WIDTH, height);
	draw_steps(out, r);
	for (int i = 0; i < 2; i++) {
		int x = i ? RECEIVER : SENDER;

		words(out, x, 24, "middle", GREY, i ? "this end" : "sender", NOTE);
		if (b->stream_count)
			words(out, x, 42, "middle", GREY, address_text(i ? s->dst : s->src).text, NOTE);
		fprintf(out, "<path d=\"M%d 50V%d\" stroke=\"" GREY "\"/>\n", x, height - 10);
	}
	for (int i = 0; i < rows; i++) {
		const struct bring_up_row *row = &b->rows[(from + i) % BRING_UP_ROWS];

		draw_row(out, row, before, TOP + 10 + i * ROW);
		if (!row->ours)
			before = row->failed;
	}
	fputs("</svg>\n", out);
	return ferror(out) ? -1 : 0;
}
