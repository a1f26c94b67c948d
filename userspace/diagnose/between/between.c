// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/address.h"
#include "lib/clock.h"
#include "userspace/diagnose/between/between.h"
#include "userspace/observe/model/snapshot.h"

#define SLACK (NSEC_PER_SEC / 10) /* ns: a point watched before a stream began if it did so much earlier */

/* ---- what a snapshot says ---- */

static __u64 number(const json_t *o, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(o, key));

	return n > 0 ? n : 0;
}

__u64 between_time(const json_t *text)
{
	const char *s = json_string_value(text), *rest;
	struct tm tm = { 0 };

	rest = s ? strptime(s, "%Y-%m-%dT%H:%M:%S.", &tm) : NULL;
	return rest ? timegm(&tm) * NSEC_PER_SEC + strtoull(rest, NULL, 10) : 0;
}

static __u8 service_of(const char *name)
{
	__u8 service = 0;

	while (service < SERVICE_UDP && strcmp(name, roce_service_name(service)))
		service++;
	return service;
}

static bool take_address(__u8 to[16], const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text && address_parse(text, to);
}

/* The key, and what it lacks of UD's. */
static bool take_key(struct between_stream *s, const json_t *o)
{
	const char *side = json_string_value(json_object_get(o, "side"));
	const char *service = json_string_value(json_object_get(o, "service"));
	const json_t *sqpn = json_object_get(o, "sqpn");
	struct roce_key *key = &s->key;

	*s = (struct between_stream){ .dqpn = number(o, "dqpn") };
	if (!side || !service || !take_address(key->src, o, "src") || !take_address(s->dst, o, "dst"))
		return false;
	s->service = service_of(service);
	key->kind = s->service == SERVICE_UDP ? KEY_UDP : json_is_integer(sqpn) ? KEY_DATAGRAM : KEY_CONNECTED;
	key->qpn = key->kind == KEY_DATAGRAM ? json_integer_value(sqpn) : s->dqpn;
	key->port = number(o, "udp_port");
	key->side = strcmp(side, "response") ? SIDE_REQUEST : SIDE_RESPONSE;
	if (key->kind != KEY_DATAGRAM)
		memcpy(key->dst, s->dst, sizeof(key->dst));
	return true;
}

static struct between_count count_of(const json_t *o)
{
	struct between_count c = {
		.packets = number(o, "roce_packets") + number(o, "rocev1_packets") + number(o, "udp_packets"),
		.bad = number(o, "icrc_bad"),
		.again = number(o, "psn_duplicates") + number(o, "psn_late_unknown"),
		.skipped = number(o, "psn_skipped"),
		.recovered = number(o, "psn_recovered"),
		.restarts = number(o, "psn_restarts"),
		.lost = number(o, "psn_lost"),
		.next = number(o, "next_psn") & PSN_MASK,
		.placed = json_is_integer(json_object_get(o, "next_psn")),
	};

	c.rest = (c.next - number(o, "first_psn") - (c.skipped - c.recovered) - (c.packets - c.bad - c.again)) & PSN_MASK;
	return c;
}

static void take_window(struct between_sight *s, const json_t *missing)
{
	const json_t *run;
	size_t i;

	memset(s->window, 0, sizeof(s->window));
	json_array_foreach(missing, i, run) {
		__u32 first = json_integer_value(json_array_get(run, 0)) & PSN_MASK;
		__u64 count = json_integer_value(json_array_get(run, 1));

		for (__u64 n = 0; n < count && n < BETWEEN_WINDOW; n++) {
			__u32 behind = (s->now.next - first - n - 1) & PSN_MASK;

			if (behind < BETWEEN_WINDOW)
				s->window[behind / 64] |= 1ull << behind % 64;
		}
	}
}

/* ---- streams ---- */

/* The stream of this key, which is added if there is none. NULL: there is no memory; or no room, which is counted. */
static struct between_stream *find(struct between *b, const struct between_stream *like, bool *good)
{
	struct between_stream **at = tfind(like, &b->streams, snapshot_compare), *s;

	if (at)
		return *at;
	if (b->count == b->most) {
		b->left_out++;
		return NULL;
	}
	s = malloc(sizeof(*s));
	if (s)
		*s = *like;
	if (!s || !tsearch(s, &b->streams, snapshot_compare)) {
		free(s);
		*good = false;
		return NULL;
	}
	b->count++;
	return s;
}

/* What the point had counted in the snapshot before its newest one. A stream that has not moved may be left out of snapshots. */
static const struct between_count *before(const struct between *b, const struct between_stream *s, enum between_point p)
{
	return s->at[p].turn == b->place[p].turn ? &s->at[p].before : &s->at[p].now;
}

