// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roce/sequence/sequence.h"
#include "userspace/observe/model/snapshot.h"

#define WRONG_LEAST 3 /* packets; flipped bits rarely lead to one stream that does not exist so often */

int snapshot_compare(const void *a, const void *b)
{
	const struct roce_key *x = a, *y = b;
	int order = memcmp(x->src, y->src, sizeof(x->src) + sizeof(x->dst));

	if (order)
		return order;
	if (x->qpn != y->qpn)
		return x->qpn < y->qpn ? -1 : 1;
	return memcmp(&x->port, &y->port, sizeof(*x) - offsetof(struct roce_key, port));
}

static __u64 less(__u64 skipped, __u64 found)
{
	return skipped > found ? skipped - found : 0;
}

__u64 snapshot_lost(const struct roce_counters *c)
{
	const __u64 *v = c->value;

	return less(v[COUNTER_psn_skipped], v[COUNTER_psn_recovered] + v[COUNTER_psn_unseen]);
}

void snapshot_total_lost(struct roce_totals *t)
{
	__u64 *v = t->value;

	v[COUNTER_psn_lost] = snapshot_lost(&t->counters);
	v[COUNTER_udp_lost] = less(v[COUNTER_udp_skipped], v[COUNTER_udp_recovered]);
	v[COUNTER_ud_lost] = less(v[COUNTER_ud_skipped], v[COUNTER_ud_recovered]);
}

bool snapshot_has(const struct snapshot_stream *s, enum roce_counter counter)
{
	bool udp = s->key.kind == KEY_UDP, response = s->key.side == SIDE_RESPONSE;

	switch (counter_facts[counter].of) {
	case OF_NONE:
		return false;
	case OF_ALL:
		return true;
	case OF_ROCE:
		return !udp;
	case OF_V1:
		return s->stream.counters.value[COUNTER_rocev1_packets];
	case OF_UDP:
		return udp;
	case OF_REQUEST:
		return !udp && !response;
	case OF_RESPONSE:
		return response;
	case OF_MESSAGE:
		return udp ? s->stream.sequence.heaps : s->stream.service != SERVICE_CNP;
	case OF_SEQUENCE: /* foreign UDP flows have none */
		return udp ? s->stream.met : s->stream.service != SERVICE_CNP;
	case OF_NUMBER:
		return udp ? s->stream.met || s->stream.sequence.heaps : s->stream.service != SERVICE_CNP;
	}
	return false;
}

bool snapshot_is_estimate(const struct roce_stream *s)
{
	return s->service == SERVICE_UD;
}

/* How many messages fill a slot, if all are as long as the newest. A ring that is learnt has one in each. */
static __u32 messages_of_slot(const struct roce_stream *s)
{
	__u32 most = s->ring.row == RING_TOLD && s->last.dma_length ? s->ring.ring.slot / s->last.dma_length : 1;

	return most ?: 1;
}

bool snapshot_is_uncounted(const struct roce_stream *s)
{
	const __u64 *v = s->counters.value;

	if (!roce_is_totalled(s) || block_counts(s))
		return false;
	if (s->by_ring)
		return v[COUNTER_messages] / messages_of_slot(s) > 4 * MESSAGE_IMM_STEPS;
	return v[COUNTER_blocks] > 4 * MESSAGE_IMM_STEPS;
}

bool snapshot_is_reordered(const struct roce_stream *s)
{
	__u32 late = 0;

	for (int i = 0; i < STREAM_DEPTHS; i++)
		late |= s->arrival.depth[i];
	return late && (s->service == SERVICE_UC || s->service == SERVICE_UD || s->service == SERVICE_UDP);
}

bool snapshot_is_class_mixed(const struct roce_stream *s)
{
	return s->class_changes > 1;
}

struct class_text snapshot_class_text(const struct roce_stream *s)
{
	unsigned int now = s->last.tos >> 2, before = s->last.tos_before >> 2;
	struct class_text t;

