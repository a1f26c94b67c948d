// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * receive_cpus same-uc|same-rc|apart
 *
 * Two threads, each on a CPU of its own, send WRITEs with immediate data by test runs of receive_frags: to one QP, or each to its
 * own. Every word of a payload is made of the immediate data. A third thread reads the records and the memory: a message whose block
 * was not written to again since must be there completely. At the end the counts of the threads, the QPs and the CPUs must agree.
 * It goes on until BUSY packets met another CPU's claim (not with `apart`) and CHECKED messages were looked at, at most LONGEST
 * packets. Prints the figures. Exit status 1 if anything was wrong, 2 if it could not be run, 3 if there are no two CPUs.
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "tests/support/receive_run.h"
#include "tests/support/slice8.h"

#define BUSY 200
#define CHECKED 5000
#define LONGEST 5000000
#define RECENT 100
#define PAYLOAD 1024
#define STRIDE 8192	 /* between two messages: blocks are of one message only */
#define BEGIN (STRIDE - 512) /* so that each payload crosses from a block to the next, and one to the next chunk */
#define SLOTS 500
#define MEMORY (2ull * RECEIVE_CHUNK)
#define BLOCK 4096
#define RKEY 0x1234
#define VA 0x10000ull
#define FIRST_QPN 100
#define WORDS (PAYLOAD / 8)

enum { L3 = 14, UDP = L3 + 20, BTH = UDP + 8, RETH = BTH + 12, IMM = RETH + 16, DATA = IMM + 4, ICRC = DATA + PAYLOAD, END = ICRC + 4 };

struct test_sender {
	pthread_t thread;
	int cpu, number;
	__u32 qp;
	__u64 sent, answered;
};

static struct test_receive_run run;
static struct slice8 slice8;
static bool rc, apart;
static atomic_bool enough;
static atomic_int wrong;
static atomic_ullong checked, stale;

static __u64 word_of(__u32 immediate, int i)
{
	return (immediate + 1ull) * 0x9e3779b97f4a7c15ull ^ i;
}

static void fail(const char *what)
{
	fprintf(stderr, "receive_cpus: %s\n", what);
	wrong++;
	enough = true;
}

/* ---- senders ---- */

static void put(__u8 *at, __u64 value, int bytes)
{
	while (bytes--) {
		at[bytes] = value;
		value >>= 8;
	}
}

static void make_head(__u8 *f, __u32 qpn)
{
	memset(f, 0, END);
	put(f + 12, 0x0800, 2);
	put(f + L3, 0x4500, 2);
	put(f + L3 + 2, END - L3, 2);
	put(f + L3 + 6, 0x4000, 2);
	put(f + L3 + 8, 0x4011, 2);
	put(f + L3 + 12, 0x0a090001, 4);
	put(f + L3 + 16, 0x0a090002, 4);
	put(f + UDP, 50000, 2);
	put(f + UDP + 2, 4791, 2);
	put(f + UDP + 4, END - UDP, 2);
	put(f + BTH, rc ? 0x0b : 0x2b, 1);
	put(f + BTH + 1, 0x40, 1);
	put(f + BTH + 2, 0xffff, 2);
	put(f + BTH + 5, qpn, 3);
	put(f + BTH + 8, rc ? 0x80 : 0, 1);
	put(f + RETH + 8, RKEY, 4);
	put(f + RETH + 12, PAYLOAD, 4);
}

static void make_rest(__u8 *f, __u32 psn, __u32 immediate, __u32 slot)
{
	__u8 masked[END];
	__u32 crc;

	put(f + BTH + 9, psn, 3);
	put(f + RETH, VA + BEGIN + (__u64)slot * STRIDE, 8);
	put(f + IMM, immediate, 4);
	for (int i = 0; i < WORDS; i++) {
		__u64 w = word_of(immediate, i);

		memcpy(f + DATA + 8 * i, &w, 8);
	}
	memcpy(masked, f, END);
	masked[L3 + 1] = masked[L3 + 8] = masked[L3 + 10] = masked[L3 + 11] = masked[UDP + 6] = masked[UDP + 7] = masked[BTH + 4] = 0xff;
	crc = ~slice8_register(&slice8, 0xdebb20e3, masked, L3, ICRC);
	memcpy(f + ICRC, &crc, 4);
}

