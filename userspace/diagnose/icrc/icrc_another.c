// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "userspace/diagnose/icrc/icrc_another.h"
#include "userspace/diagnose/icrc/icrc_sender.h"

#define FEW 8 /* one in so many wrong ICRCs, at various distances, is nothing, nor is one in so many packets */

static struct icrc_another_packet *at(struct icrc_another *o, __u64 index)
{
	return &o->latest[index % ANOTHER_REACH];
}

static void count(struct icrc_another_distances *d, int distance)
{
	d->packets[ANOTHER_REACH + distance]++;
	d->all++;
}

static void say_icrcs(struct evidence *e, const struct icrc_another_packet *packet, __u64 of)
{
	SAY(e->expected, "icrc %s", icrc_text(packet->right).text);
	SAY(e->found, "icrc %s, frame %llu's", icrc_text(packet->found).text, of);
}

/* The wrong ICRC of `packet` is the right one of `of`, so many packets later. */
static void move(struct icrc_another *o, struct icrc_another_packet *packet, struct icrc_another_packet *of, int distance)
{
	bool same = packet->stream == of->stream;
	int in_stream = same ? (int)(of->in_stream - packet->in_stream) : 0;
	struct icrc_study *s = packet->study;
	struct evidence *e = symptoms_add(&s->moved, KIND_icrc_of_another_packet, packet->number);

	if (e)
		say_icrcs(e, packet, of->number);
	for (__u32 i = 0; i < s->count; i++) {
		if (s->packet[i].number != packet->number)
			continue;
		s->packet[i].moved = true;
		o->studied++;
		o->named += s->packet[i].fitting > 0;
	}
	o->moved++;
	o->distance = distance;
	o->farthest = (unsigned int)abs(distance) > o->farthest ? (unsigned int)abs(distance) : o->farthest;
	count(&o->of_sender, distance);
	if (same && abs(in_stream) <= ANOTHER_REACH)
		count(&o->of_stream, in_stream);
	packet->study = NULL;
	of->taken = true;
}

/* Whether it is the same packet, damaged and whole, as it was sent twice: damage in headers leaves the payload as it is. */
static bool is_same(const struct icrc_another_packet *wrong, const struct icrc_another_packet *of)
{
	return (wrong->stream == of->stream && wrong->psn == of->psn) ||
	       (of->found == of->right && wrong->payload == of->payload);
}

/* Whether the packet so far before the latest one waits for that one's ICRC (later), or else is the one whose ICRC that has. */
static bool fits(struct icrc_another *o, __u64 index, int before, bool later)
{
	const struct icrc_another_packet *now = at(o, index), *then = at(o, index - before);

	if (!then->number)
		return false;
	if (later)
		return then->study && then->found == now->right && !is_same(then, now);
	return !then->taken && then->right == now->found && !is_same(now, then);
}

/* The distance: the one as before, if it fits, else the nearest. 0: none. */
static int find(struct icrc_another *o, __u64 index, bool later)
{
	int most = index < ANOTHER_REACH ? (int)index : ANOTHER_REACH - 1, last = later ? o->distance : -o->distance;

	if (last > 0 && last <= most && fits(o, index, last, later))
		return last;
	for (int before = 1; before <= most; before++)
		if (fits(o, index, before, later))
			return before;
	return 0;
}

void icrc_another_pass(struct icrc_another *o)
{
	*at(o, o->count++) = (struct icrc_another_packet){ 0 };
}

void icrc_another_take(struct icrc_another *o, const struct icrc_another_packet *packet)
{
	__u64 index = o->count++;
	struct icrc_another_packet *now = at(o, index);
	int before;

	*now = *packet;
	if (o->waits && index - o->waits < ANOTHER_REACH) {
		before = find(o, index, true);
		if (before)
			move(o, at(o, index - before), now, before);
	}
	if (!now->study)
		return;
	o->wrong++;
	o->waits = index + 1;
	before = find(o, index, false);
	if (before)
		move(o, now, at(o, index - before), -before);
}

void icrc_others_leave_out(struct icrc_another *o, const struct icrc_study *s)
{
	const struct symptom *moved = symptoms_find(&s->moved, KIND_icrc_of_another_packet);

	if (!moved)
		return;
	o->wrong -= moved->packets;
	o->moved -= moved->packets;
}

/* ---- the symptom ---- */

