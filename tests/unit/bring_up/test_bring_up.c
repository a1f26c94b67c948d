// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Bring-up beside an RDMA device: what RDMA netlink says of a QP in the time that packets come, and what the device answers, by hand.
 * tests/bring_up.test has the rest, beside a receiver.
 */
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/frame.h"

#include "lib/clock.h"
#include "userspace/diagnose/bring_up/bring_up.h"

/* include/rdma/ib_verbs.h */
enum { TYPE_RC = 2, TYPE_UC = 3, STATE_INIT = 1, STATE_RTS = 3, STATE_ERR = 6 };

#define QPN 0x12
#define PEER_QPN 0x34
#define RC_ONLY 0x0a
#define RC_FIRST 0x06
#define RC_LAST 0x08
#define UC_FIRST 0x26
#define UC_LAST 0x28
#define UC_ONLY 0x2a
#define ACK 0x11
#define TURNS 8 /* more than a QP may stand still */

static const struct expected nobody;
static const struct bring_up_options options = { .interface = "roce0", .expected = &nobody };
static struct bring_up *b;
static struct sniffed *frame;
static struct place_link here = { .name = "roce0", .index = 1, .up = true, .carrier = true, .mtu = 4500, .devices = 1,
				  .mac = { 2, 0, 0, 0, 0, 2 } };
static struct place_address address = { .address = { [10] = 0xff, 0xff, 10, 9, 0, 2 }, .interface = 1, .devices = 1 };
static const struct rdma_host_device device = { .name = "rxe0", .software = true, .driver = "rxe" };
static struct host_qp qp;
static bool exists;
static __u64 now;

static int begin(void **state)
{
	(void)state;
	b = calloc(1, sizeof(*b));
	frame = calloc(1, sizeof(*frame));
	b->options = &options;
	b->end = (struct bring_up_end){ .expected = &nobody, .receiver = &b->sniffer.receiver, .ifindex = 1, .link = &here,
					.devices = &device, .device_count = 1,
					.places = { .links = &here, .link_count = 1, .addresses = &address, .address_count = 1 } };
	qp = (struct host_qp){ .device = "rxe0", .qpn = QPN, .peer_qpn = PEER_QPN, .rq_psn = 100, .type = TYPE_RC, .state = STATE_RTS };
	exists = true;
	return 0;
}

static int end(void **state)
{
	(void)state;
	bring_up_free(b);
	known_qps_free(&b->end.qps);
	free(b);
	free(frame);
	return 0;
}

/* ---- frames and turns ---- */

/* The machine is asked, the frame of the turn is taken, and what waits is settled. */
static void look(void)
{
	assert_true(known_qps_update(&b->end.qps, &qp, exists, &device, 1, now += 1000));
}

static void rest(int turns)
{
	while (turns--) {
		look();
		bring_up_settle(b);
	}
}

static void deliver(const struct test_frame *f)
{
	frame->time = now;
	frame->frame = (struct observer_frame){ .bytes = frame->of_socket, .captured = f->length, .wire = f->length };
	memcpy(frame->of_socket, f->bytes, f->length);
	look();
	bring_up_take(b, frame);
	bring_up_settle(b);
}

/* dma_length: with a First or Only. */
static void request_of(__u8 opcode, __u32 psn, __u32 dma_length)
{
	const struct frame_spec s = { .opcode = opcode, .dqpn = QPN, .psn = psn, .payload = 256, .dma_length = dma_length };
	struct test_frame f;

	frame_build(&f, &s);
	f.bytes[f.bth + 8] = 0x80; /* AckReq */
	put(f.bytes + f.icrc, __builtin_bswap32(frame_icrc(&f)), 4);
	deliver(&f);
}

static void request(__u8 opcode, __u32 psn)
{
	request_of(opcode, psn, opcode == UC_FIRST ? 512 : 256);
}

static void swap(uint8_t *a, uint8_t *c, int bytes)
{
	for (int i = 0; i < bytes; i++) {
		uint8_t kept = a[i];

		a[i] = c[i];
		c[i] = kept;
	}
}

static void answer(__u8 syndrome, __u32 psn)
{
	const struct frame_spec s = { .opcode = ACK, .dqpn = qp.peer_qpn, .psn = psn, .syndrome = syndrome };
	struct test_frame f;

	frame_build(&f, &s);
	swap(f.bytes, f.bytes + 6, 6);
	swap(f.bytes + f.l3 + 12, f.bytes + f.l3 + 16, 4);
	put(f.bytes + f.icrc, __builtin_bswap32(frame_icrc(&f)), 4);
	deliver(&f);
}

