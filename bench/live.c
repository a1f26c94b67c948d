// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * live send IFACE PAYLOAD QPS SECONDS CPU   sends RoCE packets into IFACE as fast as the CPU can; prints
 *                                           { "packets", "seconds" } of what was handed to the interface
 * live drop IFACE                           attaches an XDP program that drops everything, until it is told to stop
 *
 * Both are the bench's own: they trust their arguments.
 */
#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench/frame.h"
#include "lib/clock.h"

#include "bench/live.skel.h" /* knows the types above */

#define BURST (1 << 18) /* packets a system call: tens of milliseconds */
#define BATCH 64	/* packets the kernel runs before it flushes them to the interface, as a driver's NAPI does */

static void die(const char *what, int error)
{
	fprintf(stderr, "bench: %s: %s\n", what, error == EPERM ? "no permission: run as root" : strerror(error));
	exit(1);
}

static struct live_bpf *load(const char *interface)
{
	struct live_bpf *bpf = live_bpf__open();
	unsigned int index = if_nametoindex(interface);

	if (!index)
		die(interface, errno);
	if (!bpf)
		die("BPF", errno);
	bpf->rodata->wire = index;
	if (live_bpf__load(bpf))
		die("BPF", errno);
	return bpf;
}

static void run(struct live_bpf *bpf, const struct frame *f, double seconds)
{
	LIBBPF_OPTS(bpf_test_run_opts, burst, .data_in = f->bytes, .data_size_in = f->length, .repeat = BURST,
		    .batch_size = BATCH, .flags = BPF_F_TEST_XDP_LIVE_FRAMES);
	int program = bpf_program__fd(bpf->progs.send);
	__u64 start = now_ns(), end = start + seconds_to_ns(seconds), packets = 0;

	while (now_ns() < end) {
		if (bpf_prog_test_run_opts(program, &burst))
			die("BPF_PROG_TEST_RUN with live frames", errno);
		packets += BURST;
	}
	printf("{\"packets\": %llu, \"seconds\": %.6f}\n", packets, (now_ns() - start) / 1e9);
}

static void send_frames(const char *interface, __u32 payload, __u32 qps, double seconds, int cpu)
{
	struct live_bpf *bpf = load(interface);
	static struct frame f;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("CPU", errno);
	frame_make(&f, payload);
	frame_tables(&f, &bpf->bss->rewrite_tables);
	bpf->bss->icrc_offset = f.length - 4;
	bpf->bss->position.qps = qps;
	run(bpf, &f, seconds);
	live_bpf__destroy(bpf);
}

static void drop_frames(const char *interface)
{
	struct live_bpf *bpf = load(interface);
	struct bpf_link *link;
	sigset_t stop;
	int signal;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	link = bpf_program__attach_xdp(bpf->progs.drop, if_nametoindex(interface));
	if (!link)
		die(interface, errno);
	fprintf(stderr, "bench: watching %s\n", interface);
	sigwait(&stop, &signal);
	bpf_link__destroy(link);
	live_bpf__destroy(bpf);
}

int main(int argc, char **argv)
{
	if (argc == 7 && !strcmp(argv[1], "send"))
		send_frames(argv[2], atoi(argv[3]), atoi(argv[4]), atof(argv[5]), atoi(argv[6]));
	else if (argc == 3 && !strcmp(argv[1], "drop"))
		drop_frames(argv[2]);
	else
		return fprintf(stderr, "usage: live send IFACE PAYLOAD QPS SECONDS CPU | live drop IFACE\n"), 2;
	return 0;
}
