/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a process's verbs calls arrive: looks in its memory for struct ibv_context, ibv_qp_ex and ibv_cq_ex, whose pointers are
 * the functions of its provider. So it works for programs that run, in containers, with libraries that were deleted or are
 * linked in.
 *
 * Only pages that are in memory are read, so that none is faulted in, and only so many. What is found is the process's word:
 * whoever puts probes there does so for this process alone.
 */
#ifndef USERSPACE_OBSERVE_VERBS_SEARCH_H
#define USERSPACE_OBSERVE_VERBS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include <linux/types.h>

#include "bpf/verbs_abi.h"

#define SEARCH_PATH 64

/* A mapping of a file that can be executed. */
struct search_code {
	__u64 start, end;
	__u64 offset; /* of `start` in the file */
	__u64 device, inode;
};

/* A function that a pointer leads to. */
struct search_function {
	__u64 address; /* in the process */
	__u8 at;       /* enum verbs_at */
	__u8 opcode;   /* enum ibv_wr_opcode of VERBS_AT_WR; VERBS_OPCODES: of several */
};

struct search_limits {
	__u64 bytes; /* most that are read: once for contexts, and once more for their QPs and CQs */
	__u64 ns;    /* most time, as well */
	bool any_uverbs; /* any file whose name begins with uverbs is a device of RDMA, not only the kernel's; for tests */
};

#define SEARCH_LIMITS { .bytes = 128ull << 20, .ns = 300000000 }

struct search {
	struct search_code *code; /* by address */
	size_t code_count, code_room;
	struct search_function *functions;
	size_t count, room;
	unsigned int contexts, qps, cqs; /* structs that were found */
	__u64 bytes; /* read */
	__u64 ns;    /* time taken */
	bool cut;    /* a limit has ended it */
	int error;   /* errno: its memory cannot be read; 0: it was */
};

/* Looks through a process. The result is freed by search_free() in any case. Returns whether a context was found. */
bool search_process(__u32 pid, const struct search_limits *limits, struct search *s);

/* Only the code of a process: for addresses that are known otherwise. false: it cannot be read. */
bool search_code(__u32 pid, struct search *s);
void search_free(struct search *s);

/* Adds a function. */
void search_add(struct search *s, __u64 address, enum verbs_at at, unsigned int opcode);

/* The mapping of an address. NULL: none of a file. */
const struct search_code *search_where(const struct search *s, __u64 address);

/* The file of a mapping, in whichever mount namespace, deleted or not. */
void search_path(__u32 pid, const struct search_code *code, char path[SEARCH_PATH]);

/*
 * How far behind its beginning a function can be probed without the CPU having to be stepped over an instruction. code: its
 * first bytes. -1: nowhere, so that each call would be interrupted twice more. Where the kernel's rules are not known (not
 * x86-64): 0.
 */
int search_cheap_place(const __u8 *code, size_t length);

#endif
