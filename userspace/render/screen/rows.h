/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of the table: their figures are computed once an interval, filtered and ordered. */
#ifndef USERSPACE_RENDER_SCREEN_ROWS_H
#define USERSPACE_RENDER_SCREEN_ROWS_H

#include "userspace/observe/host/host.h"
#include "userspace/observe/model/filter.h"
#include "userspace/observe/model/history.h"
#include "userspace/render/output/columns.h"

struct rows {
	struct stream_row *row; /* in the snapshot's order */
	size_t count;
	__u32 *shown; /* indexes of rows that pass the filter, in the table's order */
	size_t shown_count;
	size_t faulty;	   /* rows with any fault, however small */
	bool has_qpns, has_limits, has_owners, has_blocks; /* what is in any row: columns that would be empty are left out */
	__u64 time; /* ns since 1970, of the snapshot */
};

struct rows_source {
	const struct snapshot *now, *previous, *base; /* previous, base: NULL */
	const struct history *history;		      /* NULL */
	const struct filter *filter;		      /* NULL */
};

/* Makes new rows of a snapshot, and keeps the times of earlier faults. false: no memory, and the rows are unchanged. */
bool rows_update(struct rows *r, const struct rows_source *source);

/* Applies another filter to the same rows. now: the snapshot that they were made of. */
void rows_filter(struct rows *r, const struct snapshot *now, const struct filter *filter);

/* Shows counters since another `base` (NULL: since the start) in the same rows. now: the snapshot that they were made of. */
void rows_rebase(struct rows *r, const struct snapshot *now, const struct snapshot *base);

/* Orders the rows. column: of userspace/render/screen/columns.h, or COLUMN_WORST. */
void rows_order(struct rows *r, int column, bool reversed);

/* The stream's index in shown[]; shown_count: it is not there. */
size_t rows_find(const struct rows *r, const struct roce_key *key);

/* false: no memory, and *to is empty. */
bool rows_copy(struct rows *to, const struct rows *from);

void rows_free(struct rows *r);

#endif
