// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What RDMA ends say: the text on the wire, round trips of every operation, and everything that is no such message. */
#include <stdlib.h>
#include <string.h>

#include "lib/rdma_end.h"
#include "tests/unit/cmocka_includes.h"

#define BASICS(transport) "{\"transport\":\"" transport "\",\"size\":4096,\"path_mtu\":1024," \
	"\"gid\":\"00000000000000000000ffff0a0900fe\",\"lid\":0,\"qps\":[" \
	"{\"qpn\":17,\"psn\":16777215,\"rkey\":4294967295,\"address\":-81985529216486896}," \
	"{\"qpn\":16777215,\"psn\":0,\"rkey\":0,\"address\":94294424928256}]"
#define READS ",\"reads\":{\"rate\":20000000.0,\"rate_of_packets\":false,\"duration\":2.5,\"messages\":9," \
	"\"window\":64,\"limit\":128}"

static struct rdma_qp_address qps[] = {
	{ .qpn = 17, .psn = 0xffffff, .rkey = 0xffffffff, .address = 0xfedcba9876543210, .flow = 0 },
	{ .qpn = 0xffffff, .psn = 0, .rkey = 0, .address = 0x55c2a1b3c000, .flow = 1 },
};

/* The end that BASICS() describes. */
static struct rdma_end basic(enum rdma_service service, enum rdma_operation operation)
{
	return (struct rdma_end){
		.service = service, .operation = operation, .size = 4096, .path_mtu = 1024,
		.gid = { [10] = 0xff, 0xff, 10, 9, 0, 254 }, .flows = 2, .qp = qps,
	};
}

static struct rdma_end reading(void)
{
	struct rdma_end end = basic(RDMA_RC, RDMA_READ);

	end.reads = (struct rdma_reads){ { 2e7, RATE_BITS }, 2.5, 9, 64, 128 };
	return end;
}

static bool parse(const char *line, struct rdma_end *end, char *why)
{
	json_t *message = control_parse(line, strlen(line), why);
	bool right = message && rdma_end_parse(message, end, why);

	json_decref(message);
	return right;
}

static void must_be_same(const struct rdma_end *a, const struct rdma_end *b)
{
	const struct rdma_reads *x = &a->reads, *y = &b->reads;

	assert_true(a->service == b->service && a->operation == b->operation && a->ping_pong == b->ping_pong);
	assert_true(a->filler == b->filler && a->sample_every == b->sample_every && a->sample_slots == b->sample_slots &&
		    a->slots == b->slots && a->ring == b->ring && a->burst == b->burst && a->capacity == b->capacity);
	assert_true(x->rate.per_second == y->rate.per_second && x->rate.unit == y->rate.unit && x->duration == y->duration);
	assert_true(x->messages == y->messages && x->window == y->window && x->limit == y->limit);
	assert_true(a->size == b->size && a->path_mtu == b->path_mtu && a->lid == b->lid && a->flows == b->flows);
	assert_memory_equal(a->gid, b->gid, sizeof(a->gid));
	assert_int_equal(a->regions, b->regions);
	assert_int_equal(a->solicited, b->solicited);
	assert_int_equal(a->first_flow, b->first_flow);
	if (a->regions)
		assert_memory_equal(a->rkeys, b->rkeys, a->flows * a->regions * sizeof(*a->rkeys));
	for (unsigned int i = 0; i < a->flows; i++)
		assert_true(a->qp[i].qpn == b->qp[i].qpn && a->qp[i].psn == b->qp[i].psn && a->qp[i].rkey == b->qp[i].rkey &&
			    a->qp[i].address == b->qp[i].address && a->qp[i].srqn == b->qp[i].srqn && b->qp[i].flow == b->first_flow + i);
}

/* Writes this text, and reads it as the same end. */
static void must_say(struct rdma_end end, const char *line)
{
	char *text, why[CONTROL_WHY];
	struct rdma_end back;
	json_t *message = rdma_end_json(&end);

	text = json_dumps(message, JSON_COMPACT);
	assert_string_equal(text, line);
	if (end.operation == RDMA_USUAL)	/* not by a control connection; an older version is understood so */
		end.operation = rdma_usual_operation(end.service);
	assert_true(parse(text, &back, why));
	must_be_same(&end, &back);
	rdma_end_free(&back);
	assert_true(!back.qp && !back.flows);
	free(text);
	json_decref(message);
}

