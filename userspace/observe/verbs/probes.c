// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/bpf.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bpf/verbs.skel.h"
#include "userspace/observe/verbs/probes.h"

/* Of include/uapi/linux/bpf.h since Linux 6.6: older headers and libraries do not have them. */
#define TRACE_UPROBE_MULTI 48
#define UPROBE_MULTI_RETURN 1

struct multi_attr {
	__u32 prog_fd, target_fd, attach_type, flags;
	__u64 path, offsets, ref_ctr_offsets, cookies;
	__u32 count, multi_flags, pid, reserved;
};

static int link_multi(const struct multi_attr *a)
{
	int fd = syscall(__NR_bpf, BPF_LINK_CREATE, a, sizeof(*a));

	return fd >= 0 ? fd : -errno;
}

/* A kernel with a right filter looks at the pid first. An older one compares threads, and finds that "/" is no file of code. */
bool probes_have_multi(void)
{
	const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	int prog = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", nothing, 2, &o);
	__u64 offset = 0;
	struct multi_attr a = {
		.prog_fd = prog,
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t) "/",
		.offsets = (uintptr_t)&offset,
		.count = 1,
	};
	bool have;

	if (prog < 0)
		return false;
	have = link_multi(&a) == -EBADF;
	a.pid = -1;
	have = have && link_multi(&a) == -EINVAL;
	close(prog);
	return have;
}

void probes_prepare(struct verbs_bpf *b, bool multi)
{
	if (!multi)
		return;
	bpf_program__set_expected_attach_type(b->progs.verbs_calling, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	bpf_program__set_expected_attach_type(b->progs.verbs_called, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
}

static int attach_multi(const struct bpf_program *program, const char *path, pid_t pid, bool returned,
			const struct probe_place *places, size_t count)
{
	__u64 offsets[PROBE_PLACES], cookies[PROBE_PLACES];
	struct multi_attr a = {
		.prog_fd = bpf_program__fd(program),
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.count = count,
		.multi_flags = returned ? UPROBE_MULTI_RETURN : 0,
		.pid = pid,
	};

	for (size_t i = 0; i < count; i++) {
		offsets[i] = places[i].offset;
		cookies[i] = places[i].cookie;
	}
	return count ? link_multi(&a) : 0;
}

static int attach_each(struct probe_set *set, const struct bpf_program *program, const char *path, pid_t pid, bool returned,
		       const struct probe_place *places, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, o, .retprobe = returned, .bpf_cookie = places[i].cookie);
		struct bpf_link *link = bpf_program__attach_uprobe_opts(program, pid ? pid : -1, path, places[i].offset, &o);

		if (!link)
			return -errno;
		set->link[set->links++] = link;
	}
	return 0;
}

int probes_attach(struct probe_set *set, const struct verbs_bpf *b, bool multi, const char *path, pid_t pid)
{
	const struct bpf_program *calling = b->progs.verbs_calling, *called = b->progs.verbs_called;
	int error = 0;

	if (multi) {
		/* returns first: an entry without its return would be one that never ended */
		error = set->multi[1] = attach_multi(called, path, pid, true, set->returned, set->returns);
		if (error >= 0)
			error = set->multi[0] = attach_multi(calling, path, pid, false, set->entry, set->entries);
	} else {
		set->link = calloc(set->entries + set->returns + 1, sizeof(*set->link));
		error = set->link ? attach_each(set, called, path, pid, true, set->returned, set->returns) : -ENOMEM;
		if (!error)
			error = attach_each(set, calling, path, pid, false, set->entry, set->entries);
	}
	if (error < 0)
		probes_detach(&set, 1);
	return error < 0 ? -error : 0;
}

static void *destroy(void *link)
{
	bpf_link__destroy(link);
	return NULL;
}

#define TOGETHER 64

static void destroy_links(struct bpf_link *const *links, size_t count)
{
	pthread_t thread[TOGETHER];
	size_t started = 0;

	while (started < count && !pthread_create(&thread[started], NULL, destroy, links[started]))
		started++;
	for (size_t i = started; i < count; i++)
		bpf_link__destroy(links[i]);
	for (size_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
}

static void forget(struct probe_set *set)
{
	free(set->link);
	set->link = NULL;
	set->links = 0;
	set->multi[0] = set->multi[1] = 0;
	set->entries = set->returns = 0;
}

void probes_detach(struct probe_set *const *sets, size_t count)
{
	struct bpf_link *links[TOGETHER];
	size_t together = 0;

	for (size_t i = 0; i < count; i++) {
		for (int k = 0; k < 2; k++) {
			if (sets[i]->multi[k] > 0)
				close(sets[i]->multi[k]);
		}
		for (size_t k = 0; k < sets[i]->links; k++) {
			links[together++] = sets[i]->link[k];
			if (together == TOGETHER) {
				destroy_links(links, together);
				together = 0;
			}
		}
		forget(sets[i]);
	}
	destroy_links(links, together);
}
