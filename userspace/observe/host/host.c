// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <linux/ethtool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/clock.h"
#include "lib/ethtool.h"
#include "userspace/observe/host/book.h"
#include "userspace/observe/host/hints.h"
#include "userspace/observe/host/host.h"
#include "userspace/observe/host/marks.h"
#include "userspace/observe/host/owners.h"
#include "userspace/observe/host/pairs.h"
#include "userspace/observe/live/live.h"

#define ROUTES 32 /* most that are looked up, if a neighbour does not answer */
#define SHARE 5 /* reading takes at most one part in SHARE of the time */
#define INIT_PID_NAMESPACE 0xeffffffc /* PROC_PID_INIT_INO, include/linux/proc_ns.h */

struct host {
	struct rdma *rdma;
	const struct rdma_host_device *devices;
	size_t device_count;
	struct known_qps qps;
	struct places places;
	struct book book;
	struct hints hints;
	struct marks marks;
	struct pair_writer pair_writer;
	char names[INTERFACES_MOST][IF_NAMESIZE]; /* of the interfaces, as they were called before; "": not looked at yet */
	bool hidden; /* QPs of other PID namespaces are hidden */
	__u64 again; /* ns, monotonic: nothing is read again before this */
	struct host_report report;
};

bool host_is_in_container(void)
{
	struct stat s;

	return !stat("/proc/self/ns/pid", &s) && s.st_ino != INIT_PID_NAMESPACE;
}

/* ---- asking around ---- */

static void take_rdma_counter(void *context, const char *device, const char *name, __u64 value)
{
	struct host *h = context;

	book_add(&h->book, device, name, value);
}

struct driver_counters {
	struct book *book;
	const char *where;
};

static void take_driver_counter(void *context, const char *name, uint64_t value)
{
	const struct driver_counters *c = context;

	book_add(c->book, c->where, name, value);
}

static void ask_counters(struct host *h, const struct live *l)
{
	if (h->rdma)
		rdma_counters(h->rdma, take_rdma_counter, h);
	for (size_t i = 0; i < l->interface_count; i++) {
		const char *name = l->interface[i].name;

		if (h->names[i][0] && strcmp(h->names[i], name))
			book_rename(&h->book, h->names[i], name);
		snprintf(h->names[i], sizeof(h->names[i]), "%s", name);
		ethtool_statistics(name, take_driver_counter, &(struct driver_counters){ &h->book, name });
	}
	book_close(&h->book);
}

static void ask_qps(struct host *h, __u64 now)
{
	const struct host_qp *list;
	size_t count;

	if (!h->rdma)
		return;
	h->device_count = rdma_devices(h->rdma, &h->devices);
	count = rdma_qps(h->rdma, &list);
	known_qps_update(&h->qps, list, count, h->devices, h->device_count, now);
}

/* Reads QPs, counters and places again. false: the last reading was a moment ago, and it takes long. */
static bool ask_around(struct host *h, const struct live *l)
{
	__u64 now = now_ns(), took;

	if (now < h->again)
		return false;
	ask_qps(h, now);
	places_read(&h->places, h->devices, h->device_count);
	ask_counters(h, l);
	took = now_ns() - now;
	h->again = now + took * SHARE; /* firmware commands read the hardware's counters, which takes time */
	return true;
}

/* ---- owners ---- */

/* One owner for each stream with a local end. All other streams share one. They live as long as the snapshot. */
struct owners {
	struct host_owner owner;
	struct host_qp qp;
};

static void find_owners(struct host *h, struct snapshot *s)
{
	static const struct host_owner nobody, stray = { .astray = HOST_ADDRESS };
	struct owner_facts facts = { .places = &h->places, .qps = &h->qps, .rdma = h->device_count, .hidden = h->hidden };
	struct owners *o;
	size_t count = 0;
	__u64 devices;

	for (size_t i = 0; i < s->stream_count; i++) {
		const struct snapshot_stream *stream = &s->streams[i];
		const __u8 *dst = snapshot_destination(stream);

		count += places_has(&h->places, dst, &devices) || places_has(&h->places, stream->key.src, &devices);
	}
	s->owners = o = calloc(count + 1, sizeof(*o));
	if (!o)
		return;
	for (size_t i = 0; i < s->stream_count; i++) {
		struct owner_pair pairs[2];
		size_t found;

		if (!owner_find(&facts, &s->streams[i], &o->owner, &o->qp)) {
			s->streams[i].owner = o->owner.astray ? &stray : &nobody;
			continue;
		}
		s->streams[i].owner = &o->owner;
		found = owner_pairs(&s->streams[i], &o->owner, pairs);
		for (size_t p = 0; p < found; p++)
			pairs_write(&h->pair_writer, &pairs[p]);
		o++;
	}
}

