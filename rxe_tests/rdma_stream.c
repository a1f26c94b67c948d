// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rdma_stream: a stream of messages over RDMA verbs: RC or UC RDMA WRITE with immediate, or UD SEND split by the
 * program. The immediate data is the message's number (UD: the packet's), so that the receiver knows what is missing.
 */
#include <arpa/inet.h>
#include <string.h>

#include "lib/stop.h"
#include "roce/stream_header.h"
#include "rxe_tests/rdma_stream.h"

enum {
	OPT_TRANSPORT = OPTION_OWN, OPT_DEVICE, OPT_GID_INDEX, OPT_PATH_MTU, OPT_CONTROL, OPT_PSN, OPT_WINDOW, OPT_DEPTH,
	OPT_POLL, OPT_PEER_ADDRESS, OPT_PEER_PSN, OPT_PEER_QPN, OPT_TELL, OPT_DUMP,
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
	{ "peer-address", required_argument, NULL, OPT_PEER_ADDRESS },
	{ "peer-psn", required_argument, NULL, OPT_PEER_PSN },
	{ "peer-qpn", required_argument, NULL, OPT_PEER_QPN },
	{ "tell", required_argument, NULL, OPT_TELL },
	{ "dump", required_argument, NULL, OPT_DUMP },
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
	"  --depth N           receives posted on each QP                           (1024)\n"
	"recv from a sender without a control connection (RC, UC; --flows, --size: at most; --messages: that end it):\n"
	"  --peer-address IP   the sender's\n"
	"  --peer-psn N        PSN of the first packet to each QP                   (0)\n"
	"  --peer-qpn N        the sender's first QP: where acknowledgements go     (1; the next ones count up)\n"
	"  --tell FILE         a JSON line with what the sender must know           (-: standard output)\n"
	"  --dump FILE         the buffers at the end: of each QP those of WRITEs, then those of SENDs\n";

static struct rdma_options options = {
	.gid_index = -1, .psn = -1, .window = 64, .depth = 1024, .peer_qpn = 1,
	.peer_gid.raw = { [10] = 0xff, [11] = 0xff },
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

static void take_peer(const char *text)
{
	uint8_t *raw = options.peer_gid.raw;

	options.told = true;
	if (inet_pton(AF_INET, text, raw + 12) != 1 && inet_pton(AF_INET6, text, raw) != 1)
		usage_error("--peer-address %s: no IPv4 or IPv6 address", text);
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
	case OPT_PEER_ADDRESS:
		take_peer(text);
		break;
	case OPT_PEER_PSN:
		options.peer_psn = number("peer-psn", text, 0, 0xffffff);
		break;
	case OPT_PEER_QPN:
		options.peer_qpn = number("peer-qpn", text, 1, 0xffffff);
		break;
	case OPT_TELL:
		options.tell = text;
		break;
	case OPT_DUMP:
		options.dump = text;
		break;
	}
}

static void check_told(void)
{
	if (!options.told && (options.tell || options.dump || options.peer_psn || options.peer_qpn != 1))
		usage_error("--peer-psn, --peer-qpn, --tell and --dump want --peer-address");
	if (!options.told)
		return;
	if (options.common.send)
		usage_error("send: --peer-address is for recv");
	if (options.control)
		usage_error("--peer-address and --control exclude each other");
	if (options.service != IBV_QPT_RC && options.service != IBV_QPT_UC)
		usage_error("--peer-address: --transport rc or uc is missing");
	if (!options.tell)
		options.tell = "-";
}

int main(int argc, char **argv)
{
	static const struct stream_program program = {
		.usage = usage, .own = own, .take = take, .port = STREAM_UDP_PORT,
	};

	if (options_parse(&options.common, &program, argc, argv) < argc)
		usage_error("nothing may follow --");
	check_told();
	if (options.common.send && !options.control)
		usage_error("send: --control HOST is missing");
	if (options.common.send && !options.service)
		options.service = IBV_QPT_RC;
	stop_on_signals();
	if (options.common.send)
		return rdma_send(&options);
	return options.told ? rdma_receive_told(&options) : rdma_receive(&options);
}
