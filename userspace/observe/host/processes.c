// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/clock.h"
#include "lib/shown.h"
#include "userspace/observe/host/processes.h"

#define SLOTS 1024 /* a power of two */
#define ID 64	   /* hexadecimal digits of a container's identifier (OCI runtimes) */
#define ID_SHOWN 12
#define CGROUP_MOST 4096

struct known {
	struct process process;
	unsigned int reading; /* in which it was asked for last */
	struct known *next;
};

struct processes {
	struct known *slots[SLOTS];
	unsigned int reading;
	__u64 pid_namespace; /* ours; 0: not known */
};

/* ---- which container ---- */

/* Length of the identifier at the start of `text`; 0: there is none. */
static size_t id_length(const char *text)
{
	size_t length = strspn(text, "0123456789abcdef");

	return length == ID ? ID : 0;
}

/* Copies a name in which systemd wrote some characters as \xHH, up to one of the `ends`. */
static void copy_escaped(char *to, size_t size, const char *from, const char *end)
{
	size_t n = 0;
	int value;

	while (from < end && n + 1 < size) {
		if (end - from >= 4 && sscanf(from, "\\x%2x", &value) == 1) {
			to[n++] = value;
			from += 4;
		} else {
			to[n++] = *from++;
		}
	}
	to[n] = 0;
}

/* A name between the end of `before` and `after` in one component of a path. */
static bool name_between(const char *part, const char *before, const char *after, char *name, size_t size)
{
	size_t length = strcspn(part, "/\n"), begin = strlen(before), end = strlen(after);

	if (length <= begin + end || strncmp(part, before, begin) || strncmp(part + length - end, after, end))
		return false;
	copy_escaped(name, size, part + begin, part + length - end);
	return true;
}

/* "kubepods-burstable-podUID.slice" (systemd, _ instead of -), "podUID" (cgroupfs). */
static bool pod_uid(const char *part, char uid[40])
{
	char text[64];

	if (!name_between(part, "kubepods", ".slice", text, sizeof(text)) && !name_between(part, "pod", "", text, sizeof(text)))
		return false;
	if (!strncmp(part, "pod", 3))
		return snprintf(uid, 40, "%.36s", text) > 8;
	if (!strstr(text, "-pod"))
		return false;
	snprintf(uid, 40, "%.36s", strstr(text, "-pod") + 4);
	for (char *c = uid; *c; c++)
		*c = *c == '_' ? '-' : *c;
	return true;
}

/* The runtime that wrote such a name before the identifier; NULL: it runs no container's processes. */
static const char *runtime(const char *part, const char *id, const char *before)
{
	static const struct {
		const char *prefix, *name;
	} runtimes[] = { { "docker-", "docker" }, { "libpod-", "podman" }, { "cri-containerd-", "container" },
			 { "crio-", "container" }, { "nerdctl-", "nerdctl" } };

	if (!strncmp(part, "libpod-conmon-", 14) || !strncmp(part, "crio-conmon-", 12))
		return NULL;
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		if ((size_t)(id - part) == strlen(runtimes[i].prefix) && !strncmp(part, runtimes[i].prefix, id - part))
			return runtimes[i].name;
	return !strncmp(before, "docker/", 7) ? "docker" : "container";
}

/* before: the component of the path before this one. */
static bool container_by_id(const char *part, const char *before, const char *uid, char name[PROCESS_CONTAINER])
{
	size_t length = strcspn(part, "/\n");
	const char *id = part, *who;

	while (id < part + length && !id_length(id)) {
		const char *dash = memchr(id, '-', part + length - id);

		if (!dash)
			return false;
		id = dash + 1;
	}
	if (id >= part + length)
		return false;
	who = runtime(part, id, before);
	if (!who)
		return false;
	if (uid[0])
		snprintf(name, PROCESS_CONTAINER, "k8s/%s/%.*s", uid, ID_SHOWN, id);
	else
		snprintf(name, PROCESS_CONTAINER, "%s/%.*s", who, ID_SHOWN, id);
	return true;
}

/* A component of a path that has the name of a container. A machine's scope may be of a virtual machine (libvirt). */
static bool container_by_name(const char *part, const char *before, char name[PROCESS_CONTAINER])
{
	char text[PROCESS_CONTAINER - 8];

	if (name_between(part, "systemd-nspawn@", ".service", text, sizeof(text)) ||
	    (strncmp(part, "machine-qemu", 12) && name_between(part, "machine-", ".scope", text, sizeof(text))))
		snprintf(name, PROCESS_CONTAINER, "nspawn/%s", text);
	else if (name_between(part, "lxc.payload.", "", text, sizeof(text)) ||
		 ((!strncmp(before, "lxc/", 4) || !strncmp(before, "lxc.payload/", 12)) &&
		  name_between(part, "", "", text, sizeof(text))))
		snprintf(name, PROCESS_CONTAINER, "lxc/%s", text);
	else
		return false;
	return true;
}

