// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * receive_replay [--socket] [--memory FILE] SCRIPT
 *
 * Runs frames through the programs of bpf/receive.bpf.c (BPF_PROG_TEST_RUN) and through roce/responder/respond.h in user space, with
 * memory of its own, and compares both after every frame: action, answer, refusals, the QP, records; and at the end all memory
 * byte for byte, with a chunk behind it that nobody may touch. Each way through the kernel has maps of its own:
 *     frags   receive_frags; longer frames than a page are fragmented
 *     split   the same with every frame cut in two somewhere, where the kernel can be told so (6.18, and 6.1.x of late)
 *     events  receive_events
 * --socket: a socket listens on RoCE's port. --memory: writes user space's memory to the file.
 *
 * The script has a command a line; numbers in decimal:
 *     setup OWN FIRST_QPN QPS MEMORY BLOCK EACH NOTIFY       comes first; OWN: 16 bytes in hexadecimal
 *     region RKEY VA AT BYTES INDEX
 *     arm QP PEER RECEIVE_AT RECEIVE_BYTES RECEIVE_SLOTS PEER_QPN PATH_MTU PSN PKEY SERVICE RNR_TIMER ENDLESS POSTED
 *     post QP COUNT
 *     notified QP        its last congestion notification was just now; without it, it was long ago
 *     frame BYTES        in hexadecimal
 * Prints a line a frame, ACTION REFUSAL ANSWER (- : none), then the QPs, the records, and what the CPU counted. Exit status 1 if
 * user space and the kernel differ, 2 if it could not be run.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include "roce/datagram/datagram.h"
#include "roce/responder/answer.h"
#include "roce/responder/respond.h"
#include "tests/support/receive_run.h"
#include "tests/support/slice8.h"

#define FRAME_LONGEST 16384
#define LINEAR_MAX (4096 - 256 - 320) /* as in tests/support/xdp_replay.c */
#define SHOWN 50
#define FUTURE (1ull << 62) /* ns: a notification then is the last for all of the test */

static const char *const refusals[] = {
	"-",
#define REFUSAL(name, about, words) #name,
#include "roce/responder/refusal.def"
#undef REFUSAL
};

static const char *const actions[] = { "aborted", "drop", "pass", "tx", "redirect" };

/* What a frame led to. */
struct replay_outcome {
	__u32 action;
	__u32 refusal;
	__u32 bytes; /* of the answer */
	__u8 answer[FRAME_LONGEST];
};

static struct way {
	const char *name, *program;
	bool split;
	struct test_receive_run run; /* run.bpf NULL: this way is not used */
	__u64 head;		/* of its ring, before the frame */
} ways[] = {
	{ .name = "frags", .program = "receive_frags" },
	{ .name = "split", .program = "receive_frags", .split = true },
	{ .name = "events", .program = "receive_events" },
};

/* The same in user space. */
static struct {
	struct receive_settings settings;
	struct test_receive_run run;
	struct roce_region region[64];
	int regions;
	struct receive_record *records;
	size_t count;
} user;

static struct slice8 slice8;
static struct fold_tables fold_tables;
static bool has_socket;
static unsigned long line_number;
static int differences;

static void differ(const char *way, const char *what)
{
	if (differences++ < SHOWN)
		fprintf(stderr, "line %lu: %s: %s differs\n", line_number, way, what);
}

/* ---- user space ---- */

static enum icrc_verdict user_icrc(const __u8 *frame, __u32 length, const struct roce_packet *p)
{
	static __u8 copy[FRAME_LONGEST];
	__u32 r;

	if (length > FRAME_MAX)
		return ICRC_UNCHECKED;
	memcpy(copy, frame, length);
	icrc_mask(copy, p);
	r = slice8_register(&slice8, ICRC_REGISTER, copy, p->l3_offset, p->icrc_offset + WIRE_ICRC_LEN);
	return r == ICRC_REGISTER ? ICRC_GOOD : ICRC_BAD;
}

