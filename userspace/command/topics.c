// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The topics of --help that several commands share. */
#include <stdio.h>

#include "lib/list.h"
#include "roce/stream/counters.h"
#include "userspace/command/arguments.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/refusal.h"
#include "userspace/observe/model/udp_ports.h"

static void list_counters(void)
{
#define COUNTER(name, unit, kind, scope, of, severity, words, advice) list_entry(#name, words);
#include "roce/stream/counters.def"
#undef COUNTER
}

static void list_events(void)
{
	for (int i = 0; i < ROCE_EVENTS; i++) {
		char words[200];

		snprintf(words, sizeof(words), "(%s) %s", event_reasons[i], event_words[i]);
		list_entry(event_names[i], words);
	}
}

static void list_lints(void)
{
	for (int i = 0; i < ROCE_LINTS; i++)
		list_entry(lint_names[i], lint_words[i]);
}

static void list_refusals(void)
{
	for (int i = REFUSAL_NONE + 1; i < ROCE_REFUSALS; i++)
		list_entry(refusal_names[i], refusal_words[i]);
}

static void explain_expect(void)
{
	printf("A file for --expect has one connection on each line, with the IP addresses of both ends:\n\n"
	       "  ADDRESS qpn N [psn N] <-> ADDRESS qpn N [psn N] [mtu N]\n\n");
	list_entry("qpn N", "number of the QP at this end, from 2 on");
	list_entry("psn N", "PSN of the first request that this end sends");
	list_entry("mtu N", "path MTU: 256, 512, 1024, 2048 or 4096");
	printf("\n");
	list_words("Numbers are decimal, or hexadecimal with 0x. Both addresses are IPv4, or both IPv6. An address and a QPN "
		   "have only one peer. # begins a comment. For example:");
	printf("\n"
	       "  # the FPGA at 10.9.0.1\n"
	       "  10.9.0.1 qpn 17 psn 0x100 <-> 10.9.0.2 qpn 18 psn 0 mtu 4096\n"
	       "  fd00::1 qpn 0x21 <-> fd00::2 qpn 0x22\n");
}

static void explain_filter(void)
{
	printf("Terms of --filter. A stream is shown if all of them hold:\n\n");
	list_entry("10.9.0.1", "source or destination; also a prefix, 10.9.0.0/24, and IPv6");
	list_entry("src=ADDRESS, dst=ADDRESS", "only this side");
	list_entry("17, qpn=17, qpn=0x11", "destination QPN, source QPN (UD), QPN of the peer, or flow (--udp)");
	list_entry("rc, service=rc", "the service: rc, uc, ud, xrc, udp");
	list_entry("request, side=request", "the side: request, response");
	list_entry("faulty", "streams with faults, and those whose ICRCs were never right");
	list_entry("untrusted", "no right ICRC was seen");
	list_entry("NAME", "a counter or lint ('--help counters', '--help lints') above 0");
	list_entry("classes", "the traffic class has changed; also compared with how often");
	list_entry("NAME<N, NAME>=N, ...", "a counter or lint compared with a number");
	list_entry("not TERM, !TERM", "the term does not hold");
	list_entry("TERM or TERM, (...)", "alternatives; parentheses keep terms together");
	printf("\n");
	list_words("Behind src, dst, qpn, service and side stands =, == or a blank, or != for the opposite. Numbers are decimal, or "
		   "hexadecimal with 0x.");
	printf("\nFor example:\n\n"
	       "  10.9.0.0/24 rc lost>10\n"
	       "  qpn=0x102 dst!=10.9.0.2\n"
	       "  faulty not (uc or dst=fd00::2)\n");
}

static void explain_udp(void)
{
	list_words("--udp PORT[,FORMAT][,KEY=VALUE...][,PORT...] follows the numbers of datagrams to these ports, as it follows "
		   "PSNs. --udp may be repeated; words behind a port belong to it. FORMAT is one of");
	printf("\n");
	for (size_t i = 0; i < udp_named_count; i++)
		list_entry(udp_named[i].name, udp_named[i].words);
	printf("\nor is described by\n\n");
	list_entry("seq=OFFSET:BITS", "the number that counts up");
	list_entry("step=N", "by which it counts up; default 1");
	list_entry("stream=OFFSET:BITS", "a field that names the stream, by the number of its flow; two may be given");
	list_entry("frames=N", "only vdif: frames in a second");
	printf("\n");
	list_words("OFFSET and BITS are bits: bit 0 is the most significant one of the UDP payload's first byte. With ':le' "
		   "behind it the field is little endian, and bit 0 the least significant one of that byte. A field lies in "
		   "eight bytes from its first one on. For example:");
	printf("\n"
	       "  --udp 5000,seq=0:64                       64 bits, network byte order, at the beginning\n"
	       "  --udp 5000,seq=64:32:le,step=2048         bytes 8 to 11, little endian, in steps of 2048\n"
	       "  --udp 5000,seq=16:48,stream=8:8 --udp 5001,dune,step=64\n");
}

const struct option_topic topic_counters = {
	"counters", "every counter, by its name in --fail-on, --filter, JSON and Prometheus", list_counters
};
const struct option_topic topic_events = {
	"events", "every event, and in brackets its word for capture --reason", list_events
};
const struct option_topic topic_refusals = { "refusals", "why a receiver does not take a packet", list_refusals };
const struct option_topic topic_lints = { "lints", "mistakes in headers", list_lints };
const struct option_topic topic_expect = { "expect", "the format of the file of --expect", explain_expect };
const struct option_topic topic_filter = { "filter", "the terms of --filter", explain_filter };
const struct option_topic topic_udp = { "udp", "the formats of --udp", explain_udp };
