/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How far a sender got, from the receiver's side: each packet that comes is followed along the steps of step.def, and the first
 * step that fails is what is wrong first. Or how far a responder got, which is asked along the steps of responder.def.
 */
#ifndef USERSPACE_DIAGNOSE_BRING_UP_BRING_UP_H
#define USERSPACE_DIAGNOSE_BRING_UP_BRING_UP_H

#include <stdio.h>

#include "lib/terminal/lines.h"
#include "userspace/diagnose/icrc/icrc_place.h"
#include "userspace/observe/host/owners.h"
#include "userspace/observe/live/sniff.h"
#include "userspace/observe/model/endpoint.h"
#include "userspace/observe/model/expect.h"
#include "userspace/observe/model/filter.h"
#include "userspace/observe/model/near_roce.h"
#include "userspace/observe/model/observer.h"
#include "userspace/observe/model/other_frames.h"

enum bring_up_step {
#define STEP(id, words, asks, fix) STEP_##id,
#include "userspace/diagnose/bring_up/step.def"
#undef STEP
	SENDER_STEPS,
	SENDER_LAST = SENDER_STEPS - 1, /* so that the next one is SENDER_STEPS */
#define STEP(id, words, asks, fix) STEP_##id,
#include "userspace/diagnose/bring_up/responder.def"
#undef STEP
	STEPS
};

enum bring_up_state { STEP_NOT_YET, STEP_GOOD, STEP_WRONG, STEP_NOT_TOLD };

#define BRING_UP_TEXT 240

struct bring_up_text {
	char text[BRING_UP_TEXT];
};

/* A text of a few words. */
struct bring_up_text bring_up_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct bring_up_options {
	const char *interface;
	double duration; /* s; 0: until a signal */
	const struct endpoint *endpoint; /* NULL: not known */
	const struct expected *expected; /* may be empty */
	const __u8 *peer; /* NULL: senders of any address */
	const struct filter *filter; /* NULL: all pairs */
	const char *ready, *svg; /* NULL: not wanted */
	bool json, exit_code;
	bool responder; /* ask the responder that `endpoint` describes, instead of following a sender */
	bool all_steps; /* of a responder: go on behind a wrong one */
	struct rate rate; /* of requests to it */
};

/* Stands at the interface, and reports. Returns an exit status; errors were printed. */
int bring_up(const struct bring_up_options *o);

/* Every step, for --help. */
void bring_up_list_steps(void);

/* ---- this end ---- */

/* What is known of the machine. */
struct bring_up_end {
	const struct endpoint *endpoint;
	const struct expected *expected;
	const struct sniffer_receiver *receiver; /* its program is 0: there is none */
	unsigned int ifindex;
	struct places places;
	const struct place_link *link; /* of the interface; NULL: it is gone */
	__u64 refused; /* by the interface before the start */
	struct rdma *rdma; /* NULL: no RDMA in this kernel */
	const struct rdma_host_device *devices;
	size_t device_count;
	struct known_qps qps;
	bool hidden; /* QPs of other processes may be hidden */
};

/* Call end_close() afterwards. */
void end_open(struct bring_up_end *e, const struct bring_up_options *o, unsigned int ifindex, const struct sniffer_receiver *receiver);

/* Reads places and QPs again. */
void end_read(struct bring_up_end *e);
void end_close(struct bring_up_end *e);

/* Whether packets to this address are for a receiver here. */
bool end_has(const struct bring_up_end *e, const __u8 address[16]);

/* A QP of this machine's RDMA devices with this address; NULL: none. *devices: those that have the address. */
const struct known_qp *end_qp(const struct bring_up_end *e, const __u8 address[16], __u32 qpn, __u64 *devices);

/* The device is on the interface and takes packets itself, so that no capture sees them. NULL: there is none. */
const struct rdma_host_device *end_offload(const struct bring_up_end *e);

