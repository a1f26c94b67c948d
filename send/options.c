// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/list.h"
#include "send/fault.h"
#include "send/options.h"
#include "send/slot.h"

#define BLANKS " \t\r\n"
#define LINE_BYTES (1 << 20) /* of a plan file: a hundred thousand weights */
#define LINES_MOST (2 * QPS_MOST)
#define FAULTS_MOST 64 /* the planner has a bit for each */

/* Where the words come from. */
struct parser {
	struct send_options *o;
	const char *path; /* of a plan file, or "preset NAME"; NULL: the command line */
	unsigned int line;
};

/* An option. Those of one number, choice or text say where it goes; others have a function of their own. */
struct word {
	const char *name;
	const char *value; /* as --help has it; NULL: a flag */
	const char *help;
	void (*take)(struct parser *p, const struct word *w, const char *text);
	size_t at, bytes;
	uint64_t least, most;
	const char *const *choices;
	size_t given;	   /* a bool to set; 0: none */
};

static void wrong(const struct parser *p, const struct word *w, const char *text, const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));

static void wrong(const struct parser *p, const struct word *w, const char *text, const char *format, ...)
{
	char words[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	if (p->path)
		usage_error("send: %s:%u: %s %.60s: %s", p->path, p->line, w->name, text, words);
	usage_error("send: --%s %.60s: %s", w->name, text, words);
}

static void *checked(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "rocescope: send: out of memory\n");
	exit(1);
}

static void *field(struct parser *p, size_t at)
{
	return (char *)p->o + at;
}

static void store(struct parser *p, const struct word *w, uint64_t number)
{
	void *to = field(p, w->at);

	if (w->bytes == 1)
		*(uint8_t *)to = number;
	else if (w->bytes == 2)
		*(uint16_t *)to = number;
	else if (w->bytes == 4)
		*(uint32_t *)to = number;
	else
		*(uint64_t *)to = number;
}

static void store_text(const char **to, const char *text)
{
	free((char *)*to);
	*to = checked(strdup(text));
}

/* Decimal, or hexadecimal with 0x; neither signs nor octal numbers. Leaves *end behind it. */
static bool parse_whole(const char *text, uint64_t *number, char **end)
{
	bool hexadecimal = text[0] == '0' && (text[1] | 32) == 'x';

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*number = strtoull(text, end, hexadecimal ? 16 : 10);
	return !errno;
}

static uint64_t number_of(struct parser *p, const struct word *w, const char *text, uint64_t least, uint64_t most)
{
	const char *form = most > 65535 ? "not a number from %#llx to %#llx" : "not a number from %llu to %llu";
	uint64_t number;
	char *end, words[100];

	if (parse_whole(text, &number, &end) && !*end && number >= least && number <= most)
		return number;
	snprintf(words, sizeof(words), form, (unsigned long long)least, (unsigned long long)most);
	wrong(p, w, text, "%s", words);
}

/* ---- one field ---- */

static void take_number(struct parser *p, const struct word *w, const char *text)
{
	store(p, w, number_of(p, w, text, w->least, w->most));
}

static void take_count(struct parser *p, const struct word *w, const char *text)
{
	uint64_t number;

	if (!parse_number(text, w->most, &number) || number < w->least)
		wrong(p, w, text, "not a number from %llu to %llu", (unsigned long long)w->least, (unsigned long long)w->most);
	store(p, w, number);
}

static void take_size(struct parser *p, const struct word *w, const char *text)
{
	uint64_t size = 0;

	if ((!parse_size(text, &size) && strcmp(text, "0")) || size < w->least || size > w->most)
		wrong(p, w, text, "not a size from %llu to %llu bytes (K and M behind it are allowed)",
		      (unsigned long long)w->least, (unsigned long long)w->most);
	store(p, w, size);
}

static void take_choice(struct parser *p, const struct word *w, const char *text)
{
	char all[160] = "";

	for (size_t i = 0; w->choices[i]; i++) {
		if (!strcmp(text, w->choices[i])) {
			store(p, w, i);
			return;
		}
		if (i)
			strcat(all, ", ");
		strcat(all, w->choices[i]);
	}
	wrong(p, w, text, "no such choice: %s", all);
}

