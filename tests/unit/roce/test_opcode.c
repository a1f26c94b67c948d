// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The opcode table for all 256 opcodes, compared with one written from the specification. */
#include <string.h>

#include "roce/packet/parse.h"
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/ibta.h"

static __u32 expected_op(const struct ibta_opcode *o)
{
	static const struct {
		char letter;
		__u32 op;
	} meanings[] = {
		{ 'F', OP_FIRST }, { 'M', OP_MIDDLE }, { 'L', OP_LAST }, { 'O', OP_FIRST | OP_LAST },
		{ 'r', OP_RESPONSE }, { 'q', OP_READ_REQUEST }, { 'w', OP_ATOMIC_WRITE }, { 'a', OP_ACK }, { 'c', OP_CNP },
		{ 'Y', OP_RDETH }, { 'D', OP_DETH }, { 'X', OP_XRCETH }, { 'H', OP_FETH }, { 'R', OP_RETH },
		{ 'T', OP_ATOMICETH }, { 'A', OP_AETH }, { 't', OP_ATOMICACKETH }, { 'I', OP_IMMDT }, { 'V', OP_IETH },
	};
	__u32 op = o ? OP_KNOWN : 0;

	for (size_t i = 0; o && i < ROCE_ARRAY_SIZE(meanings); i++)
		if (strchr(o->what, meanings[i].letter))
			op |= meanings[i].op;
	return op;
}

static void every_opcode(void **state)
{
	(void)state;
	for (int opcode = 0; opcode < 256; opcode++) {
		const struct ibta_opcode *o = ibta_find(opcode);

		assert_int_equal(roce_opcodes[opcode], expected_op(o));
		assert_int_equal(parse_extension_bytes(roce_opcodes[opcode]), o ? o->bytes : 0);
	}
}

static void services_have_names(void **state)
{
	static const char *const names[] = { "RC", "UC", "RD", "UD", "CNP", "XRC", "?", "?" };

	(void)state;
	for (int service = 0; service < 8; service++)
		assert_string_equal(roce_service_name(service), names[service]);
	assert_string_equal(roce_service_name(SERVICE_UDP), "UDP");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_opcode),
		cmocka_unit_test(services_have_names),
	};

	return cmocka_run_group_tests_name("opcode", tests, NULL, NULL);
}
