// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The reader of records: order, losses, posting, and a writer that overwrites what is read. */
#include <pthread.h>
#include <sched.h>

#include "tests/unit/receive/receiver.h"

/* Before each word that the reader loads, the test may let the writer work. */
static void before_load(void);
#define __atomic_load_n(from, order) (before_load(), __atomic_load_n(from, order))
#include "userspace/traffic/receive/reader.c"
#undef __atomic_load_n

#define CPUS 2
#define QPS 4

static struct test_receiver *receiver;
static struct receive_reader reader;

static void begin(bool oldest, bool posts)
{
	receiver = receiver_new(CPUS, QPS, RECEIVE_CHUNK, 4096);
	assert_true(receive_reader_open(&reader, &receiver->maps, oldest, posts));
}

static void end(void)
{
	receive_reader_close(&reader);
	receiver_free(receiver);
}

/* All of a record follows from its number. */
static struct receive_record made(__u32 cpu, __u64 number)
{
	__u32 x = number * 2654435761u + cpu;

	return (struct receive_record){ .number = number, .time = ~number, .at = number * 3, .receive = number - 1, .length = x,
					.placed = ~x, .first_psn = x * 3, .last_psn = x * 5, .immediate = x * 7, .generation = x * 9,
					.qp = cpu, .region = x, .flags = MESSAGE_IMMEDIATE, .reserved = x >> 8 };
}

static void write_records(__u32 cpu, __u64 count)
{
	while (count--) {
		struct receive_record record = made(cpu, receiver->rings[cpu].head + 1);

		receiver_record(receiver, cpu, &record, NULL);
	}
}

static void is_right(const struct receive_record *record)
{
	struct receive_record right = made(record->qp, record->number);

	assert_memory_equal(record, &right, sizeof(right));
}

static void in_order_and_fair(void **state)
{
	__u64 last[CPUS] = { 0 };
	struct receive_record record;

	(void)state;
	begin(false, false);
	write_records(0, 1000);
	write_records(1, 10);
	for (int i = 0; i < 1010; i++) {
		assert_true(receive_reader_next(&reader, &record, 0));
		is_right(&record);
		assert_int_equal(record.number, last[record.qp] + 1);
		last[record.qp]++;
		/* a ring has at most 64 records before it is the other one's turn */
		assert_true(i < 64 + 10 || last[1] == 10);
	}
	assert_false(receive_reader_next(&reader, &record, 0));
	assert_int_equal(reader.lost, 0);
	end();
}

static void begins_where_it_is_told(void **state)
{
	struct receive_record record;
	struct receive_reader oldest;

	(void)state;
	begin(false, false);
	write_records(0, 5);
	assert_true(receive_reader_open(&oldest, &receiver->maps, true, false));
	assert_true(receive_reader_next(&oldest, &record, 0));
	assert_int_equal(record.number, 1);
	receive_reader_close(&oldest);
	assert_true(receive_reader_open(&oldest, &receiver->maps, false, false));
	assert_false(receive_reader_next(&oldest, &record, 0));
	receive_reader_close(&oldest);
	write_records(0, 2 * RECEIVE_RECORDS);
	assert_true(receive_reader_open(&oldest, &receiver->maps, true, false));
	assert_true(receive_reader_next(&oldest, &record, 0));
	assert_in_range(record.number, RECEIVE_RECORDS + 6, RECEIVE_RECORDS + 6 + 1000);
	assert_int_equal(oldest.lost, 0);
	receive_reader_close(&oldest);
	end();
}

static __u64 read_all(void)
{
	struct receive_record record;
	__u64 count = 0;

	while (receive_reader_next(&reader, &record, 0)) {
		is_right(&record);
		count++;
	}
	return count;
}

