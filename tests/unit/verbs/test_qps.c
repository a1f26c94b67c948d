// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Made-up listings, changes and entries of the kernel's map become QPs with a history. Times are numbers of seconds. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <infiniband/verbs.h>

#include "tests/unit/cmocka_includes.h"

#include "userspace/observe/verbs/qps.h"

#define S 1000000000ull
#define NOBODY 0x7ffffff0 /* no process has such a number */

static struct verbs_event events[64];
static struct verbs_qp of[64];
static size_t event_count;

static void tell(void *context, const struct verbs_event *e)
{
	(void)context;
	if (event_count < 64) {
		of[event_count] = *e->qp;
		events[event_count] = *e;
	}
	event_count++;
}

struct bed {
	struct qps *q;
	struct processes *processes;
	const struct qps_device *devices;
	struct host_qp list[16];
	size_t count;
	__u32 round;
};

static const struct qps_device devices[] = { { "rxe0", { "roce0" } }, { "rxe1", { "roce1" } } };

static void begin(struct bed *b, const struct qps_options *more)
{
	struct qps_options o = more ? *more : (struct qps_options){ 0 };

	*b = (struct bed){ .processes = processes_open() };
	o.tell = tell;
	o.processes = b->processes;
	b->q = qps_open(&o);
	assert_non_null(b->q);
	event_count = 0;
}

static void end(struct bed *b)
{
	qps_close(b->q);
	processes_close(b->processes);
}

static struct host_qp *listed(struct bed *b, const char *device, __u32 qpn, __u8 state)
{
	struct host_qp *qp = &b->list[b->count++];

	*qp = (struct host_qp){ .port = 1, .qpn = qpn, .type = IBV_QPT_RC, .state = state, .pid = NOBODY, .rq_psn = 1, .sq_psn = 2 };
	strcpy(qp->device, device);
	return qp;
}

/* A listing that began at this second, and took one. Without the kernel's half unless there was a round. */
static void take_listing(struct bed *b, __u64 second)
{
	qps_listed(b->q, &(struct qps_listing){ .list = b->list, .count = b->count, .begun = second * S, .ended = (second + 1) * S,
						.complete = true, .devices = devices, .device_count = 2, .round = b->round });
}

static void list(struct bed *b, __u64 second)
{
	take_listing(b, second);
	qps_end(b->q);
	b->count = 0;
}

static struct verbs_change made(enum verbs_change_kind kind, __u32 qpn, __u64 second, __u32 state)
{
	return (struct verbs_change){ .time = second * S, .born = 5 * S, .kind = kind, .pid = NOBODY, .owner = NOBODY, .qpn = qpn,
				      .comm = "perftest", .device = "rxe0",
				      .attributes = { .type = IBV_QPT_RC, .is_user = 1, .state = state, .port = 1 } };
}

static void change(struct bed *b, struct verbs_change c)
{
	qps_change(b->q, &c);
}

static void to_state(struct bed *b, __u32 qpn, __u64 second, __u32 before, __u32 state)
{
	struct verbs_change c = made(VERBS_MODIFIED, qpn, second, state);

	c.state_before = before;
	c.mask = IBV_QP_STATE;
	if (state == IBV_QPS_RTR) {
		c.mask |= IBV_QP_RQ_PSN | IBV_QP_DEST_QPN;
		c.attributes.rq_psn_first = 77;
		c.attributes.peer_qpn = 99;
		strcpy(c.attributes.interface, "eth7");
	}
	change(b, c);
}

static const struct verbs_qp *only(struct bed *b)
{
	const struct verbs_qp *const *list;

	assert_int_equal(qps_list(b->q, &list), 1);
	return list[0];
}

static void expect_event(size_t i, const char *name, __u64 second, bool by_netlink)
{
	assert_true(i < event_count);
	assert_string_equal(verbs_step_name(&events[i].step), name);
	assert_int_equal(events[i].step.time, second * S);
	assert_int_equal(events[i].step.by_netlink, by_netlink);
}

/* ---- changes alone ---- */

