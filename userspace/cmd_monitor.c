// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope monitor: watches interfaces live, by the programs of bpf/monitor.bpf.c. */
#include <errno.h>
#include <getopt.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "bpf/abi.h"
#include "bpf/monitor.skel.h"
#include "lib/clock.h"
#include "lib/options.h"
#include "userspace/arguments.h"
#include "userspace/attach.h"
#include "userspace/commands.h"
#include "userspace/expect.h"
#include "userspace/kernel.h"
#include "userspace/maps.h"
#include "userspace/view.h"

#define INTERFACES 16
#define MAX_STREAMS (1 << 24)

struct options {
	const char *interface[INTERFACES];
	size_t interface_count;
	struct monitor_settings settings;
	const char *expect;
	enum attach_mode mode;
	enum view_streams streams;
	struct faults faults;
	double interval; /* s */
	double duration; /* s; 0: until told to stop */
	bool json, both, exit_code;
};

struct monitor {
	const struct options *options;
	struct monitor_bpf *bpf;
	struct bpf_program *xdp; /* the one that is loaded */
	bool frags;		 /* it is for multi-buffer frames too */
	struct attachment interface[INTERFACES];
	struct expected expected;
	size_t interface_count;
	size_t left; /* interfaces still there */
	__u64 start; /* ns, monotonic */
	sigset_t signals;
	struct snapshot now, previous;
	bool has_previous;
};

static bool verbose;

/* Signals are taken by sigtimedwait(); this is for those that come while standard output blocks. */
static volatile sig_atomic_t told_to_stop;

static void on_signal(int signal)
{
	(void)signal;
	told_to_stop = 1;
}

static const char usage[] =
	"usage: rocescope monitor IFACE... [OPTIONS]\n\n"
	"  -j, --json                print a rocescope.snapshot/1 object a line\n"
	"  --interval SECONDS        between two snapshots                            (1)\n"
	"  --duration SECONDS        end by itself; the last snapshot is the final one\n"
	"  --icrc all|off|1/N        which packets' ICRC is verified; 1/N: drawn at random  (all)\n"
	"  --mode auto|native|generic  how XDP is attached                            (auto)\n"
	"  --direction in|both       also what leaves the interface                   (in)\n"
	"  --drop                    drop what came in, on a port that only listens\n"
	"  --expect FILE             connections, one a line: which streams answer which\n"
	"  --udp PORT,...            also count UDP flows to these ports, up to 4\n"
	"  --streams all|changed|none  which streams are shown                        (all)\n"
	"  --max-streams N           room for so many                                 (65536)\n"
	"  --exit-code               exit status 3 if a fault was seen\n"
	"  --fail-on COUNTER,...     what is a fault, instead of the usual set; implies --exit-code\n"
	"  -v, --verbose             also what libbpf and the kernel's verifier say\n"
	"  -h, --help, --version\n";

enum {
	OPT_INTERVAL = OPTION_OWN, OPT_DURATION, OPT_ICRC, OPT_MODE, OPT_DIRECTION, OPT_DROP, OPT_EXPECT, OPT_UDP, OPT_STREAMS,
	OPT_MAX_STREAMS, OPT_EXIT_CODE, OPT_FAIL_ON, OPT_LATER,
};

static const struct option long_options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "interval", required_argument, NULL, OPT_INTERVAL },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "icrc", required_argument, NULL, OPT_ICRC },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "direction", required_argument, NULL, OPT_DIRECTION },
	{ "drop", no_argument, NULL, OPT_DROP },
	{ "expect", required_argument, NULL, OPT_EXPECT },
	{ "udp", required_argument, NULL, OPT_UDP },
	{ "streams", required_argument, NULL, OPT_STREAMS },
	{ "max-streams", required_argument, NULL, OPT_MAX_STREAMS },
	{ "exit-code", no_argument, NULL, OPT_EXIT_CODE },
	{ "fail-on", required_argument, NULL, OPT_FAIL_ON },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "filter", required_argument, NULL, OPT_LATER },
	{ "share", no_argument, NULL, OPT_LATER },
	{ "detach", no_argument, NULL, OPT_LATER },
	{ "prometheus", required_argument, NULL, OPT_LATER },
	{ 0 },
};

/* ---- the command line ---- */

static __u32 parse_icrc(const char *text)
{
	uint64_t n;

	if (!strcmp(text, "all"))
		return 1;
	if (!strcmp(text, "off"))
		return 0;
	if (strncmp(text, "1/", 2) || !parse_number(text + 2, UINT32_MAX, &n) || !n)
		usage_error("monitor: --icrc %s: neither all nor off nor 1/N", text);
	return n;
}

