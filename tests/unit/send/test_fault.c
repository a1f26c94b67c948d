// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files, 2 s, long 8 s
/*
 * Faults: parsing, which packets they hit, and their effect. The engine judges the effect: for a mistake named after a lint it
 * must find that lint and no other, in packets made as the planner makes them.
 */
#include "roce/datagram/datagram.h"
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/long.h"

#include "userspace/traffic/send/fault.c"
#include "userspace/traffic/send/fault_text.c"
#include "userspace/traffic/send/observe.c"

#include "roce/icrc/checksum.h"
#include "roce/observe.h"
#include "userspace/traffic/send/qp.h"

#define OF(x) (sizeof(x) / sizeof((x)[0]))

/* ---- text ---- */

static const char *parse(struct send_plan *plan, const char *text)
{
	free(plan->faults);
	plan->faults = NULL;
	plan->fault_count = 0;
	return fault_parse(plan, text);
}

static struct send_fault parsed(const char *text)
{
	struct send_plan plan = { 0 };
	const char *why = parse(&plan, text);
	struct send_fault f;

	if (why)
		fail_msg("%s: %s", text, why);
	assert_int_equal(plan.fault_count, 1);
	f = plan.faults[0];
	free(plan.faults);
	return f;
}

/* NAME:KEYS, valid until the next call. */
static const char *with_keys(enum fault_kind kind, const char *keys)
{
	static char text[80];

	snprintf(text, sizeof(text), "%.40s:%.30s", fault_name(kind), keys);
	return text;
}

static void text_taken(void **state)
{
	struct send_fault f;

	(void)state;
	f = parsed("drop:p=1e-3");
	assert_int_equal(f.kind, FAULT_drop);
	assert_true(f.p == 1e-3 && !f.at && !f.every && f.qp == -1);
	f = parsed("drop:p=.5");
	assert_true(f.p == .5);
	f = parsed("drop:qp=7,at=18446744073709551615");
	assert_true(f.at == UINT64_MAX && f.qp == 7);
	f = parsed("duplicate:every=10");
	assert_true(f.every == 10 && f.by == 0 && f.by_most == 0);
	f = parsed("reorder:every=10");
	assert_true(f.by == 1 && f.by_most == 1);
	f = parsed("reorder:p=1,by=2-32");
	assert_true(f.by == 2 && f.by_most == 32 && f.p == 1);
	f = parsed("corrupt:at=1");
	assert_true(f.where == WHERE_PAYLOAD_OR_ICRC && f.byte == -1 && f.bit == -1 && f.burst == 1);
	f = parsed("corrupt:at=1,byte=0,bit=7,burst=9");
	assert_true(f.where == WHERE_ANYWHERE && f.byte == 0 && f.bit == 7 && f.burst == 9);
	f = parsed("corrupt:at=1,byte=3,where=icrc");
	assert_true(f.where == WHERE_ICRC && f.byte == 3);
	f = parsed("psn-constant");
	assert_false(f.has_value);
	f = parsed("psn-constant:value=0xffFFff");
	assert_true(f.has_value && f.value == 0xffffff);
	f = parsed("psn-start");
	assert_true(f.value == 1000 && f.kind == FAULT_psn_start);
	f = parsed("icrc-constant");
	assert_true(f.value == 0xdeadbeef && fault_stage(f.kind) == FAULT_ICRC);
	f = parsed("icrc-constant:value=0");
	assert_true(f.value == 0);
	f = parsed("pkey-invalid:value=0x8000");
	assert_true(f.value == 0x8000);
	for (enum fault_kind k = 0; k < FAULT_KINDS; k++) {
		assert_null(strchr(fault_name(k), '_'));
		assert_int_equal(parsed(with_keys(k, "every=3")).kind, k);
	}
}

