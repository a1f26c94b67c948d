// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * roce_parse() on any frame: it reads nothing beyond its window, uses nothing beyond the frame, and parses a packet as the
 * specification says. Input: flags, how much a capture keeps (1/256), bytes on the wire beyond the frame's (2), frame.
 */
#include "tests/fuzz/datagram.h"
#include "tests/fuzz/engine.h"
#include "tests/fuzz/must.h"
#include "tests/unit/ibta.h"

enum { WATCH_PORTS = 1, LONGER_ON_THE_WIRE = 2 };

static const struct roce_ports watched = { .port = { 7471, 0, 5001 } };

/* fill: the value of the bytes behind the frame. */
static struct roce_packet parse(const uint8_t *frame, size_t captured, size_t wire, const struct roce_ports *ports,
				uint8_t fill)
{
	/* exactly the readable bytes, so that the address sanitizer sees any read beyond them */
	uint8_t *window = malloc(ROCE_WINDOW_BYTES);
	struct roce_packet p;

	memset(window, fill, ROCE_WINDOW_BYTES);
	memcpy(window, frame, captured < ROCE_WINDOW_BYTES ? captured : ROCE_WINDOW_BYTES);
	memset(&p, fill, sizeof(p));
	engine_parse(window, captured, wire, ports, &p);
	free(window);
	return p;
}

/* How much of a packet is filled in besides its kind. */
static size_t filled(const struct roce_packet *p)
{
	return p->kind == ROCE_UDP ? sizeof(*p) : p->kind == ROCE_PACKET ? offsetof(struct roce_packet, udp) : 0;
}

/* Checks every field of the extension headers, at the offsets of the independent table of opcodes. */
static void check_extensions(const struct ibta_opcode *o, const uint8_t *at, const struct roce_packet *p)
{
	__u64 va = 0;
	__u32 rkey = 0, dma_length = 0, sqpn = 0, immediate = 0, syndrome = 0;

	for (const char *w = o ? o->what : ""; *w; w++) {
		switch (*w) {
		case 'Y': case 'X': case 'V': case 'H':
			at += 4;
			break;
		case 'D':
			sqpn = roce_be32(at + 4) & 0xffffff;
			at += 8;
			break;
		case 'R':
			va = roce_be64(at);
			rkey = roce_be32(at + 8);
			dma_length = roce_be32(at + 12);
			at += 16;
			break;
		case 'T':
			at += 28;
			break;
		case 'A':
			syndrome = at[0];
			at += 4;
			break;
		case 't':
			at += 8;
			break;
		case 'I':
			immediate = roce_be32(at);
			at += 4;
			break;
		}
	}
	must(p->va == va && p->rkey == rkey && p->dma_length == dma_length);
	must(p->sqpn == sqpn && p->immediate == immediate && p->syndrome == syndrome);
}

/* A field of a header that was cut off is 0, and its bit of `op` is not set. */
static void check_missing(const struct ibta_opcode *o, const struct roce_packet *p)
{
	must(!(p->op & ~OP_UNPLACED & ~OP_CUT & ~roce_opcodes[p->opcode]));
	must(p->op & OP_RETH || (!p->va && !p->rkey && !p->dma_length));
	must(p->op & OP_DETH || !p->sqpn);
	must(p->op & OP_IMMDT || !p->immediate);
	must(p->op & OP_AETH || (!p->syndrome && !p->msn));
	must(!(p->op & OP_UNPLACED) == !(strchr(o->what, 'D') && !(p->op & OP_DETH)));
}

static void check_addresses(const uint8_t *ip, const struct roce_packet *p)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (p->ip_version == 6) {
		must(!memcmp(p->src, ip + 8, 16) && !memcmp(p->dst, ip + 24, 16));
		must(p->tos == (big16(ip) >> 4 & 0xff) && p->ttl == ip[7]);
		return;
	}
	must(!memcmp(p->src, mapped, 12) && !memcmp(p->src + 12, ip + 12, 4));
	must(!memcmp(p->dst, mapped, 12) && !memcmp(p->dst + 12, ip + 16, 4));
	must(p->tos == ip[1] && p->ttl == ip[8] && p->ip_df == (ip[6] >> 6 & 1));
}

