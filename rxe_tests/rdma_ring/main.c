// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rdma_ring: a sender writes messages by RDMA WRITE into circular buffers of receivers, and workers of each receiver read them,
 * as M.-E. Vasile et al. built it (Improvements for the implementation of RDMA on FPGA devices, TWEPP 2024). RC only: with UC
 * nothing would tell the receiver which WRITEs were lost, and a lost note would stop the run.
 */
#include <string.h>

#include "lib/stop.h"
#include "rxe_tests/rdma_ring/rdma_ring.h"

static void take_receiver(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct ring_options *o = p->options;

	if (o->receivers == RING_RECEIVERS)
		option_wrong(p, e, text, "more than %d receivers", RING_RECEIVERS);
	o->receiver[o->receivers++] = text;
}

static void take_path_mtu(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct ring_options *o = p->options;

	option_number(p, e, text);
	if (o->path_mtu & (o->path_mtu - 1))
		option_wrong(p, e, text, "not 256, 512, 1024, 2048 or 4096");
}

#define NUMBER(member, low, high) OPTION_NUMBER(struct ring_options, member, low, high)

static const struct option_entry entries[] = {
	{ "port", "N", "TCP port of the control connection", NUMBER(port, 1, 65535), .usual = "7471" },
	{ "device", "NAME", "RDMA device; without it the first", OPTION_TEXT(struct ring_options, device) },
	{ "gid-index", "N", "without it the first RoCEv2 GID of an IPv4 address", NUMBER(gid_index, 0, 255) },
	{ "path-mtu", "BYTES", "256, 512, 1024, 2048 or 4096; without it the smaller one of both ports",
	  .take = take_path_mtu, OPTION_AT(struct ring_options, path_mtu), .least = 256, .most = 4096 },
	{ "json", NULL, "print one rocescope.ring/1 object", OPTION_FLAG(struct ring_options, json) },
	{ 0 },
};

static const struct option_entry send_entries[] = {
	{ "control", "HOST[:PORT]", "a receiver; several times: they take turns message by message",
	  .take = take_receiver, OPTION_AT(struct ring_options, receiver) },
	{ "size", "BYTES[K|M]", "size of a message", OPTION_SIZE(struct ring_options, size, RING_HEADER, 1 << 30),
	  .usual = "8192" },
	{ "burst", "N", "messages of a burst, which is told when it has been written; without it a stream, told each 0.1 s",
	  NUMBER(burst, 1, 1000000) },
	{ "messages", "N", "how many to send to each receiver; whole bursts", NUMBER(messages, 1, UINT64_MAX >> 16) },
	{ "duration", "SECONDS", "how long to send (10, without --messages)", OPTION_SECONDS(struct ring_options, duration, 0) },
	{ "rate", "RATE", "100Mbit (message bits a second, to all receivers); without it as fast as possible",
	  OPTION_BIT_RATE(struct ring_options, rate) },
	{ "window", "N", "messages outstanding to each receiver", NUMBER(window, 1, 16384), .usual = "64" },
	{ 0 },
};

static const struct option_entry recv_entries[] = {
	{ "listen", "[HOST][:PORT]", "where to listen for the control connection (default: everywhere, --port)",
	  OPTION_TEXT(struct ring_options, listen) },
	{ "capacity", "N", "bursts that the ring holds, of a stream messages (default: what 64 MiB hold); at least 2",
	  NUMBER(capacity, 2, 1ull << 40) },
	{ "workers", "N", "threads that read, each its share", NUMBER(workers, 1, RING_WORKERS), .usual = "1" },
	{ "upper", "PERCENT", "back-pressure begins when so much of the ring waits to be read", NUMBER(upper, 1, 100),
	  .usual = "75" },
	{ "lower", "PERCENT", "and ends when no more than this does", NUMBER(lower, 0, 99), .usual = "25" },
	{ "slow", "US", "a slow consumer: a worker takes at least so long for each message", NUMBER(slow_us, 1, 10000000) },
	{ "wait", "SECONDS", "gives up when no sender has come for so long", OPTION_SECONDS(struct ring_options, wait, 0),
	  .usual = "30" },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "Both", entries, 0 },
	{ "send", send_entries, 0 },
	{ "recv", recv_entries, 0 },
	{ 0 },
};
static const struct command command = {
	.arguments = "send|recv [OPTIONS]",
	.prose = "RC WRITEs go round a ring of the receiver. A SEND tells it what has been written. Its workers verify each byte. "
		 "When too much of the ring waits to be read, a SEND of the receiver stops the sender until it has been read.",
	.tables = tables,
};

static struct ring_options options = { .gid_index = -1 };

static void take_role(int argc, char **argv)
{
	const char *role = argc > 1 ? argv[1] : "";

	options.send = !strcmp(role, "send");
	if (options.send || !strcmp(role, "recv"))
		return;
	if (strcmp(role, "--help") && strcmp(role, "-h") && strcmp(role, "--version"))
		usage_error("'%s': say 'send' or 'recv' first", role);
	command_parse(&command, &options, argc, argv);
}

static void check(void)
{
	if (options.send && !options.receivers)
		usage_error("send: --control HOST is missing");
	if (options.messages && options.burst && options.messages % options.burst)
		usage_error("--messages %llu: no whole bursts of %llu", (unsigned long long)options.messages,
			    (unsigned long long)options.burst);
	if (options.lower >= options.upper)
		usage_error("--lower %u is not below --upper %u", options.lower, options.upper);
	if (!options.messages && !options.duration)
		options.duration = 10;
}

int main(int argc, char **argv)
{
	int first;

	take_role(argc, argv);
	first = command_parse(&command, &options, argc - 1, argv + 1);
	if (first < argc - 1)
		usage_error("'%s' is too much", argv[1 + first]);
	check();
	stop_on_signals();
	return options.send ? ring_send(&options) : ring_receive(&options);
}