static void text_refused(void **state)
{
	static const struct { const char *text, *words; } bad[] = {
		{ "", "no fault ''" }, { ":", "no fault ''" }, { "drop", "needs p=, every= or at=" },
		{ "drop:", "no KEY=VALUE" }, { "drop:p", "no KEY=VALUE" }, { "drop:p=", "probability" },
		{ "drop:p=0", "probability" }, { "drop:p=1.0001", "probability" }, { "drop:p=-1", "probability" },
		{ "drop:p=nan", "probability" }, { "drop:p=inf", "probability" }, { "drop:p=0x1p-3", "probability" },
		{ "drop:p=1e-3x", "probability" }, { "drop:p= 1", "probability" }, { "drop:p=1e-999", "probability" },
		{ "drop:at=0", "counted from 1" }, { "drop:at=-1", "counted from 1" }, { "drop:at=+1", "counted from 1" },
		{ "drop:at=18446744073709551616", "counted from 1" }, { "drop:at=1.5", "counted from 1" },
		{ "drop:at=0x", "counted from 1" }, { "drop:every=0", "from 1" }, { "drop:at=1,", "no KEY=VALUE" },
		{ "drop:,at=1", "no KEY=VALUE" }, { "drop:at=1,at=2", "twice" }, { "drop:at=1,p=1", "one of" },
		{ "drop:at=1,every=2", "one of" }, { "drop:at=1=2", "counted from 1" }, { "drop:qp=1", "needs p=" },
		{ "drop:at=1,qp=-1", "index" }, { "drop:at=1,qp=4294967296", "index" }, { "drop:at=1,by=2", "has no 'by'" },
		{ "drop:at=1,value=2", "has no 'value'" }, { "drop:at=1,=2", "has no ''" }, { "drop:at=1,P=2", "has no 'P'" },
		{ "reorder:at=1,by=0", "by is" }, { "reorder:at=1,by=3-2", "by is" }, { "reorder:at=1,by=3-", "by is" },
		{ "reorder:at=1,by=-3", "by is" }, { "reorder:at=1,by=65536", "by is" }, { "reorder:at=1,by=1-2-3", "by is" },
		{ "corrupt:byte=1", "needs p=" }, { "corrupt:at=1,bit=8", "bit is" }, { "corrupt:at=1,burst=0", "burst is" },
		{ "corrupt:at=1,where=", "where is" }, { "corrupt:at=1,where=icr", "where is" },
		{ "corrupt:at=1,byte=99999", "byte is" }, { "corrupt:at=1,payload=1", "has no 'payload'" },
		{ "psn-constant:value=0x1000000", "value is" }, { "psn-skip:value=0", "value is" },
		{ "psn-plus-2:value=1", "has no 'value'" }, { "icrc-constant:value=0x100000000", "value is" },
		{ "icrc-zero:value=1", "has no 'value'" }, { "tver:value=16", "value is" }, { "tver:value=0", "value is" },
		{ "pkey-invalid:value=1", "valid" }, { "qpn-management:value=2", "value is" },
		{ "middle-size:value=9001", "value is" }, { "psn_constant", "did you mean psn-constant?" },
		{ "DROP:at=1", "no fault" }, { "drpo:at=1", "did you mean drop?" }, { "icrc-swap", "icrc-swapped" },
		{ "psn", "psn-" }, { "duplicat:at=1", "duplicate" }, { "corrupt at=1", "did you mean corrupt" },
		{ "qqqqqqqq", "no fault" }, { "drop=at:1", "no fault" },
		{ "a-name-that-is-longer-than-the-longest-of-all-names-of-faults", "no fault" },
		{ "%s%s%s%n", "no fault '%s%s%s%n'" }, { "drop:%n=1", "has no '%n'" }, { "drop:\x1b[31m=1", "has no" },
	};
	struct send_plan plan = { 0 };
	char text[5000];

	(void)state;
	for (size_t i = 0; i < OF(bad); i++) {
		const char *why = parse(&plan, bad[i].text);

		if (!why || !strstr(why, bad[i].words) || plan.fault_count)
			fail_msg("%s: %s", bad[i].text, why ? why : "taken");
		assert_true(why[strlen(why) - 1] != '.');
	}
	for (size_t n = 0; n < sizeof(text); n++) {
		memset(text, "x:,=-"[n % 5], n);
		text[n] = '\0';
		assert_non_null(parse(&plan, text));
	}
}

/*
 * Random text: accepted or refused, without harm. Most begin with the name of a fault, so that the keys are parsed; a name that
 * does not exist takes long, because it is compared with all that do.
 */
static void text_random(void **state)
{
	static const char *const words[] = { "drop", "corrupt", "reorder", ":", ",", "=", "-", "p", "at", "by", "where", "icrc", "byte",
					     "psn-start", "value", "1", "0", "0x", "9999999999999999999999", "e", ".", " ", "\xff" };
	uint64_t random = 1;
	struct send_plan plan = { 0 };

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char text[400] = "";

		if (i % (test_long() ? 2 : 40))
			strcat(strcat(text, fault_name(fault_random(&random) % FAULT_KINDS)), ":");
		for (int n = fault_random(&random) % 14; n; n--)
			strcat(text, words[fault_random(&random) % OF(words)]);
		parse(&plan, text);
	}
	free(plan.faults);
}

static void text_help(void **state)
{
	char *help = NULL;
	size_t length;
	FILE *to = open_memstream(&help, &length), *before = stdout;

	(void)state;
	stdout = to;
	fault_help();
	stdout = before;
	fclose(to);
	for (enum fault_kind k = 0; k < FAULT_KINDS; k++) {
		char line[60];
		const char *found;

		snprintf(line, sizeof(line), "\n  %.40s", fault_name(k));
		for (found = strstr(help, line); found; found = strstr(found + 1, line))
			if (strchr(" \n", found[strlen(line)])) /* a long name has a line of its own */
				break;
		if (!found)
			fail_msg("%s is not in the help", fault_name(k));
	}
	free(help);
}

/* ---- which packets ---- */

static void draws(void **state)
{
	static const double ps[] = { 1, .99, .5, .3, .1, 1e-2, 1e-3, 1e-6 };
	uint64_t random = 4711;

	(void)state;
	for (size_t i = 0; i < OF(ps); i++) {
		struct send_fault f = { .p = ps[i] };
		double sum = 0, n = 100000, deviation = sqrt(1 - f.p) / f.p / sqrt(n);
		uint64_t ones = 0, twos = 0;

		for (int k = 0; k < n; k++) {
			uint64_t d = fault_draw(&f, &random);

			assert_true(d >= 1);
			sum += d;
			ones += d == 1;
			twos += d == 2;
		}
		/* mean 1/p; 1 with probability p, 2 with p (1 - p): within five standard deviations */
		assert_true(fabs(sum / n - 1 / f.p) <= 5 * deviation);
		assert_true(fabs(ones - n * f.p) <= 5 * sqrt(n * f.p * (1 - f.p)));
		assert_true(fabs(twos - n * f.p * (1 - f.p)) <= 5 * sqrt(n * f.p * (1 - f.p)) + 1e-9);
	}
	for (int k = 0; k < 1000; k++) {
		struct send_fault f = { .p = 1e-300 };

		assert_true(fault_draw(&f, &random) <= 1ull << 63);
	}
}

/* ---- packets as the planner makes them ---- */