/* The connection of --expect to this QPN; NULL: none. src: NULL: from any address. */
const struct expected_pair *end_expected(const struct bring_up_end *e, const __u8 *src, const __u8 dst[16], __u32 qpn);

/* ---- frames ---- */

/* A frame that is RoCE, or nearly. */
struct bring_up_packet {
	struct observer_parsed parsed; /* as if what is wrong were right */
	char wrong[BRING_UP_TEXT]; /* of near_roce.def, in words; "": nothing */
	enum finding_kind kind; /* of the doctor, which says the same of its lengths; FINDING_KINDS: none */
};

/* Parses the frame, and says what keeps it from being RoCE. false: it is not, not even nearly. */
bool bring_up_classify(const struct observer_frame *f, struct bring_up_packet *p);

/* ---- pairs ---- */

/* What one address sends to one QPN, and what is answered. */
struct bring_up_stream {
	__u64 id; /* counts up from 1 */
	__u8 src[16], dst[16];
	__u32 dqpn;
	__u8 service;
	bool roce; /* its headers could be read, so that the QPN is one */
	__u64 packets, seen; /* seen: ns, of the last one */
	__u64 weight; /* its packets, and those that it may have had before it got this place */
	enum bring_up_step failed; /* where the last one failed; STEPS: it was taken, as far as is known */
	__u64 failures; /* packets that failed there, one after the other */
	enum finding_kind kind; /* of the doctor, whose fix it is; FINDING_KINDS: the step's */
	__u64 in_error; /* packets that were refused since, because the failure has put the QP into the error state */
	char expected[BRING_UP_TEXT / 2], found[BRING_UP_TEXT];
	__u32 not_told; /* steps, as bits, that cannot be judged */
	__u32 last_psn, next_psn; /* next_psn: the PSN behind the packet */
	__u32 path_mtu; /* the largest payload */
	__u64 alone; /* Last packets, one after the other, whose First and Middle have not come */
	char taker[2 * HOST_NAME]; /* who has the QP, in words; "": unknown */
	/* RDMA netlink: packets whose fate the QP's PSN will tell */
	__u32 first_psn; /* of them */
	unsigned int readings; /* of the QP since, in which its PSN stood still; 0: nothing waits */
	__u32 stood; /* the QP's PSN before they came */
	bool taken; /* a packet was taken, as far as is known */
	__u32 first_taken; /* its PSN */
	bool stale; /* its first PSN is not that of --expect */
	__u64 row; /* of the last packet */
	/* answers */
	__u64 asked, messages, answers; /* AckReq seen; ends of messages; acknowledgements */
	__u32 acked, again; /* PSN of the last one; how often that packet came again behind it */
	__u32 answer_qpn; /* where they go; NO_QPN: not known */
};
#define NO_QPN 0xffffffffu

#define BRING_UP_QUIET (5 * NSEC_PER_SEC) /* who sends no more gives way to others */
#define BRING_UP_STREAMS 64
#define BRING_UP_FILTERED 16384 /* streams whose counters --filter knows */
#define BRING_UP_ROWS 64
#define BRING_UP_BAD 12 /* packets with a wrong ICRC that are kept, to name the mistake */

/* A line of the exchange. */
struct bring_up_row {
	__u64 time; /* ns, CLOCK_REALTIME */
	bool ours; /* this end sent it */
	char words[BRING_UP_TEXT]; /* what it is */
	enum bring_up_step failed; /* STEPS: it did not fail */
	char note[2 * BRING_UP_TEXT]; /* what is wrong with it, or "" */
};

/* The last lines of a pair. */
struct bring_up_exchange {
	struct bring_up_row rows[BRING_UP_ROWS]; /* a ring */
	__u64 count; /* ever */
};

struct bring_up_bad {
	__u64 stream; /* its id */
	__u32 length;
	__u8 bytes[RECEIVE_SHOWN_BYTES];
};

