// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where a function can be probed without being stepped over, and where an address lies in the files of a process. */
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/cmocka_includes.h"
#include "userspace/observe/verbs/search.h"

struct code {
	const char *bytes;
	size_t length;
	int place;
};

#define CODE(bytes, place) { bytes, sizeof(bytes) - 1, place }

static void test_places(void **state)
{
	static const struct code codes[] = {
		CODE("\x55\x48\x89\xe5", 0),		 /* push %rbp */
		CODE("\x41\x57\x41\x56", 0),		 /* push %r15 */
		CODE("\xf3\x0f\x1e\xfa\x55\x48", 4),	 /* endbr64; push %rbp */
		CODE("\xf3\x0f\x1e\xfa\x41\x54", 4),	 /* endbr64; push %r12 */
		CODE("\xf3\x0f\x1e\xfa\x48\x89\xf8", -1), /* endbr64; mov %rdi, %rax */
		CODE("\xf3\x0f\x1e\xfa", -1),		 /* cut behind endbr64 */
		CODE("\x48\x83\xec\x08", -1),		 /* sub $8, %rsp */
		CODE("\x31\xc0\xc3", -1),		 /* xor %eax, %eax */
		CODE("\xe9\x01\x02\x03\x04", 0),	 /* jmp */
		CODE("\x0f\x84\x01\x02\x03\x04", 0),	 /* je */
		CODE("\x0f\x1f\x44\x00\x00", -1),	 /* nop of five bytes */
		CODE("", -1),
	};

	(void)state;
#ifndef __x86_64__
	skip();
#endif
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
		assert_int_equal(search_cheap_place((const __u8 *)codes[i].bytes, codes[i].length), codes[i].place);
}

static void test_own_code(void **state)
{
	const struct search_code *code;
	struct search s;

	(void)state;
	assert_true(search_code(getpid(), &s));
	code = search_where(&s, (uintptr_t)test_places);
	assert_non_null(code);
	assert_true(code->start <= (uintptr_t)test_places && (uintptr_t)test_places < code->end);
	assert_null(search_where(&s, 16));
	search_free(&s);
}

/* Two operations at one address are none of both; the same one twice is one function. */
static void test_functions(void **state)
{
	__u64 address = (uintptr_t)test_places;
	struct search s;

	(void)state;
	assert_true(search_code(getpid(), &s));
	search_add(&s, address, VERBS_AT_WR, 2);
	search_add(&s, address, VERBS_AT_WR, 2);
	search_add(&s, address, VERBS_AT_POLL_CQ, 0);
	search_add(&s, 16, VERBS_AT_POLL_CQ, 0);
	assert_int_equal(s.count, 2);
	assert_int_equal(s.functions[0].opcode, 2);
	search_add(&s, address, VERBS_AT_WR, 3);
	assert_int_equal(s.functions[0].opcode, VERBS_OPCODES);
	search_free(&s);
}

/* A process without devices has no context; one that is not there cannot be read. */
static void test_nothing(void **state)
{
	struct search_limits limits = SEARCH_LIMITS;
	struct search s;

	(void)state;
	assert_false(search_process(getpid(), &limits, &s));
	assert_int_equal(s.contexts, 0);
	search_free(&s);
	assert_false(search_process(0x7fffffff, &limits, &s));
	assert_int_not_equal(s.error, 0);
	search_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_own_code),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