static void test_the_wire(void **state)
{
	struct rdma_end end = basic(RDMA_RC, RDMA_WRITE_IMM);

	(void)state;
	must_say(basic(RDMA_RC, RDMA_USUAL), BASICS("rc") "}");
	must_say(basic(RDMA_UC, RDMA_USUAL), BASICS("uc") "}");
	must_say(basic(RDMA_UD, RDMA_USUAL), BASICS("ud") "}");
	must_say(end, BASICS("rc") ",\"operation\":\"write-imm\",\"filler\":false}");
	end.filler = end.ping_pong = true;
	must_say(end, BASICS("rc") ",\"operation\":\"write-imm\",\"filler\":true,\"ping_pong\":true}");
	end.ping_pong = false;
	end.sample_every = 61;
	end.sample_slots = 17;
	must_say(end, BASICS("rc") ",\"operation\":\"write-imm\",\"filler\":true,\"samples\":{\"every\":61,\"slots\":17}}");
	end.slots = 4;
	must_say(end, BASICS("rc") ",\"operation\":\"write-imm\",\"filler\":true,\"write_slots\":4,\"samples\":{\"every\":61,\"slots\":17}}");
	end.slots = 0;
	end.sample_every = end.sample_slots = 0;
	end.solicited = true;
	must_say(end, BASICS("rc") ",\"operation\":\"write-imm\",\"filler\":true,\"solicited\":true}");
	end.solicited = false;
	end.first_flow = 3;
	must_say(end, BASICS("rc") ",\"operation\":\"write-imm\",\"filler\":true,\"first_flow\":3}");
	end = basic(RDMA_RC, RDMA_WRITE);
	end.ring = true;
	end.burst = 16;
	end.capacity = 160;
	must_say(end, BASICS("rc") ",\"operation\":\"write\",\"filler\":false,\"ring\":{\"burst\":16,\"capacity\":160}}");
	must_say(basic(RDMA_UC, RDMA_WRITE), BASICS("uc") ",\"operation\":\"write\",\"filler\":false}");
	must_say(basic(RDMA_UC, RDMA_SEND_IMM), BASICS("uc") ",\"operation\":\"send-imm\",\"filler\":false}");
	must_say(basic(RDMA_UD, RDMA_SEND), BASICS("ud") ",\"operation\":\"send\",\"filler\":false}");
	must_say(reading(), BASICS("rc") ",\"operation\":\"read\",\"filler\":false" READS "}");
}

/* XRC tells the number of the shared queue with each QP. */
static void test_xrc(void **state)
{
	struct rdma_qp_address qp = { .qpn = 17, .psn = 5, .rkey = 6, .address = 7, .srqn = 0xffffff };
	struct rdma_end end = basic(RDMA_XRC, RDMA_SEND);

	(void)state;
	end.flows = 1;
	end.qp = &qp;
	must_say(end, "{\"transport\":\"xrc\",\"size\":4096,\"path_mtu\":1024,\"gid\":\"00000000000000000000ffff0a0900fe\",\"lid\":0,"
		 "\"qps\":[{\"qpn\":17,\"psn\":5,\"rkey\":6,\"address\":7,\"srq\":16777215}],\"operation\":\"send\",\"filler\":false}");
	assert_true(rdma_service_knows(RDMA_XRC, RDMA_COMPARE_SWAP));
	assert_false(rdma_service_knows(RDMA_UC, RDMA_READ));
}

static void test_every_operation_of_every_service(void **state)
{
	(void)state;
	for (enum rdma_service service = RDMA_RC; service <= RDMA_XRC; service++) {
		assert_true(rdma_service_knows(service, rdma_usual_operation(service)));
		assert_false(rdma_service_knows(service, RDMA_USUAL));
		for (enum rdma_operation operation = RDMA_WRITE_IMM; operation <= RDMA_COMPARE_SWAP; operation++) {
			struct rdma_end end = rdma_fetches(operation) ? reading() : basic(service, operation), back;
			char why[CONTROL_WHY];
			json_t *message;

			end.service = service;
			end.operation = operation;
			message = rdma_end_json(&end);
			assert_int_equal(rdma_end_parse(message, &back, why), rdma_service_knows(service, operation));
			if (back.qp)
				must_be_same(&end, &back);
			else
				assert_string_equal(why, "\"operation\" is none that the service knows");
			rdma_end_free(&back);
			json_decref(message);
			assert_int_equal(rdma_operation_named(rdma_operation_name(operation)), operation);
		}
	}
	assert_int_equal(rdma_operation_named("atomic"), RDMA_USUAL);
	assert_string_equal(rdma_service_name(0), "rc");
}

