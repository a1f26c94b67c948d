// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* BPF live frames: the kernel runs bpf/send.bpf.c once for each packet, and the driver takes them in batches. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/clock.h"
#include "send/outlet.h"

#include "bpf/send.skel.h" /* knows struct send_memory */

#define BATCH 64	       /* packets between two hand-overs to the driver, as its NAPI does */
#define PACED_RUNS (1 << 13)   /* looks at the clock a system call: about a millisecond */
#define FEW 512		       /* packets that are worth a system call */
#define NAP_NS (50 * NSEC_PER_USEC)
#define WAKE_NS NSEC_PER_MSEC  /* before a departure: the clock is looked at from then on */

static bool refuse(struct outlet *o, const char *why)
{
	snprintf(o->said, sizeof(o->said), "%s", why);
	return false;
}

/* One run with nothing to send: 0, or errno. What the kernel refuses, it refuses now. */
static int try_run(struct send_bpf *bpf)
{
	static __u8 frame[4096];
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = bpf->rodata->frame_bytes, .repeat = 1,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

	return bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.send), &run) ? errno : 0;
}

static bool load(struct outlet *o, struct send_bpf *bpf)
{
	int error;

	bpf->rodata->interface = if_nametoindex(o->plan->interface);
	bpf->rodata->frame_bytes = o->frame_most < SLOT_HEADERS ? SLOT_HEADERS : o->frame_most;
	bpf->rodata->paced = o->plan->rate.per_second > 0;
	error = -send_bpf__load(bpf);
	if (error == EPERM)
		return refuse(o, "no permission to load BPF programs (run as root)");
	if (error)
		return refuse(o, "the kernel does not take the program (it needs Linux 5.18)");
	error = try_run(bpf);
	if (error == EINVAL && o->frame_most > 3000)
		return refuse(o, "frames of that length do not fit into one page of the kernel's test run");
	if (error)
		return refuse(o, "the kernel has no live frames (Linux 5.18 or newer)");
	return true;
}

static bool live_open(struct outlet *o)
{
	libbpf_print_fn_t print;
	struct send_bpf *bpf;
	bool good;

	if (o->frame_most > 4000)
		return refuse(o, "frames are longer than a page");
	print = libbpf_set_print(NULL);
	bpf = send_bpf__open();
	good = bpf ? load(o, bpf) : refuse(o, "no memory for the BPF program");
	libbpf_set_print(print);
	if (!good) {
		send_bpf__destroy(bpf);
		return false;
	}
	o->own = bpf;
	o->memory = &bpf->bss->memory;
	return true;
}

static void nap(uint64_t ns)
{
	nanosleep(&(struct timespec){ .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC }, NULL);
}

/* How often the program is to run: once a packet, or as often as it takes to look at the clock for a while. */
static uint32_t runs(struct send_memory *m, bool paced, uint64_t ready)
{
	uint64_t now, at;

	if (!paced)
		return ready;
	now = now_ns();
	if (!m->start)
		m->start = now + WAKE_NS;
	at = m->start + m->ring[m->consumed & (RING_SLOTS - 1)].departure;
	if (at <= now + WAKE_NS)
		return PACED_RUNS;
	nap(at - now - WAKE_NS < 10 * NSEC_PER_MSEC ? at - now - WAKE_NS : 10 * NSEC_PER_MSEC);
	return 0;
}

static bool live_run(struct outlet *o)
{
	struct send_bpf *bpf = o->own;
	struct send_memory *m = o->memory;
	bool paced = bpf->rodata->paced;
	uint64_t ready = __atomic_load_n(&m->produced, __ATOMIC_ACQUIRE) - m->consumed;
	static __u8 frame[4096];
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = bpf->rodata->frame_bytes,
		    .batch_size = paced ? 1 : BATCH, .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

	if (!ready || (!paced && ready < FEW && !m->ended))
		nap(NAP_NS);
	run.repeat = ready ? runs(m, paced, ready) : 0;
	if (run.repeat && bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.send), &run) && errno != EINTR) {
		snprintf(o->said, sizeof(o->said), "live frames into %s: %s", o->plan->interface, strerror(errno));
		return false;
	}
	o->refused = bpf->bss->refused;
	return true;
}

static bool live_close(struct outlet *o)
{
	send_bpf__destroy(o->own);
	return true;
}

const struct outlet_kind outlet_live = {
	.name = "live", .words = "live frames (BPF)", .open = live_open, .run = live_run, .close = live_close,
};
