// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rdma_stream: sends and receives messages over RDMA verbs. RC and UC use RDMA WRITE with immediate unless told otherwise; for
 * UD the program splits messages into SENDs. The immediate data, or the header in the message, is the number of the message
 * (UD: of the packet), so that the receiver finds what is missing.
 */
#include <errno.h>
#include <string.h>

#include "lib/stop.h"
#include "rxe_tests/rdma_stream/rdma_stream.h"
#include "rxe_tests/rdma_stream/ring.h"

static void take_service(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct rdma_options *o = p->options;

	option_choice(p, e, text);
	o->service++;	/* the first one is 1 */
}

static void take_operation(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct rdma_options *o = p->options;

	option_choice(p, e, text);
	o->operation = rdma_operation_named(text);
}

static void take_path_mtu(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct rdma_options *o = p->options;

	option_number(p, e, text);
	if (o->path_mtu & (o->path_mtu - 1))
		option_wrong(p, e, text, "not 256, 512, 1024, 2048 or 4096");
}

static void take_control(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct rdma_options *o = p->options;

	if (o->controls == RDMA_PEERS_MAX)
		option_wrong(p, e, text, "one more than 64 receivers");
	o->control[o->controls++] = text;
}

#define NUMBER(member, low, high) OPTION_NUMBER(struct rdma_options, member, low, high)
#define TEXT(member) OPTION_TEXT(struct rdma_options, member)

static const struct option_entry entries[] = {
	{ "transport", "SERVICE", "without it rc, recv: the sender's",
	  .take = take_service, OPTION_AT(struct rdma_options, service), .choices = rdma_service_names },
	{ "operation", "NAME", "what carries messages: rc and xrc know all, uc those up to send-imm, ud send (with immediate); "
	  "without it write-imm, of ud send; recv: the sender's. fetch-add and compare-swap add 1 to 8 bytes",
	  .take = take_operation, OPTION_AT(struct rdma_options, operation), .choices = rdma_operation_names },
	{ "device", "NAME", "RDMA device; without it the first", TEXT(device) },
	{ "gid-index", "N", "without it the first RoCEv2 GID of an IPv4 address", NUMBER(gid_index, 0, 255) },
	{ "path-mtu", "BYTES", "256, 512, 1024, 2048 or 4096; without it the smaller one of both ports",
	  .take = take_path_mtu, OPTION_AT(struct rdma_options, path_mtu), .least = 256, .most = 4096 },
	{ "ack-timeout", "CODE", "rc, xrc: the end that posts sends again what is not acknowledged for 4.096 us * 2^CODE (0: never)",
	  NUMBER(ack_timeout, 0, 31), .usual = "14" },
	{ "reads", "N", "READs or atomics outstanding on each QP (max_rd_atomic), whatever --window posts; without it as many as both devices can",
	  NUMBER(reads, 1, 255) },
	{ "poll", NULL, "spin on the completion queue instead of sleeping for its events",
	  OPTION_FLAG(struct rdma_options, poll) },
	{ "threads", "N", "the QPs are divided among so many threads, each with a completion queue", NUMBER(threads, 1, 4096),
	  .usual = "1" },
	{ "memory", NULL, "what buffers are made of: normal pages, transparent huge pages, reserved ones of 2 MiB or 1 GiB, "
	  "memory of a CUDA device", OPTION_CHOICE(struct rdma_options, pages, rdma_pages_names), .usual = "normal" },
	{ "regions", "N", "memory regions of each QP, which messages go round; without it one for all QPs",
	  NUMBER(regions, 1, RDMA_REGIONS_MAX) },
	{ "control", "[HOST][:PORT]", "send: the receiver's TCP control connection, once for each of several receivers, which get --flows QPs "
	  "each; recv: where to listen for it (default: everywhere, --port)", .take = take_control },
	{ 0 },
};

