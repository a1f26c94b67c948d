// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of libibverbs' numbers, as libibverbs itself says them; and the times of the specification. */
#include <string.h>

#include <infiniband/verbs.h>

#include "tests/unit/cmocka_includes.h"

#include "userspace/observe/verbs/verbs.h"

#define US 1000ull

static void test_names(void **state)
{
	(void)state;
	for (__u32 i = 0; i <= IBV_WC_TM_RNDV_INCOMPLETE; i++)
		assert_string_not_equal(verbs_status_name(i), "?");
	assert_string_equal(verbs_status_name(IBV_WC_SUCCESS), "SUCCESS");
	assert_string_equal(verbs_status_name(IBV_WC_WR_FLUSH_ERR), "WR_FLUSH_ERR");
	assert_string_equal(verbs_status_name(IBV_WC_RETRY_EXC_ERR), "RETRY_EXC_ERR");
	assert_string_equal(verbs_status_name(IBV_WC_TM_RNDV_INCOMPLETE + 1), "?");
	assert_string_equal(verbs_status_name(~0u), "?");
	assert_string_equal(verbs_opcode_name(IBV_WR_RDMA_WRITE), "RDMA_WRITE");
	assert_string_equal(verbs_opcode_name(IBV_WR_SEND_WITH_INV), "SEND_WITH_INV");
	assert_string_equal(verbs_opcode_name(VERBS_OPCODES), "?");
}

static const char *step(__u8 kind, __u8 to, __u32 mask, __s32 error)
{
	return verbs_step_name(&(struct verbs_step){ .kind = kind, .state = to, .mask = mask, .error = error });
}

static void test_steps(void **state)
{
	struct verbs_step async = { .kind = VERBS_ASYNC, .async_event = IBV_EVENT_QP_ACCESS_ERR };

	(void)state;
	assert_string_equal(step(VERBS_CREATED, IBV_QPS_RESET, 0, 0), "created");
	assert_string_equal(step(VERBS_MODIFIED, IBV_QPS_RTR, IBV_QP_STATE | IBV_QP_AV, 0), "RTR");
	assert_string_equal(step(VERBS_MODIFIED, IBV_QPS_INIT, IBV_QP_STATE | IBV_QP_AV, -22), "refused");
	assert_string_equal(step(VERBS_MODIFIED, IBV_QPS_RTS, IBV_QP_MIN_RNR_TIMER, 0), "modified");
	assert_string_equal(step(VERBS_DESTROYED, HOST_QP_GONE, 0, 0), "destroyed");
	assert_string_equal(step(77, 0, 0, 0), "?");
	assert_string_equal(verbs_step_name(&async), "QP_ACCESS_ERR");
	async.async_event = 99;
	assert_string_equal(verbs_step_name(&async), "?");
	assert_string_equal(verbs_step_name(&(struct verbs_step){ .kind = VERBS_MODIFIED, .by_netlink = 1, .state = IBV_QPS_ERR }), "ERR");
}

/* IBTA 9.7.6.1.3: 4.096 us times a power of two; 14 is 67.1 ms, 18 is 1.07 s, 31 is 2.4 hours. */
static void test_timeouts(void **state)
{
	struct verbs_attributes a = { .timeout = 14, .retry_cnt = 7 };

	(void)state;
	assert_int_equal(verbs_timeout_ns(&a), 67108864);
	assert_int_equal(verbs_gives_up_ns(&a), 8 * 67108864ull);
	a.retry_cnt = 0;
	assert_int_equal(verbs_gives_up_ns(&a), 67108864);
	a.timeout = 1;
	assert_int_equal(verbs_timeout_ns(&a), 8192);
	a.timeout = 31;
	assert_int_equal(verbs_timeout_ns(&a) / 1000000000, 8796);
	a.timeout = 0;
	assert_int_equal(verbs_timeout_ns(&a), 0);
	assert_int_equal(verbs_gives_up_ns(&a), 0);
}

/* What rdma-core documents of min_rnr_timer (ibv_modify_qp(3)): 0 is 655.36 ms, and from 1 on it grows from 0.01 ms to 491.52 ms. */
static void test_rnr(void **state)
{
	static const struct {
		__u8 timer;
		__u64 ns;
	} some[] = { { 0, 655360 * US }, { 1, 10 * US }, { 2, 20 * US }, { 4, 40 * US }, { 5, 60 * US }, { 12, 640 * US },
		     { 14, 1280 * US }, { 20, 10240 * US }, { 27, 122880 * US }, { 31, 491520 * US } };

	(void)state;
	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		assert_int_equal(verbs_rnr_ns(some[i].timer), some[i].ns);
	for (__u8 i = 2; i < 32; i++)
		assert_true(verbs_rnr_ns(i) > verbs_rnr_ns(i - 1));
	for (__u8 i = 4; i < 30; i++) /* each two steps double it */
		assert_int_equal(verbs_rnr_ns(i + 2), 2 * verbs_rnr_ns(i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_timeouts),
		cmocka_unit_test(test_rnr),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