/* A host that answers what this machine asks. */
struct bring_up_answering {
	__u8 address[16];
	__u64 answers; /* 0: there is none */
	__u64 last; /* ns, CLOCK_REALTIME: the last packet to or from it */
	bool others_ask; /* somebody asks this machine, or it asks anybody: it is followed as a sender */
};

struct bring_up {
	const struct bring_up_options *options;
	struct sniffer sniffer;
	struct bring_up_end end;
	__u64 start, begun; /* ns: CLOCK_REALTIME and CLOCK_MONOTONIC */
	__u64 frames; /* of this protocol and its like, to or from here */
	struct bring_up_stream streams[BRING_UP_STREAMS];
	size_t stream_count;
	__u64 ids; /* of streams, ever */
	__u64 newest; /* ns: when the last packet of a stream came */
	const struct bring_up_stream *shown; /* the one that the steps are judged by; NULL: none has come */
	__u64 more; /* packets of streams for which there was no room */
	__u64 left_out; /* packets that --peer and --filter leave out */
	struct observer observer; /* follows streams for --filter */
	/* ARP and neighbour discovery */
	__u64 asks; /* requests for our address */
	struct {
		__u8 from[16], whom[16];
		__u64 times;
		bool several; /* more than one host asks for others, as on any network */
	} astray; /* a request for another address */
	struct other_frames other_frames; /* what has come that is no RoCE */
	struct bring_up_answering answering; /* the responder that may be found */
	__u64 others; /* RoCE packets between others, the last of them to: */
	__u8 other[16];
	struct bring_up_exchange exchange[BRING_UP_STREAMS + 1]; /* of each stream, and of no pair */
	struct bring_up_bad bad[BRING_UP_BAD];
	size_t bad_count;
	size_t named; /* of them, so many were looked into: */
	struct finding mistake; /* in the ICRC; kind "": not known */
	struct bring_up_asked *asked; /* the responder; NULL: a sender is followed */
	bool full; /* show all, whether it fits on the terminal or not */
};

/* The steps of this run, from the first one to the one before the end. */
static inline enum bring_up_step steps_begin(const struct bring_up *b)
{
	return b->asked ? STEP_carrier : STEP_link;
}

static inline enum bring_up_step steps_end(const struct bring_up *b)
{
	return b->asked ? STEPS : SENDER_STEPS;
}

/* Whether the row's packet answers: it goes from right to left. */
static inline bool row_answers(const struct bring_up *b, const struct bring_up_row *row)
{
	return row->ours != !!b->asked;
}

/* When it was, since the start. */
static inline double row_seconds(const struct bring_up *b, const struct bring_up_row *row)
{
	return row->time > b->start ? (row->time - b->start) / 1e9 : 0;
}

/* Prepares --filter. Call bring_up_free() afterwards. false: there is not enough memory. */
bool bring_up_begin(struct bring_up *b);
void bring_up_free(struct bring_up *b);

/* Takes a frame. end_read() was called after it had come. */
void bring_up_take(struct bring_up *b, const struct sniffed *f);

/* Adds a row of no pair, for a packet of kind ROCE_PACKET. It is valid until as many others follow as are kept. */
struct bring_up_row *bring_up_add(struct bring_up *b, __u64 time, bool ours, const struct roce_packet *p);

/* Judges what only the QPs show, after the frames of a turn were taken, and chooses the pair that is shown. */
void bring_up_settle(struct bring_up *b);

/* ---- pairs.c ---- */

/* The pair of a packet, which may be a new one. */
struct bring_up_stream *bring_up_find(struct bring_up *b, const struct roce_packet *p);

/* The exchange of a pair; s: NULL: that of no pair. */
struct bring_up_exchange *bring_up_exchange(struct bring_up *b, const struct bring_up_stream *s);

/*
 * Shows the active pair with the most packets. The one that is shown stays as long as none has an eighth more, so that of many that
 * send alike always the same is shown.
 */