/* Each QP has as many regions as the first one, and slots go through them in order. */
static void test_regions(void **state)
{
	static const char *const wrong[] = { "1", "{}", "null", "[]", "[7]", "[1,2,3,4]", "[1,2,-1]", "[1,2,4294967296]",
					     "[1,2,\"3\"]" };
	uint32_t rkeys[] = { 1, 2, 3, 4, 5, 0xffffffff };
	struct rdma_end end = basic(RDMA_UC, RDMA_WRITE_IMM), back;
	char why[CONTROL_WHY];
	json_t *message;

	(void)state;
	end.regions = 3;
	end.rkeys = rkeys;
	message = rdma_end_json(&end);
	assert_true(rdma_end_parse(message, &back, why));
	must_be_same(&end, &back);
	for (uint64_t slot = 0; slot < 64; slot++)
		assert_int_equal(rdma_rkey(&back, 1, slot), slot < 22 ? 4 : slot < 44 ? 5 : 0xffffffff);
	rdma_end_free(&back);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		json_object_set_new(json_array_get(json_object_get(message, "qps"), 1), "rkeys",
				    json_loads(wrong[i], JSON_DECODE_ANY, NULL));
		assert_false(rdma_end_parse(message, &back, why));
		assert_non_null(strstr(why, "QP 1: \"rkeys\" is no array of "));
	}
	json_decref(message);
	end.regions = 0;
	assert_int_equal(rdma_rkey(&end, 0, 63), qps[0].rkey);
}

/* An FPGA's control program may use spaces, capital digits, another order, and members of its own. */
static void test_other_spelling(void **state)
{
	struct rdma_end end;
	char why[CONTROL_WHY];

	(void)state;
	assert_true(parse("{ \"qps\" : [ { \"address\": 7, \"rkey\": 6, \"psn\": 5, \"qpn\": 17, \"note\": null } ], "
			  "\"lid\": 3, \"gid\": \"FE80000000000000AbCdEf0123456789\", \"path_mtu\": 256, \"size\": 1, "
			  "\"transport\": \"uc\", \"board\": \"x\" }\r\n", &end, why));
	assert_int_equal(end.service, RDMA_UC);
	assert_int_equal(end.operation, RDMA_WRITE_IMM);
	assert_true(end.size == 1 && end.path_mtu == 256 && end.lid == 3 && end.flows == 1);
	assert_memory_equal(end.gid, "\xfe\x80\0\0\0\0\0\0\xab\xcd\xef\x01\x23\x45\x67\x89", 16);
	assert_true(end.qp->qpn == 17 && end.qp->psn == 5 && end.qp->rkey == 6 && end.qp->address == 7);
	rdma_end_free(&end);
}

/* ---- what is no end ---- */

/* Puts `value` (NULL: nothing) in the place of a member of the object `of`: "", "qps" (the second QP), "samples", "ring", "reads". */
static json_t *spoilt(const char *of, const char *key, const char *value)
{
	json_t *message = json_loads(BASICS("rc") ",\"operation\":\"read\",\"filler\":false,\"first_flow\":0,\"ping_pong\":false,"
				     "\"solicited\":false,\"write_slots\":3,\"samples\":{\"every\":61,\"slots\":17},"
				     "\"ring\":{\"burst\":4,\"capacity\":8}" READS "}", 0, NULL);
	json_t *object = *of ? json_object_get(message, of) : message;

	assert_non_null(message);
	if (!strcmp(of, "qps"))
		object = json_array_get(object, 1);
	if (value)
		assert_int_equal(json_object_set_new(object, key, json_loads(value, JSON_DECODE_ANY, NULL)), 0);
	else
		assert_int_equal(json_object_del(object, key), 0);
	return message;
}