static void user_record(struct receive_qp *q, const struct roce_message_end *m)
{
	if (m->flags & MESSAGE_INCOMPLETE)
		q->incomplete++;
	else
		q->messages++;
	if (!user.settings.each && !(m->flags & (MESSAGE_SEND | MESSAGE_IMMEDIATE | MESSAGE_INCOMPLETE)))
		return;
	user.records = realloc(user.records, (user.count + 1) * sizeof(*user.records));
	user.records[user.count] = (struct receive_record){
		.number = user.count + 1, .at = m->at, .receive = m->receive, .length = m->length, .placed = m->placed,
		.first_psn = m->first_psn, .last_psn = m->last_psn, .immediate = m->immediate, .region = m->region,
		.generation = m->at == RESPONDER_NOWHERE ? 0 : user.run.generations[m->at / user.settings.block],
		.qp = q - user.run.qps, .flags = m->flags,
	};
	user.count++;
}

/* false: the region lies outside of the memory. */
static bool user_place(const __u8 *payload, __u64 at, __u32 bytes)
{
	if (!bytes)
		return true;
	if (at >= user.settings.memory || bytes > user.settings.memory - at)
		return false;
	user.run.generations[at / user.settings.block]++;
	if ((at + bytes - 1) / user.settings.block != at / user.settings.block)
		user.run.generations[(at + bytes - 1) / user.settings.block]++;
	memcpy(user.run.memory + at, payload, bytes);
	return true;
}

static void user_answer(const __u8 *frame, const struct roce_packet *p, struct receive_qp *q, __u32 opcode,
			const struct responder_step *s, struct replay_outcome *o)
{
	static struct roce_answer answer;
	static struct fold_work work;
	enum receive_answer kind = opcode == ANSWER_OPCODE_CNP ? RECEIVE_CNP :
				   s->syndrome == AETH_ACK ? RECEIVE_ACK :
				   s->syndrome == AETH_NAK_SEQUENCE ? RECEIVE_NAK_SEQUENCE :
				   s->syndrome == AETH_NAK_INVALID ? RECEIVE_NAK_INVALID :
				   s->syndrome == AETH_NAK_ACCESS ? RECEIVE_NAK_ACCESS : RECEIVE_RNR;

	memcpy(answer.frame, frame, ANSWER_HEAD);
	answer_make(&answer, p, &q->responder, opcode, s->answer_psn, s->syndrome);
	answer_icrc(&answer, &fold_tables, &work);
	o->action = XDP_TX;
	o->bytes = answer.bytes;
	memcpy(o->answer, answer.frame, answer.bytes);
	user.run.cpus->answers[kind]++;
}

static void user_commit(struct receive_qp *q, const struct roce_packet *p, struct responder_step *s)
{
	responder_commit(&q->responder, p, s);
	q->packets++;
	q->bytes += s->bytes;
	user.run.cpus->packets++;
	user.run.cpus->bytes += s->bytes;
}

/* A packet to the QP, as receive_take() of bpf/receive.h. */
static void user_take(const __u8 *frame, const struct roce_packet *p, enum icrc_verdict icrc, struct receive_qp *q,
		      struct replay_outcome *o)
{
	const struct roce_region *region = NULL;
	struct responder_step s;

	for (int i = 0; i < user.regions; i++)
		if (user.region[i].rkey == p->rkey && p->op & OP_RETH && p->dma_length)
			region = &user.region[i];
	responder_judge(&q->responder, p, icrc, region, q->posted, &s);
	if (s.broken.valid)
		user_record(q, &s.broken);
	if (!s.refusal) {
		if (user_place(frame + p->icrc_offset - p->pad - p->payload_bytes, s.at, s.bytes))
			user_commit(q, p, &s);
		else
			responder_fail(&q->responder, p, &s);
	}
	if (s.ended.valid)
		user_record(q, &s.ended);
	q->refused += !!s.refusal;
	o->refusal = s.refusal;
	if (s.answers)
		user_answer(frame, p, q, ANSWER_OPCODE_ACK, &s, o);
	else if (!s.refusal && user.settings.notify && (p->tos & 3) == 3 && q->notified_ns != FUTURE)
		user_answer(frame, p, q, ANSWER_OPCODE_CNP, &s, o);
}

static void user_frame(const __u8 *frame, __u32 length, struct replay_outcome *o)
{
	struct roce_packet p;
	__u32 qp;

	*o = (struct replay_outcome){ .action = XDP_PASS };
	roce_parse(frame, length, length, NULL, &p);
	if (p.kind != ROCE_PACKET || p.rocev1 || memcmp(p.dst, user.settings.own, sizeof(p.dst)))
		return;
	qp = p.dqpn - user.settings.first_qpn;
	if (qp >= user.settings.qps && has_socket) {
		user.run.cpus->passed++;
		return;
	}
	o->action = XDP_DROP;
	if (qp >= user.settings.qps)
		o->refusal = REFUSAL_qpn;
	else
		user_take(frame, &p, user_icrc(frame, length, &p), &user.run.qps[qp], o);
	if (o->refusal)
		user.run.cpus->refused[o->refusal]++;
}

