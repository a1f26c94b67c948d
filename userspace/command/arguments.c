// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "lib/cause.h"
#include "lib/exit.h"
#include "lib/interfaces.h"
#include "lib/nearest.h"
#include "userspace/command/arguments.h"
#include "userspace/command/monitor.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/group.h"
#include "userspace/observe/model/imm.h"
#include "userspace/observe/model/udp_ports.h"
#include "userspace/render/prometheus/exporter.h"
#include "userspace/render/prometheus/metrics.h"

#define MAX_STREAMS (1 << 24)

/* ---- live ---- */

const struct option_entry arguments_interval[] = {
	{ "interval", "SECONDS", "time between two reports", OPTION_SECONDS(struct live_options, interval, 1), .usual = "1" },
	{ "duration", "SECONDS", "end after this time; without it, end on Ctrl-C",
	  OPTION_SECONDS(struct live_options, duration, 1) },
	{ 0 },
};

static const char *const modes[] = { [ATTACH_AUTO] = "auto", [ATTACH_NATIVE] = "native", [ATTACH_GENERIC] = "generic", NULL };
static const char *const directions[] = { [false] = "in", [true] = "both", NULL };

const struct option_entry arguments_mode[] = {
	{ "mode", NULL, "how XDP is attached: by the driver (native) or by the kernel's stack (generic)",
	  OPTION_CHOICE(struct live_options, mode, modes), .usual = "auto" },
	{ 0 },
};

const struct option_entry arguments_attach[] = {
	{ "direction", NULL, "both: also count what leaves the interface", OPTION_CHOICE(struct live_options, both, directions),
	  .usual = "in" },
	{ "share", NULL, "share the interface with other XDP programs through libxdp's dispatcher",
	  OPTION_FLAG(struct live_options, share) },
	{ 0 },
};

const struct option_entry arguments_ready[] = {
	{ "ready", "FILE", "write a line to this file (or named pipe) when the programs are attached",
	  OPTION_TEXT(struct live_options, ready) },
	{ 0 },
};

const struct option_entry arguments_count[] = {
	{ "icrc", "all|off|1/N", "packets whose ICRC is verified; 1/N: one of N packets, at random",
	  OPTION_SAMPLED(struct live_options, settings.icrc_every), .usual = "all" },
	{ "drop", NULL, "drop all packets that come in, on a port that only listens",
	  OPTION_FLAG(struct live_options, settings.drop) },
	{ 0 },
};

const struct option_entry arguments_streams[] = {
	{ "max-streams", "N", "count at most N streams at a time",
	  OPTION_NUMBER(struct live_options, settings.max_streams, 1, MAX_STREAMS),
	  .usual = "65536" },
	{ 0 },
};

const struct option_entry arguments_verbose[] = {
	{ "verbose", NULL, "print what libbpf and the kernel's verifier say", .take = option_flag, OPTION_SELF(bool),
	  .letter = 'v' },
	{ 0 },
};

void arguments_no_file(const struct command *c, const char *name)
{
	if (!name_is_file(name))
		return;
	if (!strcmp(c->name, "capture"))
		usage_error("capture: %s is a file, not an interface: `rocescope capture IFACE -w %s` writes it, `rocescope analyze %s` "
			    "reads it", name, name, name);
	usage_error("%s: %s is a file, not an interface: `rocescope analyze %s` reads captures", c->name, name, name);
}

void arguments_interfaces(const struct command *c, struct live_options *o, char **names, size_t count)
{
	if (count > INTERFACES_MOST)
		usage_error("%s: at most %d interfaces", c->name, INTERFACES_MOST);
	for (size_t k = 0; k < count; k++) {
		if (!o->wait)
			arguments_no_file(c, names[k]);
		if (strlen(names[k]) >= IF_NAMESIZE)
			usage_error("%s: %s: too long for the name of an interface", c->name, names[k]);
		for (size_t i = 0; i < k; i++)
			if (!strcmp(names[i], names[k]))
				usage_error("%s: %s: named twice", c->name, names[k]);
		o->interface[k] = names[k];
	}
	o->interface_count = count;
	if (count && !cause_files(c->name, CAUSE_FILES + ATTACH_FILES * count))
		exit(EXIT_COULD_NOT);
}

