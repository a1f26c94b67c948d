// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What probes add to calls of verbs, ns a call, with a provider that needs no device: its functions begin with push, with
 * endbr64 and with mov (stepped over: --expensive). Prints { "verbs": rows } as JSON. verbs_calls [--quick]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bpf/verbs.skel.h"
#include "lib/clock.h"
#include "bench/verbs_provider.h"
#include "userspace/observe/verbs/calls.h"

#define CALLS 64
#define ROUNDS 101
#define QUICK_ROUNDS 11

static const char *const beginnings[] = { "push", "endbr64", "mov" };
static const struct kind {
	const char *call;
	unsigned int wrs;
} kinds[] = {
	{ "post_send", 1 }, { "post_send", 8 }, { "post_send", 32 }, { "poll_cq", 0 }, { "poll_cq", 1 }, { "poll_cq", 16 }, { "post_recv", 1 },
};

#define BEGINNINGS (sizeof(beginnings) / sizeof(*beginnings))
#define KINDS (sizeof(kinds) / sizeof(*kinds))

struct provider {
	struct ibv_context *context;
	struct provider_cq *cq;
	struct provider_qp *qp;
};

static struct ibv_send_wr wrs[32];
static struct ibv_sge sge = { .length = 4096 };
static unsigned int rounds = ROUNDS;

static __attribute__((noreturn)) void die(const char *what)
{
	fprintf(stderr, "bench: calls of verbs: %s\n", what);
	exit(1);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void post(struct provider *p, unsigned int count)
{
	struct ibv_send_wr *bad;

	for (unsigned int i = 0; i < count; i++)
		wrs[i] = (struct ibv_send_wr){
			.next = i + 1 < count ? &wrs[i + 1] : NULL, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
		};
	if (ibv_post_send(&p->qp->x.qp_base, wrs, &bad))
		die("a request was refused");
}

static void drain(struct provider *p)
{
	struct ibv_wc wc[32];

	while (ibv_poll_cq((struct ibv_cq *)&p->cq->x, 32, wc) > 0)
		;
}

static void post_receive(struct provider *p)
{
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	if (ibv_post_recv(&p->qp->x.qp_base, &wr, &bad))
		die("a receive was refused");
}

/* One round of calls, ns a call. */
static double time_round(struct provider *p, const struct kind *k)
{
	struct ibv_wc wc[16];
	struct ibv_cq *cq = (struct ibv_cq *)&p->cq->x;
	__u64 before;

	if (!strcmp(k->call, "poll_cq")) {
		for (unsigned int i = 0; i < CALLS && k->wrs; i++)
			post(p, k->wrs);
	}
	before = now_ns();
	for (unsigned int i = 0; i < CALLS; i++) {
		if (!strcmp(k->call, "post_send"))
			post(p, k->wrs);
		else if (!strcmp(k->call, "post_recv"))
			post_receive(p);
		else if (ibv_poll_cq(cq, k->wrs ? k->wrs : 1, wc) != (int)k->wrs)
			die("other completions than there are");
	}
	before = now_ns() - before;
	drain(p);
	p->qp->recv_used = 0;
	return (double)before / CALLS;
}

/* The median. */
static double time_kind(struct provider *p, const struct kind *k)
{
	double ns[ROUNDS];

	for (unsigned int i = 0; i < rounds; i++)
		ns[i] = time_round(p, k);
	qsort(ns, rounds, sizeof(*ns), by_value);
	return ns[rounds / 2];
}

static void time_all(struct provider *p, double ns[BEGINNINGS][KINDS])
{
	for (size_t b = 0; b < BEGINNINGS; b++) {
		for (size_t k = 0; k < KINDS; k++)
			ns[b][k] = time_kind(&p[b], &kinds[k]);
	}
}

/* Without probes the figures would be those of nothing. before: what the provider was given before they came. */
static void prove(struct calls *c, const struct provider *p, const struct truth before[BEGINNINGS])
{
	__u32 self = getpid();

	calls_update(c, &self, 1);
	for (size_t i = 0; i < BEGINNINGS; i++) {
		const struct truth *t = &p[i].qp->truth;
		const struct verbs_calls *counted = calls_find(c, self, p[i].qp->x.qp_base.qp_num, NULL, 0);

		if (!counted || counted->count[VERBS_posts] != t->posts - before[i].posts ||
		    counted->count[VERBS_recv_posts] != t->recv_posts - before[i].recv_posts ||
		    counted->count[VERBS_completions] != t->completions - before[i].completions)
			die("the probes have not counted each call");
	}
}

/* A file that is named as a device of verbs is. */
static int open_device(void)
{
	char folder[] = "/tmp/rocescope-bench-XXXXXX", path[64];
	int fd;

	if (!mkdtemp(folder))
		die("no folder in /tmp");
	snprintf(path, sizeof(path), "%s/uverbs0", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return fd;
}

static void remove_device(int fd)
{
	char link[64], path[128];
	ssize_t length;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path) - 1);
	if (length <= 0)
		return;
	path[length] = 0;
	unlink(path);
	*strrchr(path, '/') = 0;
	rmdir(path);
}

static struct calls *attach(struct verbs_bpf *b, const struct calls_options *o)
{
	static struct notes notes;
	__u32 self = getpid();
	struct bpf_program *program;
	struct calls *c;

	bpf_object__for_each_program(program, b->obj)
		bpf_program__set_autoload(program, false);
	if (calls_prepare(b, true, o) || verbs_bpf__load(b))
		return NULL;
	c = calls_open(b, o, &notes);
	if (c)
		calls_update(c, &self, 1);
	return c && calls_blind(c, self) == VERBS_SEEN ? c : NULL;
}

int main(int argc, char **argv)
{
	const struct calls_options o = { .expensive = true, .any_uverbs = true, .no_devices = true };
	static double bare[BEGINNINGS][KINDS], probed[BEGINNINGS][KINDS];
	struct provider p[BEGINNINGS];
	struct truth before[BEGINNINGS];
	struct verbs_bpf *b;
	struct calls *c;
	int fd = open_device();

	if (argc > 1 && !strcmp(argv[1], "--quick"))
		rounds = QUICK_ROUNDS;
	for (size_t i = 0; i < BEGINNINGS; i++) {
		p[i].context = provider_open(beginnings[i], fd);
		p[i].cq = provider_cq(p[i].context, beginnings[i]);
		p[i].qp = provider_qp(p[i].context, beginnings[i], p[i].cq, p[i].cq, 0x100 + i);
		p[i].qp->depth = PROVIDER_DEPTH;
	}
	time_all(p, bare);
	b = verbs_bpf__open();
	c = b ? attach(b, &o) : NULL;
	remove_device(fd);
	if (!c)
		die("the kernel refuses probes");
	for (size_t i = 0; i < BEGINNINGS; i++)
		before[i] = p[i].qp->truth;
	time_all(p, probed);
	prove(c, p, before);
	printf("{\"verbs\": [");
	for (size_t i = 0; i < BEGINNINGS; i++) {
		for (size_t k = 0; k < KINDS; k++)
			printf("%s{\"call\": \"%s\", \"wrs\": %u, \"beginning\": \"%s\", \"bare_ns\": %.1f, \"added_ns\": %.0f}",
			       i + k ? ", " : "", kinds[k].call, kinds[k].wrs, beginnings[i], bare[i][k], probed[i][k] - bare[i][k]);
	}
	printf("]}\n");
	calls_close(c);
	verbs_bpf__destroy(b);
	return 0;
}
