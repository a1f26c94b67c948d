// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lib/cause.h"
#include "userspace/observe/live/kernel.h"

/*
 * A driver without multi-buffer support accepts such programs too. They then see single-buffer frames only, as plain programs
 * do.
 */
bool kernel_has_frags(void)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .prog_flags = BPF_F_XDP_HAS_FRAGS);
	const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = bpf_prog_load(BPF_PROG_TYPE_XDP, "probe", "GPL", pass, sizeof(pass) / sizeof(*pass), &options);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool kernel_has_loop(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_XDP, BPF_FUNC_loop, NULL) == 1;
}

bool kernel_is_supported(void)
{
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_XDP, BPF_FUNC_timer_init, NULL) == 1;
}

/* Whether the running kernel lacks what that version brought. */
static bool lacks(const char *version)
{
	if (!strcmp(version, "5.18"))
		return !kernel_has_frags();
	if (!strcmp(version, "5.17"))
		return !kernel_has_loop();
	return !kernel_is_supported();
}

const char *kernel_refused(char why[KERNEL_WHY], int error, const char *oldest)
{
	struct utsname system = { 0 };

	uname(&system);
	if (error == EPERM && kernel_trusts_us())
		snprintf(why, KERNEL_WHY, "the kernel takes no BPF programs of this process: a capability is missing (CAP_BPF, "
			 "CAP_PERFMON, CAP_NET_ADMIN), the machine is locked down, or a container's seccomp forbids it");
	else if (error == EPERM || (error == EACCES && !kernel_trusts_us()))
		snprintf(why, KERNEL_WHY, "no permission to load BPF programs: run as root (or with CAP_BPF, CAP_PERFMON and "
			 "CAP_NET_ADMIN)");
	else if (error == EMFILE || error == ENFILE || error == ENOMEM || error == EAGAIN || error == EINTR)
		snprintf(why, KERNEL_WHY, "the BPF programs cannot be loaded: %s", cause(error).text);
	else if (lacks(oldest))
		snprintf(why, KERNEL_WHY, "the kernel does not take the BPF programs: Linux %s or newer is needed, this is %s", oldest,
			 system.release);
	else
		snprintf(why, KERNEL_WHY, "the kernel does not take the BPF programs: %s (Linux %s; --verbose tells more)",
			 strerror(error), system.release);
	return why;
}

static bool has_capability(int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	syscall(SYS_capget, &header, data);
	return data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability);
}

bool kernel_trusts_us(void)
{
	return has_capability(CAP_PERFMON) || kernel_may_administer();
}

bool kernel_may_administer(void)
{
	return has_capability(CAP_SYS_ADMIN);
}

void kernel_keep_capabilities(__u64 keep, bool for_good)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (!syscall(SYS_capget, &header, data)) {
		for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
			data[i].effective &= keep >> 32 * i;
			data[i].permitted &= keep >> 32 * i;
			data[i].inheritable &= keep >> 32 * i;
		}
		syscall(SYS_capset, &header, data); /* to have fewer is always allowed */
	}
	if (for_good)
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static bool has_open(const char *pid, __u32 id)
{
	char path[PATH_MAX], line[80];
	const struct dirent *fd;
	unsigned int found;
	bool has = false;
	DIR *fds;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/fdinfo", pid);
	fds = opendir(path);
	while (fds && !has && (fd = readdir(fds))) {
		snprintf(path, sizeof(path), "/proc/%s/fdinfo/%s", pid, fd->d_name);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f))
			has |= sscanf(line, "prog_id: %u", &found) == 1 && found == id;
		if (f)
			fclose(f);
	}
	if (fds)
		closedir(fds);
	return has;
}

void kernel_process_name(pid_t pid, char name[16])
{
	char path[40];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (!f || !fgets(name, 16, f))
		name[0] = 0;
	name[strcspn(name, "\n")] = 0;
	if (f)
		fclose(f);
}

/* The kernel counts the holders of a program, but only /proc names them. */
pid_t kernel_program_holder(__u32 id)
{
	DIR *processes = opendir("/proc");
	const struct dirent *process;
	pid_t pid, holder = 0;

	while (processes && !holder && (process = readdir(processes))) {
		pid = atoi(process->d_name);
		if (pid > 0 && pid != getpid() && has_open(process->d_name, id))
			holder = pid;
	}
	if (processes)
		closedir(processes);
	return holder;
}
