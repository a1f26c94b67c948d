// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope receive: takes RDMA WRITE and SEND into memory. This is its command line; receive.c runs it. */
#include <string.h>

#include "userspace/command/arguments.h"
#include "userspace/command/commands.h"
#include "userspace/command/receive.h"
#include "userspace/observe/live/pin.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/traffic/receive/programs.h"

#define MEMORY_MOST (1ull << 46) /* bytes; more have no addresses */
#define GIVEN(member) OPTION_GIVEN(struct receive_options, has_##member)

static void take_path_mtu(struct option_parser *p, const struct option_entry *e, const char *text)
{
	uint64_t mtu = option_whole(p, e, text, 256, 4096);

	if (mtu & (mtu - 1))
		option_wrong(p, e, text, "256, 512, 1024, 2048 or 4096");
	*(__u32 *)option_member(p, e) = mtu;
}

static const char *const services[] = { "uc", "rc", NULL };

static void take_service(struct option_parser *p, const struct option_entry *e, const char *text)
{
	(void)text;
	option_choice(p, e, text);
	*(__u32 *)option_member(p, e) = *(__u32 *)option_member(p, e) ? RDMA_RC : RDMA_UC;
}

static const struct option_entry memory[] = {
	{ "memory", "SIZE", "memory that senders may write to, of which each QP has an equal share",
	  OPTION_SIZE(struct receive_options, memory, 1, MEMORY_MOST), .usual = "64M", GIVEN(memory) },
	{ "regions", "N", "register it in N equal parts, each with a key of its own",
	  OPTION_NUMBER(struct receive_options, regions, 1, RECEIVE_REGIONS), .usual = "1", GIVEN(regions) },
	{ "rkey", "N", "R_Key of the first region; the others count up; without it random",
	  OPTION_HEX(struct receive_options, rkey, 0, UINT32_MAX), GIVEN(rkey) },
	{ "va", "N", "address of the first region; the others follow; without it random",
	  OPTION_HEX(struct receive_options, va, 0, UINT64_MAX), GIVEN(va) },
	{ "block", "BYTES", "readers learn of blocks of this size whether they were overwritten",
	  OPTION_SIZE(struct receive_options, block, RECEIVE_BLOCK_LEAST, 1u << 31), .usual = "64K", GIVEN(block) },
	{ "dump", "FILE", "write the memory to this file at the end", OPTION_TEXT(struct receive_options, dump) },
	{ 0 },
};

static const struct option_entry qps[] = {
	{ "qps", "N", "number of QPs", OPTION_NUMBER(struct receive_options, qps, 1, RECEIVE_QPS), .usual = "1", GIVEN(qps) },
	{ "service", NULL, "service of the QPs; without it that of the sender by --control, else uc",
	  .take = take_service, OPTION_AT(struct receive_options, service), .choices = services },
	{ "qpn", "N", "QPN of the first QP; the others count up; without it random",
	  OPTION_HEX(struct receive_options, first_qpn, 2, 0xfffffe), GIVEN(qpn) },
	{ "psn", "N", "PSN that senders are told as our first; without it random",
	  OPTION_HEX(struct receive_options, psn, 0, 0xffffff), GIVEN(psn) },
	{ "path-mtu", "BYTES", "256, 512, 1024, 2048 or 4096; without it the largest that fits the interface's MTU",
	  .take = take_path_mtu, OPTION_AT(struct receive_options, path_mtu) },
	{ "pkey", "N", "P_Key", OPTION_HEX(struct receive_options, pkey, 0, 0xffff), .usual = "0xffff" },
	{ "address", "IP", "our address; without it that of the interface",
	  OPTION_ADDRESS(struct receive_options, address), GIVEN(address) },
	{ "receives", "N", "receives that are posted on each QP, for SENDs and immediate data; 0: they never end",
	  OPTION_NUMBER(struct receive_options, receives, 0, 1u << 20), .usual = "8192" },
	{ "receive-size", "BYTES", "size of a SEND's buffer, which lies in the QP's share of the memory; 0: no SENDs",
	  OPTION_SIZE(struct receive_options, receive_bytes, 0, 1u << 31), .usual = "0" },
	{ "rnr-timer", "CODE", "how long a sender by RC shall wait for a receive: 0 to 31, as IBTA has it",
	  OPTION_NUMBER(struct receive_options, rnr_timer, 0, 31), .usual = "1" },
	{ "cnp", NULL, "answer packets that are marked CE by a congestion notification",
	  OPTION_FLAG(struct receive_options, notify) },
	{ "each", NULL, "tell readers of each message, also of those without immediate data",
	  OPTION_FLAG(struct receive_options, each) },
	{ 0 },
};