static void check_udp(const uint8_t *udp, const struct fuzz_datagram *d, const struct roce_packet *p)
{
	must(p->udp_source_port == big16(udp) && p->udp_port == big16(udp + 2) && p->udp_length == big16(udp + 4));
	must(p->ip_payload == (d->end > d->udp ? d->end - d->udp : 0));
}

/* Checks a packet or a watched datagram; d: where its headers are. */
static void check_headers(const uint8_t *frame, const struct fuzz_datagram *d, const struct roce_packet *p)
{
	must(!d->fragment);
	must(p->l3_offset == d->ip && p->l4_offset == (d->rocev1 ? d->bth : d->udp));
	must(p->vlan_tags == d->tags && (!d->tags || p->vlan == (big16(frame + d->ip - 4) & 0xfff)));
	must(p->ip_version == (d->ipv6 ? 6 : 4));
	must(!memcmp(p->dst_mac, frame, 6) && !memcmp(p->src_mac, frame + 6, 6));
	check_addresses(frame + d->ip, p);
	if (!d->rocev1)
		check_udp(frame + d->udp, d, p);
}

static void check_packet(const uint8_t *frame, size_t captured, size_t wire, const struct fuzz_datagram *d,
			 const struct roce_packet *p)
{
	const uint8_t *bth = frame + d->bth;
	const struct ibta_opcode *o = ibta_find(bth[0]);
	size_t headers = d->bth + 12 + (o ? o->bytes : 0);

	must(p->opcode == bth[0] && !p->op == !o && p->service == bth[0] >> 5);
	must(d->rocev1 || p->udp_port == 4791);
	must(p->pad == (bth[1] >> 4 & 3) && p->tver == (bth[1] & 15) && p->pkey == big16(bth + 2));
	must(p->dqpn == roce_be24(bth + 5) && p->number == roce_be24(bth + 9) && p->ackreq == bth[8] >> 7);
	must(d->bth + 12 <= captured);
	must(p->icrc_offset + 4 == d->end && p->frame_bytes == (d->end > wire ? d->end : wire));
	must(headers + p->payload_bytes + p->pad == p->icrc_offset);
	must(p->truncated == (captured < d->end));
	must(p->ends_at == (d->end > wire && !d->rocev1 ? wire : 0));
	must(!(p->op & OP_CUT) || headers > captured);
	if (headers <= captured)
		check_extensions(o, bth + 12, p);
	else
		check_missing(o, p);
}

/* Datagrams with complete headers are packets, unless their lengths contradict each other. */
static void check_kind(const uint8_t *frame, size_t captured, size_t wire, const struct fuzz_datagram *d,
		       const struct roce_packet *p)
{
	size_t seen = captured < ROCE_WINDOW ? captured : ROCE_WINDOW;
	const uint8_t *bth = frame + d->bth;
	const struct ibta_opcode *o;
	size_t least;

	if (d->fragment) {
		must(p->kind == ROCE_FRAGMENT);
		return;
	}
	if (d->rocev1 || big16(frame + d->udp + 2) != 4791)
		return;
	if ((d->end > wire && (p->ip_checksum_wrong || d->udp + big16(frame + d->udp + 4) <= wire)) || d->bth + 12 + 4 > d->end) {
		must(p->kind == ROCE_MALFORMED);
		return;
	}
	if (d->bth + 12 > seen) {
		must(p->kind == ROCE_OTHER && p->truncated == (d->bth + 12 > captured));
		return;
	}
	o = ibta_find(bth[0]);
	least = d->bth + 12 + (o ? o->bytes : 0);
	if (least + (bth[1] >> 4 & 3) + 4 > d->end)
		must(p->kind == ROCE_MALFORMED);
	else if (least <= seen || least > captured)
		must(p->kind == ROCE_PACKET);
}

