// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Prints docs/counters.md. What each counter, event, lint, finding and mistake means comes from the .def files. What to do
 * about a counter is in the table below; about the others the doctor says it (userspace/doctor/finding.def,
 * roce/icrc_mistake.def). tests/docs.test --write replaces the page.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "roce/counters.h"
#include "userspace/doctor/icrc_recipe.h"
#include "userspace/doctor/sign.h"
#include "userspace/model/event_text.h"
#include "userspace/model/refusal.h"

#define TRAFFIC "nothing: it is a figure of the traffic"
#define DOCTOR(finding, words) "`doctor` says [`" finding "`](#what-doctor-finds): " words

static const struct {
	enum roce_counter counter;
	const char *name, *words;
} counters[ROCE_COUNTERS] = {
#define COUNTER(name, unit, kind, scope, words) { COUNTER_##name, #name, words },
#include "roce/counters.def"
#undef COUNTER
};

static const char *const advice[ROCE_COUNTERS] = {
	[COUNTER_frames] =
		"0: nothing arrives. Look whether the interface is up, promiscuous, and in "
		"[the right place](where-to-stand.md)",
	[COUNTER_other_frames] =
		"nothing, if there is other traffic. If all frames are of this kind, `doctor` says what they are instead",
	[COUNTER_unparsed_frames] =
		"watch where these labels are not there yet, or no longer. `--decap` opens GRE, ERSPAN and VXLAN only",
	[COUNTER_udp_packets] = TRAFFIC,
	[COUNTER_rocev1_packets] = "no router passes RoCEv1 on. If you want RoCEv2, choose its GID index in the sender",
	[COUNTER_rocev1_icrc_checked] = TRAFFIC,
	[COUNTER_ip_fragments] = DOCTOR("ip-fragment", "make the MTU larger, or the path MTU smaller"),
	[COUNTER_malformed] = "`doctor` says which length is wrong, and what it counts",
	[COUNTER_truncated] = "capture whole frames (`tcpdump -s 0`), or only the faulty ones ([`capture`](capture.md))",
	[COUNTER_roce_packets] =
		"0, and there are other frames: `doctor` says whether they would be RoCE. Else [stand](where-to-stand.md) "
		"elsewhere",
	[COUNTER_bytes] = TRAFFIC,
	[COUNTER_payload_bytes] = TRAFFIC,
	[COUNTER_icrc_checked] = TRAFFIC,
	[COUNTER_icrc_unchecked] =
		"nothing with `--icrc 1/N` or `off`. Else frames were cut, or are [too long](rules.md#icrc-and-trust): "
		"nobody has checked these",
	[COUNTER_icrc_bad] =
		"all packets of a stream: its sender computes the ICRC wrongly, and `doctor` [names the "
		"mistake](#mistakes-in-an-icrc). A few of many: a device damages them; look [between](between.md) two points "
		"which one",
	[COUNTER_messages] = TRAFFIC,
	[COUNTER_blocks] = TRAFFIC,
	[COUNTER_messages_broken] =
		"look at the stream's `psn_lost` and `psn_recovered`: a loss, or packets out of order, each of which breaks a "
		"message of UC",
	[COUNTER_imm_gaps] = "beside `psn_lost`: the same loss. Alone: " DOCTOR("imm-gap", "the sender left them out"),
	[COUNTER_imm_skipped] = "as `imm_gaps`",
	[COUNTER_blocks_incomplete] = "as `psn_lost`, which it counts in [blocks](rules.md#blocks)",
	[COUNTER_blocks_missing] = "as `imm_gaps`",
	[COUNTER_psn_gaps] = "look at `psn_lost`: what was skipped may have come later",
	[COUNTER_psn_skipped] = "look at `psn_lost`: what was skipped may have come later",
	[COUNTER_psn_recovered] =
		"RC: it was lost and sent again. UC: " DOCTOR("reorder", "keep a QP on one path and in one queue"),
	[COUNTER_psn_crossed] = "nothing in the path. To be sure, watch one interface, and let the NIC put a QP into one queue",
	[COUNTER_psn_unseen] =
		"the place where we stand misses packets: look at `ring_missed`, and at the mirror port's own counters",
	[COUNTER_psn_lost] =
		"first `ring_missed`: is it here? Then where: [`between`](between.md) two points. Then why: [`path`](path.md) "
		"at the receiver, and `doctor` for the pattern",
	[COUNTER_psn_duplicates] =
		"RC: " DOCTOR("retransmission", "a loss behind this place, or a short ACK timeout") ". UC: "
		DOCTOR("duplicates", "a loop, or the same packet on two interfaces"),
	[COUNTER_psn_resyncs] =
		"nothing, if the sender was started again. Else " DOCTOR("psn-jump", "look at the PSN in the QP's context"),
	[COUNTER_psn_restarts] = "nothing, if the QP was connected anew. Else as `psn_resyncs`",
	[COUNTER_psn_strays] = DOCTOR("psn-outlier", "look at what these packets have in common"),
	[COUNTER_psn_interleaved] = "two senders use the same addresses and QPN: give each a QPN of its own",
	[COUNTER_psn_forgotten] = "nothing: `psn_lost` may be too large by so many ([rules](rules.md#psns))",
	[COUNTER_psn_late_unknown] = "nothing: `psn_lost` may be too large by so many ([rules](rules.md#psns))",
	[COUNTER_acks] =
		"0 on RC, and both directions are watched: [`doctor --bring-up`](bring-up.md) says how far the sender gets",
	[COUNTER_rnr_naks] = DOCTOR("rnr", "post more receives, in time"),
	[COUNTER_naks] = "the next four say which",
	[COUNTER_nak_psn_sequence] =
		"as `psn_lost`. If nothing is lost here, " DOCTOR("psn-refused", "it is lost behind this place"),
	[COUNTER_nak_invalid_request] = DOCTOR("nak-invalid-request", "operation, sizes, or no receive posted"),
	[COUNTER_nak_remote_access] = DOCTOR("nak-remote-access", "compare rkey, address and length with the region"),
	[COUNTER_nak_remote_operational] = DOCTOR("nak-remote-operational", "look at the receiver itself"),
	[COUNTER_cnps] = "as `ecn_ce`: receivers ask the sender to slow down",
	[COUNTER_ecn_ce] =
		DOCTOR("congestion", "slow down, or give the path room") ". `monitor` [hints](host.md#hints) at senders that "
		"do not slow down",
	[COUNTER_unknown_opcodes] = DOCTOR("unknown-opcode", "look at the order of service and operation in the byte"),
	[COUNTER_udp_messages] = TRAFFIC,
	[COUNTER_udp_messages_broken] = "look at the flow's own row: datagrams of a heap were lost, or came too late",
	[COUNTER_udp_gaps] = "look at `udp_lost`: what was skipped may have come later",
	[COUNTER_udp_skipped] = "look at `udp_lost`: what was skipped may have come later",
	[COUNTER_udp_recovered] = DOCTOR("flow-reorder", "the path changes the order of datagrams"),
	[COUNTER_udp_crossed] = "as `psn_crossed`",
	[COUNTER_udp_lost] = "as `psn_lost`: `doctor` with `--udp` says where, and in what pattern",
	[COUNTER_udp_duplicates] = DOCTOR("flow-duplicates", "a loop, or the same datagram on two interfaces"),
	[COUNTER_udp_resyncs] = "nothing, if the sender was started again. Else " DOCTOR("flow-restart", "look at what counts"),
	[COUNTER_udp_restarts] = "nothing, if the sender was started again. Else as `udp_resyncs`",
	[COUNTER_udp_strays] = "a field that is no number, or another sender's datagrams: check the format of `--udp`",
	[COUNTER_udp_interleaved] = DOCTOR("flow-mixed", "give each sender a port of its own, or tell `stream=`"),
	[COUNTER_udp_forgotten] = "nothing: `udp_lost` may be too large by so many ([rules](rules.md#psns))",
	[COUNTER_udp_late_unknown] = "nothing: `udp_lost` may be too large by so many ([rules](rules.md#psns))",
	[COUNTER_ud_skipped] = "as `ud_lost`",
	[COUNTER_ud_recovered] = "as `ud_lost`",
	[COUNTER_ud_lost] =
		"nothing, if not all destinations of the sender are seen: one count goes through all of them. Else as `psn_lost`",
	[COUNTER_ud_duplicates] = "as `psn_duplicates`",
	[COUNTER_ud_resyncs] = "as `psn_resyncs`",
	[COUNTER_lints] = "the stream's `lint` says which: [what to do about each](#lints)",
	[COUNTER_untracked_packets] = "a larger `--max-streams`: a hint says how large, and which streams found no room",
	[COUNTER_streams_evicted] =
		"nothing: the totals keep what they had counted. If they were wanted: a larger `--max-streams`",
	[COUNTER_events_lost] = "nothing: counters are complete, and only lists and captures lack these packets",
	[COUNTER_ring_missed] =
		"[`path`](path.md) says which ring, queue or CPU is too small. On the receiver it is lost for the "
		"application as well",
};