	if (now == before)
		snprintf(t.text, sizeof(t.text), "DSCP %u, ECN-capable and not", now);
	else
		snprintf(t.text, sizeof(t.text), "DSCP %u and %u", now < before ? now : before, now < before ? before : now);
	return t;
}

const char *snapshot_version(const struct snapshot *s, const struct roce_stream *of)
{
	static const char *const names[] = { "", " v1", " v2", " v1+2" };
	const __u64 *all = s->totals.value, *v = of->counters.value;

	if (!all[COUNTER_rocev1_packets] || !all[COUNTER_roce_packets])
		return "";
	return names[!!v[COUNTER_rocev1_packets] + 2 * !!v[COUNTER_roce_packets]];
}

__u64 snapshot_packets(const struct roce_stream *s)
{
	const __u64 *v = s->counters.value;

	return v[COUNTER_roce_packets] + v[COUNTER_rocev1_packets] + v[COUNTER_udp_packets];
}

bool snapshot_classes(const struct snapshot *s, struct snapshot_class classes[SNAPSHOT_CLASSES])
{
	size_t used = 0;

	memset(classes, 0, SNAPSHOT_CLASSES * sizeof(*classes));
	for (size_t i = 0; i < s->stream_count; i++) {
		const struct roce_stream *stream = &s->streams[i].stream;
		struct snapshot_class *class = &classes[stream->last.tos >> 2];

		used += !class->streams++;
		class->packets += snapshot_packets(stream);
		class->bytes += stream->counters.value[COUNTER_bytes];
		class->ecn_ce += stream->counters.value[COUNTER_ecn_ce];
	}
	return used > 1 || s->totals.value[COUNTER_ecn_ce];
}

__u64 snapshot_damaged(const struct roce_stream *s)
{
	const __u64 *v = s->counters.value;
	__u64 bad = s->trusted ? v[COUNTER_icrc_bad] : 0, lost = snapshot_lost(&s->counters);

	if (s->service == SERVICE_RC || s->service == SERVICE_XRC)
		bad -= v[COUNTER_psn_recovered] < bad ? v[COUNTER_psn_recovered] : bad;
	return bad < lost ? bad : lost;
}

__u64 snapshot_all_damaged(const struct snapshot *s)
{
	__u64 damaged = 0;

	for (size_t i = 0; i < s->stream_count; i++)
		if (roce_is_totalled(&s->streams[i].stream))
			damaged += snapshot_damaged(&s->streams[i].stream);
	return damaged;
}

bool snapshot_icrcs_are_wrong(const struct roce_stream *s)
{
	const __u64 *v = s->counters.value;
	__u64 bad = v[COUNTER_icrc_bad];

	return bad >= WRONG_LEAST && 2 * bad > v[COUNTER_icrc_checked] + v[COUNTER_rocev1_icrc_checked];
}

static bool may_settle(const struct snapshot_stream *one)
{
	return one->key.kind == KEY_CONNECTED && one->key.side == SIDE_REQUEST && stream_may_have_unseen(&one->stream);
}

bool snapshot_responder(const struct snapshot_stream *one, struct roce_key *responder)
{
	if (!one->stream.pair.from || !may_settle(one))
		return false;
	*responder = (struct roce_key){ .kind = KEY_CONNECTED, .qpn = one->stream.pair.peer_qpn, .side = SIDE_RESPONSE };
	memcpy(responder->src, one->key.dst, sizeof(responder->src));
	memcpy(responder->dst, one->key.src, sizeof(responder->dst));
	return true;
}

/* The stream that may acknowledge what is missing. NULL: none is known. */
static const struct snapshot_stream *responder_of(const struct snapshot *s, const struct snapshot_stream *one)
{
	struct roce_key key;

	return snapshot_responder(one, &key) ? snapshot_find(s, &key) : NULL;
}

#define BETWEEN_MOST 256 /* streams between two hosts that are looked at: where both directions are seen, few show it */