#define PACKETS 20
#define PLAN_QPN 0x123456

struct test_sent {
	struct send_frame frame;
	struct send_packet packet;
	struct roce_packet seen;
	bool icrc_good, hit;
};

/* The packets of a plan's first QP, and the engine's result. */
struct test_run {
	struct send_plan plan;
	struct test_sent sent[PACKETS];
	size_t count;
	struct roce_stream stream, other; /* other: with another QPN */
	uint64_t hits;
};

static struct send_plan plan_of(enum send_op op, uint64_t message, uint32_t mtu)
{
	return (struct send_plan){
		.src = { [10] = 255, 255, 10, 9, 0, 1 }, .dst = { [10] = 255, 255, 10, 9, 0, 2 }, .ttl = 64, .dont_fragment = true,
		.port = 49152, .op = op, .qps = 1, .first_qpn = PLAN_QPN, .first_psn = 0xfffff0, .pkey = 0xffff, .rkey = 0x1234,
		.va = 0x10000000, .regions = 4, .region_bytes = 1 << 20, .immediate = 100, .immediate_step = 1,
		.immediate_messages = 1, .frame = 1, .message = message, .mtu = mtu,
		.messages = PACKETS, .other_psn = 5000, .seed = 3, .burst = 1,
	};
}

static struct send_memory *memory;

/* As the planner does for a fault with at, with every, or with neither. */
static bool hits(const struct send_fault *f, const struct send_packet *p)
{
	uint64_t number;

	if (!fault_concerns(f, p, &number))
		return false;
	return f->at ? f->at == number : !f->every || number % f->every == 0;
}

static void observe_sent(struct test_run *r, struct test_sent *s)
{
	__u8 window[CELL_BYTES + ROCE_WINDOW_BYTES] = { 0 };
	struct roce_stream *stream;

	memcpy(window, s->frame.bytes, s->frame.length);
	roce_parse(window, s->frame.length, s->frame.length, NULL, &s->seen);
	s->icrc_good = frame_icrc_good(&s->frame);
	if (s->seen.kind != ROCE_PACKET)
		return;
	roce_take_whole(&s->seen, window, 16384);
	stream = s->seen.dqpn == PLAN_QPN ? &r->stream : &r->other;
	roce_observe(stream, &s->seen, s->icrc_good ? ICRC_GOOD : ICRC_BAD, 0, NULL);
}

static void make(struct test_run *r, struct composer *c, struct send_qp *qp, uint64_t *random)
{
	static struct send_frame before;
	static struct send_packet last;
	struct test_sent *s = &r->sent[r->count];
	uint32_t psn = qp->psn;
	uint32_t value = 0;
	bool first = qp->packets == 0;

	qp_packet(&r->plan, qp, &s->packet);
	s->hit = false;
	for (size_t i = 0; i < r->plan.fault_count; i++) {
		const struct send_fault *f = &r->plan.faults[i];

		if (!hits(f, &s->packet))
			continue;
		s->hit = true;
		r->hits++;
		if (fault_stage(f->kind) == FAULT_PACKET && !fault_packet(f, &r->plan, &s->packet)) {
			qp_take_back(qp, psn);
			return;
		}
	}
	compose_frame(c, &s->packet, &s->frame);
	for (size_t i = 0; i < r->plan.fault_count && s->hit; i++) {
		const struct send_fault *f = &r->plan.faults[i];

		if (fault_stage(f->kind) == FAULT_FRAME || fault_stage(f->kind) == FAULT_ICRC)
			fault_frame(f, &s->packet, &s->frame);
		value = f->value;
	}
	if (!first)
		compose_frame(c, &last, &before);
	last = s->packet;
	frame_seal(&s->frame, &r->plan, value, first ? NULL : &before);
	for (size_t i = 0; i < r->plan.fault_count && s->hit; i++)
		if (fault_stage(r->plan.faults[i].kind) == FAULT_AFTER)
			fault_after(&r->plan.faults[i], &s->frame, random);
	assert_true(s->frame.length <= CELL_BYTES);
	observe_sent(r, s);
	r->count++;
}

/* faults: separated by blanks. */
static struct test_run *run(struct send_plan plan, const char *faults, uint64_t packets)
{
	static struct test_run r;
	uint64_t random = 99;
	char text[TEXT_MOST], *all = text, *one;
	static struct composer *c; /* for r.plan, whatever its present value */
	struct send_qp *qp;
	const char *why;

	memset(&r, 0, sizeof(r));
	r.plan = plan;
	snprintf(text, sizeof(text), "%s", faults);
	while ((one = strsep(&all, " "))) {
		why = fault_parse(&r.plan, one);
		if (why)
			fail_msg("%s: %s", faults, why);
	}
	why = fault_check(&r.plan);
	if (why)
		fail_msg("%s: %s", faults, why);
	c = c ?: composer_new(&r.plan, memory->payload);
	qp = qps_new(&r.plan, &random);
	for (uint64_t i = 0; i < packets; i++)
		make(&r, c, qp, &random);
	free(qp);
	free(r.plan.faults);
	r.plan.faults = NULL;
	return &r;
}

/* ---- PSNs ---- */

