/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the doctor remembers of each stream, each sender and each direction between two hosts. */
#ifndef USERSPACE_DIAGNOSE_DOCTOR_RECORD_H
#define USERSPACE_DIAGNOSE_DOCTOR_RECORD_H

#include "userspace/diagnose/doctor/causes.h"
#include "userspace/diagnose/doctor/neighbour.h"
#include "userspace/diagnose/doctor/silence.h"
#include "userspace/diagnose/finding/index.h"
#include "userspace/diagnose/flow/deth.h"
#include "userspace/diagnose/flow/duplicate.h"
#include "userspace/diagnose/flow/exchange.h"
#include "userspace/diagnose/flow/flow.h"
#include "userspace/diagnose/flow/goback.h"
#include "userspace/diagnose/flow/lint.h"
#include "userspace/diagnose/flow/loss.h"
#include "userspace/diagnose/flow/message.h"
#include "userspace/diagnose/flow/near_study.h"
#include "userspace/diagnose/flow/psn.h"
#include "userspace/diagnose/flow/reads.h"
#include "userspace/diagnose/flow/receiver.h"
#include "userspace/diagnose/flow/reply.h"
#include "userspace/diagnose/flow/responder.h"
#include "userspace/diagnose/flow/twice.h"
#include "userspace/diagnose/icrc/icrc_another.h"
#include "userspace/observe/model/other_frames.h"

#define NO_PSN PAIR_NO_PSN
#define PHANTOM 3 /* fewer packets with a bad ICRC are no stream: a flipped bit may have changed another stream's key */

struct stream_record {
	struct roce_key key; /* first member: the key of the index */
	__u64 packets, bad, good; /* packets with a bad and with a good ICRC */
	__u64 wrong; /* of the bad ones: those without a right ICRC in another place */
	__u64 short_packets; /* packets whose frame is shorter than the IP length, though nobody says that it was cut: */
	struct symptoms early; /* ... what they show, unless a mirror has cut them (conclude_short()) */
	__u64 bad_before; /* packets with a bad ICRC, before the first good one */
	bool apart; /* packets between these were not taken */
	bool trusted;
	__u8 service; /* of most packets */
	__u8 dscp; /* this and the next two of the latest packet */
	__u16 vlan; /* LOSSES_NO_VLAN: no tag */
	__u16 port; /* UDP source port */
	__s64 votes; /* for it, less those for others */
	struct icrc_study *icrc; /* NULL: no bad ICRC yet */
	const struct deth_study *deth; /* UD: of the packets to the QP to which it sends; NULL: none */
	struct icrc_before before;
	struct doctor_step waiting; /* if `waits`: the latest packet of the sequence */
	bool waits;
	struct symptoms symptoms;
	struct psn_study psn;
	struct message_study message;
	struct loss loss;
	struct lint_study lint;
	struct responder_study responder; /* of a stream of requests: what came, and what its answers say of that, */
	struct exchange exchange; /* ... and what the sender does then */
	struct receiver_requests *to_receiver; /* NULL: none goes to the receiver that is known */
	struct twice twice;
	__u64 connection; /* connection of the latest packet, from connection management */
	__u32 start, other_start; /* expected first PSN of this direction and of the other one; NO_PSN: not known */
	bool started; /* the first PSN of at least one connection was known */
	__u64 asked; /* packets that need a response */
	__u64 ackreqs; /* packets that ask for an ACK */
	__u64 silent, silent_frame; /* messages that ended before the first AckReq; the first one's last frame */
	__u64 acked; /* ACKs received */
	enum loss_call called; /* since the latest packet a NAK has asked for packets again, or READ responses are missing */
	__u64 behind, behind_naks; /* PSNs lost behind this place; NAKs that ask for them */
	__u32 behind_psn; /* the latest of these PSNs */
	struct silence silence; /* this and the next three: of requests */
	struct duplicates duplicates;
	struct goback goback;
	struct reads *reads; /* NULL: none was sent */
	bool deaf; /* it sends again what was acknowledged, and the other side lacks acknowledgements as well: one cause */
	__u64 seen, pause; /* ns: time of the latest packet, and the longest pause between packets of its message */
	__u64 passed; /* at an interface: packets that the kernel counted */
	/* of responses, if the pair is not known: the requests that they seem to answer by their PSNs, */
	struct stream_record *answers;
	__u32 answers_votes; /* ... and so many in a row */
	bool unsure; /* of the latest one it is not known what it answers */
	bool acks; /* of responses: an ACK came, ... */
	__u32 newest_ack; /* ... and this is its newest PSN */
	struct stream_record *answered_by; /* of requests: the responses that acknowledge them */
	__u32 contended; /* ... how often other ones fitted than those before, if the pair is not known */
	struct { /* of requests: UDP source port, and flow label of IPv6 (0: none), by which paths are chosen */
		__u16 port;
		__u32 label;
		bool varies;
	} entropy;
	struct stream_record *beside; /* of requests: the next one between the same addresses */
	bool listed; /* ... it is in the path's list */
	__u64 refused; /* NAKs (PSN sequence error) for PSNs that are not missing here */
	__u32 wanted; /* PSN of the first of these NAKs */
	__u64 wanted_frame;
	bool wanted_came; /* that packet came behind it: it was lost before */
	struct { /* the latest RETH */
		__u64 va;
		__u32 rkey, dma_length;
		bool known;
	} reth;
	__u32 class_changes; /* of the traffic class, up to the latest packet */
	__u64 burst; /* the latest burst in which this stream lost packets */
	struct { /* the first wrong ICRCs */
		__u64 frame;
		__u32 expected, found;
	} bad_shown[FINDING_EVIDENCE];
};

