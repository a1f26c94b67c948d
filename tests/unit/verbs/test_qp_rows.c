// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* QPs of made-up readings: how they are, their rates and order, and what filters select. */
#include <string.h>

#include "lib/address.h"
#include "tests/unit/cmocka_includes.h"
#include "userspace/observe/verbs/qp_filter.h"
#include "userspace/observe/verbs/qp_rows.h"

enum { RC = 2, UD = 4, RTS = 3, SQE = 5, ERR = 6 };
#define SECOND 1000000000ull
#define START (100 * SECOND)

static struct verbs_qp connected(__u32 qpn)
{
	struct verbs_qp q = { .qp = { .qpn = qpn, .peer_qpn = qpn + 100, .type = RC, .state = RTS, .pid = 4711, .device = "rxe0",
				      .program = "ib_write_bw" },
			      .first_seen = START, .container = "docker 0123456789ab", .attributes.known = VERBS_KNOWS_PATH };

	assert_true(address_parse("10.9.0.2", q.attributes.dgid));
	return q;
}

static struct verbs_qp posting(__u32 qpn, __u64 wrs, __u64 done)
{
	struct verbs_qp q = connected(qpn);

	q.has_calls = true;
	q.calls.count[VERBS_wrs] = q.calls.wrs[0] = wrs;
	q.calls.bytes[0] = wrs * 1000;
	q.calls.tail = wrs;
	q.calls.head = q.calls.count[VERBS_completions] = done;
	return q;
}

/* ---- how a QP is ---- */

static void conditions(void **state)
{
	struct verbs_qp q = connected(1);

	(void)state;
	assert_int_equal(qp_condition(&q, false, START), QP_IDLE);
	assert_int_equal(qp_condition(&q, true, START), QP_BUSY);
	q.qp.state = SQE;
	assert_int_equal(qp_condition(&q, true, START), QP_ERROR);
	q.qp.state = ERR;
	q.gone = START;
	assert_int_equal(qp_condition(&q, true, START), QP_ENDED); /* programs flush their QPs so before they end */
	q = posting(1, 10, 4);
	q.calls.oldest_post = START;
	assert_int_equal(qp_condition(&q, true, START + QP_STALLED_NS - 1), QP_BUSY);
	assert_int_equal(qp_condition(&q, true, START + QP_STALLED_NS), QP_STALLED);
	assert_int_equal(qp_condition(&q, false, START - 1), QP_IDLE); /* posted after the reading began */
	q.has_calls = false;
	assert_int_equal(qp_condition(&q, false, START + QP_STALLED_NS), QP_IDLE);
}

static void failures(void **state)
{
	struct verbs_qp q = posting(1, 10, 10);

	(void)state;
	q.calls.error_time = START;
	q.calls.error_status = 5; /* IBV_WC_WR_FLUSH_ERR alone: the program did so */
	assert_false(qp_has_failed(&q));
	q.calls.error_status = 12;
	assert_true(qp_has_failed(&q));
	assert_int_equal(qp_condition(&q, false, START), QP_ERROR);
	q.gone = START;
	assert_int_equal(qp_condition(&q, false, START), QP_ERROR);
	q.has_calls = false;
	assert_false(qp_has_failed(&q));
}

static void outstanding(void **state)
{
	struct verbs_qp q = posting(1, 10, 4);

	(void)state;
	assert_int_equal(qp_outstanding(&q), 6);
	q.calls.head = 10;
	assert_int_equal(qp_outstanding(&q), 0);
	q.calls.head = 11; /* read while it was written */
	assert_int_equal(qp_outstanding(&q), 0);
}

static void latencies(void **state)
{
	struct verbs_calls c = { .latency_count = 100, .latency_most = 5000 };

	(void)state;
	c.latency[10] = 50; /* 1024 to 2047 ns */
	c.latency[11] = 49;
	c.latency[12] = 1;
	assert_int_equal(qp_latency(&c, 0.5), 2047);
	assert_int_equal(qp_latency(&c, 0.51), 4095);
	assert_int_equal(qp_latency(&c, 0.99), 4095);
	assert_int_equal(qp_latency(&c, 1), 5000);
	assert_int_equal(qp_latency(&(struct verbs_calls){ 0 }, 0.5), 0);
}

/* ---- rates and order ---- */

static void rates(void **state)
{
	struct verbs_qp first = posting(1, 1000, 900), again;
	const struct verbs_qp *list[] = { &first };
	struct qp_rows r = { 0 };

	(void)state;
	assert_true(qp_rows_update(&r, list, 1, NULL, START));
	assert_false(r.row[0].has_rates);
	assert_int_equal(r.row[0].outstanding, 100);
	again = posting(1, 3000, 2950);
	list[0] = &again;
	assert_true(qp_rows_update(&r, list, 1, NULL, START + 2 * SECOND));
	assert_true(r.row[0].has_rates);
	assert_int_equal(r.row[0].wrs, 1000);
	assert_int_equal(r.row[0].bits, 8000000);
	assert_int_equal(r.row[0].condition, QP_BUSY);
	assert_true(qp_rows_update(&r, list, 1, NULL, START + 3 * SECOND));
	assert_int_equal(r.row[0].condition, QP_IDLE);
	again.first_seen++; /* another QP has got its number */
	assert_true(qp_rows_update(&r, list, 1, NULL, START + 4 * SECOND));
	assert_false(r.row[0].has_rates);
	assert_true(qp_rows_update(&r, NULL, 0, NULL, START + 5 * SECOND));
	assert_int_equal(r.of, 0);
	qp_rows_free(&r);
}

