// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Containers from made-up texts of /proc/PID/cgroup, as runtimes write them; and what is kept of a process. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/cmocka_includes.h"

#include "userspace/observe/host/processes.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *cgroup, *name; /* NULL: none */
} cases[] = {
	{ "", NULL },
	{ "0::/\n", NULL },
	{ "0::/user.slice/user-1000.slice/session-3.scope\n", NULL },
	{ "0::/system.slice/docker.service\n", NULL },
	{ "0::/docker/" ID "\n", "docker/0123456789ab" },
	{ "0::/docker/" ID "/init.scope\n", "docker/0123456789ab" },
	{ "0::/system.slice/docker-" ID ".scope\n", "docker/0123456789ab" },
	/* cgroup v1: many lines, of which some tell nothing */
	{ "12:rdma:/\n11:pids:/docker/" ID "\n1:name=systemd:/docker/" ID "\n0::/system.slice/containerd.service\n",
	  "docker/0123456789ab" },
	{ "0::/machine.slice/libpod-" ID ".scope/container\n", "podman/0123456789ab" },
	{ "0::/machine.slice/libpod-conmon-" ID ".scope\n", NULL },
	{ "0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container\n", "podman/0123456789ab" },
	{ "0::/libpod_parent/libpod-" ID "\n", "podman/0123456789ab" },
	/* Kubernetes: by systemd and by cgroupfs, of the three classes of service */
	{ "0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12345678_9abc_def0_1234_56789abcdef0.slice/"
	  "cri-containerd-" ID ".scope\n",
	  "k8s/12345678-9abc-def0-1234-56789abcdef0/0123456789ab" },
	{ "0::/kubepods.slice/kubepods-pod12345678_9abc_def0_1234_56789abcdef0.slice/crio-" ID ".scope\n",
	  "k8s/12345678-9abc-def0-1234-56789abcdef0/0123456789ab" },
	{ "0::/kubepods.slice/kubepods-pod12345678_9abc_def0_1234_56789abcdef0.slice/crio-conmon-" ID ".scope\n", NULL },
	{ "11:pids:/kubepods/besteffort/pod12345678-9abc-def0-1234-56789abcdef0/" ID "\n",
	  "k8s/12345678-9abc-def0-1234-56789abcdef0/0123456789ab" },
	/* kind: a node in docker, and in it a pod */
	{ "0::/docker/" ID "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod1234.slice/cri-containerd-"
	  "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210.scope\n",
	  "container/fedcba987654" },
	{ "0::/system.slice/nerdctl-" ID ".scope\n", "nerdctl/0123456789ab" },
	{ "0::/default/" ID "\n", "container/0123456789ab" },
	{ "0::/machine.slice/systemd-nspawn@web.service/payload\n", "nspawn/web" },
	{ "0::/machine.slice/systemd-nspawn@my\\x2dbox.service/payload/system.slice/ssh.service\n", "nspawn/my-box" },
	{ "0::/machine.slice/machine-deb12.scope\n", "nspawn/deb12" },
	{ "0::/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator\n", NULL },
	{ "0::/lxc.payload.box/system.slice\n", "lxc/box" },
	{ "0::/lxc.monitor.box\n", NULL },
	{ "4:memory:/lxc/box/init.scope\n", "lxc/box" },
	/* what is cut, or is none */
	{ "0:", NULL },
	{ "0::", NULL },
	{ "0::/docker/0123456789abcdef\n", NULL },
	{ "0::/docker/" ID "0\n", NULL },
	{ "::docker-" ID, NULL },
	{ "0::/lxc.payload.\n", NULL },
};

static void test_containers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char name[PROCESS_CONTAINER] = "", *text = strdup(cases[i].cgroup);
		bool found = container_name(text, name);

		if (found != !!cases[i].name || (found && strcmp(name, cases[i].name)))
			fail_msg("%s: %s", cases[i].cgroup, found ? name : "none");
		free(text);
	}
}

/* Each beginning of each text, in memory of just that size, and names that a terminal would obey. */
static void test_cut(void **state)
{
	char name[PROCESS_CONTAINER];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t length = 0; length <= strlen(cases[i].cgroup); length++) {
			char *text = strndup(cases[i].cgroup, length);

			container_name(text, name);
			free(text);
		}
	assert_true(container_name("0::/lxc/a\033[2Jb\n", name));
	assert_string_equal(name, "lxc/a?[2Jb");
	assert_true(container_name("0::/machine.slice/machine-a\\x1b.scope\n", name));
	assert_string_equal(name, "nspawn/a?");
}

/* A process with a difficult name, that ends. */
static void test_process(void **state)
{
	struct processes *p = processes_open();
	const struct process *found;
	int ready[2], end[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready) | pipe(end), 0);
	pid = fork();
	if (!pid) {
		close(end[1]);
		prctl(PR_SET_NAME, "a) R 1 (b");
		if (write(ready[1], "", 1) == 1 && read(end[0], &byte, 1) == 1)
			prctl(PR_SET_NAME, "other");
		if (write(ready[1], "", 1) == 1 && read(end[0], &byte, 1) == 0)
			_exit(0);
		_exit(1);
	}
	close(end[0]);
	processes_begin(p);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	found = processes_find(p, pid);
	assert_non_null(found);
	assert_string_equal(found->name, "a) R 1 (b");
	assert_true(found->start > 0);
	assert_int_equal(write(end[1], "", 1), 1);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_string_equal(processes_find(p, pid)->name, "a) R 1 (b"); /* once a reading */
	processes_begin(p);
	assert_string_equal(processes_find(p, pid)->name, "other");
	close(end[1]);
	waitpid(pid, NULL, 0);
	processes_begin(p);
	assert_null(processes_find(p, pid));
	assert_null(processes_find(p, pid));
	processes_begin(p);
	processes_begin(p);
	close(ready[0]);
	close(ready[1]);
	processes_close(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_containers),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
