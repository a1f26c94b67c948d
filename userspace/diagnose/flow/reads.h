/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * READs and their responses: what the request's length and the path MTU ask for, compared with what comes. A response has as many
 * packets as the length takes; First, Last and Only have an AETH, a Middle has none (IBTA 9.4.4, 9.3.5).
 */
#ifndef USERSPACE_DIAGNOSE_FLOW_READS_H
#define USERSPACE_DIAGNOSE_FLOW_READS_H

#include "userspace/diagnose/finding/packet.h"
#include "userspace/diagnose/finding/step.h"
#include "userspace/diagnose/finding/symptom.h"
#include "userspace/diagnose/flow/loss.h"
#include "userspace/diagnose/flow/twice.h"

#define READS_LAST 64  /* requests that are remembered */
#define READS_MISSING 64 /* a power of two */
#define READS_MTUS 5 /* path MTUs: 256 to 4096 */
#define READS_GUESSED 8 /* gaps behind READs of which it was guessed how many PSNs they take */
#define READS_EARLY 16 /* responses that may have overtaken their request in the capture */

struct read_request {
	__u64 frame, end; /* end: address behind what it reads */
	__u32 psn, bytes;
	bool again; /* it was sent again, or asks again for a part of another one */
};

/* Of a stream of RC requests. */
struct reads {
	struct read_request list[READS_LAST]; /* the next one is list[count % READS_LAST] */
	__u32 count;
	__u32 newest; /* PSN of the newest request of any kind */
	bool behind;  /* the latest new request is a READ: the next one tells how many PSNs it takes */
	bool blind;   /* of a READ nobody knows how long it is */
	/* path MTUs, the surest first; 0: not known */
	__u32 told;    /* by the pair */
	struct {
		__u32 fits; /* READs that take so many PSNs with it, */
		__u32 only; /* ... and with no other one */
		__u32 exceeded; /* responses of one packet that is larger */
	} by_psns[READS_MTUS]; /* of 256, 512, ... */
	struct {
		__u64 frame; /* of the packet behind the gap */
		__u32 bytes, left, skipped; /* of the READ; PSNs left to it, and those that were counted as skipped */
	} guessed[READS_GUESSED];
	__u32 guessed_count;
	__u32 filled;  /* by the requester's First and Middle packets */
	__u32 answered; /* by the first full response, if what a READ takes agrees */
	struct {
		bool open;
		bool known; /* which READ it answers */
		bool anew;  /* its packets did not come before */
		bool shifted; /* all of it is right but for the PSN */
		__u32 next, end; /* PSN behind its latest packet, and behind its READ */
	} response; /* the one that is being sent */
	__u32 missing[READS_MISSING]; /* PSN + 1 of responses that were left out, by the low bits of the PSN; 0: none */
	__u64 in_one; /* responses of one packet with all that the READ asks for, larger than the path MTU by what READs take */
	__u64 whole, cut; /* responses of several packets, with and without a Last */
	struct symptom_seen cut_shown[FINDING_EVIDENCE];
	struct symptom_seen early[READS_EARLY]; /* responses that no request asks for, so far */
	size_t early_count;
};

/* Packets of a response to so many bytes, each of which takes a PSN. */
static inline __u32 reads_span(__u32 bytes, __u32 path_mtu)
{
	return bytes ? (bytes - 1) / path_mtu + 1 : 1;
}

/* Another sequence of PSNs begins. */
void reads_anew(struct reads *r);

/*
 * Puts right what the engine says of the PSNs in front of a request behind a READ. Where it does not know the path MTU, it counts
 * those of the READ as skipped; and a few losses in a row look to it like a smaller path MTU than the one that the pair tells. Returns
 * how many PSNs it takes back that it has counted as skipped before. r: may be NULL. Before reads_request().
 */
__u32 reads_place(struct reads *r, struct doctor_step *step);

/* The same later, when the path MTU is known: takes them out of what was counted as missing. r: may be NULL. */
void reads_settle_gaps(const struct reads *r, struct loss *l);

/* A request was sent, a READ or another one. *reads (NULL: no READ so far) is allocated when it is needed. step: behind reads_place(). */
void reads_request(struct reads **reads, const struct doctor_step *step, const struct doctor_packet *taken);

/*
 * A response came, or an acknowledgement. sent: the opcodes of the latest requests. symptoms: of the stream of responses. step:
 * the response there, which gets to know whether responses are missing before it, or whether it was missing itself.
 */
void reads_answer(struct reads *r, const struct twice *sent, struct symptoms *symptoms, struct doctor_step *step,
		  const struct doctor_packet *taken);

enum reads_match {
	READS_NONE,    /* no READ asks for it */
	READS_PERHAPS, /* its size or place is another one, or not known */
	READS_RIGHT,
};

/* Whether this packet of a READ response answers one of these requests. r: may be NULL. */
enum reads_match reads_match(const struct reads *r, const struct roce_packet *p);

/* Whether it is known how many PSNs a READ takes, not only guessed from one of them. r: may be NULL. */
bool reads_know_mtu(const struct reads *r);

/* Whether a READ with this PSN was sent again, or asks for a part of another one. r: may be NULL. */
bool reads_again(const struct reads *r, __u32 psn);

/* Whether this PSN is one of a READ's response, and not the first of it. Nothing asks for such a one. r: may be NULL. */
bool reads_inside(const struct reads *r, __u32 psn);

/* Answers were left out of which it is not known to which requests they are. r: may be NULL. */
void reads_left_out(struct reads *r);

/* Adds the symptoms of responses that nobody asked for, and of those that never end. All packets of both directions were taken. */
void reads_conclude(struct reads *r, const struct twice *sent, struct symptoms *symptoms);

#endif