static void test_life(void **state)
{
	const struct verbs_qp *qp;
	struct verbs_change c;
	struct bed b;

	(void)state;
	begin(&b, NULL);
	change(&b, made(VERBS_CREATED, 17, 5, IBV_QPS_RESET));
	to_state(&b, 17, 6, IBV_QPS_RESET, IBV_QPS_INIT);
	c = made(VERBS_MODIFIED, 17, 7, IBV_QPS_INIT);
	c.mask = IBV_QP_STATE | IBV_QP_AV;
	c.error = -110;
	change(&b, c);
	to_state(&b, 17, 8, IBV_QPS_INIT, IBV_QPS_RTR);
	to_state(&b, 17, 9, IBV_QPS_RTR, IBV_QPS_RTS);
	qp = only(&b);
	assert_int_equal(qp->born, 5 * S);
	assert_int_equal(qp->first_seen, 5 * S);
	assert_int_equal(qp->state_since, 9 * S);
	assert_int_equal(qp->qp.state, IBV_QPS_RTS);
	assert_int_equal(qp->qp.pid, NOBODY);
	assert_string_equal(qp->qp.program, "perftest");
	assert_int_equal(qp->qp.rq_psn, 77);
	assert_int_equal(qp->qp.sq_psn, HOST_NO_PSN);
	c = made(VERBS_ASYNC, 17, 10, IBV_QPS_RTS);
	c.async_event = IBV_EVENT_COMM_EST;
	change(&b, c);
	c = made(VERBS_DESTROYED, 17, 11, IBV_QPS_RTS);
	c.exiting = 1;
	c.signal = 9;
	change(&b, c);
	qp = only(&b);
	assert_int_equal(qp->gone, 11 * S);
	assert_int_equal(qp->qp.state, HOST_QP_GONE);
	assert_true(qp->killed);
	assert_int_equal(qp->steps, 7);
	assert_int_equal(event_count, 7);
	expect_event(0, "created", 5, false);
	expect_event(1, "INIT", 6, false);
	expect_event(2, "refused", 7, false);
	assert_int_equal(events[2].step.error, -110);
	expect_event(3, "RTR", 8, false);
	assert_int_equal(of[3].qp.peer_qpn, 99);
	assert_string_equal(of[3].interface, "eth7");
	expect_event(4, "RTS", 9, false);
	assert_int_equal(events[4].step.state_before, IBV_QPS_RTR);
	expect_event(5, "COMM_EST", 10, false);
	expect_event(6, "destroyed", 11, false);
	assert_int_equal(events[6].step.signal, 9);
	assert_int_equal(events[6].step.pid, 0);
	assert_int_equal(events[6].step.state_before, IBV_QPS_RTS);
	end(&b);
}

/* The number is used again: another QP. Both are there, the old one first. */
static void test_number_again(void **state)
{
	const struct verbs_qp *const *list;
	struct verbs_change c;
	struct bed b;

	(void)state;
	begin(&b, NULL);
	change(&b, made(VERBS_CREATED, 17, 5, 0));
	change(&b, made(VERBS_DESTROYED, 17, 6, 0));
	c = made(VERBS_CREATED, 17, 7, 0);
	c.born = 7 * S;
	change(&b, c);
	assert_int_equal(qps_list(b.q, &list), 2);
	assert_int_equal(list[0]->gone, 6 * S);
	assert_false(list[0]->killed);
	assert_int_equal(list[1]->born, 7 * S);
	assert_int_equal(list[1]->gone, 0);
	/* and once more, where the record that it was destroyed is lost */
	c.time = c.born = 9 * S;
	change(&b, c);
	assert_int_equal(qps_list(b.q, &list), 3);
	assert_int_equal(list[1]->gone, 9 * S);
	assert_true(list[1]->history[1].by_netlink);
	assert_int_equal(list[2]->born, 9 * S);
	end(&b);
}

static void test_history_is_bounded(void **state)
{
	const struct verbs_qp *qp;
	struct bed b;

	(void)state;
	begin(&b, NULL);
	change(&b, made(VERBS_CREATED, 17, 5, 0));
	for (__u64 i = 0; i < 40; i++)
		to_state(&b, 17, 10 + i, i % 2, !(i % 2));
	qp = only(&b);
	assert_int_equal(qp->steps, VERBS_HISTORY);
	assert_int_equal(qp->steps_forgotten, 41 - VERBS_HISTORY);
	assert_int_equal(qp->history[VERBS_HISTORY - 1].time, 49 * S);
	assert_int_equal(qp->history[0].time, (50 - VERBS_HISTORY) * S);
	end(&b);
}

/* ---- netlink alone ---- */

