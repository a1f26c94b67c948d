// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "lib/clock.h"
#include "userspace/observe/verbs/hooks.h"

#define PATIENCE 3000 /* ms */

/* What of libibverbs is no inline function. */
struct library {
	struct ibv_device **(*get_device_list)(int *count);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe, void *cq_context, struct ibv_comp_channel *channel,
				    int vector);
};

static bool load(struct library *l)
{
	void *handle = dlopen("libibverbs.so.1", RTLD_NOW);

	if (!handle)
		return false;
	l->get_device_list = dlsym(handle, "ibv_get_device_list");
	l->open_device = dlsym(handle, "ibv_open_device");
	l->alloc_pd = dlsym(handle, "ibv_alloc_pd");
	l->create_cq = dlsym(handle, "ibv_create_cq");
	return l->get_device_list && l->open_device && l->alloc_pd && l->create_cq;
}

#define UD_OPERATIONS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define UC_OPERATIONS (UD_OPERATIONS | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
#define RC_OPERATIONS \
	(UC_OPERATIONS | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

/* Providers choose the functions by service, and refuse operations that they cannot do: so less and less is asked for. */
static const struct {
	enum ibv_qp_type type;
	uint64_t operations;
} kinds[] = {
	{ IBV_QPT_RC, RC_OPERATIONS | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND_WITH_INV },
	{ IBV_QPT_RC, RC_OPERATIONS },
	{ IBV_QPT_RC, IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ },
	{ IBV_QPT_UC, UC_OPERATIONS },
	{ IBV_QPT_UD, UD_OPERATIONS },
};

static void create_qps(const struct library *l, struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx_op(context, create_qp_ex);
	struct ibv_pd *pd = l->alloc_pd(context);
	struct ibv_cq *cq = l->create_cq(context, 4, NULL, NULL, 0);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && extended && pd && cq; i++) {
		struct ibv_qp_init_attr_ex attributes = {
			.send_cq = cq,
			.recv_cq = cq,
			.cap = { .max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1, .max_recv_sge = 1 },
			.qp_type = kinds[i].type,
			.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
			.pd = pd,
			.send_ops_flags = kinds[i].operations,
		};

		extended->create_qp_ex(context, &attributes);
	}
}

static void create_cq(struct ibv_context *context)
{
	struct verbs_context *extended = verbs_get_ctx_op(context, create_cq_ex);
	struct ibv_cq_init_attr_ex attributes = { .cqe = 4, .wc_flags = IBV_WC_STANDARD_FLAGS };

	if (extended)
		extended->create_cq_ex(context, &attributes);
}

/* Everything stays as it is, for who looks through this process's memory. */
static bool open_devices(const struct library *l)
{
	struct ibv_device **list = l->get_device_list(NULL);
	bool opened = false;

	for (size_t i = 0; list && list[i]; i++) {
		struct ibv_context *context = l->open_device(list[i]);

		if (!context)
			continue;
		opened = true;
		create_cq(context);
		create_qps(l, context);
	}
	return opened;
}

/* The parent's files: as long as the child has them, its sockets and locks last. */
static void close_others(int one, int other)
{
	unsigned int low = one < other ? one : other, high = one < other ? other : one;

	if (low > STDERR_FILENO + 1)
		close_range(STDERR_FILENO + 1, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0u, 0);
}

/* ready: one byte when all is open. hold: its end is the child's. */
static __attribute__((noreturn)) void child(int ready, int hold, pid_t parent)
{
	struct library l;
	char byte = 0;
	int null;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	close_others(ready, hold);
	null = open("/dev/null", O_RDWR);
	/* what libraries say is of no use here */
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
	}
	signal(SIGINT, SIG_IGN);
	if (!load(&l) || !open_devices(&l) || write(ready, &byte, 1) != 1)
		_exit(1);
	while (read(hold, &byte, 1) > 0)
		;
	_exit(0);
}

static bool is_ready(int ready)
{
	struct pollfd p = { .fd = ready, .events = POLLIN };
	__u64 until = now_ns() + PATIENCE * NSEC_PER_MSEC, now;
	char byte;

	while ((now = now_ns()) < until) {
		if (poll(&p, 1, (until - now) / NSEC_PER_MSEC + 1) > 0)
			return read(ready, &byte, 1) == 1;
	}
	return false;
}

bool hooks_open(struct hooks *h)
{
	int ready[2], hold[2];
	pid_t parent = getpid();
	bool good;

	*h = (struct hooks){ .hold = -1 };
	if (pipe2(ready, O_CLOEXEC))
		return false;
	if (pipe2(hold, O_CLOEXEC)) {
		close(ready[0]);
		close(ready[1]);
		return false;
	}
	h->pid = fork();
	if (!h->pid) {
		close(ready[0]);
		close(hold[1]);
		child(ready[1], hold[0], parent);
	}
	close(ready[1]);
	close(hold[0]);
	h->hold = hold[1];
	good = h->pid > 0 && is_ready(ready[0]);
	close(ready[0]);
	if (!good)
		hooks_close(h);
	return good;
}

static pid_t lasting; /* a child that a driver kept in the kernel when it was killed; 0: none */

void hooks_reap(void)
{
	if (lasting && waitpid(lasting, NULL, WNOHANG))
		lasting = 0;
}

void hooks_close(struct hooks *h)
{
	pid_t ended = 0;

	if (h->hold >= 0)
		close(h->hold);
	if (h->pid > 0) {
		kill(h->pid, SIGKILL);
		/* a driver may keep it in the kernel: it ends when that lets it go */
		for (int i = 0; i < 200 && !ended; i++) {
			ended = waitpid(h->pid, NULL, WNOHANG);
			if (!ended)
				sleep_until_ns(now_ns() + 5 * NSEC_PER_MSEC);
		}
		if (!ended)
			lasting = h->pid;
	}
	*h = (struct hooks){ .hold = -1 };
}
