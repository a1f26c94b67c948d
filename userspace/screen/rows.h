/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The streams as the table shows them: figures worked out once an interval, filtered and put in order. */
#ifndef USERSPACE_SCREEN_ROWS_H
#define USERSPACE_SCREEN_ROWS_H

#include "userspace/host/host.h"
#include "userspace/model/faults.h"
#include "userspace/model/filter.h"
#include "userspace/model/history.h"
#include "userspace/model/limit.h"
#include "userspace/model/snapshot.h"

#define ROW_OWNER 40

struct row {
	struct roce_key key;
	__u8 dst[16]; /* of UD too, as seen last */
	struct rates rates;
	struct fault_rank rank;
	__u64 packets, lost, recovered, duplicates, broken, icrc_bad;
	__u64 last_fault; /* ns since 1970; 0: none is known */
	__u32 lints;	  /* 1 << LINT_* */
	__u32 place;	  /* in the snapshot */
	__u8 service;
	__u8 limit; /* enum limit */
	bool trusted, estimate;
	char owner[ROW_OWNER]; /* safe to be shown; "" unknown */
};

struct rows {
	struct row *row; /* in the snapshot's order */
	size_t count;
	__u32 *shown; /* which rows are wanted, in the table's order */
	size_t shown_count;
	size_t faulty;	   /* rows with any fault, however small */
	bool has_limits, has_owners;
	__u64 time; /* ns since 1970, of the snapshot */
};

struct rows_source {
	const struct snapshot *now, *previous, *base; /* previous, base: NULL */
	const struct history *history;		      /* NULL */
	const struct filter *filter;		      /* NULL */
};

/* Anew, of a snapshot. Which faults were seen earlier is kept. false: no memory, and the rows are as before. */
bool rows_update(struct rows *r, const struct rows_source *source);

/* Another filter for the same rows; `now` is the snapshot they were made of. */
void rows_filter(struct rows *r, const struct snapshot *now, const struct filter *filter);

/* Counters since another `base` (NULL: all of them) for the same rows; `now` is the snapshot they were made of. */
void rows_rebase(struct rows *r, const struct snapshot *now, const struct snapshot *base);

/* By a column of userspace/screen/columns.h, or COLUMN_WORST. */
void rows_order(struct rows *r, int column, bool reversed);

/* Where the stream stands in shown[]; shown_count: it does not. */
size_t rows_find(const struct rows *r, const struct roce_key *key);

/* false: no memory, *to is empty. */
bool rows_copy(struct rows *to, const struct rows *from);

void rows_free(struct rows *r);

#endif