/* ---- the format of frames ---- */

static const char *const links[] = {
	[CAPTURE_LINK_FILE] = "file", [CAPTURE_LINK_ETHERNET] = "ethernet", [CAPTURE_LINK_IP] = "ip",
	[CAPTURE_LINK_BTH] = "bth", NULL
};

const struct option_entry arguments_link[] = {
	{ "link", NULL, "the first header of a frame; file: as the file says", .take = option_choice,
	  OPTION_SELF(enum capture_link), .choices = links, .usual = "file" },
	{ 0 },
};

const struct option_entry arguments_decap[] = {
	{ "decap", NULL, "look into tunnels of mirrors and overlays: GRE, ERSPAN, VXLAN, Geneve, IP in IP, MPLS", .take = option_flag,
	  OPTION_SELF(bool) },
	{ 0 },
};

const struct option_entry arguments_once[] = {
	{ "once", NULL, "leave out frames that were captured twice, as far as they can be told", .take = option_flag, OPTION_SELF(bool) },
	{ 0 },
};

const struct option_entry arguments_selection[] = {
	{ "selection", NULL, "the files hold chosen packets only: what is missing between them is not lost (files of capture say so "
	  "themselves)", .take = option_flag, OPTION_SELF(bool) },
	{ 0 },
};

static void take_ports(struct option_parser *p, const struct option_entry *e, const char *text)
{
	char mistake[UDP_MISTAKE];

	if (!udp_ports_add(option_member(p, e), text, mistake))
		option_wrong(p, e, text, "%s", mistake);
}

const struct option_entry arguments_udp[] = {
	{ "udp", "PORT[,FORMAT],...",
	  "also count UDP flows to these ports, up to 4; FORMAT: where their datagrams have a number ('--help udp')",
	  .take = take_ports },
	{ 0 },
};

static void take_imm(struct option_parser *p, const struct option_entry *e, const char *text)
{
	const char *mistake = imm_parse(text, option_member(p, e));

	if (mistake)
		option_wrong(p, e, text, "%s", mistake);
}

const struct option_entry arguments_imm[] = {
	{ "imm", "step=N|counter=EXPR|ring[=START:SIZE:SLOT[:BYTES]]",
	  "what counts blocks: immediate data, e.g. step=2048, or counter=imm>>12&0xff; or the slots of a ring that WRITEs fill; what "
	  "is left out is learnt", .take = take_imm },
	{ 0 },
};

const struct option_entry arguments_expect[] = {
	{ "expect", "FILE", "a file with one connection a line, to pair its streams ('--help expect' has the format)",
	  .take = option_text },
	{ 0 },
};

/* ---- probes at programs' calls ---- */

/* A share of a core, in percent, with or without the sign. */
static void take_percent(struct option_parser *p, const struct option_entry *e, const char *text)
{
	char *end;
	double percent = strtod(text, &end);

	if (end == text || (*end && strcmp(end, "%")) || !(percent > 0 && percent <= 100 * 1024))
		option_wrong(p, e, text, "not a share of a core in percent, e.g. 5");
	*(double *)option_member(p, e) = percent / 100;
}

const struct option_entry arguments_most[] = {
	{ "most", "PERCENT", "take the probes of --calls away when they cost more than this share of a core", .take = take_percent,
	  OPTION_SELF(double), .usual = "5" },
	{ 0 },
};

/* ---- which streams are shown, and what is a fault ---- */

void arguments_take_filter(struct option_parser *p, const struct option_entry *e, const char *text, filter_parser *parse)
{
	struct filter **to = option_member(p, e);
	char mistake[FILTER_MISTAKE];

	filter_free(*to);
	*to = parse(text, mistake);
	if (!*to)
		option_wrong(p, e, text, "%s", mistake);
}

static void take_filter(struct option_parser *p, const struct option_entry *e, const char *text)
{
	arguments_take_filter(p, e, text, filter_parse);
}