/* path: up to the end of its line. The innermost container counts. */
static bool container_of_path(const char *path, char name[PROCESS_CONTAINER])
{
	const char *before = "";
	char uid[40] = "";
	bool found = false;

	for (const char *part = path; *part == '/'; part += strcspn(part, "/\n")) {
		part++;
		pod_uid(part, uid);
		found |= container_by_id(part, before, uid, name) || container_by_name(part, before, name);
		before = part;
	}
	return found;
}

bool container_name(const char *cgroup, char name[PROCESS_CONTAINER])
{
	for (const char *line = cgroup; line && *line; line = strchr(line, '\n')) {
		const char *path = line + (*line == '\n');
		size_t length = strcspn(path, "\n"); /* NUMBER:CONTROLLERS:PATH */
		const char *at = memchr(path, ':', length);

		at = at ? memchr(at + 1, ':', path + length - at - 1) : NULL;
		if (at && container_of_path(at + 1, name)) {
			shown(name);
			return true;
		}
		line = path;
	}
	return false;
}

/* ---- reading ---- */

static bool read_file(__u32 pid, const char *file, char *text, size_t size)
{
	char path[40];
	size_t bytes = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, file);
	f = fopen(path, "re");
	if (f) {
		bytes = fread(text, 1, size - 1, f);
		fclose(f);
	}
	text[bytes] = 0;
	return bytes;
}

/* Ticks since the boot go on while the machine sleeps, and are whole ones. */
static __u64 monotonic_of(__u64 ticks)
{
	__u64 now = now_ns(), slept = clock_ns(CLOCK_BOOTTIME) - now, since_boot = ticks * (NSEC_PER_SEC / sysconf(_SC_CLK_TCK));

	return since_boot > slept ? since_boot - slept : 0;
}

/* "4711 (name) S 1 ...": the name may have parentheses. The start is the 22nd field (proc(5)). */
static bool read_stat(__u32 pid, struct process *to)
{
	char text[1024], *begin, *end;

	if (!read_file(pid, "stat", text, sizeof(text)))
		return false;
	begin = strchr(text, '(');
	end = strrchr(text, ')');
	if (!begin || !end || end < begin ||
	    sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu", &to->start) != 1)
		return false;
	to->began = monotonic_of(to->start);
	snprintf(to->name, sizeof(to->name), "%.*s", (int)(end - begin - 1), begin + 1);
	shown(to->name);
	return true;
}

static __u64 pid_namespace(const char *pid)
{
	char path[40];
	struct stat s;

	snprintf(path, sizeof(path), "/proc/%s/ns/pid", pid);
	return stat(path, &s) ? 0 : s.st_ino;
}

/* A process with a PID namespace of its own is in a container of whatever kind. */
static void read_container(const struct processes *p, struct process *to)
{
	char text[CGROUP_MOST], pid[12];
	__u64 namespace;

	if (read_file(to->pid, "cgroup", text, sizeof(text)) && container_name(text, to->container))
		return;
	snprintf(pid, sizeof(pid), "%u", to->pid);
	namespace = pid_namespace(pid);
	if (namespace && p->pid_namespace && namespace != p->pid_namespace)
		snprintf(to->container, sizeof(to->container), "pid-namespace/%llu", namespace);
}

/* ---- what is kept ---- */

struct processes *processes_open(void)
{
	struct processes *p = calloc(1, sizeof(*p));

	if (p)
		p->pid_namespace = pid_namespace("self");
	return p;
}

void processes_close(struct processes *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < SLOTS; i++)
		for (struct known *k = p->slots[i], *next; k; k = next) {
			next = k->next;
			free(k);
		}
	free(p);
}

void processes_begin(struct processes *p)
{
	for (size_t i = 0; i < SLOTS; i++)
		for (struct known **at = &p->slots[i], *k; (k = *at);) {
			if (k->reading == p->reading) {
				at = &k->next;
				continue;
			}
			*at = k->next;
			free(k);
		}
	p->reading++;
}

const struct process *processes_find(struct processes *p, __u32 pid)
{
	struct known **slot = &p->slots[pid % SLOTS], *k = *slot;
	struct process now = { .pid = pid };

	while (k && k->process.pid != pid)
		k = k->next;
	if (k && k->reading == p->reading)
		return k->process.start ? &k->process : NULL;
	if (!k) {
		k = calloc(1, sizeof(*k));
		if (!k)
			return NULL;
		k->next = *slot;
		*slot = k;
	}
	k->reading = p->reading;
	if (!read_stat(pid, &now)) {
		k->process = (struct process){ .pid = pid }; /* for this reading: it is asked for once */
		return NULL;
	}
	if (k->process.start == now.start)
		memcpy(now.container, k->process.container, sizeof(now.container));
	else
		read_container(p, &now);
	k->process = now;
	return &k->process;
}
