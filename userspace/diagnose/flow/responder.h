/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A model of the responder of a stream of RC requests, by IBTA 9.7.4 and 9.7.5: what came at this place, and what is missing.
 * Each answer that surely is to these requests is compared with it. A responder may answer every packet, one for many, or late.
 * What came here may be lost behind this place, and this place may miss what the responder gets: so what is missing here only
 * accuses nobody, and answers alone, or several that agree, make a finding.
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_RESPONDER_H
#define USERSPACE_DIAGNOSE_FLOW_RESPONDER_H

#include "roce/packet/packet.h"
#include "userspace/diagnose/finding/step.h"
#include "userspace/diagnose/finding/symptom.h"
#include "userspace/diagnose/flow/msn.h"

#define RESPONDER_PSNS 1024  /* newest PSNs of which is known what came; a power of two */
#define RESPONDER_DAMAGED 16 /* newest damaged packets that are remembered */

/* The oldest gap that neither a NAK nor its packets have closed. */
struct responder_gap {
	__u64 frame; /* of the packet behind it */
	__u32 psn;   /* the first one that is missing */
	bool open;
	__u64 unanswered;    /* later packets that ask, since the latest answer */
	__u64 asks, repeats; /* later packets that ask for an answer; answers that only repeat the acknowledgement before the gap */
	__u64 owed; /* answers that were due before it */
	__u64 from, to; /* ns: the packet behind the gap, and the latest of `asks` */
};

/* Acknowledgements of PSNs that have not come yet: perhaps this place has changed the order of both directions. */
struct responder_ahead {
	__u64 count;
	__u32 psn; /* the farthest, */
	__u64 time; /* ns: when it came */
	bool returned; /* the requester has gone back since: what it had sent before would have come */
	bool waits; /* for the request of one of them, since: */
	__u32 wanted;
	__u64 since, longest; /* ns; longest: until such a request came; 0: none did */
	__u32 by; /* so far beyond the newest request was the first, */
	bool differs; /* ... and another one was not */
	struct symptom_seen shown[FINDING_EVIDENCE];
};

struct responder_study {
	bool met;
	__u32 start, known, end; /* PSNs: of the first request; from here on is known what came; behind the newest one */
	__u64 came[RESPONDER_PSNS / 64], ends[RESPONDER_PSNS / 64]; /* by PSN; ends: the packet ends a message */
	bool acked;
	__u32 acked_psn; /* the newest one acknowledged */
	__u32 taken_end; /* ... and behind what was taken, as NAKs tell as well */
	bool paired;	 /* the pair of streams is known, not only found by its addresses and PSNs */
	__u64 answers;	 /* that were compared, */
	__u64 answered;	 /* ... and the latest one's time (ns) */
	__u64 begun, first; /* ns: when the first request came; how long the first answer took */
	__u64 asks;	 /* requests that ask for an answer, less answers since */
	/* how long answers took, where nothing was missing */
	__u64 waiting, waits_from; /* requests that ask since the latest new acknowledgement; ns: the first of them */
	bool disturbed;		   /* something came again meanwhile, or was not seen, */
	bool gapped;		   /* ... or some of them are behind a gap */
	__u64 most, longest;	   /* most of `waiting` before an acknowledgement, and the longest time (ns) until it */
	__u64 again;	 /* requests that came again and are not answered yet, */
	__u32 again_end; /* ... all before this PSN */
	/* a ring: came with a wrong ICRC, and not rightly since; frame 0: none */
	struct symptom_seen damaged[RESPONDER_DAMAGED];
	__u64 damaged_count;
	__u64 damaged_refused, damaged_resent; /* so many the responder has asked for, or came again */
	struct responder_ahead ahead;
	__u64 never, swapped, back, overtaken; /* acknowledgements; overtaken: whose MSN has gone back as well */
	__u32 newest_msn;
	struct responder_gap gap;
	__u64 silent_gaps, silent_asks; /* gaps without an answer, and the packets behind them that asked for one */
	__u64 repeated_gaps, repeats; /* gaps behind which the acknowledgement before is repeated, and how often it is */
	__u64 healed_gaps, healed_asks; /* gaps that the requester has closed without an answer, and the packets behind them that asked, */
	struct symptom_seen healed[FINDING_EVIDENCE]; /* ... the first of them */
	__u64 passed_gaps; /* gaps that are acknowledged as if nothing were missing, */
	struct symptom_seen passed[FINDING_EVIDENCE]; /* ... the first of them */
	struct {
		bool open; /* nothing is acknowledged since */
		__u64 passed; /* ns: when requests came again since; 0: none did */
		bool often; /* one came more than twice, so that they are no copies */
		__u32 psn, again; /* again: so often it was repeated */
	} nak;
	bool asked; /* since the latest NAK nothing more was acknowledged, */
	bool asked_odd; /* ... and that NAK asks for another PSN than the missing one */
	__u64 naks, naks_odd; /* NAKs, PSN sequence error; those for another PSN than the missing one, */
	__u64 naks_behind;    /* ... of which so many are behind one that did not come here */
	__u64 naks_passed;    /* those for a packet that came, */
	__u64 naks_front;     /* ... of which so many for the one in front of a missing one, */
	struct symptom_seen front[FINDING_EVIDENCE]; /* ... the first of them */
	__u32 flight;  /* so many PSNs were sent and not acknowledged, at most */
	struct msn_study msn;
};