static struct bring_up_report report(void)
{
	struct bring_up_report r;

	bring_up_conclude(b, &r);
	return r;
}

/* expected: text that is found in what is said. */
static void assert_wrong(enum bring_up_step step, const char *expected)
{
	struct bring_up_report r = report();

	assert_int_equal(r.wrong, step);
	if (step < STEPS && !strstr(r.step[step].found, expected))
		fail_msg("'%s' is not in '%s'", expected, r.step[step].found);
}

/* ---- */

static void test_right(void **state)
{
	struct bring_up_report r;

	(void)state;
	rest(3);
	request(RC_ONLY, 100);
	r = report();
	assert_int_equal(r.step[STEP_psn].state, STEP_NOT_YET); /* rxe has not worked on it so far */
	qp.rq_psn = 101;
	answer(0x1f, 100);
	request(RC_ONLY, 101);
	qp.rq_psn = 102;
	answer(0x1f, 101);
	rest(TURNS);
	r = report();
	assert_int_equal(r.wrong, STEPS);
	for (enum bring_up_step s = 0; s < SENDER_STEPS; s++)
		assert_int_equal(r.step[s].state, s == STEP_memory || s == STEP_path_mtu ? STEP_NOT_TOLD : STEP_GOOD);
}

/* The doctor comes while packets pass. */
static void test_met_in_the_middle(void **state)
{
	(void)state;
	for (__u32 psn = 100; psn < 120; psn++) {
		qp.rq_psn = psn + (psn % 3 != 0);
		request(RC_ONLY, psn);
		answer(0x1f, psn);
	}
	qp.rq_psn = 120;
	rest(TURNS);
	assert_wrong(STEPS, "");
}

static void test_stale_ahead(void **state)
{
	(void)state;
	rest(2);
	request(RC_ONLY, 500);
	assert_wrong(STEPS, "");
	rest(TURNS);
	assert_wrong(STEP_psn, "expected PSN 0x64; found PSN 0x1f4");
	request(RC_ONLY, 100); /* the sender is mended */
	qp.rq_psn = 101;
	rest(1);
	assert_wrong(STEPS, "");
}

static void test_stale_behind(void **state)
{
	(void)state;
	rest(2);
	for (__u32 psn = 50; psn < 54; psn++) {
		request(RC_ONLY, psn);
		answer(0x1f, 99); /* as rxe does with what it takes for duplicates */
	}
	rest(TURNS);
	assert_wrong(STEP_psn, "expected PSN 0x64; found PSN 0x32");
}

static void test_naks(void **state)
{
	(void)state;
	request(RC_ONLY, 105);
	answer(0x60, 100);
	assert_wrong(STEP_psn, "expected PSN 0x64; found PSN 0x69");
	request(RC_ONLY, 100);
	answer(0x61, 100);
	assert_wrong(STEP_path_mtu, "invalid request");
	request(RC_ONLY, 100);
	answer(0x62, 100);
	assert_wrong(STEP_memory, "remote access error");
	qp.state = STATE_ERR;
	for (__u32 psn = 101; psn < 105; psn++)
		request(RC_ONLY, psn);
	rest(TURNS);
	assert_wrong(STEP_memory, "remote access error");
}

/* rxe takes the First, and refuses what the DMA length does not count; then its QP is in error. */
static void test_dma_length_of_packet(void **state)
{
	struct bring_up_report r;

	(void)state;
	rest(2);
	request_of(RC_FIRST, 100, 256);
	qp.rq_psn = 101;
	request(RC_LAST, 101);
	rest(TURNS);
	assert_wrong(STEP_memory, "DMA length is that of one packet");
	answer(0x61, 101);
	assert_wrong(STEP_memory, "DMA length is that of one packet");
	qp.state = STATE_ERR;
	for (__u32 psn = 102; psn < 110; psn++)
		request(RC_ONLY, psn);
	rest(TURNS);
	assert_wrong(STEP_memory, "DMA length is that of one packet");
	r = report();
	assert_int_equal(r.step[STEP_state].state, STEP_WRONG);
	assert_non_null(strstr(r.step[STEP_state].found, "since memory is wrong: 8 packets were refused"));
	assert_non_null(strstr(r.step[STEP_memory].fix, "whole message"));
	qp.state = STATE_RTS;
	qp.rq_psn = 110;
	request_of(RC_FIRST, 110, 512);
	qp.rq_psn = 111;
	request(RC_LAST, 111);
	qp.rq_psn = 112;
	rest(TURNS);
	assert_wrong(STEPS, "");
}