/* ---- hints ---- */

static void ask_offloads(struct hint_interface *i)
{
	struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };

	if (!ethtool(i->name, &flags))
		return;
	i->vlan_stripped = flags.data & ETH_FLAG_RXVLAN;
	i->lro = flags.data & ETH_FLAG_LRO;
}

/* The neighbours that do not answer and are routers to the far ends of this machine's streams. */
static void find_routers(struct host *h, const struct snapshot *s)
{
	const __u8 *before = NULL;
	struct place_route r;

	for (size_t i = 0, asked = 0; i < s->stream_count && h->places.silent_count && asked < ROUTES; i++) {
		const struct host_owner *o = s->streams[i].owner;
		const __u8 *far = o && o->outward ? snapshot_destination(&s->streams[i]) : s->streams[i].key.src;

		if (!o || !o->local || (before && !memcmp(far, before, 16)))
			continue;
		before = far;
		asked++;
		places_route(&r, far);
		for (size_t k = 0; r.has_gateway && k < h->places.silent_count; k++)
			h->places.silent[k].leads |= h->places.silent[k].interface == r.leaves_by &&
						     !memcmp(h->places.silent[k].address, r.gateway, 16);
	}
}

static void find_hints(struct host *h, const struct live *l, const struct snapshot *s)
{
	struct hint_interface interfaces[INTERFACES_MOST] = { 0 };
	struct hint_facts facts = {
		.snapshot = s, .places = &h->places, .qps = &h->qps, .book = &h->book, .marks = &h->marks,
		.devices = h->devices,
		.device_count = h->device_count, .interfaces = interfaces,
	};

	find_routers(h, s);
	for (size_t i = 0; i < l->interface_count; i++) {
		struct hint_interface *to = &interfaces[facts.interface_count];

		if (l->interface[i].gone)
			continue;
		*to = (struct hint_interface){ .name = l->interface[i].name, .index = l->interface[i].ifindex };
		ask_offloads(to);
		facts.interface_count++;
	}
	hints_make(&h->hints, &facts);
}

/* ---- what others call ---- */

struct host *host_open(const struct live *l)
{
	struct host *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->rdma = rdma_open();
	h->hidden = host_is_in_container();
	pairs_begin(&h->pair_writer, l);
	ask_around(h, l); /* counters move from here on */
	h->again = 0;
	return h;
}

void host_close(struct host *h)
{
	if (!h)
		return;
	pairs_end(&h->pair_writer);
	rdma_close(h->rdma);
	known_qps_free(&h->qps);
	places_free(&h->places);
	book_free(&h->book);
	hints_free(&h->hints);
	free(h);
}

void host_update(struct host *h, const struct live *l, struct snapshot *s)
{
	bool news = ask_around(h, l);

	find_owners(h, s);
	marks_update(&h->marks, s);
	if (news)
		find_hints(h, l, s);
	h->report = (struct host_report){
		.priorities = h->book.priorities, .priority_count = h->book.priority_count,
		.counters = h->book.moved, .counter_count = h->book.moved_count,
		.hints = (const char *const *)h->hints.lines, .hint_count = h->hints.count,
		.hints_of_streams = h->hints.of_streams, .hint_of_loss = h->hints.of_loss,
	};
	s->host = &h->report;
}

void host_add_calls(struct snapshot_stream *s, const struct host_calls *calls)
{
	struct host_owner *o = (struct host_owner *)s->owner; /* of find_owners(), whose memory it is: those without a QP are shared */

	o->calls = *calls;
}

size_t host_counters(const struct host *h, const struct host_counter **counters)
{
	*counters = h ? h->report.counters : NULL;
	return h ? h->report.counter_count : 0;
}

size_t host_hints(const struct host *h, const char *const **lines)
{
	*lines = h ? h->report.hints : NULL;
	return h ? h->report.hint_count : 0;
}
