// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Layouts of maps as text: the fields that two builds share. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "roce/packet/base.h"
#include "tests/unit/cmocka_includes.h"
#include "userspace/observe/live/layout.h"

#define OLD_BYTES 24
#define OLD "meaning 1\nsize 4 24\na 0 4 1\nlist 4 2 4\nb 12 8 1\nhole[] 20 2 2\nhole[].from 0 2 1\n"

static void moves_are(const char *old, const char *now, const struct layout_move *expected, size_t count)
{
	size_t found;
	struct layout_move *moves = layout_moves(old, now, OLD_BYTES, &found);

	assert_non_null(moves);
	assert_int_equal(found, count);
	assert_memory_equal(moves, expected, count * sizeof(*expected));
	free(moves);
}

static void by_name(void **state)
{
	const struct layout_move all[] = { { 0, 0, 4 }, { 4, 4, 8 }, { 12, 12, 8 }, { 20, 20, 4 } };
	const struct layout_move hole[] = { { 20, 0, 2 } };
	const struct layout_move others[] = { { 12, 0, 8 }, { 0, 16, 4 } };

	(void)state;
	moves_are(OLD, OLD, all, 4);
	moves_are(OLD, "meaning 1\nhole[] 0 2 1\nhole[].from 0 2 1\n", hole, 1);
	moves_are(OLD, "meaning 1\nhole[] 0 2 2\nhole[].to 0 2 1\n", NULL, 0); /* other structs in an array */
	moves_are(OLD, "meaning 1\nhole[] 0 2 2\nhole[].from 0 2 1\nhole[].to 0 2 1\n", NULL, 0);
	moves_are(OLD, "meaning 1\nsize 4 32\nb 0 8 1\nnew 8 8 1\na 16 4 1\n", others, 2);
	moves_are(OLD, "meaning 1\nsize 4 32\naa 0 4 1\n", NULL, 0);
	moves_are(OLD, "meaning 2\nsize 4 24\na 0 4 1\n", NULL, 0);
	moves_are("", OLD, NULL, 0);
}

/* Wider fields are padded, narrower ones may be too small. Of arrays, the elements that both have are copied. */
static void by_size(void **state)
{
	const struct layout_move wider[] = { { 0, 0, 4 } }, fewer[] = { { 4, 0, 4 } };

	(void)state;
	moves_are(OLD, "meaning 1\nsize 4 8\na 0 8 1\n", wider, 1);
	moves_are(OLD, "meaning 1\nsize 4 8\nb 0 4 1\n", NULL, 0);
	moves_are(OLD, "meaning 1\nsize 4 8\nlist 0 2 2\n", fewer, 1);
	moves_are(OLD, "meaning 1\nsize 4 8\nlist 0 4 4\n", NULL, 0);
}

/* A text that lies about its map reads nothing behind the map's values. */
static void beyond(void **state)
{
	const struct layout_move inside[] = { { 16, 0, 8 } };

	(void)state;
	moves_are("meaning 1\na 16 8 1\n", "meaning 1\na 0 8 1\n", inside, 1);
	moves_are("meaning 1\na 17 8 1\n", "meaning 1\na 0 8 1\n", NULL, 0);
	moves_are("meaning 1\na 4294967292 8 1\n", "meaning 1\na 0 8 1\n", NULL, 0);
}

static void sharing(void **state)
{
	const char *old = "meaning 1\nx.a 0 4 1\nx.h[] 4 2 2\nx.h[].f 0 2 1\ny 8 1 1\n";

	(void)state;
	assert_true(layout_shares(old, old, "x."));
	assert_true(layout_shares(old, "meaning 1\nx.a 4 4 1\nx.h[] 12 2 2\nx.h[].f 0 2 1\n", "x."));
	assert_false(layout_shares(old, "meaning 1\nx.a 4 4 1\nx.h[] 12 2 3\nx.h[].f 0 2 1\n", "x."));
	assert_false(layout_shares(old, "meaning 1\nx.a 4 4 1\nx.h[] 12 2 2\nx.h[].g 0 2 1\n", "x."));
	assert_false(layout_shares(old, "meaning 1\nx.a 4 4 1\n", "x."));
	assert_false(layout_shares(old, "meaning 1\nx.a 0 4 1\nx.b 8 4 1\nx.h[] 4 2 2\nx.h[].f 0 2 1\n", "x."));
	assert_false(layout_shares(old, "meaning 2\nx.a 0 4 1\nx.h[] 4 2 2\nx.h[].f 0 2 1\n", "x."));
	assert_true(layout_shares(old, "meaning 1\ny 0 1 1\n", "y"));
}

static void values(void **state)
{
	const uint8_t old[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
	const uint8_t expected[16] = { 5, 6, 7, 8, 0, 0, 0, 0, 1, 2, 3, 4 };
	uint8_t now[16] = { 0 };
	struct layout_move *moves;
	size_t count;

	(void)state;
	moves = layout_moves("meaning 1\na 0 4 1\nb 4 4 1\n", "meaning 1\nb 0 8 1\na 8 4 1\n", sizeof(old), &count);
	layout_move(moves, count, old, now);
	assert_memory_equal(now, expected, sizeof(now));
	free(moves);
}

static void reading(void **state)
{
	(void)state;
	assert_true(layout_reads(OLD, OLD));
	assert_true(layout_reads(OLD, OLD "kind new is bit 3\n"));
	assert_false(layout_reads(OLD "kind old is bit 3\n", OLD));
	assert_false(layout_reads(OLD, "meaning 1\nsize 4 24\na 0 4 1\nlist 4 2 4\nb 12 8 1\nhole[] 20 2 2\nhole[].from 1 2 1\n"));
	assert_false(layout_reads("meaning 1\na 0 4 1", "meaning 1\na 0 4 11\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_name), cmocka_unit_test(by_size),	cmocka_unit_test(values),
		cmocka_unit_test(reading), cmocka_unit_test(sharing),	cmocka_unit_test(beyond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