/* A frame without its last four bytes; they may be there, but in another place. */
static void test_place_of_icrc(void **state)
{
	const struct frame_spec s = { .opcode = RC_ONLY, .dqpn = QPN, .psn = 100, .payload = 256, .dma_length = 256, .trailer = 20 };
	struct test_frame f;

	(void)state;
	rest(2);
	for (int i = 0; i < 4; i++) {
		frame_build(&f, &s);
		f.length = f.icrc;
		deliver(&f);
	}
	assert_wrong(STEP_icrc, "icrc-not-appended");
	for (int i = 0; i < 4; i++) {
		frame_build(&f, &s);
		memset(f.bytes + f.icrc, 0, f.length - f.icrc);
		put(f.bytes + f.length - 4, __builtin_bswap32(frame_icrc(&f)), 4);
		deliver(&f);
	}
	assert_wrong(STEP_icrc, "expected ICRC");
}

static void test_loss_that_heals(void **state)
{
	(void)state;
	rest(2);
	request(RC_ONLY, 102);
	answer(0x60, 100);
	for (__u32 psn = 100; psn < 103; psn++) {
		request(RC_ONLY, psn);
		qp.rq_psn = psn + 1;
		answer(0x1f, psn);
	}
	rest(TURNS);
	assert_wrong(STEPS, "");
}

static void test_states(void **state)
{
	(void)state;
	qp.state = STATE_INIT;
	request(RC_ONLY, 100);
	assert_wrong(STEP_state, "INIT");
	qp.state = STATE_ERR;
	request(RC_ONLY, 101);
	assert_wrong(STEP_state, "");
	exists = false;
	request(RC_ONLY, 102);
	assert_wrong(STEP_qpn, "gone");
}

static void test_no_qp(void **state)
{
	(void)state;
	exists = false;
	request(RC_ONLY, 100);
	assert_wrong(STEP_qpn, "no QP here has QPN 18 (0x12)");
}

static void test_service(void **state)
{
	(void)state;
	request(UC_ONLY, 100);
	assert_wrong(STEP_service, "expected RC");
}

static void test_uc(void **state)
{
	(void)state;
	qp.type = TYPE_UC;
	rest(2);
	request(UC_ONLY, 100); /* a wrong rkey: dropped without a word */
	rest(TURNS);
	assert_wrong(STEP_memory, "the QP waits for PSN 0x64");
	request(UC_ONLY, 700); /* any PSN begins a message */
	qp.rq_psn = 701;
	rest(TURNS);
	assert_wrong(STEPS, "");
}

/* rxe's timer sends again what was acknowledged: once is nothing, again and again is. */
static void test_sent_again(void **state)
{
	(void)state;
	rest(2);
	request(RC_ONLY, 100);
	qp.rq_psn = 101;
	answer(0x1f, 100);
	request(RC_ONLY, 100);
	answer(0x1f, 100);
	rest(TURNS);
	assert_wrong(STEPS, "");
	request(RC_ONLY, 100);
	answer(0x1f, 100);
	assert_wrong(STEP_accepted, "times again");
	request(RC_ONLY, 101);
	qp.rq_psn = 102;
	answer(0x1f, 101);
	assert_wrong(STEPS, "");
}

static void test_peer_qpn(void **state)
{
	(void)state;
	qp.peer_qpn = 0;
	rest(2);
	request(RC_ONLY, 100);
	qp.rq_psn = 101;
	answer(0x1f, 100);
	assert_wrong(STEP_accepted, "go to QPN 0");
}