static void test_netlink(void **state)
{
	const struct verbs_qp *qp;
	struct bed b;

	(void)state;
	begin(&b, NULL);
	listed(&b, "rxe0", 17, IBV_QPS_RTR);
	list(&b, 10);
	assert_int_equal(event_count, 0); /* what is older than us is no news */
	qp = only(&b);
	assert_int_equal(qp->first_seen, 11 * S);
	assert_int_equal(qp->born, 0);
	assert_int_equal(qp->state_since, 0);
	assert_string_equal(qp->interface, "roce0");
	assert_false(qp->psn_moved);
	listed(&b, "rxe0", 17, IBV_QPS_RTS)->sq_psn = 3;
	list(&b, 20);
	qp = only(&b);
	assert_true(qp->psn_moved);
	assert_int_equal(qp->state_since, 21 * S);
	expect_event(0, "RTS", 21, true);
	listed(&b, "rxe0", 17, IBV_QPS_RTS)->sq_psn = 3;
	listed(&b, "rxe1", 17, IBV_QPS_INIT);
	list(&b, 30);
	expect_event(1, "created", 31, true);
	assert_string_equal(of[1].qp.device, "rxe1");
	assert_string_equal(of[1].interface, "roce1");
	assert_int_equal(event_count, 2);
	/* the number is another process's; and one is gone */
	listed(&b, "rxe0", 17, IBV_QPS_RTS)->pid = NOBODY - 1;
	list(&b, 40);
	assert_int_equal(event_count, 5);
	expect_event(2, "destroyed", 41, true);
	expect_event(3, "created", 41, true);
	assert_int_equal(of[3].qp.pid, NOBODY - 1);
	expect_event(4, "destroyed", 41, true);
	assert_string_equal(of[4].qp.device, "rxe1");
	/* they are remembered for ten minutes */
	list(&b, 41 + 599);
	assert_int_equal(event_count, 6);
	list(&b, 41 + 600);
	assert_int_equal(only(&b)->qp.pid, NOBODY - 1);
	end(&b);
}

/* A device that does not answer is no news of its QPs. */
static void test_incomplete(void **state)
{
	struct bed b;

	(void)state;
	begin(&b, NULL);
	listed(&b, "rxe0", 17, IBV_QPS_RTS);
	list(&b, 10);
	qps_listed(b.q, &(struct qps_listing){ .begun = 20 * S, .ended = 21 * S, .devices = devices, .device_count = 2 });
	qps_end(b.q);
	assert_int_equal(event_count, 0);
	assert_int_equal(only(&b)->gone, 0);
	list(&b, 30);
	expect_event(0, "destroyed", 31, true);
	end(&b);
}

static void test_devices(void **state)
{
	static const char *const wanted[] = { "rxe1" };
	struct qps_options o = { .device = wanted, .device_count = 1 };
	struct bed b;

	(void)state;
	begin(&b, &o);
	listed(&b, "rxe0", 17, IBV_QPS_RTS);
	listed(&b, "rxe1", 18, IBV_QPS_RTS);
	list(&b, 10);
	change(&b, made(VERBS_CREATED, 30, 12, 0)); /* of rxe0 */
	assert_int_equal(only(&b)->qp.qpn, 18);
	assert_int_equal(event_count, 0);
	end(&b);
}

/* ---- both ---- */

/* What a record tells of the time since the listing began is newer than the listing. */
static void test_races(void **state)
{
	struct verbs_change c;
	struct bed b;

	(void)state;
	begin(&b, NULL);
	change(&b, made(VERBS_CREATED, 17, 5, 0));
	change(&b, made(VERBS_CREATED, 18, 5, 0));
	/* while it lists: 17 becomes INIT, 18 is destroyed, 19 is created behind the place that was listed, 20 not yet known */
	b.round = 1;
	listed(&b, "rxe0", 17, IBV_QPS_RESET);
	listed(&b, "rxe0", 18, IBV_QPS_RESET);
	to_state(&b, 17, 10, IBV_QPS_RESET, IBV_QPS_INIT);
	change(&b, made(VERBS_DESTROYED, 18, 10, 0));
	c = made(VERBS_CREATED, 19, 10, 0);
	c.born = 10 * S;
	change(&b, c);
	event_count = 0;
	list(&b, 10);
	assert_int_equal(event_count, 0);
	/* later all is as it is listed: 17 failed by itself, 19 is there */
	listed(&b, "rxe0", 17, IBV_QPS_ERR);
	listed(&b, "rxe0", 19, IBV_QPS_RESET);
	list(&b, 20);
	assert_int_equal(event_count, 1);
	expect_event(0, "ERR", 21, true);
	assert_int_equal(events[0].step.state_before, IBV_QPS_INIT);
	end(&b);
}