/* ---- the kernel ---- */

/* Any place of a frame's first page, mostly in its headers. */
static __u32 split_point(__u32 length)
{
	__u32 random = line_number * 2654435761u >> 8, most = length < LINEAR_MAX ? length : LINEAR_MAX;
	__u32 room = most - WIRE_ETH_LEN + 1;

	return WIRE_ETH_LEN + random % (line_number & 1 && room > 100 ? 100 : room);
}

/* Returns whether the kernel ran it that way. */
static bool bpf_frame(const struct way *w, const __u8 *frame, __u32 length, struct replay_outcome *o)
{
	struct xdp_md before = { .data_end = split_point(length) }, after = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = frame, .data_size_in = length, .data_out = o->answer,
		    .data_size_out = FRAME_LONGEST, .repeat = 1);

	*o = (struct replay_outcome){ 0 };
	if (w->split) {
		run.ctx_in = &before;
		run.ctx_out = &after;
		run.ctx_size_in = run.ctx_size_out = sizeof(before);
	}
	if (bpf_prog_test_run_opts(w->run.program, &run))
		return false;
	o->action = run.retval;
	o->bytes = o->action == XDP_TX ? run.data_size_out : 0;
	return true;
}

static bool same_outcome(const struct replay_outcome *a, const struct replay_outcome *b)
{
	return a->action == b->action && a->bytes == b->bytes && !memcmp(a->answer, b->answer, a->bytes);
}

static bool same_counts(const struct receive_cpu *a, const struct receive_cpu *b)
{
	return a->packets == b->packets && a->bytes == b->bytes && a->passed == b->passed && a->unsent == b->unsent &&
	       !memcmp(a->answers, b->answers, sizeof(a->answers)) && !memcmp(a->refused, b->refused, sizeof(a->refused));
}

static bool same_qp(const struct receive_qp *a, const struct receive_qp *b)
{
	return !a->claim && !memcmp(&a->responder, &b->responder, sizeof(a->responder)) && a->packets == b->packets &&
	       a->bytes == b->bytes && a->messages == b->messages && a->incomplete == b->incomplete &&
	       a->refused == b->refused && a->posted == b->posted && !a->first_ns == !a->packets &&
	       a->last_ns >= a->first_ns;
}

static bool same_record(const struct receive_record *kernel, const struct receive_record *us)
{
	struct receive_record timeless = *kernel;

	timeless.time = 0;
	return kernel->time && !memcmp(&timeless, us, sizeof(timeless));
}

static void compare_way(struct way *w, const __u8 *frame, __u32 length, const struct replay_outcome *us)
{
	static struct replay_outcome kernel;
	struct receive_ring *ring = &w->run.rings[sched_getcpu()];

	if (!bpf_frame(w, frame, length, &kernel)) {
		differ(w->name, "the length: the kernel refuses it, which");
		return;
	}
	if (!same_outcome(&kernel, us)) {
		differ(w->name, "the action or the answer");
		fprintf(stderr, "%s and %u bytes, not %s and %u\n", actions[kernel.action], kernel.bytes, actions[us->action],
			us->bytes);
	}
	for (int i = 0; i < ROCE_REFUSALS; i++)
		if (w->run.cpus[sched_getcpu()].refused[i] != user.run.cpus->refused[i])
			differ(w->name, refusals[i]);
	if (!same_counts(&w->run.cpus[sched_getcpu()], user.run.cpus))
		differ(w->name, "a counter");
	if (ring->head != user.count)
		differ(w->name, "the number of records");
	for (size_t n = w->head; n < user.count && n < ring->head; n++)
		if (!same_record(&ring->record[n % RECEIVE_RECORDS], &user.records[n]))
			differ(w->name, "a record");
	w->head = ring->head;
	for (__u32 i = 0; i < user.settings.qps; i++) {
		if (!same_qp(&w->run.qps[i], &user.run.qps[i]))
			differ(w->name, "a QP");
		if (w->run.qps[i].notified_ns != FUTURE)
			w->run.qps[i].notified_ns = 0;
	}
}