/* A time of the point's clock by the clock that both share. */
static __u64 shared(const struct between *b, enum between_point p, __u64 time)
{
	return b->place[p].taken - b->place[p].time + time;
}

/* ---- when both have seen the same ---- */

/* Each point has seen none of its packets for long enough when it looked, and looked long enough after the other one saw the last. */
static bool is_quiet(const struct between *b, const struct between_stream *s)
{
	for (int p = 0; p < BETWEEN_POINTS; p++)
		if (b->place[p].time < s->at[p].last_seen + BETWEEN_GRACE ||
		    b->place[!p].taken < shared(b, p, s->at[p].last_seen) + BETWEEN_GRACE)
			return false;
	return true;
}

static __u64 start(const struct between *b, enum between_point p)
{
	return b->place[p].taken - seconds_to_ns(b->place[p].seconds);
}

/* Both points have seen the stream's first packet, or watched when the other one did. */
static bool is_from_the_beginning(const struct between *b, const struct between_stream *s)
{
	const struct between_sight *a = &s->at[BETWEEN_A], *z = &s->at[BETWEEN_B];

	if (a->now.placed && z->now.placed && a->first_psn == z->first_psn && a->now.packets < PSN_MASK / 2 &&
	    z->now.packets < PSN_MASK / 2)
		return true;
	for (int p = 0; p < BETWEEN_POINTS; p++)
		if (start(b, p) + SLACK > shared(b, !p, s->at[!p].first_seen))
			return false;
	return true;
}

/* PSNs that the stream has passed since a count before, if its rest has not changed. */
static __u64 passed(const struct between_count *now, const struct between_count *then)
{
	return now->packets - now->bad - now->again + now->skipped - now->recovered -
	       (then->packets - then->bad - then->again + then->skipped - then->recovered);
}

/* Packets whose PSN does not say where they belong, since a count before. */
static __u64 elsewhere(const struct between_count *now, const struct between_count *then)
{
	return now->bad + now->again + now->recovered - then->bad - then->again - then->recovered;
}

static __u64 missing_in_window(const struct between_sight *s, __u64 n)
{
	__u64 missing = 0;

	for (__u64 i = 0; i < n && i < BETWEEN_WINDOW; i++)
		missing += s->window[i / 64] >> i % 64 & 1;
	return missing;
}

/* Leaves out the packets by which one point is ahead of the other. false: their number cannot be told now. */
static bool leave_out(const struct between *b, const struct between_stream *s, struct between_figures *f)
{
	const struct between_count *a = &s->at[BETWEEN_A].now, *z = &s->at[BETWEEN_B].now, *then;
	__s32 ahead = psn_distance(z->next, a->next);
	enum between_point leader = ahead < 0 ? BETWEEN_B : BETWEEN_A;
	const struct between_sight *sight = &s->at[leader];
	__u64 n = ahead < 0 ? -ahead : ahead, missing, unsure;

	if (!a->placed || !z->placed)
		return false;
	then = before(b, s, leader);
	if (n && (then->rest != sight->now.rest || then->restarts != sight->now.restarts || n > passed(&sight->now, then)))
		return false;
	missing = missing_in_window(sight, n);
	unsure = n > BETWEEN_WINDOW ? n - BETWEEN_WINDOW : 0;
	if (unsure > sight->now.skipped - then->skipped)
		unsure = sight->now.skipped - then->skipped;
	if (leader == BETWEEN_A) {
		f->entered -= n - missing;
		f->most += unsure;
	} else {
		f->left -= n - missing;
		f->least -= unsure;
	}
	f->least += f->entered - f->left;
	f->most += f->entered - f->left;
	/* late packets and repeated ones may have come to one point since the other one looked */
	f->least -= elsewhere(a, before(b, s, BETWEEN_A));
	f->most += elsewhere(z, before(b, s, BETWEEN_B));
	return true;
}

/* What has entered and left since the points were started. */
static bool measure(const struct between *b, const struct between_stream *s, struct between_figures *f)
{
	const struct between_count *a = &s->at[BETWEEN_A].now, *z = &s->at[BETWEEN_B].now;

	*f = (struct between_figures){ .entered = a->packets, .left = z->packets, .damaged = z->bad - a->bad };
	if (!is_quiet(b, s))
		return leave_out(b, s, f);
	f->least = f->most = a->packets - z->packets;
	return true;
}