static void psns(void **state)
{
	static const struct {
		const char *fault;
		uint32_t psn[8];
	} wanted[] = {
		/* messages of two packets, the first PSN 0xfffffe */
		{ "psn-constant", { 0xfffffe, 0xfffffe, 0xfffffe, 0xfffffe, 0xfffffe, 0xfffffe, 0xfffffe, 0xfffffe } },
		{ "psn-constant:value=7,at=3", { 0xfffffe, 0xffffff, 7, 1, 2, 3, 4, 5 } },
		{ "psn-plus-2", { 0xfffffe, 0, 2, 4, 6, 8, 10, 12 } },
		{ "psn-plus-2:at=2", { 0xfffffe, 0xffffff, 1, 2, 3, 4, 5, 6 } },
		{ "psn-per-message", { 0xfffffe, 0xfffffe, 0xffffff, 0xffffff, 0, 0, 1, 1 } },
		{ "psn-swapped", { 0xfeffff, 0xffffff, 0, 0x010000, 0x020000, 0x030000, 0x040000, 0x050000 } },
		{ "psn-wrap-16", { 0xfffe, 0xffff, 0, 1, 2, 3, 4, 5 } },
		{ "psn-start", { 998, 999, 1000, 1001, 1002, 1003, 1004, 1005 } },
		{ "psn-start:value=1", { 0xffffff, 0, 1, 2, 3, 4, 5, 6 } },
		{ "psn-other-side", { 5000, 5001, 5002, 5003, 5004, 5005, 5006, 5007 } },
		{ "psn-set:value=9,every=4", { 0xfffffe, 0xffffff, 0, 9, 2, 3, 4, 9 } },
		{ "psn-skip:value=10,at=2", { 0xfffffe, 9, 10, 11, 12, 13, 14, 15 } },
		{ "psn-skip:every=3", { 0xfffffe, 0xffffff, 1, 2, 3, 5, 6, 7 } },
		{ "psn-set:qp=0,value=1,at=1", { 1, 0xffffff, 0, 1, 2, 3, 4, 5 } },
		{ "missing-first:at=2", { 0xfffffe, 0xffffff, /* */ 0, 1, 2, 3, 4, 5 } },
		{ "missing-last:at=1", { 0xfffffe, /* */ 0xffffff, 0, 1, 2, 3, 4, 5 } },
	};

	(void)state;
	for (size_t i = 0; i < OF(wanted); i++) {
		struct send_plan plan = plan_of(SEND_UC_WRITE, 2000, 1024);
		struct test_run *r;

		plan.first_psn = 0xfffffe;
		r = run(plan, wanted[i].fault, 9);
		for (size_t k = 0; k < 8; k++) {
			if (r->sent[k].seen.number != wanted[i].psn[k])
				fail_msg("%s: packet %zu has PSN %x", wanted[i].fault, k + 1, (unsigned int)r->sent[k].seen.number);
			assert_true(r->sent[k].icrc_good);
		}
	}
}

/* Beyond the first 65536 PSNs, and for each QP with its own first PSN. */
static void psns_of_qps(void **state)
{
	struct plan_qp own[] = { { .psn = 10 }, { .psn = 2000 } };
	struct send_plan plan = plan_of(SEND_UC_SEND, 100, 1024);
	struct send_qp qp = { .index = 1, .psn = 2001 };
	struct send_packet p = { .qp = &qp, .psn = 70000, .message = 3 };
	struct send_fault f = { .kind = FAULT_psn_wrap_16 };

	(void)state;
	plan.qp = own;
	assert_true(fault_packet(&f, &plan, &p));
	assert_int_equal(p.psn, 70000 - 65536);
	f.kind = FAULT_psn_constant;
	fault_packet(&f, &plan, &p);
	assert_int_equal(p.psn, 2000);
	f.kind = FAULT_psn_per_message;
	fault_packet(&f, &plan, &p);
	assert_int_equal(p.psn, 2003);
	p.psn = 2001;
	f.kind = FAULT_psn_other_side;
	fault_packet(&f, &plan, &p);
	assert_int_equal(p.psn, 5001);
}

/* ---- mistakes in headers and messages ---- */

struct wanted_lint {
	enum roce_lint lint;
	uint32_t count; /* 0: end of the list */
};

struct header_case {
	const char *fault;
	enum send_op op;
	uint64_t message;
	uint32_t mtu;
	struct wanted_lint lint[4];
};

static void expect_lints(const char *fault, const struct roce_stream *s, const struct wanted_lint *wanted)
{
	static const char *const names[] = {
#define LINT(name, ...) #name,
#include "roce/stream/lint.def"
#undef LINT
	};

	for (enum roce_lint l = 0; l < ROCE_LINTS; l++) {
		uint32_t count = 0;

		for (int i = 0; i < 4; i++)
			if (wanted[i].count && wanted[i].lint == l)
				count = wanted[i].count;
		if (s->lint[l] != count)
			fail_msg("%s: lint %s %u times, not %u", fault, names[l], (unsigned int)s->lint[l], count);
	}
}