static void take_text(struct parser *p, const struct word *w, const char *text)
{
	store_text(field(p, w->at), text);
}

static void take_flag(struct parser *p, const struct word *w, const char *text)
{
	(void)text;
	*(bool *)field(p, w->at) = true;
}

static void take_seconds(struct parser *p, const struct word *w, const char *text)
{
	if (!parse_seconds(text, field(p, w->at)))
		wrong(p, w, text, "not a number of seconds above 0");
}

static void take_address(struct parser *p, const struct word *w, const char *text)
{
	static const __u8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	__u8 *to = field(p, w->at);

	if (strchr(text, ':')) {
		if (inet_pton(AF_INET6, text, to) != 1)
			wrong(p, w, text, "no IPv6 address");
		if (!memcmp(to, mapped, sizeof(mapped)))
			wrong(p, w, text, "that is an IPv4 address: write it as a.b.c.d");
		return;
	}
	memcpy(to, mapped, sizeof(mapped));
	if (inet_pton(AF_INET, text, to + sizeof(mapped)) != 1)
		wrong(p, w, text, "no IP address");
}

static void take_mac(struct parser *p, const struct word *w, const char *text)
{
	__u8 *to = field(p, w->at);
	int end = -1;

	if (strspn(text, "0123456789abcdefABCDEF:") != strlen(text) ||
	    sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", to, to + 1, to + 2, to + 3, to + 4, to + 5, &end) != 6 ||
	    end != (int)strlen(text))
		wrong(p, w, text, "no MAC address like 02:00:00:00:00:01");
}

/* ---- options with rules of their own ---- */

static void take_vlan(struct parser *p, const struct word *w, const char *text)
{
	take_number(p, w, text);
	p->o->plan.tagged = true;
}

static void take_dscp(struct parser *p, const struct word *w, const char *text)
{
	p->o->plan.tos = (p->o->plan.tos & 3) | number_of(p, w, text, 0, 63) << 2;
}

static void take_ecn(struct parser *p, const struct word *w, const char *text)
{
	p->o->plan.tos = (p->o->plan.tos & ~3) | number_of(p, w, text, 0, 3);
}

/* An ACK's preset may have messages; who asks for some has misunderstood. */
static void take_message(struct parser *p, const struct word *w, const char *text)
{
	take_size(p, w, text);
	p->o->has_message = !p->path;
}

static void take_first_psn(struct parser *p, const struct word *w, const char *text)
{
	p->o->random_psn = !strcmp(text, "random");
	if (!p->o->random_psn)
		take_number(p, w, text);
}

static void take_rate(struct parser *p, const struct word *w, const char *text)
{
	/* the lower end: departures are 64-bit ns */
	if (!parse_rate(text, &p->o->plan.rate) || p->o->plan.rate.per_second < 0.001)
		wrong(p, w, text, "not a rate like 10Gbit or 2Mpps");
}

static bool parse_time(const char *text, double *seconds)
{
	static const struct { const char *name; double seconds; } units[] = {
		{ "ns", 1e-9 }, { "us", 1e-6 }, { "ms", 1e-3 }, { "s", 1 },
	};
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*seconds = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].name)) {
			*seconds *= units[i].seconds;
			return *seconds >= 1e-9 && *seconds <= 1000;
		}
	return false;
}

/* N, or N/T: N packets every T. */
static void take_burst(struct parser *p, const struct word *w, const char *text)
{
	struct plan *plan = &p->o->plan;
	uint64_t n;
	double seconds;
	char *end;

	if (!parse_whole(text, &n, &end) || n < w->least || n > w->most || (*end && *end != '/'))
		wrong(p, w, text, "not a number of packets from 1 to %d, nor N/T like 32/100us", (int)w->most);
	if (*end) {
		if (!parse_time(end + 1, &seconds))
			wrong(p, w, text, "not a time like 100us behind the / (ns, us, ms, s; 1000s at most)");
		plan->rate = (struct rate){ .per_second = n / seconds, .unit = RATE_PACKETS };
	}
	plan->burst = n;
}

