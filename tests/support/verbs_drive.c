// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * verbs_drive: probes at the calls of programs (userspace/observe/verbs/calls.h), without RDMA. It reads lines and answers each
 * with a line of JSON:
 *
 *     verbs_drive [expensive] [single] [strict] [devices] [most PERCENT] [device NAME] [watch]
 *     update PID...      like an interval: searches these processes, and reads what was counted
 *     gone PID QPN       this QP was destroyed
 *     cost               what the probes cost
 *     search PID         only looks through a process
 *     time PID...        ms of CPU time of an update, of which nothing is printed, and how many QPs of these processes have calls
 *     listing COUNT      ms of CPU time to take a listing of so many made-up QPs, which are known already
 *
 * With `watch` it reads nothing: it watches each process that has a file uverbs... open, until SIGINT, and then answers as to
 * update.
 */
#include <dirent.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bpf/verbs.skel.h"
#include "lib/clock.h"
#include "userspace/observe/verbs/calls.h"
#include "userspace/observe/verbs/qps.h"
#include "userspace/observe/verbs/search.h"

static const char *const counters[] = {
#define VERBS_COUNTER(name, unit, words) #name,
#include "bpf/verbs_counter.def"
#undef VERBS_COUNTER
};

static int be_silent(enum libbpf_print_level level, const char *format, va_list arguments)
{
	(void)level, (void)format, (void)arguments;
	return 0;
}

static void list(const char *name, const __u64 *values, int n)
{
	printf(", \"%s\": [", name);
	for (int i = 0; i < n; i++)
		printf("%s%llu", i ? ", " : "", values[i]);
	printf("]");
}

static void request(const char *name, const struct verbs_request *r)
{
	printf(", \"%s\": {\"wr_id\": %llu, \"remote_addr\": %llu, \"bytes\": %llu, \"rkey\": %u, \"opcode\": %u}", name, r->wr_id,
	       r->remote_addr, r->bytes, r->rkey, r->opcode);
}

static void print_qp(__u32 pid, __u32 qpn, const struct verbs_calls *c)
{
	printf("{\"pid\": %u, \"qpn\": %u, \"device\": \"%s\"", pid, qpn, c->device);
	for (int i = 0; i < VERBS_COUNTERS; i++)
		printf(", \"%s\": %llu", counters[i], c->count[i]);
	printf(", \"outstanding\": %llu, \"outstanding_most\": %llu, \"list_most\": %llu, \"threads\": %u, \"paired\": %u, \"sig_all\": %u",
	       c->tail - c->head, c->outstanding_most, c->list_most, c->threads, c->paired, c->sig_all);
	printf(", \"latency_count\": %llu, \"latency_most\": %llu, \"error_status\": %u, \"error_vendor\": %u, \"error_is_receive\": %u, "
	       "\"error_flushes_before\": %llu, \"good\": [%llu, %llu]", c->latency_count, c->latency_most, c->error_status,
	       c->error_vendor, c->error_is_receive, c->error_flushes_before, c->good_low, c->good_high);
	request("error_request", &c->error_request);
	request("good_request", &c->good_request);
	list("opcode", c->wrs, VERBS_OPCODES);
	list("bytes", c->bytes, VERBS_OPCODES);
	list("done", c->done, VERBS_WC_OPCODES);
	list("received", c->received, 2);
	list("received_bytes", c->received_bytes, 2);
	list("status", c->status, VERBS_STATUSES);
	printf("}");
}

static size_t pids_of(char *words, __u32 *pids, size_t room)
{
	size_t count = 0;

	for (char *word = strtok(words, " \n"); word && count < room; word = strtok(NULL, " \n"))
		pids[count++] = strtoul(word, NULL, 10);
	return count;
}

#define PIDS 64
#define QPNS 8192

static const char *device = "standin0";
static struct notes notes;