static void judge(const struct between *b, struct between_stream *s)
{
	struct between_figures now;

	if (!between_is_joined(s) || !measure(b, s, &now))
		return;
	if (!s->based) {
		s->based = true;
		s->base = is_from_the_beginning(b, s) ? (struct between_figures){ 0 } : now;
	}
	s->known = true;
	s->figures = (struct between_figures){
		.entered = now.entered - s->base.entered, .left = now.left - s->base.left,
		.least = now.least - s->base.most, .most = now.most - s->base.least,
		.damaged = now.damaged - s->base.damaged,
	};
}

/* ---- what others call ---- */

/* The stream was evicted; or it got its first good ICRC, from which on its PSNs count; or the point began again. */
static bool has_begun_again(const struct between_count *now, const struct between_count *before)
{
	return now->packets < before->packets || now->skipped < before->skipped || now->recovered < before->recovered ||
	       now->again < before->again;
}

static bool take_stream(struct between *b, enum between_point p, const json_t *o)
{
	struct between_stream like, *s;
	struct between_sight *to;
	bool good = true;

	if (!take_key(&like, o))
		return false;
	s = find(b, &like, &good);
	if (!s)
		return good;
	s->service = like.service;
	s->dqpn = like.dqpn;
	memcpy(s->dst, like.dst, sizeof(s->dst));
	to = &s->at[p];
	to->before = to->now;
	to->now = count_of(o);
	if (has_begun_again(&to->now, &to->before)) {
		to->before = (struct between_count){ 0 };
		s->based = s->known = false;
	}
	take_window(to, json_object_get(o, "missing"));
	to->seen = true;
	to->trusted = json_is_true(json_object_get(o, "icrc_trusted"));
	to->turn = b->place[p].turn;
	to->first_psn = number(o, "first_psn") & PSN_MASK;
	to->first_seen = between_time(json_object_get(o, "first_seen"));
	to->last_seen = between_time(json_object_get(o, "last_seen"));
	judge(b, s);
	return true;
}

bool between_take(struct between *b, enum between_point point, const json_t *snapshot, __u64 taken)
{
	const char *schema = json_string_value(json_object_get(snapshot, "schema"));
	const json_t *streams = json_object_get(snapshot, "streams"), *totals = json_object_get(snapshot, "totals"), *o;
	struct between_place *p = &b->place[point];
	size_t i;

	if (!schema || strcmp(schema, "rocescope.snapshot/1") || !json_object_get(snapshot, "rates"))
		return false;
	*p = (struct between_place){
		.seen = true, .turn = p->turn + 1, .taken = taken,
		.complete = json_is_true(json_object_get(snapshot, "complete")),
		.seconds = json_number_value(json_object_get(snapshot, "seconds")),
		.time = between_time(json_object_get(snapshot, "time")),
		.missed = number(totals, "ring_missed"), .untracked = number(totals, "untracked_packets"),
	};
	json_array_foreach(streams, i, o)
		if (!take_stream(b, point, o))
			return false;
	return true;
}

struct between_walk {
	struct between *b;
	void (*see)(const struct between_stream *s, void *context);
	void *context;
};

static void visit(const void *node, VISIT which, void *closure)
{
	struct between_stream *s = *(struct between_stream *const *)node;
	struct between_walk *w = closure;

	if (which != postorder && which != leaf) /* in order */
		return;
	judge(w->b, s); /* what has not moved may have become quiet */
	w->see(s, w->context);
}

void between_each(struct between *b, void (*see)(const struct between_stream *s, void *context), void *context)
{
	twalk_r(b->streams, visit, &(struct between_walk){ b, see, context });
}

static void add(const struct between_stream *s, void *context)
{
	const struct between_figures *f = &s->figures;
	struct between_totals *t = context;

	if (!between_is_joined(s)) {
		enum between_point p = s->at[BETWEEN_A].seen ? BETWEEN_A : BETWEEN_B;

		t->only[p] += s->at[p].trusted;
		t->lost_before_only_a += s->at[BETWEEN_A].trusted ? s->at[BETWEEN_A].now.lost : 0;
		return;
	}
	t->streams++;
	t->lost_before += s->at[BETWEEN_A].now.lost;
	if (!s->known) {
		t->unknown++;
		return;
	}
	t->figures.entered += f->entered;
	t->figures.left += f->left;
	t->figures.least += f->least > 0 ? f->least : 0;
	t->figures.most += f->most > 0 ? f->most : 0;
	t->figures.damaged += f->damaged > 0 ? f->damaged : 0;
}

struct between_totals between_totals(struct between *b)
{
	struct between_totals t = { 0 };

	between_each(b, add, &t);
	return t;
}

void between_free(struct between *b)
{
	tdestroy(b->streams, free);
	*b = (struct between){ 0 };
}
