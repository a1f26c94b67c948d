// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/verbs.skel.h"
#include "lib/clock.h"
#include "userspace/observe/verbs/cost.h"
#include "userspace/observe/verbs/probes.h"
#include "userspace/observe/verbs/search.h"

#define MEASURE_EVERY 8 /* updates */
#define ROUNDS 5
#define CALLS 200

/* Where traps are measured. It begins as most functions of providers do, with a push; a poll that finds nothing returns 0. */
int verbs_cost_target(const void *cq, int room, void *wc);
#ifdef __x86_64__
__asm__(".pushsection .text\n"
	".globl verbs_cost_target\n"
	".hidden verbs_cost_target\n"
	".type verbs_cost_target, @function\n"
	"verbs_cost_target:\n"
	"	push %rbp\n"
	"	pop %rbp\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	".size verbs_cost_target, . - verbs_cost_target\n"
	".popsection\n");
#else
__attribute__((noinline)) int verbs_cost_target(const void *cq, int room, void *wc)
{
	__asm__ volatile("" : : "r"(cq), "r"(room), "r"(wc));
	return 0;
}
#endif

/* ns a call: the fastest round. */
static double time_calls(void)
{
	__u64 least = ~0ull;
	static __u64 cq;

	for (int round = 0; round < ROUNDS; round++) {
		__u64 before = now_ns(), took;

		for (int i = 0; i < CALLS; i++)
			verbs_cost_target(&cq, 1, NULL);
		took = now_ns() - before;
		if (took < least)
			least = took;
	}
	return (double)least / CALLS;
}

struct target {
	char path[SEARCH_PATH];
	__u64 offset;
};

static bool find_target(struct target *t)
{
	__u64 address = (uintptr_t)verbs_cost_target;
	const struct search_code *code;
	struct search s;
	bool found;

	search_code(getpid(), &s);
	code = search_where(&s, address);
	found = code;
	if (code) {
		search_path(getpid(), code, t->path);
		t->offset = address - code->start + code->offset;
	}
	search_free(&s);
	return found;
}

/* ns a call with these probes; negative: they are refused. */
static double time_probed(const struct verbs_bpf *b, bool multi, const struct target *t, enum verbs_at at, bool returned)
{
	struct probe_set *set = calloc(1, sizeof(*set));
	double ns = -1;

	if (!set)
		return -1;
	set->entry[0] = set->returned[0] = (struct probe_place){ t->offset, at };
	set->entries = 1;
	set->returns = returned;
	if (!probes_attach(set, b, multi, t->path, getpid())) {
		ns = time_calls();
		probes_detach(&set, 1);
	}
	free(set);
	return ns;
}

/* What the measurement has left among the CQs. */
static void forget_own(const struct verbs_bpf *b)
{
	int fd = bpf_map__fd(b->maps.verbs_cqs);
	struct verbs_queue_key key, next;
	bool more = !bpf_map_get_next_key(fd, NULL, &key);

	while (more) {
		more = !bpf_map_get_next_key(fd, &key, &next);
		if (key.pid == (__u32)getpid() && !bpf_map_delete_elem(fd, &key))
			__sync_fetch_and_sub(&b->bss->verbs_strangers_all, 1);
		key = next;
	}
}

static void read_counts(const struct verbs_bpf *b, __u64 counts[VERBS_COSTS])
{
	int cpus = libbpf_num_possible_cpus();
	__u64 values[cpus > 0 ? cpus : 1];

	for (__u32 i = 0; i < VERBS_COSTS; i++) {
		counts[i] = 0;
		if (bpf_map_lookup_elem(bpf_map__fd(b->maps.verbs_costs), &i, values))
			continue;
		for (int cpu = 0; cpu < cpus; cpu++)
			counts[i] += values[cpu];
	}
}

static __u64 run_time(const struct verbs_bpf *b)
{
	const struct bpf_program *programs[] = { b->progs.verbs_calling, b->progs.verbs_called };
	__u64 sum = 0;

	for (int i = 0; i < 2; i++) {
		struct bpf_prog_info info = { 0 };
		__u32 length = sizeof(info);

		if (!bpf_obj_get_info_by_fd(bpf_program__fd(programs[i]), &info, &length))
			sum += info.run_time_ns;
	}
	return sum;
}

/* What is short may seem to be nothing beside other programs. */
static double above(double ns, double without)
{
	return ns > without ? ns - without : 0;
}

bool cost_open(struct cost *c, const struct verbs_bpf *b, bool multi)
{
	double bare = time_calls(), entered, both, polled;
	struct target t;

	*c = (struct cost){ .stats = -1 };
	if (!find_target(&t))
		return false;
	entered = time_probed(b, multi, &t, VERBS_AT_NOTHING, false);
	both = entered < 0 ? -1 : time_probed(b, multi, &t, VERBS_AT_NOTHING, true);
	polled = both < 0 ? -1 : time_probed(b, multi, &t, VERBS_AT_POLL_CQ, true);
	if (polled < 0)
		return false;
	c->entry = above(entered, bare);
	c->returned = above(both, bare + c->entry);
	c->empty = above(polled, bare);
	forget_own(b);
	read_counts(b, c->before);
	c->time = now_ns();
	return true;
}

void cost_close(struct cost *c)
{
	if (c->stats >= 0)
		close(c->stats);
	c->stats = -1;
}

/* Counts are not read at one moment. */
static __u64 without(__u64 all, __u64 part)
{
	return all > part ? all - part : 0;
}

/* The programs' time, without that of the polls that found nothing, which is known. */
static void end_measurement(struct cost *c, const struct verbs_bpf *b, const __u64 counts[VERBS_COSTS])
{
	__u64 empty = counts[VERBS_EMPTY] - c->run_empty, calls = without(counts[VERBS_ENTERED] - c->run_calls, empty);
	double of_empty = empty * (c->empty - c->entry - c->returned), run = run_time(b) - c->run_time;

	if (calls)
		c->run = run > of_empty ? (run - of_empty) / calls : 0;
	cost_close(c);
}

static void begin_measurement(struct cost *c, const struct verbs_bpf *b, const __u64 counts[VERBS_COSTS])
{
	c->run_time = run_time(b);
	c->run_empty = counts[VERBS_EMPTY];
	c->run_calls = counts[VERBS_ENTERED];
	c->stats = bpf_enable_stats(BPF_STATS_RUN_TIME);
}

void cost_update(struct cost *c, const struct verbs_bpf *b, struct verbs_cost *shown)
{
	__u64 counts[VERBS_COSTS], now = now_ns(), entered, left, empty;
	double seconds = (now - c->time) / 1e9;

	read_counts(b, counts);
	if (c->stats >= 0)
		end_measurement(c, b, counts);
	else if (c->updates % MEASURE_EVERY == 0)
		begin_measurement(c, b, counts);
	c->updates++;
	empty = counts[VERBS_EMPTY] - c->before[VERBS_EMPTY];
	entered = without(counts[VERBS_ENTERED] - c->before[VERBS_ENTERED], empty);
	left = without(counts[VERBS_LEFT] - c->before[VERBS_LEFT], empty);
	for (int i = 0; i < VERBS_COSTS; i++)
		c->before[i] = counts[i];
	c->time = now;
	if (seconds <= 0)
		return;
	shown->calls = entered / seconds;
	shown->ns = entered ? c->entry + c->returned * left / entered + c->run : 0;
	shown->share = shown->calls * shown->ns / 1e9;
	shown->empty_calls = empty / seconds;
	shown->empty_share = shown->empty_calls * c->empty / 1e9;
}
