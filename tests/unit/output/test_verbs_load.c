// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What verbs_json() writes of a host is what load_text() reads of it, as far as a verdict needs it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roce/packet/base.h"
#include "tests/unit/cmocka_includes.h"
#include "userspace/diagnose/qp_error/load.h"
#include "userspace/render/output/view_verbs.h"

#define NOW 1764000000000000000ull /* ns since 1970; the offset below is 0 */
#define SECOND 1000000000ull
enum { RC = 2, RTR = 2, RTS = 3, ERR = 6, GONE = HOST_QP_GONE };

static struct verbs_qp full(void)
{
	struct verbs_qp q = {
		.qp = { .device = "mlx5_0", .port = 1, .qpn = 17, .peer_qpn = 18, .rq_psn = 5, .sq_psn = 0xffffff, .type = RC, .state = ERR,
			.pid = 4711, .program = "a \"program\"" },
		.first_seen = NOW - 9 * SECOND, .born = NOW - 8 * SECOND, .state_since = NOW - 123456789, .interface = "eth0",
		.container = "docker ab12",
		.attributes = { .known = VERBS_KNOWS_PATH | VERBS_KNOWS_MTU | VERBS_KNOWS_TIMEOUT | VERBS_KNOWS_RESPONDER |
					 VERBS_KNOWS_ACCESS | VERBS_KNOWS_CAPABILITIES | VERBS_KNOWS_LIMITS | VERBS_KNOWS_ASKED | VERBS_KNOWS_RQ_PSN | VERBS_KNOWS_SQ_PSN,
				.path_mtu = 4096, .rq_psn_first = 3, .sq_psn_first = 0x123456, .access = 5, .max_send_wr = 16,
				.max_recv_wr = 32, .max_inline = 64, .asked_send_wr = 12, .asked_recv_wr = 30, .asked_inline = 60, .flow_label = 7, .sgid = { [10] = 0xff, 0xff, 10, 9, 0, 1 },
				.dgid = { 0xfd, 9, [15] = 2 }, .sgid_index = 3, .gid_type = 2, .tclass = 8, .hop_limit = 64, .sl = 2,
				.timeout = 14, .retry_cnt = 7, .rnr_retry = 6, .min_rnr_timer = 12, .max_rd_atomic = 1,
				.max_dest_rd_atomic = 2, .sq_sig_all = 1 },
		.blind = VERBS_SEEN, .has_calls = true, .steps = 2,
		.history = { { .time = NOW - 8 * SECOND, .kind = VERBS_CREATED, .pid = 4711 },
			     { .time = NOW - 7 * SECOND, .kind = VERBS_MODIFIED, .state_before = RTR, .state = RTS, .error = -22, .pid = 4711,
			       .signal = 9, .by_netlink = 1 } },
	};
	struct verbs_calls *c = &q.calls;

	for (int i = 0; i < VERBS_COUNTERS; i++)
		c->count[i] = i + 100;
	c->born = q.born;
	c->whole = 1;
	c->since = c->first_post = q.born + 1;
	c->last_post = NOW - 2 * SECOND;
	c->oldest_post = NOW - 3 * SECOND;
	c->tail = 4;
	c->status[0] = 7;
	c->status[5] = 2;
	c->status[10] = 1;
	c->status[20] = 3;
	c->received[0] = 4;
	c->error_time = NOW - SECOND;
	c->error_status = 10;
	c->error_vendor = 0x88;
	c->error_flushes_before = 1;
	c->error_request = (struct verbs_request){ 1, 0x7f0012345678, 3000, 0xdeadbeef, 0 };
	c->good_request = (struct verbs_request){ 2, 0x7f0012340000, 3000, 0x1234, 4 };
	c->good_low = 0x7f0000000000;
	c->good_high = 0x7f0012341000;
	c->latency_count = 6;
	return q;
}

static char *written(const struct verbs_qp *const *list, size_t count, const struct verbs_resources *resources)
{
	struct host_counter counter = { "mlx5_0", "packet_seq_err", 12, true };
	struct qp_rows rows = { 0 };
	struct verbs_shown shown = { .rows = &rows, .counters = &counter, .counter_count = 1, .now = NOW, .resources = resources };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_true(qp_rows_update(&rows, list, count, NULL, NOW));
	assert_int_equal(verbs_json(out, &shown), 0);
	fclose(out);
	qp_rows_free(&rows);
	return text;
}