static void compare_memory(const struct way *w)
{
	if (memcmp(w->run.memory, user.run.memory, user.run.bytes))
		differ(w->name, "the memory");
	if (memcmp(w->run.generations, user.run.generations, user.settings.memory / user.settings.block * sizeof(__u64)))
		differ(w->name, "a generation");
}

/* ---- the script ---- */

static size_t unhex(const char *text, __u8 *to, size_t room)
{
	size_t n = 0;
	unsigned int byte;

	for (; n < room && sscanf(text + 2 * n, "%2x", &byte) == 1; n++)
		to[n] = byte;
	return n;
}

static bool can_split(struct way *w)
{
	static const __u8 nothing[64];
	struct xdp_md before = { .data_end = WIRE_ETH_LEN }, after = { 0 };
	LIBBPF_OPTS(bpf_test_run_opts, run, .data_in = nothing, .data_size_in = sizeof(nothing), .ctx_in = &before,
		    .ctx_out = &after, .ctx_size_in = sizeof(before), .ctx_size_out = sizeof(after), .repeat = 1);

	return !bpf_prog_test_run_opts(w->run.program, &run) && after.data_end - after.data == WIRE_ETH_LEN;
}

static void script_setup(const char *text)
{
	struct receive_settings *s = &user.settings;
	char own[33];

	if (sscanf(text, "%32s %u %u %llu %llu %u %u", own, &s->first_qpn, &s->qps, &s->memory, &s->block, &s->each,
		   &s->notify) != 7)
		run_die("setup", EINVAL);
	unhex(own, s->own, sizeof(s->own));
	user.run.bytes = s->memory + RECEIVE_CHUNK;
	user.run.memory = malloc(user.run.bytes);
	user.run.qps = aligned_alloc(64, s->qps * sizeof(*user.run.qps));
	user.run.cpus = aligned_alloc(64, sizeof(*user.run.cpus));
	user.run.generations = calloc(s->memory / s->block, sizeof(__u64));
	memset(user.run.memory, RUN_UNTOUCHED, user.run.bytes);
	memset(user.run.qps, 0, s->qps * sizeof(*user.run.qps));
	memset(user.run.cpus, 0, sizeof(*user.run.cpus));
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(ways); i++) {
		run_load(&ways[i].run, ways[i].program, s, 1);
		if (ways[i].split && !can_split(&ways[i])) {
			receive_bpf__destroy(ways[i].run.bpf);
			ways[i].run.bpf = NULL;
		}
	}
}

static void script_region(const char *text)
{
	struct roce_region *r = &user.region[user.regions++];

	if (sscanf(text, "%u %llu %llu %llu %u", &r->rkey, &r->va, &r->at, &r->bytes, &r->index) != 5)
		run_die("region", EINVAL);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(ways); i++)
		if (ways[i].run.bpf)
			run_region(&ways[i].run, r);
}

/* Everything but the claim is new. */
static void arm(struct receive_qp *q, const struct roce_responder *r, __u64 posted)
{
	__u32 armed = q->armed;

	memset(q, 0, sizeof(*q));
	q->armed = armed + 1;
	q->responder = *r;
	q->posted = posted;
}

static void script_arm(const char *text)
{
	struct roce_responder r = { .state = RESPONDER_READY };
	unsigned int qp, service, timer, endless, pkey;
	__u64 posted;
	char peer[33];

	if (sscanf(text, "%u %32s %llu %u %u %u %u %u %u %u %u %u %llu", &qp, peer, &r.receive_at, &r.receive_bytes,
		   &r.receive_slots, &r.peer_qpn, &r.path_mtu, &r.expected, &pkey, &service, &timer, &endless, &posted) != 13)
		run_die("arm", EINVAL);
	unhex(peer, r.peer, sizeof(r.peer));
	r.qpn = user.settings.first_qpn + qp;
	r.pkey = pkey;
	r.service = service;
	r.rnr_timer = timer;
	r.endless = endless;
	arm(&user.run.qps[qp], &r, posted);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(ways); i++)
		if (ways[i].run.bpf)
			arm(&ways[i].run.qps[qp], &r, posted);
}

