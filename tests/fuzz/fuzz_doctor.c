// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The doctor on frames of any kind, with a receiver that is known and four ports of --udp: it reads nothing beyond them; its
 * findings can be printed.
 * Input, a frame: changes to make (1 byte, see give()), its length (2 bytes, up to 1023 of them count), its bytes.
 */
#include <zlib.h>

#include "lib/bytes.h"
#include "tests/fuzz/must.h"
#include "userspace/diagnose/doctor/doctor.h"
#include "userspace/observe/model/udp_ports.h"

enum { MAKE_RIGHT = 1, CUT = 2, BARE = 4, APART = 8, HEADERS = 16, WATCHED = 32, PORT = 64 /* and 128: to which one */ };

#define FIRST_PORT 5001
static const char *const told_ports = "5001,seq=0:32,step=2,stream=32:8,5002,spead,step=1,5003,vdif,5004,vita49";

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
static void give(struct doctor *d, struct observer *o, const struct roce_ports *ports, __u8 *bytes, __u32 length, __u32 what,
		 __u64 number)
{
	__u32 captured = what & CUT ? length / 2 : length;
	struct observer_frame frame = { .bytes = bytes, .captured = captured, .wire = length, .no_icrc = what & BARE };
	struct doctor_packet p = { .number = number, .frame = &frame, .apart = what & APART, .time = number * 7000 };
	struct observer_parsed parsed;
	struct roce_event event;

	observer_parse(&frame, ports, &parsed);
	if (what & WATCHED && parsed.packet.l4_offset && parsed.packet.udp_port) {
		put16(bytes + parsed.packet.l4_offset + 2, FIRST_PORT + what / PORT);
		observer_parse(&frame, ports, &parsed);
	}
	if (what & MAKE_RIGHT && parsed.packet.kind == ROCE_PACKET && !parsed.packet.truncated) {
		roce_store(__u32, bytes + parsed.packet.icrc_offset, observer_icrc(&parsed.packet, bytes));
		observer_parse(&frame, ports, &parsed);
	}
	if (what & HEADERS) {
		if (parsed.packet.kind == ROCE_PACKET)
			doctor_remember(d, &frame, &parsed.packet);
		return;
	}
	p.stream = observer_follow(o, &frame, &parsed, number, &event);
	p.parsed = &parsed;
	p.event = &event;
	doctor_take(d, &p);
}

/* That to which the frames of the seeds go. */
static void know(struct endpoint *t)
{
	static const char line[] = "{\"transport\":\"uc\",\"size\":4096,\"path_mtu\":256,"
		"\"gid\":\"00000000000000000000ffff0a090002\",\"lid\":0,"
		"\"qps\":[{\"qpn\":17,\"psn\":0,\"rkey\":7,\"address\":4096}],\"slots\":1}";
	char why[CONTROL_WHY];
	json_t *message = control_parse(line, strlen(line), why);

	must(message && endpoint_parse(message, t, why));
	json_decref(message);
}

/* Packets that show it, and those of its consequences. */
static __u64 agreeing(const struct findings *f, const struct finding *it)
{
	__u64 packets = it->packets;

	for (size_t i = 0; i < f->count; i++)
		if (finding_is_below(&f->list[i], it))
			packets += f->list[i].packets;
	return packets;
}

/* A consequence stands below one finding. */
static bool has_cause(const struct findings *f, const struct finding *it)
{
	size_t causes = 0;

	for (size_t i = 0; i < f->count; i++)
		causes += finding_is_below(it, &f->list[i]);
	return causes == 1 && it->cause_count;
}

static void check(const struct findings *f)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct finding *one = &f->list[i];

		must(*one->kind && *one->text && *one->fix);
		must(strlen(one->text) < sizeof(one->text) && strlen(one->fix) < sizeof(one->fix));
		must(one->evidence_count <= FINDING_EVIDENCE);
		must(!one->certain || agreeing(f, one) >= FINDING_PACKETS);
		must(!one->below || (!one->certain && has_cause(f, one)));
		must(!one->hint || !one->certain);
		for (size_t k = 0; k < one->evidence_count; k++)
			must(one->evidence[k].frame || one->hint);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct observer o = { .table.max = 1000, .compares = true };
	struct roce_totals totals = { 0 };
	struct doctor *d = doctor_new();
	struct input in = { data, size };
	struct roce_ports ports = { 0 };
	struct findings f = { 0 };
	struct doctor_losses losses[LOSSES_BY];
	char mistake[UDP_MISTAKE];
	struct snapshot s;
	struct endpoint endpoint;

	know(&endpoint);
	must(d && udp_ports_add(&ports, told_ports, mistake));
	doctor_udp(d, &ports);
	doctor_receiver(d, &endpoint);
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
		give(d, &o, &ports, bytes, length, what, number);
		free(bytes);
	}
	s = (struct snapshot){ .streams = o.table.streams, .stream_count = o.table.count };
	doctor_flows(d, &s);
	must(doctor_conclude(d, &totals, &f));
	check(&f);
	doctor_losses(d, losses);
	for (int by = 0; by < LOSSES_BY; by++)
		must(losses[by].rows <= LOSSES_ROWS && losses[by].rows <= losses[by].values);
	must(doctor_checked(d).packets <= o.totals.value[COUNTER_frames]);
	findings_free(&f);
	doctor_free(d);
	endpoint_free(&endpoint);
	observer_free(&o);
	return 0;
}