/*
 * Whether all wrong ones are such: the others are of packets that the capture lacks, or that come behind its end, no more than the
 * distance; or were there before it.
 */
static bool is_all(const struct icrc_another *o)
{
	__u64 rest = o->wrong - o->moved;

	return rest <= o->moved || (o->moved >= FINDING_PACKETS && rest <= o->farthest);
}

static __u64 neighbours(const struct icrc_another_distances *d)
{
	return d->packets[ANOTHER_REACH - 1] + d->packets[ANOTHER_REACH + 1];
}

static bool is_constant(const struct icrc_another_distances *d, __u64 all)
{
	for (int i = 0; i <= 2 * ANOTHER_REACH; i++)
		if (d->packets[i] == all)
			return true;
	return false;
}

/* Whether they are more than chance: a damaged packet may carry the right ICRC of what is sent again for it, at any distance. */
static bool is_system(const struct icrc_another *o)
{
	return o->moved * FEW >= o->wrong || is_constant(&o->of_sender, o->moved) || is_constant(&o->of_stream, o->moved);
}

/* Not where they are neighbours', and a mistake explains most as well: the ICRC of the packet before, a PSN that is the next one. */
static bool is_told(const struct icrc_another *o)
{
	__u64 most = neighbours(&o->of_sender);

	if (neighbours(&o->of_stream) > most)
		most = neighbours(&o->of_stream);
	return (o->moved >= FINDING_PACKETS ? is_system(o) : is_all(o) && o->moved * FEW >= o->count) &&
	       (4 * most < 3 * o->moved || 2 * o->named <= o->studied);
}

/* "always 6 packets later", "1 to 6 packets later, most often 6", "2 packets earlier to 6 later, most often 6 later" */
static void say_distances(const struct icrc_another_distances *d, char text[SYMPTOM_FIGURES])
{
	int least = 2 * ANOTHER_REACH, greatest = 0, most = 0;
	const char *way;

	for (int i = 0; i <= 2 * ANOTHER_REACH; i++) {
		if (!d->packets[i])
			continue;
		least = i < least ? i : least;
		greatest = i;
		most = d->packets[i] > d->packets[most] ? i : most;
	}
	least -= ANOTHER_REACH;
	greatest -= ANOTHER_REACH;
	way = greatest > 0 ? "later" : "earlier";
	if (least == greatest)
		snprintf(text, SYMPTOM_FIGURES, "always %d packet%s %s", abs(least), abs(least) == 1 ? "" : "s", way);
	else if (greatest < 0)
		snprintf(text, SYMPTOM_FIGURES, "%d to %d packets %s, most often %d", -greatest, -least, way,
			 abs(most - ANOTHER_REACH));
	else if (least > 0)
		snprintf(text, SYMPTOM_FIGURES, "%d to %d packets %s, most often %d", least, greatest, way,
			 most - ANOTHER_REACH);
	else
		snprintf(text, SYMPTOM_FIGURES, "%d packet%s earlier to %d later, most often %d %s", -least,
			 least == -1 ? "" : "s", greatest, abs(most - ANOTHER_REACH),
			 most > ANOTHER_REACH ? "later" : "earlier");
}

static void say(const struct icrc_another *o, struct symptom *symptom)
{
	bool by_stream = !is_constant(&o->of_sender, o->moved) && is_constant(&o->of_stream, o->moved);
	__u64 rest = o->wrong - o->moved;
	char text[SYMPTOM_FIGURES], others[128] = "";

	say_distances(by_stream ? &o->of_stream : &o->of_sender, text);
	if (rest && is_all(o))
		SAY(others, " The other %llu wrong one%s may be of packets that are not here.", rest, rest == 1 ? "" : "s");
	SAY(symptom->figures,
	    "The packet to which it belongs comes %.200s, counted in the packets of the %s: %llu of %llu wrong ICRCs.%s",
	    text, by_stream ? "QP" : "sender", o->moved, o->wrong, others);
}

__u64 icrc_another_conclude(const struct icrc_another *o, struct icrc_study *s, struct symptoms *symptoms)
{
	struct symptom *symptom;

	if (!is_told(o))
		return 0;
	symptoms_merge(symptoms, &s->moved);
	symptom = symptoms_find(symptoms, KIND_icrc_of_another_packet);
	if (symptom)
		say(o, symptom);
	s->left_out = is_all(o) ? LEFT_OUT_ALL : LEFT_OUT_MOVED;
	return icrc_study_left_out(s);
}