void bring_up_choose(struct bring_up *b);

/* Whether the pair has sent in the last five seconds before the newest packet of any pair. */
bool bring_up_is_active(const struct bring_up *b, const struct bring_up_stream *s);

/* The last rows of the shown pair, and of no pair, oldest first. Returns their number. *more: there were others before. */
size_t bring_up_rows(const struct bring_up *b, const struct bring_up_row *rows[], size_t most, bool *more);

/* The pairs that are not shown: the wrong ones first, then those with the most packets. Returns their number. */
size_t bring_up_others(const struct bring_up *b, const struct bring_up_stream *others[BRING_UP_STREAMS]);

/* ---- answering.c ---- */

/* Takes a packet, for answering_found(). ours: this machine sent it; time: ns, CLOCK_REALTIME. */
void answering_take(struct bring_up *b, const struct roce_packet *p, bool ours, __u64 time);

/* Whether a responder was found: one host has answered this machine's requests, and neither it nor another one asks. */
bool answering_found(const struct bring_up *b);

/* Whether it may be asked: --receiver describes it, and nobody has asked it of late. now: ns, CLOCK_REALTIME. */
bool answering_can_be_asked(const struct bring_up *b, __u64 now);

/* --receiver describes a host that may be a responder, and nothing has come that would tell. */
bool answering_is_awaited(const struct bring_up *b);

/* That it was found, and what is missing until it is asked. */
struct bring_up_text answering_words(const struct bring_up *b);

/* ---- the report ---- */

struct bring_up_result {
	enum bring_up_state state;
	char found[2 * BRING_UP_TEXT]; /* what is so, or what is wrong, or why it cannot be told */
	char fix[FINDING_TEXT];	    /* of a wrong one */
};

struct bring_up_report {
	struct bring_up_result step[STEPS];
	enum bring_up_step wrong; /* the first that is; STEPS: none */
};

void bring_up_conclude(struct bring_up *b, struct bring_up_report *r);

/* The interface. */
void bring_up_conclude_link(const struct bring_up *b, struct bring_up_result *r);

/* Adds to what is wrong which mistake is in the ICRCs of b->bad, if that is known. */
void bring_up_conclude_icrc(struct bring_up *b, struct bring_up_result *r);

/* ---- responder.c ---- */

struct bring_up_asked {
	struct bring_up_report report;
	__u8 src[16], dst[16]; /* of requests */
	__u32 dqpn, sqpn; /* its QPN, and ours; NO_QPN: not known, as no answer has come */
	__u64 requests, answers;
};

/*
 * Asks along the steps, until one is wrong, and fills in b->asked->report. meanwhile: called often. false: it cannot ask, which was
 * reported.
 */
bool bring_up_ask(struct bring_up *b, void (*meanwhile)(void *context), void *context);

struct bring_up_name {
	char text[32];
};

/* As it is printed. */
struct bring_up_name step_name(enum bring_up_step step);
const char *step_words(enum bring_up_step step);
const char *step_asks(enum bring_up_step step);
const char *step_fix(enum bring_up_step step);

/* A page for people; height: lines that fit, so that steps and exchange are cut; 0: as many as there are. lines: with its width. */
void bring_up_page(struct lines *lines, const struct bring_up *b, const struct bring_up_report *r, size_t height);

/* Adds one step, with what was found. */
void bring_up_step_line(struct lines *l, const struct bring_up_report *r, enum bring_up_step step);

/* For people, in the size of the terminal if it is one; rocescope.bringup/1. They return 0, or -1 with errno. */
int bring_up_lines(FILE *out, const struct bring_up *b, const struct bring_up_report *r);
int bring_up_json(FILE *out, const struct bring_up *b, const struct bring_up_report *r);

/* Draws the exchange as SVG. false: it failed, which was reported. */
bool bring_up_picture(const char *path, const struct bring_up *b, const struct bring_up_report *r);

#endif