static const struct option_entry send_entries[] = {
	{ "psn", "N", "first PSN of each QP (default: random)", NUMBER(psn, 0, 0xffffff) },
	{ "window", "N", "messages (ud: packets) outstanding on each QP", NUMBER(window, 1, 16384), .usual = "64" },
	{ "link", "N", "work requests (each a message, of ud a packet) that are posted as one list", NUMBER(link, 1, 16384),
	  .usual = "1" },
	{ "signal", "N", "only every Nth work request of a QP is signalled, and the last one", NUMBER(signal, 1, 16384),
	  .usual = "1" },
	{ "solicited", "N", "every Nth message of a QP, and the last of a list, wakes the receiver (without it each may)",
	  NUMBER(solicited, 1, 16384) },
	{ "qp-rate", "RATE", "as --rate, but what each QP may take at most", OPTION_RATE(struct rdma_options, qp_rate) },
	{ "stagger", "MS", "each QP begins so much later than the one before", NUMBER(stagger_ms, 1, 60000) },
	{ "inline", NULL, "the work request has the payload in it", OPTION_FLAG(struct rdma_options, inline_data) },
	{ 0 },
};

static const struct option_entry recv_entries[] = {
	{ "depth", "N", "receives posted on each QP", NUMBER(depth, 1, 16384), .usual = "1024" },
	{ "srq", "N", "all QPs share one queue of so many receives (of xrc always; without it --depth)", NUMBER(srq, 1, 1 << 20) },
	{ "srqs", "N", "--srq: the QPs take turns in so many such queues, each with a completion queue and a thread (of xrc and ping-pong "
	  "always 1)", NUMBER(srqs, 1, 4096), .usual = "1" },
	{ "senders", "N", "waits for so many senders, which then begin together; their transfers must be alike",
	  NUMBER(senders, 1, RDMA_PEERS_MAX), .usual = "1" },
	{ "gaps", "FILE", "a line for each run of messages (ud: packets) that are missing: flow,qpn,first,count", TEXT(gaps) },
	{ 0 },
};

static const struct option_entry ring_entries[] = {
	{ "ring", NULL, "RC WRITEs go round a ring of the receiver, whose workers verify each byte. Messages have 8192 bytes unless --size "
	  "says otherwise, --messages are of each receiver, and --json prints rocescope.ring/1", OPTION_FLAG(struct rdma_options, ring) },
	{ "burst", "N", "send: messages of a burst, which is told when it has been written; without it a stream, told each 0.1 s",
	  NUMBER(burst, 1, RDMA_BURST_MAX) },
	{ "capacity", "N", "recv: bursts that the ring holds, of a stream messages (default: what 64 MiB hold); at least 2",
	  NUMBER(capacity, 2, 1ull << 40) },
	{ "workers", "N", "recv: threads that read, each its share", NUMBER(workers, 1, 256), .usual = "1" },
	{ "upper", "PERCENT", "recv: back-pressure begins when so much of the ring waits to be read", NUMBER(upper, 1, 100),
	  .usual = "75" },
	{ "lower", "PERCENT", "recv: and ends when no more than this does", NUMBER(lower, 0, 99), .usual = "25" },
	{ "slow", "US", "recv: a slow consumer: a worker takes at least so long for each message", NUMBER(slow_us, 1, 10000000) },
	{ "listen", "[HOST][:PORT]", "recv: --control", .take = take_control, .hidden = true },
	{ 0 },
};

static const struct option_entry manual_entries[] = {
	{ "peer-address", "IP", "address of the sender",
	  OPTION_ADDRESS(struct rdma_options, peer_gid), OPTION_GIVEN(struct rdma_options, manual) },
	{ "peer-psn", "N", "PSN of the first packet to each QP", NUMBER(peer_psn, 0, 0xffffff), .usual = "0" },
	{ "peer-qpn", "N", "the sender's first QPN, where acknowledgements go; the next ones count up",
	  OPTION_HEX(struct rdma_options, peer_qpn, 1, 0xffffff), .usual = "1" },
	{ "tell", "FILE", "a JSON line with what the sender must know (- is standard output, the default)", TEXT(tell) },
	{ "dump", "FILE", "the buffers at the end: of each QP those of WRITEs, then those of SENDs", TEXT(dump) },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "Both", stream_entries, offsetof(struct rdma_options, common) },
	{ NULL, entries, 0 },
	{ "send", send_entries, 0 },
	{ "recv", recv_entries, 0 },
	{ "A ring (rc)", ring_entries, 0 },
	{ "recv from a sender without a control connection (rc, uc)", manual_entries, 0 },
	{ 0 },
};
static const struct command command = {
	.arguments = STREAM_ARGUMENTS,
	.prose = "From a sender without a control connection recv takes at most --flows QPs and messages of at most --size; after "
		 "--messages it ends.",
	.tables = tables,
};

