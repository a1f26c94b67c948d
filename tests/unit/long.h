/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How much of a test to run. */
#ifndef TESTS_LONG_H
#define TESTS_LONG_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* `make test-long`: whole grids. */
static inline bool test_long(void)
{
	const char *how = getenv("TEST_LONG");

	return how && !strcmp(how, "1");
}

#endif