/* A QP that is being made is listed before its record is written: it is one QP, made once. */
static void test_listed_first(void **state)
{
	const struct verbs_qp *qp;
	struct verbs_change c;
	struct bed b;

	(void)state;
	begin(&b, NULL);
	b.round = 1;
	list(&b, 5);
	listed(&b, "rxe0", 17, IBV_QPS_RESET);
	b.round = 2;
	list(&b, 10);
	assert_int_equal(event_count, 0);
	c = made(VERBS_CREATED, 17, 12, 0);
	c.born = 11 * S;
	change(&b, c);
	assert_int_equal(event_count, 1);
	expect_event(0, "created", 12, false);
	qp = only(&b);
	assert_int_equal(qp->born, 11 * S);
	assert_int_equal(qp->gone, 0);
	/* that of a younger QP, in place of one that was listed before */
	listed(&b, "rxe0", 17, IBV_QPS_RESET);
	list(&b, 20);
	c.time = c.born = 22 * S;
	change(&b, c);
	assert_int_equal(event_count, 3);
	expect_event(1, "destroyed", 22, true);
	expect_event(2, "created", 22, false);
	end(&b);
}

static bool known(struct bed *b, __u32 qpn, __u64 born, __u32 state, __u32 round)
{
	struct verbs_qp_key key = { .device = 1, .qpn = qpn };
	struct verbs_kernel_qp v = { .born = born * S, .state_since = born * S, .pid = NOBODY, .query = round, .device = "rxe0",
				     .attributes = { .known = VERBS_KNOWS_MTU, .path_mtu = 1024, .type = IBV_QPT_RC, .is_user = 1,
						     .state = state } };

	return qps_known(b->q, &key, &v);
}

/* The kernel's map tells settings of what is older than us, and what was lost by the ring. */
static void test_map(void **state)
{
	const struct verbs_qp *const *all;
	struct bed b;

	(void)state;
	begin(&b, NULL);
	b.round = 7;
	listed(&b, "rxe0", 17, IBV_QPS_RTS);
	take_listing(&b, 10);
	assert_false(known(&b, 17, 0, IBV_QPS_RTS, 7));
	assert_true(known(&b, 40, 3, IBV_QPS_RTS, 6));	 /* it ended where no program of ours was */
	assert_false(known(&b, 41, 12, IBV_QPS_RTS, 6)); /* its record comes */
	qps_end(b.q);
	assert_int_equal(only(&b)->attributes.path_mtu, 1024);
	assert_int_equal(only(&b)->born, 0);
	assert_int_equal(event_count, 0);
	/* 18 was created and became INIT, and both records were lost */
	listed(&b, "rxe0", 17, IBV_QPS_RTS);
	b.count = 1;
	qps_listed(b.q, &(struct qps_listing){ .list = b.list, .count = 1, .begun = 20 * S, .ended = 21 * S, .complete = true,
					       .devices = devices, .device_count = 2, .round = 8, .has_lost = true });
	assert_false(known(&b, 17, 0, IBV_QPS_RTS, 8));
	assert_false(known(&b, 18, 20, IBV_QPS_INIT, 7));
	qps_end(b.q);
	assert_int_equal(event_count, 2);
	expect_event(0, "created", 20, false);
	expect_event(1, "INIT", 20, false);
	assert_int_equal(qps_list(b.q, &all), 2);
	assert_int_equal(all[1]->born, 20 * S);
	assert_int_equal(all[1]->qp.state, IBV_QPS_INIT);
	end(&b);
}

/* In a container netlink hides QPs that the kernel's half sees: they are not gone for that, and not of our processes. */
static void test_hidden(void **state)
{
	struct qps_options o = { .hidden = true };
	struct bed b;

	(void)state;
	begin(&b, &o);
	b.round = 1;
	change(&b, made(VERBS_CREATED, 17, 5, 0));
	take_listing(&b, 10);
	assert_false(known(&b, 17, 5, 0, 0));
	qps_end(b.q);
	assert_int_equal(only(&b)->gone, 0);
	assert_int_equal(only(&b)->qp.pid, 0);
	take_listing(&b, 20); /* the map has it no more */
	qps_end(b.q);
	assert_int_equal(only(&b)->gone, 21 * S);
	end(&b);
}

/* ---- many ---- */

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static long resident_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

static struct host_qp *many(size_t count)
{
	struct host_qp *list = calloc(count, sizeof(*list));

	for (size_t i = 0; i < count; i++)
		list[i] = (struct host_qp){ .device = "rxe0", .port = 1, .qpn = 16 + i, .type = IBV_QPT_RC, .state = IBV_QPS_RTS,
					    .pid = NOBODY - i / 1000, .sq_psn = 5 };
	return list;
}