/* Of messages of three packets only the last, shorter ones come: an MTU on the way. One that follows directly is another mistake. */
static void test_cut(void **state)
{
	(void)state;
	qp.type = TYPE_UC;
	for (__u32 psn = 102; psn < 106; psn++)
		request(UC_LAST, psn);
	assert_wrong(STEP_psn, "");
	for (__u32 psn = 110; psn < 119; psn += 3)
		request(UC_LAST, psn);
	assert_wrong(STEP_mtu, "3 Last packets came to QPN 18 (0x12), but no First");
	request(UC_FIRST, 120);
	for (int i = 0; i < 4; i++)
		request(UC_LAST, 121); /* sent again and again */
	assert_wrong(STEP_psn, "");
}

typedef int view(FILE *out, const struct bring_up *b, const struct bring_up_report *r);

static void assert_shows(view *show, const char *words)
{
	struct bring_up_report r = report();
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(show(out, b, &r), 0);
	fclose(out);
	if (!strstr(text, words))
		fail_msg("'%s' is not in '%s'", words, text);
	free(text);
}

/* ---- pairs ---- */

/* A packet from 10.9.0.HOST to QP `dqpn`. */
static void from(__u8 host, __u32 dqpn, __u32 psn)
{
	const struct frame_spec s = { .opcode = UC_ONLY, .dqpn = dqpn, .psn = psn, .payload = 64, .dma_length = 64 };
	struct test_frame f;

	frame_build(&f, &s);
	f.bytes[f.l3 + 15] = host;
	put(f.bytes + f.l3 + 10, 0, 2);
	put(f.bytes + f.l3 + 10, frame_checksum(f.bytes + f.l3, 20, 0), 2);
	put(f.bytes + f.icrc, __builtin_bswap32(frame_icrc(&f)), 4);
	deliver(&f);
}

static void good(int packets)
{
	static __u32 psn;

	qp.type = TYPE_UC;
	while (packets--) {
		qp.rq_psn = ++psn;
		from(1, QPN, psn - 1);
	}
	rest(1);
}

#define STRAY 0x99 /* there is no such QP */

/* One packet of another pair before, in and after those of a good sender never makes it wrong. */
static void test_stray(void **state)
{
	(void)state;
	from(7, STRAY, 3);
	assert_wrong(STEP_qpn, "no QP here has QPN 153 (0x99)"); /* nothing else has come */
	good(3);
	assert_wrong(STEPS, "");
	from(7, STRAY, 4);
	assert_wrong(STEPS, "");
	good(20);
	from(8, STRAY, 4);
	from(1, STRAY, 4);
	assert_wrong(STEPS, "");
	assert_shows(bring_up_lines, "good     qpn       QPN 18 (0x12): rxe0");
	assert_shows(bring_up_lines, "qpn is wrong in 2 packets of 10.9.0.7 > 10.9.0.2 QPN 153 (0x99): --peer 10.9.0.7 shows it");
	assert_shows(bring_up_lines, "qpn is wrong in 1 packet of 10.9.0.1 > 10.9.0.2 QPN 153 (0x99): --filter 'qpn 0x99' shows it");
	assert_shows(bring_up_json, "\"pair\":{\"src\":\"10.9.0.1\",\"dst\":\"10.9.0.2\",\"dqpn\":18,\"peer_qpn\":null}");
}

/* One that has stopped gives way to one that goes on. */
static void test_quiet(void **state)
{
	(void)state;
	for (__u32 psn = 0; psn < 50; psn++)
		from(7, STRAY, psn);
	now += 6000000000;
	good(2);
	assert_wrong(STEPS, "");
}

/* However many other pairs there are, one that sends steadily keeps its place, and what it was found to be. */
static void test_flood(void **state)
{
	(void)state;
	for (__u32 i = 0; i < 20000; i++) {
		if (i % 32 == 0)
			good(1);
		from(i % 200 + 3, 1000 + i, i);
	}
	assert_wrong(STEPS, "");
	assert_shows(bring_up_lines, "good     qpn       QPN 18 (0x12): rxe0");
	assert_shows(bring_up_lines, " packets of more than 64 pairs were not followed");
	assert_shows(bring_up_lines, "more pairs, ");
}

static void test_peer(void **state)
{
	struct bring_up_options peer = options;
	__u8 seven[16] = { [10] = 0xff, 0xff, 10, 9, 0, 7 };

	(void)state;
	peer.peer = seven;
	b->options = &peer;
	good(20);
	assert_int_equal(b->stream_count, 0);
	from(7, STRAY, 3);
	assert_wrong(STEP_qpn, "0x99");
	assert_shows(bring_up_lines, "20 RoCE packets are left out by --peer");
	assert_shows(bring_up_json, "\"left_out\":20");
}

