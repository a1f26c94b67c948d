// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/grow.h"
#include "lib/shell.h"
#include "lib/shown.h"
#include "userspace/observe/host/hints.h"
#include "userspace/observe/model/advice.h"
#include "userspace/observe/model/qpn.h"

#define QUIET_SECONDS 2	   /* seconds without a RoCE packet before a hint */
#define QUEUE_PACKETS 1000 /* fewer packets say nothing about how they spread over queues */
#define SILENT_LINES 4	   /* most neighbours listed */

static void add(struct hints *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct hints *h, const char *format, ...)
{
	va_list arguments;
	char *line;
	int length;

	if (!grow(h->lines, h->count, h->room, 16))
		return;
	va_start(arguments, format);
	length = vasprintf(&line, format, arguments);
	va_end(arguments);
	if (length >= 0)
		h->lines[h->count++] = shown(line);
}

static __u64 total(const struct hint_facts *f, enum roce_counter c)
{
	return f->snapshot->totals.value[c];
}

static bool saw_nothing(const struct hint_facts *f)
{
	return !total(f, COUNTER_roce_packets) && !total(f, COUNTER_rocev1_packets) && !total(f, COUNTER_udp_packets) &&
	       !total(f, COUNTER_tunnelled_frames);
}

static __u64 devices_of(const struct hint_facts *f, const struct hint_interface *i)
{
	const struct place_link *l = places_link(f->places, i->index);

	return l ? l->devices : 0;
}

/* ---- nothing to be seen ---- */

static unsigned int connected_qps(const struct hint_facts *f, size_t device)
{
	unsigned int n = 0;

	for (size_t i = 0; i < f->qps->connected; i++)
		n += f->qps->by_peer[i]->device >> device & 1;
	return n;
}

/* The NIC terminates RoCE itself: XDP does not see the packets that the NIC takes. */
static bool hint_offloaded(struct hints *h, const struct hint_facts *f, const struct hint_interface *i)
{
	bool any = false;

	for (size_t d = 0; d < f->device_count && d < 64; d++) {
		const struct rdma_host_device *device = &f->devices[d];
		const struct host_counter *moved = book_worst(f->book, device->name, false);
		unsigned int qps = connected_qps(f, d);
		char evidence[2 * HOST_NAME + 64];

		if (device->software || !(devices_of(f, i) >> d & 1) || (!moved && !qps))
			continue;
		if (moved)
			snprintf(evidence, sizeof(evidence), "its counters move (%s: %llu)", moved->name, moved->value);
		else
			snprintf(evidence, sizeof(evidence), "%u of its QPs are connected", qps);
		add(h, "%s: the NIC terminates RoCE itself (RDMA device %s, driver %s): %s, but XDP saw no RoCE packet, since "
		    "packets for the NIC's own QPs do not pass XDP. `rocescope verbs` shows these QPs, and what programs post. "
		    "Packets can be seen on a mirror port of the switch, with another NIC; with RoCE off in this NIC and rxe on it (`rdma link add rxe0 type rxe netdev %s`); or in a "
		    "capture for `rocescope analyze`, from the switch or from `tcpdump -i %s` if libpcap and the driver "
		    "support it",
		    i->name, device->name, device->driver, evidence, shell_name(i->name).text, shell_word(device->name).text);
		any = true;
	}
	return any;
}

static void hint_quiet(struct hints *h, const struct hint_facts *f, const struct hint_interface *i)
{
	const struct place_link *l = places_link(f->places, i->index);

	if (!l || f->snapshot->seconds < QUIET_SECONDS)
		return;
	if (!l->up)
		add(h, "%s is down: `ip link set dev %s up`", i->name, shell_name(i->name).text);
	else if (!l->promiscuous)
		add(h, "%s: no RoCE packet so far. A NIC drops frames for other MACs: if this is a mirror port, `ip link set "
		    "dev %s promisc on`", i->name, shell_name(i->name).text);
}

/* ---- what is seen, but not as it was on the wire ---- */

static bool has_vlan_above(const struct hint_facts *f, unsigned int index)
{
	for (size_t i = 0; i < f->places->link_count; i++)
		if (f->places->links[i].vlan && f->places->links[i].below == index)
			return true;
	return false;
}

