// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The graph of causes and consequences (userspace/diagnose/finding/finding.def): its form,
	and what follows from it for symptoms. */
#include <string.h>

#include "tests/unit/cmocka_includes.h"
#include "userspace/diagnose/doctor/causes.h"

#define NODES (FINDING_KINDS + 1) /* the last one: wrong_icrc */
#define WRONG_ICRC FINDING_KINDS

static const bool alone[FINDING_KINDS] = {
#define FINDING(...)
#define ALONE(finding) [KIND_##finding] = true,
#include "userspace/diagnose/finding/finding.def"
#undef FINDING
};

static bool names(int kind_or_group, int node)
{
	return node == WRONG_ICRC ? kind_or_group == KIND_wrong_icrc : finding_is(kind_or_group, node);
}

static bool leads(const struct explains *e, int from, int to)
{
	return from != to && names(e->cause, from) && names(e->consequence, to);
}

static const char *name_of(int node)
{
	return node == WRONG_ICRC ? "wrong_icrc" : finding_rules[node].name;
}

/* ---- the form ---- */

enum { WHITE, ON_THE_WAY, DONE };

static void walk(int node, int *state)
{
	state[node] = ON_THE_WAY;
	for (size_t i = 0; i < explains_count; i++)
		for (int to = 0; to < NODES; to++) {
			if (!leads(&explains[i], node, to) || state[to] == DONE)
				continue;
			if (state[to] == ON_THE_WAY)
				fail_msg("a circle: %s explains %s", name_of(node), name_of(to));
			walk(to, state);
		}
	state[node] = DONE;
}

static void test_no_circle(void **unused)
{
	int state[NODES] = { WHITE };

	(void)unused;
	for (int node = 0; node < NODES; node++)
		if (state[node] == WHITE)
			walk(node, state);
}

static void test_every_finding_has_a_place(void **unused)
{
	(void)unused;
	for (int kind = 0; kind < FINDING_KINDS; kind++) {
		bool placed = false;

		for (size_t i = 0; i < explains_count; i++)
			placed |= names(explains[i].cause, kind) || names(explains[i].consequence, kind);
		if (finding_rules[kind].class == CLASS_HINT ? placed || alone[kind] : placed == alone[kind])
			fail_msg("%s: EXPLAINS or ALONE, one of both", name_of(kind));
	}
}

static void test_lines(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < explains_count; i++) {
		const struct explains *e = &explains[i];

		assert_true(e->consequence < KIND_sure_ICRC); /* what is explained is so however many packets show it */
		assert_true(e->where == WHERE_STREAM || e->cause < FINDING_KINDS);
		for (size_t k = 0; k < i; k++)
			if (explains[k].cause == e->cause && explains[k].consequence == e->consequence && explains[k].where == e->where)
				fail_msg("twice: %d explains %d", e->cause, e->consequence);
	}
}

/* ---- symptoms ---- */

static struct roce_key stream(int src, int dst, int qpn)
{
	struct roce_key k = { .qpn = qpn, .kind = KEY_CONNECTED };

	k.src[15] = src;
	k.dst[15] = dst;
	return k;
}

static struct symptom *add(struct symptoms *s, int kind, __u64 packets)
{
	struct symptom *symptom = symptoms_get(s, kind);

	assert_non_null(symptom);
	symptom->packets = packets;
	return symptom;
}

/* Whether both in one stream give: the cause alone is unexplained, and the consequence is explained by it. */
static void check_stream(int cause, int consequence)
{
	struct roce_key key = stream(1, 2, 3);
	struct symptoms s = { 0 };
	struct symptom *found;

	add(&s, consequence, 9);
	if (cause != WRONG_ICRC)
		add(&s, cause, FINDING_PACKETS);
	causes_explain(NULL, &s, &key, cause == WRONG_ICRC);
	found = symptoms_find(&s, consequence);
	if (found->cause_count != 1 || found->root != (cause == WRONG_ICRC ? KIND_wrong_icrc : cause))
		fail_msg("%s does not explain %s", name_of(cause), name_of(consequence));
	if (cause != WRONG_ICRC)
		assert_int_equal(symptoms_find(&s, cause)->cause_count, 0);
	symptoms_free(&s);
}

/* The cause in the stream `from`. Returns whether it explains the consequence in the stream `in`. */
static bool explained_elsewhere(int cause, int consequence, struct roce_key from, struct roce_key in, __u64 packets)
{
	struct symptom by = { .kind = cause, .packets = packets };
	struct causes elsewhere;
	struct symptoms s = { 0 };
	bool explained;

	add(&s, consequence, 9);
	causes_init(&elsewhere);
	causes_note(&elsewhere, &by, &from);
	causes_explain(&elsewhere, &s, &in, false);
	explained = s.list[0].cause_count == 1 && s.list[0].root == cause;
	causes_free(&elsewhere);
	symptoms_free(&s);
	return explained;
}

