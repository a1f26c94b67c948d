// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What this machine knows of the streams that come to it. */
#include <stdio.h>

#include "lib/address.h"
#include "userspace/diagnose/doctor/record.h"
#include "userspace/observe/host/host.h"

#define FORWARD_IPV4 "/proc/sys/net/ipv4/ip_forward"
#define FORWARD_IPV6 "/proc/sys/net/ipv6/conf/all/forwarding"

static bool is_on(const char *sysctl)
{
	FILE *f = fopen(sysctl, "r");
	bool on = f && getc(f) == '1';

	if (f)
		fclose(f);
	return on;
}

static struct symptom *add(struct stream_record *c, enum finding_kind kind)
{
	struct symptom *symptom = symptoms_get(&c->symptoms, kind);

	if (symptom)
		symptom->packets = c->packets;
	return symptom;
}

static void take_owner(struct stream_record *c, const struct snapshot_stream *s)
{
	const struct host_owner *o = s->owner;
	const __u8 *m = s->stream.last.dst_mac, *dst = snapshot_destination(s);
	struct symptom *symptom;

	if (o->astray == HOST_MAC) {
		symptom = add(c, KIND_host_mac);
		if (symptom)
			SAY(symptom->figures, "To %s, but to MAC %s.", address_text(dst).text, mac_text(m).text);
	} else if (o->astray == HOST_ADDRESS) {
		symptom = add(c, KIND_host_address);
		if (!symptom)
			return;
		SAY(symptom->figures, "To %s.", address_text(dst).text);
		symptom->doubted = is_on(address_is_ipv4(dst) ? FORWARD_IPV4 : FORWARD_IPV6);
	} else if (o->refused && s->stream.trusted) { /* no QP takes wrong ICRCs */
		symptom = add(c, KIND_host_qp);
		if (symptom)
			SAY(symptom->figures, "Of the first stream: %s.", o->words);
	}
}

/* Where packets were not taken, the kernel's counters tell how many more came damaged than were looked at. */
static void take_counters(struct stream_record *c, const struct roce_stream *s)
{
	c->passed = s->counters.value[COUNTER_roce_packets] + s->counters.value[COUNTER_rocev1_packets];
	if (!c->loss.apart)
		return;
	c->loss.most = snapshot_lost(&s->counters) - snapshot_damaged(s);
	c->loss.bounded = true;
}

void doctor_machine(struct doctor *d, const struct snapshot *s)
{
	const struct host_report *r = s->host;

	d->end = snapshot_time(s);
	for (size_t i = 0; i < s->stream_count; i++) {
		struct stream_record *c = index_find(&d->records, &s->streams[i].key);

		if (!c)
			continue;
		take_counters(c, &s->streams[i].stream);
		if (s->streams[i].owner)
			take_owner(c, &s->streams[i]);
	}
	for (size_t i = 0; r && i < r->priority_count; i++)
		for (int c = 0; c < PRIORITY_COUNTS; c++)
			d->host[r->priorities[i].priority % DOCTOR_PRIORITIES][c] += r->priorities[i].count[c];
	for (size_t i = r ? r->hints_of_streams : 0; r && i < r->hint_count; i++) {
		struct finding *f = findings_add(&d->machine);

		if (!f)
			return;
		finding_name(KIND_hint_machine, f->kind);
		f->hint = true;
		f->weight = finding_rules[KIND_hint_machine].weight;
		SAY(f->text, "%s", r->hints[i]);
	}
	d->machine_of_loss = r && r->hint_of_loss;
}