static void overwritten_ones_are_counted(void **state)
{
	static const __u64 written[] = { RECEIVE_RECORDS, RECEIVE_RECORDS + 1, 3 * RECEIVE_RECORDS, 10 * RECEIVE_RECORDS + 17 };

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(written); i++) {
		__u64 count;

		begin(false, false);
		write_records(1, written[i]);
		count = read_all();
		assert_int_equal(count + reader.lost, written[i]);
		assert_true(count <= RECEIVE_RECORDS && count >= RECEIVE_RECORDS - 1000);
		assert_true(!reader.lost == (written[i] <= RECEIVE_RECORDS));
		end();
	}
}

/* A record that is being written is no record yet, and the one in its place is none any more. */
static void half_written(void **state)
{
	struct receive_record record;

	(void)state;
	begin(false, false);
	receiver->rings[0].record[0] = made(0, 1);
	receiver->rings[0].record[0].number = 0;
	assert_false(receive_reader_next(&reader, &record, 0));
	receiver->rings[0].record[0].number = 1;
	receiver->rings[0].head = 1;
	assert_true(receive_reader_next(&reader, &record, 0));
	reader.next[0] = 0; /* again, as a reader that has not come here yet */
	write_records(0, RECEIVE_RECORDS - 1);
	receiver->rings[0].record[0].number = 0;
	assert_int_equal(read_all() + reader.lost, RECEIVE_RECORDS);
	assert_true(reader.lost > 0);
	end();
}

/* ---- a writer between two loads of the reader ---- */

static int loads_left = -1; /* until the writer works; -1: it does not */
static __u64 records_then;

static void before_load(void)
{
	if (loads_left < 0 || loads_left--)
		return;
	write_records(0, records_then);
}

/* Reads all while `records` are written before the load-th word is loaded. */
static void interrupt(__u64 before, __u64 records, int load)
{
	struct receive_record record;
	__u64 count = 0;

	begin(false, false);
	write_records(0, before);
	records_then = records;
	loads_left = load;
	for (int i = 0; i < 3; i++)
		while (receive_reader_next(&reader, &record, 0)) {
			is_right(&record);
			count++;
		}
	assert_int_equal(loads_left, -1);
	assert_int_equal(count + reader.lost, before + records);
	if (before + records <= RECEIVE_RECORDS)
		assert_int_equal(reader.lost, 0);
	end();
}

static void overwritten_between_two_words(void **state)
{
	(void)state;
	for (int load = 0; load < 16; load++) {
		interrupt(1, RECEIVE_RECORDS, load);
		interrupt(RECEIVE_RECORDS, 1, load);
		interrupt(RECEIVE_RECORDS, 3 * RECEIVE_RECORDS, load);
	}
}

static void written_between_two_words(void **state)
{
	(void)state;
	for (int load = 0; load < 6; load++) {
		interrupt(0, 1, load);
		interrupt(0, 3, load);
	}
	for (int load = 0; load < 55; load++)
		interrupt(5, 7, load);
}

/* ---- a writer beside the reader ---- */

#define LAPS 60

static bool reader_lags; /* the reader waits until it has been overtaken */

static void pause_sometimes(void)
{
	static unsigned int n;

	if (++n % 1021 == 0)
		sched_yield();
}

static void *write_on(void *cpu_p)
{
	__u32 cpu = *(__u32 *)cpu_p;

	for (__u64 n = 1; n <= LAPS * RECEIVE_RECORDS; n++) {
		struct receive_record record = made(cpu, n);

		receiver_record(receiver, cpu, &record, pause_sometimes);
		/* keeps close to the reader, so that it reads what is being overwritten */
		while (n % 512 == 0 && !__atomic_load_n(&reader_lags, __ATOMIC_ACQUIRE) &&
		       n > __atomic_load_n(&reader.next[cpu], __ATOMIC_ACQUIRE) + RECEIVE_RECORDS)
			sched_yield();
	}
	return NULL;
}

/* Waits until the writer has overtaken the reader, or is done. */
static void lag(__u32 cpu)
{
	const __u64 *head = &receiver->rings[cpu].head;

	__atomic_store_n(&reader_lags, true, __ATOMIC_RELEASE);
	while (__atomic_load_n(head, __ATOMIC_ACQUIRE) < LAPS * RECEIVE_RECORDS &&
	       __atomic_load_n(head, __ATOMIC_ACQUIRE) <= reader.next[cpu] + RECEIVE_RECORDS)
		sched_yield();
	__atomic_store_n(&reader_lags, false, __ATOMIC_RELEASE);
}

