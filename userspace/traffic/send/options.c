// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>

#include "userspace/traffic/send/fault.h"
#include "userspace/traffic/send/option.h"

static const char *const ops[] = {
	[SEND_UC_WRITE_IMM] = "uc-write-imm", [SEND_UC_WRITE] = "uc-write", [SEND_UC_SEND] = "uc-send",
	[SEND_RC_WRITE] = "rc-write", [SEND_RC_SEND] = "rc-send", [SEND_UD_SEND] = "ud-send",
	[SEND_READ_RESPONSE] = "read-response", [SEND_ACK] = "ack", [SEND_CNP] = "cnp", NULL
};
static const char *const port_policies[] = { [PORTS_ONE] = "one", [PORTS_PER_QP] = "qp", [PORTS_RANDOM] = "random", NULL };
static const char *const outs[] = {
	[OUT_AUTO] = "auto", [OUT_LIVE] = "live", [OUT_XDP] = "xdp", [OUT_PACKET] = "packet", NULL
};
static const char *const off_on[] = { "off", "on", NULL };

#define AT(member) OPTION_AT(struct send_options, member)
#define GIVEN(member) OPTION_GIVEN(struct send_options, member)
#define NUMBER(member, low, high) OPTION_NUMBER(struct send_options, plan.member, low, high)
#define HEX(member, low, high) OPTION_HEX(struct send_options, plan.member, low, high)
#define SIZE(member, low, high) OPTION_SIZE(struct send_options, plan.member, low, high)
#define CHOICE(member, list) OPTION_CHOICE(struct send_options, plan.member, list)
#define SECONDS(member) OPTION_SECONDS(struct send_options, plan.member, 0)
#define FLAG(member) OPTION_FLAG(struct send_options, plan.member)
#define ADDRESS(member) OPTION_ADDRESS(struct send_options, plan.member)
#define MAC(member) OPTION_MAC(struct send_options, plan.member)
#define COPY(member) OTHER(take_copy), AT(plan.member)
#define OTHER(function) .take = function

static const struct option_entry amounts[] = {
	{ "op", "OP", "what is sent", CHOICE(op, ops), .usual = "uc-write-imm" },
	{ "message", "BYTES[K|M]", "payload of a message", OTHER(take_message), AT(plan.message), .least = 0, .most = 1u << 31,
	  .usual = "4096" },
	{ "mtu", "BYTES[K]", "payload of First and Middle packets, any size", SIZE(mtu, 1, PAYLOAD_MOST), .usual = "1024" },
	{ "qps", "N", "number of QPs that send", NUMBER(qps, 1, QPS_MOST), .usual = "1" },
	{ "messages", "N", "number of messages, over all QPs", NUMBER(messages, 1, UINT64_MAX >> 16) },
	{ "duration", "SECONDS", "how long to send; 10 without --messages", SECONDS(duration) },
	{ "rate", "RATE", "10Gbit (bits of frames without FCS) or 2Mpps; without it as fast as possible",
	  OPTION_RATE(struct send_options, plan.rate) },
	{ "strict-rate", NULL, "exit status 1 if --rate was not kept", OPTION_FLAG(struct send_options, strict_rate) },
	{ "burst", "N[/T]", "N packets back to back, at --rate on average; 32/100us: every 100 us",
	  OTHER(take_burst), .least = 1, .most = 1000000, .usual = "1" },
	{ "interleave", "HOW", "when the next QP has its turn: after a message, after a packet, after 3,1,... packets "
	  "(weights=3,1,...), or as a file says, which lists QP indexes from 0 (sequence=FILE)", OTHER(take_interleave),
	  .usual = "message" },
	{ "payload", "PATTERN", "counter, lfsr, or file=FILE", OTHER(take_payload), .usual = "counter" },
	{ "preset", "NAME", "a sender known from print; 'list' lists them", OTHER(take_preset), .topic = "presets" },
	{ "plan", "FILE", "a file of these options, one a line without dashes; # begins a comment", OTHER(take_plan) },
	{ "seed", "N", "begins all random numbers: same seed, same packets", NUMBER(seed, 0, INT64_MAX), .usual = "1" },
	{ 0 },
};