static void check_counters(struct roce_packet *p, enum icrc_verdict icrc)
{
	struct roce_totals c = { 0 };
	const __u64 *v = c.value;

	engine_count(&c, p, icrc);
	must(v[COUNTER_frames] == 1);
	must(v[COUNTER_frames] == v[COUNTER_other_frames] + v[COUNTER_rocev1_packets] + v[COUNTER_ip_fragments] +
				  v[COUNTER_malformed] + v[COUNTER_roce_packets]);
	must(v[COUNTER_roce_packets] == v[COUNTER_icrc_checked] + v[COUNTER_icrc_unchecked]);
	must(v[COUNTER_roce_packets] + v[COUNTER_rocev1_packets] == (p->kind == ROCE_PACKET || p->kind == ROCE_V1));
	must(v[COUNTER_udp_packets] == (p->kind == ROCE_UDP));
	must(v[COUNTER_icrc_bad] == (p->kind == ROCE_PACKET && icrc == ICRC_BAD));
	must(v[COUNTER_truncated] <= (p->kind == ROCE_PACKET));
	must(v[COUNTER_acks] + v[COUNTER_naks] + v[COUNTER_rnr_naks] + v[COUNTER_cnps] + v[COUNTER_unknown_opcodes] <=
	     (p->kind == ROCE_PACKET));
	must(v[COUNTER_nak_psn_sequence] + v[COUNTER_nak_invalid_request] + v[COUNTER_nak_remote_access] +
	     v[COUNTER_nak_remote_operational] <= v[COUNTER_naks]);
	must(v[COUNTER_bytes] == (filled(p) ? p->frame_bytes : 0));
	must(p->kind == ROCE_UDP || v[COUNTER_payload_bytes] <= v[COUNTER_bytes]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	unsigned int flags = input_byte(&in), kept = input_byte(&in), longer = input_number(&in, 2);
	const struct roce_ports *ports = flags & WATCH_PORTS ? &watched : NULL;
	const uint8_t *frame = in.at;
	size_t captured = in.left, wire = captured + (flags & LONGER_ON_THE_WIRE ? longer : 0);
	struct roce_packet p = parse(frame, captured, wire, ports, 0x00);
	struct roce_packet again = parse(frame, captured, wire, ports, 0xff);
	struct roce_packet cut = parse(frame, captured * kept / 256, wire, ports, 0xa5);
	struct fuzz_datagram d;
	bool found = datagram_find(frame, captured, &d);

	must(p.kind == again.kind && !memcmp(&p, &again, filled(&p)));
	must(p.kind <= ROCE_UDP && p.frame_bytes >= wire && (p.frame_bytes == wire || p.truncated || !filled(&p)));
	/* a frame that a capture cut is never malformed, if the whole one is not */
	must(cut.kind == p.kind || cut.kind == ROCE_OTHER || (d.ethertype == 0x8915 && cut.kind == ROCE_V1) ||
	     (cut.kind == ROCE_PACKET && cut.op & OP_CUT));
	must(!filled(&p) || found);
	must(p.kind != ROCE_UDP || (ports && !d.rocev1));
	if (d.ethertype == 0x8915)
		must(p.kind == ROCE_V1 || (p.kind == ROCE_PACKET && d.rocev1));
	else
		must(p.kind != ROCE_V1);
	if (filled(&p))
		check_headers(frame, &d, &p);
	if (p.kind == ROCE_PACKET)
		check_packet(frame, captured, wire, &d, &p);
	if (found && d.bth <= ROCE_WINDOW)
		check_kind(frame, captured, wire, &d, &p);
	for (enum icrc_verdict icrc = ICRC_UNCHECKED; icrc <= ICRC_BAD; icrc++)
		check_counters(&p, icrc);
	return 0;
}