static bool saw_vlan(const struct snapshot *s)
{
	for (size_t i = 0; i < s->stream_count; i++)
		if (s->streams[i].stream.last.vlan_tags)
			return true;
	return false;
}

static void hint_offloads(struct hints *h, const struct hint_facts *f, const struct hint_interface *i)
{
	const struct place_link *l = places_link(f->places, i->index);

	/* do not warn where no tags are expected */
	if (i->vlan_stripped && l && (l->promiscuous || has_vlan_above(f, i->index)) && !saw_vlan(f->snapshot))
		add(h, "%s: the NIC strips VLAN tags before XDP, so streams show none: `ethtool -K %s rxvlan off`",
		    i->name, shell_name(i->name).text);
	if (i->lro)
		add(h, "%s: LRO is on and merges frames before XDP: `ethtool -K %s lro off`", i->name, shell_name(i->name).text);
}

/* Whether incoming streams have different UDP source ports. */
static bool has_several_ports(const struct snapshot *s)
{
	const struct roce_stream *first = NULL;

	for (size_t i = 0; i < s->stream_count; i++) {
		const struct roce_stream *stream = &s->streams[i].stream;
		const struct host_owner *owner = s->streams[i].owner;

		if (owner && owner->outward)
			continue;
		if (first && first->last.udp_source_port != stream->last.udp_source_port)
			return true;
		first = stream;
	}
	return false;
}

static void hint_queue(struct hints *h, const struct hint_facts *f, const struct hint_interface *i)
{
	struct book_queues q = book_queues(f->book, i->name);
	unsigned int percent = q.packets ? (unsigned int)(q.most * 100 / q.packets) : 0;

	if (q.count < 2 || q.packets < QUEUE_PACKETS || percent < 90)
		return;
	if (has_several_ports(f->snapshot))
		add(h, "%s: %u %% of %llu packets came by queue %u of %u, so one CPU does all the work: `ethtool -N %s "
		    "rx-flow-hash udp4 sdfn` spreads QPs by their UDP source ports", i->name, percent, q.packets, q.busiest,
		    q.count, shell_name(i->name).text);
	else
		add(h, "%s: %u %% of %llu packets came by queue %u of %u, so one CPU does all the work: packets of one QP (one "
		    "UDP source port) use one queue; more QPs spread the load", i->name, percent, q.packets, q.busiest,
		    q.count);
}

/* ---- who cannot be reached ---- */

struct example {
	const struct snapshot_stream *stream;
	size_t count;
};

static void note(struct example *e, const struct snapshot_stream *s)
{
	if (!e->count++)
		e->stream = s;
}

static void hint_macs(struct hints *h, const struct hint_facts *f)
{
	struct example wrong_mac = { 0 }, wrong_ip = { 0 };

	for (size_t i = 0; i < f->snapshot->stream_count; i++) {
		const struct snapshot_stream *s = &f->snapshot->streams[i];

		if (s->owner && s->owner->astray == HOST_MAC)
			note(&wrong_mac, s);
		else if (s->owner && s->owner->astray == HOST_ADDRESS)
			note(&wrong_ip, s);
	}
	if (wrong_mac.count)
		add(h, "%zu stream%s addressed to this host's IP %s, but to MAC %s, which is not "
		    "its own (%s %s): the kernel drops the packets after XDP. Correct the sender's ARP entry", wrong_mac.count,
		    wrong_mac.count == 1 ? " is" : "s are", address_text(snapshot_destination(wrong_mac.stream)).text,
		    mac_text(wrong_mac.stream->stream.last.dst_mac).text, wrong_mac.count == 1 ? "from" : "for example from",
		    address_text(wrong_mac.stream->key.src).text);
	if (wrong_ip.count)
		add(h, "%zu stream%s addressed to this host's MAC, but not to its IP (%s %s to %s): the kernel drops the "
		    "packets after XDP, unless this host routes them", wrong_ip.count, wrong_ip.count == 1 ? " is" : "s are",
		    wrong_ip.count == 1 ? "from" : "for example from", address_text(wrong_ip.stream->key.src).text,
		    address_text(snapshot_destination(wrong_ip.stream)).text);
}