static const struct option_entry mistakes[] = {
	{ "fault", "KIND[:KEY=VALUE,...]", "what goes wrong, and when; more than one is possible ('--help faults' lists them)",
	  OTHER(take_fault), .topic = "faults" },
	{ "truth", "FILE", "write what a perfect observer can conclude there (rocescope.truth/1)", COPY(truth) },
	{ 0 },
};

static const struct option_entry path[] = {
	{ "out", NULL, "how packets leave: by BPF (live), AF_XDP or AF_PACKET", CHOICE(out, outs), .usual = "auto" },
	{ "write", "FILE", "write a pcap file instead of sending; - is standard output", COPY(file), .letter = 'w' },
	{ "dst", "IP", "the receiver", ADDRESS(dst), GIVEN(has_dst) },
	{ "src", "IP", "the sender; without it the address of the interface", ADDRESS(src), GIVEN(has_src) },
	{ "dst-mac", "MAC", "Ethernet address of the receiver, or of the router to it; without it from the neighbour table",
	  MAC(dst_mac), GIVEN(has_dst_mac) },
	{ "src-mac", "MAC", "Ethernet address of the sender; without it that of the interface",
	  MAC(src_mac), GIVEN(has_src_mac) },
	{ 0 },
};

static const struct option_entry headers[] = {
	{ "vlan", "N", "VLAN ID of an 802.1Q tag", OTHER(take_vlan), AT(plan.vlan), .least = 0, .most = 4094 },
	{ "pcp", "N", "priority in the tag; without --vlan the VLAN ID is 0", HEX(pcp, 0, 7), GIVEN(has_pcp) },
	{ "dscp", "N", "DSCP, 0 to 63", OTHER(take_dscp), .usual = "0" },
	{ "ecn", "N", "ECN bits, 0 to 3", OTHER(take_ecn), .usual = "0" },
	{ "ttl", "N", "TTL, or hop limit of IPv6", HEX(ttl, 1, 255), .usual = "64" },
	{ "flow-label", "N", "flow label of IPv6; without it 0", HEX(flow_label, 0, 0xfffff), GIVEN(has_flow_label) },
	{ "df", NULL, "don't-fragment bit of IPv4", CHOICE(dont_fragment, off_on), .usual = "on" },
	{ "ports", NULL, "UDP source ports: one for all QPs, one for each QP, counting up (qp), or a random one for each QP",
	  CHOICE(ports, port_policies), .usual = "one" },
	{ "port", "N", "UDP source port, of QP 0 where each has one", HEX(port, 1, 65535), .usual = "49152" },
	{ "udp-checksum", NULL, "compute the UDP checksum instead of sending 0", FLAG(udp_checksum) },
	{ "pkey", "N", "P_Key", HEX(pkey, 0, 0xffff), .usual = "0xffff" },
	{ "first-qpn", "N", "destination QPN of QP 0; the others follow", HEX(first_qpn, 0, 0xffffff), .usual = "0x100" },
	{ "first-psn", "N|random", "PSN of the first packet of each QP",
	  OTHER(take_first_psn), AT(plan.first_psn), .least = 0, .most = 0xffffff, .usual = "0" },
	{ "other-psn", "N", "first PSN of the other side, for the fault psn-other-side", HEX(other_psn, 0, 0xffffff),
	  .usual = "0x800000" },
	{ "rkey", "N", "R_Key", HEX(rkey, 0, 0xffffffff), .usual = "0" },
	{ "va", "N", "address of the first region of QP 0", HEX(va, 0, UINT64_MAX), .usual = "0" },
	{ "regions", "N", "memory regions of each QP; each message uses the next one",
	  NUMBER(regions, 1, UINT32_MAX), .usual = "1" },
	{ "region-bytes", "BYTES[K|M]", "from one region to the next; without it as --message",
	  SIZE(region_bytes, 1, UINT32_MAX), GIVEN(has_region_bytes) },
	{ "immediate", "N", "immediate data of the first message of each QP; counts up",
	  HEX(immediate, 0, 0xffffffff), .usual = "0" },
	{ "immediate-step", "N", "by how much it counts up", HEX(immediate_step, 0, 0xffffffff), .usual = "1" },
	{ "immediate-messages", "N", "so many messages one after the other have the same",
	  NUMBER(immediate_messages, 1, UINT32_MAX), .usual = "1" },
	{ "immediate-page", NULL, "instead it is the number of the frame's regions, or page, and from bit 12 on the packet's PSN",
	  FLAG(immediate_page) },
	{ "frame", "N", "messages of a frame: only its last one has immediate data", NUMBER(frame, 1, UINT32_MAX), .usual = "1" },
	{ "reserved", "N", "the BTH's fifth byte: FECN, BECN and six reserved bits", HEX(reserved, 0, 0xff), .usual = "0" },
	{ "qp", "qpn=N,psn=N,rkey=N,va=N", "numbers of QP 0; the next --qp is about QP 1, and so on; sets --qps",
	  OTHER(take_qp) },
	{ 0 },
};