/*
 * As many QPs as are taken, and one more. Then all go at once, and few of them are remembered. What it takes, with the sanitizers, is
 * printed.
 */
static void test_many(void **state)
{
	struct host_qp *list = many(VERBS_QPS + 1);
	struct qps_listing l = { .list = list, .count = VERBS_QPS + 1, .complete = true, .devices = devices, .device_count = 2 };
	const struct verbs_qp *const *all;
	long before = resident_kib();
	struct bed b;
	double took;

	(void)state;
	begin(&b, NULL);
	for (__u64 i = 0; i < 3; i++) {
		l.begun = (10 + i) * S;
		l.ended = l.begun + S / 2;
		took = cpu_seconds();
		processes_begin(b.processes);
		qps_listed(b.q, &l);
		qps_end(b.q);
		assert_int_equal(qps_list(b.q, &all), VERBS_QPS);
		took = cpu_seconds() - took;
		printf("# %d QPs: reading %llu took %.3f s, memory %.1f MiB\n", VERBS_QPS, i, took, (resident_kib() - before) / 1024.0);
		assert_int_equal(qps_refused(b.q), i + 1);
	}
	assert_int_equal(all[0]->qp.qpn, 16);
	assert_int_equal(all[VERBS_QPS - 1]->qp.qpn, 15 + VERBS_QPS);
	assert_int_equal(event_count, 0);
	l.count = 0;
	for (__u64 i = 0; i < 2; i++) {
		l.begun = (20 + i) * S;
		l.ended = l.begun + S / 2;
		qps_listed(b.q, &l);
		qps_end(b.q);
	}
	assert_int_equal(event_count, VERBS_QPS);
	assert_int_equal(qps_list(b.q, &all), QPS_GONE);
	end(&b);
	free(list);
}

/* A child that waits to be killed. like: the number that it should have, which is free; 0: any. */
static pid_t child(pid_t like)
{
	FILE *f = like ? fopen("/proc/sys/kernel/ns_last_pid", "we") : NULL;
	pid_t pid;

	if (f && fprintf(f, "%d", like - 1) > 0)
		fflush(f);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	if (f)
		fclose(f);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Another process may take the number first, and end. 0: nobody can choose it. */
static pid_t child_with(pid_t number)
{
	for (int i = 0; i < 100; i++) {
		pid_t pid = child(number);

		if (pid == number)
			return pid;
		end_child(pid);
	}
	return 0;
}

/* A process gets the number of one that has ended, and makes a QP of the same number: netlink alone must tell them apart. */
static void test_process_again(void **state)
{
	pid_t first = child(0), second;
	struct bed b;

	(void)state;
	begin(&b, NULL);
	list(&b, 9);
	listed(&b, "rxe0", 17, IBV_QPS_RTS)->pid = first;
	list(&b, 10);
	listed(&b, "rxe0", 17, IBV_QPS_RTS)->pid = first;
	processes_begin(b.processes);
	list(&b, 20);
	assert_int_equal(event_count, 1);
	end_child(first);
	usleep(3000000 / sysconf(_SC_CLK_TCK)); /* starts are known in whole ticks */
	second = child_with(first);
	if (!second) {
		end(&b);
		skip();
	}
	listed(&b, "rxe0", 17, IBV_QPS_RTS)->pid = second;
	processes_begin(b.processes);
	list(&b, 30);
	expect_event(1, "destroyed", 31, true);
	expect_event(2, "created", 31, true);
	end_child(second);
	end(&b);
}

/* Of those that are gone, so many are remembered, the newest ones. */
static void test_many_gone(void **state)
{
	const struct verbs_qp *const *all;
	struct verbs_change c;
	struct bed b;

	(void)state;
	begin(&b, NULL);
	for (__u32 i = 0; i < 3 * QPS_GONE; i++) {
		event_count = 0;
		c = made(VERBS_CREATED, 100 + i, 5, 0);
		change(&b, c);
		c = made(VERBS_DESTROYED, 100 + i, 6 + i, 0);
		change(&b, c);
	}
	assert_int_equal(qps_list(b.q, &all), QPS_GONE);
	assert_int_equal(all[0]->qp.qpn, 100 + 2 * QPS_GONE);
	end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_life),
		cmocka_unit_test(test_number_again),
		cmocka_unit_test(test_history_is_bounded),
		cmocka_unit_test(test_netlink),
		cmocka_unit_test(test_process_again),
		cmocka_unit_test(test_incomplete),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_races),
		cmocka_unit_test(test_listed_first),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_many_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