static void parse_positive_seconds(const char *option, const char *text, double *seconds)
{
	if (!parse_seconds(text, seconds) || *seconds < 0.001)
		usage_error("monitor: --%s %s: not a number of seconds of at least 0.001", option, text);
}

static void take_option(struct options *o, int value, char *text, const char *name)
{
	static const char *const modes[] = { "auto", "native", "generic", NULL };
	static const char *const directions[] = { "in", "both", NULL };
	static const char *const streams[] = { "all", "changed", "none", NULL };
	uint64_t n;

	switch (value) {
	case 'j':
		o->json = true;
		break;
	case 'v':
		verbose = true;
		break;
	case OPT_INTERVAL:
		parse_positive_seconds(name, text, &o->interval);
		break;
	case OPT_DURATION:
		parse_positive_seconds(name, text, &o->duration);
		break;
	case OPT_ICRC:
		o->settings.icrc_every = parse_icrc(text);
		break;
	case OPT_MODE:
		o->mode = argument_choice("monitor", name, text, modes);
		break;
	case OPT_DIRECTION:
		o->both = argument_choice("monitor", name, text, directions);
		break;
	case OPT_DROP:
		o->settings.drop = 1;
		break;
	case OPT_EXPECT:
		o->expect = text;
		break;
	case OPT_UDP:
		argument_ports("monitor", text, &o->settings.ports);
		break;
	case OPT_STREAMS:
		o->streams = argument_choice("monitor", name, text, streams);
		break;
	case OPT_MAX_STREAMS:
		if (!parse_number(text, MAX_STREAMS, &n) || !n)
			usage_error("monitor: --max-streams %s: not a number from 1 to %d", text, MAX_STREAMS);
		o->settings.max_streams = n;
		break;
	case OPT_EXIT_CODE:
		o->exit_code = true;
		break;
	case OPT_FAIL_ON:
		argument_faults("monitor", text, &o->faults);
		o->exit_code = true;
		break;
	case OPT_LATER:
		usage_error("monitor: --%s: not built yet", name);
	}
}

static void take_interface(struct options *o, const char *name)
{
	if (o->interface_count == INTERFACES)
		usage_error("monitor: at most %d interfaces", INTERFACES);
	if (strlen(name) >= IF_NAMESIZE)
		usage_error("monitor: %s: too long for the name of an interface", name);
	for (size_t i = 0; i < o->interface_count; i++)
		if (!strcmp(o->interface[i], name))
			usage_error("monitor: %s: named twice", name);
	o->interface[o->interface_count++] = name;
}

static void parse_options(struct options *o, int argc, char **argv)
{
	int value, index;

	*o = (struct options){ .settings = { .icrc_every = 1, .max_streams = 65536 }, .interval = 1,
			       .faults = faults_default() };
	opterr = 0;
	while (index = -1, (value = getopt_long(argc, argv, ":jvh", long_options, &index)) != -1) {
		if (value == '?' || value == ':')
			usage_error("monitor: %s: %s", argv[optind - 1],
				    value == '?' ? "no such option" : "needs a value");
		if (value == 'h') {
			fputs(usage, stdout);
			exit(EXIT_RAN);
		}
		take_option(o, value, optarg, index < 0 ? "" : long_options[index].name);
	}
	for (; optind < argc; optind++)
		take_interface(o, argv[optind]);
	if (!o->interface_count)
		usage_error("monitor: which interface?");
}

/* ---- the kernel's programs ---- */

static int libbpf_says(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return verbose && level != LIBBPF_DEBUG ? vfprintf(stderr, format, arguments) : 0;
}

/* Of the XDP programs only the one that the kernel needs: loading is most of the time until we watch. */
static void choose_programs(struct monitor *m)
{
	struct monitor_bpf *bpf = m->bpf;
	struct bpf_program *program;

	m->frags = kernel_has_frags();
	m->xdp = m->frags ? bpf->progs.watch_frags : kernel_has_loop() ? bpf->progs.watch_plain : bpf->progs.watch_old;
	bpf_object__for_each_program(program, bpf->obj)
		bpf_program__set_autoload(program, program == m->xdp);
	bpf_program__set_autoload(bpf->progs.watch_egress, m->options->both);
}