static const struct option_entry report[] = {
	{ "json", NULL, "print one rocescope.send/1 object instead of the summary", OPTION_FLAG(struct send_options, json),
	  .letter = 'j' },
	{ 0 },
};

static const struct option_table tables[] = {
	{ "What and how much", amounts, 0 },
	{ "What goes wrong", mistakes, 0 },
	{ "Where", path, 0 },
	{ "Headers (numbers may be hexadecimal: 0x...)", headers, 0 },
	{ "What is printed", report, 0 },
	{ 0 },
};

const struct option_topic topic_faults = { "faults", "what can go wrong on purpose, for send --fault", fault_help };
const struct option_topic topic_presets = { "presets", "senders known from print, for send --preset", presets_list };

static const struct option_topic *const topics[] = { &topic_faults, &topic_presets, NULL };

const struct command send_command = {
	.name = "send",
	.words = "send RoCE packets by plan, and faults by plan",
	.arguments = "IFACE|-w FILE --dst IP [OPTIONS]",
	.prose = "A software FPGA: RoCE packets by plan, faults by plan, the truth to a file. Of two options that contradict "
		 "each other the later one wins; --preset and --plan stand for the options that they contain.",
	.tables = tables,
	.topics = topics,
	.examples =
		"  # a thousand messages of 8 QPs into a file; one packet in a thousand is missing, and which ones says "
		"truth.json\n"
		"  rocescope send -w run.pcap --qps 8 --messages 1000 --fault drop:p=1e-3 --truth truth.json\n"
		"  # 10 Gbit/s of a known sender's packets for half a minute\n"
		"  rocescope send roce0 --dst 10.9.0.2 --preset lofar --rate 10Gbit --duration 30\n"
		"  # ICRCs whose bytes stand the wrong way round, now and then\n"
		"  rocescope send -w run.pcap --messages 100 --fault icrc-swapped:every=10\n",
};

void options_parse_send(struct send_options *o, int argc, char **argv)
{
	int first;

	*o = (struct send_options){ 0 };
	first = command_parse(&send_command, o, argc, argv);
	if (argc - first > 1)
		usage_error("send: %s: one interface is enough", argv[first + 1]);
	if (first < argc)
		option_store_text(&o->plan.interface, argv[first]);
	options_complete(o);
}

void options_free(struct send_options *o)
{
	struct send_plan *plan = &o->plan;
	const char *texts[] = { plan->interface, plan->file, plan->truth, plan->pattern_file };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free((char *)texts[i]);
	for (size_t i = 0; i < plan->fault_count; i++)
		free(o->faults[i]);
	free(o->faults);
	free(plan->faults);
	free(plan->qp);
	free(o->qp);
	free(plan->turn);
	free((char *)o->sequence);
	*o = (struct send_options){ 0 };
}