static void forget_order(struct send_options *o)
{
	free(o->plan.turn);
	o->plan.turn = NULL;
	o->plan.turns = 0;
	free((char *)o->sequence);
	o->sequence = NULL;
}

static void take_weights(struct parser *p, const struct word *w, const char *text)
{
	struct plan *plan = &p->o->plan;
	size_t room = 1;

	for (const char *c = text; *c; c++)
		room += *c == ',';
	if (room > TURNS_MOST)
		wrong(p, w, text, "at most %d weights", TURNS_MOST);
	plan->turn = checked(calloc(room, sizeof(*plan->turn)));
	for (const char *at = text;; at++) {
		uint64_t n;
		char *end;

		if (!parse_whole(at, &n, &end) || !n || n > 1000000 || (*end && *end != ','))
			wrong(p, w, text, "weights are numbers from 1 to 1000000 with commas between them");
		plan->turn[plan->turns++] = n;
		at = end;
		if (!*at)
			return;
	}
}

static void take_interleave(struct parser *p, const struct word *w, const char *text)
{
	struct send_options *o = p->o;

	forget_order(o);
	if (!strcmp(text, "message")) {
		o->plan.order = ORDER_MESSAGE;
	} else if (!strcmp(text, "packet")) {
		o->plan.order = ORDER_PACKET;
	} else if (!strncmp(text, "weights=", 8)) {
		o->plan.order = ORDER_WEIGHTS;
		take_weights(p, w, text + 8);
	} else if (!strncmp(text, "sequence=", 9) && text[9]) {
		o->plan.order = ORDER_SEQUENCE;
		store_text(&o->sequence, text + 9);
	} else {
		wrong(p, w, text, "no such choice: message, packet, weights=3,1,..., sequence=FILE");
	}
}

static void take_payload(struct parser *p, const struct word *w, const char *text)
{
	struct plan *plan = &p->o->plan;

	if (!strcmp(text, "counter")) {
		plan->pattern = PATTERN_COUNTER;
	} else if (!strcmp(text, "lfsr")) {
		plan->pattern = PATTERN_LFSR;
	} else if (!strncmp(text, "file=", 5) && text[5]) {
		plan->pattern = PATTERN_FILE;
		store_text(&plan->pattern_file, text + 5);
	} else {
		wrong(p, w, text, "no such choice: counter, lfsr, file=FILE");
	}
}

static void take_qp_key(struct parser *p, const struct word *w, const char *text, char *key, struct qp_words *qp)
{
	char *value = strchr(key, '=');

	if (value)
		*value++ = 0;
	if (!value) {
		wrong(p, w, text, "%s: wants qpn=N,psn=N,rkey=N,va=N, or some of these", key);
	} else if (!strcmp(key, "qpn")) {
		qp->qp.qpn = number_of(p, w, value, 0, 0xffffff);
		qp->qpn = true;
	} else if (!strcmp(key, "psn")) {
		qp->qp.psn = number_of(p, w, value, 0, 0xffffff);
		qp->psn = true;
	} else if (!strcmp(key, "rkey")) {
		qp->qp.rkey = number_of(p, w, value, 0, 0xffffffff);
		qp->rkey = true;
	} else if (!strcmp(key, "va")) {
		qp->qp.va = number_of(p, w, value, 0, UINT64_MAX);
		qp->va = true;
	} else {
		wrong(p, w, text, "%s: no such key: qpn, psn, rkey, va", key);
	}
}

static void take_qp(struct parser *p, const struct word *w, const char *text)
{
	char *words = checked(strdup(text)), *rest = words, *key;
	struct send_options *o = p->o;
	struct qp_words qp = { 0 };

	while ((key = strsep(&rest, ",")))
		take_qp_key(p, w, text, key, &qp);
	free(words);
	if (o->qp_count == QPS_MOST)
		wrong(p, w, text, "at most %d QPs", QPS_MOST);
	/* room for a power of two of them */
	if (!(o->qp_count & (o->qp_count - 1)))
		o->qp = checked(realloc(o->qp, (o->qp_count ? o->qp_count * 2 : 1) * sizeof(*o->qp)));
	o->qp[o->qp_count++] = qp;
	o->plan.qps = o->qp_count;
}