/* Whether answers come from one's destination to its source, whichever stream they answer. */
static bool has_answers(const struct snapshot *s, const struct snapshot_stream *one)
{
	struct roce_key back = { 0 };
	size_t begin = 0, end = s->stream_count;

	memcpy(back.src, one->key.dst, sizeof(back.src));
	memcpy(back.dst, one->key.src, sizeof(back.dst));
	while (begin < end) {
		size_t middle = begin + (end - begin) / 2;

		if (snapshot_compare(&s->streams[middle], &back) < 0)
			begin = middle + 1;
		else
			end = middle;
	}
	for (size_t i = begin; i < s->stream_count && i < begin + BETWEEN_MOST; i++) {
		const struct roce_key *k = &s->streams[i].key;

		if (memcmp(k->src, back.src, sizeof(k->src) + sizeof(k->dst)))
			return false;
		if (k->kind == KEY_CONNECTED && k->side == SIDE_RESPONSE)
			return true;
	}
	return false;
}

bool snapshot_is_one_sided(const struct snapshot *s, const struct snapshot_stream *one)
{
	return roce_is_totalled(&one->stream) && may_settle(one) &&
	       snapshot_lost(&one->stream.counters) > snapshot_damaged(&one->stream) &&
	       !(one->stream.pair.from ? !!responder_of(s, one) : has_answers(s, one));
}

static void settle(const struct snapshot *s, struct snapshot_stream *one)
{
	const struct snapshot_stream *responder = responder_of(s, one);
	struct roce_stream *stream = &one->stream;

	if (responder)
		stream->counters.value[COUNTER_psn_unseen] +=
			psn_missing(&stream->psn, stream_acknowledged_by(stream, &responder->stream));
}

/* Acknowledged PSNs whose packets came with a wrong ICRC: they came, and were taken. So they count as those that come later. */
static void take_damaged(struct roce_stream *s)
{
	__u64 *v = s->counters.value, bad = s->trusted ? less(v[COUNTER_icrc_bad], v[COUNTER_psn_recovered]) : 0;
	__u64 taken = bad < v[COUNTER_psn_unseen] ? bad : v[COUNTER_psn_unseen];

	v[COUNTER_psn_unseen] -= taken;
	v[COUNTER_psn_recovered] += taken;
}

bool snapshot_short_is_cut(const struct roce_totals *t)
{
	return roce_judge_short(t->value) == SHORT_CUT;
}

/* Takes malformed packets from those that were followed as cut ones. */
static __u64 take_back_short(__u64 *v)
{
	__u64 packets = v[COUNTER_short_packets];

	v[COUNTER_roce_packets] = less(v[COUNTER_roce_packets], packets);
	v[COUNTER_icrc_unchecked] = less(v[COUNTER_icrc_unchecked], packets);
	v[COUNTER_truncated] = less(v[COUNTER_truncated], packets);
	v[COUNTER_short_packets] = 0;
	return packets;
}

/* Short frames that no mirror has cut are malformed. They stay in the sequences of streams, and make none of their own. */
static void judge_short(struct snapshot *s)
{
	__u64 *v = s->totals.value, packets, headless;
	size_t left = 0;

	if (!v[COUNTER_short_frames] || snapshot_short_is_cut(&s->totals))
		return;
	packets = take_back_short(v);
	headless = less(v[COUNTER_short_frames], packets);
	v[COUNTER_other_frames] = less(v[COUNTER_other_frames], headless);
	v[COUNTER_headless_frames] = less(v[COUNTER_headless_frames], headless);
	v[COUNTER_malformed] += packets + headless;
	for (size_t i = 0; i < s->stream_count; i++) {
		if (!take_back_short(s->streams[i].stream.counters.value) || snapshot_packets(&s->streams[i].stream))
			s->streams[left++] = s->streams[i];
	}
	s->stream_count = left;
}

void snapshot_finish(struct snapshot *s)
{
	judge_short(s);
	if (s->stream_count)
		qsort(s->streams, s->stream_count, sizeof(*s->streams), snapshot_compare);
	for (size_t i = 0; i < s->stream_count; i++) {
		struct roce_stream *stream = &s->streams[i].stream;

		settle(s, &s->streams[i]);
		take_damaged(stream);
		stream->counters.value[COUNTER_psn_lost] = snapshot_lost(&stream->counters);
		roce_add_stream(&s->totals, stream);
	}
	snapshot_total_lost(&s->totals);
	for (size_t i = 0; i < s->interface_count; i++)
		s->totals.value[COUNTER_ring_missed] += s->interfaces[i].ring_missed;
}