static void pin(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (pthread_setaffinity_np(pthread_self(), sizeof(one), &one))
		run_die("CPU", EINVAL);
}

static void *send_all(void *argument)
{
	struct test_sender *s = argument;
	volatile __u32 *expected = &run.qps[s->qp].responder.expected;
	__u8 frame[END], out[END];
	LIBBPF_OPTS(bpf_test_run_opts, o, .data_in = frame, .data_size_in = END, .data_out = out, .repeat = 1);

	pin(s->cpu);
	make_head(frame, FIRST_QPN + s->qp);
	for (; !enough && s->sent < LONGEST; s->sent++) {
		__u32 slot = apart ? 2 * (s->sent % (SLOTS / 2)) + s->number : s->sent % SLOTS;

		make_rest(frame, rc ? *expected : s->sent, s->sent << 1 | s->number, slot);
		o.data_size_out = END;
		if (bpf_prog_test_run_opts(run.program, &o))
			run_die("test run", errno);
		if (o.retval == XDP_TX)
			s->answered++;
		else if (o.retval != XDP_DROP)
			fail("a packet was neither dropped nor answered");
	}
	enough = true;
	return NULL;
}

/* ---- the reader ---- */

static bool is_current(const struct receive_record *r)
{
	return __atomic_load_n(&run.generations[r->at / BLOCK], __ATOMIC_ACQUIRE) == r->generation;
}

static void check_message(const struct receive_record *r)
{
	__u64 words[WORDS];

	if (r->flags != MESSAGE_IMMEDIATE && r->flags != (MESSAGE_IMMEDIATE | MESSAGE_LATE))
		fail("a record has other flags");
	if (r->length != PAYLOAD || r->placed != PAYLOAD || r->at % STRIDE != BEGIN || r->at >= MEMORY) {
		fail("a record is of no message");
		return;
	}
	if (!is_current(r)) {
		stale++;
		return;
	}
	memcpy(words, run.memory + r->at, sizeof(words));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (!is_current(r)) {
		stale++;
		return;
	}
	for (int i = 0; i < WORDS; i++)
		if (words[i] != word_of(r->immediate, i)) {
			fail("a message is not complete");
			return;
		}
	checked++;
}

/* A copy of the ring's next record; if many wait, of a recent one, whose memory is not overwritten yet. false: there is none. */
static bool next_record(struct receive_ring *ring, __u64 *next, struct receive_record *copy)
{
	__u64 head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	struct receive_record *r;

	if (*next == head)
		return false;
	if (head - *next > RECENT)
		*next = head - RECENT;
	r = &ring->record[*next % RECEIVE_RECORDS];
	*copy = *r;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	++*next;
	if (copy->number != *next) {
		fail("a record below the head is not there");
		return false;
	}
	return __atomic_load_n(&r->number, __ATOMIC_RELAXED) == *next;
}

static __u64 busy(void)
{
	__u64 sum = 0;

	for (int i = 0; i < libbpf_num_possible_cpus(); i++)
		sum += *(volatile __u64 *)&run.cpus[i].refused[REFUSAL_busy];
	return sum;
}

static void read_all(const struct test_sender senders[2])
{
	struct receive_record r;
	__u64 next[2] = { 0 };

	while (!enough) {
		bool any = false;

		for (int i = 0; i < 2; i++) {
			if (!next_record(&run.rings[senders[i].cpu], &next[i], &r))
				continue;
			any = true;
			check_message(&r);
		}
		if (!any)
			sched_yield();
		if (checked >= CHECKED && (apart || busy() >= BUSY))
			enough = true;
	}
}

/* ---- sums ---- */

