// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/slot.h"
#include "lib/list.h"
#include "userspace/send/fault.h"
#include "userspace/send/option.h"

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

#define AT(member) .at = offsetof(struct send_options, member), .bytes = sizeof(((struct send_options *)0)->member)
#define GIVEN(member) .given = offsetof(struct send_options, member)
#define NUMBER(member, low, high) .take = take_number, AT(plan.member), .least = low, .most = high
#define COUNT(member, low, high) .take = take_count, AT(plan.member), .least = low, .most = high
#define SIZE(member, low, high) .take = take_size, AT(plan.member), .least = low, .most = high
#define CHOICE(member, list) .take = take_choice, AT(plan.member), .choices = list
#define TEXT(member) .take = take_text, AT(plan.member)
#define OTHER(function) .take = function

/* In --help an entry without a name is a heading. */
static const struct option_word words[] = {
	{ .help = "What and how much" },
	{ "op", "OP", "uc-write-imm (default), uc-write, uc-send, rc-write, rc-send, ud-send, "
	  "read-response, ack, cnp", CHOICE(op, ops) },
	{ "message", "BYTES[K|M]", "payload of a message (4096)",
	  OTHER(take_message), AT(plan.message), .least = 0, .most = 1u << 31 },
	{ "mtu", "BYTES[K]", "payload of First and Middle packets, any size (1024)", SIZE(mtu, 1, PAYLOAD_MOST) },
	{ "qps", "N", "QPs that send (1)", COUNT(qps, 1, QPS_MOST) },
	{ "messages", "N", "how many, over all QPs", COUNT(messages, 1, UINT64_MAX >> 16) },
	{ "duration", "SECONDS", "how long to send (10, if --messages is not given)",
	  OTHER(take_seconds), AT(plan.duration) },
	{ "rate", "RATE", "10Gbit (bits of frames without FCS) or 2Mpps (default: as fast as it goes)", OTHER(take_rate) },
	{ "burst", "N[/T]", "N packets back to back, at --rate on average; 32/100us: every 100 us",
	  OTHER(take_burst), .least = 1, .most = 1000000 },
	{ "interleave", "HOW", "message (default), packet, weights=3,1,... (packets of each QP's turn), "
	  "sequence=FILE (QP indexes from 0, a packet each)", OTHER(take_interleave) },
	{ "payload", "PATTERN", "counter (default), lfsr, file=FILE", OTHER(take_payload) },
	{ "preset", "NAME", "a sender known from print; 'list' lists them", OTHER(take_preset) },
	{ "plan", "FILE", "these options without dashes, one a line; # begins a comment", OTHER(take_plan) },
	{ "seed", "N", "of all that is random (1): same plan, same packets", COUNT(seed, 0, INT64_MAX) },
	{ .help = "What goes wrong" },
	{ "fault", "KIND[:KEY=VALUE,...]", "as often as needed; '--help faults' lists them", OTHER(take_fault) },
	{ "truth", "FILE", "what a perfect observer can conclude goes there (rocescope.truth/1)", TEXT(truth) },
	{ .help = "Where" },
	{ "out", "auto|live|xdp|packet", "by what packets leave: BPF, AF_XDP, AF_PACKET (auto)", CHOICE(out, outs) },
	{ "write", "FILE", "a pcap file instead of an interface, - for standard output", 'w', TEXT(file) },
	{ "dst", "IP", "the receiver", OTHER(take_address), AT(plan.dst), GIVEN(has_dst) },
	{ "src", "IP", "the sender (default: the interface's own address)", OTHER(take_address), AT(plan.src), GIVEN(has_src) },
	{ "dst-mac", "MAC", "its Ethernet address, or the router's (default: from the table of neighbours)",
	  OTHER(take_mac), AT(plan.dst_mac), GIVEN(has_dst_mac) },
	{ "src-mac", "MAC", "the sender's (default: the interface's own)",
	  OTHER(take_mac), AT(plan.src_mac), GIVEN(has_src_mac) },
	{ .help = "Headers (numbers may be hexadecimal: 0x...)" },
	{ "vlan", "N", "an 802.1Q tag", OTHER(take_vlan), AT(plan.vlan), .least = 0, .most = 4094 },
	{ "pcp", "N", "its priority; without --vlan VLAN 0", NUMBER(pcp, 0, 7), GIVEN(has_pcp) },
	{ "dscp", "N", "0 to 63 (0)", OTHER(take_dscp) },
	{ "ecn", "N", "0 to 3 (0)", OTHER(take_ecn) },
	{ "ttl", "N", "TTL, or hop limit of IPv6 (64)", NUMBER(ttl, 1, 255) },
	{ "flow-label", "N", "of IPv6 (0)",
	  NUMBER(flow_label, 0, 0xfffff), GIVEN(has_flow_label) },
	{ "df", "on|off", "IPv4's don't-fragment bit (on)", CHOICE(dont_fragment, off_on) },
	{ "ports", "one|qp|random", "UDP source ports: one for all, one a QP by its index, a random one a QP (one)", CHOICE(ports, port_policies) },
	{ "port", "N", "the source port, or QP 0's (49152)", NUMBER(port, 1, 65535) },
	{ "udp-checksum", NULL, "compute it instead of sending 0", OTHER(take_flag), AT(plan.udp_checksum) },
	{ "pkey", "N", "P_Key (0xffff)", NUMBER(pkey, 0, 0xffff) },
	{ "first-qpn", "N", "destination QPN of QP 0; the others follow (0x100)", NUMBER(first_qpn, 0, 0xffffff) },
	{ "first-psn", "N|random", "of each QP's first packet (0)",
	  OTHER(take_first_psn), AT(plan.first_psn), .least = 0, .most = 0xffffff },
	{ "other-psn", "N", "where the other side's PSNs begin, for psn-other-side (0x800000)",
	  NUMBER(other_psn, 0, 0xffffff) },
	{ "rkey", "N", "R_Key (0)", NUMBER(rkey, 0, 0xffffffff) },
	{ "va", "N", "address of QP 0's first region (0)", NUMBER(va, 0, UINT64_MAX) },
	{ "regions", "N", "of each QP, used in turn, one a message (1)", COUNT(regions, 1, UINT32_MAX) },
	{ "region-bytes", "BYTES[K|M]", "from one region to the next (default: as --message)",
	  SIZE(region_bytes, 1, UINT32_MAX), GIVEN(has_region_bytes) },
	{ "immediate", "N", "of each QP's first message; counts up (0)", NUMBER(immediate, 0, 0xffffffff) },
	{ "qp", "qpn=N,psn=N,rkey=N,va=N", "QP 0's own; the next --qp is QP 1's, and so on; sets --qps", OTHER(take_qp) },
};