/* In the third packet or message, for UC and RC, IPv4 and IPv6, with and without UDP checksums. */
static const struct header_case header_cases[] = {
	{ "ip-checksum:at=3", SEND_UC_WRITE, 2500, 1024, { { LINT_ip_checksum, 1 } } },
	{ "df-unset:at=3", SEND_UC_WRITE, 2500, 1024, { { LINT_df_unset, 1 } } },
	{ "udp-length:at=3", SEND_UC_WRITE_IMM, 2500, 1024, { { LINT_udp_length, 1 } } },
	{ "udp-checksum:at=3", SEND_UC_WRITE_IMM, 2500, 1024, { { LINT_udp_checksum, 1 } } },
	{ "udp-checksum", SEND_RC_WRITE, 2501, 1024, { { LINT_udp_checksum, 12 } } },
	{ "tver:at=3", SEND_UC_WRITE, 2500, 1024, { { LINT_tver, 1 } } },
	{ "tver:value=15", SEND_UD_SEND, 25, 1024, { { LINT_tver, 12 } } },
	{ "pkey-invalid:at=3", SEND_UC_SEND, 2500, 1024, { { LINT_pkey_invalid, 1 } } },
	{ "pkey-invalid:value=0x8000,every=3", SEND_RC_SEND, 2500, 1024, { { LINT_pkey_invalid, 4 } } },
	{ "reserved-bits:at=3", SEND_UC_WRITE, 2500, 1024, { { LINT_reserved_bits, 1 } } },
	{ "reserved-bits:value=127,at=3", SEND_RC_WRITE, 2500, 1024, { { LINT_reserved_bits, 1 } } },
	{ "service-mixed:at=3", SEND_UC_WRITE_IMM, 1000, 1024, { { LINT_service_mixed, 2 } } }, /* there and back */
	{ "service-mixed:at=3", SEND_RC_SEND, 1000, 1024, { { LINT_service_mixed, 2 } } },
	{ "pad-count:at=3", SEND_UC_WRITE, 2500, 1024, { { LINT_pad_count, 1 } } },
	{ "pad-count", SEND_UC_WRITE, 2501, 1024, { { LINT_pad_count, 12 } } },
	{ "pad-count", SEND_UC_WRITE, 2502, 1024, { { LINT_pad_count, 12 } } },
	{ "pad-count", SEND_UC_WRITE, 2503, 1024, { { LINT_pad_count, 12 } } },
	{ "pad-count:at=2", SEND_READ_RESPONSE, 2503, 1024, { { LINT_pad_count, 1 } } },
	{ "payload-not-path-mtu:at=3", SEND_UC_WRITE, 2500, 1024,
	  { { LINT_payload_not_path_mtu, 1 }, { LINT_payload_mixed, 2 } } },
	{ "payload-not-path-mtu", SEND_UC_WRITE, 1500, 1024, { { LINT_payload_not_path_mtu, 6 } } }, /* always the same size */
	{ "payload-not-path-mtu:at=3", SEND_UC_SEND, 4096 * 2, 4096,
	  { { LINT_payload_not_path_mtu, 1 }, { LINT_payload_mixed, 2 } } },
	{ "payload-mixed:at=3", SEND_UC_WRITE, 2500, 1024, { { LINT_payload_mixed, 2 } } }, /* there and back */
	{ "payload-mixed:at=3", SEND_UC_WRITE, 2048, 1024, { { LINT_payload_mixed, 2 } } },
	{ "payload-mixed:at=3", SEND_RC_WRITE, 600, 256, { { LINT_payload_mixed, 2 } } },
	{ "payload-beyond-mtu:at=3", SEND_UC_SEND, 2500, 1024, { { LINT_payload_beyond_mtu, 1 } } },
	{ "payload-beyond-mtu:at=3", SEND_UC_WRITE, 1000, 1024, { { LINT_payload_beyond_mtu, 1 } } },
	{ "payload-beyond-mtu:at=3", SEND_UC_WRITE, 2500, 1024, { { LINT_payload_beyond_mtu, 1 }, { LINT_dma_length, 1 } } },
	{ "payload-beyond-mtu:at=3", SEND_UD_SEND, 1000, 1024, { { LINT_payload_beyond_mtu, 1 } } },
	{ "dma-length:at=3", SEND_UC_WRITE, 2500, 1024, { { LINT_dma_length, 1 } } },
	{ "dma-length:value=5", SEND_RC_WRITE, 1000, 1024, { { LINT_dma_length, 12 } } },
	{ "dma-reth:at=3", SEND_UC_WRITE, 2500, 1024, { { LINT_dma_reth, 1 } } },
	{ "dma-immdt:every=2", SEND_UC_WRITE_IMM, 2500, 1024, { { LINT_dma_immdt, 2 } } },
	{ "dma-pad:at=3", SEND_UC_WRITE, 2500, 1024, { { LINT_dma_pad, 1 } } },
	{ "dma-pad", SEND_RC_WRITE, 2501, 1024, { { LINT_dma_pad, 4 } } },
	{ "dma-pad", SEND_UC_WRITE_IMM, 1, 1024, { { LINT_dma_pad, 12 } } },
	{ "dma-pad", SEND_UC_WRITE_IMM, 2503, 1024, { { LINT_dma_pad, 4 } } },
	{ "middle-size:at=3", SEND_UC_WRITE, 4000, 1024,
	  { { LINT_payload_not_path_mtu, 1 }, { LINT_payload_mixed, 2 }, { LINT_dma_length, 1 } } },
	{ "middle-size:at=2,value=2048", SEND_RC_SEND, 4000, 1024, { { LINT_payload_mixed, 2 } } },
	{ "extra-reth:at=3", SEND_UC_WRITE, 2500, 1024, { { LINT_dma_reth, 1 } } },
	{ "extra-reth:at=3", SEND_RC_WRITE, 500, 1024, { { LINT_dma_reth, 1 } } },
	{ "extra-reth:at=3", SEND_UC_SEND, 500, 1024, { { 0 } } },
	{ "extra-imm:at=3", SEND_UC_WRITE, 2500, 1024, { { LINT_dma_immdt, 1 } } },
	{ "extra-imm:at=3", SEND_UC_WRITE_IMM, 500, 1024, { { LINT_dma_immdt, 1 } } },
	{ "missing-imm:at=3", SEND_UC_WRITE_IMM, 2500, 1024, { { LINT_dma_immdt, 1 } } },
	{ "missing-imm:at=3", SEND_UC_WRITE_IMM, 500, 1024, { { LINT_dma_immdt, 1 } } },
	{ "missing-reth:at=3", SEND_UC_WRITE, 500, 1024, { { LINT_dma_length, 1 } } },
	{ "missing-reth:at=3", SEND_UC_WRITE, 2500, 1024,
	  { { LINT_payload_not_path_mtu, 1 }, { LINT_payload_mixed, 2 }, { LINT_dma_length, 1 } } },
	{ "missing-first:at=3", SEND_RC_SEND, 2500, 1024, { { 0 } } },
	{ "missing-last:at=3", SEND_UC_SEND, 2500, 1024, { { 0 } } },
	{ "psn-constant", SEND_UC_WRITE, 100, 1024, { { LINT_psn_constant, 9 } } },
	/* two at once */
	{ "udp-length:at=3 df-unset:at=3 pad-count:at=3", SEND_UC_WRITE, 100, 1024,
	  { { LINT_udp_length, 1 }, { LINT_df_unset, 1 }, { LINT_pad_count, 1 } } },
};

