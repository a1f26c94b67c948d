/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Tests which BPF features the running kernel has, by trying them. */
#ifndef USERSPACE_OBSERVE_LIVE_KERNEL_H
#define USERSPACE_OBSERVE_LIVE_KERNEL_H

#include <linux/types.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Multi-buffer XDP (programs of the section xdp.frags): Linux 5.18. Where it exists, programs of the section xdp are not
 * needed. Also false if the caller may not load programs.
 */
bool kernel_has_frags(void);

/* bpf_loop(): Linux 5.17. Also true if the caller may not load programs. */
bool kernel_has_loop(void);

/* Whether it is Linux 5.15 or newer: whether it has bpf_timer_init(). Also true if the caller may not load programs. */
bool kernel_is_supported(void);

#define KERNEL_WHY 320

/*
 * Why the kernel refused BPF programs with this errno, and what to do. oldest: as in live_say_refused(). It is named only if a probe
 * says that the running kernel lacks what that version brought. Returns `why`.
 */
const char *kernel_refused(char why[KERNEL_WHY], int error, const char *oldest);

/*
 * CAP_PERFMON, or CAP_SYS_ADMIN, which includes it. Without it the verifier rejects (EACCES) programs that it accepts
 * otherwise.
 */
bool kernel_trusts_us(void);

/* CAP_SYS_ADMIN, for which the kernel lists BPF programs, and the types of modules (BTF). */
bool kernel_may_administer(void);

/*
 * Gives up all capabilities but those whose bits are set (1ull << CAP_BPF), of this thread and those that it begins. Root keeps its
 * user ID, so a program that it starts has all of them again, unless for_good: then no program gets more than this one has.
 */
void kernel_keep_capabilities(__u64 keep, bool for_good);

/* Another process that has the BPF program of this id open. 0: none that can be examined. */
pid_t kernel_program_holder(__u32 id);

/* The name of a process (/proc/PID/comm). Empty: not visible. */
void kernel_process_name(pid_t pid, char name[16]);

#endif