static void filter(const char *text, enum bring_up_step wrong, __u64 left_out)
{
	struct bring_up_options o = options;
	char mistake[FILTER_MISTAKE];
	struct filter *f = filter_parse(text, mistake);

	o.filter = f;
	b->options = &o;
	assert_non_null(f);
	assert_true(bring_up_begin(b));
	good(20);
	from(7, STRAY, 3);
	from(7, STRAY, 9);
	assert_wrong(wrong, "");
	assert_int_equal(b->left_out, left_out);
	b->options = &options;
	filter_free(f);
	end(NULL);
	begin(NULL);
}

static void test_filter(void **state)
{
	(void)state;
	filter("qpn 0x12", STEPS, 2);
	filter("not qpn 0x12", STEP_qpn, 20);
	filter("src 10.9.0.7 uc", STEP_qpn, 20);
	filter("packets>1 qpn 0x99", STEP_qpn, 21); /* counters are those up to the packet */
	filter("lost qpn 0x99", STEP_qpn, 21);
	filter("rc", STEPS, 22);
}

/* ---- what is shown ---- */

/* More packets than the exchange keeps, of more streams than are followed. */
static void test_views(void **state)
{
	struct bring_up_report shown;

	(void)state;
	exists = false;
	for (int i = 0; i < 2 * BRING_UP_STREAMS; i++)
		from(1, 0x100 + i, i);
	assert_shows(bring_up_lines, "64 packets of more than 64 pairs were not followed");
	assert_shows(bring_up_lines, "WRONG    qpn       no QP here has QPN 256 (0x100)");
	assert_shows(bring_up_lines, "56 more pairs, 56 of them wrong");
	assert_shows(bring_up_json, "\"not_followed\":64");
	shown = report();
	bring_up_picture("/dev/null", b, &shown); /* for the sanitizers: tests/bring_up.test reads a picture */
}

/* All steps are in the lines, and none is wider than the terminal. */
static void check_page(size_t width, size_t height)
{
	struct bring_up_report r = report();
	struct lines l = { .width = width };
	size_t steps = 0, fix = 0, wrong = 0;

	bring_up_page(&l, b, &r, height);
	assert_true(!height || l.count <= height);
	for (size_t i = 0; i < l.count; i++) {
		const char *text = l.line[i].text;

		assert_true(strlen(text) <= width);
		wrong += !strncmp(text, "WRONG    ", 9);
		fix += !strncmp(text, "       fix:        ", 19);
		if (steps < SENDER_STEPS && strlen(text) > 9 && !strncmp(text + 9, step_name(steps).text, strlen(step_name(steps).text)))
			steps++;
	}
	assert_int_equal(steps, SENDER_STEPS);
	assert_int_equal(wrong, 1);
	assert_int_equal(fix, 1);
	lines_clear(&l);
}

/* A reason that is as long as one can be, in the widths and heights of terminals. */
static void test_pages(void **state)
{
	static const size_t sizes[][2] = { { 80, 22 }, { 100, 28 }, { 132, 41 }, { 200, 48 }, { 40, 22 }, { 80, 19 }, { 80, 0 } };

	(void)state;
	for (int i = 0; i < 40; i++)
		from(1, 0x100 + i, i);
	good(100);
	for (enum bring_up_step s = STEP_mac; s < STEP_answer; s++) {
		struct bring_up_stream *shown = &b->streams[b->shown - b->streams];

		shown->failed = s;
		for (size_t i = 0; i < sizeof(shown->found) - 1; i++)
			shown->found[i] = i % 8 == 7 ? ' ' : 'x';
		memset(shown->expected, 'y', sizeof(shown->expected) - 1);
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
			check_page(sizes[i][0], sizes[i][1]);
	}
}

/* ---- a responder that is found ---- */

/* From the peer, or from here to it, a second after the last one. */
static void pass(bool ours, __u8 opcode, __u32 psn)
{
	const struct frame_spec s = { .opcode = opcode, .dqpn = QPN, .psn = psn, .payload = opcode == ACK ? 0 : 256, .dma_length = 256,
				      .syndrome = 0x1f };
	struct test_frame f;

	frame_build(&f, &s);
	if (ours) {
		swap(f.bytes, f.bytes + 6, 6);
		swap(f.bytes + f.l3 + 12, f.bytes + f.l3 + 16, 4);
		put(f.bytes + f.icrc, __builtin_bswap32(frame_icrc(&f)), 4);
	}
	now += NSEC_PER_SEC;
	deliver(&f);
}