static const struct {
	const char *of, *key;
	bool needed;
	const char *wrong[8], *right[4];
} members[] = {
	{ "", "transport", true, { "1", "\"rd\"", "\"RC\"", "\"\"", "null" }, { "\"rc\"" } },
	{ "", "size", true, { "0", "-1", "4294967296", "9223372036854775807", "1.5", "4096.0", "\"4096\"" },
	  { "1", "4294967295" } },
	{ "", "path_mtu", true, { "0", "128", "255", "1500", "8192", "-1024", "\"1024\"", "true" },
	  { "256", "512", "2048", "4096" } },
	{ "", "gid", true,
	  { "\"\"", "\"00\"", "\"00000000000000000000ffff0a0900f\"", "\"00000000000000000000ffff0a0900fe0\"",
	    "\"00000000000000000000ffff0a0900fg\"", "\"0000:000000000000000ffff0a0900fe\"", "[]", "7" },
	  { "\"00000000000000000000FFFF0A0900FE\"" } },
	{ "", "lid", true, { "-1", "65536", "\"0\"", "null" }, { "65535" } },
	{ "", "qps", true, { "[]", "{}", "7", "\"x\"", "[1]", "[[]]", "[{}]", "null" },
	  { "[{\"qpn\":1,\"psn\":1,\"rkey\":1,\"address\":1}]" } },
	{ "", "operation", false, { "\"atomic\"", "\"\"", "1", "null", "{}" }, { "\"write\"" } },
	{ "", "filler", false, { "1", "\"true\"", "null" }, { "true" } },
	{ "", "ping_pong", false, { "0", "[]" }, { "true" } },
	{ "", "first_flow", false, { "-1", "65535", "null", "1.5" }, { "0", "1", "65000" } },
	{ "", "solicited", false, { "1", "null" }, { "true" } },
	{ "", "samples", false, { "1", "[]", "{}", "null", "{\"every\":61}" }, { "{\"every\":1,\"slots\":1}" } },
	{ "", "reads", true, { "1", "[]", "{}", "null" }, { NULL } },
	{ "qps", "qpn", true, { "-1", "16777216", "1e3", "\"1\"", "null" }, { "0", "16777215" } },
	{ "qps", "psn", true, { "-1", "16777216", "9223372036854775807", "true" }, { "0", "16777215" } },
	{ "qps", "rkey", true, { "-1", "4294967296", "\"0x7\"" }, { "0", "4294967295" } },
	{ "qps", "address", true, { "1.0", "\"0x7\"", "null" }, { "0", "-1", "9223372036854775807", "-9223372036854775808" } },
	{ "", "write_slots", false, { "0", "65", "-1", "\"4\"", "null" }, { "1", "64" } },
	{ "samples", "every", true, { "0", "-61", "4294967296", "\"61\"" }, { "4294967295" } },
	{ "samples", "slots", true, { "0", "-1", "16777217", "null" }, { "16777216" } },
	{ "", "ring", false, { "1", "[]", "null", "true" }, { "{}", "{\"burst\":0}", "{\"capacity\":2}" } },
	{ "ring", "burst", false, { "-1", "1000001", "\"1\"", "null" }, { "0", "1000000" } },
	{ "ring", "capacity", false, { "-1", "1.5", "null" }, { "0", "9223372036854775807" } },
	{ "reads", "rate", true, { "-1", "-0.1", "1e19", "\"1\"", "null" }, { "0", "1e9" } },
	{ "reads", "rate_of_packets", false, { "0", "\"\"" }, { "true" } },
	{ "reads", "duration", true, { "-1", "1e10", "null" }, { "0", "1000000000" } },
	{ "reads", "messages", true, { "-1", "1.5" }, { "0", "9223372036854775807" } },
	{ "reads", "window", true, { "0", "-1", "65537", "9223372036854775807" }, { "1", "65536" } },
	{ "reads", "limit", true, { "0", "256", "-128" }, { "1", "255" } },
};

static void judge(size_t i, const char *value, bool right)
{
	json_t *message = spoilt(members[i].of, members[i].key, value);
	char why[CONTROL_WHY] = "";
	struct rdma_end end;

	if (rdma_end_parse(message, &end, why) != right)
		fail_msg("%s %s: %s: %s", members[i].of, members[i].key, value ? value : "absent", right ? why : "taken");
	assert_true(right == !!end.qp && right == !!end.flows && right == !*why);
	rdma_end_free(&end);
	json_decref(message);
}

static void test_every_member(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		for (int k = 0; k < 8 && members[i].wrong[k]; k++)
			judge(i, members[i].wrong[k], false);
		for (int k = 0; k < 4 && members[i].right[k]; k++)
			judge(i, members[i].right[k], true);
		judge(i, NULL, !members[i].needed);
	}
}