static void test_round_trip(void **state)
{
	struct rdma_host_device device = { .name = "mlx5_0", .driver = "mlx5" };
	struct host_mr mrs[] = { { .device = "mlx5_0", .length = 4096, .rkey = 0xfedcba98, .lkey = 1, .pid = 4711, .has_keys = true },
				 { .device = "mlx5_0", .length = 1ull << 40, .iova = 0x7f0000000000, .has_iova = true } };
	struct verbs_resources resources = { NULL, &device, mrs, 1, 2 };
	struct verbs_qp q = full(), gone = { .qp = { .device = "mlx5_0", .qpn = 20, .rq_psn = HOST_NO_PSN, .sq_psn = HOST_NO_PSN,
						     .type = RC, .state = RTS }, .first_seen = NOW, .gone = NOW, .killed = true };
	const struct verbs_qp *list[] = { &q, &gone };
	struct loaded_host h = { 0 };
	const struct verbs_qp *r;
	char *text = written(list, 2, &resources);

	(void)state;
	assert_true(load_text(&h, text));
	free(text);
	assert_int_equal(h.host.now, NOW);
	assert_int_equal(h.host.qp_count, 2);
	r = h.host.qps[0]->qp.qpn == 17 ? h.host.qps[0] : h.host.qps[1];
	assert_memory_equal(&r->qp, &q.qp, sizeof(q.qp));
	assert_memory_equal(&r->attributes, &q.attributes, sizeof(q.attributes));
	assert_int_equal(r->first_seen, q.first_seen);
	assert_int_equal(r->born, q.born);
	assert_int_equal(r->state_since, q.state_since);
	assert_string_equal(r->interface, "eth0");
	assert_string_equal(r->container, q.container);
	assert_int_equal(r->steps, 2);
	assert_memory_equal(r->history, q.history, sizeof(q.history));
	assert_memory_equal(r->calls.count, q.calls.count, sizeof(q.calls.count));
	assert_memory_equal(r->calls.status, q.calls.status, sizeof(q.calls.status));
	assert_memory_equal(&r->calls.error_request, &q.calls.error_request, sizeof(q.calls.error_request));
	assert_memory_equal(&r->calls.good_request, &q.calls.good_request, sizeof(q.calls.good_request));
	assert_int_equal(r->calls.good_low, q.calls.good_low);
	assert_int_equal(r->calls.good_high, q.calls.good_high);
	assert_int_equal(r->calls.born, q.born);
	assert_int_equal(r->calls.error_time, q.calls.error_time);
	assert_int_equal(r->calls.error_status, 10);
	assert_int_equal(r->calls.error_vendor, 0x88);
	assert_int_equal(r->calls.error_flushes_before, 1);
	assert_int_equal(r->calls.oldest_post, q.calls.oldest_post);
	assert_int_equal(qp_outstanding(r), qp_outstanding(&q));
	assert_int_equal(r->calls.latency_count, 6);
	r = h.host.qps[0]->qp.qpn == 17 ? h.host.qps[1] : h.host.qps[0];
	assert_true(r->gone == NOW && r->killed && !r->has_calls && !r->attributes.known && r->qp.rq_psn == HOST_NO_PSN);
	assert_int_equal(h.host.mr_count, 2);
	assert_memory_equal(h.host.mrs, mrs, sizeof(mrs));
	assert_int_equal(h.host.counter_count, 1);
	assert_string_equal(h.host.counters[0].name, "packet_seq_err");
	assert_int_equal(h.host.counters[0].value, 12);
	assert_string_equal(load_driver(&h, "mlx5_0"), "mlx5");
	assert_null(load_driver(&h, "rxe0"));
	load_free(&h);
}

/* What is no such object, or has other values than it should, is refused or becomes 0. */
static void test_bad(void **state)
{
	static const char *const texts[] = {
		"", "[]", "{}", "1", "{\"schema\":1}", "{\"schema\":\"rocescope.snapshot/1\"}", "{\"schema\":\"rocescope.verbs/1\"",
	};
	struct loaded_host h = { 0 };

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(texts); i++)
		assert_false(load_text(&h, texts[i]));
	assert_true(load_text(&h, "{\"schema\":\"rocescope.verbs/1\",\"time\":\"never\",\"qps\":[1,{\"qpn\":\"x\",\"type\":7,\"history\":[{},"
				  "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}],\"calls\":{\"error\":{\"request\":[]},"
				  "\"latency\":3},\"attributes\":[]}],\"mrs\":{},\"counters\":[null],\"devices\":[{},[]]}"));
	assert_int_equal(h.host.qp_count, 2);
	assert_int_equal(h.host.now, 0);
	assert_int_equal(h.host.qps[1]->steps, VERBS_HISTORY);
	assert_int_equal(h.host.qps[1]->calls.error_request.opcode, VERBS_OPCODES);
	load_free(&h);
}

#define DEVICE(name) "{\"name\": \"" name "\", \"driver\": \"rxe\"}"

static struct loaded_host watched(const char *seconds, const char *devices)
{
	struct loaded_host h = { 0 };
	char text[512];

	snprintf(text, sizeof(text), "{\"schema\": \"rocescope.verbs/1\", \"time\": \"2025-11-24T16:00:00Z\", \"seconds\": %s, "
		 "\"devices\": [%s], \"qps\": [{\"device\": \"rxe0\", \"qpn\": 1}]}", seconds, devices);
	assert_true(load_text(&h, text));
	return h;
}

/* What went ten minutes ago is not listed any more, nor are QPs of devices that were not asked for. */
static void test_what_is_listed(void **state)
{
	struct loaded_host h = watched("60.5", DEVICE("rxe0"));

	(void)state;
	assert_int_equal(h.host.now - h.host.since, 60500000000ull);
	assert_false(h.host.partial);
	load_free(&h);
	h = watched("3600", DEVICE("rxe0"));
	assert_int_equal(h.host.now - h.host.since, 600 * SECOND);
	load_free(&h);
	h = watched("60", DEVICE("rxe0") "," DEVICE("rxe7"));
	assert_true(h.host.partial);
	load_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_round_trip), cmocka_unit_test(test_bad),
					    cmocka_unit_test(test_what_is_listed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
