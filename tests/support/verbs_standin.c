// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * verbs_standin: a program that uses verbs, with a provider that needs no device (bench/verbs_provider.c), for tests of probes.
 *
 *     verbs_standin BEGINNING DEVICE PROVIDER
 *
 * BEGINNING: of the provider's functions: push, endbr64, mov. DEVICE: a file, opened as the device is. PROVIDER: the provider
 * as a library, or "static" for that which is linked in. It reads commands, a line each, and answers each with a line: what it
 * did and saw itself, which must be the same with probes and without.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/verbs_provider.h"

#define QPS 1024
#define LONGEST (1u << 20)

static struct {
	void *library;
	typeof(provider_open) *open;
	typeof(provider_cq) *cq;
	typeof(provider_qp) *qp;
	typeof(provider_srq) *srq;
	typeof(provider_deliver) *deliver;
} api = { NULL, provider_open, provider_cq, provider_qp, provider_srq, provider_deliver };

static const char *beginning;
static struct ibv_context *context;
static struct provider_cq *cq, *recv_cq;
static struct provider_qp *qps[QPS];
static struct provider_srq *srq;
static struct ibv_send_wr *wrs;
static struct ibv_recv_wr *recvs;
static struct ibv_sge sges[8];
static uint64_t next_id = 1;

static void load(const char *path)
{
	api.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!api.library) {
		fprintf(stderr, "verbs_standin: %s\n", dlerror());
		exit(1);
	}
	api.open = dlsym(api.library, "provider_open");
	api.cq = dlsym(api.library, "provider_cq");
	api.qp = dlsym(api.library, "provider_qp");
	api.srq = dlsym(api.library, "provider_srq");
	api.deliver = dlsym(api.library, "provider_deliver");
}

static struct provider_qp *qp_at(unsigned int i)
{
	if (!qps[i % QPS])
		qps[i % QPS] = api.qp(context, beginning, cq, recv_cq, 0x100 + i % QPS);
	return qps[i % QPS];
}

static struct ibv_qp *base(struct provider_qp *qp)
{
	return &qp->x.qp_base;
}

static struct ibv_cq *cq_base(struct provider_cq *c)
{
	return (struct ibv_cq *)c;
}

static unsigned int drain(struct provider_cq *c)
{
	struct ibv_wc wc[16];
	unsigned int sum = 0;
	int n;

	while ((n = ibv_poll_cq(cq_base(c), 16, wc)) > 0)
		sum += n;
	return sum;
}

/* Requests of all sorts, so that no two counts are equal by accident. */
static void fill(struct ibv_send_wr *wr, unsigned int i, unsigned int signal)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE, IBV_WR_SEND, IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND_WITH_IMM,
	};

	*wr = (struct ibv_send_wr){
		.wr_id = next_id++, .sg_list = sges, .num_sge = 1 + i % 7 % 3 * 3, .opcode = opcodes[i % 7],
		.send_flags = (i % signal == signal - 1 ? IBV_SEND_SIGNALED : 0) | (i % 5 ? 0 : IBV_SEND_INLINE) |
			      (i % 11 ? 0 : IBV_SEND_FENCE) | (i % 13 ? 0 : IBV_SEND_SOLICITED),
	};
	if (wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr->num_sge = 1;
		wr->wr.atomic.remote_addr = 0x10000 + 8 * i;
		wr->wr.atomic.rkey = 0x77;
	} else {
		wr->wr.rdma.remote_addr = 0x10000 + 8 * i;
		wr->wr.rdma.rkey = 0x77;
	}
}

static struct ibv_send_wr *list(unsigned int length, unsigned int from, unsigned int signal)
{
	for (unsigned int i = 0; i < length; i++) {
		fill(&wrs[i], from + i, signal);
		wrs[i].next = i + 1 < length ? &wrs[i + 1] : NULL;
	}
	return wrs;
}

/* Posts lists; when the queue is full polls and posts what was refused. */
static void post_lists(unsigned int q, unsigned int count, unsigned int length, unsigned int signal)
{
	unsigned int full = 0, completed = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct ibv_send_wr *wr = list(length, i * length, signal), *bad = NULL;

		while (ibv_post_send(base(qp_at(q)), wr, &bad)) {
			full++;
			completed += drain(cq);
			wr = bad;
		}
	}
	completed += drain(cq);
	printf("full %u completed %u used %u\n", full, completed, qp_at(q)->used);
}

