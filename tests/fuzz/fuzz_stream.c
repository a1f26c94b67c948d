// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Checks a stream's counters after every packet, for any packets. Also checks that a sequence counts the same at every place of
 * the 24-bit circle: each packet goes to a second set of streams as well, with its PSN shifted. Input: first PSN (3 bytes),
 * shift (3), then four bytes per packet: opcode, stream and ICRC (see struct fuzz_step), PSN, lengths.
 */
#include "roce/event/event.h"
#include "tests/fuzz/engine.h"
#include "tests/fuzz/must.h"
#include "tests/unit/ibta.h"

#define QPS 4
#define STREAMS (QPS * 4) /* request, response, datagrams, --udp */
#define SHIFTS 0xf00000u /* streams take samples at multiples of up to 2^20 */
#define SEQUENCE_64 (1ull << 40) /* where the numbers of --udp start */

enum { PACKET_SCOPE = 1, STREAM_SCOPE = 2, RISES = 4 };

/* For each counter: who counts it, and whether it only rises. */
static const __u8 traits[ROCE_COUNTERS] = {
#define COUNT RISES
#define GAUGE 0
#define LEAST 0
#define MOST RISES
#define COUNTER(name, unit, kind, scope, ...)                                                         \
	[COUNTER_##name] = (kind) | (SCOPE_##scope == SCOPE_PACKET) * PACKET_SCOPE |                  \
			   (SCOPE_##scope >= SCOPE_STREAM) * STREAM_SCOPE,
#include "roce/stream/counters.def"
#undef COUNTER
#undef MOST
#undef LEAST
#undef GAUGE
#undef COUNT
};

struct fuzz_place {
	struct roce_key key;
	struct roce_stream stream, shifted;
	__u64 packets, good, lasts, ends; /* packets given to the stream; ends: perhaps of blocks */
	__u64 sequenced;	    /* of these, the ones with a place in the sequence since the stream's start */
	__u64 stepped;		    /* PSNs taken by unknown opcodes, except those that a known packet took back, */
	__s32 steps;		    /* and how many of them are the last ones */
	bool leaps;		    /* had packets that move the sequence by more than one: READs, responses, new runs */
	__u32 run;
};

static struct fuzz_place places[STREAMS];
static __u32 shift;

static struct fuzz_place *find_place(const struct roce_packet *p)
{
	static const struct roce_key none;
	struct fuzz_place *at = places;
	struct roce_key key;

	roce_stream_key(p, &key);
	while (memcmp(&at->key, &none, sizeof(none)) && memcmp(&at->key, &key, sizeof(key)))
		must(++at < places + STREAMS);
	at->key = key;
	return at;
}

static void check_stream(const struct fuzz_place *at)
{
	const struct roce_stream *s = &at->stream;
	const __u64 *v = s->counters.value;

	must(v[COUNTER_roce_packets] + v[COUNTER_udp_packets] == at->packets);
	must(v[COUNTER_roce_packets] == v[COUNTER_icrc_checked] + v[COUNTER_icrc_unchecked]);
	must(v[COUNTER_icrc_bad] <= v[COUNTER_icrc_checked]);
	must(v[COUNTER_psn_recovered] <= v[COUNTER_psn_skipped]);
	must(v[COUNTER_psn_gaps] <= v[COUNTER_psn_skipped]);
	must(v[COUNTER_psn_skipped] <= v[COUNTER_psn_gaps] * PSN_GAP_MAX);
	must(v[COUNTER_psn_gaps] + v[COUNTER_psn_resyncs] <= at->packets);
	must(v[COUNTER_psn_duplicates] + v[COUNTER_psn_late_unknown] <= at->packets);
	must(v[COUNTER_psn_strays] + v[COUNTER_psn_interleaved] <= s->sequence.waited && s->sequence.waited <= at->packets);
	must(v[COUNTER_psn_resyncs] <= v[COUNTER_psn_restarts]);
	/* every message, whole or broken, has at least one packet; a whole one has a Last */
	must(v[COUNTER_messages] + v[COUNTER_messages_broken] <= at->packets);
	must(v[COUNTER_messages] <= at->lasts);
	/* the slots of a ring are those on the wire, also where a receiver drops the message */
	must(v[COUNTER_imm_gaps] <= v[COUNTER_imm_skipped] && v[COUNTER_imm_gaps] <= v[s->by_ring ? COUNTER_blocks : COUNTER_messages]);
	must(v[COUNTER_blocks_incomplete] <= v[COUNTER_blocks] && v[COUNTER_blocks] <= at->ends);
	must(v[COUNTER_nak_psn_sequence] + v[COUNTER_nak_invalid_request] + v[COUNTER_nak_remote_access] +
	     v[COUNTER_nak_remote_operational] <= v[COUNTER_naks]);
	/* trusted after a good ICRC, or without any as long as none was bad */
	must(s->trusted == (at->good || !v[COUNTER_icrc_bad]));
	must(!s->path_mtu || roce_is_path_mtu(s->path_mtu));
	must(s->first_seen <= s->last_seen || !s->last_seen);
}

/* Every number that the sequence has passed was seen or skipped, and every packet has one place. */
static void check_sequence(const struct fuzz_place *at)
{
	const __u64 *v = at->stream.counters.value, late = v[COUNTER_psn_duplicates] + v[COUNTER_psn_late_unknown];

	if (at->leaps || v[COUNTER_psn_resyncs] || at->stream.sequence.waited)
		return;
	must(v[COUNTER_psn_recovered] + late + v[COUNTER_psn_gaps] <= at->sequenced);
	must(engine_moved(&at->stream) == ((at->sequenced + at->stepped - v[COUNTER_psn_recovered] - late +
					    v[COUNTER_psn_skipped]) & PSN_MASK));
}

/* Counts the PSNs that packets with unknown opcodes take. */
static void note_step(struct fuzz_place *at, const struct roce_stream *was, const struct roce_packet *p)
{
	__s32 d = psn_distance(was->psn.next & PSN_MASK, p->number & PSN_MASK);

	if (!at->sequenced)
		return;
	if (!p->op) {
		at->stepped += !d;
		at->steps += !d;
	} else if (d >= -at->steps) {
		at->stepped += d < 0 ? d : 0;
		at->steps = 0;
	}
}

/* Counts, for check_sequence(), packets with a place in the sequence: not CNPs, acknowledgements and packets without number. */
static void note_sequence(struct fuzz_place *at, const struct roce_stream *was, const struct roce_packet *p,
			  enum icrc_verdict icrc)
{
	bool numbered = p->kind == ROCE_UDP ? !p->foreign && !p->stream_end : p->op && !(p->op & (OP_CNP | OP_ACK));

	if (at->stream.trusted && !was->trusted && !was->mistrusted) { /* the sequence starts again */
		at->sequenced = at->stepped = at->steps = 0;
		at->leaps = false;
		at->run = p->run;
	}
	if (icrc == ICRC_BAD && at->stream.trusted)
		return;
	if (p->kind == ROCE_PACKET && (numbered || !p->op))
		note_step(at, was, p);
	if (!numbered)
		return;
	if (!at->sequenced++)
		at->run = p->run;
	at->leaps |= p->op & (OP_READ_REQUEST | OP_RESPONSE) || p->run != at->run;
}

/* Checks the effect of one packet; was: the stream before it. */
static void check_step(const struct roce_stream *was, const struct roce_stream *is, enum icrc_verdict icrc)
{
	bool restarted = is->trusted && !was->trusted && !was->mistrusted;

	for (int c = 0; c < ROCE_STREAM_COUNTERS; c++) {
		__u64 before = was->counters.value[c], after = is->counters.value[c];

		if (!(traits[c] & (PACKET_SCOPE | STREAM_SCOPE)))
			must(!after); /* not counted by streams */
		else if (traits[c] & RISES && !(restarted && traits[c] & STREAM_SCOPE))
			must(after >= before);
		if (icrc == ICRC_BAD && was->trusted && is->trusted && traits[c] & STREAM_SCOPE)
			must(after == before); /* a bad packet of a trusted stream changes nothing else */
	}
	if (is->message.changes != was->message.changes || (is->trusted && !was->trusted))
		return;
	must(is->sequence.waited == was->sequence.waited && !memcmp(is->lint, was->lint, sizeof(is->lint)));
#define EVENT(...)
#define EVENT_OF(name, counter, ...) must(is->counters.value[COUNTER_##counter] == was->counters.value[COUNTER_##counter]);
#include "roce/event/event.def"
#undef EVENT
}

/* Compares the two streams, which differ only in their place on the circle. */
static void check_shifted(const struct fuzz_place *at)
{
	const struct roce_stream *s = &at->stream, *shifted = &at->shifted;

	must(!memcmp(&s->counters, &shifted->counters, sizeof(s->counters)));
	must(!memcmp(s->lint, shifted->lint, sizeof(s->lint)));
	must(s->trusted == shifted->trusted && s->path_mtu == shifted->path_mtu && s->service == shifted->service);
}

static void give(const struct roce_packet *p, enum icrc_verdict icrc, __u64 now)
{
	struct fuzz_place *at = find_place(p);
	struct roce_stream was = at->stream;
	struct roce_packet here = *p, elsewhere = *p;

	at->packets++;
	at->good += icrc == ICRC_GOOD;
	at->lasts += !!(p->op & OP_LAST);
	at->ends += !!(p->op & (OP_LAST | OP_RETH)); /* a late First may complete what ends with another packet */
	engine_observe(&at->stream, &here, icrc, now);
	check_step(&was, &at->stream, icrc);
	check_stream(at);
	note_sequence(at, &was, &here, icrc);
	check_sequence(at);
	elsewhere.number += shift;
	if (p->kind == ROCE_PACKET)
		elsewhere.number &= PSN_MASK;
	engine_observe(&at->shifted, &elsewhere, icrc, now);
	check_shifted(at);
}

/* The second byte of a packet. */
struct fuzz_step {
	__u8 icrc;    /* 0, 1: good; 2: bad; 3: unchecked */
	__u8 qp;      /* 2 bits */
	__u8 payload; /* 3 bits: index of payloads[] */
	bool plain;   /* immediate data counts up; if not plain it is random, like P_Key, DF and ECN */
};

static const __u16 payloads[8] = { 0, 256, 1024, 4096, 1408, 100, 512, 2048 };

/* The distance from the expected PSN: exact if small, in coarser steps if larger, then anywhere (3 more bytes). */
static __s32 take_distance(struct input *in)
{
	__s32 d = (__s8)input_byte(in);

	if (d == -128)
		return psn_distance(0, input_number(in, 3));
	if (d > 100)
		return (d - 100) * 2500;
	if (d < -100)
		return (d + 100) * 90;
	return d;
}

static struct roce_packet take_packet(struct input *in, enum icrc_verdict *icrc)
{
	static const enum icrc_verdict verdicts[] = { ICRC_GOOD, ICRC_GOOD, ICRC_BAD, ICRC_UNCHECKED };
	__u32 opcode = input_byte(in) % (IBTA_OPCODES + 2), which = input_byte(in);
	struct fuzz_step step = { which & 3, which >> 2 & 3, which >> 4 & 7, !(which >> 7) };
	struct roce_packet p = {
		.kind = ROCE_PACKET, .ip_version = 4, .ip_df = step.plain, .pkey = step.plain ? 0xffff : 0,
		.dqpn = step.qp + 1, .payload_bytes = payloads[step.payload], .frame_bytes = 1500,
		.src = { [15] = 1 }, .dst = { [15] = 2 }, .tos = step.plain ? 0 : 3,
	};

	*icrc = verdicts[step.icrc];
	if (opcode > IBTA_OPCODES) { /* a packet of --udp: no opcode and no ICRC */
		p.kind = ROCE_UDP;
		p.service = SERVICE_UDP;
		p.foreign = !step.plain;
		p.udp_port = 7471;
		*icrc = ICRC_UNCHECKED;
		return p;
	}
	p.opcode = opcode < IBTA_OPCODES ? ibta_opcodes[opcode].opcode : 0x3f;
	p.op = roce_opcodes[p.opcode];
	p.service = p.opcode >> 5;
	p.sqpn = p.op & OP_DETH ? step.qp + 1 : 0;
	return p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	__u32 first = input_number(&in, 3);
	__u64 next[QPS][2], immediate[QPS] = { 0 }, now = 0;
	struct roce_blocks_by ring = { .by_ring = true };

	if (first & 1) /* a told ring */
		ring.ring = (struct roce_ring){ .start = first, .slot = 256 + (first & 0x300), .slots = 2 + (first >> 10 & 15) };
	shift = input_number(&in, 3) & SHIFTS;
	for (int i = 0; i < STREAMS; i++) {
		late_give(&places[i].stream.psn);
		late_give(&places[i].shifted.psn);
	}
	memset(places, 0, sizeof(places));
	for (int i = 0; i < QPS; i++) {
		next[i][0] = first;
		next[i][1] = SEQUENCE_64 + first;
	}
	while (in.left) {
		enum icrc_verdict icrc;
		struct roce_packet p = take_packet(&in, &icrc);
		__u64 *expected = &next[p.dqpn - 1][p.kind == ROCE_UDP];
		__s32 distance = take_distance(&in);
		__u32 lengths = input_byte(&in);

		p.number = *expected + distance;
		if (p.kind == ROCE_UDP) {
			p.run = lengths >> 6;
			p.stream_end = lengths == 0x3f;
		} else {
			p.number &= PSN_MASK;
			p.syndrome = lengths;
			p.dma_length = lengths == 0xff ? ~0u : (lengths & 15) << (lengths >> 4);
			p.immediate = p.ip_df ? ++immediate[p.dqpn - 1] : lengths;
			p.va = p.immediate * (p.dqpn * 256) % 0x3000;
			if (p.dqpn > QPS / 2)
				roce_tell_blocks(&p, &ring);
		}
		if (distance >= 0)
			*expected = p.number + 1;
		give(&p, icrc, now++);
	}
	return 0;
}