/* A cell: a bar would end it. */
static void cell(const char *words)
{
	printf(" ");
	for (; *words; words++)
		printf(*words == '|' ? "\\%c" : "%c", *words);
	printf(" |");
}

/* In JSON and in commands these names have - for _. */
static void name_cell(const char *prefix, const char *name)
{
	printf("| `%s", prefix);
	for (; *name; name++)
		putchar(*name == '_' ? '-' : *name);
	printf("` |");
}

static void head(const char *title, const char *prose, const char *columns, int count)
{
	printf("\n## %s\n\n%s\n\n%s\n|", title, prose, columns);
	while (count--)
		printf("---|");
	printf("\n");
}

static void print_counters(void)
{
	head("Counters",
	     "In the order of JSON and `--help counters`. `--filter`, `--fail-on` and Prometheus have the same names.",
	     "| counter | what it counts | what to do |", 3);
	for (size_t i = 0; i < ROCE_COUNTERS; i++) {
		printf("| `%s` |", counters[i].name);
		cell(counters[i].words);
		cell(advice[counters[i].counter] ? advice[counters[i].counter] : "");
		printf("\n");
	}
}

static void print_events(void)
{
	head("Events",
	     "An event is what one packet shows. The counters have the sums, `analyze` lists the packets, `capture` keeps "
	     "them.",
	     "| event | what the packet shows | `capture --reason` |", 3);
	for (int i = 0; i < ROCE_EVENTS; i++) {
		name_cell("", event_names[i]);
		cell(event_words[i]);
		cell(event_reasons[i]);
		printf("\n");
	}
}