static void test_the_reason(void **state)
{
	static const struct {
		const char *of, *key, *value, *why;
	} reasons[] = {
		{ "", "transport", "\"rd\"", "\"transport\" is none of rc, uc, ud, xrc" },
		{ "", "transport", "\"xrc\"", "QP 0: \"srq\" is no whole number from 0 to 16777215" },
		{ "", "size", "0", "\"size\" is no whole number from 1 to 4294967295" },
		{ "", "path_mtu", "1500", "\"path_mtu\" is not 256, 512, 1024, 2048 or 4096" },
		{ "", "gid", "\"10.9.0.1\"", "\"gid\" is no 32 hexadecimal digits" },
		{ "", "qps", "[]", "\"qps\" is no array of 1 to 65535 QPs" },
		{ "qps", "psn", "16777216", "QP 1: \"psn\" is no whole number from 0 to 16777215" },
		{ "qps", "address", "1.0",
		  "QP 1: \"address\" is no whole number from -9223372036854775808 to 9223372036854775807" },
		{ "samples", "slots", "0", "samples: \"slots\" is no whole number from 1 to 16777216" },
		{ "reads", "duration", "-1", "reads: \"duration\" is no number from 0 to 1e+09" },
		{ "reads", "rate_of_packets", "1", "reads: \"rate_of_packets\" is neither true nor false" },
	};
	char why[CONTROL_WHY];
	struct rdma_end end;

	(void)state;
	for (size_t i = 0; i < sizeof(reasons) / sizeof(*reasons); i++) {
		json_t *message = spoilt(reasons[i].of, reasons[i].key, reasons[i].value);

		assert_false(rdma_end_parse(message, &end, why));
		assert_string_equal(why, reasons[i].why);
		json_decref(message);
	}
	assert_false(parse("{\"error\":\"no room\"}", &end, why));
	assert_false(parse("{}", &end, why));
	assert_false(rdma_end_parse(NULL, &end, why));
}

/* Every beginning of a line is no line, and nothing in it is read twice or too far (the sanitizers look). */
static void test_cut_lines(void **state)
{
	static const char line[] = BASICS("rc") ",\"operation\":\"read\",\"filler\":false" READS "}";
	struct rdma_end end;
	char why[CONTROL_WHY];

	(void)state;
	assert_true(parse(line, &end, why));
	rdma_end_free(&end);
	for (size_t length = 0; length < sizeof(line) - 1; length++) {
		char *cut = malloc(length ? length : 1);

		memcpy(cut, line, length);
		*why = 0;
		assert_null(control_parse(cut, length, why));
		assert_true(*why);
		free(cut);
	}
}

/* As many QPs as a flow number has values fit into a line, with the longest numbers; and one more is refused. */
static void test_many_qps(void **state)
{
	struct rdma_qp_address longest = { .qpn = 0xffffff, .psn = 0xffffff, .rkey = 0xffffffff, .address = 1ull << 63 };
	static const unsigned int counts[] = { 2000, 16384, RDMA_FLOWS_MAX, RDMA_FLOWS_MAX + 1 };
	struct rdma_end end = basic(RDMA_UC, RDMA_WRITE), back;
	char why[CONTROL_WHY];

	(void)state;
	end.qp = malloc((RDMA_FLOWS_MAX + 1) * sizeof(*end.qp));
	for (unsigned int i = 0; i <= RDMA_FLOWS_MAX; i++)
		end.qp[i] = longest;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		json_t *message;
		char *text;

		end.flows = counts[i];
		message = rdma_end_json(&end);
		text = json_dumps(message, JSON_COMPACT);
		assert_true(strlen(text) < CONTROL_LINE_MAX);
		assert_int_equal(parse(text, &back, why), end.flows <= RDMA_FLOWS_MAX);
		if (back.qp)
			must_be_same(&end, &back);
		else
			assert_string_equal(why, "\"qps\" is no array of 1 to 65535 QPs");
		rdma_end_free(&back);
		free(text);
		json_decref(message);
	}
	free(end.qp);
}

/* ---- totals ---- */

static bool parse_totals(const char *line, struct rdma_totals *totals, uint64_t *ns)
{
	char why[CONTROL_WHY] = "";
	json_t *message = json_loads(line, 0, NULL);
	bool right = rdma_totals_parse(message, totals, 2, ns, why);

	assert_true(message && right == !*why);
	json_decref(message);
	return right;
}

