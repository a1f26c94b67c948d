// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Series of single QPs: a number, and even its process's, may be that of several that are gone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_includes.h"

#include "userspace/render/prometheus/verbs_metrics.h"

#define QPS 9

static size_t occurrences(const char *text, const char *of)
{
	size_t count = 0;

	for (; (text = strstr(text, of)); text++)
		count++;
	return count;
}

/* Three processes take turns with one number: each has one series, that of its worst QP. */
static void test_labels(void **state)
{
	static struct verbs_metrics_memory memory;
	static struct verbs_qp qp[QPS];
	struct qp_row row[QPS];
	struct qp_rows rows = { .row = row, .count = QPS, .of = QPS };
	struct verbs_shown shown = { .rows = &rows };
	char *text, label[128];
	size_t length;
	FILE *out;

	(void)state;
	for (__u32 i = 0; i < QPS; i++) {
		qp[i] = (struct verbs_qp){ .qp = { .device = "rxe0", .qpn = 17, .pid = 100 + i % 3, .type = 2, .state = 3 }, .gone = i < 6 };
		row[i] = (struct qp_row){ .qp = &qp[i], .condition = i == 4 ? QP_ERROR : i < 6 ? QP_ENDED : QP_IDLE };
	}
	out = open_memstream(&text, &length);
	assert_int_equal(verbs_metrics(out, &shown, QPS, false, &memory), 0);
	fclose(out);
	for (__u32 pid = 100; pid < 103; pid++) {
		snprintf(label, sizeof(label), "verbs_qp_info{device=\"rxe0\",qpn=\"17\",pid=\"%u\"", pid);
		assert_int_equal(occurrences(text, label), 1);
	}
	assert_non_null(strstr(text, "pid=\"101\",type=\"RC\",state=\"GONE\",condition=\"error\""));
	assert_non_null(strstr(text, "pid=\"100\",type=\"RC\",state=\"RTS\",condition=\"idle\""));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
