/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the running kernel's BPF can do, found out by trying it. */
#ifndef USERSPACE_LIVE_KERNEL_H
#define USERSPACE_LIVE_KERNEL_H

#include <linux/types.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Multi-buffer XDP, that is programs of the section xdp.frags: Linux 5.18. Where it is, the programs of the section xdp are not
 * needed. false also for whoever may not load programs.
 */
bool kernel_has_frags(void);

/* bpf_loop(): Linux 5.17. */
bool kernel_has_loop(void);

/* CAP_PERFMON, or CAP_SYS_ADMIN, which has it: without it the verifier refuses (EACCES) what it lets pass with it. */
bool kernel_trusts_us(void);

/* Another process that has the BPF program of that id open; 0: none that we may look into. */
pid_t kernel_program_holder(__u32 id);

/* What a process is called (/proc/PID/comm); empty: it cannot be seen. */
void kernel_process_name(pid_t pid, char name[16]);

#endif