static const struct option_entry senders[] = {
	{ "peer", "IP", "address of the sender; with --control the only one that is served, without it any, one at a time",
	  OPTION_ADDRESS(struct receive_options, peer), GIVEN(peer) },
	{ "peer-qpn", "N", "QPN of the first sender, where answers go; the others count up",
	  OPTION_HEX(struct receive_options, peer_qpn, 0, 0xffffff), .usual = "1" },
	{ "peer-psn", "N", "PSN of the first packet to each QP", OPTION_HEX(struct receive_options, peer_psn, 0, 0xffffff),
	  .usual = "0" },
	{ "tell", "FILE", "write a JSON line with what the sender must know; - is standard output",
	  OPTION_TEXT(struct receive_options, tell) },
	{ "control", "[HOST]:PORT", "serve who says what it will send by rdma_stream's control connection, until its run ends; without "
				    "HOST at our address",
	  OPTION_TEXT(struct receive_options, control) },
	{ "runs", "N", "end after so many senders by --control", OPTION_NUMBER(struct receive_options, runs, 1, UINT32_MAX) },
	{ 0 },
};

static const struct option_entry watch[] = {
	{ "watch", NULL, "show the monitor's table, or its lines, instead of the receiver's",
	  OPTION_FLAG(struct receive_command, watch) },
	{ 0 },
};

static const struct option_entry printed[] = {
	{ "json", NULL, "print one rocescope.snapshot/1 object on each line, with the member receive",
	  OPTION_FLAG(struct monitor_options, json), .letter = 'j' },
	{ "quiet", NULL, "print nothing", OPTION_FLAG(struct monitor_options, quiet) },
	{ 0 },
};

static const struct option_entry keeping[] = {
	{ "pin", "NAME", "go on receiving after the command has ended; the next --pin NAME goes on from there",
	  .take = arguments_take_pin, OPTION_AT(struct receive_options, pin) },
	{ 0 },
};

static const struct option_entry unpin[] = {
	{ "unpin", "NAME", "stop receiving for --pin NAME, and end",
	  .take = arguments_take_pin, OPTION_AT(struct receive_command, unpin) },
	{ "detach", "NAME", "the name of --unpin until 0.1", /* going in 0.2.0 */
	  .take = arguments_take_pin, OPTION_AT(struct receive_command, unpin), .hidden = true },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "Memory (numbers may be hexadecimal: 0x...)", memory, offsetof(struct receive_command, receive) },
	{ "Queue pairs", qps, offsetof(struct receive_command, receive) },
	{ "Who sends", senders, offsetof(struct receive_command, receive) },
	{ "What is printed", watch, 0 },
	{ NULL, printed, offsetof(struct receive_command, monitor) },
	{ NULL, arguments_shown, offsetof(struct receive_command, monitor) },
	{ NULL, arguments_filter, offsetof(struct receive_command, monitor.filter) },
	{ NULL, arguments_interval, offsetof(struct receive_command, monitor.live) },
	{ "Faults", arguments_events, offsetof(struct receive_command, monitor) },
	{ NULL, arguments_fail, offsetof(struct receive_command, monitor.fail) },
	{ "Interface", arguments_mode, offsetof(struct receive_command, monitor.live) },
	{ NULL, arguments_ready, offsetof(struct receive_command, monitor.live) },
	{ NULL, arguments_streams, offsetof(struct receive_command, monitor.live) },
	{ NULL, arguments_verbose, offsetof(struct receive_command, monitor.live.verbose) },
	{ "As a service", arguments_prometheus, offsetof(struct receive_command, monitor.prometheus) },
	{ NULL, arguments_prometheus_streams, offsetof(struct receive_command, monitor) },
	{ NULL, keeping, offsetof(struct receive_command, receive) },
	{ NULL, unpin, 0 },
	{ 0 },
};