static void hint_nobody(struct hints *h, const struct hint_facts *f)
{
	size_t streams = 0;

	for (size_t i = 0; i < f->snapshot->stream_count; i++) {
		const struct snapshot_stream *s = &f->snapshot->streams[i];

		streams += s->owner && s->owner->local && !s->owner->outward && s->key.kind != KEY_UDP;
	}
	if (streams && !f->device_count)
		add(h, "%zu stream%s addressed to this host, but it has no RDMA device (in this network namespace): `rdma link "
		    "add rxe0 type rxe netdev %s` makes one", streams, streams == 1 ? " is" : "s are",
		    shell_name(f->interface_count ? f->interfaces[0].name : "IFACE").text);
}

static bool is_end_of_stream(const struct snapshot *s, const __u8 address[16])
{
	for (size_t i = 0; i < s->stream_count; i++)
		if (!memcmp(s->streams[i].key.src, address, 16) || !memcmp(snapshot_destination(&s->streams[i]), address, 16))
			return true;
	return false;
}

static bool sends_to_us(const struct snapshot *s, const __u8 address[16])
{
	for (size_t i = 0; i < s->stream_count; i++)
		if (!memcmp(s->streams[i].key.src, address, 16))
			return true;
	return false;
}

/* Whether the neighbours of this interface matter: it is watched, or stacked on an interface that is watched. */
static bool is_watched(const struct hint_facts *f, unsigned int index)
{
	const struct place_link *l = places_link(f->places, index);

	for (size_t i = 0; i < f->interface_count; i++) {
		const struct place_link *own = places_link(f->places, f->interfaces[i].index);

		if (index == f->interfaces[i].index || (l && l->below == f->interfaces[i].index) ||
		    (own && own->master == index))
			return true;
	}
	return false;
}

static void hint_silent(struct hints *h, const struct hint_facts *f)
{
	size_t lines = 0, more = 0;

	for (size_t i = 0; i < f->places->silent_count; i++) {
		const struct place_silent *n = &f->places->silent[i];
		const struct place_link *l = places_link(f->places, n->interface);

		/* others that do not answer are the business of whoever asks for them */
		if (!l || !is_watched(f, n->interface) || !(n->leads || is_end_of_stream(f->snapshot, n->address)))
			continue;
		if (lines++ >= SILENT_LINES)
			more++;
		else
			add(h, "%s does not answer %s on %s: nothing can be sent to it%s. Is it up, in this VLAN and subnet? "
			    "If it has no ARP, like many FPGAs: `ip neigh replace %s lladdr MAC dev %s`",
			    address_text(n->address).text,
			    address_is_ipv4(n->address) ? "ARP" : "neighbour discovery", l->name,
			    n->leads ? ", nor to what is behind it" :
			    sends_to_us(f->snapshot, n->address) ? ", not even acknowledgements for its packets" : "",
			    address_text(n->address).text, shell_name(l->name).text);
	}
	if (more)
		add(h, "%zu more neighbours do not answer: `ip neigh show nud failed nud incomplete`", more);
}

/* ---- where it was lost ---- */

static const struct host_counter *worst(const struct hint_facts *f, bool *has_counters)
{
	const struct host_counter *found = NULL;

	*has_counters = f->interface_count;
	for (size_t i = 0; i < f->interface_count; i++) {
		const struct host_counter *c = book_worst(f->book, f->interfaces[i].name, true);

		*has_counters &= book_counts_losses(f->book, f->interfaces[i].name);
		if (c && (!found || c->value > found->value))
			found = c;
	}
	return found;
}

