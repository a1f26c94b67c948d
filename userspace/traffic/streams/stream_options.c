// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "userspace/traffic/streams/stream_options.h"

#define MAX_FLOWS 65535 /* the stream header's flow number has 16 bits */

const struct option_entry stream_entries[] = {
	{ "size", "BYTES[K|M]", "size of a message; the receiver learns it from the sender",
	  OPTION_SIZE(struct stream_options, size, 1, UINT32_MAX), OPTION_GIVEN(struct stream_options, size_given),
	  .usual = "4096" },
	{ "rate", "RATE", "100Mbit (message bits a second) or 2Mpps (packets); without it as fast as possible",
	  OPTION_RATE(struct stream_options, rate) },
	{ "duration", "SECONDS", "how long to send (10, without --messages); a receiver ends so long after its first packet",
	  OPTION_SECONDS(struct stream_options, duration, 0) },
	{ "messages", "N", "how many to send, over all flows",
	  OPTION_NUMBER(struct stream_options, messages, 1, UINT64_MAX >> 16) },
	{ "flows", "N", "number of sockets or QPs", OPTION_NUMBER(struct stream_options, flows, 1, MAX_FLOWS), .usual = "1" },
	{ "port", "N", "UDP port, or TCP port of the control connection", OPTION_NUMBER(struct stream_options, port, 1, 65535),
	  .usual = "7471" },
	{ "idle", "SECONDS", "a receiver ends after so long without a packet", OPTION_SECONDS(struct stream_options, idle, 0),
	  .usual = "2" },
	{ "wait", "SECONDS", "a receiver gives up when nothing has come for so long",
	  OPTION_SECONDS(struct stream_options, wait, 0), .usual = "30" },
	{ "ping-pong", NULL, "send: one message at a time, each answered by one of its size; latency is half of the round trip",
	  OPTION_FLAG(struct stream_options, ping_pong) },
	{ "pause", "MS", "receiver: sleeps so long after each read that brought packets, as a slow application does",
	  OPTION_NUMBER(struct stream_options, pause_ms, 1, 60000) },
	{ "latency", NULL, "receiver: one-way times; both ends must have one clock",
	  OPTION_FLAG(struct stream_options, latency) },
	/* a prime number: messages have powers of two of packets, and each place of them has its turn */
	{ "verify", "all|off|1/N", "receiver: packets (rc, uc: messages) whose payload is verified; 1/N: one of N",
	  OPTION_SAMPLED(struct stream_options, verify), .usual = "1/61" },
	{ "json", NULL, "print one rocescope.stream/1 object", OPTION_FLAG(struct stream_options, json) },
	{ 0 },
};

/* Takes the first argument: send or recv. Not needed for --help and --version. */
static bool take_role(struct stream_options *o, int argc, char **argv)
{
	if (argc < 2)
		usage_error("say 'send' or 'recv' first");
	o->send = !strcmp(argv[1], "send");
	if (o->send || !strcmp(argv[1], "recv"))
		return true;
	if (strcmp(argv[1], "--help") && strcmp(argv[1], "-h") && strcmp(argv[1], "--version"))
		usage_error("'%s': say 'send' or 'recv' first", argv[1]);
	return false;
}

int stream_parse(const struct command *c, void *options, struct stream_options *common, int argc, char **argv)
{
	int dashes = argc, role = take_role(common, argc, argv), first;

	for (int i = argc - 1; i > 0; i--)
		if (!strcmp(argv[i], "--"))
			dashes = i;
	first = command_parse(c, options, dashes - role, argv + role) + role;
	if (first < dashes)
		usage_error("'%s' is too much", argv[first]);
	if (common->ping_pong && !common->send)
		usage_error("--ping-pong is for send: the receiver learns it from the sender");
	if (common->ping_pong && common->rate.per_second)
		usage_error("--ping-pong and --rate exclude each other: the next message waits for the answer");
	if (common->send && !common->duration && !common->messages)
		common->duration = 10;
	return dashes < argc ? dashes + 1 : argc;
}