static struct rdma_options options = { .gid_index = -1, .psn = -1, .peer_gid = { [10] = 0xff, [11] = 0xff } };

/* What only the end that posts can do, and what it can only do to messages that are sent. */
static void check_posting(void)
{
	const struct rdma_options *o = &options;

	if (o->link + o->signal - 1 > o->window)
		usage_error("--link %u --signal %u: they need --window %u", o->link, o->signal, o->link + o->signal - 1);
	if (o->common.ping_pong && (o->link > 1 || o->signal > 1 || o->solicited || o->threads > 1 || o->stagger_ms ||
				    o->qp_rate.per_second))
		usage_error("--ping-pong has one message at a time: it excludes --link, --signal, --solicited, --threads, --stagger "
			    "and --qp-rate");
	if (o->common.send && o->operation == RDMA_READ && (o->link > 1 || o->signal > 1 || o->threads > 1))
		usage_error("--operation read: it is recv that posts, and takes --link, --signal and --threads");
	if (o->solicited && (rdma_is_silent(o->operation) || o->operation == RDMA_READ))
		usage_error("--solicited: --operation %s wakes nobody", rdma_operation_name(o->operation));
	if (o->inline_data && (rdma_fetches(o->operation) || o->pages == RDMA_CUDA))
		usage_error("--inline is for payload that the CPU reads: not of read and atomics, nor of --memory cuda");
	if (o->common.send && o->threads > o->common.flows)
		usage_error("--threads %u: --flows %u has a QP for each", o->threads, o->threads);
	if (o->srqs > 1 && !o->srq)
		usage_error("--srqs %u: --srq N is missing", o->srqs);
	if (o->srqs > 1 && o->threads > 1 && o->threads != o->srqs)
		usage_error("--srqs %u: each has one thread, so --threads %u does not fit", o->srqs, o->threads);
	if ((o->threads > 1 || o->srqs > 1) && o->common.pause_ms)
		usage_error("--pause and --threads exclude each other");
}

/* M.-E. Vasile et al., TWEPP 2024. RC only: with UC nothing would tell which WRITEs were lost, and a lost note would stop the run. */
static void check_ring(void)
{
	struct rdma_options *o = &options;
	struct stream_options *common = &o->common;

	if (!o->ring && (o->burst || o->capacity || o->workers > 1 || o->slow_us || o->upper != 75 || o->lower != 25))
		usage_error("--burst, --capacity, --workers, --upper, --lower and --slow want --ring");
	if (!o->ring)
		return;
	if ((o->service && o->service != RDMA_RC) || (o->operation && o->operation != RDMA_WRITE))
		usage_error("--ring is of --transport rc --operation write");
	if (common->flows > 1 || common->ping_pong || common->pause_ms || common->latency || o->link > 1 || o->signal > 1 ||
	    o->solicited || o->inline_data || o->stagger_ms || o->qp_rate.per_second || o->threads > 1 || o->srq ||
	    o->regions || o->senders > 1 || o->gaps || o->manual || o->pages == RDMA_CUDA)
		usage_error("--ring has one QP for each receiver, each of whose messages is posted alone: it takes --window, --device, "
			    "--gid-index, --path-mtu, --poll, --memory of this machine, and what --help lists below it");
	if (!common->size_given)
		common->size = 8192;
	if (common->size < RING_HEADER || common->size > 1u << 30)
		usage_error("--size %llu: a message of a ring has 16 bytes to 1 GiB", (unsigned long long)common->size);
	if (common->rate.per_second && common->rate.unit != RATE_BITS)
		usage_error("--rate: that of a ring is one of bits");
	if (o->burst && common->messages % o->burst)
		usage_error("--messages %llu: no whole bursts of %llu", (unsigned long long)common->messages,
			    (unsigned long long)o->burst);
	if (o->lower >= o->upper)
		usage_error("--lower %u is not below --upper %u", o->lower, o->upper);
	o->service = RDMA_RC;
	o->operation = RDMA_WRITE;
}

