// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * verifier_cost: loads each program of monitor.bpf.c, monitor_old.bpf.c, capture.bpf.c, receive.bpf.c and verbs.bpf.c of bpf/, with
 * every feature that costs instructions, and prints a line for each:
 *     PROGRAM INSTRUCTIONS
 * INSTRUCTIONS is the verifier's own count of what it walked through, which must stay below a million. -: the kernel refused
 * the program; the reason is on standard error. Exit status 1 if it refused all of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/capture_abi.h"
#include "bpf/receive_abi.h"
#include "roce/icrc/fold.h"
#include "userspace/observe/live/monitor_programs.h"
#include "userspace/observe/live/maps.h"
#include "bpf/capture.skel.h" /* needs struct fold_tables */
#include "bpf/receive.skel.h" /* needs struct fold_tables */
#include "bpf/verbs.skel.h"

#define LOG_STATISTICS 4 /* linux/bpf_verifier.h: BPF_LOG_STATS */

static char verifier_log[65536];

static __attribute__((noreturn)) void die(const char *what, const char *why)
{
	fprintf(stderr, "verifier_cost: %s: %s\n", what, why);
	exit(1);
}

/* Skeletons have no common type. settings NULL: it has none. */
struct cost_opened {
	struct bpf_object *object;
	struct monitor_settings *settings;
};

static struct cost_opened open_counting(bool loops)
{
	struct live_programs p;

	if (!monitor_programs_open_object(loops, &p))
		die("BPF", strerror(errno));
	return (struct cost_opened){ p.object, p.settings };
}

static struct cost_opened open_monitor(void)
{
	return open_counting(true);
}

static struct cost_opened open_monitor_old(void)
{
	return open_counting(false);
}

static struct cost_opened open_capture(void)
{
	struct capture_bpf *bpf = capture_bpf__open();
	struct capture_settings *capture;

	if (!bpf)
		die("BPF", strerror(errno));
	capture = (struct capture_settings *)&bpf->rodata->capture;
	*capture = (struct capture_settings){ .kinds = -1, .before = RECENT_HEADERS - 1, .after = 5, .snaplen = 1000,
					      .limit = 10, .sample = 10 };
	return (struct cost_opened){ bpf->obj, (struct monitor_settings *)&bpf->rodata->settings };
}

static struct cost_opened open_receive(void)
{
	struct receive_bpf *bpf = receive_bpf__open();
	struct capture_settings *capture;
	struct receive_settings *receive;

	if (!bpf)
		die("BPF", strerror(errno));
	capture = (struct capture_settings *)&bpf->rodata->capture;
	*capture = (struct capture_settings){ .kinds = -1, .snaplen = ROCE_WINDOW_BYTES, .limit = 10 };
	receive = (struct receive_settings *)&bpf->rodata->receive;
	*receive = (struct receive_settings){ .qps = 1, .memory = RECEIVE_CHUNK, .block = RECEIVE_BLOCK_LEAST, .notify = 1 };
	return (struct cost_opened){ bpf->obj, (struct monitor_settings *)&bpf->rodata->settings };
}

static struct cost_opened open_verbs(void)
{
	struct verbs_bpf *bpf = verbs_bpf__open();

	if (!bpf)
		die("BPF", strerror(errno));
	return (struct cost_opened){ .object = bpf->obj };
}

static struct bpf_object *open_all(struct cost_opened (*open)(void))
{
	struct cost_opened bpf = open();

	if (!bpf.settings)
		return bpf.object;
	for (int i = 0; i < ROCE_UDP_PORTS; i++)
		bpf.settings->ports.port[i] = 1 + i;
	bpf.settings->icrc_every = 2;
	bpf.settings->dialogues = 1;
	bpf.settings->once = 1;
	bpf.settings->max_streams = bpf_map__max_entries(bpf_object__find_map_by_name(bpf.object, "streams"));
	maps_complete_settings(bpf.settings, 1);
	return bpf.object;
}

/* 0: the kernel refused it */
static unsigned long load(struct bpf_object *object, const char *name)
{
	const char *count;
	unsigned long instructions;
	struct bpf_program *program;

	bpf_object__for_each_program(program, object)
		bpf_program__set_autoload(program, !strcmp(bpf_program__name(program), name));
	program = bpf_object__find_program_by_name(object, name);
	verifier_log[0] = '\0';
	bpf_program__set_log_buf(program, verifier_log, sizeof(verifier_log));
	bpf_program__set_log_level(program, LOG_STATISTICS);
	if (bpf_object__load(object)) {
		fprintf(stderr, "verifier_cost: %s: %s: %s\n", name, strerror(errno), verifier_log);
		return 0;
	}
	count = strstr(verifier_log, "processed ");
	if (!count || sscanf(count, "processed %lu insns", &instructions) != 1)
		die(name, "the verifier did not say what it cost");
	return instructions;
}

/* Returns how many were loaded. */
static int load_each(struct cost_opened (*open)(void))
{
	struct bpf_object *all = open_all(open);
	struct bpf_program *program;
	int loaded = 0;

	bpf_object__for_each_program(program, all) {
		struct bpf_object *one = open_all(open);
		unsigned long instructions = load(one, bpf_program__name(program));

		if (instructions)
			printf("%s %lu\n", bpf_program__name(program), instructions);
		else
			printf("%s -\n", bpf_program__name(program));
		loaded += instructions > 0;
		bpf_object__close(one);
	}
	bpf_object__close(all);
	return loaded;
}

static int silent(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level, (void)format, (void)arguments;
	return 0;
}

int main(void)
{
	int loaded;

	libbpf_set_print(silent);
	loaded = load_each(open_monitor) + load_each(open_monitor_old) + load_each(open_capture) + load_each(open_receive) +
		 load_each(open_verbs);
	return loaded ? 0 : 1;
}
