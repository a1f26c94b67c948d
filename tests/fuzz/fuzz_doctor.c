// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The doctor on frames of any kind, with a receiver that is known: it reads nothing beyond them; its findings can be printed.
 * Input, a frame: changes to make (1 byte, see give()), its length (2 bytes, up to 1023 of them count), its bytes.
 */
#include <zlib.h>

#include "tests/fuzz/must.h"
#include "userspace/doctor/doctor.h"

enum { MAKE_RIGHT = 1, CUT = 2, BARE = 4, APART = 8, HEADERS = 16 };

/* Replaces ISA-L's, whose assembler the address sanitizer does not see: this reads every byte in C first. */
unsigned int crc32_gzip_refl(unsigned int crc, const unsigned char *bytes, uint64_t length)
{
	volatile unsigned char seen;

	for (uint64_t i = 0; i < length; i++)
		seen = bytes[i];
	(void)seen;
	return crc32(crc, bytes, length);
}

/* bytes: exactly the readable ones. */
static void give(struct doctor *d, struct observer *o, __u8 *bytes, __u32 length, __u32 what, __u64 number)
{
	__u32 captured = what & CUT ? length / 2 : length;
	struct observer_frame frame = { .bytes = bytes, .captured = captured, .wire = length, .no_icrc = what & BARE };
	struct doctor_packet p = { .number = number, .frame = &frame, .apart = what & APART };
	struct observer_look look;
	struct roce_event event;

	observer_look(&frame, NULL, &look);
	if (what & MAKE_RIGHT && look.packet.kind == ROCE_PACKET && !look.packet.truncated) {
		roce_store(__u32, bytes + look.packet.icrc_offset, observer_icrc(&look.packet, bytes));
		observer_look(&frame, NULL, &look);
	}
	if (what & HEADERS) {
		if (look.packet.kind == ROCE_PACKET)
			doctor_remember(d, &frame, &look.packet);
		return;
	}
	p.stream = observer_follow(o, &frame, &look, number, &event);
	p.look = &look;
	p.event = &event;
	doctor_take(d, &p);
}

/* That to which the frames of the seeds go. */
static void know(struct told *t)
{
	static const char line[] = "{\"transport\":\"uc\",\"size\":4096,\"path_mtu\":256,"
		"\"gid\":\"00000000000000000000ffff0a090002\",\"lid\":0,"
		"\"qps\":[{\"qpn\":17,\"psn\":0,\"rkey\":7,\"address\":4096}],\"slots\":1}";
	char why[CONTROL_WHY];
	json_t *message = control_parse(line, strlen(line), why);

	must(message && told_parse(message, t, why));
	json_decref(message);
}

static void check(const struct findings *f)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *one = &f->list[i];

		must(*one->kind && *one->text && *one->fix);
		must(strlen(one->text) < sizeof(one->text) && strlen(one->fix) < sizeof(one->fix));
		must(one->evidence_count <= FINDING_EVIDENCE);
		must(!one->certain || one->packets >= FINDING_PACKETS);
		must(!one->hint || !one->certain);
		for (size_t k = 0; k < one->evidence_count; k++)
			must(one->evidence[k].frame || one->hint);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct observer o = { .table.max = 1000 };
	struct roce_totals totals = { 0 };
	struct doctor *d = doctor_new();
	struct input in = { data, size };
	struct findings f = { 0 };
	struct told told;

	know(&told);
	must(d);
	doctor_receiver(d, &told);
	for (__u64 number = 1; in.left; number++) {
		__u32 what = input_byte(&in), length = input_number(&in, 2) & 1023;
		__u8 *bytes;

		if (length > in.left)
			length = in.left;
		bytes = calloc(1, length + OBSERVER_READABLE);
		must(bytes);
		memcpy(bytes, in.at, length);
		in.at += length;
		in.left -= length;
		give(d, &o, bytes, length, what, number);
		free(bytes);
	}
	must(doctor_conclude(d, &totals, &f));
	check(&f);
	must(doctor_checked(d).packets <= o.totals.value[COUNTER_frames]);
	findings_free(&f);
	doctor_free(d);
	told_free(&told);
	observer_free(&o);
	return 0;
}