/* post, notified */
static void script_change(const char *what, const char *text)
{
	unsigned int qp = 0, count = 0;

	sscanf(text, "%u %u", &qp, &count);
	for (size_t i = 0; i <= ROCE_ARRAY_SIZE(ways); i++) {
		struct test_receive_run *r = i < ROCE_ARRAY_SIZE(ways) ? &ways[i].run : &user.run;

		if (!r->qps)
			continue;
		r->qps[qp].posted += count;
		if (!strcmp(what, "notified"))
			r->qps[qp].notified_ns = FUTURE;
	}
}

static void script_frame(const char *text)
{
	static __u8 frame[FRAME_LONGEST + ROCE_WINDOW_BYTES];
	static struct replay_outcome us;
	__u32 length = unhex(text, frame, FRAME_LONGEST);

	user_frame(frame, length, &us);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(ways); i++)
		if (ways[i].run.bpf)
			compare_way(&ways[i], frame, length, &us);
	printf("frame %s %s ", actions[us.action], refusals[us.refusal]);
	for (__u32 i = 0; i < us.bytes; i++)
		printf("%02x", us.answer[i]);
	printf("%s\n", us.bytes ? "" : "-");
}

static void script_line(char *line)
{
	char what[16] = "";
	int used = 0;

	line_number++;
	if (sscanf(line, "%15s %n", what, &used) != 1)
		return;
	if (!strcmp(what, "setup"))
		script_setup(line + used);
	else if (!strcmp(what, "region"))
		script_region(line + used);
	else if (!strcmp(what, "arm"))
		script_arm(line + used);
	else if (!strcmp(what, "frame"))
		script_frame(line + used);
	else if (!strcmp(what, "post") || !strcmp(what, "notified"))
		script_change(what, line + used);
	else
		run_die(what, EINVAL);
}

static void print_state(void)
{
	for (__u32 i = 0; i < user.settings.qps; i++) {
		const struct receive_qp *q = &user.run.qps[i];

		printf("qp %u %u %u %u %llu %llu %llu %llu %llu %llu\n", i, q->responder.state, q->responder.expected,
		       q->responder.msn, q->responder.receives, q->packets, q->bytes, q->messages, q->incomplete, q->refused);
	}
	for (size_t i = 0; i < user.count; i++) {
		const struct receive_record *r = &user.records[i];

		printf("record %u %u %lld %llu %u %u %u %u %u %u %u\n", r->qp, r->flags, (long long)r->at, r->receive, r->length,
		       r->placed, r->first_psn, r->last_psn, r->immediate, r->region, r->generation);
	}
	printf("cpu %llu %llu %llu %llu", user.run.cpus->packets, user.run.cpus->bytes, user.run.cpus->passed,
	       user.run.cpus->unsent);
	for (int i = 0; i < RECEIVE_ANSWERS; i++)
		printf(" %llu", user.run.cpus->answers[i]);
	printf("\n");
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(ways); i++)
		if (ways[i].run.bpf)
			printf("way %s\n", ways[i].name);
}

static void listen_on_port(void)
{
	struct sockaddr_in6 any = { .sin6_family = AF_INET6, .sin6_port = htons(WIRE_ROCEV2_PORT) };
	int s = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (s < 0 || bind(s, (struct sockaddr *)&any, sizeof(any)))
		run_die("socket", errno);
	has_socket = true;
}

/* Each CPU has a ring and counters of its own: one CPU for all of it. */
static void pin(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		run_die("CPU", errno);
}

static void write_memory(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f || fwrite(user.run.memory, user.run.bytes, 1, f) != 1 || fclose(f))
		run_die(path, errno);
}

static void replay(const char *path)
{
	FILE *script = fopen(path, "re");
	char *line = NULL;
	size_t room = 0;

	if (!script)
		run_die(path, errno);
	while (getline(&line, &room, script) > 0)
		script_line(line);
	free(line);
	fclose(script);
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(ways); i++)
		if (ways[i].run.bpf)
			compare_memory(&ways[i]);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "socket", no_argument, NULL, 's' },
		{ "memory", required_argument, NULL, 'm' },
		{ 0 },
	};
	const char *memory = NULL;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 's')
			listen_on_port();
		else if (option == 'm')
			memory = optarg;
		else
			return 2;
	}
	if (optind != argc - 1)
		run_die("receive_replay [--socket] [--memory FILE] SCRIPT", EINVAL);
	pin();
	slice8_make(&slice8);
	fold_make_tables(&fold_tables);
	replay(argv[optind]);
	print_state();
	if (memory)
		write_memory(memory);
	return differences ? 1 : 0;
}
