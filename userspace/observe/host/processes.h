/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Who the processes are that have QPs: name, and container. Many QPs are of few processes, so what was read of a process is kept, by
 * its number and the time of its start: a number is used again.
 */
#ifndef USERSPACE_OBSERVE_HOST_PROCESSES_H
#define USERSPACE_OBSERVE_HOST_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define PROCESS_CONTAINER 80

struct process {
	__u32 pid;	  /* in our PID namespace */
	__u64 start;	  /* clock ticks since boot */
	__u64 began;	  /* the same in ns of CLOCK_MONOTONIC, at the earliest: what is older is of another process of that number */
	char name[32];	  /* as a terminal may show it */
	char container[PROCESS_CONTAINER]; /* see container_name(); "": none, or not known */
};

struct processes;

struct processes *processes_open(void); /* NULL: no memory */
void processes_close(struct processes *p);

/* Begins a reading: a process that is asked for from here on is read again, once. Those that the last one did not ask for go. */
void processes_begin(struct processes *p);

/* Valid until the next processes_begin(). NULL: it is not there, or no memory. */
const struct process *processes_find(struct processes *p, __u32 pid);

/*
 * The container from the text of /proc/PID/cgroup (of cgroup v1 or v2): "docker/0123456789ab", "podman/0123456789ab",
 * "k8s/POD-UID/0123456789ab", "nspawn/NAME", "lxc/NAME", "container/0123456789ab" of an unknown runtime. false: none of these.
 */
bool container_name(const char *cgroup, char name[PROCESS_CONTAINER]);

#endif