static void equal(__u64 a, __u64 b, const char *what)
{
	if (a == b)
		return;
	fprintf(stderr, "%llu is not %llu: ", a, b);
	fail(what);
}

static void check_sums(const struct test_sender senders[2])
{
	__u64 sent = 0, answered = 0, taken = 0, refused = 0, answers = 0, records = 0, messages = 0, packets = 0;

	for (int i = 0; i < 2; i++) {
		const struct receive_cpu *c = &run.cpus[senders[i].cpu];
		const struct receive_qp *q = &run.qps[i];

		sent += senders[i].sent;
		answered += senders[i].answered;
		taken += c->packets;
		for (int k = 0; k < ROCE_REFUSALS; k++)
			refused += c->refused[k];
		for (int k = 0; k < RECEIVE_ANSWERS; k++)
			answers += c->answers[k];
		equal(c->unsent, 0, "answers were not sent");
		records += run.rings[senders[i].cpu].head;
		messages += q->messages;
		packets += q->packets;
		equal(q->claim, 0, "a claim stays");
		equal(q->responder.receives, q->messages, "receives that were used up");
		equal(q->incomplete, 0, "messages are incomplete");
		if (rc)
			equal(q->responder.expected, q->packets & 0xffffff, "the expected PSN");
		equal(q->responder.msn, q->messages & 0xffffff, "the MSN");
	}
	equal(taken + refused, sent, "packets that were taken or refused");
	equal(packets, taken, "packets by QP and by CPU");
	equal(messages, taken, "messages");
	equal(records, messages, "records");
	equal(answers, answered, "answers");
	if (rc && answers < taken)
		fail("packets were not acknowledged");
	if (checked < CHECKED || (!apart && busy() < BUSY))
		fail("too few packets met each other, or too few messages were looked at");
	printf("sent %llu taken %llu busy %llu refused %llu answers %llu checked %llu overwritten %llu\n", sent, taken, busy(), refused,
	       answers, (unsigned long long)checked, (unsigned long long)stale);
}

/* ---- ---- */

static void arm(__u32 index)
{
	struct roce_responder *q = &run.qps[index].responder;

	*q = (struct roce_responder){ .qpn = FIRST_QPN + index, .peer_qpn = 7, .path_mtu = PAYLOAD, .pkey = 0xffff,
				      .service = rc ? SERVICE_RC : SERVICE_UC, .endless = 1, .state = RESPONDER_READY,
				      .peer = { [10] = 0xff, 0xff, 10, 9, 0, 1 } };
}

/* Returns whether there are two CPUs. */
static bool two_cpus(struct test_sender senders[2])
{
	cpu_set_t allowed;
	int found = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			senders[found++].cpu = cpu;
	return found == 2;
}

int main(int argc, char **argv)
{
	struct receive_settings settings = { .own = { [10] = 0xff, 0xff, 10, 9, 0, 2 }, .first_qpn = FIRST_QPN, .qps = 2,
					     .memory = MEMORY, .block = BLOCK };
	struct roce_region region = { .va = VA, .at = 0, .bytes = MEMORY, .rkey = RKEY };
	struct test_sender senders[2] = { 0 };

	if (argc != 2)
		return 2;
	rc = !strcmp(argv[1], "same-rc");
	apart = !strcmp(argv[1], "apart");
	if (!two_cpus(senders))
		return 3;
	slice8_make(&slice8);
	run_load(&run, "receive_frags", &settings, 0);
	run_region(&run, &region);
	for (int i = 0; i < 2; i++) {
		arm(i);
		senders[i].number = i;
		senders[i].qp = apart ? i : 0;
	}
	for (int i = 0; i < 2; i++)
		if (pthread_create(&senders[i].thread, NULL, send_all, &senders[i]))
			run_die("thread", EAGAIN);
	read_all(senders);
	for (int i = 0; i < 2; i++)
		pthread_join(senders[i].thread, NULL);
	check_sums(senders);
	return wrong ? 1 : 0;
}
