// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rdma_stream: a stream of messages over RDMA verbs: RC or UC RDMA WRITE with immediate, or UD SEND split by the
 * program. The immediate data is the message's number (UD: the packet's), so that the receiver knows what is missing.
 */
#include <string.h>

#include "lib/stop.h"
#include "lib/stream_header.h"
#include "rxe_tests/rdma_stream.h"

enum {
	OPT_TRANSPORT = OPTION_OWN, OPT_DEVICE, OPT_GID_INDEX, OPT_PATH_MTU, OPT_CONTROL, OPT_PSN, OPT_WINDOW, OPT_DEPTH,
	OPT_POLL,
};

static const struct option own[] = {
	{ "transport", required_argument, NULL, OPT_TRANSPORT },
	{ "device", required_argument, NULL, OPT_DEVICE },
	{ "gid-index", required_argument, NULL, OPT_GID_INDEX },
	{ "path-mtu", required_argument, NULL, OPT_PATH_MTU },
	{ "control", required_argument, NULL, OPT_CONTROL },
	{ "psn", required_argument, NULL, OPT_PSN },
	{ "window", required_argument, NULL, OPT_WINDOW },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "poll", no_argument, NULL, OPT_POLL },
	{}
};

static const char usage[] =
	"  --transport SERVICE rc, uc (RDMA WRITE with immediate) or ud (SEND)      (rc; recv: the sender's)\n"
	"  --device NAME       RDMA device                                          (the first)\n"
	"  --gid-index N                                                            (first RoCEv2 GID of an IPv4 address)\n"
	"  --path-mtu BYTES    256, 512, 1024, 2048 or 4096                         (the port's, the smaller of both ends)\n"
	"  --poll              spin on the completion queue                         (sleep for its events)\n"
	"send:\n"
	"  --control HOST[:PORT]  the receiver's TCP control connection (--port is its default port)\n"
	"  --psn N             first PSN of each QP                                 (random)\n"
	"  --window N          messages (UD: packets) outstanding on each QP        (64)\n"
	"recv:\n"
	"  --control [HOST]:PORT  listen there for the control connection           (everywhere, --port)\n"
	"  --depth N           receives posted on each QP                           (1024)\n";

static struct rdma_options options = {
	.gid_index = -1, .psn = -1, .window = 64, .depth = 1024,
};

static uint64_t number(const char *name, const char *text, uint64_t min, uint64_t max)
{
	uint64_t n;

	if (!parse_number(text, max, &n) || n < min)
		usage_error("--%s %s: not a number from %llu to %llu", name, text, (unsigned long long)min,
			    (unsigned long long)max);
	return n;
}

static enum ibv_qp_type service(const char *text)
{
	if (!strcmp(text, "rc"))
		return IBV_QPT_RC;
	if (!strcmp(text, "uc"))
		return IBV_QPT_UC;
	if (!strcmp(text, "ud"))
		return IBV_QPT_UD;
	usage_error("--transport %s: not rc, uc or ud", text);
}

const char *rdma_service_name(enum ibv_qp_type type)
{
	return type == IBV_QPT_UD ? "ud" : type == IBV_QPT_UC ? "uc" : "rc";
}

static void take(int value, const char *text)
{
	switch (value) {
	case OPT_TRANSPORT:
		options.service = service(text);
		break;
	case OPT_DEVICE:
		options.device = text;
		break;
	case OPT_GID_INDEX:
		options.gid_index = number("gid-index", text, 0, 255);
		break;
	case OPT_PATH_MTU:
		options.path_mtu = number("path-mtu", text, 256, 4096);
		if (options.path_mtu & (options.path_mtu - 1))
			usage_error("--path-mtu %s: not 256, 512, 1024, 2048 or 4096", text);
		break;
	case OPT_CONTROL:
		options.control = text;
		break;
	case OPT_PSN:
		options.psn = number("psn", text, 0, 0xffffff);
		break;
	case OPT_WINDOW:
		options.window = number("window", text, 1, 16384);
		break;
	case OPT_DEPTH:
		options.depth = number("depth", text, 1, 16384);
		break;
	case OPT_POLL:
		options.poll = true;
		break;
	}
}

int main(int argc, char **argv)
{
	static const struct stream_program program = {
		.usage = usage, .own = own, .take = take, .port = STREAM_UDP_PORT,
	};

	if (options_parse(&options.common, &program, argc, argv) < argc)
		usage_error("nothing may follow --");
	if (options.common.send && !options.control)
		usage_error("send: --control HOST is missing");
	if (options.common.send && !options.service)
		options.service = IBV_QPT_RC;
	stop_on_signals();
	return options.common.send ? rdma_send(&options) : rdma_receive(&options);
}