static bool load_programs(struct monitor *m)
{
	struct monitor_bpf *bpf = monitor_bpf__open();
	int error = errno;

	m->bpf = bpf;
	if (bpf) {
		bpf->rodata->settings = m->options->settings;
		maps_complete_settings((struct monitor_settings *)&bpf->rodata->settings, m->options->interval);
		fold_make_tables((struct fold_tables *)&bpf->rodata->fold_tables);
		bpf_map__set_max_entries(bpf->maps.buckets, bpf->rodata->settings.bucket_mask + 1);
		bpf_map__set_max_entries(bpf->maps.streams, bpf->rodata->settings.max_streams);
		/* twice: this kind of map may push something out before it is full */
		if (m->expected.count * 2 > PAIRS_MAX)
			bpf_map__set_max_entries(bpf->maps.pairs, m->expected.count * 2);
		choose_programs(m);
		error = -monitor_bpf__load(bpf);
	}
	if (error == EPERM)
		fprintf(stderr, "rocescope: no permission to load BPF programs: run as root (or with CAP_BPF, "
			"CAP_PERFMON and CAP_NET_ADMIN)\n");
	else if (error)
		fprintf(stderr, "rocescope: the kernel does not take the BPF programs: %s (kernel %s or newer is needed; "
			"--verbose tells more)\n", strerror(error), m->options->both ? "5.17" : "5.10");
	return !error;
}

static bool find_all(struct monitor *m)
{
	for (; m->interface_count < m->options->interface_count; m->interface_count++)
		if (!attach_find(&m->interface[m->interface_count], m->options->interface[m->interface_count]))
			return false;
	return true;
}

static bool attach_all(struct monitor *m)
{
	struct attach_programs programs = {
		.xdp = bpf_program__fd(m->xdp),
		.frags = m->frags,
		.egress = m->options->both ? bpf_program__fd(m->bpf->progs.watch_egress) : -1,
	};

	for (; m->left < m->interface_count; m->left++)
		if (!attach(&m->interface[m->left], &programs, m->options->mode))
			return false;
	return true;
}

static void detach_all(struct monitor *m)
{
	for (size_t i = 0; i < m->interface_count; i++)
		attach_end(&m->interface[i]);
}

/* One line, in one piece: whoever drives us waits for it. */
static void say_ready(const struct monitor *m)
{
	char line[INTERFACES * 64];
	size_t length = 0;

	for (size_t i = 0; i < m->interface_count; i++)
		length += snprintf(line + length, sizeof(line) - length, "%s%s (%s, %s)", i ? ", " : "",
				   m->interface[i].name, m->interface[i].mode, m->options->both ? "in+out" : "in");
	fprintf(stderr, "rocescope: watching %s\n", line);
}

/* ---- snapshots ---- */

static bool fill_interfaces(const struct monitor *m, struct snapshot *s)
{
	s->interfaces = calloc(m->interface_count, sizeof(*s->interfaces));
	if (!s->interfaces)
		return false;
	for (size_t i = 0; i < m->interface_count; i++) {
		struct snapshot_interface *to = &s->interfaces[s->interface_count++];
		const struct attachment *from = &m->interface[i];

		memcpy(to->name, from->name, sizeof(from->name));
		to->mode = from->mode;
		to->direction = m->options->both ? "both" : "in";
		to->ring_missed = from->missed;
	}
	return true;
}

#define EVICTED(totals) ((totals).value[COUNTER_streams_evicted])
#define READ_TRIES 3

/*
 * Totals and streams of one moment: what a stream that is evicted had counted moves from one to the other, and must not be
 * missed between them. Where streams are evicted all the time it may be, until the next snapshot.
 */
static bool read_counters(const struct monitor *m, struct snapshot *s)
{
	int scratches = bpf_map__fd(m->bpf->maps.scratches), table = bpf_map__fd(m->bpf->maps.table_states);
	struct roce_counters after;

	for (int i = 0; i < READ_TRIES; i++) {
		s->totals = after = (struct roce_counters){ 0 };
		s->stream_count = 0;
		if (maps_read_totals(scratches, &s->totals) ||
		    maps_read_streams(table, bpf_map__fd(m->bpf->maps.streams), s) || maps_read_totals(scratches, &after))
			return false;
		if (EVICTED(s->totals) == EVICTED(after))
			break;
	}
	return true;
}

static bool take_snapshot(struct monitor *m)
{
	struct snapshot *s = &m->now;
	__u64 now = now_ns();

	*s = (struct snapshot){ .complete = m->left == m->interface_count };
	clock_gettime(CLOCK_REALTIME, &s->time);
	s->seconds = (now - m->start) / 1e9;
	s->realtime_offset = s->time.tv_sec * NSEC_PER_SEC + s->time.tv_nsec - now;
	if (!fill_interfaces(m, s) || !read_counters(m, s)) {
		fprintf(stderr, "rocescope: cannot read the counters: %s\n", strerror(errno));
		return false;
	}
	snapshot_finish(s);
	return true;
}