static void hint_lost(struct hints *h, const struct hint_facts *f)
{
	__u64 damaged = snapshot_all_damaged(f->snapshot), all = total(f, COUNTER_psn_lost), udp = total(f, COUNTER_udp_lost);
	__u64 lost = (all > damaged ? all - damaged : 0) + udp, missed = total(f, COUNTER_ring_missed);
	const char *more = damaged ? "other " : ""; /* advice_make() tells of the damaged ones */
	const char *what = !udp ? "PSNs" : lost > udp ? "PSNs and numbers of --udp" : "numbers of --udp";
	bool has_counters;
	const struct host_counter *c = worst(f, &has_counters);

	if (c)
		add(h, "%s says that it dropped %llu frames (%s); %llu %s%s are lost%s", c->where, c->value, c->name, lost, more, what,
		    !lost ? ": the frames were other traffic, or were sent again" :
		    c->value >= lost ? ": all of them may have been dropped here (larger rings help: `ethtool -G`)" :
				       ": at least some of them were lost before");
	else if (lost && !missed && has_counters)
		add(h, "%llu %s%s are lost, but no counter of %s shows a drop here: they were lost before, on the path or in "
		    "the sender", lost, more, what, f->interface_count == 1 ? f->interfaces[0].name : "the interfaces");
}

static void hint_advice(struct hints *h, const struct hint_facts *f)
{
	struct advice a;

	if (saw_nothing(f) && f->snapshot->seconds < QUIET_SECONDS)
		return;
	advice_make(&a, f->snapshot);
	for (size_t i = 0; i < a.count; i++)
		add(h, "%s", a.line[i]);
}

/* ---- congestion ---- */

/*
 * The network marks packets (ECN, RFC 3168), the receiver answers with CNPs (IBTA A17.9), and the sender slows down; or one of them
 * does not. With DCQCN marks and CNPs go on at a steady rate: only many marks, and a rate that stays, are worth a line.
 */
static void hint_marks(struct hints *h, const struct hint_facts *f)
{
	const struct marks *m = f->marks;
	char figures[200];

	if (!m || m->readings < MARKS_READINGS || !m->packets || m->gbps < MARKS_KEPT * m->first_gbps)
		return;
	snprintf(figures, sizeof(figures), "of %llu packets %llu came marked CE, at %.3g Gbit/s; %.3g when the marks began",
		 m->packets, m->ecn_ce, m->gbps, m->first_gbps);
	if (m->cnps && m->ecn_ce >= m->packets * MARKS_MANY)
		add(h, "%s > %s QPN %s: the network marks, CNPs go back (%llu to that host), and the sender does not slow down: in "
		    "the last interval %s. Does it take CNPs (priority, UDP port 4791, its reaction point switched on)?",
		    address_text(m->key.src).text, address_text(m->key.dst).text, qpn_text(m->key.qpn).text, m->cnps, figures);
	else if (!m->cnps && m->back)
		add(h, "%s > %s QPN %s: the network marks, and no CNP goes back, though %llu other packets do: the receiver sends "
		    "none, so the sender cannot slow down: in the last interval %s", address_text(m->key.src).text,
		    address_text(m->key.dst).text, qpn_text(m->key.qpn).text, m->back, figures);
	else if (!m->cnps)
		add(h, "%s > %s QPN %s: the network marks, and the sender does not slow down: in the last interval %s. No packet of "
		    "the way back is seen here, so whether the receiver sends CNPs is not known (`--direction both` at one of the ends)",
		    address_text(m->key.src).text, address_text(m->key.dst).text, qpn_text(m->key.qpn).text, figures);
}

void hints_make(struct hints *h, const struct hint_facts *f)
{
	size_t before;

	hints_free(h);
	hint_macs(h, f);
	hint_advice(h, f);
	h->of_streams = h->count;
	for (size_t i = 0; i < f->interface_count; i++) {
		const struct hint_interface *interface = &f->interfaces[i];

		if (saw_nothing(f) && !hint_offloaded(h, f, interface))
			hint_quiet(h, f, interface);
		hint_offloads(h, f, interface);
		hint_queue(h, f, interface);
	}
	hint_nobody(h, f);
	hint_silent(h, f);
	hint_marks(h, f);
	before = h->count;
	hint_lost(h, f);
	h->of_loss = h->count > before;
}

void hints_free(struct hints *h)
{
	for (size_t i = 0; i < h->count; i++)
		free(h->lines[i]);
	free(h->lines);
	*h = (struct hints){ 0 };
}