void snapshot_keep_totals(struct snapshot *s, const struct roce_totals *before)
{
	__u64 *v = s->totals.value;

	for (int c = 0; c < ROCE_COUNTERS; c++)
		if ((counter_facts[c].scope >= SCOPE_STREAM || counter_sums[c].is_sum) && v[c] < before->value[c])
			v[c] = before->value[c];
	snapshot_total_lost(&s->totals);
}

const struct snapshot_stream *snapshot_find(const struct snapshot *s, const struct roce_key *key)
{
	if (!s || !s->stream_count)
		return NULL;
	return bsearch(key, s->streams, s->stream_count, sizeof(*s->streams), snapshot_compare);
}

static int compare_places(const void *a, const void *b)
{
	const __u32 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool snapshot_is_shown(const struct snapshot *snapshot, const struct snapshot_stream *s)
{
	__u32 place = s - snapshot->streams;

	return !snapshot->shown || bsearch(&place, snapshot->shown, snapshot->shown_count, sizeof(place), compare_places);
}

void snapshot_free(struct snapshot *s)
{
	free(s->interfaces);
	free(s->streams);
	free(s->shown);
	free(s->dialogues);
	free(s->owners);
}

/* ---- rates ---- */

static double risen(__u64 now, __u64 before)
{
	return now > before ? now - before : 0;
}

static double since(const struct roce_counters *now, const struct roce_counters *before, enum roce_counter c)
{
	return risen(now->value[c], before ? before->value[c] : 0);
}

struct rates rates_of(const struct roce_counters *now, const struct roce_counters *before, double seconds)
{
	double a_second = seconds > 0 ? 1 / seconds : 0;

	return (struct rates){
		.gbps = since(now, before, COUNTER_bytes) * a_second * 8 / 1e9,
		.packets = (since(now, before, COUNTER_roce_packets) + since(now, before, COUNTER_rocev1_packets) +
			    since(now, before, COUNTER_udp_packets)) * a_second,
		.messages = since(now, before, COUNTER_messages) * a_second,
		.lost = since(now, before, COUNTER_psn_skipped) * a_second,
		.icrc_bad = since(now, before, COUNTER_icrc_bad) * a_second,
		.each = a_second,
	};
}

struct rates rates_since(const struct roce_counters *counters, const struct roce_counters *before, const struct snapshot *now,
			 const struct snapshot *previous)
{
	double seconds = now->seconds - (previous ? previous->seconds : 0);
	struct rates r = rates_of(counters, before, seconds);

	r.part = seconds > 0 ? now->reading / seconds : 0;
	return r;
}

double rates_known(const struct rates *r, double rate)
{
	return r->each > rate * r->part ? r->each : rate * r->part;
}

double rates_known_bits(const struct rates *r)
{
	double bits = r->packets > 0 ? r->gbps * 1e9 / r->packets : 0; /* of a packet */

	return bits * rates_known(r, r->packets);
}

struct rates rates_of_totals(const struct snapshot *now, const struct snapshot *previous)
{
	struct rates r = rates_since(&now->totals.counters, previous ? &previous->totals.counters : NULL, now, previous);
	double seconds = now->seconds - (previous ? previous->seconds : 0);

	if (seconds > 0)
		r.udp_lost = risen(now->totals.value[COUNTER_udp_skipped],
				   previous ? previous->totals.value[COUNTER_udp_skipped] : 0) / seconds;
	return r;
}

struct rates rates_of_stream(const struct snapshot_stream *s, const struct snapshot *now, const struct snapshot *previous)
{
	const struct snapshot_stream *before = snapshot_find(previous, &s->key);

	return rates_since(&s->stream.counters, before ? &before->stream.counters : NULL, now, previous);
}
