// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * live uc|rc|udp IFACE PAYLOAD QPS SECONDS CPU
 *                                           sends RoCE packets of UC or RC, or UDP, into IFACE as fast as the CPU can;
 *                                           prints { "packets", "seconds" } of what was handed to the interface
 * live unchanged IFACE PAYLOAD SECONDS CPU  the same with one packet, again and again, unchanged
 * live drop IFACE                           attaches an XDP program that drops everything, until a signal
 *
 * They trust their arguments, because only the bench calls them.
 */
#include <errno.h>
#include <net/if.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench/frame.h"
#include "bench/pin.h"
#include "lib/clock.h"
#include "roce/packet/base.h"

#include "bench/live.skel.h" /* needs the types above */

#define BATCH 64 /* packets that the kernel runs before it flushes them to the interface, as a driver's NAPI does */

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

static void nothing(__attribute__((unused)) int signal)
{
}

static struct timeval timeval(double seconds)
{
	return (struct timeval){ .tv_sec = seconds, .tv_usec = (seconds - (long)seconds) * 1e6 };
}

/*
 * One run, from the program's first packet to the alarm. There is only one, because a pause of some 30 ms separates two, in
 * which the kernel waits for RCU (net/bpf/test_run.c, bpf_prog_change_xdp()).
 */
static void run(struct live_bpf *bpf, const struct bpf_program *sender, const struct bench_frame *f, double seconds)
{
	LIBBPF_OPTS(bpf_test_run_opts, forever, .data_in = f->bytes, .data_size_in = f->length, .repeat = UINT32_MAX,
		    .batch_size = BATCH, .flags = BPF_F_TEST_XDP_LIVE_FRAMES);
	struct itimerval alarm = { .it_value = timeval(seconds) };
	struct sigaction action = { .sa_handler = nothing };
	__u64 end = now_ns() + seconds_to_ns(seconds);

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &alarm, NULL);
	if (!bpf_prog_test_run_opts(bpf_program__fd(sender), &forever) || errno != EINTR)
		die("BPF_PROG_TEST_RUN with live frames", errno);
	if (!bpf->bss->packets)
		die("live frames", ETIME);
	printf("{\"packets\": %llu, \"seconds\": %.6f}\n", bpf->bss->packets, (end - bpf->bss->first) / 1e9);
}

static void send_frames(enum frame_kind kind, const char *interface, __u32 payload, __u32 qps, double seconds)
{
	struct live_bpf *bpf = load(interface);
	static struct bench_frame f;

	frame_make(&f, kind, payload);
	frame_tables(&f, &bpf->bss->rewrite_tables);
	bpf->bss->icrc_offset = f.length - 4;
	bpf->bss->position.qps = qps;
	run(bpf, bpf->progs.send, &f, seconds);
	live_bpf__destroy(bpf);
}

static void send_unchanged(const char *interface, __u32 payload, double seconds)
{
	struct live_bpf *bpf = load(interface);
	static struct bench_frame f;

	frame_make(&f, FRAME_UC, payload);
	run(bpf, bpf->progs.unchanged, &f, seconds);
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
	static const char *const kinds[] = { [FRAME_UC] = "uc", [FRAME_RC] = "rc", [FRAME_PLAIN_UDP] = "udp" };
	bool unchanged = argc == 6 && !strcmp(argv[1], "unchanged");
	unsigned int kind = 0;

	while (kind < ROCE_ARRAY_SIZE(kinds) && (argc != 7 || strcmp(argv[1], kinds[kind])))
		kind++;
	if (kind < ROCE_ARRAY_SIZE(kinds) || unchanged)
		if (!pin(atoi(argv[argc - 1])))
			die("CPU", errno);
	if (kind < ROCE_ARRAY_SIZE(kinds))
		send_frames(kind, argv[2], atoi(argv[3]), atoi(argv[4]), atof(argv[5]));
	else if (unchanged)
		send_unchanged(argv[2], atoi(argv[3]), atof(argv[4]));
	else if (argc == 3 && !strcmp(argv[1], "drop"))
		drop_frames(argv[2]);
	else
		return fprintf(stderr, "usage: live uc|rc|udp IFACE PAYLOAD QPS SECONDS CPU | live unchanged IFACE PAYLOAD SECONDS CPU | "
				       "live drop IFACE\n"), 2;
	return 0;
}