#define WORDS (sizeof(words) / sizeof(words[0]))

static const char examples[] =
	"  # a thousand messages of 8 QPs into a file; one packet in a thousand is missing, and which ones says truth.json\n"
	"  rocescope send -w run.pcap --qps 8 --messages 1000 --fault drop:p=1e-3 --truth truth.json\n"
	"  # 10 Gbit/s of a known sender's packets for half a minute\n"
	"  rocescope send roce0 --dst 10.9.0.2 --preset lofar --rate 10Gbit --duration 30\n"
	"  # ICRCs whose bytes stand the wrong way round, now and then\n"
	"  rocescope send -w run.pcap --messages 100 --fault icrc-swapped:every=10\n";

static void take(struct option_parser *p, const struct option_word *w, const char *text)
{
	w->take(p, w, text);
	if (w->given)
		*(bool *)option_field(p, w->given) = true;
}

void option_take(struct option_parser *p, const char *name, const char *value)
{
	for (const struct option_word *w = words; w < words + WORDS; w++) {
		if (!w->name || strcmp(name, w->name))
			continue;
		if (!w->value == !!value)
			usage_error("send: %s:%u: %s: %s", p->path, p->line, name,
				    value ? "takes no value" : "needs a value behind it");
		take(p, w, value);
		return;
	}
	usage_error("send: %s:%u: %.60s: no such option (they are those of the command line, without dashes)", p->path,
		    p->line, name);
}

/* ---- the command line ---- */

static void print_help(void)
{
	char name[60], letter[8];

	printf("usage: rocescope send IFACE|-w FILE --dst IP [OPTIONS]\n\n"
	       "A software FPGA: RoCE packets by plan, faults by plan, the truth to a file.\n");
	for (const struct option_word *w = words; w < words + WORDS; w++) {
		if (!w->name) {
			printf("\n%s:\n", w->help);
			continue;
		}
		snprintf(letter, sizeof(letter), "-%c, ", w->letter);
		snprintf(name, sizeof(name), "%s--%s%s%s", w->letter ? letter : "", w->name, w->value ? " " : "", w->value ?: "");
		list_entry(name, w->help);
	}
	printf("\n");
	list_entry("-j, --json", "one rocescope.send/1 object instead of the summary");
	list_entry("-h, --help [faults]", "this list, or that of what can go wrong");
	printf("  --version\n");
	printf("\nPresets; what stands behind one on the line wins over it:\n");
	presets_list();
	printf("\nExamples:\n%s", examples);
}

static void __attribute__((noreturn)) help(const char *topic)
{
	if (topic && !strcmp(topic, "faults"))
		fault_help();
	else
		print_help();
	exit(0);
}

static void set_defaults(struct send_options *o)
{
	*o = (struct send_options){ .plan = {
		.message = 4096, .mtu = 1024, .qps = 1, .burst = 1, .seed = 1, .ttl = 64, .dont_fragment = true, .port = 49152,
		.pkey = 0xffff, .first_qpn = 0x100, .other_psn = 0x800000, .regions = 1,
	} };
}

static void parse_command_line(struct send_options *o, int argc, char **argv)
{
	struct option all[WORDS + 3] = { { "json", no_argument, NULL, 'j' }, { "help", no_argument, NULL, 'h' } };
	struct option_parser p = { .o = o };
	int value, count = 2;

	for (size_t i = 0; i < WORDS; i++)
		if (words[i].name)
			all[count++] = (struct option){ words[i].name, words[i].value ? required_argument : no_argument, NULL,
							OPTION_OWN + i };
	opterr = 0;
	while ((value = getopt_long(argc, argv, ":jhw:", all, NULL)) != -1) {
		if (value == '?' || value == ':')
			usage_error("send: %s: %s", argv[optind - 1],
				    value == '?' ? "no such option" : "needs a value");
		if (value == 'h')
			help(argv[optind]);
		else if (value == 'j')
			o->json = true;
		else if (value == 'w')
			option_store_text(&o->plan.file, optarg);
		else
			take(&p, &words[value - OPTION_OWN], optarg);
	}
	if (argc - optind > 1)
		usage_error("send: %s: one interface is enough", argv[optind + 1]);
	if (optind < argc)
		option_store_text(&o->plan.interface, argv[optind]);
}

void options_parse_send(struct send_options *o, int argc, char **argv)
{
	set_defaults(o);
	parse_command_line(o, argc, argv);
	options_complete(o);
}

void options_free(struct send_options *o)
{
	struct plan *plan = &o->plan;
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
