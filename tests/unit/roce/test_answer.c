// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// needs: files
/* ACK, NAK and CNP against frames written by the specification, whose ICRC is zlib's (tests/unit/frame.h). */
#include "tests/unit/cmocka_includes.h"
#include "tests/unit/frame.h"

#include "roce/datagram/datagram.h"
#include "roce/responder/answer.h"

static struct fold_tables tables;
static struct fold_work work; /* its zeroes must stay zero */

/* The request that is answered. */
static void build_request(struct test_frame *f, struct roce_packet *p, int tags, bool ipv6, uint8_t tos, int payload)
{
	struct frame_spec spec = { .tags = tags, .ipv6 = ipv6, .opcode = 0x0a, .dqpn = 0x123456, .psn = 0xabcdef, .payload = payload,
				   .dma_length = payload, .pad = -payload & 3, .tos = tos };
	uint8_t *window;

	frame_build(f, &spec);
	window = frame_window(f, f->length, ROCE_WINDOW_BYTES);
	roce_parse(window, f->length, f->length, NULL, p);
	free(window);
	assert_int_equal(p->kind, ROCE_PACKET);
}

/* The answer to that request, written once more. h: after UDP. Returns its length. */
static int expect(uint8_t *to, const struct test_frame *request, const struct roce_packet *p, const uint8_t *transport,
		  int bytes)
{
	struct test_frame f = { .l3 = request->l3, .udp = request->l3 + (p->ip_version == 4 ? 20 : 40) };
	const uint8_t *ip = request->bytes + request->l3;
	int udp = 8 + bytes + 4;
	uint8_t *h = f.bytes;

	memcpy(h, request->bytes + 6, 6);
	memcpy(h + 6, request->bytes, 6);
	memcpy(h + 12, request->bytes + 12, f.l3 - 12);
	h += f.l3;
	if (p->ip_version == 4) {
		h = put(put(put(put(h, 0x45, 1), p->tos & 0xfc, 1), 20 + udp, 2), 0x00004000, 4);
		h = put(put(put(h, 64, 1), 17, 1), 0, 2);
		memcpy(h, ip + 16, 4);
		memcpy(h + 4, ip + 12, 4);
		put(f.bytes + f.l3 + 10, frame_checksum(f.bytes + f.l3, 20, 0), 2);
	} else {
		h = put(put(put(put(h, 0x60000000u | (p->tos & 0xfc) << 20, 4), udp, 2), 17, 1), 64, 1);
		memcpy(h, ip + 24, 16);
		memcpy(h + 16, ip + 8, 16);
	}
	h = put(put(put(put(f.bytes + f.udp, 49159, 2), 4791, 2), udp, 2), 0, 2);
	f.bth = h - f.bytes;
	memcpy(h, transport, bytes);
	f.icrc = f.bth + bytes;
	f.end = f.icrc + 4;
	put(f.bytes + f.icrc, __builtin_bswap32(frame_icrc(&f)), 4);
	memcpy(to, f.bytes, f.end);
	return f.end;
}

struct made {
	__u32 opcode, psn, syndrome;
	const char *transport; /* of QP 0x777 with P_Key 0x8001, MSN 0x010203 */
	int bytes;
};

static const struct made all[] = {
	{ 0x11, 0xabcdef, AETH_ACK, "\x11\x40\x80\x01\0\0\x07\x77\0\xab\xcd\xef\x1f\x01\x02\x03", 16 },
	{ 0x11, 0, AETH_NAK_SEQUENCE, "\x11\x40\x80\x01\0\0\x07\x77\0\0\0\0\x60\x01\x02\x03", 16 },
	{ 0x11, 0xffffff, AETH_NAK_INVALID, "\x11\x40\x80\x01\0\0\x07\x77\0\xff\xff\xff\x61\x01\x02\x03", 16 },
	{ 0x11, 1, AETH_NAK_ACCESS, "\x11\x40\x80\x01\0\0\x07\x77\0\0\0\x01\x62\x01\x02\x03", 16 },
	{ 0x11, 2, AETH_RNR | 31, "\x11\x40\x80\x01\0\0\x07\x77\0\0\0\x02\x3f\x01\x02\x03", 16 },
	{ 0x81, 0xabcdef, AETH_ACK, "\x81\x40\x80\x01\x40\0\x07\x77\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 28 },
};

static void check_answer(const struct test_frame *request, const struct roce_packet *p, const struct made *m,
			 struct roce_answer *a)
{
	const struct roce_responder q = { .pkey = 0x8001, .peer_qpn = 0x777, .msn = 0x010203 };
	uint8_t want[256];
	int bytes = expect(want, request, p, (const uint8_t *)m->transport, m->bytes);

	memcpy(a->frame, request->bytes, ANSWER_HEAD);
	answer_make(a, p, &q, m->opcode, m->psn, m->syndrome);
	answer_icrc(a, &tables, &work);
	assert_int_equal(a->bytes, bytes);
	assert_memory_equal(a->frame, want, bytes);
	for (size_t i = 0; i < sizeof(work.zero); i++)
		assert_int_equal(work.zero[i], 0);
}

/* One after the other in the same memory, as in the program: nothing of an answer stays in the next one. */
static void test_answers(void **state)
{
	static struct test_frame request;
	static struct roce_answer a;
	struct roce_packet p;

	(void)state;
	memset(&a, 0xa5, sizeof(a.frame));
	for (int tags = 0; tags <= 3; tags++)
		for (int ipv6 = 0; ipv6 < 2; ipv6++)
			for (int tos = 0; tos < 256; tos += 51)
				for (size_t i = 0; i < ROCE_ARRAY_SIZE(all); i++) {
					build_request(&request, &p, tags, ipv6, tos, i % 2 ? 0 : 1024);
					check_answer(&request, &p, &all[i], &a);
				}
}

/* A frame whose IP header cannot be where the parser looks for it. */
static void test_no_answer(void **state)
{
	const struct roce_responder q = { 0 };
	static struct roce_answer a = { .bytes = 62 };
	struct roce_packet p = { .ip_version = 4, .l3_offset = 30 };

	(void)state;
	answer_make(&a, &p, &q, ANSWER_OPCODE_ACK, 0, AETH_ACK);
	assert_int_equal(a.bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_answers), cmocka_unit_test(test_no_answer) };

	fold_make_tables(&tables);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
