// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Options with rules of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"
#include "userspace/traffic/send/fault.h"
#include "userspace/traffic/send/hits.h"
#include "userspace/traffic/send/option.h"

#define QP_TEXT_MOST 200 /* most characters of a --qp */

static struct send_plan *plan_of(const struct option_parser *p)
{
	return &((struct send_options *)p->options)->plan;
}

void *option_memory(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "rocescope: send: out of memory\n");
	exit(1);
}

void option_store_text(const char **to, const char *text)
{
	free((char *)*to);
	*to = option_memory(strdup(text));
}

void take_copy(struct option_parser *p, const struct option_entry *e, const char *text)
{
	option_store_text(option_member(p, e), text);
}

void take_vlan(struct option_parser *p, const struct option_entry *e, const char *text)
{
	option_hex(p, e, text);
	plan_of(p)->tagged = true;
}

void take_dscp(struct option_parser *p, const struct option_entry *e, const char *text)
{
	plan_of(p)->tos = (plan_of(p)->tos & 3) | option_whole(p, e, text, 0, 63) << 2;
}

void take_ecn(struct option_parser *p, const struct option_entry *e, const char *text)
{
	plan_of(p)->tos = (plan_of(p)->tos & ~3) | option_whole(p, e, text, 0, 3);
}

/* An ACK has no message. A preset may set one, but the user may not: he has misunderstood. */
void take_message(struct option_parser *p, const struct option_entry *e, const char *text)
{
	option_size(p, e, text);
	((struct send_options *)p->options)->has_message = !p->path;
}

void take_first_psn(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct send_options *o = p->options;

	o->random_psn = !strcmp(text, "random");
	if (!o->random_psn)
		option_hex(p, e, text);
}

static bool parse_time(const char *text, double *seconds)
{
	static const struct { const char *name; double seconds; } units[] = {
		{ "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 },
	};
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*seconds = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].name)) {
			*seconds *= units[i].seconds;
			return *seconds >= 1e-9 && *seconds <= 1000;
		}
	return false;
}

/* Parses N, or N/T: N packets every T. */
void take_burst(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct send_plan *plan = plan_of(p);
	uint64_t n;
	double seconds;
	char *end;

	if (!parse_whole(text, &n, &end) || n < e->least || n > e->most || (*end && *end != '/'))
		option_wrong(p, e, text, "not a number of packets from 1 to %d, nor N/T like 32/100us", (int)e->most);
	if (*end) {
		if (!parse_time(end + 1, &seconds))
			option_wrong(p, e, text, "not a time like 100us behind the / (ns, us, ms, s; 1000s at most)");
		plan->rate = (struct rate){ .per_second = n / seconds, .unit = RATE_PACKETS };
	}
	plan->burst = n;
}

static void forget_order(struct send_options *o)
{
	free(o->plan.turn);
	o->plan.turn = NULL;
	o->plan.turns = 0;
	free((char *)o->sequence);
	o->sequence = NULL;
}

static void take_weights(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct send_plan *plan = plan_of(p);
	size_t room = 1;

	for (const char *c = text; *c; c++)
		room += *c == ',';
	if (room > TURNS_MOST)
		option_wrong(p, e, text, "at most %d weights", TURNS_MOST);
	plan->turn = option_memory(calloc(room, sizeof(*plan->turn)));
	for (const char *at = text;; at++) {
		uint64_t n;
		char *end;

		if (!parse_whole(at, &n, &end) || !n || n > 1000000 || (*end && *end != ','))
			option_wrong(p, e, text, "weights are numbers from 1 to 1000000 with commas between them");
		plan->turn[plan->turns++] = n;
		at = end;
		if (!*at)
			return;
	}
}

void take_interleave(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct send_options *o = p->options;

	forget_order(o);
	if (!strcmp(text, "message")) {
		o->plan.order = ORDER_MESSAGE;
	} else if (!strcmp(text, "packet")) {
		o->plan.order = ORDER_PACKET;
	} else if (!strncmp(text, "weights=", 8)) {
		o->plan.order = ORDER_WEIGHTS;
		take_weights(p, e, text + 8);
	} else if (!strncmp(text, "sequence=", 9) && text[9]) {
		o->plan.order = ORDER_SEQUENCE;
		option_store_text(&o->sequence, text + 9);
	} else {
		option_wrong(p, e, text, "no such choice; choices are message, packet, weights=3,1,..., sequence=FILE");
	}
}

void take_payload(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct send_plan *plan = plan_of(p);

	if (!strcmp(text, "counter")) {
		plan->pattern = PATTERN_COUNTER;
	} else if (!strcmp(text, "lfsr")) {
		plan->pattern = PATTERN_LFSR;
	} else if (!strncmp(text, "file=", 5) && text[5]) {
		plan->pattern = PATTERN_FILE;
		option_store_text(&plan->pattern_file, text + 5);
	} else {
		option_wrong(p, e, text, "no such choice; choices are counter, lfsr, file=FILE");
	}
}

static void take_qp_key(struct option_parser *p, const struct option_entry *e, const char *text, char *key, struct qp_words *qp)
{
	char *value = strchr(key, '=');

	if (value)
		*value++ = 0;
	if (!value) {
		option_wrong(p, e, text, "%s: wants qpn=N,psn=N,rkey=N,va=N, or some of these", key);
	} else if (!strcmp(key, "qpn")) {
		qp->qp.qpn = option_whole(p, e, value, 0, 0xffffff);
		qp->qpn = true;
	} else if (!strcmp(key, "psn")) {
		qp->qp.psn = option_whole(p, e, value, 0, 0xffffff);
		qp->psn = true;
	} else if (!strcmp(key, "rkey")) {
		qp->qp.rkey = option_whole(p, e, value, 0, 0xffffffff);
		qp->rkey = true;
	} else if (!strcmp(key, "va")) {
		qp->qp.va = option_whole(p, e, value, 0, UINT64_MAX);
		qp->va = true;
	} else {
		option_wrong(p, e, text, "%s: no such key: qpn, psn, rkey, va", key);
	}
}

void take_qp(struct option_parser *p, const struct option_entry *e, const char *text)
{
	char words[QP_TEXT_MOST], *rest = words, *key;
	struct send_options *o = p->options;
	struct qp_words qp = { 0 };

	if (strlen(text) >= sizeof(words))
		option_wrong(p, e, text, "a QP is qpn=N,psn=N,rkey=N,va=N, and not so long");
	strcpy(words, text);
	while ((key = strsep(&rest, ",")))
		take_qp_key(p, e, text, key, &qp);
	if (o->qp_count == QPS_MOST)
		option_wrong(p, e, text, "at most %d QPs", QPS_MOST);
	/* doubles the room at each power of two */
	if (!(o->qp_count & (o->qp_count - 1)))
		o->qp = option_memory(realloc(o->qp, (o->qp_count ? o->qp_count * 2 : 1) * sizeof(*o->qp)));
	o->qp[o->qp_count++] = qp;
	o->plan.qps = o->qp_count;
}

void take_fault(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct send_options *o = p->options;
	size_t before = o->plan.fault_count;
	const char *error;

	if (before == FAULTS_MOST)
		option_wrong(p, e, text, "at most %d faults", FAULTS_MOST);
	error = fault_parse(&o->plan, text);
	if (error)
		option_wrong(p, e, text, "%s; see --help faults", error);
	o->faults = option_memory(realloc(o->faults, o->plan.fault_count * sizeof(*o->faults)));
	for (size_t i = before; i < o->plan.fault_count; i++)
		o->faults[i] = option_memory(strdup(text));
}