static const struct option_topic *const topics[] = {
	&topic_refusals, &topic_counters, &topic_events, &topic_lints, &topic_filter, NULL
};

const struct command receive_command = {
	.name = "receive",
	.words = "take RDMA WRITE and SEND into memory, without an RNIC",
	.arguments = "IFACE --peer IP|--control [HOST]:PORT [OPTIONS]",
	.prose =
		"An XDP program is the responder of RC and UC queue pairs. It checks each packet, copies its payload to where "
		"it belongs, and answers. All other packets are passed on.\n\n"
		"It prints a line each interval, and at the end what was refused and why.",
	.tables = tables,
	.topics = topics,
	.examples =
		"  # 1 GiB for an FPGA at 10.9.0.1 that sends by UC; what it must know is printed as JSON\n"
		"  rocescope receive roce0 --peer 10.9.0.1 --memory 1G --tell -\n"
		"  # 16 QPs with the numbers that the FPGA has already\n"
		"  rocescope receive roce0 --peer 10.9.0.1 --qps 16 --qpn 0x100 --rkey 0x1234 --va 0x10000000\n"
		"  # for rdma_stream send, over rxe or an RNIC: the other end of its control connection\n"
		"  rocescope receive roce0 --control :7471 --qps 64\n"
		"  # with the monitor's table of streams\n"
		"  rocescope receive roce0 --peer 10.9.0.1 --watch\n"
		"  # reception goes on when the command ends, until `rocescope receive --unpin antenna`\n"
		"  rocescope receive roce0 --peer 10.9.0.1 --pin antenna\n",
};

static void check_options(const struct receive_command *c)
{
	const struct receive_options *o = &c->receive;

	if (c->monitor.live.interface_count != 1)
		usage_error("receive: %s", c->monitor.live.interface_count ? "one interface, please" : "on which interface?");
	if (!o->has_peer && !o->control && !(o->pin && pin_is_of(o->pin, &receive_kind)))
		usage_error("receive: from whom? --peer IP, or --control for a sender that says so itself");
	if (o->has_psn && !o->control)
		usage_error("receive: --psn needs --control; the PSN that is expected of --peer is --peer-psn");
	if (o->has_peer && !o->control && o->peer_qpn + (__u64)o->qps > 0xffffff)
		usage_error("receive: --peer-qpn %s: %u QPNs from there on do not fit below %s", qpn_text(o->peer_qpn).text, o->qps,
			    qpn_text(0xffffff).text);
	if (o->control && o->receive_bytes)
		usage_error("receive: --receive-size: by --control the sender says the size of its messages");
	if (o->runs && !o->control)
		usage_error("receive: --runs needs --control");
	if (c->monitor.prometheus_streams && !c->monitor.prometheus)
		usage_error("receive: --prometheus-streams needs --prometheus ADDR:PORT");
}

static void parse_options(struct receive_command *c, int argc, char **argv)
{
	struct monitor_options *m = &c->monitor;
	int first;

	*c = (struct receive_command){ .monitor.fail.faults = faults_default(), .monitor.live.settings.icrc_every = 1 };
	m->fail.faults.receives = true;
	first = command_parse(&receive_command, c, argc, argv);
	arguments_interfaces(&receive_command, &m->live, argv + first, argc - first);
	if (c->unpin)
		return;
	check_options(c);
	c->receive.interface = m->live.interface[0];
	m->live.pin = c->receive.pin;
	m->live.kind = &receive_kind;
	m->plain = !c->watch;
}

int cmd_receive(int argc, char **argv)
{
	struct receive_command c;
	int status;

	parse_options(&c, argc, argv);
	if (c.unpin)
		return pin_remove(&receive_kind, c.unpin) ? EXIT_RAN : EXIT_COULD_NOT;
	status = receive_run(&c);
	filter_free(c.monitor.filter);
	return status;
}