static void ask_and_answer(__u32 from, int times)
{
	for (int i = 0; i < times; i++) {
		pass(true, RC_ONLY, from + i);
		pass(false, ACK, from + i);
	}
}

/* Whether it can be asked so many ns after the last packet. */
static bool can_after(__u64 ns)
{
	return answering_can_be_asked(b, b->answering.last + ns);
}

static void test_responder_is_found(void **state)
{
	struct endpoint peer = { .end = { .service = RDMA_RC, .gid = { [10] = 0xff, 0xff, 10, 9, 0, 1 } } };

	(void)state;
	exists = false;
	ask_and_answer(1, 2);
	assert_false(answering_found(b));
	ask_and_answer(3, 2);
	assert_true(answering_found(b));
	assert_int_equal(b->answering.answers, 4);
	assert_false(can_after(2 * BRING_UP_QUIET)); /* nobody describes it */
	assert_non_null(strstr(answering_words(b).text, "With --receiver FILE"));
	b->end.endpoint = &peer;
	assert_false(can_after(BRING_UP_QUIET)); /* somebody asks it */
	assert_true(can_after(BRING_UP_QUIET + 1));
	pass(true, RC_ONLY, 9);
	assert_false(can_after(BRING_UP_QUIET));
	assert_true(can_after(BRING_UP_QUIET + 1));
	peer.end.service = RDMA_UC;
	assert_false(can_after(2 * BRING_UP_QUIET));
	peer.end.service = RDMA_RC;
	peer.end.gid[15] = 2; /* this machine's: it describes who receives here */
	assert_false(can_after(2 * BRING_UP_QUIET));
	assert_non_null(strstr(answering_words(b).text, "and not it"));
	peer.end.gid[15] = 1;
	pass(false, RC_ONLY, 1);
	assert_false(answering_found(b)); /* it asks as well */
	assert_false(can_after(2 * BRING_UP_QUIET));
}

/* Another one that answers is not it; the one that --receiver describes takes the place of any. */
static void test_responders(void **state)
{
	const struct endpoint peer = { .end = { .service = RDMA_RC, .gid = { [10] = 0xff, 0xff, 10, 9, 0, 1 } } };

	(void)state;
	exists = false;
	ask_and_answer(1, 3);
	b->answering.address[15] = 7;
	ask_and_answer(4, 3);
	assert_int_equal(b->answering.answers, 3);
	assert_int_equal(b->answering.address[15], 7);
	b->end.endpoint = &peer;
	ask_and_answer(7, 3);
	assert_int_equal(b->answering.answers, 3);
	assert_int_equal(b->answering.address[15], 1);
	assert_true(can_after(BRING_UP_QUIET + 1));
}

/* What a switch floods between others says nothing of this machine, and is no answer to it. */
static void test_others(void **state)
{
	static const __u8 another[6] = { 2, 0, 0, 0, 0, 0x99 };

	(void)state;
	exists = false;
	memcpy(here.mac, another, 6);
	for (__u32 psn = 1; psn < 5; psn++) {
		pass(true, RC_ONLY, psn); /* not ours any more */
		pass(false, ACK, psn);
	}
	assert_int_equal(b->answering.answers, 0);
	assert_false(b->answering.others_ask);
	memcpy(here.mac, (__u8[]){ 2, 0, 0, 0, 0, 2 }, 6);
	ask_and_answer(5, 3);
	assert_true(answering_found(b));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_right), TEST(test_met_in_the_middle), TEST(test_stale_ahead), TEST(test_stale_behind), TEST(test_naks),
		TEST(test_dma_length_of_packet), TEST(test_place_of_icrc),
		TEST(test_loss_that_heals), TEST(test_states), TEST(test_no_qp), TEST(test_service), TEST(test_uc), TEST(test_sent_again),
		TEST(test_peer_qpn), TEST(test_cut), TEST(test_stray), TEST(test_quiet), TEST(test_flood), TEST(test_peer),
		TEST(test_filter), TEST(test_views), TEST(test_pages),
		TEST(test_responder_is_found), TEST(test_responders), TEST(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
