/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Why a QP ended in error, or does not go on: what is known of it, of its peer, of the way and of the wire is evidence for some causes
 * and against others (cause.def). Nothing is asked here.
 */
#ifndef USERSPACE_DIAGNOSE_QP_ERROR_WHY_H
#define USERSPACE_DIAGNOSE_QP_ERROR_WHY_H

#include "userspace/observe/verbs/verbs.h"

enum why_cause {
#define CAUSE(name, statuses, words, fix) WHY_##name,
#define PROVIDER(driver, status, vendor_err, cause, words)
#define COUNTER(name, means)
#include "userspace/diagnose/qp_error/cause.def"
	WHY_CAUSES
};

/* "wrong-rkey", ... */
const char *why_cause_name(enum why_cause c);
const char *why_cause_words(enum why_cause c);
const char *why_cause_fix(enum why_cause c);

/* ---- evidence ---- */

/* One host, as `rocescope verbs` sees it, here or in a file of another. */
struct why_host {
	const struct verbs_qp *const *qps; /* all of them; those that are gone among them */
	size_t qp_count;
	const struct host_mr *mrs;
	size_t mr_count;
	bool mrs_cut; /* there are more of them */
	const struct host_counter *counters; /* those that moved */
	size_t counter_count;
	const char *driver; /* of the QP's device: "mlx5", "rxe"; NULL: unknown */
	__u64 now;	    /* ns, CLOCK_MONOTONIC of that host: of the reading */
	__u64 offset;	    /* to CLOCK_REALTIME, ns: by which times of two hosts are compared */
	__u64 since;	    /* as now: it has watched from then on, so that what went since is listed as gone; 0: not known */
	bool partial;	    /* QPs were left out */
};

enum why_yes { WHY_UNKNOWN, WHY_YES, WHY_NO };

/* The way from this host to the peer's address. */
struct why_way {
	bool is_now; /* it was looked at now; else at some time before, or after */
	char interface[IF_NAMESIZE]; /* ""; unknown */
	enum why_yes carrier;
	enum why_yes route;	/* there is one */
	enum why_yes neighbour; /* WHY_NO: the peer, or the router to it, does not answer ARP or neighbour discovery */
	enum why_yes echoes;	/* the peer answers pings */
	unsigned int passes, fails; /* bytes of IP: the largest that pass, the smallest that do not; 0: not known */
	bool has_peer, has_source;
	__u8 peer[16];		/* to which it leads */
	__u8 source[16];	/* from which this host sends to the peer if a program does not choose */
};

/* A request on the wire that its receiver has refused. */
struct why_nak {
	__u8 syndrome;	 /* AETH */
	__u32 psn;
	bool has_packet; /* its packet was seen: what follows is known */
	bool has_reth;	 /* so was the beginning of its message */
	__u32 packet;	 /* 0: the first one of its message */
	__u32 opcode, rkey, length;
	__u64 va;
	bool rkey_worked; /* an earlier message with that rkey was acknowledged */
};

/* What passed between the two QPs, as a third place saw it. */
struct why_wire {
	__u64 requests, request_bytes_most; /* packets; bytes of payload of the largest one */
	__u64 answers;		/* ACKs, NAKs and READ responses */
	__u64 acknowledged;	/* PSNs that were acknowledged as new ones */
	__u64 retransmitted;	/* requests with a PSN that had passed before */
	__u64 largest_answered;	/* bytes of payload of the largest request that was acknowledged */
	__u64 unanswered_largest; /* the same of those that never were */
	__u64 naks[5];		/* sequence, invalid request, remote access, remote operational, invalid RD request (IBTA table 45) */
	__u64 rnr_naks;
	__u64 lost;		/* PSNs that did not pass there, as a monitor counts them */
	__u32 first_psn, first_nak_psn; /* of the first request; the first sequence NAK asks for it */
	bool has_first, has_first_nak;
	bool first_nak_inside;	/* that PSN had been sent: what asks for it has lost it */
	bool acks_elsewhere;	/* ACKs of PSNs that are none of what was sent */
	struct why_nak nak;	/* the first one that is no sequence NAK */
	bool has_nak;
	__u8 source[16];	/* of the requests; if has_first */
	__u64 arp_unanswered;	/* requests for the peer's MAC address that nobody answered */
};

struct why_evidence {
	const struct verbs_qp *qp; /* of whom it is asked; one of own.qps */
	struct why_host own;
	struct why_host peer;	   /* qp_count 0 and !peer_known: not known */
	bool peer_known;
	bool turned; /* for why_judge() itself: it asks about the peer's QP */
	const struct why_way *way; /* NULL: not known */
	const struct why_wire *wire;  /* of its requests; NULL: not known */
	const struct why_wire *asked; /* of its peer's requests, the same */
	__u64 stall_ns;		   /* a request that waits longer stalls; 0: WHY_STALL_NS */
};

#define WHY_STALL_NS 1000000000ull

/* ---- verdict ---- */

enum why_confidence { WHY_POSSIBLE, WHY_PROBABLE, WHY_CERTAIN };

/* "possible", "probable", "certain" */
const char *why_confidence_name(enum why_confidence c);

#define WHY_LINES 24
#define WHY_TEXT 320
#define WHY_NEXT 4

struct why_line {
	const char *source; /* "calls", "kernel", "netlink", "counters", "wire", "peer", "path" */
	char text[WHY_TEXT];
};

struct why_verdict {
	enum why_cause cause;
	enum why_confidence confidence;
	bool in_error;	    /* the QP ended in error; else it stalls, or was ended, or nothing is wrong */
	bool nothing_wrong; /* it did not end, and does not stall */
	char sentence[2 * WHY_TEXT];
	char words[WHY_TEXT]; /* of the cause alone, as the sentence has them */
	struct why_line lines[WHY_LINES];
	size_t line_count;
	__u32 alternatives; /* bit c: enum why_cause: what else it may be */
	char next[WHY_NEXT][WHY_TEXT]; /* what to run to know more */
	size_t next_count;
	int weight[WHY_CAUSES]; /* of the evidence; below 0: it is not that */
};

void why_judge(struct why_verdict *v, const struct why_evidence *e);

/* The QP of the peer's host that is the other end of `q`, as far as both say so; NULL: there is none. */
const struct verbs_qp *why_other_end(const struct why_host *peer, const struct verbs_qp *q);

#endif
