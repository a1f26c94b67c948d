// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* BPF live frames: the kernel runs bpf/send.bpf.c once for each packet, and the driver takes them in batches. */
#include <errno.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/cause.h"
#include "lib/clock.h"
#include "lib/netdev.h"
#include "userspace/observe/live/kernel.h"
#include "userspace/traffic/send/outlet.h"

#include "bpf/send.skel.h" /* needs struct send_memory */

#define BATCH 64	       /* packets between two flushes to the driver, as NAPI does */
#define POLL_NS NSEC_PER_MSEC  /* how often user space polls the kernel's progress */
#define ASK_NS (100 * NSEC_PER_MSEC) /* how often it checks that the interface still exists */
#define KICK SIGUSR1	       /* ends a run */

/*
 * Beginning and ending a run changes the kernel's XDP dispatcher, which waits for RCU: some 30 ms (net/bpf/test_run.c,
 * bpf_prog_change_xdp()). So there is only one run. It has a thread of its own and keeps running while there are no packets.
 */
struct outlet_live {
	struct send_bpf *bpf;
	pthread_t thread;
	bool started;
	cpu_set_t cpus;	/* of the caller, before the run */
	atomic_bool stop, ended;
	atomic_int error;
	atomic_int cpu;	/* of the thread; -1: none yet */
	uint64_t asked; /* ns: the last check of the interface */
};

/* Makes one run with nothing to send: whatever the kernel refuses is known now. Returns 0 or errno. */
static int try_run(struct send_bpf *bpf)
{
	static __u8 frame[4096];
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = bpf->rodata->frame_bytes, .repeat = 1,
		    .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

	return bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.send), &run) ? errno : 0;
}

static bool load(struct outlet *o, struct send_bpf *bpf)
{
	char why[KERNEL_WHY];
	int error;

	bpf->rodata->interface = if_nametoindex(o->plan->interface);
	bpf->rodata->frame_bytes = o->frame_most < SLOT_HEADERS ? SLOT_HEADERS : o->frame_most;
	bpf->rodata->paced = o->plan->rate.per_second > 0;
	error = -send_bpf__load(bpf);
	if (error)
		return outlet_refuse(o, "%s", kernel_refused(why, error, "5.18"));
	error = try_run(bpf);
	if (error == EINVAL && o->frame_most > 3000)
		return outlet_refuse(o, "frames of that length do not fit into one page of the kernel's test run");
	if (error)
		return outlet_refuse(o, "%s",
				     error == EINVAL ? "the kernel has no live frames (Linux 5.18 or newer)" : cause(error).text);
	bpf->bss->running = false; /* the real run has not begun */
	return true;
}

/*
 * Pins the thread to its present CPU, and the caller, with threads it starts later, to the others. The scheduler cannot move a
 * thread during a run, and would leave the thread that makes the packets on the same CPU for seconds.
 */
static void keep_to_cpu(struct outlet_live *l)
{
	int cpu = sched_getcpu();
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (CPU_COUNT(&l->cpus) > 1 && CPU_ISSET(cpu, &l->cpus) && !sched_setaffinity(0, sizeof(one), &one))
		atomic_store(&l->cpu, cpu);
}

static void keep_off_cpu(const struct outlet_live *l)
{
	int cpu = atomic_load(&l->cpu);
	cpu_set_t others = l->cpus;

	if (cpu < 0)
		return;
	CPU_CLR(cpu, &others);
	sched_setaffinity(0, sizeof(others), &others);
}

static void *keep_running(void *own)
{
	static __u8 frame[4096];
	struct outlet_live *l = own;
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = l->bpf->rodata->frame_bytes, .repeat = UINT32_MAX,
		    .batch_size = l->bpf->rodata->paced ? 1 : BATCH, .flags = BPF_F_TEST_XDP_LIVE_FRAMES);

	keep_to_cpu(l);
	while (!atomic_load(&l->stop) && !atomic_load(&l->error))
		if (bpf_prog_test_run_opts(bpf_program__fd(l->bpf->progs.send), &run) && errno != EINTR)
			atomic_store(&l->error, errno);
	atomic_store(&l->ended, true);
	return NULL;
}