static void post_full(unsigned int q, unsigned int count, unsigned int length, unsigned int signal)
{
	unsigned int refused = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct ibv_send_wr *bad = NULL;

		refused += !!ibv_post_send(base(qp_at(q)), list(length, i * length, signal), &bad);
	}
	printf("refused %u used %u\n", refused, qp_at(q)->used);
}

static struct ibv_recv_wr *recv_list(unsigned int length)
{
	for (unsigned int i = 0; i < length; i++)
		recvs[i] = (struct ibv_recv_wr){
			.wr_id = next_id++, .next = i + 1 < length ? &recvs[i + 1] : NULL, .sg_list = sges, .num_sge = 1 + i % 6,
		};
	return recvs;
}

static void post_recvs(int q, unsigned int count, unsigned int length)
{
	unsigned int refused = 0;

	for (unsigned int i = 0; i < count; i++) {
		struct ibv_recv_wr *bad = NULL;

		if (q < 0)
			refused += !!ibv_post_srq_recv(&srq->srq, recv_list(length), &bad);
		else
			refused += !!ibv_post_recv(base(qp_at(q)), recv_list(length), &bad);
	}
	printf("refused %u\n", refused);
}

static void post_extended(unsigned int q, unsigned int count, unsigned int batch, unsigned int abort_every)
{
	struct ibv_qp_ex *x = &qp_at(q)->x;
	struct ibv_data_buf buffers[3] = { { sges, 11 }, { sges, 22 }, { sges, 33 } };
	unsigned int refused = 0, aborted = 0;

	for (unsigned int i = 0; i < count; i++) {
		ibv_wr_start(x);
		for (unsigned int k = 0; k < batch; k++) {
			x->wr_id = next_id++;
			x->wr_flags = k % 2 ? IBV_SEND_SIGNALED : 0;
			switch ((i + k) % 3) {
			case 0:
				ibv_wr_rdma_write(x, 0x77, 0x5000 + k);
				break;
			case 1:
				ibv_wr_rdma_read(x, 0x77, 0x6000 + k);
				break;
			default:
				ibv_wr_send(x);
			}
			switch (k % 4) {
			case 0:
				ibv_wr_set_sge(x, 1, (uintptr_t)sges, 1000 + k);
				break;
			case 1:
				ibv_wr_set_sge_list(x, 5, sges);
				break;
			case 2:
				ibv_wr_set_inline_data(x, sges, 40 + k);
				break;
			default:
				ibv_wr_set_inline_data_list(x, 3, buffers);
			}
		}
		if (abort_every && i % abort_every == 0) {
			ibv_wr_abort(x);
			aborted++;
		} else {
			refused += !!ibv_wr_complete(x);
		}
	}
	printf("refused %u aborted %u used %u\n", refused, aborted, qp_at(q)->used);
}

/* The CQ and its QPs are destroyed, and another one is made at its address. */
static void another_cq(void)
{
	struct provider_cq *made = api.cq(context, beginning);

	memset(qps, 0, sizeof(qps));
	*cq = *made;
	free(made);
	printf("another\n");
}

/* asks: for the QP of each completion. A program with one QP needs not. */
static void drain_extended(struct provider_cq *c, bool asks)
{
	struct ibv_poll_cq_attr attributes = { 0 };
	unsigned int sum = 0, errors = 0, receives = 0;
	uint64_t bytes = 0;
	struct ibv_cq_ex *x = &c->x;

	if (!ibv_start_poll(x, &attributes)) {
		do {
			sum++;
			if (asks)
				ibv_wc_read_qp_num(x);
			if (x->status) {
				errors += ibv_wc_read_vendor_err(x);
			} else if (ibv_wc_read_opcode(x) & IBV_WC_RECV) {
				receives++;
				bytes += ibv_wc_read_byte_len(x);
			}
		} while (!ibv_next_poll(x));
		ibv_end_poll(x);
	}
	ibv_start_poll(x, &attributes);
	printf("completed %u errors %u receives %u bytes %lu\n", sum, errors, receives, bytes);
}

/* ---- threads ---- */

struct poster {
	pthread_t thread;
	unsigned int q, count;
	uint64_t id;
	int dies;
};

