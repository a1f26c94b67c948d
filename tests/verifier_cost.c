// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * verifier_cost: loads each program of bpf/monitor.bpf.c, with everything switched on that costs instructions, and prints a
 * line
 *     PROGRAM INSTRUCTIONS
 * for it: how many the verifier walked through, by its own count, which must stay below a million; -: the kernel does not
 * take the program, and on standard error is why. Exit status 1 if it takes none.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/abi.h"
#include "bpf/monitor.skel.h"
#include "userspace/maps.h"

#define LOG_STATISTICS 4 /* linux/bpf_verifier.h: BPF_LOG_STATS */

static char verifier_log[65536];

static void die(const char *what, const char *why)
{
	fprintf(stderr, "verifier_cost: %s: %s\n", what, why);
	exit(1);
}

static struct monitor_bpf *open_all(void)
{
	struct monitor_bpf *bpf = monitor_bpf__open();
	struct monitor_settings *settings;

	if (!bpf)
		die("BPF", strerror(errno));
	settings = (struct monitor_settings *)&bpf->rodata->settings;
	for (int i = 0; i < ROCE_UDP_PORTS; i++)
		settings->ports.port[i] = 1 + i;
	settings->icrc_every = 2;
	settings->max_streams = bpf_map__max_entries(bpf->maps.streams);
	maps_complete_settings(settings, 1);
	return bpf;
}

/* 0: it did not take it */
static unsigned long load(struct monitor_bpf *bpf, const char *name)
{
	const char *count;
	unsigned long instructions;
	struct bpf_program *program;

	bpf_object__for_each_program(program, bpf->obj)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), name));
	program = bpf_object__find_program_by_name(bpf->obj, name);
	verifier_log[0] = '\0';
	bpf_program__set_log_buf(program, verifier_log, sizeof(verifier_log));
	bpf_program__set_log_level(program, LOG_STATISTICS);
	if (monitor_bpf__load(bpf)) {
		fprintf(stderr, "verifier_cost: %s: %s: %s\n", name, strerror(errno), verifier_log);
		return 0;
	}
	count = strstr(verifier_log, "processed ");
	if (!count || sscanf(count, "processed %lu insns", &instructions) != 1)
		die(name, "the verifier did not say what it cost");
	return instructions;
}

static int silent(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level, (void)format, (void)arguments;
	return 0;
}

int main(void)
{
	struct monitor_bpf *all = open_all();
	struct bpf_program *program;
	int loaded = 0;

	libbpf_set_print(silent);
	bpf_object__for_each_program(program, all->obj) {
		struct monitor_bpf *bpf = open_all();
		unsigned long instructions = load(bpf, bpf_program__name(program));

		if (instructions)
			printf("%s %lu\n", bpf_program__name(program), instructions);
		else
			printf("%s -\n", bpf_program__name(program));
		loaded += instructions > 0;
		monitor_bpf__destroy(bpf);
	}
	monitor_bpf__destroy(all);
	return loaded ? 0 : 1;
}