static void test_totals(void **state)
{
	static const char *const wrong[] = {
		"{}", "{\"end\":1}", "{\"end\":[]}", "{\"end\":[1,2]}", "{\"stop\":true}",
		"{\"end\":[{\"packets\":1,\"messages\":1}]}",
		"{\"end\":[{\"packets\":1,\"messages\":1},{\"packets\":1}]}",
		"{\"end\":[{\"packets\":1,\"messages\":1},{\"packets\":-1,\"messages\":1}]}",
		"{\"end\":[{\"packets\":1,\"messages\":1},{\"packets\":1,\"messages\":1,\"completed\":2}]}",
		"{\"end\":[{\"packets\":1,\"messages\":1},{\"packets\":1,\"messages\":1,\"completed\":\"1\"}]}",
		"{\"end\":[{\"packets\":1,\"messages\":1},{\"packets\":1,\"messages\":1}],\"ns\":-1}",
		"{\"end\":[{\"packets\":1,\"messages\":1},{\"packets\":1,\"messages\":1},{\"packets\":1,\"messages\":1}]}",
	};
	static const struct rdma_totals sent[2] = { { 30, 3, 29 }, { INT64_MAX, 1, INT64_MAX } };
	struct rdma_totals got[2];
	json_t *message = rdma_totals_json(sent, 2, 123456789012);
	char *text = json_dumps(message, JSON_COMPACT);
	uint64_t ns;

	(void)state;
	assert_string_equal(text, "{\"end\":[{\"packets\":30,\"messages\":3,\"completed\":29},"
		"{\"packets\":9223372036854775807,\"messages\":1,\"completed\":9223372036854775807}],\"ns\":123456789012}");
	assert_true(parse_totals(text, got, &ns));
	assert_memory_equal(sent, got, sizeof(sent));
	assert_int_equal(ns, 123456789012);
	assert_true(parse_totals("{\"end\":[{\"packets\":30,\"messages\":3},{\"packets\":5,\"messages\":5}]}", got, &ns));
	assert_true(!ns && got[0].packets == 30 && got[1].messages == 5 && !got[0].completed);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (parse_totals(wrong[i], got, &ns))
			fail_msg("taken: %s", wrong[i]);
	free(text);
	json_decref(message);
}

/* ---- slots ---- */

static void test_slots(void **state)
{
	struct rdma_end end = { .size = 65536, .flows = 1, .sample_every = 61, .sample_slots = 2 };

	(void)state;
	assert_int_equal(rdma_write_slots(1, 1), 64);
	assert_int_equal(rdma_write_slots(65536, 1), 64);
	assert_int_equal(rdma_write_slots(65537, 1), 63);
	assert_int_equal(rdma_write_slots(4 << 20, 1), 1);
	assert_int_equal(rdma_write_slots(UINT32_MAX, 1), 1);
	assert_int_equal(rdma_write_slots(65536, 64), 64); /* 256 MiB in all */
	assert_int_equal(rdma_write_slots(65536, 65), 63);
	assert_int_equal(rdma_write_slots(16384, 2000), 8);
	assert_int_equal(rdma_write_slots(1 << 20, 65535), 1);
	assert_int_equal(rdma_slots(&end), 66);
	assert_int_equal(rdma_slot(&end, 0), 64);
	assert_int_equal(rdma_slot(&end, 1), 1);
	assert_int_equal(rdma_slot(&end, 61), 65);
	assert_int_equal(rdma_slot(&end, 122), 64);
	assert_int_equal(rdma_slot(&end, 123), 123 % 64);
	end.sample_every = end.sample_slots = 0;
	assert_int_equal(rdma_slots(&end), 64);
	assert_int_equal(rdma_slot(&end, 64), 0);
	end.slots = 8; /* told by a receiver that has QPs of others, too */
	assert_int_equal(rdma_slots(&end), 8);
	assert_int_equal(rdma_slot(&end, 64 + 9), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_wire),
		cmocka_unit_test(test_xrc),
		cmocka_unit_test(test_every_operation_of_every_service),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_other_spelling),
		cmocka_unit_test(test_every_member),
		cmocka_unit_test(test_the_reason),
		cmocka_unit_test(test_cut_lines),
		cmocka_unit_test(test_many_qps),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_slots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
