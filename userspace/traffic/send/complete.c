// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Completes a plan from defaults and from this machine, and checks that its options go together. */
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/cause.h"
#include "lib/interfaces.h"
#include "lib/machine.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/traffic/send/fault.h"
#include "userspace/traffic/send/options.h"

#define DURATION 10 /* s: the default of the stream programs */

static void __attribute__((noreturn)) could_not(const char *what, const char *why)
{
	fprintf(stderr, "rocescope: send: %s: %s\n", what, why);
	exit(1);
}

/* ---- the path ---- */

static void complete_outlet(struct send_plan *plan)
{
	if (plan->interface && plan->file)
		usage_error("send: %s or -w %s? One of them is enough", plan->interface, plan->file);
	if (!plan->interface && !plan->file)
		usage_error("send: where to? Name an interface, or a file with -w");
	if (plan->file && plan->out != OUT_AUTO)
		usage_error("send: --out is for interfaces: leave it out with -w");
	if (plan->file && plan->truth && !strcmp(plan->file, plan->truth))
		usage_error("send: -w and --truth: two files, please");
	if (plan->file)
		plan->out = OUT_FILE;
	else if (name_is_file(plan->interface))
		usage_error("send: %s is a file, not an interface: `rocescope send -w %s` writes it", plan->interface, plan->interface);
	else if (strlen(plan->interface) >= IF_NAMESIZE || !if_nametoindex(plan->interface))
		could_not(plan->interface, "no such interface");
}

/* The two ends of a file need not exist. */
static void complete_file_path(struct send_options *o)
{
	static const __u8 ipv4[16] = { [10] = 0xff, [11] = 0xff, 10, 9, 0 };
	static const __u8 ipv6[16] = { 0xfd, 0x00, 0x00, 0x09 };
	struct send_plan *plan = &o->plan;
	bool four = o->has_dst ? address_is_ipv4(plan->dst) : !o->has_src || address_is_ipv4(plan->src);

	if (!o->has_src) {
		memcpy(plan->src, four ? ipv4 : ipv6, 16);
		plan->src[15] = 1;
	}
	if (!o->has_dst) {
		memcpy(plan->dst, four ? ipv4 : ipv6, 16);
		plan->dst[15] = 2;
	}
	if (!o->has_src_mac)
		memcpy(plan->src_mac, "\x02\0\0\0\0\x01", 6);
	if (!o->has_dst_mac)
		memcpy(plan->dst_mac, "\x02\0\0\0\0\x02", 6);
}

static void complete_live_path(struct send_options *o)
{
	struct send_plan *plan = &o->plan;

	if (!o->has_dst)
		usage_error("send: who receives? Give --dst IP");
	if (!o->has_src && !machine_address(plan->interface, plan->dst, plan->src))
		usage_error("send: %s has no address that fits to %s: give one with --src", plan->interface,
			    address_text(plan->dst).text);
	if (!o->has_src_mac && !machine_mac(plan->interface, plan->src_mac))
		usage_error("send: %s has no Ethernet address: give one with --src-mac", plan->interface);
	if (!o->has_dst_mac && !machine_neighbour(plan->interface, plan->dst, plan->dst_mac))
		usage_error("send: %s is not among the neighbours of %s: ping it first, or give its Ethernet address (or the "
			    "router's) with --dst-mac", address_text(plan->dst).text, plan->interface);
}

static void complete_path(struct send_options *o)
{
	struct send_plan *plan = &o->plan;

	if (plan->file)
		complete_file_path(o);
	else
		complete_live_path(o);
	plan->ipv6 = !address_is_ipv4(plan->dst);
	if (plan->ipv6 == address_is_ipv4(plan->src))
		usage_error("send: %s to %s: both have to be IPv4, or both IPv6", address_text(plan->src).text,
			    address_text(plan->dst).text);
	if (plan->src_mac[0] & 1)
		usage_error("send: --src-mac: a group's address cannot be a source's");
	if (o->has_pcp)
		plan->tagged = true;
	if (!plan->ipv6 && o->has_flow_label)
		usage_error("send: --flow-label: IPv4 has none");
	if (plan->ipv6 && !plan->dont_fragment)
		usage_error("send: --df off: IPv6 has no such bit");
}

