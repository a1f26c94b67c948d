/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the rules of why.c, why_calls.c, why_ends.c and why_wire.c share. */
#ifndef USERSPACE_DIAGNOSE_QP_ERROR_JUDGE_H
#define USERSPACE_DIAGNOSE_QP_ERROR_JUDGE_H

#include "userspace/diagnose/qp_error/why.h"

/* enum ibv_wc_status (ABI of libibverbs), as far as causes are keyed by them. */
enum why_status {
	STATUS_SUCCESS, STATUS_LOC_LEN_ERR, STATUS_LOC_QP_OP_ERR, STATUS_LOC_EEC_OP_ERR, STATUS_LOC_PROT_ERR, STATUS_WR_FLUSH_ERR,
	STATUS_MW_BIND_ERR, STATUS_BAD_RESP_ERR, STATUS_LOC_ACCESS_ERR, STATUS_REM_INV_REQ_ERR, STATUS_REM_ACCESS_ERR,
	STATUS_REM_OP_ERR, STATUS_RETRY_EXC_ERR, STATUS_RNR_RETRY_EXC_ERR,
	STATUS_NONE = 0xff, /* no error is known */
};

/* What counters tell (cause.def). */
enum why_told {
	TOLD_RNR, SAID_RNR, HEARD, SAID, TOLD_SEQUENCE, SAW_GAP, SAW_DUPLICATE, GAVE_UP, TIMED_OUT, SAW_ICRC, TOLD_ACCESS, TOLD_INVALID,
	SAID_ACCESS,
	WHY_TOLD,
};

/* enum ib_qp_state */
enum { QP_RESET, QP_INIT, QP_RTR, QP_RTS, QP_SQD, QP_SQE, QP_ERR };

/*
 * Weights. PROOF: nothing else explains it. STRONG: it is what one would expect, and of others one would not. HINT: it fits better
 * than others. NEVER: it cannot be.
 */
enum { WEIGHT_HINT = 2, WEIGHT_STRONG = 10, WEIGHT_PROOF = 100, WEIGHT_NEVER = -1000 };

/* Before words of the role of the one that asks, where this QP is the one that is asked. */
#define JUDGE_SEEN_FROM_PEER "its peer's request failed; seen from there, "

struct judge {
	struct why_verdict *v;
	const struct why_evidence *e;
	const struct verbs_qp *q;
	const struct verbs_qp *other;	/* the peer's end; NULL: not known, or there is none */
	const struct verbs_calls *calls; /* NULL: not counted */
	__u32 status;			/* enum why_status: of the first error of a request; STATUS_NONE */
	bool errs;			/* its state is ERR or SQE, or was when it ended */
	bool stalls;
	__u64 waits;			/* ns for which the oldest request waits */
	bool worked;			/* requests have succeeded */
	bool never_worked;		/* none has, since its creation */
	bool blind;			/* it is in error, and its calls are not known: nor is whose request failed */
	bool asks;			/* it is a requester's fault: its own requests fail or stall */
	const char *seen_from_peer;	/* words before a detail while it is the peer's request that is judged; NULL */
	__u32 suspects;			/* bit c: enum why_cause */
	__u64 told[WHY_TOLD];		/* of its own host's counters */
	char detail[WHY_CAUSES][WHY_TEXT]; /* what the sentence says instead of the cause's words; "" */
};

/* Adds a line of evidence. */
void judge_line(struct judge *j, const char *source, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds weight to a cause. */
void judge_weigh(struct judge *j, enum why_cause c, int weight);

/* Says a cause more exactly. The first one to do so wins. */
void judge_detail(struct judge *j, enum why_cause c, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* What to run to know more. */
void judge_next(struct judge *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

bool judge_suspects(const struct judge *j, enum why_cause c);

/* The rules, in this order. */
void judge_calls(struct judge *j);
void judge_state(struct judge *j);
void judge_counters(struct judge *j);
void judge_request(struct judge *j);
void judge_responder(struct judge *j);
void judge_ends(struct judge *j);
void judge_way(struct judge *j);
void judge_wire(struct judge *j);

/* The first error of its requests as its calls have counted it; STATUS_NONE: none, or only flushes. */
__u32 judge_status_of(const struct verbs_qp *q);

/* Whether a counter of the QP's device that tells this has moved. */
bool judge_has_told(const struct host_counter *list, size_t count, const struct host_qp *q, enum why_told what);

/* Whether a QP that is gone was seen to be destroyed; else it was only missed. */
bool judge_was_seen_going(const struct verbs_qp *q);

/* Whether an error of its requests would have been seen: they were counted from the first one on, or have succeeded while they were. */
bool judge_knows_requests(const struct judge *j);

/* Whether it is in state ERR, or has been before it was destroyed. */
bool judge_came_to_error(const struct verbs_qp *q);

/* Whether a counter of the QP's device may be due to another QP of it: also to one that has ended since. */
bool judge_shares(const struct why_host *h, const struct verbs_qp *q);

/* Whether it has posted receives of its own, all of which were counted, and none is left. */
bool judge_has_no_receive(const struct verbs_qp *q);

/* "RDMA_WRITE of 3000 bytes to 0x7f.. with rkey 0x92c" */
struct judge_request_text {
	char text[120];
} judge_request_text(const struct verbs_request *r);

/* ", by signal 9": what ended the QP's process; "": unknown, or no signal. */
struct judge_signal_text {
	char text[32];
} judge_signal_text(const struct verbs_qp *q);

#endif
