/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All counts up to a moment, from any source: `monitor` fills it from the BPF maps, `analyze` from its own table. The views
 * (lines, JSON) use nothing else.
 */
#ifndef USERSPACE_OBSERVE_MODEL_SNAPSHOT_H
#define USERSPACE_OBSERVE_MODEL_SNAPSHOT_H

#include <time.h>

#include "userspace/observe/model/counter.h"
#include "userspace/observe/model/untracked.h"

struct fault_list;
struct group_rule;
struct host_owner;
struct host_report;
struct roce_dialogue;

struct snapshot_stream {
	struct roce_key key;
	struct roce_stream stream;
	bool selected;			      /* its last packet was one of a selection */
	__u32 differing; /* packets sent again with another content (userspace/observe/model/resent.h), unless the QP turns out to be used again */
	const struct roce_dialogue *dialogue; /* of a stream of requests whose responses are seen; NULL: none */
	const struct host_owner *owner;	      /* its owner on this machine (userspace/observe/host/host.h); NULL: not looked up */
};

struct snapshot_interface {
	char name[64];	       /* device, or capture file */
	const char *mode;      /* "native", "native-frags", "generic", ..., "file" */
	const char *direction; /* "in", "out", "both" */
	bool gone;	       /* the interface has gone */
	__u64 ring_missed;
};

/* State of the list of single faults. */
struct snapshot_events {
	bool had; /* false: not wanted */
	__u64 lost, suppressed; /* faulty packets not reported: no room; above --event-limit */
};

struct snapshot {
	struct timespec time; /* CLOCK_REALTIME of the snapshot, or of the capture's last packet */
	double seconds;	      /* since the start; of a live one until the middle of reading its counters */
	double reading;	      /* s that reading them took: the time of any of them is known as exactly */
	bool complete;	      /* false: a capture was cut short */
	bool selection;	      /* a capture of selected packets (userspace/observe/model/selection.h): missing packets are no loss */
	__u64 left_out;	      /* ... faulty packets that capture left out of it */
	struct roce_totals totals;
	struct snapshot_interface *interfaces;
	size_t interface_count;
	struct snapshot_stream *streams; /* sorted by snapshot_finish() */
	size_t stream_count;
	size_t max_streams;	    /* --max-streams; 0: not known */
	struct untracked untracked; /* streams for which there was no room */
	const char *filter;  /* text of the filter that selected the shown streams; NULL: all */
	__u32 *shown;	     /* their indexes in streams, ascending; NULL: all */
	size_t shown_count;
	struct roce_dialogue *dialogues; /* memory of streams[].dialogue; NULL: none */
	__u64 realtime_offset; /* ns to add to a stream's first_seen/last_seen for CLOCK_REALTIME */
	struct snapshot_events events;
	const struct roce_ports *ports; /* --udp; NULL: none */
	const struct group_rule *group; /* --group (userspace/observe/model/group.h); NULL: none */
	const struct fault_list *faults; /* finished; NULL: none was made */
	const struct host_report *host;	 /* NULL: not looked up */
	void *owners;			 /* memory of streams[].owner */
};

/* When it was taken, ns since 1970. Minus realtime_offset: by the streams' clock. */
static inline __u64 snapshot_time(const struct snapshot *s)
{
	return (__u64)s->time.tv_sec * 1000000000 + s->time.tv_nsec;
}

/* The streams that views show: index i of snapshot_shown_count(). */
static inline size_t snapshot_shown_count(const struct snapshot *s)
{
	return s->shown ? s->shown_count : s->stream_count;
}

static inline const struct snapshot_stream *snapshot_shown(const struct snapshot *s, size_t i)
{
	return &s->streams[s->shown ? s->shown[i] : i];
}

/*
 * Whether many blocks were seen, but what counts them (immediate data, or addresses) has no constant step, so that missing ones are
 * not known; or many messages, but none ends a slot of the ring.
 */
bool snapshot_is_uncounted(const struct roce_stream *s);

/* Whether views show the stream s of this snapshot. */
bool snapshot_is_shown(const struct snapshot *snapshot, const struct snapshot_stream *s);

/*
 * Decides whether short frames were cut by a mirror or are malformed (roce_judge_short()). Sorts the streams (source, destination,
 * QPN, side), adds to psn_unseen what the responder acknowledges and the engine has not counted yet (stream_count_unseen(); of the
 * last PSN_WINDOW PSNs only, not in the late windows), computes psn_lost, adds what streams have counted to the totals
 * (roce_add_stream()), and sums ring_missed. Call once, after all else is filled in.
 */
void snapshot_finish(struct snapshot *s);

/*
 * Call after snapshot_finish(), for a snapshot in which streams may be missing that were evicted while it was read: totals that
 * only rise do not fall below those of the snapshot before.
 */
void snapshot_keep_totals(struct snapshot *s, const struct roce_totals *before);

/*
 * The order of streams: source, destination, QPN, the rest. For qsort() and its like, of what begins with a struct roce_key, as a
 * snapshot_stream does.
 */
int snapshot_compare(const void *a, const void *b);

/* The stream of this key in a finished snapshot. NULL: none (or s is NULL). */
const struct snapshot_stream *snapshot_find(const struct snapshot *s, const struct roce_key *key);