static void check_manual(void)
{
	if (!options.manual && (options.tell || options.dump || options.peer_psn || options.peer_qpn != 1))
		usage_error("--peer-psn, --peer-qpn, --tell and --dump want --peer-address");
	if (!options.manual)
		return;
	if (options.common.send)
		usage_error("send: --peer-address is for recv");
	if (options.srq || options.regions || options.threads > 1 || options.senders > 1)
		usage_error("--peer-address excludes --srq, --regions, --threads and --senders");
	if (options.controls)
		usage_error("--peer-address and --control exclude each other");
	if (options.service != RDMA_RC && options.service != RDMA_UC)
		usage_error("--peer-address: --transport rc or uc is missing");
	if (options.operation)
		usage_error("--peer-address and --operation exclude each other: it takes WRITEs with immediate and SENDs");
	if (!options.tell)
		options.tell = "-";
}

/* One end with several others. */
static void check_peers(void)
{
	const struct rdma_options *o = &options;

	if (!o->common.send && o->controls > 1)
		usage_error("recv: one --control; --senders says how many it waits for");
	if (o->controls < 2)
		return;
	if (o->operation == RDMA_READ || o->common.ping_pong || o->service == RDMA_UD)
		usage_error("several --control: not with --operation read, --ping-pong or --transport ud");
	if (o->common.flows * o->controls > RDMA_FLOWS_MAX)
		usage_error("--flows %u for %u receivers: at most %d QPs in all", o->common.flows, o->controls, RDMA_FLOWS_MAX);
}

static void check_operation(void)
{
	if (options.common.send && !options.service)
		options.service = RDMA_RC;
	if (options.common.send && !options.operation)
		options.operation = rdma_usual_operation(options.service);
	if (options.service && options.operation && !rdma_service_knows(options.service, options.operation))
		usage_error("--operation %s: --transport %s has none", rdma_operation_name(options.operation),
			    rdma_service_name(options.service));
	if (rdma_is_atomic(options.operation)) {
		if (options.common.size_given && options.common.size != RDMA_ATOMIC_BYTES)
			usage_error("--operation %s: an atomic has %d bytes", rdma_operation_name(options.operation),
				    RDMA_ATOMIC_BYTES);
		options.common.size = RDMA_ATOMIC_BYTES;
	}
	if (options.common.ping_pong && (rdma_is_silent(options.operation) || options.operation == RDMA_READ))
		usage_error("--ping-pong: of --operation %s nobody can answer a message; a READ is a round trip itself",
			    rdma_operation_name(options.operation));
	if (options.common.ping_pong && options.service == RDMA_XRC)
		usage_error("--ping-pong: an XRC QP sends or receives");
	if (options.common.send && options.operation == RDMA_SEND && !rdma_header_bytes(options.common.size))
		usage_error("--size %llu: the stream header alone, which has the number of a message, has %zu bytes",
			    (unsigned long long)options.common.size, sizeof(struct stream_header));
}

int main(int argc, char **argv)
{
	options.ring = !strcmp(program_invocation_short_name, "rdma_ring");	/* its name until 0.1, for one more release */
	if (stream_parse(&command, &options, &options.common, argc, argv) < argc)
		usage_error("nothing may follow --");
	check_ring();
	check_manual();
	if (options.common.send && !options.controls)
		usage_error("send: --control HOST is missing");
	check_operation();
	check_posting();
	check_peers();
	stop_on_signals();
	if (options.common.send)
		return options.ring ? rdma_send_ring(&options) : rdma_send(&options);
	if (options.ring)
		return rdma_receive_ring(&options);
	return options.manual ? rdma_receive_manual(&options) : rdma_receive(&options);
}
