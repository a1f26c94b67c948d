// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bpf/bpf.h>

#include "bpf/receive_abi.h"
#include "lib/cause.h"
#include "lib/complain.h"
#include "roce/icrc/fold.h"
#include "userspace/traffic/receive/programs.h"
#include "bpf/receive.skel.h" /* needs struct fold_tables */

#define OLDEST_KERNEL "5.18"

TAKEN_VARIABLES_ARE(struct receive_bpf__bss);

static const char *const remade[] = { "receive_works", "receive_showing", "receive_shown", NULL };
/* Senders know keys and addresses. */
static const char *const needed[] = { "memory", "regions", "qps", "rings", "receive_cpus", "receive_setup", "generations", NULL };

const struct program_kind receive_kind = {
	.command = "receive", .alone = "receive_", .less = "--memory or --max-streams", .remade = remade, .needed = needed,
};

static void set_sizes(struct receive_bpf *bpf, const struct receive_settings *s)
{
	int cpus = libbpf_num_possible_cpus();

	bpf_map__set_max_entries(bpf->maps.memory, s->memory / RECEIVE_CHUNK);
	bpf_map__set_max_entries(bpf->maps.qps, s->qps);
	bpf_map__set_max_entries(bpf->maps.rings, cpus);
	bpf_map__set_max_entries(bpf->maps.receive_cpus, cpus);
	bpf_map__set_max_entries(bpf->maps.generations, (s->memory + s->block - 1) / s->block);
}

/* Maps of bpf/capture.h, which the program without events does not use. */
static void leave_out_events(struct receive_bpf *bpf)
{
	bpf_map__set_autocreate(bpf->maps.captures, false);
	bpf_map__set_autocreate(bpf->maps.recents, false);
	bpf_map__set_autocreate(bpf->maps.headers, false);
	bpf_map__set_autocreate(bpf->maps.focus, false);
	bpf_map__set_autocreate(bpf->maps.taken, false);
}

struct receive_bpf *receive_programs_open(const struct receive_setup *s, bool events, struct taken_programs *to)
{
	struct receive_bpf *bpf = receive_bpf__open();

	if (!bpf) {
		live_say_refused(errno, OLDEST_KERNEL);
		return NULL;
	}
	memcpy((void *)&bpf->rodata->receive, &s->settings, sizeof(s->settings));
	set_sizes(bpf, &s->settings);
	if (!events)
		leave_out_events(bpf);
	*to = (struct taken_programs){
		.live = { .object = bpf->obj,
			  .settings = (struct monitor_settings *)&bpf->rodata->settings,
			  .tables = (struct fold_tables *)&bpf->rodata->fold_tables,
			  .frags = events ? "receive_events" : "receive_frags" },
		.capture = (struct capture_settings *)&bpf->rodata->capture,
	};
	return bpf;
}

void receive_programs_close(struct receive_bpf *bpf)
{
	receive_bpf__destroy(bpf);
}

static bool say(const char *what, int error)
{
	return complain("receive: the kernel does not take %s: %s", what, cause(error).text);
}

bool receive_programs_fill(const struct receive_bpf *bpf, const struct receive_setup *s)
{
	__u32 zero = 0;

	if (bpf_map_update_elem(bpf_map__fd(bpf->maps.receive_setup), &zero, &s->settings, BPF_ANY))
		return say("the settings", errno);
	for (__u32 i = 0; i < s->regions; i++)
		if (bpf_map_update_elem(bpf_map__fd(bpf->maps.regions), &s->region[i].rkey, &s->region[i], BPF_ANY))
			return say("a region", errno);
	return true;
}

bool receive_programs_map(const struct receive_bpf *bpf, struct receive_maps *to)
{
	int error = receive_maps_of_object(to, bpf->obj);

	if (error)
		complain("receive: the map %s cannot be mapped: %s", to->wrong, cause(-error).text);
	return !error;
}