static void headers(void **state)
{
	(void)state;
	for (size_t i = 0; i < OF(header_cases); i++) {
		const struct header_case *h = &header_cases[i];

		for (int variant = 0; variant < 8; variant++) {
			struct send_plan plan = plan_of(h->op, h->message, h->mtu);
			uint64_t packets = 12;
			struct test_run *r;

			plan.ipv6 = variant & 1;
			plan.udp_checksum = variant & 2;
			plan.tagged = variant & 4;
			if (plan.ipv6 && (strstr(h->fault, "ip-checksum") || strstr(h->fault, "df-unset")))
				continue;
			if (strstr(h->fault, "middle") || strstr(h->fault, "beyond"))
				packets = 13;
			r = run(plan, h->fault, packets);
			assert_true(r->hits);
			expect_lints(h->fault, &r->stream, h->lint);
			for (size_t k = 0; k < r->count; k++) {
				assert_int_equal(r->sent[k].seen.kind, ROCE_PACKET);
				assert_true(r->sent[k].icrc_good);
			}
		}
	}
}

/* Hits the right packet of a message, and no other. */
static void messages(void **state)
{
	static const struct { const char *fault; size_t packet; } hit[] = {
		/* messages of four packets: the second one's are 5 to 8 */
		{ "missing-reth:at=2", 5 }, { "payload-mixed:at=2", 5 }, { "middle-size:at=2", 6 }, { "extra-imm:at=2", 8 },
		{ "dma-pad:at=2", 8 },
	};

	(void)state;
	for (size_t i = 0; i < OF(hit); i++) {
		struct test_run *r = run(plan_of(SEND_UC_WRITE, 4000, 1024), hit[i].fault, 16);

		assert_int_equal(r->hits, 1);
		for (size_t k = 0; k < r->count; k++)
			assert_int_equal(r->sent[k].hit, k + 1 == hit[i].packet);
	}
	struct test_run *r = run(plan_of(SEND_UC_WRITE, 4000, 1024), "missing-first:at=2", 16);

	assert_int_equal(r->count, 15);
	assert_int_equal(r->sent[4].seen.opcode, 0x27);
	r = run(plan_of(SEND_UC_WRITE, 4000, 1024), "missing-last:every=2", 16);
	assert_int_equal(r->count, 14);
	assert_int_equal(r->sent[7].seen.opcode, 0x26);
}

static void qpn(void **state)
{
	struct test_run *r;

	(void)state;
	for (uint32_t value = 0; value < 2; value++) {
		r = run(plan_of(SEND_UC_WRITE, 500, 1024), value ? "qpn-management:at=3,value=1" : "qpn-management:at=3", 12);
		expect_lints("qpn-management", &r->other, (struct wanted_lint[4]){ { LINT_qpn_management, 1 } });
		expect_lints("qpn-management", &r->stream, (struct wanted_lint[4]){ { 0 } });
		assert_int_equal(r->sent[2].seen.dqpn, value);
		assert_true(r->sent[2].icrc_good);
	}
}

/* In a message this short, a packet without its RETH or ImmDt is malformed: the lengths contradict each other. */
static void malformed(void **state)
{
	struct test_run *r = run(plan_of(SEND_UC_WRITE, 3, 1024), "missing-reth:at=2", 3);

	(void)state;
	assert_int_equal(r->sent[1].seen.kind, ROCE_MALFORMED);
	r = run(plan_of(SEND_UC_WRITE_IMM, 3, 1024), "missing-imm:at=2", 3);
	assert_int_equal(r->sent[1].seen.kind, ROCE_MALFORMED);
}

/* ---- ICRCs ---- */

static void icrc_ways(void **state)
{
	(void)state;
	for (enum fault_kind k = FAULT_icrc_zero; k <= FAULT_icrc_absent; k++) {
		struct send_plan plan = plan_of(SEND_UC_WRITE, 1501, 1024);
		const char *text = with_keys(k, "at=4");
		struct test_run *r;

		if (k == FAULT_icrc_not_reset)
			continue; /* it goes on from the packet before with this mistake, so a single one is right */
		plan.ipv6 = k == FAULT_icrc_unmasked_flow_label;
		plan.flow_label = plan.ipv6 ? 0x12345 : 0;
		r = run(plan, text, 8);
		for (size_t i = 0; i < r->count; i++)
			if (r->sent[i].icrc_good != (i != 3))
				fail_msg("%s: the ICRC of packet %zu is %s", text, i + 1, r->sent[i].icrc_good ? "right" : "wrong");
	}
}