/* Whether PSNs of these requests are missing that their peer may acknowledge. If so, *responder is the key of its stream. */
bool snapshot_responder(const struct snapshot_stream *one, struct roce_key *responder);

/*
 * Whether PSNs that this stream lost may have been only not seen here, because it is one of requests that are acknowledged, and no
 * acknowledgement was seen: of this stream, or, where nobody knows which ones answer it, of any between these hosts.
 */
bool snapshot_is_one_sided(const struct snapshot *s, const struct snapshot_stream *one);

/* Whether frames that are shorter than their IP lengths were cut by a mirror. Else they are malformed (roce_judge_short()). */
bool snapshot_short_is_cut(const struct roce_totals *t);

/* psn_skipped - psn_recovered - psn_unseen, never below 0 */
__u64 snapshot_lost(const struct roce_counters *c);

/* Of the totals: psn_lost, udp_lost and ud_lost, from the other counters. */
void snapshot_total_lost(struct roce_totals *t);

/*
 * Of snapshot_lost() those whose packets may have come with a wrong ICRC: they arrived, damaged. No more than the packets with a
 * wrong ICRC; on RC and XRC, which send such packets again, no more than those of them that were not repaired.
 */
__u64 snapshot_damaged(const struct roce_stream *s);

/* The same of all streams whose lost PSNs are in the totals. */
__u64 snapshot_all_damaged(const struct snapshot *s);

/* Whether most of the stream's ICRCs are wrong, so many that it is no stream of a flipped bit. */
bool snapshot_icrcs_are_wrong(const struct roce_stream *s);

/* The stream's destination; of UD, the last one. */
static inline const __u8 *snapshot_destination(const struct snapshot_stream *s)
{
	return s->key.kind == KEY_DATAGRAM ? s->stream.ud.dst : s->key.dst;
}

/* Whether a counter applies to the stream. Views leave out others, instead of showing 0. */
bool snapshot_has(const struct snapshot_stream *s, enum roce_counter counter);

/* UD's PSNs are not checked, so counters of its sequence are estimates and stay out of the totals. */
bool snapshot_is_estimate(const struct roce_stream *s);

/* Packets came late, and nobody sends again: the path has changed their order. */
bool snapshot_is_reordered(const struct roce_stream *s);

/* Streams by the DSCP of their newest packet, and what they have counted. */
struct snapshot_class {
	size_t streams;
	__u64 packets, bytes, ecn_ce;
};

#define SNAPSHOT_CLASSES 64

/* classes: by DSCP. Returns whether they tell anything: there is more than one, or packets are marked. */
bool snapshot_classes(const struct snapshot *s, struct snapshot_class classes[SNAPSHOT_CLASSES]);

/* Packets of the stream come with several traffic classes. A single change is a sender's new setting. */
bool snapshot_is_class_mixed(const struct roce_stream *s);

/* The newest two classes of a stream whose class has changed: "DSCP 26 and 46", "DSCP 26, ECN-capable and not". */
struct class_text {
	char text[48];
} snapshot_class_text(const struct roce_stream *s);

/* Behind the service of a stream, where the snapshot has packets of RoCEv1 and of RoCEv2: " v1", " v2", " v1+2". Else "". */
const char *snapshot_version(const struct snapshot *s, const struct roce_stream *of);

/* Packets of all kinds. */
__u64 snapshot_packets(const struct roce_stream *s);

/* Frees all memory except the struct itself. */
void snapshot_free(struct snapshot *s);

/* ---- rates ---- */

/* Rates of counters between two snapshots. In one place, so that table, lines and JSON agree. */
struct rates {
	double gbps;	 /* 1e9 bit per second, of frames on the wire */
	double packets;	 /* per second */
	double messages; /* completed, per second */
	double lost;	 /* skipped PSNs per second */
	double udp_lost; /* of the totals: skipped numbers of --udp per second */
	double icrc_bad; /* per second */
	double each;	 /* what one packet adds to a rate: 1 / seconds. Counts are whole, so rates are known to one packet */
	double part;	 /* of a rate, by which it may be wrong since the seconds are */
};

/* before: earlier counters, NULL: all zero. seconds <= 0: all rates are 0. A counter that fell counts as 0. */
struct rates rates_of(const struct roce_counters *now, const struct roce_counters *before, double seconds);

/* The same of counters of two snapshots. previous: NULL: since the start. */
struct rates rates_since(const struct roce_counters *counters, const struct roce_counters *before, const struct snapshot *now,
			 const struct snapshot *previous);

/* How exactly a rate of packets, messages or PSNs is known; and that of bits (r->gbps * 1e9). */
double rates_known(const struct rates *r, double rate);
double rates_known_bits(const struct rates *r);

/*
 * Rates of a stream of `now` since `previous` (NULL: since the start). The period is the same for streams met later, so that
 * streams sum up to the totals.
 */
struct rates rates_of_stream(const struct snapshot_stream *s, const struct snapshot *now, const struct snapshot *previous);

/* Rates of the totals. */
struct rates rates_of_totals(const struct snapshot *now, const struct snapshot *previous);

#endif