static void nothing(__attribute__((unused)) int signal)
{
}

/* Only this thread receives KICK. */
static bool start_thread(struct outlet_live *l)
{
	struct sigaction kick = { .sa_handler = nothing };
	sigset_t others, old;

	if (sched_getaffinity(0, sizeof(l->cpus), &l->cpus))
		CPU_ZERO(&l->cpus);
	atomic_store(&l->cpu, -1);
	sigaction(KICK, &kick, NULL);
	sigfillset(&others);
	sigdelset(&others, KICK);
	pthread_sigmask(SIG_BLOCK, &others, &old);
	l->started = !pthread_create(&l->thread, NULL, keep_running, l);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return l->started;
}

/* A signal between two system calls has no effect, so it is repeated. */
static void stop_thread(struct outlet_live *l)
{
	atomic_store(&l->stop, true);
	while (!atomic_load(&l->ended)) {
		pthread_kill(l->thread, KICK);
		sleep_until_ns(now_ns() + POLL_NS);
	}
	pthread_join(l->thread, NULL);
}

/* false: the kernel refused the run. */
static bool wait_running(const struct outlet_live *l)
{
	while (!__atomic_load_n(&l->bpf->bss->running, __ATOMIC_ACQUIRE) && !atomic_load(&l->error))
		sleep_until_ns(now_ns() + POLL_NS);
	keep_off_cpu(l);
	return !atomic_load(&l->error);
}

static void release(struct outlet *o)
{
	struct outlet_live *l = o->own;

	if (l->started) {
		stop_thread(l);
		if (atomic_load(&l->cpu) >= 0)
			sched_setaffinity(0, sizeof(l->cpus), &l->cpus);
	}
	send_bpf__destroy(l->bpf);
	free(l);
}

static bool prepare(struct outlet *o)
{
	struct outlet_live *l = o->own;

	l->bpf = send_bpf__open();
	if (!l->bpf)
		return outlet_refuse(o, "%s", cause(errno).text);
	if (!load(o, l->bpf))
		return false;
	o->memory = &l->bpf->bss->memory;
	if (!start_thread(l))
		return outlet_refuse(o, "no memory for a thread");
	return wait_running(l) || outlet_refuse(o, "%s", cause_of_interface(atomic_load(&l->error)).text);
}

static bool live_open(struct outlet *o)
{
	libbpf_print_fn_t print;
	bool good;

	if (o->frame_most > 4000)
		return outlet_refuse(o, "frames are longer than a page");
	o->own = calloc(1, sizeof(struct outlet_live));
	if (!o->own)
		return outlet_refuse(o, "no memory");
	print = libbpf_set_print(NULL);
	good = prepare(o);
	libbpf_set_print(print);
	if (!good)
		release(o);
	return good;
}

/* The kernel does not report that the interface it redirects to no longer exists. */
static bool is_ready(struct outlet *o)
{
	struct outlet_live *l = o->own;
	uint64_t now = now_ns();
	unsigned int ifindex;

	if (now - l->asked < ASK_NS)
		return true;
	l->asked = now;
	ifindex = netdev_ready(o->plan->interface, o->frame_most, o->plan->tagged, o->reason, sizeof(o->reason));
	if (ifindex && ifindex != l->bpf->rodata->interface)
		snprintf(o->reason, sizeof(o->reason), "%s: is another interface now", o->plan->interface);
	return ifindex == l->bpf->rodata->interface;
}

/* The packets leave without help; this only waits and checks. */
static bool live_run(struct outlet *o)
{
	struct outlet_live *l = o->own;
	int error = atomic_load(&l->error);

	if (!is_ready(o))
		return false;
	if (error)
		return outlet_refuse(o, "live frames into %s: %s", o->plan->interface, cause_of_interface(error).text);
	sleep_until_ns(now_ns() + POLL_NS);
	o->refused = l->bpf->bss->refused;
	return true;
}

static bool live_close(struct outlet *o)
{
	struct outlet_live *l = o->own;

	o->refused = l->bpf->bss->refused;
	release(o);
	return true;
}

const struct outlet_kind outlet_live = {
	.name = "live", .words = "live frames (BPF)", .open = live_open, .run = live_run, .close = live_close,
};