/* All packets of one source address. */
struct doctor_sender {
	__u8 address[16];
	struct icrc_before before;
	__u64 good; /* packets with a right ICRC */
	bool unappended; /* packets have no ICRC; known before the streams are concluded */
	struct icrc_another others;
};

/* All packets from one address to another. */
struct path {
	__u8 src[16], dst[16];
	__u64 packets, responses;
	__u32 largest; /* bytes of the largest IP datagram */
	bool filled;   /* First or Middle packets came */
	struct stream_record *requests; /* stream of the latest request that is answered */
	bool several;  /* there are several such streams */
	bool trusted;  /* a packet with a right ICRC came */
	/* RoCE packets that go to another port, so that nobody takes them (near_study.h) */
	enum finding_kind astray;
	__u64 astray_requests, astray_responses;
	struct stream_record *streams; /* of connected requests, by `beside` */
	struct stream_record *any; /* the latest stream */
	__u64 versions[2]; /* RoCEv2 packets, RoCEv1 packets */
	__u8 src_mac[6], dst_mac[6]; /* of the first RoCE packet */
	struct responder_naks naks; /* which answer requests of this direction, where it is known which ones, */
	struct goback_runs gobacks; /* ... and what the requester does then */
};

/* Whether all connected requests of this direction go to one QP. */
static inline bool path_is_single(const struct path *p)
{
	return p->streams && !p->streams->beside;
}

struct doctor {
	struct index records, senders, paths, deths;
	struct pairs pairs;
	struct doctor_receiver receiver;
	const struct expected *expected; /* NULL: none */
	struct other_frames others;
	struct near_study near;
	struct neighbours neighbours;
	struct flows flows;
	struct symptoms loose; /* symptoms of frames without a stream */
	struct roce_key loose_key[FINDING_KINDS]; /* and the sender of the first frame of each kind */
	/* of `loose`: icrc-absent of senders with right ICRCs, as damage of the opcode looks; malformed-short of READ responses */
	__u64 damaged_opcodes, short_responses;
	struct findings machine; /* hints of doctor_machine() */
	bool machine_of_loss; /* the last of them is about lost PSNs */
	__u64 host[DOCTOR_PRIORITIES][PRIORITY_COUNTS]; /* what its NICs have counted by priority */
	bool selection; /* doctor_selection() was called */
	__u64 left_out; /* packets of streams for which there was no room */
	__u64 packets;	/* packets taken */
	__u64 answers;	/* of these, answers with an AETH, or where it was cut off */
	__u64 searched; /* streams looked at by only_fit() */
	bool large;	/* some stream has a good ICRC, or at least PHANTOM packets */
	/* losses of several streams at the same time */
	__u64 burst, burst_frame, burst_streams, burst_gaps; /* the open burst: number, first frame, streams, gaps */
	__u64 gaps, gaps_together;
	__u64 latest; /* number of the latest packet */
	__u64 end;    /* ns: its time; at an interface the end of the watch */
};

/* Losses of several streams within this many frames are one burst. */
static inline __u64 burst_frames(const struct doctor *d)
{
	return 8 + 2 * d->records.count;
}

/* Whether a flipped bit made this stream of another stream's packet. If all streams are that small, none is a phantom. */
static inline bool doctor_is_phantom(const struct doctor *d, const struct stream_record *c)
{
	return d->large && !c->trusted && c->wrong == c->packets && c->packets < PHANTOM;
}

/* Whether all packets of the stream were taken. At an interface only the first ones are, and faulty ones. */
static inline bool record_is_complete(const struct stream_record *c)
{
	return !c->loss.apart && c->passed <= c->packets;
}

/* The same of requests, and of their answers as far as these are known. */
static inline bool record_is_complete_with_answers(const struct stream_record *c)
{
	return record_is_complete(c) && (!c->answered_by || record_is_complete(c->answered_by));
}

/* Whether it is not known which answers are to these requests: those of two streams take turns. */
static inline bool record_is_contended(const struct stream_record *c)
{
	return c->contended > 2;
}

/* Adds the symptoms that streams between two hosts show together, before the streams are concluded. */
void hosts_conclude(struct doctor *d);

/* Says which connections of --expect no packet matches. */
void expect_conclude(const struct doctor *d, struct symptoms *hints);

/* Judges the waiting packet as the last one of its stream. */
void doctor_settle(struct doctor *d, struct stream_record *c);

/* The direction from src to dst. NULL: nothing came that way. */
struct path *doctor_path(const struct doctor *d, const __u8 src[16], const __u8 dst[16]);

/* Takes an acknowledgement, NAK or CNP as evidence about the requests that it answers. */
void answer_take(struct doctor *d, struct stream_record *response, const struct doctor_packet *taken);

/* Adds the symptoms of a stream that its requests and their answers show together. */
void ends_conclude(const struct doctor *d, struct stream_record *c);

/* Adds up the NAKs of all QPs between two hosts, and what is sent again for them, before any stream is concluded. */
void ends_add_naks(const struct doctor *d);

/* Adds the symptoms of READ responses to their streams, before any stream is concluded. */
void ends_conclude_reads(const struct doctor *d);

/* Words what is lost behind this place, and what comes again for no reason that is seen, over all streams. */
void behind_say(const struct doctor *d, struct findings *f);

/* Words the findings of both ends, over all streams. */
void ends_say(const struct doctor *d, struct findings *f);

/* The finding of that kind. NULL: none. */
struct finding *doctor_find(const struct findings *f, enum finding_kind kind);

#endif
