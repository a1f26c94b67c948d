// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A QP's responder on any packets. Whatever comes, payload goes only to the region or the receive buffer of its message, the PSN
 * moves only with a packet that is taken, a message ends once, and a QP in error is silent.
 * Input: service, path MTU and receives (1 byte), first PSN (3), receives posted (1), then six bytes a packet: see next_packet().
 */
#include "roce/responder/respond.h"
#include "tests/fuzz/must.h"
#include "tests/unit/ibta.h"

enum { ENDLESS = 0x10, NO_SLOTS = 0x20 };			      /* of the first byte */
enum { BAD_ICRC = 1, STRANGER = 2, ACKREQ = 4, COPY_FAILS = 8, POST = 16 }; /* of a packet */

static const struct roce_region regions[] = {
	{ .va = 0x10000, .at = 4096, .bytes = 20000, .rkey = 1, .index = 1 },
	{ .va = -5000ull, .at = 50000, .bytes = 4999, .rkey = 2, .index = 2 },
	{ .va = 1ull << 40, .at = 1ull << 33, .bytes = 1ull << 33, .rkey = 3, .index = 3 },
};

struct checked {
	struct roce_responder q;
	__u64 posted;
	__u64 begun, ended; /* messages whose First was taken */
	__u64 complete;
	__u64 copied; /* bytes of the open message */
};

static void set_up(struct checked *c, struct input *in)
{
	__u32 how = input_byte(in);

	memset(c, 0, sizeof(*c));
	c->q = (struct roce_responder){
		.receive_at = 100000, .receive_bytes = 9000, .receive_slots = how & NO_SLOTS ? 0 : 3, .path_mtu = 256u << (how & 7) % 5,
		.pkey = 0xffff, .service = how >> 3 & 1, .state = RESPONDER_READY, .endless = !!(how & ENDLESS), .rnr_timer = 7,
		.expected = input_number(in, 3),
	};
	c->posted = input_byte(in);
}

/* A length near one of those that matter. */
static __u32 near(__u32 code, __u32 mtu, __u32 length)
{
	const __u32 of[] = { 0, mtu, 2 * mtu, 3 * mtu, length, 4999, 20000, 1u << 31 };

	return of[code & 7] + (code >> 3) % 5 - 2 * (code >> 3 & 1);
}

/* Bytes: opcode's index in tests/unit/ibta.h, distance of the PSN, payload, DMA length, address, region and flags. */
static struct roce_packet next_packet(const struct checked *c, struct input *in, __u32 *flags, const struct roce_region **region)
{
	__u32 index = input_byte(in), distance = input_byte(in), payload = input_byte(in), dma = input_byte(in), va = input_byte(in);
	__u32 of = input_byte(in);
	__u8 opcode = index < IBTA_OPCODES ? ibta_opcodes[index].opcode : index;
	struct roce_packet p = { .kind = ROCE_PACKET, .opcode = opcode, .op = roce_opcodes[opcode], .service = opcode >> 5,
				 .pkey = 0xffff, .immediate = index };

	*flags = of >> 2;
	*region = (of & 3) < ROCE_ARRAY_SIZE(regions) ? &regions[of & 3] : NULL;
	p.number = (c->q.expected + (distance == 128 ? 1u << 23 : distance == 127 ? (1u << 23) - 1 : (__u32)(__s8)distance)) & 0xffffff;
	p.payload_bytes = near(payload, c->q.path_mtu, c->q.length - c->q.placed) & 0x1fff;
	p.pad = payload >> 7 ? 1 : -p.payload_bytes & 3;
	p.ackreq = !!(*flags & ACKREQ);
	p.src[0] = !!(*flags & STRANGER);
	if (p.op & OP_RETH) {
		p.dma_length = dma < 8 ? p.payload_bytes : near(dma, c->q.path_mtu, 20000);
		p.va = (*region ? (*region)->va : 0) + (va & 1 ? (*region ? (*region)->bytes : 0) : 0) + (__s8)(va & 0xfe) * 64;
		p.rkey = *region ? (*region)->rkey : 99;
	}
	return p;
}

/* The place of a payload is inside of what its message may write to. */
static void check_place(const struct checked *c, const struct roce_packet *p, const struct responder_step *s,
			const struct roce_region *region)
{
	__u64 slot = c->q.receive_at + (c->q.receive_slots ? c->q.receives % c->q.receive_slots * c->q.receive_bytes : 0);
	__u64 begin = p->op & OP_FIRST ? s->at : c->q.begin;

	must(s->bytes == p->payload_bytes && s->bytes <= c->q.path_mtu);
	if (!s->bytes)
		return;
	if (responder_is_write(p)) {
		if (p->op & OP_FIRST) {
			must(region && (__u64)(p->va - region->va) < region->bytes);
			must(s->at - region->at == p->va - region->va);
		} else {
			must(c->q.region && (region = &regions[c->q.region - 1]));
		}
		must(s->at >= region->at && s->at + s->bytes <= region->at + region->bytes);
	} else {
		must(c->q.receive_slots && begin == slot && s->at + s->bytes <= slot + c->q.receive_bytes);
	}
	must(s->at == begin + (p->op & OP_FIRST ? 0 : c->copied));
}

