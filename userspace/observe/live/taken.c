// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>

#include "bpf/capture_abi.h"
#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/exit.h"
#include "roce/icrc/fold.h"
#include "userspace/observe/live/taken.h"
#include "bpf/capture.skel.h" /* needs struct fold_tables */

#define OLDEST_KERNEL "5.18"

TAKEN_VARIABLES_ARE(struct capture_bpf__bss);

static __u32 interface_of(const struct live *l, __u32 ifindex)
{
	__u32 i;

	for (i = 0; i < l->interface_count - 1; i++)
		if (l->interface[i].ifindex == ifindex)
			break;
	return i;
}

/* Inserts the VLAN tag where it was on the wire. */
static __u32 put_tag(__u8 *to, const __u8 *from, __u32 length, __u32 tag)
{
	__u32 big = __builtin_bswap32(tag), addresses = WIRE_ETH_LEN - 2;

	if (!tag || length < addresses) {
		memcpy(to, from, length);
		return length;
	}
	memcpy(to, from, addresses);
	memcpy(to + addresses, &big, WIRE_VLAN_LEN);
	memcpy(to + addresses + WIRE_VLAN_LEN, from + addresses, length - addresses);
	return length + WIRE_VLAN_LEN;
}

static int on_record(void *context, void *data, size_t size)
{
	const struct capture_record *r = data;
	struct taken *t = context;
	struct taken_packet p = {
		.record = r,
		.bytes = t->bytes,
		.length = r->origin.length,
		.time = r->origin.time + t->realtime_offset,
		.interface = interface_of(t->live, r->origin.ifindex),
	};

	if (size < sizeof(*r) || size - sizeof(*r) < r->captured || r->captured > FRAME_MAX)
		return 0;
	p.captured = put_tag(t->bytes, (const __u8 *)(r + 1), r->captured, r->origin.tag);
	t->see(t->context, &p);
	return now_ns() < t->until ? 0 : -ECANCELED;
}

static __u64 round_up(__u64 bytes)
{
	__u64 rounded = TAKEN_BUFFER_LEAST;

	while (rounded < bytes && rounded < TAKEN_BUFFER_MOST)
		rounded *= 2;
	return rounded;
}

static void set_entries(const struct taken *t, const char *map, __u32 entries)
{
	bpf_map__set_max_entries(bpf_object__find_map_by_name(t->object, map), entries);
}

static void set(struct taken *t, const struct taken_options *o, struct capture_settings *c)
{
	*c = o->capture;
	if (c->before > RECENT_HEADERS)
		c->before = RECENT_HEADERS;
	if (!c->snaplen || c->snaplen > FRAME_MAX)
		c->snaplen = FRAME_MAX;
	if (!c->limit)
		c->limit = UINT64_MAX;
	set_entries(t, "taken", round_up(o->buffer ?: TAKEN_BUFFER));
	set_entries(t, "recents", t->live->options->settings.max_streams);
	set_entries(t, "headers", c->before ? t->live->options->settings.max_streams : 1);
}

/* The programs of bpf/capture.bpf.c. */
static bool open_programs(struct taken *t, struct taken_programs *p)
{
	t->bpf = capture_bpf__open();
	if (!t->bpf) {
		live_say_refused(errno, OLDEST_KERNEL);
		return false;
	}
	*p = (struct taken_programs){
		.live = { .object = t->bpf->obj,
			  .settings = (struct monitor_settings *)&t->bpf->rodata->settings,
			  .tables = (struct fold_tables *)&t->bpf->rodata->fold_tables,
			  .frags = "capture_frags", .decap = "capture_decap", .egress = "capture_egress" },
		.capture = (struct capture_settings *)&t->bpf->rodata->capture,
	};
	return true;
}

int taken_begin(struct taken *t, struct live *l, const struct taken_options *o, taken_see *see, void *context)
{
	struct taken_programs programs;
	int status;

	*t = (struct taken){ .live = l, .see = see, .context = context };
	if (o->programs)
		programs = *o->programs;
	else if (!open_programs(t, &programs))
		return EXIT_COULD_NOT;
	t->object = programs.live.object;
	set(t, o, programs.capture);
	t->realtime_offset = realtime_offset_ns();
	status = live_begin(l, &programs.live);
	if (status)
		return status;
	t->ring = ring_buffer__new(live_map(l, "taken"), on_record, t, NULL);
	if (t->ring)
		return EXIT_RAN;
	fprintf(stderr, "rocescope: the buffer of packets cannot be mapped: %s%s\n", cause(errno).text,
		errno == ENOMEM && o->buffer >= TAKEN_BUFFER ? " (a smaller --buffer may do)" : "");
	return EXIT_COULD_NOT;
}

static bool read_until(struct taken *t, __u64 until)
{
	int result;

	t->until = until;
	result = t->ring ? ring_buffer__consume(t->ring) : 0;
	if (result == -ECANCELED)
		return true;
	if (result < 0)
		fprintf(stderr, "rocescope: the buffer of packets cannot be read: %s\n", cause(-result).text);
	return result >= 0;
}

bool taken_read(struct taken *t)
{
	return read_until(t, now_ns() + TAKEN_TURN);
}

bool taken_read_rest(struct taken *t)
{
	return read_until(t, UINT64_MAX);
}

/* The program's variables. Read by a system call, because only a skeleton's own loading maps them. */
static struct taken_variables variables(const struct taken *t)
{
	struct taken_variables found = { 0 };
	__u32 zero = 0;

	bpf_map_lookup_elem(live_map(t->live, ".bss"), &zero, &found);
	return found;
}

__u64 taken_suppressed(const struct taken *t)
{
	return variables(t).suppressed;
}

__u64 taken_lost(const struct taken *t)
{
	return variables(t).lost;
}

struct capture_interface taken_interface(const struct taken *t, __u32 interface)
{
	__u32 index = t->live->interface[interface].ifindex % CAPTURE_INTERFACES, zero = 0;
	int cpus = libbpf_num_possible_cpus();
	struct capture_cpu *each = cpus > 0 ? calloc(cpus, sizeof(*each)) : NULL;
	struct capture_interface sum = { 0 };

	if (each && !bpf_map_lookup_elem(live_map(t->live, "captures"), &zero, each))
		for (int cpu = 0; cpu < cpus; cpu++) {
			sum.frames += each[cpu].interface[index].frames;
			sum.lost += each[cpu].interface[index].lost;
		}
	free(each);
	return sum;
}

void taken_end(struct taken *t)
{
	ring_buffer__free(t->ring);
	capture_bpf__destroy(t->bpf);
}
