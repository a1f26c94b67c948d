// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counters by priority in JSON and in lines, of `monitor` and of `doctor`. No interface here has any, so they are made up. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/cmocka_includes.h"

#include "userspace/observe/host/host.h"
#include "userspace/render/output/findings_view.h"
#include "userspace/render/output/view.h"

static struct snapshot_interface interfaces[] = { { .name = "eth0", .mode = "native", .direction = "in" },
						  { .name = "eth1", .mode = "native", .direction = "in" } };
static const struct host_priority priorities[] = {
	{ .where = "eth0", .priority = 3, .count = { [PRIORITY_RX_PAUSE] = 5, [PRIORITY_DISCARDS] = 7 } },
	{ .where = "eth0", .priority = 4, .count = { [PRIORITY_TX_PAUSE] = 2, [PRIORITY_MARKED] = 1 } },
};
static const struct host_report report = { .priorities = priorities, .priority_count = 2 };

static char *printed(int (*print)(FILE *out, const struct snapshot *now, const struct snapshot *previous, const struct view *v))
{
	struct snapshot s = { .seconds = 1, .complete = true, .interfaces = interfaces, .interface_count = 2, .host = &report };
	struct view v = { .live = true };
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(print(out, &s, NULL, &v), 0);
	fclose(out);
	return text;
}

static void test_json(void **state)
{
	char *text = printed(view_json);
	json_t *o = json_loads(text, 0, NULL), *want = json_loads(
		"[{\"priority\":3,\"rx_pause\":5,\"tx_pause\":0,\"discards\":7,\"marked\":0},"
		"{\"priority\":4,\"rx_pause\":0,\"tx_pause\":2,\"discards\":0,\"marked\":1}]", 0, NULL);
	const json_t *array = json_object_get(o, "interfaces");

	(void)state;
	assert_true(json_equal(json_object_get(json_array_get(array, 0), "priorities"), want));
	assert_null(json_object_get(json_array_get(array, 1), "priorities"));
	json_decref(o);
	json_decref(want);
	free(text);
}

static void test_lines(void **state)
{
	char *text = printed(view_lines);

	(void)state;
	assert_non_null(strstr(text, "  priority  eth0 3: 5 pause frames received, 0 sent, 7 frames discarded, 0 marked\n"));
	assert_non_null(strstr(text, "  priority  eth0 4: 0 pause frames received, 2 sent, 0 frames discarded, 1 marked\n"));
	free(text);
}

static char *found(int (*print)(FILE *out, const struct findings_report *r))
{
	const struct findings none = { 0 };
	struct findings_report r = { .findings = &none, .checked.packets = 1, .pauses = {
		.known = true, .frames[3] = 1,
		.host = { [3] = { [PRIORITY_RX_PAUSE] = 5, [PRIORITY_DISCARDS] = 7 }, [5] = { [PRIORITY_DISCARDS] = 1 } },
		.dscp = { [26] = { .value = 26, .streams = 2, .packets = 90, .lost = 10 },
			  [46] = { .value = 46, .streams = 1, .packets = 98, .lost = 2 }, [0] = { .streams = 1, .packets = 9 } },
	} };
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(print(out, &r), 0);
	fclose(out);
	return text;
}

static void test_findings(void **state)
{
	char *text = found(findings_json), *at;
	json_t *o = json_loads(text, 0, NULL), *want = json_loads(
		"{\"assumes\":\"priority = dscp / 8\",\"pause_frames\":0,"
		"\"priorities\":[{\"priority\":3,\"pfc_frames\":1,\"rx_pause\":5,\"tx_pause\":0,\"discards\":7,\"marked\":0}],"
		"\"dscps\":[{\"dscp\":26,\"priority\":3,\"paused\":true,\"streams\":2,\"packets\":90,\"lost\":10},"
		"{\"dscp\":46,\"priority\":5,\"paused\":false,\"streams\":1,\"packets\":98,\"lost\":2}]}", 0, NULL);

	(void)state;
	assert_true(json_equal(json_object_get(o, "pauses"), want));
	json_decref(o);
	json_decref(want);
	free(text);
	text = found(findings_lines);
	for (at = text; (at = strchr(at, '\n')); at++)
		*at = ' ';
	assert_non_null(strstr(text, "Priority 3 was paused: 1 PFC frame came here; this machine's NIC received 5, sent 0, and discarded 7 "
				     "frames of the priority. By the usual mapping, which is an assumption (priority = DSCP / 8; switch and NIC decide): "
				     "DSCP 26, which lost 10 of 100 packets, is priority 3 and was paused; DSCP 46, which lost 2 of 100 packets, "
				     "is priority 5 and was not paused. "));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_json), cmocka_unit_test(test_lines), cmocka_unit_test(test_findings) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
