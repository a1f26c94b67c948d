/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads bpf/receive.bpf.c for test runs, and maps its memory. Ends the program if it cannot. */
#ifndef TESTS_RECEIVE_RUN_H
#define TESTS_RECEIVE_RUN_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>

#include "bpf/capture_abi.h"
#include "bpf/receive_abi.h"
#include "roce/icrc/fold.h"
#include "userspace/observe/live/maps.h"
#include "bpf/receive.skel.h" /* needs struct fold_tables */

#define RUN_STREAMS 4096
#define RUN_NEVER 3600	/* s after which a stream counts as idle */
#define RUN_UNTOUCHED 0xa5 /* what the memory is filled with */

struct test_receive_run {
	struct receive_bpf *bpf;
	int program;
	__u8 *memory; /* `behind` chunks larger than the program knows of */
	size_t bytes;
	struct receive_qp *qps;
	struct receive_ring *rings; /* by CPU */
	struct receive_cpu *cpus;
	__u64 *generations;
};

static inline void run_die(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, strerror(error));
	exit(2);
}

static inline void *run_map(struct bpf_map *map)
{
	size_t bytes = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	if (at == MAP_FAILED)
		run_die(bpf_map__name(map), errno);
	return at;
}

/* behind: chunks of memory that the program must not touch. name: of the program. */
static inline void run_load(struct test_receive_run *r, const char *name, const struct receive_settings *s, __u32 behind)
{
	struct bpf_program *program;
	struct receive_bpf *bpf = receive_bpf__open();
	struct monitor_settings *settings;

	if (!bpf)
		run_die("BPF", errno);
	r->bpf = bpf;
	bpf_object__for_each_program(program, bpf->obj)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), name));
	settings = (struct monitor_settings *)&bpf->rodata->settings;
	settings->icrc_every = 1;
	settings->max_streams = RUN_STREAMS;
	maps_complete_settings(settings, RUN_NEVER);
	*(struct receive_settings *)&bpf->rodata->receive = *s;
	*(struct capture_settings *)&bpf->rodata->capture =
		(struct capture_settings){ .kinds = -1, .snaplen = ROCE_WINDOW_BYTES, .limit = 10 };
	fold_make_tables((struct fold_tables *)&bpf->rodata->fold_tables);
	bpf_map__set_max_entries(bpf->maps.buckets, settings->bucket_mask + 1);
	bpf_map__set_max_entries(bpf->maps.streams, RUN_STREAMS);
	bpf_map__set_max_entries(bpf->maps.recents, RUN_STREAMS);
	bpf_map__set_max_entries(bpf->maps.headers, 1);
	bpf_map__set_max_entries(bpf->maps.totals, TOTALS_ENTRIES_FOR(libbpf_num_possible_cpus()));
	r->bytes = s->memory + (size_t)behind * RECEIVE_CHUNK;
	bpf_map__set_max_entries(bpf->maps.memory, r->bytes / RECEIVE_CHUNK);
	bpf_map__set_max_entries(bpf->maps.qps, s->qps);
	bpf_map__set_max_entries(bpf->maps.rings, libbpf_num_possible_cpus());
	bpf_map__set_max_entries(bpf->maps.receive_cpus, libbpf_num_possible_cpus());
	bpf_map__set_max_entries(bpf->maps.generations, s->memory / s->block);
	if (receive_bpf__load(bpf))
		run_die(name, errno);
	r->program = bpf_program__fd(bpf_object__find_program_by_name(bpf->obj, name));
	r->memory = run_map(bpf->maps.memory);
	r->qps = run_map(bpf->maps.qps);
	r->rings = run_map(bpf->maps.rings);
	r->cpus = run_map(bpf->maps.receive_cpus);
	r->generations = run_map(bpf->maps.generations);
	memset(r->memory, RUN_UNTOUCHED, r->bytes);
}

static inline void run_region(struct test_receive_run *r, const struct roce_region *region)
{
	if (bpf_map_update_elem(bpf_map__fd(r->bpf->maps.regions), &region->rkey, region, BPF_NOEXIST))
		run_die("region", errno);
}

#endif