/* ---- messages ---- */

static void complete_messages(struct send_options *o)
{
	struct send_plan *plan = &o->plan;

	if (plan->op == SEND_ACK || plan->op == SEND_CNP) {
		if (o->has_message && plan->message)
			usage_error("send: --message: ACKs and CNPs carry none; --messages says how many of them");
		plan->message = 0;
	}
	if (plan->op == SEND_UD_SEND && plan->message > plan->mtu)
		usage_error("send: --message %llu: a UD message is one packet; at most --mtu %u",
			    (unsigned long long)plan->message, plan->mtu);
	if (plan->file && !plan->messages && !(plan->duration && plan->rate.per_second))
		usage_error("send: how much? -w needs --messages, or --duration and --rate");
	if (!plan->messages && !plan->duration)
		plan->duration = DURATION;
	if (plan->op != SEND_UC_WRITE_IMM && (plan->frame > 1 || plan->immediate_page))
		usage_error("send: --frame and --immediate-page are for --op uc-write-imm, which has immediate data");
	if (plan->burst > 1 && !plan->rate.per_second)
		usage_error("send: --burst %u: how often? Give --rate too, or --burst %u/100us", plan->burst, plan->burst);
}

/* ---- the QPs ---- */

static void complete_regions(struct send_options *o)
{
	struct send_plan *plan = &o->plan;
	uint64_t bytes, all;

	if (!o->has_region_bytes)
		plan->region_bytes = plan->message ?: 1;
	if (__builtin_mul_overflow(plan->region_bytes, plan->regions, &bytes) ||
	    __builtin_mul_overflow(bytes, plan->qps, &all) || __builtin_add_overflow(plan->va, all - 1, &all))
		usage_error("send: --regions, --region-bytes and --va: the addresses of all QPs do not fit into 64 bits");
}

static struct plan_qp complete_qp(const struct send_options *o, uint32_t k, uint64_t *random)
{
	static const struct qp_words nothing;
	const struct qp_words *given = o->qp_count ? &o->qp[k] : &nothing;
	struct plan_qp qp = plan_qp(&o->plan, k);

	if (o->random_psn)
		qp.psn = fault_random(random) >> 40;
	if (given->qpn)
		qp.qpn = given->qp.qpn;
	if (given->psn)
		qp.psn = given->qp.psn;
	if (given->rkey)
		qp.rkey = given->qp.rkey;
	if (given->va)
		qp.va = given->qp.va;
	return qp;
}