static void overwritten_while_it_reads(void **state)
{
	static __u32 cpu[CPUS] = { 0, 1 };
	__u64 last[CPUS] = { 0 }, count = 0;
	struct receive_record record;
	pthread_t writer[CPUS];

	(void)state;
	begin(false, false);
	for (int i = 0; i < CPUS; i++)
		assert_int_equal(pthread_create(&writer[i], NULL, write_on, &cpu[i]), 0);
	while (count + reader.lost < CPUS * LAPS * RECEIVE_RECORDS) {
		if (!receive_reader_next(&reader, &record, 1))
			continue;
		is_right(&record);
		assert_true(record.number > last[record.qp]);
		last[record.qp] = record.number;
		if (++count % (3 * RECEIVE_RECORDS) == 0)
			lag(count & 1);
	}
	for (int i = 0; i < CPUS; i++)
		pthread_join(writer[i], NULL);
	assert_int_equal(read_all(), 0);
	assert_int_equal(count + reader.lost, CPUS * LAPS * RECEIVE_RECORDS);
	assert_true(reader.lost > 0 && count > RECEIVE_RECORDS);
	print_message("%llu read, %llu lost\n", (unsigned long long)count, (unsigned long long)reader.lost);
	end();
}

static void *write_one(void *unused)
{
	(void)unused;
	write_records(1, 1);
	return NULL;
}

static void waits_for_one(void **state)
{
	struct receive_record record;
	pthread_t writer;

	(void)state;
	begin(false, false);
	assert_false(receive_reader_next(&reader, &record, 1));
	assert_int_equal(pthread_create(&writer, NULL, write_one, NULL), 0);
	assert_true(receive_reader_next(&reader, &record, -1));
	is_right(&record);
	pthread_join(writer, NULL);
	end();
}

/* ---- posting ---- */

static void use(__u32 qp, __u8 flags)
{
	struct roce_responder *q = &receiver->qps[qp].responder;
	struct receive_record record = { .qp = qp, .receive = q->receives, .flags = flags };

	q->receives += !(flags & MESSAGE_INCOMPLETE);
	receiver_record(receiver, 0, &record, NULL);
}

static __u64 posted(__u32 qp)
{
	return receiver->qps[qp].posted;
}

static void begin_posting(bool posts)
{
	begin(false, posts);
	for (int i = 0; i < QPS; i++)
		receiver->qps[i] = (struct receive_qp){ .posted = 8, .responder.receive_slots = 8 };
}

static void posts_what_was_read(void **state)
{
	struct receive_record record;

	(void)state;
	begin_posting(true);
	use(0, MESSAGE_SEND);
	use(0, MESSAGE_SEND);
	use(1, MESSAGE_SEND | MESSAGE_INCOMPLETE);
	assert_true(receive_reader_next(&reader, &record, 0));
	assert_int_equal(posted(0), 8); /* its buffer is being read */
	assert_true(receive_reader_next(&reader, &record, 0));
	assert_int_equal(posted(0), 9);
	assert_true(receive_reader_next(&reader, &record, 0));
	assert_int_equal(posted(0), 10);
	assert_false(receive_reader_next(&reader, &record, 0));
	assert_int_equal(posted(1), 8); /* an incomplete SEND leaves the receive where it was */
	end();
}

static void posts_only_if_told(void **state)
{
	struct receive_record record;

	(void)state;
	begin_posting(false);
	use(2, MESSAGE_IMMEDIATE);
	use(3, MESSAGE_IMMEDIATE);
	assert_true(receive_reader_next(&reader, &record, 0));
	while (receive_reader_next(&reader, &(struct receive_record){ 0 }, 0))
		;
	assert_int_equal(posted(2), 8);
	receive_reader_post(&receiver->maps, &record);
	receive_reader_post(&receiver->maps, &record);
	assert_int_equal(posted(2), 9);
	receive_reader_post_all(&receiver->maps);
	assert_int_equal(posted(3), 9);
	assert_int_equal(posted(1), 8);
	end();
}