static void order(void **state)
{
	struct verbs_qp q[] = { connected(5), connected(4), posting(3, 10, 0), connected(2), connected(1), connected(6) };
	const struct verbs_qp *list[] = { &q[0], &q[1], &q[2], &q[3], &q[4], &q[5] };
	static const __u32 wanted[] = { 2, 3, 4, 5, 6, 1 };
	char mistake[FILTER_MISTAKE];
	struct filter *f = qp_filter_parse("busy or error", mistake);
	struct qp_rows r = { 0 };

	(void)state;
	q[3].qp.state = ERR;
	q[2].calls.oldest_post = START - 2 * SECOND;
	q[1].psn_moved = true;
	q[4].gone = START;
	assert_true(qp_rows_update(&r, list, 6, NULL, START));
	for (int i = 0; i < 6; i++)
		assert_int_equal(r.row[i].qp->qp.qpn, wanted[i]);
	assert_int_equal(r.condition[QP_ERROR] + 10 * r.condition[QP_STALLED] + 100 * r.condition[QP_IDLE], 211);
	qp_rows_filter(&r, f);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.of, 6);
	assert_int_equal(r.row[0].qp->qp.qpn, 2);
	assert_int_equal(r.row[1].qp->qp.qpn, 4);
	qp_rows_filter(&r, NULL);
	assert_int_equal(r.count, 6);
	filter_free(f);
	qp_rows_free(&r);
}

/* ---- filters ---- */

static bool wants(const char *text, const struct verbs_qp *q)
{
	char mistake[FILTER_MISTAKE];
	struct filter *f = qp_filter_parse(text, mistake);
	struct qp_row row = qp_row(q, START);
	bool wanted;

	if (!f)
		fail_msg("%s: %s", text, mistake);
	wanted = qp_filter_wants(f, &row);
	filter_free(f);
	return wanted;
}

static void check(const struct verbs_qp *q, bool want, const char *const *texts)
{
	for (; *texts; texts++)
		if (wants(*texts, q) != want)
			fail_msg("%s: %swanted", *texts, want ? "un" : "");
}

#define WANTED(q, ...) check(q, true, (const char *const[]){ __VA_ARGS__, NULL })
#define UNWANTED(q, ...) check(q, false, (const char *const[]){ __VA_ARGS__, NULL })

static void terms(void **state)
{
	struct verbs_qp q = posting(17, 100, 60);

	(void)state;
	WANTED(&q, "", "10.9.0.2", "peer=10.9.0.0/24", "17", "qpn=0x11", "117", "pid=4711", "pid 4711", "device=rxe0", "DEVICE=RXE0", "device=rxe*",
	       "program=ib_*", "program!=perf*", "container=*0123*", "rc", "type=rc", "rts", "state=rts", "state!=err", "idle", "not faulty",
	       "wrs", "wrs=100", "wrs>99 completions<=60", "outstanding", "outstanding=40", "posts=0", "rc (stalled or 17)");
	UNWANTED(&q, "10.9.0.1", "18", "qpn!=17", "pid=1", "device=mlx5*", "program=ib", "uc", "err", "gone", "error", "stalled", "busy", "ended",
		 "faulty", "unseen", "posts", "outstanding>40", "rc 18");
	q.blind = VERBS_NO_CALL;
	WANTED(&q, "unseen");
	q.blind = VERBS_PASSIVE;
	UNWANTED(&q, "unseen");
	q.has_calls = false;
	UNWANTED(&q, "wrs=0", "wrs", "outstanding=0"); /* nothing is known of them */
	q.attributes.known = 0;
	UNWANTED(&q, "0.0.0.0/0", "::/0");
	q.gone = START;
	WANTED(&q, "gone", "ended", "not rts");
	q.qp.peer_qpn = 0;
	UNWANTED(&q, "0");
}

static void mistakes(void **state)
{
	static const struct { const char *text, *mistake; } cases[] = {
		{ "nonsense", "at character 1: 'nonsense' is no term; for example 10.9.0.1, qpn=258 or stalled" },
		{ "qnp=17", "at character 1: 'qnp' is no term; did you mean qpn?" },
		{ "program=", "at character 9: the name is missing; for example program=ib_*" },
		{ "program>x", "at character 8: behind program stands = or !=; for example program=ib_*" },
		{ "rts=1", "at character 4: 'rts' takes no value; for example state=rts" },
		{ "error>1", "at character 6: 'error' takes no value; for example error" },
		{ "pid=x", "at character 5: 'x' is no process; for example pid=4711" },
		{ "lost", "at character 1: 'lost' is no term; for example 10.9.0.1, qpn=258 or stalled" },
		{ "qpn=4294967296", "at character 5: '4294967296' is no QPN: those have 24 bits; for example qpn=258" },
		{ "rc or", "at character 6: a term is missing at the end; for example stalled" },
	};
	char mistake[FILTER_MISTAKE];

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(cases); i++) {
		assert_null(qp_filter_parse(cases[i].text, mistake));
		assert_string_equal(mistake, cases[i].mistake);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions), cmocka_unit_test(failures), cmocka_unit_test(outstanding), cmocka_unit_test(latencies),
		cmocka_unit_test(rates), cmocka_unit_test(order), cmocka_unit_test(terms), cmocka_unit_test(mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