static void *poster_run(void *argument)
{
	struct poster *p = argument;

	for (unsigned int i = 0; i < p->count; i++) {
		struct ibv_send_wr wr = { .wr_id = p->id++, .sg_list = sges, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED };
		struct ibv_send_wr *bad;

		while (ibv_post_send(base(qp_at(p->q)), &wr, &bad))
			drain(cq);
		if (p->dies && i == p->count / 2)
			pthread_exit(NULL);
	}
	return NULL;
}

static void run_threads(unsigned int q, unsigned int threads, unsigned int count, int dies)
{
	struct poster p[16];

	qp_at(q);
	threads = threads < 16 ? threads : 16;
	for (unsigned int i = 0; i < threads; i++) {
		p[i] = (struct poster){ .q = q, .count = count, .id = (uint64_t)(i + 1) << 40, .dies = dies };
		pthread_create(&p[i].thread, NULL, poster_run, &p[i]);
	}
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(p[i].thread, NULL);
	drain(cq);
	printf("posted %lu\n", qp_at(q)->truth.wrs);
}

/* ---- calls as no program should make them ---- */

static volatile int changing;

static void *change(void *argument)
{
	struct ibv_send_wr *wr = argument;

	while (changing) {
		for (unsigned int i = 0; i < 64; i++) {
			wr[i].num_sge = i * 1000003;
			wr[i].opcode = i * 77;
		}
		for (unsigned int i = 0; i < 64; i++) {
			wr[i].num_sge = 1;
			wr[i].opcode = IBV_WR_SEND;
		}
	}
	return NULL;
}

/*
 * The provider reads no request of these: its queue is full. Whoever watches does, while they change.
 */
static void post_changing(unsigned int q, unsigned int count)
{
	struct provider_qp *qp = qp_at(q);
	struct ibv_send_wr *wr = list(64, 0, 1), *bad;
	unsigned int refused = 0;
	pthread_t thread;

	qp->used = qp->depth;
	changing = 1;
	pthread_create(&thread, NULL, change, wr);
	for (unsigned int i = 0; i < count; i++)
		refused += !!ibv_post_send(base(qp), wr, &bad);
	changing = 0;
	pthread_join(thread, NULL);
	qp->used = 0;
	printf("refused %u\n", refused);
}

static void post_wrong(unsigned int q)
{
	struct provider_qp *qp = qp_at(q);
	struct ibv_send_wr wr = { .wr_id = next_id++, .sg_list = sges, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_wc wc[4];
	int got[8];

	/* inline functions would read the context of a wrong QP themselves: so the provider's are called */
	got[0] = context->ops.post_send((void *)8, &wr, &bad);
	got[1] = context->ops.post_send(base(qp), (void *)16, &bad);
	got[2] = context->ops.post_send(base(qp), NULL, NULL);
	got[3] = context->ops.post_recv(NULL, NULL, NULL);
	got[4] = context->ops.poll_cq(NULL, 4, wc);
	got[5] = context->ops.poll_cq(cq_base(cq), -5, wc);
	wr.next = (void *)24;
	got[6] = context->ops.post_send(base(qp), &wr, NULL);
	got[7] = drain(cq);
	printf("got %d %d %d %d %d %d %d %d\n", got[0], got[1], got[2], got[3], got[4], got[5], got[6], got[7]);
}

/* QPs that nobody made, with CQs that nobody made: the provider finds their queue full. */
static void post_strangers(unsigned int q, unsigned int from, unsigned int count)
{
	struct provider_qp *made_up = malloc(sizeof(*made_up));
	struct ibv_send_wr wr = { .wr_id = 1, .sg_list = sges, .num_sge = 1, .opcode = IBV_WR_SEND }, *bad;
	unsigned int refused = 0;

	memcpy(made_up, qp_at(q), sizeof(*made_up));
	made_up->used = made_up->depth;
	for (unsigned int i = 0; i < count; i++) {
		base(made_up)->qp_num = from + i;
		base(made_up)->send_cq = base(made_up)->recv_cq = (struct ibv_cq *)(uintptr_t)(0x1000000ull + 64 * i);
		refused += !!context->ops.post_send(base(made_up), &wr, &bad);
	}
	free(made_up);
	printf("refused %u\n", refused);
}

/* A list without an end, until the queue is full. */
static void post_endless(unsigned int q, unsigned int length)
{
	struct ibv_send_wr *bad;
	int error;

	list(length, 0, 1);
	wrs[length - 1].next = wrs;
	error = ibv_post_send(base(qp_at(q)), wrs, &bad);
	printf("error %d used %u\n", error, qp_at(q)->used);
}

static void post_long(unsigned int q)
{
	struct provider_qp *qp = qp_at(q);
	struct ibv_send_wr *bad;
	int error;

	/* the queue has room for a few of them, and the list has 2^20 */
	error = ibv_post_send(base(qp), list(LONGEST, 0, LONGEST + 1), &bad);
	printf("error %d used %u\n", error, qp->used);
	qp->used = 0;
}

/* The CQ's memory goes while it is polled: what the provider read before is gone at the return. */
static void poll_freed(unsigned int q)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct ibv_wc *wc = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_cq *old = calloc(1, sizeof(struct provider_cq));
	struct ibv_send_wr *bad;
	int got;

	memcpy(old, cq, sizeof(struct provider_cq));
	ibv_post_send(base(qp_at(q)), list(4, 0, 1), &bad);
	got = ibv_poll_cq(cq_base(cq), 4, wc);
	munmap(wc, page);
	free(old);
	printf("got %d\n", got);
}