static void update(struct calls *c, const __u32 *pids, size_t count)
{
	const struct verbs_srq *srqs;
	const struct verbs_cq *cqs;
	bool first = true;
	size_t n;

	calls_update(c, pids, count);
	printf("{\"qps\": [");
	for (size_t i = 0; i < count; i++) {
		for (__u32 qpn = 0; qpn < QPNS; qpn++) {
			const struct verbs_calls *calls = calls_find(c, pids[i], qpn, device, 0);

			if (!calls)
				continue;
			printf(first ? "" : ", ");
			print_qp(pids[i], qpn, calls);
			first = false;
		}
	}
	printf("], \"blind\": [");
	for (size_t i = 0; i < count; i++)
		printf("%s%d", i ? ", " : "", calls_blind(c, pids[i]));
	printf("], \"cqs\": [");
	n = calls_cqs(c, &cqs);
	for (size_t i = 0; i < n; i++)
		printf("%s{\"pid\": %u, \"polls\": %llu, \"empty\": %llu, \"completions\": %llu, \"notified\": %llu, \"batch_most\": %llu, "
		       "\"failed\": %llu}", i ? ", " : "", cqs[i].pid, cqs[i].polls, cqs[i].empty, cqs[i].completions, cqs[i].notified,
		       cqs[i].batch_most, cqs[i].failed);
	printf("], \"srqs\": [");
	n = calls_srqs(c, &srqs);
	for (size_t i = 0; i < n; i++)
		printf("%s{\"pid\": %u, \"posts\": %llu, \"wrs\": %llu, \"bytes\": %llu, \"refused\": %llu}", i ? ", " : "", srqs[i].pid,
		       srqs[i].posts, srqs[i].wrs, srqs[i].bytes, srqs[i].refused);
	printf("], \"notes\": [");
	for (size_t i = 0; i < notes.count; i++)
		printf("%s\"%s\"", i ? ", " : "", notes.lines[i]);
	printf("]}\n");
}

/* ---- watching ---- */

static volatile sig_atomic_t ended;

static void end(int number)
{
	(void)number;
	ended = 1;
}

static bool has_uverbs(const char *process)
{
	char path[512], target[256];
	DIR *folder;
	bool found = false;

	snprintf(path, sizeof(path), "%s/fd", process);
	folder = opendir(path);
	if (!folder)
		return false;
	for (struct dirent *e; !found && (e = readdir(folder));) {
		ssize_t length = readlinkat(dirfd(folder), e->d_name, target, sizeof(target) - 1);

		target[length > 0 ? length : 0] = 0;
		found = strstr(target, "/uverbs");
	}
	closedir(folder);
	return found;
}

static void add_pid(__u32 *pids, size_t *count, __u32 pid)
{
	for (size_t i = 0; i < *count; i++) {
		if (pids[i] == pid)
			return;
	}
	if (*count < PIDS)
		pids[(*count)++] = pid;
}

static void watch(struct calls *c)
{
	__u32 pids[PIDS];
	size_t count = 0;

	signal(SIGINT, end);
	while (!ended) {
		glob_t g;

		if (!glob("/proc/[0-9]*", 0, NULL, &g)) {
			for (size_t i = 0; i < g.gl_pathc; i++) {
				if (has_uverbs(g.gl_pathv[i]))
					add_pid(pids, &count, strtoul(g.gl_pathv[i] + strlen("/proc/"), NULL, 10));
			}
			globfree(&g);
		}
		calls_update(c, pids, count);
		usleep(20000);
	}
	update(c, pids, count);
}

static void print_cost(const struct calls *c)
{
	const struct verbs_cost *cost = calls_cost(c);

	if (!cost)
		printf("null\n");
	else
		printf("{\"calls\": %.1f, \"ns\": %.1f, \"share\": %.6f, \"empty_calls\": %.1f, \"empty_share\": %.6f, \"stopped\": %s}\n",
		       cost->calls, cost->ns, cost->share, cost->empty_calls, cost->empty_share, cost->stopped ? "true" : "false");
}

static void print_search(__u32 pid)
{
	struct search_limits limits = SEARCH_LIMITS;
	struct search s;

	limits.any_uverbs = true;
	search_process(pid, &limits, &s);
	printf("{\"contexts\": %u, \"qps\": %u, \"cqs\": %u, \"functions\": %zu, \"bytes\": %llu, \"ms\": %.3f, \"cut\": %s, \"error\": %d}\n",
	       s.contexts, s.qps, s.cqs, s.count, s.bytes, s.ns / 1e6, s.cut ? "true" : "false", s.error);
	search_free(&s);
}

static void tell_gone(struct calls *c, const char *words)
{
	unsigned int pid = 0, qpn = 0;

	sscanf(words, "%u %u", &pid, &qpn);
	calls_gone(c, pid, qpn, device, 0, now_ns());
	printf("{}\n");
}

