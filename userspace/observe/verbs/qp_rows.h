/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* QPs in the order in which people want to see them, with what follows from two readings: how they are, and their rates. */
#ifndef USERSPACE_OBSERVE_VERBS_QP_ROWS_H
#define USERSPACE_OBSERVE_VERBS_QP_ROWS_H

#include "userspace/observe/model/filter_language.h"
#include "userspace/observe/verbs/verbs.h"

#define QP_STALLED_NS 1000000000ull /* a request that waits so long for its completion stalls */

/* How a QP is; the worst comes first. */
enum qp_condition {
	QP_ERROR,   /* its state is ERR or SQE, or a completion failed, and not only by being flushed */
	QP_STALLED, /* a signalled request waits for QP_STALLED_NS or longer */
	QP_BUSY,    /* it has posted or completed something since the reading before, or its PSN has moved */
	QP_IDLE,
	QP_ENDED,   /* destroyed, without an error before */
	QP_CONDITIONS
};

extern const char *const qp_condition_names[QP_CONDITIONS];

struct qp_row {
	const struct verbs_qp *qp;
	enum qp_condition condition;
	__u64 outstanding; /* requests posted and not known to be completed; 0 without calls */
	__u64 waits;	   /* ns for which its oldest signalled request waits; 0: none does, or it is not known */
	bool wanted;	   /* by the filter */
	bool has_rates;	   /* the figures below are known: it was there at the reading before, with its calls */
	double wrs, received; /* a second: requests posted, receives completed */
	double bits, received_bits; /* a second, of their payload */
};

struct qp_reading {
	struct qp_figures *qps; /* sorted */
	size_t count;
	__u64 time; /* ns, CLOCK_MONOTONIC; 0: there was none */
};

struct qp_rows {
	struct qp_row *row; /* all of them; the first `count` are those that the filter wants, the worst first, then the busiest */
	size_t count, of;   /* of: all */
	size_t condition[QP_CONDITIONS]; /* how many of all */
	struct qp_reading before, now; /* what rates need of the newest readings */
};

/*
 * Makes the rows anew of a list as verbs_qps() returns it, and remembers what rates need. filter: of QPs
 * (qp_filter.h); NULL wants all. now: ns, CLOCK_MONOTONIC. false: no memory, and there are no rows. The rows are valid as long as the list.
 */
bool qp_rows_update(struct qp_rows *r, const struct verbs_qp *const *list, size_t count, const struct filter *filter, __u64 now);

/* Makes the rows anew of another list of the same reading: what came since, events say. */
bool qp_rows_again(struct qp_rows *r, const struct verbs_qp *const *list, size_t count, const struct filter *filter);

/* The row of one QP alone, without rates. */
struct qp_row qp_row(const struct verbs_qp *q, __u64 now);

/* Selects again of the same rows, by another filter. */
void qp_rows_filter(struct qp_rows *r, const struct filter *filter);

void qp_rows_free(struct qp_rows *r);

enum qp_condition qp_condition(const struct verbs_qp *q, bool moved, __u64 now);

/* Whether its calls should be counted, and are not. */
bool qp_is_unseen(const struct verbs_qp *q);

/* Requests posted and not known to be completed. */
__u64 qp_outstanding(const struct verbs_qp *q);

/* Whether a completion of it has failed, and not only by being flushed. */
bool qp_has_failed(const struct verbs_qp *q);

/* ns within which this share of the latencies was, as exactly as the histogram's buckets tell; 0: there are none. */
__u64 qp_latency(const struct verbs_calls *c, double share);

/* "seen", "not_asked", ...: for JSON and metrics; for people: "its calls are not counted (--calls)"; and brief, where it is to be noticed. */
const char *qp_blind_name(enum verbs_blind b);
const char *qp_blind_words(enum verbs_blind b);
const char *qp_blind_brief(enum verbs_blind b); /* "": it is as usual */

/* "posts", ..., and what they are: verbs_counter.def. */
extern const char *const verbs_counter_names[VERBS_COUNTERS], *const verbs_counter_words[VERBS_COUNTERS],
	*const verbs_counter_units[VERBS_COUNTERS];

#endif