/* A record of before the QP was armed again has a number that its receives have not come to. */
static void old_records_post_no_more_than_there_is(void **state)
{
	(void)state;
	begin_posting(false);
	receiver->qps[0].responder.receives = 2;
	receive_reader_post(&receiver->maps, &(struct receive_record){ .receive = 1000, .flags = MESSAGE_SEND });
	assert_int_equal(posted(0), 2 + 8);
	receive_reader_post(&receiver->maps, &(struct receive_record){ .qp = 77, .flags = MESSAGE_SEND });
	end();
}

static void posts_as_many_as_are_wanted(void **state)
{
	static const struct { __u32 slots, receives, ahead; } cases[] = { { 8, 0, 8 }, { 8, 3, 3 }, { 8, 9, 8 }, { 0, 5, 5 },
									  { 0, 0, READER_RECEIVES } };

	(void)state;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(cases); i++) {
		begin(false, false);
		receiver->qps[0].responder.receives = 7;
		receiver->qps[0].responder.receive_slots = cases[i].slots;
		receiver->setup.receives = cases[i].receives;
		receive_reader_post_all(&receiver->maps);
		assert_int_equal(posted(0), 7 + cases[i].ahead);
		end();
	}
}

/* QP 1 used all of its receives, and the records of that are lost. */
static void lost_receives_are_posted(void **state)
{
	struct receive_record record;
	int count = 0;

	(void)state;
	begin_posting(true);
	assert_false(receive_reader_next(&reader, &record, 0));
	for (int i = 0; i < 8; i++)
		use(1, MESSAGE_SEND);
	for (int i = 0; i < RECEIVE_RECORDS; i++)
		use(0, MESSAGE_SEND);
	while (receive_reader_next(&reader, &record, 0)) {
		count++;
		assert_int_equal(record.qp, 0);
		assert_int_equal(posted(1), 8); /* not before the others are read */
	}
	assert_int_equal(count + reader.lost, RECEIVE_RECORDS + 8);
	assert_int_equal(posted(1), 16);
	assert_int_equal(posted(0), RECEIVE_RECORDS + 8);
	end();
}

/* ---- torn ---- */

static void torn(void **state)
{
	__u64 later;

	(void)state;
	begin(false, false);
	receiver->generations[1] = (1ull << 32) + 5;
	receiver->generations[2] = 7;
	later = receive_later_generations(&receiver->maps, 4096 + 100, 8000);
	assert_int_equal(later, 7); /* block 2, and of block 3 nothing */
	assert_int_equal(receive_later_generations(&receiver->maps, 4096, 4096), 0);
	assert_false(receive_torn(&receiver->maps, 4096 + 100, 8000, 5, later));
	receiver->generations[2]++;
	assert_true(receive_torn(&receiver->maps, 4096 + 100, 8000, 5, later));
	assert_false(receive_torn(&receiver->maps, 4096 + 100, 3996, 5, 0));
	receiver->generations[1]++;
	assert_true(receive_torn(&receiver->maps, 4096 + 100, 3996, 5, 0));
	assert_false(receive_torn(&receiver->maps, 4096, 0, 5, 0));
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order_and_fair),
		cmocka_unit_test(begins_where_it_is_told),
		cmocka_unit_test(overwritten_ones_are_counted),
		cmocka_unit_test(half_written),
		cmocka_unit_test(overwritten_between_two_words),
		cmocka_unit_test(written_between_two_words),
		cmocka_unit_test(overwritten_while_it_reads),
		cmocka_unit_test(waits_for_one),
		cmocka_unit_test(posts_what_was_read),
		cmocka_unit_test(posts_only_if_told),
		cmocka_unit_test(old_records_post_no_more_than_there_is),
		cmocka_unit_test(posts_as_many_as_are_wanted),
		cmocka_unit_test(lost_receives_are_posted),
		cmocka_unit_test(torn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
