/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Pictures that gnuplot draws, as SVG or PNG. All pictures of the C programs are drawn by it (docs/dependencies.md). */
#ifndef LIB_GNUPLOT_H
#define LIB_GNUPLOT_H

#include <stdbool.h>
#include <stdio.h>

/* Colours by Okabe and Ito, which colour-blind readers can tell apart. */
#define COLOUR_BLUE "#0072B2"
#define COLOUR_ORANGE "#D55E00"
#define COLOUR_GREEN "#009E73"
#define COLOUR_GREY "#666666"

/* A picture: what is written to `script` draws it. */
struct gnuplot {
	const char *path;
	FILE *script;
	int width, height;
};

/*
 * Begins a picture of so many pixels: an SVG, or a PNG that is 1.5 times as large. false: it failed, and one line on stderr says why;
 * g must not be used.
 */
bool gnuplot_open(struct gnuplot *g, const char *path, bool png, int width, int height);

/*
 * Text, or without text only the point that its style has. x, y: pixels from the upper left corner; y is the middle of the line.
 * style: gnuplot's options of a label. Characters that are not printable ASCII become '?'.
 */
void gnuplot_label(const struct gnuplot *g, double x, double y, const char *style, const char *text);

/* A straight line. style: gnuplot's options of an arrow. */
void gnuplot_line(const struct gnuplot *g, double from_x, double from_y, double to_x, double to_y, const char *style);

/* Runs gnuplot and writes the file. false: it failed, one line on stderr says why, and there is no incomplete file. */
bool gnuplot_close(struct gnuplot *g);

#endif