static void take_fault(struct parser *p, const struct word *w, const char *text)
{
	struct send_options *o = p->o;
	size_t before = o->plan.fault_count;
	const char *error;

	if (before == FAULTS_MOST)
		wrong(p, w, text, "at most %d faults", FAULTS_MOST);
	error = fault_parse(&o->plan, text);
	if (error)
		wrong(p, w, text, "%s ('--help faults' lists them)", error);
	o->faults = checked(realloc(o->faults, o->plan.fault_count * sizeof(*o->faults)));
	for (size_t i = before; i < o->plan.fault_count; i++)
		o->faults[i] = checked(strdup(text));
}

static void take_plan(struct parser *p, const struct word *w, const char *text);
static void take_preset(struct parser *p, const struct word *w, const char *text);

/* ---- the table ---- */

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
static const struct word words[] = {
	{ .help = "What and how much" },
	{ "op", "OP", "uc-write-imm (default), uc-write, uc-send, rc-write, rc-send, ud-send, "
	  "read-response, ack, cnp", CHOICE(op, ops) },
	{ "message", "BYTES[K|M]", "payload of a message (4096)",
	  OTHER(take_message), AT(plan.message), .least = 0, .most = 1u << 31 },
	{ "mtu", "BYTES", "payload of First and Middle packets, any size (1024)", COUNT(mtu, 1, PAYLOAD_MOST) },
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
	{ "seed", "N", "of all that is random (1): same plan, same packets", COUNT(seed, 0, UINT64_MAX) },
	{ .help = "What goes wrong" },
	{ "fault", "KIND[:KEY=VALUE,...]", "as often as needed; '--help faults' lists them", OTHER(take_fault) },
	{ "truth", "FILE", "what a perfect observer can conclude goes there (rocescope.truth/1)", TEXT(truth) },
	{ .help = "Where" },
	{ "out", "WAY", "auto (default), live (BPF), xdp (AF_XDP), packet (AF_PACKET)", CHOICE(out, outs) },
	{ "write", "FILE", "-w FILE: a pcap file instead of an interface, - for standard output", TEXT(file) },
	{ "dst", "IP", "the receiver", OTHER(take_address), AT(plan.dst), GIVEN(has_dst) },
	{ "src", "IP", "the sender (default: the interface's own address)", OTHER(take_address), AT(plan.src), GIVEN(has_src) },
	{ "dst-mac", "MAC", "its Ethernet address, or the router's (default: from the table of neighbours)", OTHER(take_mac), AT(plan.dst_mac), GIVEN(has_dst_mac) },
	{ "src-mac", "MAC", "the sender's (default: the interface's own)", OTHER(take_mac), AT(plan.src_mac), GIVEN(has_src_mac) },
	{ .help = "Headers (numbers may be hexadecimal: 0x...)" },
	{ "vlan", "N", "an 802.1Q tag", OTHER(take_vlan), AT(plan.vlan), .least = 0, .most = 4094 },
	{ "pcp", "N", "its priority; without --vlan VLAN 0", NUMBER(pcp, 0, 7), GIVEN(has_pcp) },
	{ "dscp", "N", "0 to 63 (0)", OTHER(take_dscp) },
	{ "ecn", "N", "0 to 3 (0)", OTHER(take_ecn) },
	{ "ttl", "N", "TTL, or hop limit of IPv6 (64)", NUMBER(ttl, 1, 255) },
	{ "flow-label", "N", "of IPv6 (0)",
	  NUMBER(flow_label, 0, 0xfffff), GIVEN(has_flow_label) },
	{ "df", "on|off", "IPv4's don't-fragment bit (on)", CHOICE(dont_fragment, off_on) },
	{ "ports", "POLICY", "UDP source ports: one (default), qp (one a QP), random", CHOICE(ports, port_policies) },
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

static void take(struct parser *p, const struct word *w, const char *text)
{
	w->take(p, w, text);
	if (w->given)
		*(bool *)field(p, w->given) = true;
}

/* ---- plan files ---- */

/* name is not empty; value: NULL if there is none. */
static void take_line(struct parser *p, const char *name, const char *value)
{
	for (const struct word *w = words; w < words + WORDS; w++) {
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

/* The line is changed. # begins a comment at the line's beginning or behind a blank. */
static void parse_line(struct parser *p, char *line)
{
	char *name = line + strspn(line, BLANKS), *value, *end;

	for (char *c = name; *c; c++)
		if (*c == '#' && (c == line || strchr(BLANKS, c[-1]))) {
			*c = 0;
			break;
		}
	for (end = name + strlen(name); end > name && strchr(BLANKS, end[-1]);)
		*--end = 0;
	if (!*name)
		return;
	value = name + strcspn(name, BLANKS);
	if (*value) {
		*value++ = 0;
		value += strspn(value, BLANKS);
	}
	take_line(p, name, value < end ? value : NULL);
}

static void read_plan(struct parser *p, FILE *f)
{
	char *line = checked(malloc(LINE_BYTES));

	while (fgets(line, LINE_BYTES, f)) {
		if (++p->line > LINES_MOST)
			usage_error("send: %s: more than %d lines", p->path, LINES_MOST);
		if (!strchr(line, '\n') && !feof(f))
			usage_error("send: %s:%u: this line is too long, or no text", p->path, p->line);
		parse_line(p, line);
	}
	free(line);
}

static void take_plan(struct parser *p, const struct word *w, const char *text)
{
	struct parser inside = { .o = p->o, .path = text };
	FILE *f;

	if (p->path)
		wrong(p, w, text, "a plan file cannot name another one");
	f = fopen(text, "r");
	if (f)
		read_plan(&inside, f);
	if (!f || ferror(f))
		wrong(p, w, text, "%s", strerror(errno));
	fclose(f);
}

static void take_preset(struct parser *p, const struct word *w, const char *text)
{
	const struct preset *preset = presets;
	char *lines, *rest, *line, name[40];
	struct parser inside = { .o = p->o, .path = name };

	if (!strcmp(text, "list")) {
		presets_list();
		exit(0);
	}
	while (preset->name && strcmp(preset->name, text))
		preset++;
	if (!preset->name)
		wrong(p, w, text, "no such preset ('--preset list' lists them)");
	snprintf(name, sizeof(name), "preset %s", text);
	lines = rest = checked(strdup(preset->text));
	while ((line = strsep(&rest, "\n"))) {
		inside.line++;
		parse_line(&inside, line);
	}
	free(lines);
}

/* ---- the command line ---- */

static void print_help(void)
{
	char name[60];

	printf("usage: rocescope send IFACE|-w FILE --dst IP [OPTIONS]\n\n"
	       "A software FPGA: RoCE packets by plan, faults by plan, the truth to a file.\n");
	for (const struct word *w = words; w < words + WORDS; w++) {
		if (!w->name) {
			printf("\n%s:\n", w->help);
			continue;
		}
		snprintf(name, sizeof(name), "--%s%s%s", w->name, w->value ? " " : "", w->value ?: "");
		list_entry(name, w->help);
	}
	printf("\n");
	list_entry("-j, --json", "one rocescope.send/1 object instead of the summary");
	list_entry("-h, --help [faults]", "this list, or that of what can go wrong");
	printf("  --version\n");
	printf("\nPresets; what stands behind one on the line wins over it:\n");
	presets_list();
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
	struct parser p = { .o = o };
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
			store_text(&o->plan.file, optarg);
		else
			take(&p, &words[value - OPTION_OWN], optarg);
	}
	if (argc - optind > 1)
		usage_error("send: %s: one interface is enough", argv[optind + 1]);
	if (optind < argc)
		store_text(&o->plan.interface, argv[optind]);
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
	forget_order(o);
	*o = (struct send_options){ 0 };
}
