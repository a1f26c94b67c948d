// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Kernels that do not tell the types of their RDMA core, or other ones: each is said, and netlink is left. The types are made up: these
 * functions stand in for those of libbpf and libc.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "tests/unit/cmocka_includes.h"

#include "userspace/observe/verbs/kernel.h"

static const char *const needed[] = { "ib_create_qp_user", "ib_modify_qp_with_udata", "ib_destroy_qp_user", "ib_query_qp" };

#define NEEDED (sizeof(needed) / sizeof(*needed))

static bool kernel_has_types, core_is_module, core_has_types;
static size_t functions; /* so many of `needed` */

static struct btf *types(void)
{
	struct btf *b = btf__new_empty();
	int prototype = btf__add_func_proto(b, 0);

	for (size_t i = 0; i < functions; i++)
		assert_true(btf__add_func(b, needed[i], BTF_FUNC_GLOBAL, prototype) > 0);
	return b;
}

static struct btf *none(void)
{
	errno = ENOENT;
	return NULL;
}

struct btf *btf__load_vmlinux_btf(void)
{
	return kernel_has_types ? types() : none();
}

struct btf *btf__load_module_btf(const char *name, struct btf *kernel)
{
	(void)kernel;
	return core_has_types && !strcmp(name, "ib_core") ? types() : none();
}

int libbpf_probe_bpf_prog_type(enum bpf_prog_type type, const void *options)
{
	(void)type, (void)options;
	return 1;
}

int access(const char *path, int mode)
{
	(void)mode;
	return core_is_module && !strcmp(path, "/sys/module/ib_core/initstate") ? 0 : -1;
}

/* The only note has these words, and nothing is loaded. */
static void expect_note(const char *words)
{
	static const struct calls_half no_calls;
	struct kernel_half k = { 0 };
	struct notes notes = { 0 };

	kernel_half_load(&k, &no_calls, &notes);
	assert_null(k.programs);
	assert_int_equal(notes.count, 1);
	if (!strstr(notes.lines[0], words) || !strstr(notes.lines[0], "by RDMA netlink alone"))
		fail_msg("%s, and not %s", notes.lines[0], words);
	notes_free(&notes);
}

static void test_no_types(void **state)
{
	(void)state;
	kernel_has_types = core_is_module = core_has_types = false;
	expect_note("This kernel has no BTF");
}

/* A vendor's own build, or a kernel without CONFIG_DEBUG_INFO_BTF_MODULES: the kernel itself may have functions of those names. */
static void test_no_types_of_module(void **state)
{
	(void)state;
	kernel_has_types = core_is_module = true;
	core_has_types = false;
	functions = NEEDED;
	expect_note("The module ib_core has no BTF that fits this kernel");
}

static void test_function_missing(void **state)
{
	(void)state;
	kernel_has_types = core_is_module = core_has_types = true;
	for (functions = 0; functions < NEEDED; functions++)
		expect_note(functions < 3 ? needed[functions] : "ib_query_qp");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_types),
		cmocka_unit_test(test_no_types_of_module),
		cmocka_unit_test(test_function_missing),
	};

	if (geteuid()) /* otherwise all that is said is that the caller may not load programs */
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