const struct option_entry arguments_filter[] = {
	{ "filter", "EXPR", "show only these streams: an IP, a QPN, a service, faulty, ... ('--help filter' has all terms)",
	  .take = take_filter },
	{ 0 },
};

static void take_group(struct option_parser *p, const struct option_entry *e, const char *text)
{
	const char *mistake = group_parse(text, option_member(p, e));

	if (mistake)
		option_wrong(p, e, text, "%s", mistake);
}

const struct option_entry arguments_group[] = {
	{ "group", "NAME=EXPR", "also sum up streams, e.g. antenna=qpn/4; of qpn, vlan, dscp, port (with /N, %N, >>N, &N), src or dst",
	  .take = take_group },
	{ 0 },
};

static void take_fail_on(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct nearest n;
	const char *bad;

	if (faults_parse(option_member(p, e), text, &bad))
		return;
	n = nearest_to(bad, strcspn(bad, ","));
	for (int i = 0; i < ROCE_COUNTERS; i++)
		nearest_try(&n, counter_names[i]);
	for (int i = 0; i < ROCE_LINTS; i++)
		nearest_try(&n, lint_names[i]);
	option_wrong(p, e, text, "neither counter nor lint is called '%.*s'%s ('--help counters' and '--help lints' list them)",
		     (int)n.length, bad, nearest_text(&n, "").text);
}

const struct option_entry arguments_fail[] = {
	{ "exit-code", NULL, "exit status 3 if a fault was seen, of RoCE or of --udp", OPTION_FLAG(struct fault_exit, wanted) },
	{ "fail-on", "COUNTER,...",
	  "count these as faults, instead of the usual ones: counters (of --udp as well), lints, or lint, which is any of them; implies "
	  "--exit-code",
	  .take = take_fail_on, OPTION_AT(struct fault_exit, faults), OPTION_GIVEN(struct fault_exit, wanted),
	  .topic = "counters" },
	{ 0 },
};

/* ---- of the monitor and of what adds to it ---- */

static const char *const streams[] = {
	[STREAMS_ALL] = "all", [STREAMS_CHANGED] = "changed", [STREAMS_NONE] = "none", NULL
};

const struct option_entry arguments_shown[] = {
	{ "streams", NULL, "streams that are shown", OPTION_CHOICE(struct monitor_options, streams, streams), .usual = "all" },
	{ 0 },
};

const struct option_entry arguments_events[] = {
	{ "events", NULL, "print a line for each fault (with -j an object), and the final snapshot",
	  OPTION_FLAG(struct monitor_options, events) },
	{ "on-fault", "COMMAND", "run a shell command for each fault; its standard input is the event as JSON",
	  OPTION_TEXT(struct monitor_options, on_fault) },
	{ "event-limit", "N", "at most N events of each stream in a second; 0: no limit",
	  OPTION_NUMBER(struct monitor_options, event_limit, 0, UINT32_MAX), .usual = "10" },
	{ 0 },
};

static void take_prometheus(struct option_parser *p, const struct option_entry *e, const char *text)
{
	if (!exporter_is_address(text))
		option_wrong(p, e, text, "neither ADDR:PORT nor PORT, e.g. 127.0.0.1:9795 or [::1]:9795");
	option_text(p, e, text);
}

const struct option_entry arguments_prometheus[] = {
	{ "prometheus", "ADDR:PORT",
	  "answer GET /metrics at this address; 9795 means 127.0.0.1:9795, :9795 means all addresses",
	  .take = take_prometheus, OPTION_SELF(const char *) },
	{ 0 },
};

const struct option_entry arguments_prometheus_streams[] = {
	{ "prometheus-streams", "N", "export N streams as series of their own: the worst and the busiest",
	  OPTION_NUMBER(struct monitor_options, prometheus_streams, 0, METRICS_STREAMS), .usual = "0" },
	{ 0 },
};

void arguments_take_pin(struct option_parser *p, const struct option_entry *e, const char *text)
{
	if (!*text || strchr(text, '/') || strlen(text) > PIN_NAME_MAX)
		option_wrong(p, e, text, "a name of up to %d characters without slashes", PIN_NAME_MAX);
	option_text(p, e, text);
}