/* What the doctor says of a lint: a finding with lint_ in front or of the same name, or a mistake in the ICRC. */
static const char *lint_fix(const char *lint)
{
	char longer[64];

	snprintf(longer, sizeof(longer), "lint_%s", lint);
	for (int i = 0; i < FINDING_KINDS; i++)
		if (!strcmp(finding_rules[i].name, longer) || !strcmp(finding_rules[i].name, lint))
			return finding_rules[i].fix;
	return "`doctor` [names the mistake](#mistakes-in-an-icrc)";
}

static void print_lints(void)
{
	head("Lints", "A lint is a check of a header that no receiver need make ([rules](rules.md#lints)).",
	     "| lint | what is wrong | what to do |", 3);
	for (int i = 0; i < ROCE_LINTS; i++) {
		printf("| `%s` |", lint_names[i]);
		cell(lint_words[i]);
		cell(lint_fix(lint_names[i]));
		printf("\n");
	}
}

static void print_refusals(void)
{
	head("What a receiver refuses",
	     "[`receive`](receive.md) counts why it did not take a packet. [Bring-up](bring-up.md) says which step that is, "
	     "and what to do.",
	     "| reason | what is wrong with the packet |", 2);
	for (int i = REFUSAL_NONE + 1; i < ROCE_REFUSALS; i++) {
		printf("| `%s` |", refusal_names[i]);
		cell(refusal_words[i]);
		printf("\n");
	}
}

static void print_findings(bool hints)
{
	for (int i = 0; i < FINDING_KINDS; i++) {
		const struct finding_rule *f = &finding_rules[i];

		/* a lint's is said above */
		if ((f->class == CLASS_HINT) != hints || !strncmp(f->name, "lint_", 5))
			continue;
		name_cell("", f->name);
		cell(f->words);
		cell(*f->fix ? f->fix : "[which these are](host.md#hints)");
		printf("\n");
	}
}

static void print_mistakes(void)
{
	head("Mistakes in an ICRC",
	     "In the order in which `doctor` tries them: where several explain the same value, it names the first.",
	     "| mistake | what is wrong | what to do |", 3);
	for (int i = 0; i < MISTAKES; i++) {
		const struct mistake_words *m = mistake_words(i);

		name_cell("icrc-", m->name);
		cell(m->words);
		cell(m->fix);
		printf("\n");
	}
}

int main(void)
{
	printf("# What does this counter mean, and what do I do about it?\n\n"
	       "This page is made from the `.def` files of the code (`docs/counters.c`), so it has all names that the\n"
	       "programs know. [How packets are judged](rules.md) says exactly when each counts.\n\n"
	       "Where `doctor` is named: `rocescope doctor eth0`, or `rocescope doctor file.pcap`. It prints the text of\n"
	       "these tables with its evidence.\n");
	print_counters();
	print_events();
	print_lints();
	head("What doctor finds",
	     "Each comes with its evidence and with what the specification asks for ([doctor](doctor.md)). Lints are above.",
	     "| finding | what is wrong | what to do |", 3);
	print_findings(false);
	print_mistakes();
	print_refusals();
	head("Hints of doctor", "What it could not judge, and why.", "| hint | what | what to do |", 3);
	print_findings(true);
	printf("\nThe steps of a new sender are in [bring-up](bring-up.md#the-steps), what would make a path lossy in\n"
	       "[path](path.md#what-it-looks-at), what this machine itself knows in [host](host.md#hints).\n");
	return fflush(stdout) ? 1 : 0;
}