/* 0 or an errno. A reader that has stopped reading must not hold us when we are told to stop. */
static int print_snapshot(const struct monitor *m)
{
	const struct snapshot *previous = m->has_previous ? &m->previous : NULL;
	int error = 0;

	sigprocmask(SIG_UNBLOCK, &m->signals, NULL);
	if ((m->options->json ? view_json : view_lines)(stdout, &m->now, previous, m->options->streams) ||
	    fflush(stdout))
		error = errno;
	sigprocmask(SIG_BLOCK, &m->signals, NULL);
	return error;
}

static bool show(struct monitor *m)
{
	int error;

	if (!take_snapshot(m))
		return false;
	error = print_snapshot(m);
	if (error) {
		fprintf(stderr, "rocescope: standard output: %s\n", strerror(error));
		return false;
	}
	snapshot_free(&m->previous);
	m->previous = m->now;
	m->has_previous = true;
	m->now = (struct snapshot){ 0 };
	return true;
}

/* ---- the run ---- */

/* false: told to stop */
static bool wait_until(const struct monitor *m, __u64 deadline)
{
	for (;;) {
		__u64 now = now_ns(), left = deadline > now ? deadline - now : 0;
		struct timespec timeout = { left / NSEC_PER_SEC, left % NSEC_PER_SEC };

		if (told_to_stop || sigtimedwait(&m->signals, NULL, &timeout) >= 0)
			return false;
		if (errno == EAGAIN)
			return true;
	}
}

/* Snapshots until the end, but the final one. false: something failed. */
static bool watch(struct monitor *m)
{
	__u64 interval = seconds_to_ns(m->options->interval), next = m->start + interval;
	__u64 end = m->options->duration ? m->start + seconds_to_ns(m->options->duration) : UINT64_MAX;

	while (wait_until(m, next < end ? next : end) && next < end) {
		m->left = attach_poll(m->interface, m->interface_count);
		if (!m->left) {
			fprintf(stderr, "rocescope: no interface is left to watch\n");
			return true;
		}
		if (!show(m))
			return false;
		do
			next += interval;
		while (next < now_ns()); /* a slow reader gets fewer snapshots, not late ones */
	}
	return true;
}

/* Off the interfaces first, so that the final snapshot has everything that was counted. */
static bool finish(struct monitor *m)
{
	m->left = attach_poll(m->interface, m->interface_count);
	detach_all(m);
	/* A program that ran when it was detached may still count: this waits for an RCU grace period. */
	syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	return show(m);
}

/* --expect */
static bool tell_expected(const struct monitor *m)
{
	for (size_t i = 0; i < m->expected.count; i++) {
		const struct expected_pair *e = &m->expected.entries[i];

		if (!bpf_map_update_elem(bpf_map__fd(m->bpf->maps.pairs), &e->key, &e->pair, BPF_ANY))
			continue;
		fprintf(stderr, "rocescope: the kernel does not take what --expect says: %s\n", strerror(errno));
		return false;
	}
	return true;
}

static int run(struct monitor *m)
{
	int status = m->options->expect ? expect_read(m->options->expect, &m->expected) : EXIT_RAN;

	if (status)
		return status;
	if (!find_all(m) || !load_programs(m) || !tell_expected(m) || !attach_all(m))
		return EXIT_COULD_NOT;
	m->start = now_ns();
	say_ready(m);
	if (!watch(m) || !finish(m) || !m->left)
		return EXIT_COULD_NOT;
	if (m->options->exit_code && faults_seen(&m->options->faults, &m->previous.totals))
		return EXIT_FAULTS;
	return EXIT_RAN;
}

int cmd_monitor(int argc, char **argv)
{
	struct options o;
	struct monitor m = { .options = &o };
	struct sigaction stop = { .sa_handler = on_signal }; /* without SA_RESTART */
	int status;

	parse_options(&o, argc, argv);
	libbpf_set_print(libbpf_says);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&m.signals);
	sigaddset(&m.signals, SIGINT);
	sigaddset(&m.signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &m.signals, NULL);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	status = run(&m);
	detach_all(&m);
	snapshot_free(&m.now);
	snapshot_free(&m.previous);
	expect_free(&m.expected);
	monitor_bpf__destroy(m.bpf);
	return status;
}