static void icrc_absent(void **state)
{
	struct test_run *r = run(plan_of(SEND_UC_WRITE, 500, 1024), "icrc-absent:at=2", 3);

	(void)state;
	assert_int_equal(r->sent[1].frame.length, r->sent[0].frame.length - 4);
	assert_int_equal(r->sent[1].seen.ip_payload, r->sent[0].seen.ip_payload - 4);
	assert_int_equal(r->sent[1].seen.udp_length, r->sent[1].seen.ip_payload);
	assert_false(r->sent[1].seen.ip_checksum_wrong);
	/* everything behind the RETH is payload */
	assert_memory_equal(r->sent[1].frame.bytes + r->sent[1].frame.length - 8, memory->payload + 1000 - 8, 8);
}

static void icrc_constant(void **state)
{
	struct test_run *r = run(plan_of(SEND_UC_WRITE, 500, 1024), "icrc-constant", 3);
	__u8 *icrc = r->sent[1].frame.bytes + r->sent[1].frame.length - 4;

	(void)state;
	assert_memory_equal(icrc, r->sent[0].frame.bytes + r->sent[0].frame.length - 4, 4);
	r = run(plan_of(SEND_UC_WRITE, 500, 1024), "icrc-constant:value=0", 3);
	icrc = r->sent[1].frame.bytes + r->sent[1].frame.length - 4;
	assert_memory_equal(icrc, "\0\0\0", 4);
}

/* ---- corruption ---- */

static int flipped(const struct send_frame *a, const struct send_frame *b, uint32_t *first, uint32_t *last)
{
	int bits = 0;

	assert_int_equal(a->length, b->length);
	*first = a->length;
	for (uint32_t i = 0; i < a->length; i++) {
		uint8_t other = a->bytes[i] ^ b->bytes[i];

		bits += __builtin_popcount(other);
		if (!other)
			continue;
		*first = *first == a->length ? i : *first;
		*last = i;
	}
	return bits;
}

static void corruption(void **state)
{
	static const uint32_t bursts[] = { 1, 2, 7, 8, 31, 32, 33, 100, 1000 };
	static const uint64_t sizes[] = { 0, 1, 4, 60, 1000 };
	static struct send_frame frame;
	uint64_t random = 5;

	(void)state;
	for (size_t s = 0; s < OF(sizes); s++) {
		struct test_run *r = run(plan_of(sizes[s] ? SEND_UC_WRITE : SEND_ACK, sizes[s], 1024), "tver:at=9", 2);
		const struct send_frame *right = &r->sent[0].frame;
		uint32_t icrc = right->length - 4;
		struct send_fault f = { .kind = FAULT_corrupt, .byte = -1, .bit = -1, .burst = 1 };

		for (int i = 0; i < 3000; i++) {
			uint32_t first, last = 0, from, to;
			int bits;

			f.where = i % 5;
			f.burst = bursts[fault_random(&random) % OF(bursts)];
			frame = *right;
			fault_after(&f, &frame, &random);
			bits = flipped(&frame, right, &first, &last);
			from = f.where == WHERE_ICRC ? icrc : f.where == WHERE_ANYWHERE ? 0 :
			       f.where == WHERE_HEADERS ? right->ip : right->payload;
			to = f.where == WHERE_HEADERS ? right->payload :
			     f.where == WHERE_PAYLOAD && icrc > right->payload ? icrc : right->length;
			assert_true(first >= from && last < to);
			assert_int_equal(bits, f.burst < 8 * (to - from) ? f.burst : 8 * (to - from));
			if (f.where != WHERE_HEADERS && f.where != WHERE_ANYWHERE)
				assert_false(frame_icrc_good(&frame));
		}
		/* bit and byte as given; beyond the end: the last byte */
		for (f.byte = 0; f.byte < right->length + 50; f.byte++) {
			uint32_t first, last = 0;

			f.where = WHERE_ANYWHERE;
			f.bit = f.byte % 8;
			f.burst = 1;
			frame = *right;
			fault_after(&f, &frame, &random);
			assert_int_equal(flipped(&frame, right, &first, &last), 1);
			assert_int_equal(first, f.byte < right->length ? f.byte : right->length - 1);
			assert_int_equal(frame.bytes[first] ^ right->bytes[first], 1 << f.bit);
		}
	}
}

/* For any corruption, the truth's reading of the frame equals the engine's. */
static void observed(void **state)
{
	static struct send_frame frame;
	uint64_t random = 17;

	(void)state;
	for (int variant = 0; variant < 16; variant++) {
		struct send_plan plan = plan_of(variant & 4 ? SEND_UD_SEND : SEND_UC_WRITE_IMM, 100, 1024);
		struct send_fault f = { .kind = FAULT_corrupt, .byte = -1, .bit = -1 };
		const struct send_frame *right;

		plan.ipv6 = variant & 1;
		plan.tagged = variant & 2;
		right = &run(plan, "tver:at=9", 2)->sent[0].frame;
		for (int i = 0; i < (test_long() ? 20000 : 5000); i++) {
			__u8 window[1024] = { 0 };
			struct truth_packet p;
			struct roce_packet seen;

			f.where = variant & 8 ? WHERE_ANYWHERE : WHERE_HEADERS;
			f.burst = 1 + fault_random(&random) % (i % 3 ? 1 : 40);
			frame = *right;
			fault_after(&f, &frame, &random);
			p = frame_observed(&frame);
			memcpy(window, frame.bytes, frame.length);
			roce_parse(window, frame.length, frame.length, NULL, &seen);
			assert_int_equal(p.other, seen.kind == ROCE_OTHER);
			assert_int_equal(p.fragment, seen.kind == ROCE_FRAGMENT);
			assert_int_equal(p.malformed, seen.kind == ROCE_MALFORMED);
			if (seen.kind != ROCE_PACKET)
				continue;
			assert_memory_equal(p.src, seen.src, 16);
			assert_memory_equal(p.dst, seen.dst, 16);
			assert_int_equal(p.opcode, seen.opcode);
			assert_int_equal(p.dqpn, seen.dqpn);
			assert_int_equal(p.sqpn, seen.sqpn);
			assert_int_equal(p.psn, seen.number);
			assert_int_equal(p.dma_length, seen.dma_length);
			assert_int_equal(p.payload_bytes, seen.payload_bytes);
			assert_int_equal(p.frame_bytes, seen.frame_bytes);
		}
	}
}