/* The newest PSN that was sent, if `met`. */
static inline __u32 responder_newest(const struct responder_study *r)
{
	return (r->end - 1) & PSN_MASK;
}

/* Whether this PSN was acknowledged. */
static inline bool responder_has_acked(const struct responder_study *r, __u32 psn)
{
	return r->acked && psn_distance(r->acked_psn, psn) <= 0;
}

/* Whether something was acknowledged that has never come. */
static inline bool responder_is_ahead(const struct responder_study *r)
{
	return r->ahead.count && psn_distance(responder_newest(r), r->ahead.psn) > 0;
}

/* Whether it is none of this sequence's PSNs. */
bool responder_is_foreign(const struct responder_study *r, __u32 psn);

/* Another sequence of PSNs begins. What was counted stays. */
void responder_study_anew(struct responder_study *r);

/*
 * Takes a request that is not damaged. next: the PSN behind all that was requested, as the engine knows it. time: ns.
 */
void responder_study_request(struct responder_study *r, struct symptoms *symptoms, const struct doctor_step *p, __u32 next,
			     __u64 time);

/* Takes a request with a wrong ICRC. */
void responder_study_damaged(struct responder_study *r, const struct doctor_step *p);

struct responder_answer {
	const struct roce_packet *packet;
	__u64 frame, time; /* ns */
	bool apart;  /* answers between this one and the one before were not shown */
	bool paired; /* the pair of streams is known */
};

/*
 * Takes an answer to these requests: ACK, NAK, RNR NAK, or a response with an AETH. Returns false if it asks for a PSN that cannot
 * be the missing one.
 */
bool responder_study_answer(struct responder_study *r, struct symptoms *symptoms, const struct responder_answer *a);

/* NAKs of the QPs between two hosts, which answer requests of one direction. */
struct responder_naks {
	__u64 odd;   /* for another PSN than the missing one, or for the packet in front of that one, which came */
	__u64 other; /* for other packets that came: they are lost behind this place */
};

/* Adds those of a QP. Before responder_study_conclude(). */
void responder_add_naks(struct responder_naks *to, const struct responder_study *r);

/* What is known when all packets were taken. */
struct responder_end {
	struct responder_naks naks; /* of all QPs of this responder */
	__u32 start;   /* the connection's first PSN; PAIR_NO_PSN: not known */
	__u64 time;    /* ns: the end of the capture or watch */
	bool complete; /* all packets of both directions were taken */
	bool contended; /* nobody knows which answers are to these requests */
	bool twice;    /* frames may have been captured twice */
	__u64 resent;  /* missing PSNs that came when the requester went back */
};

/* Adds the symptoms, or drops those that are not sound. */
void responder_study_conclude(struct responder_study *r, struct symptoms *symptoms, const struct responder_end *end);

#endif
