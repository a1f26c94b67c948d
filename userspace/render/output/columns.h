/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The columns that tables of streams have, on the screen and in text: their headings, values and cells (column.def). */
#ifndef USERSPACE_RENDER_OUTPUT_COLUMNS_H
#define USERSPACE_RENDER_OUTPUT_COLUMNS_H

#include "userspace/observe/model/faults.h"
#include "userspace/observe/model/limit.h"
#include "userspace/observe/model/snapshot.h"
#include "userspace/render/output/text_table.h"

enum column {
#define COLUMN(id, ...) COLUMN_##id,
#include "userspace/render/output/column.def"
#undef COLUMN
	COLUMNS
};

extern const struct text_column columns_on_screen[COLUMNS];
extern const struct text_column columns_in_text[COLUMNS];
extern const char *const column_words[COLUMNS]; /* for the help page */

#define ROW_OWNER 40

/* A row: the figures of a stream. */
struct stream_row {
	struct roce_key key;
	__u8 dst[16]; /* destination; of a UD stream the last one */
	struct rates rates;
	struct fault_rank rank;
	__u64 packets, lost, recovered, duplicates, messages, broken, icrc_bad, incomplete, missing;
	__u64 last_fault; /* ns since 1970; 0: none */
	__u32 lints;	  /* 1 << LINT_*, without habits */
	__u32 habits;	  /* lints that are no fault, as far as the row shows them */
	__u32 place;	  /* index in the snapshot */
	__u8 service;
	__u8 limit; /* enum limit */
	bool trusted, estimate;
	const char *version; /* snapshot_version() */
	char owner[ROW_OWNER]; /* printable ASCII; "": unknown */
};

/* Fills in what a stream's key and counters say. */
void stream_row_fill(struct stream_row *row, const struct roce_key *key, const struct roce_stream *s);

struct column_value {
	enum { VALUE_TEXT, VALUE_NUMBER, VALUE_RATE } kind;
	__u64 number;
	bool estimate, fault; /* of a number */
	double rate, known;   /* per second; and how exactly it is known */
};

/* What a column of numbers or rates shows of the row. Of a column of text only `kind` is set. */
struct column_value column_value(enum column c, const struct stream_row *r);

/* Fills the cell of a column of text; COLUMN_FAULT's is the screen's. Returns whether it shows a fault. width: what a path is cut to. */
bool column_text(enum column c, char to[TEXT_CELL], const struct stream_row *r, int width);

/* < 0: x comes first. Higher numbers and later faults come first, and of texts and QPNs the lower ones. */
int column_compare(enum column c, const struct stream_row *x, const struct stream_row *y);

#endif
