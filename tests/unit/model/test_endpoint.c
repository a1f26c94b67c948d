// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What receivers tell: rocescope's line and rdma_stream's, and lines that are neither. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/exit.h"
#include "tests/unit/cmocka_includes.h"
#include "userspace/observe/model/endpoint.h"

#define BASICS(transport) "{\"transport\":\"" transport "\",\"size\":4096,\"path_mtu\":1024," \
	"\"gid\":\"00000000000000000000ffff0a090002\",\"lid\":0"
#define QP(qpn, rkey, address) "{\"qpn\":" #qpn ",\"psn\":0,\"rkey\":" #rkey ",\"address\":" #address "}"
#define ONE BASICS("uc") ",\"qps\":[" QP(2048, 4096, 1048576) "]"

static bool take(const char *line, struct endpoint *t, char *why)
{
	json_t *message = control_parse(line, strlen(line), why);
	bool taken = message && endpoint_parse(message, t, why);

	json_decref(message);
	return taken;
}

static void must_take(const char *line, struct endpoint *t)
{
	char why[CONTROL_WHY] = "";

	if (!take(line, t, why))
		fail_msg("%s: %s", line, why);
}

static void with_regions(void **state)
{
	struct endpoint t;

	(void)state;
	must_take(BASICS("rc") ",\"qps\":[" QP(2049, 9, 3145728) "," QP(2048, 4294967295, -4096) "],\"slots\":1,\"pkey\":32769,"
		  "\"peer\":\"00000000000000000000ffff0a090001\","
		  "\"receive_bytes\":0,\"regions\":[{\"rkey\":4294967295,\"address\":-4096,\"bytes\":4096},"
		  "{\"rkey\":9,\"address\":3145728,\"bytes\":2097152}]}", &t);
	assert_int_equal(t.end.service, RDMA_RC);
	assert_int_equal(t.settings.first_qpn, 2048);
	assert_int_equal(t.settings.qps, 2);
	assert_memory_equal(t.settings.own, t.end.gid, 16);
	assert_int_equal(t.pkey, 0x8001);
	assert_true(t.has_peer);
	assert_memory_equal(t.peer, "\0\0\0\0\0\0\0\0\0\0\xff\xff\x0a\x09\0\x01", 16);
	assert_int_equal(t.receive_bytes, 0);
	assert_int_equal(t.regions, 2);
	assert_int_equal(endpoint_region(&t, 9)->index, 1);
	assert_int_equal(endpoint_region(&t, 9)->bytes, 2097152);
	assert_true(endpoint_region(&t, 0xffffffff)->va == 0xfffffffffffff000); /* up to the last address */
	assert_null(endpoint_region(&t, 10));
	assert_int_equal(endpoint_qp(&t, 2048)->rkey, 0xffffffff);
	assert_int_equal(endpoint_qp(&t, 2049)->rkey, 9);
	assert_null(endpoint_qp(&t, 2050));
	endpoint_free(&t);
}

/* One region has the shares of all QPs, with room between them. */
static void without_regions(void **state)
{
	const struct roce_region *r;
	struct endpoint t;

	(void)state;
	must_take(BASICS("uc") ",\"qps\":[" QP(17, 7, 65536) "," QP(19, 7, 16384) "," QP(20, 5, 0) "],\"slots\":2}", &t);
	assert_int_equal(t.settings.qps, 0);
	assert_int_equal(t.pkey, 0xffff);
	assert_false(t.has_peer);
	assert_int_equal(t.receive_bytes, ENDPOINT_UNKNOWN);
	assert_int_equal(t.regions, 2);
	r = endpoint_region(&t, 7);
	assert_true(r->va == 16384 && r->bytes == 65536 + 8192 - 16384 && r->index == 1);
	r = endpoint_region(&t, 5);
	assert_true(!r->va && r->bytes == 8192 && !r->index);
	endpoint_free(&t);
	must_take(ONE "}", &t); /* without slots: as both ends compute them */
	assert_int_equal(endpoint_region(&t, 4096)->bytes, 64 * 4096);
	endpoint_free(&t);
}

static void refused(void **state)
{
	static const struct {
		const char *line, *why;
	} wrong[] = {
		{ "{}", "\"transport\" is none of rc, uc, ud, xrc" },
		{ BASICS("xrc") ",\"qps\":[{\"qpn\":1,\"psn\":0,\"rkey\":1,\"address\":0,\"srq\":1}]}",
		  "\"transport\" is none of rc, uc, ud" },
		{ BASICS("uc") ",\"qps\":[]}", "\"qps\" is no array of 1 to 65535 QPs" },
		{ ONE ",\"pkey\":65536}", "\"pkey\" is no whole number from 0 to 65535" },
		{ ONE ",\"receive_bytes\":-1}", "\"receive_bytes\" is no whole number from 0 to 2147483648" },
		{ ONE ",\"peer\":\"10.9.0.1\"}", "\"peer\" is no 32 hexadecimal digits" },
		{ ONE ",\"slots\":0}", "\"slots\" is no whole number from 1 to 4294967295" },
		{ ONE ",\"regions\":[]}", "\"regions\" is no array of 1 to 4096 regions" },
		{ ONE ",\"regions\":{}}", "\"regions\" is no array of 1 to 4096 regions" },
		{ ONE ",\"regions\":[7]}", "\"rkey\" is no whole number from 0 to 4294967295" },
		{ ONE ",\"regions\":[{\"rkey\":1,\"address\":0,\"bytes\":0}]}", "\"bytes\" is no whole number from 1 to 9223372036854775807" },
		{ ONE ",\"regions\":[{\"rkey\":1,\"address\":-1,\"bytes\":2}]}", "a region of rkey 0x1 ends beyond the last address" },
		{ ONE ",\"regions\":[{\"rkey\":1,\"address\":0,\"bytes\":1},{\"rkey\":1,\"address\":9,\"bytes\":1}]}",
		  "\"regions\" has rkey 0x1 twice" },
		{ BASICS("uc") ",\"qps\":[" QP(2, 3, -4096) "],\"slots\":2}", "a region of rkey 0x3 ends beyond the last address" },
	};

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(wrong); i++) {
		char why[CONTROL_WHY] = "";
		struct endpoint t;

		if (take(wrong[i].line, &t, why) || strcmp(why, wrong[i].why))
			fail_msg("%s: %s", wrong[i].line, why);
		assert_true(!t.region && !t.end.qp);
	}
}

static void files(void **state)
{
	char path[] = "/tmp/told-XXXXXX";
	int fd = mkstemp(path);
	struct endpoint t;

	(void)state;
	assert_true(fd >= 0);
	/* what the receiver printed afterwards is not read */
	assert_true(dprintf(fd, ONE "}\n{\"role\": \"recv\"}\n") > 0);
	assert_int_equal(endpoint_read(path, &t), EXIT_RAN);
	endpoint_free(&t);
	assert_int_equal(ftruncate(fd, 40), 0);
	assert_int_equal(endpoint_read(path, &t), EXIT_USAGE);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(endpoint_read(path, &t), EXIT_USAGE);
	close(fd);
	unlink(path);
	assert_int_equal(endpoint_read(path, &t), EXIT_COULD_NOT);
	assert_int_equal(endpoint_read("/", &t), EXIT_COULD_NOT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_regions), cmocka_unit_test(without_regions), cmocka_unit_test(refused), cmocka_unit_test(files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