/* The receiver tells streams apart by their QPN, so each QPN may be used once. */
static int compare_qpns(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void check_qpns(const struct send_plan *plan)
{
	uint32_t *qpns = calloc(plan->qps, sizeof(*qpns));

	if (!qpns)
		could_not("QPs", cause(errno).text);
	for (uint32_t k = 0; k < plan->qps; k++)
		qpns[k] = plan->qp[k].qpn;
	qsort(qpns, plan->qps, sizeof(*qpns), compare_qpns);
	for (uint32_t k = 1; k < plan->qps; k++)
		if (qpns[k] == qpns[k - 1])
			usage_error("send: QPN %s comes twice: give each --qp its own qpn=", qpn_text(qpns[k]).text);
	free(qpns);
}

static void complete_qps(struct send_options *o)
{
	struct send_plan *plan = &o->plan;
	/* not 0, and not the sequence that draws the faults */
	uint64_t random = (plan->seed * 0x9e3779b97f4a7c15ull ^ 0x5053) | 1ull << 63;
	struct plan_qp *all;

	if (o->qp_count && plan->qps != o->qp_count)
		usage_error("send: --qps %u, but there %s %zu --qp", plan->qps, o->qp_count == 1 ? "is" : "are", o->qp_count);
	if (plan->first_qpn + plan->qps - 1 > 0xffffff)
		usage_error("send: --first-qpn %s and --qps %u: QPNs end at %s", qpn_text(plan->first_qpn).text, plan->qps,
			    qpn_text(0xffffff).text);
	complete_regions(o);
	if (!o->qp_count && !o->random_psn)
		return;
	all = calloc(plan->qps, sizeof(*all));
	if (!all)
		could_not("QPs", cause(errno).text);
	for (uint32_t k = 0; k < plan->qps; k++)
		all[k] = complete_qp(o, k, &random);
	plan->qp = all;
	if (o->qp_count)
		check_qpns(plan);
}

/* ---- order of the QPs ---- */

/* Fewer weights than QPs: start again from the first weight. */
static void complete_weights(struct send_plan *plan)
{
	uint32_t *all;

	if (plan->turns > plan->qps)
		usage_error("send: --interleave weights: %zu of them for %u QPs", plan->turns, plan->qps);
	all = calloc(plan->qps, sizeof(*all));
	if (!all)
		could_not("--interleave", cause(errno).text);
	for (uint32_t k = 0; k < plan->qps; k++)
		all[k] = plan->turn[k % plan->turns];
	free(plan->turn);
	plan->turn = all;
	plan->turns = plan->qps;
}

/* Reads the next number of the file; false at its end. # begins a comment. */
static bool next_index(FILE *f, const char *path, unsigned int *line, uint32_t limit, uint32_t *index)
{
	uint64_t number = 0;
	bool digits = false;
	int c;

	while ((c = getc(f)) != EOF) {
		if (c >= '0' && c <= '9') {
			digits = true;
			number = number * 10 + c - '0';
			if (number >= limit)
				usage_error("send: %s:%u: no QP %llu: there are %u, from 0", path, *line,
					    (unsigned long long)number, limit);
			continue;
		}
		if (c == '#')
			while (c != '\n' && c != EOF)
				c = getc(f);
		if (c != EOF && !strchr(" \t\r\n,", c ?: '?'))
			usage_error("send: %s:%u: wants QP indexes, with blanks, commas or line ends between them", path,
				    *line);
		if (digits)
			ungetc(c, f);
		if (digits)
			break;
		*line += c == '\n';
	}
	*index = number;
	return digits;
}

static void read_sequence(struct send_plan *plan, const char *path, FILE *f, bool *named)
{
	unsigned int line = 1;
	uint32_t index;

	while (next_index(f, path, &line, plan->qps, &index)) {
		if (plan->turns == TURNS_MOST)
			usage_error("send: %s:%u: at most %d turns", path, line, TURNS_MOST);
		plan->turn[plan->turns++] = index;
		named[index] = true;
	}
}

static void complete_sequence(struct send_plan *plan, const char *path)
{
	bool *named = calloc(plan->qps, 1);
	FILE *f = fopen(path, "r");

	plan->turn = calloc(TURNS_MOST, sizeof(*plan->turn));
	plan->turns = 0;
	if (!f || !named || !plan->turn)
		could_not(path, cause(errno).text);
	read_sequence(plan, path, f, named);
	if (ferror(f))
		could_not(path, cause(errno).text);
	for (uint32_t k = 0; k < plan->qps; k++)
		if (!named[k])
			usage_error("send: %s: QP %u never has its turn: name each of the %u, or lower --qps", path, k,
				    plan->qps);
	fclose(f);
	free(named);
}

/* ---- faults ---- */

static void check_faults(const struct send_options *o)
{
	const char *error = fault_check(&o->plan);

	if (error)
		usage_error("send: --fault %s", error);
}

void options_complete(struct send_options *o)
{
	complete_outlet(&o->plan);
	complete_messages(o);
	complete_qps(o);
	if (o->plan.order == ORDER_WEIGHTS)
		complete_weights(&o->plan);
	if (o->plan.order == ORDER_SEQUENCE)
		complete_sequence(&o->plan, o->sequence);
	complete_path(o);
	check_faults(o);
}