static void run_fork(unsigned int q, unsigned int count)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		struct ibv_send_wr *bad;

		for (unsigned int i = 0; i < count; i++) {
			ibv_post_send(base(qp_at(q)), list(3, 0, 3), &bad);
			drain(cq);
		}
		_exit(qp_at(q)->used == 0 ? 7 : 8);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void run_exec(void)
{
	int status = 0;
	pid_t child;

	fflush(stdout);
	child = fork();
	if (!child) {
		struct ibv_send_wr *bad;

		ibv_post_send(base(qp_at(0)), list(3, 0, 3), &bad);
		execl("/bin/sh", "sh", "-c", "exit 9", NULL);
		_exit(1);
	}
	waitpid(child, &status, 0);
	printf("child %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static void reopen(const char *device, const char *provider)
{
	int fd = open(device, O_RDWR | O_CLOEXEC);

	memset(qps, 0, sizeof(qps));
	if (api.library)
		dlclose(api.library);
	if (strcmp(provider, "static"))
		load(provider);
	context = api.open(beginning, fd);
	cq = api.cq(context, beginning);
	recv_cq = api.cq(context, beginning);
	srq = api.srq(context, 128);
	printf("open %d\n", fd >= 0);
}

static void map_memory(unsigned int gib, unsigned int mib)
{
	size_t size = (size_t)gib << 30, touched = (size_t)mib << 20;
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED) {
		printf("map %s\n", strerror(errno));
		return;
	}
	madvise(at, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < touched; i += 4096)
		at[i * (size / touched)] = 1; /* far apart */
	printf("mapped %u\n", gib);
}

/* ---- what the provider was given ---- */

static void list_of(const char *name, const uint64_t *values, int n)
{
	printf(", \"%s\": [", name);
	for (int i = 0; i < n; i++)
		printf("%s%lu", i ? ", " : "", values[i]);
	printf("]");
}

static void print_truth(unsigned int q)
{
	const struct truth *t = &qp_at(q)->truth;

	printf("{\"posts\": %lu, \"posts_refused\": %lu, \"wrs\": %lu, \"wrs_refused\": %lu, \"sges\": %lu, \"inlined\": %lu, "
	       "\"signalled\": %lu, \"fenced\": %lu, \"solicited\": %lu, \"aborts\": %lu, \"recv_posts\": %lu, \"recv_refused\": %lu, "
	       "\"recv_wrs\": %lu, \"recv_bytes\": %lu, \"completions\": %lu, \"recv_completions\": %lu, \"list_most\": %lu, "
	       "\"qpn\": %u, \"used\": %u",
	       t->posts, t->posts_refused, t->wrs, t->wrs_refused, t->sges, t->inlined, t->signalled, t->fenced, t->solicited, t->aborts,
	       t->recv_posts, t->recv_refused, t->recv_wrs, t->recv_bytes, t->completions, t->recv_completions, t->list_most,
	       base(qp_at(q))->qp_num, qp_at(q)->used);
	list_of("opcode", t->opcode, 16);
	list_of("bytes", t->bytes, 16);
	list_of("done", t->done, 16);
	list_of("received", t->received, 2);
	list_of("received_bytes", t->received_bytes, 2);
	list_of("status", t->status, 32);
	printf("}\n");
}

static void print_queues(void)
{
	printf("{\"polls\": %lu, \"empty\": %lu, \"completions\": %lu, \"notified\": %lu, \"srq_posts\": %lu, \"srq_wrs\": %lu, "
	       "\"srq_bytes\": %lu, \"srq_refused\": %lu}\n",
	       cq->polls, cq->empty, cq->completions, cq->notified, srq->posts, srq->wrs, srq->bytes, srq->refused);
}

static void command(const char *name, const unsigned int n[4])
{
	if (!strcmp(name, "lists"))
		post_lists(n[0], n[1], n[2], n[3]);
	else if (!strcmp(name, "full"))
		post_full(n[0], n[1], n[2], n[3]);
	else if (!strcmp(name, "drain"))
		printf("completed %u and %u\n", drain(cq), drain(recv_cq));
	else if (!strcmp(name, "poll"))
		for (unsigned int i = 0; i <= n[0]; i++)
			i < n[0] ? (void)drain(cq) : (void)printf("polled %u\n", n[0]);
	else if (!strcmp(name, "recv"))
		post_recvs(n[0], n[1], n[2]);
	else if (!strcmp(name, "srq"))
		post_recvs(-1, n[0], n[1]);
	else if (!strcmp(name, "deliver"))
		api.deliver(qp_at(n[0]), n[3] ? srq : NULL, n[1], n[2]), printf("delivered\n");
	else if (!strcmp(name, "notify"))
		printf("%d\n", ibv_req_notify_cq(cq_base(cq), 0));
	else if (!strcmp(name, "wr"))
		post_extended(n[0], n[1], n[2], n[3]);
	else if (!strcmp(name, "exdrain"))
		drain_extended(n[0] ? recv_cq : cq, !n[1]);
	else if (!strcmp(name, "threads"))
		run_threads(n[0], n[1], n[2], n[3]);
	else if (!strcmp(name, "fail"))
		qp_at(n[0])->fail = n[1], printf("fails\n");
	else if (!strcmp(name, "sigall"))
		qp_at(n[0])->sig_all = 1, printf("all\n");
	else if (!strcmp(name, "qp"))
		printf("%u\n", base(qp_at(n[0]))->qp_num);
	else if (!strcmp(name, "depth"))
		qp_at(n[0])->depth = n[1], printf("depth\n");
	else if (!strcmp(name, "again")) /* another QP of the same number */
		qps[n[0] % QPS] = NULL, printf("another %u\n", base(qp_at(n[0]))->qp_num);
	else if (!strcmp(name, "cq"))
		another_cq();
	else if (!strcmp(name, "wrong"))
		post_wrong(n[0]);
	else if (!strcmp(name, "strangers"))
		post_strangers(n[0], n[1], n[2]);
	else if (!strcmp(name, "endless"))
		post_endless(n[0], n[1]);
	else if (!strcmp(name, "long"))
		post_long(n[0]);
	else if (!strcmp(name, "changing"))
		post_changing(n[0], n[1]);
	else if (!strcmp(name, "freed"))
		poll_freed(n[0]);
	else if (!strcmp(name, "fork"))
		run_fork(n[0], n[1]);
	else if (!strcmp(name, "exec"))
		run_exec();
	else if (!strcmp(name, "map"))
		map_memory(n[0], n[1]);
	else if (!strcmp(name, "truth"))
		print_truth(n[0]);
	else if (!strcmp(name, "queues"))
		print_queues();
	else
		printf("unknown\n");
}

int main(int argc, char **argv)
{
	char line[256], name[32];

	if (argc != 4) {
		fprintf(stderr, "usage: verbs_standin push|endbr64|mov DEVICE static|PROVIDER\n");
		return 2;
	}
	beginning = argv[1];
	/* khugepaged adds pages to processes on its own: a test looks whether someone else does */
	prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
	wrs = calloc(LONGEST, sizeof(*wrs));
	recvs = calloc(4096, sizeof(*recvs));
	for (int i = 0; i < 8; i++)
		sges[i] = (struct ibv_sge){ .addr = (uintptr_t)sges, .length = 100 + i };
	reopen(argv[2], argv[3]);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned int n[4] = { 0 };

		if (sscanf(line, "%31s %u %u %u %u", name, &n[0], &n[1], &n[2], &n[3]) < 1)
			continue;
		if (!strcmp(name, "reopen"))
			reopen(argv[2], argv[3]);
		else
			command(name, n);
		fflush(stdout);
	}
	return 0;
}