static void print_time(struct calls *c, const __u32 *pids, size_t count)
{
	__u64 began = clock_ns(CLOCK_PROCESS_CPUTIME_ID), took;
	size_t qps = 0;

	calls_update(c, pids, count);
	took = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began;
	for (size_t i = 0; i < count; i++)
		for (__u32 qpn = 0; qpn < 4 * VERBS_QPS; qpn++)
			qps += !!calls_find(c, pids[i], qpn, device, 0);
	printf("{\"ms\": %.1f, \"qps\": %zu}\n", took / 1e6, qps);
}

/* QPs of a process that there is, so that its name is looked up. */
static void print_listing(size_t count)
{
	struct qps_options o = { .processes = processes_open() };
	struct host_qp *list = calloc(count + 1, sizeof(*list));
	struct qps *q = o.processes && list ? qps_open(&o) : NULL;
	struct qps_listing l = { .list = list, .count = count, .complete = true };
	__u64 took = 0;

	for (size_t i = 0; q && i < count; i++) {
		list[i] = (struct host_qp){ .port = 1, .qpn = 16 + i, .type = 2, .state = 3, .pid = getpid(), .sq_psn = 1, .rq_psn = 1 };
		strcpy(list[i].device, "rxe0");
	}
	for (int i = 0; q && i < 2; i++) {
		const struct verbs_qp *const *all;

		__u64 began = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

		l.begun = now_ns();
		processes_begin(o.processes);
		l.ended = now_ns();
		qps_listed(q, &l);
		qps_end(q);
		qps_list(q, &all);
		took = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - began;
	}
	printf("{\"ms\": %.1f}\n", took / 1e6);
	qps_close(q);
	processes_close(o.processes);
	free(list);
}

/* Without the kernel's half, which not every kernel allows. */
static struct verbs_bpf *load(const struct calls_options *o)
{
	struct verbs_bpf *b = verbs_bpf__open();
	struct bpf_program *program;
	const char *why;

	if (!b)
		return NULL;
	bpf_object__for_each_program(program, b->obj)
		bpf_program__set_autoload(program, false);
	why = calls_prepare(b, true, o);
	if (why) {
		fprintf(stderr, "verbs_drive: %s\n", why);
		return NULL;
	}
	return verbs_bpf__load(b) ? NULL : b;
}

int main(int argc, char **argv)
{
	struct calls_options o = { .any_uverbs = true, .no_devices = true };
	struct verbs_bpf *b;
	bool watching = false;
	struct calls *c;
	char line[1024];

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "expensive"))
			o.expensive = true;
		else if (!strcmp(argv[i], "single"))
			o.no_multi = true;
		else if (!strcmp(argv[i], "strict"))
			o.any_uverbs = false;
		else if (!strcmp(argv[i], "devices"))
			o.no_devices = false;
		else if (!strcmp(argv[i], "watch"))
			watching = true;
		else if (!strcmp(argv[i], "device") && i + 1 < argc)
			device = argv[++i];
		else if (!strcmp(argv[i], "most") && i + 1 < argc)
			o.most = atof(argv[++i]) / 100;
	}
	if (!getenv("VERBS_DRIVE_LOG"))
		libbpf_set_print(be_silent);
	b = load(&o);
	if (!b) {
		fprintf(stderr, "verbs_drive: the kernel refuses the programs\n");
		return 1;
	}
	c = calls_open(b, &o, &notes);
	printf("{\"ready\": %s, \"multi\": %s}\n", c && calls_cost(c) ? "true" : "false",
	       bpf_program__expected_attach_type(b->progs.verbs_calling) ? "true" : "false");
	fflush(stdout);
	if (c && watching)
		watch(c);
	while (c && !watching && fgets(line, sizeof(line), stdin)) {
		__u32 pids[PIDS];

		if (!strncmp(line, "update", 6))
			update(c, pids, pids_of(line + 6, pids, PIDS));
		else if (!strncmp(line, "gone", 4))
			tell_gone(c, line + 4);
		else if (!strncmp(line, "cost", 4))
			print_cost(c);
		else if (!strncmp(line, "time", 4))
			print_time(c, pids, pids_of(line + 4, pids, PIDS));
		else if (!strncmp(line, "listing", 7))
			print_listing(strtoul(line + 7, NULL, 10));
		else if (!strncmp(line, "search", 6))
			print_search(strtoul(line + 6, NULL, 10));
		fflush(stdout);
	}
	calls_close(c);
	notes_free(&notes);
	verbs_bpf__destroy(b);
	return 0;
}