static void check_elsewhere(const struct explains *e, int consequence)
{
	bool host = e->where == WHERE_HOST;

	assert_true(explained_elsewhere(e->cause, consequence, stream(1, 2, 3), stream(1, 2, 4), 3));
	assert_true(explained_elsewhere(e->cause, consequence, stream(1, 2, 3), stream(2, 1, 4), 3));
	assert_int_equal(explained_elsewhere(e->cause, consequence, stream(1, 2, 3), stream(1, 5, 4), 3), host);
	assert_int_equal(explained_elsewhere(e->cause, consequence, stream(1, 2, 3), stream(5, 1, 4), 3), host);
	assert_false(explained_elsewhere(e->cause, consequence, stream(1, 2, 3), stream(5, 2, 4), 3));
	assert_int_equal(explained_elsewhere(e->cause, consequence, stream(1, 2, 3), stream(1, 2, 4), 1), !host);
}

static void test_every_line(void **unused)
{
	(void)unused;
	for (size_t i = 0; i < explains_count; i++) {
		const struct explains *e = &explains[i];

		for (int from = 0; from < NODES; from++)
			for (int to = 0; to < FINDING_KINDS; to++)
				if (leads(e, from, to) && e->where == WHERE_STREAM)
					check_stream(from, to);
				else if (leads(e, from, to))
					check_elsewhere(e, to);
	}
}

static void test_one_stream_hides_no_other(void **unused)
{
	struct roce_key key = stream(1, 2, 4);
	struct causes elsewhere;
	struct symptoms s = { 0 };

	(void)unused;
	causes_init(&elsewhere);
	causes_note(&elsewhere, &(struct symptom){ .kind = KIND_rnr, .packets = 100 }, &(struct roce_key){ .src = { 1 },
													  .dst = { 2 } });
	add(&s, KIND_loss, 5);
	add(&s, KIND_reorder, 5);
	causes_explain(&elsewhere, &s, &key, false);
	for (size_t i = 0; i < s.count; i++)
		assert_int_equal(s.list[i].cause_count, 0);
	symptoms_free(&s);
	causes_free(&elsewhere);
}

static void test_chain(void **unused)
{
	struct roce_key key = stream(1, 2, 3);
	struct symptoms s = { 0 };
	const struct symptom *found;

	(void)unused;
	add(&s, KIND_retransmission, 5);
	add(&s, KIND_no_response, 5);
	add(&s, KIND_no_ackreq, 5);
	causes_explain(NULL, &s, &key, false);
	assert_int_equal(symptoms_find(&s, KIND_no_response)->root, KIND_no_ackreq);
	found = symptoms_find(&s, KIND_retransmission);
	assert_int_equal(found->root, KIND_no_ackreq);
	assert_int_equal(found->cause_count, 2);
	assert_false(found->part);
	symptoms_free(&s);

	/* a torn message that is there only because PSNs count wrong refuses nothing */
	add(&s, KIND_psn_constant, 5);
	add(&s, KIND_missing_last, 5);
	add(&s, KIND_refused_length, 5);
	causes_explain(NULL, &s, &key, false);
	assert_int_equal(symptoms_find(&s, KIND_missing_last)->root, KIND_psn_constant);
	assert_int_equal(symptoms_find(&s, KIND_refused_length)->cause_count, 0);
	symptoms_free(&s);
}

static void test_doubt_and_parts(void **unused)
{
	struct roce_key key = stream(1, 2, 3);
	struct symptoms s = { 0 };

	(void)unused;
	add(&s, KIND_retransmission, 5);
	add(&s, KIND_loss, 5)->doubted = true;
	causes_explain(NULL, &s, &key, false);
	assert_int_equal(symptoms_find(&s, KIND_retransmission)->cause_count, 0);
	symptoms_find(&s, KIND_loss)->doubted = false;
	causes_explain(NULL, &s, &key, false);
	assert_true(symptoms_find(&s, KIND_retransmission)->part);
	add(&s, KIND_no_response, 5);
	causes_explain(NULL, &s, &key, false);
	assert_false(symptoms_find(&s, KIND_retransmission)->part);
	/* of a class: too few packets */
	add(&s, KIND_ttl_zero, FINDING_PACKETS - 1);
	causes_explain(NULL, &s, &key, false);
	assert_int_equal(symptoms_find(&s, KIND_no_response)->cause_count, 0);
	symptoms_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_circle),
		cmocka_unit_test(test_every_finding_has_a_place),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_every_line),
		cmocka_unit_test(test_one_stream_hides_no_other),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_doubt_and_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