static void check_answer(const struct roce_responder *before, const struct checked *c, const struct roce_packet *p,
			 const struct responder_step *s)
{
	if (!s->answers)
		return;
	must(s->answers == 1 && c->q.service == SERVICE_RC && before->state == RESPONDER_READY);
	switch (s->syndrome) {
	case AETH_ACK:
		must(s->answer_psn == ((c->q.expected - 1) & 0xffffff));
		must(s->refusal == REFUSAL_duplicate || (!s->refusal && p->ackreq));
		break;
	case AETH_NAK_SEQUENCE:
		must(s->refusal == REFUSAL_ahead && s->answer_psn == before->expected && !before->asked && c->q.asked);
		break;
	case AETH_NAK_INVALID:
	case AETH_NAK_ACCESS:
		must(s->answer_psn == before->expected && c->q.state == RESPONDER_ERROR);
		break;
	default:
		must(s->syndrome == (AETH_RNR | 7) && s->refusal == REFUSAL_no_receive && s->answer_psn == before->expected);
	}
}

static void check_end(struct checked *c, const struct roce_message_end *m)
{
	if (!m->valid)
		return;
	if (m->flags & MESSAGE_HEADLESS) {
		must(m->flags & MESSAGE_INCOMPLETE && !m->placed && !m->length && m->at == RESPONDER_NOWHERE);
		return;
	}
	c->ended++;
	must(m->placed == c->copied);
	c->copied = 0;
	if (m->flags & MESSAGE_INCOMPLETE) {
		must(m->flags & MESSAGE_SEND || m->placed < m->length);
		return;
	}
	c->complete++;
	must(m->placed == m->length);
	must(m->flags & MESSAGE_LATE ? c->q.service == SERVICE_UC : 1);
}

static void check_state(const struct roce_responder *before, const struct checked *c, const struct roce_packet *p,
			const struct responder_step *s)
{
	bool opened = c->q.open != OPEN_NONE && !(c->q.flags & MESSAGE_HEADLESS);

	must(c->q.expected == (s->refusal ? before->expected : (p->number + 1) & 0xffffff));
	must(c->q.msn == (c->complete & 0xffffff));
	must(c->begun - c->ended == opened);
	if (c->q.open == OPEN_WRITE || c->q.open == OPEN_SEND) {
		must(opened && c->q.placed == c->copied);
		must(c->q.placed <= c->q.length && c->q.length <= RESPONDER_DMA_MAX);
	}
	must(c->q.open != OPEN_BROKEN || c->q.service == SERVICE_UC);
	must(c->q.receives == before->receives || c->q.receives == before->receives + 1);
	must(c->q.endless || c->q.receives <= c->posted);
	if (before->state == RESPONDER_ERROR) {
		must(s->refusal && !s->answers && !s->broken.valid && !s->ended.valid);
		must(!memcmp(before, &c->q, sizeof(c->q)));
	}
	must(before->state == c->q.state || (c->q.service == SERVICE_RC && s->answers));
}

static void take(struct checked *c, struct input *in)
{
	const struct roce_responder before = c->q;
	const struct roce_region *region;
	struct responder_step s;
	__u32 flags;
	struct roce_packet p = next_packet(c, in, &flags, &region);

	c->posted += !!(flags & POST);
	responder_judge(&c->q, &p, flags & BAD_ICRC ? ICRC_BAD : ICRC_GOOD, region, c->posted, &s);
	check_end(c, &s.broken);
	if (flags & (BAD_ICRC | STRANGER))
		must(s.refusal && !memcmp(&before, &c->q, sizeof(before)));
	if (!s.refusal) {
		must(!s.ended.valid && !s.answers);
		check_place(c, &p, &s, region);
		if (flags & COPY_FAILS) {
			responder_fail(&c->q, &p, &s);
			must(s.refusal == REFUSAL_copy && !s.answers);
		} else {
			responder_commit(&c->q, &p, &s);
			c->begun += !!(p.op & OP_FIRST);
			c->copied += s.bytes;
		}
	}
	check_end(c, &s.ended);
	check_answer(&before, c, &p, &s);
	check_state(&before, c, &p, &s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	static struct checked c;

	set_up(&c, &in);
	while (in.left)
		take(&c, &in);
	return 0;
}