/* ---- the plan ---- */

static void check(void **state)
{
	static const struct { const char *fault; enum send_op op; uint64_t message; bool ipv6; const char *words; } bad[] = {
		{ "df-unset", SEND_UC_WRITE, 100, true, "IPv4" }, { "ip-checksum", SEND_UC_WRITE, 100, true, "IPv4" },
		{ "icrc-unmasked-ip-checksum", SEND_UC_WRITE, 100, true, "IPv4" },
		{ "icrc-unmasked-flow-label", SEND_UC_WRITE, 100, false, "IPv6" },
		{ "icrc-no-pad", SEND_UC_WRITE, 100, false, "no multiple of 4" },
		{ "missing-reth", SEND_UC_SEND, 100, false, "RDMA WRITE" }, { "dma-length", SEND_RC_SEND, 100, false, "RDMA WRITE" },
		{ "dma-pad", SEND_READ_RESPONSE, 100, false, "RDMA WRITE" }, { "missing-imm", SEND_UC_WRITE, 100, false, "immediate" },
		{ "extra-imm", SEND_UD_SEND, 100, false, "requests" }, { "service-mixed", SEND_ACK, 100, false, "requests" },
		{ "qpn-management", SEND_UD_SEND, 100, false, "connected" }, { "missing-first", SEND_UC_WRITE, 1024, false, "two" },
		{ "missing-last", SEND_UC_WRITE, 1024, false, "two" }, { "middle-size", SEND_UC_WRITE, 2048, false, "three" },
		{ "payload-beyond-mtu", SEND_CNP, 0, false, "messages" }, { "payload-mixed", SEND_ACK, 9000, false, "messages" },
		{ "tver:qp=1", SEND_UC_WRITE, 100, false, "1 QPs" },
	};

	(void)state;
	for (size_t i = 0; i < OF(bad); i++) {
		struct send_plan plan = plan_of(bad[i].op, bad[i].message, 1024);
		const char *why;

		plan.ipv6 = bad[i].ipv6;
		assert_null(fault_parse(&plan, bad[i].fault));
		why = fault_check(&plan);
		if (!why || !strstr(why, bad[i].words))
			fail_msg("%s: %s", bad[i].fault, why ? why : "taken");
		free(plan.faults);
	}
}

/* No frame is longer than the plan's longest plus the fault's growth. */
static void growth(void **state)
{
	static const uint64_t sizes[] = { 1, 255, 256, 1000, 1024, 1025, 1408, 2048, 4097, 9000 };
	static const uint32_t mtus[] = { 248, 256, 1000, 1024, 1408, 4096, 8192 };

	(void)state;
	for (enum fault_kind k = 0; k < FAULT_KINDS; k++) {
		for (size_t i = 0; i < OF(sizes) * OF(mtus); i++) {
			struct send_plan plan = plan_of(SEND_UC_WRITE_IMM, sizes[i / OF(mtus)], mtus[i % OF(mtus)]);
			uint32_t payload = plan.message < plan.mtu ? plan.message : plan.mtu;
			uint32_t most = 14 + 20 + 8 + 12 + 16 + 4 + ((payload + 3) & ~3u) + 4;
			const char *text = with_keys(k, k == FAULT_middle_size ? "every=1,value=7000" : "every=1");
			struct test_run *r;

			assert_null(fault_parse(&plan, text));
			if (fault_check(&plan) || fault_stage(k) == FAULT_LEAVE) {
				free(plan.faults);
				continue;
			}
			most += fault_growth(&plan.faults[0], &plan);
			free(plan.faults);
			plan.faults = NULL;
			plan.fault_count = 0;
			r = run(plan, text, 12);
			for (size_t n = 0; n < r->count; n++)
				if (r->sent[n].frame.length > most)
					fail_msg("%s, messages of %u by %u: %u bytes, not %u", text, (unsigned int)plan.message, plan.mtu,
						 r->sent[n].frame.length, most);
		}
	}
}

static int setup(void **state)
{
	(void)state;
	memory = calloc(1, sizeof(*memory));
	return !memory;
}

static int teardown(void **state)
{
	(void)state;
	free(memory);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_taken), cmocka_unit_test(text_refused), cmocka_unit_test(text_random),
		cmocka_unit_test(text_help), cmocka_unit_test(draws), cmocka_unit_test(psns), cmocka_unit_test(psns_of_qps),
		cmocka_unit_test(headers), cmocka_unit_test(messages), cmocka_unit_test(qpn), cmocka_unit_test(malformed),
		cmocka_unit_test(icrc_ways), cmocka_unit_test(icrc_absent), cmocka_unit_test(icrc_constant),
		cmocka_unit_test(corruption), cmocka_unit_test(observed), cmocka_unit_test(check), cmocka_unit_test(growth),
	};

	return cmocka_run_group_tests_name("faults", tests, setup, teardown);
}
