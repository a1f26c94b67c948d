// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>

#include "lib/address.h"
#include "roce/packet/opcode.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/observe/model/refusal.h"

/* A jump that loss does not explain, as in the rules of PSNs (roce/sequence/psn.h). */
#define FAR 65535

const char *const refusal_names[ROCE_REFUSALS] = {
	[REFUSAL_NONE] = "none",
#define REFUSAL(name, about, words) [REFUSAL_##name] = #name,
#include "roce/responder/refusal.def"
#undef REFUSAL
};

const char *const refusal_words[ROCE_REFUSALS] = {
	[REFUSAL_NONE] = "taken",
#define REFUSAL(name, about, words) [REFUSAL_##name] = words,
#include "roce/responder/refusal.def"
#undef REFUSAL
};

struct sentence {
	char *text;
	const struct receive_example *e;
	const struct refusal_receiver *r;
};

#define say(to, ...) snprintf((to)->text, REFUSAL_TEXT, __VA_ARGS__)

/* ---- the packet ---- */

static const char *const operations[32] = {
	"SEND First", "SEND Middle", "SEND Last", "SEND Last with immediate", "SEND Only", "SEND Only with immediate",
	"RDMA WRITE First", "RDMA WRITE Middle", "RDMA WRITE Last", "RDMA WRITE Last with immediate", "RDMA WRITE Only",
	"RDMA WRITE Only with immediate", "RDMA READ request", "RDMA READ response First", "RDMA READ response Middle",
	"RDMA READ response Last", "RDMA READ response Only", "acknowledgement", "atomic acknowledgement", "compare and swap",
	"fetch and add", NULL, "SEND Last with invalidate", "SEND Only with invalidate",
};

static const char *const services[8] = { "RC", "UC", "RD", "UD", "CNP", "XRC", "manufacturer's", "manufacturer's" };

struct operation_text operation_text(__u8 opcode)
{
	const char *name = operations[opcode & 0x1f];
	struct operation_text o;

	if (opcode == 0x81)
		snprintf(o.text, sizeof(o.text), "CNP");
	else if (name && roce_opcodes[opcode] & OP_KNOWN)
		snprintf(o.text, sizeof(o.text), "%s %s", services[opcode >> 5], name);
	else
		snprintf(o.text, sizeof(o.text), "opcode %#x", opcode);
	return o;
}

static bool is_write(const struct receive_example *e)
{
	return (e->opcode & 0x1f) >= 0x06;
}

static __s32 distance(const struct receive_example *e)
{
	return psn_distance(e->expected, e->psn);
}

/* ---- one function a reason that has numbers ---- */

static void say_qpn(const struct sentence *to)
{
	const struct receive_settings *s = to->r->settings;
	struct qpn_text qpn = qpn_text(to->e->qpn), first = qpn_text(s->first_qpn);

	if (!s->qps)
		say(to, "QPN %s is not one of ours", qpn.text);
	else if (s->qps == 1)
		say(to, "QPN %s is not ours: that is %s", qpn.text, first.text);
	else
		say(to, "QPN %s is not one of ours: those are %s to %s", qpn.text, first.text, qpn_text(s->first_qpn + s->qps - 1).text);
}

static void say_service(const struct sentence *to)
{
	say(to, "%s, and QP %s is of %s", operation_text(to->e->opcode).text, qpn_text(to->e->qpn).text, services[to->e->service & 7]);
}

static void say_operation(const struct sentence *to)
{
	say(to, "%s (opcode %#x) is no operation of this receiver, which knows RDMA WRITE and SEND", operation_text(to->e->opcode).text,
	    to->e->opcode);
}

static void say_duplicate(const struct sentence *to)
{
	__s32 behind = -distance(to->e);

	say(to, "PSN %#x is %d behind the expected %#x: %s", to->e->psn, behind, to->e->expected,
	    behind > FAR ? "the sender has not taken the new first PSN" : "it was taken before, and sent again");
}

static void say_ahead(const struct sentence *to)
{
	__s32 ahead = distance(to->e);

	say(to, "PSN %#x is %d ahead of the expected %#x: %s", to->e->psn, ahead, to->e->expected,
	    ahead > FAR ? "the sender has not taken the new first PSN" : "packets between them are missing");
}

static void say_gap(const struct sentence *to)
{
	__s32 d = distance(to->e);

	if (!d) /* inside of a message it would have been taken */
		say(to, "%s with PSN %#x outside of a message: its First was not taken", operation_text(to->e->opcode).text, to->e->psn);
	else if (d > FAR || d < -FAR)
		say(to, "PSN %#x is far from the expected %#x", to->e->psn, to->e->expected);
	else if (d > 0)
		say(to, "PSN %#x where %#x was expected: %d are missing", to->e->psn, to->e->expected, d);
	else
		say(to, "PSN %#x where %#x was expected: late, or sent again", to->e->psn, to->e->expected);
}

static void say_order(const struct sentence *to)
{
	bool begins = roce_opcodes[to->e->opcode] & OP_FIRST;

	say(to, "%s %s", operation_text(to->e->opcode).text, begins ? "before the message before it has ended" :
	    is_write(to->e) ? "outside of an RDMA WRITE" : "outside of a SEND");
}

/* IBTA 9.7.4.1.5 and 9.7.4.1.6, in the order of roce/responder/respond.h. */
static void say_length(const struct sentence *to)
{
	const struct receive_example *e = to->e;
	__u32 op = roce_opcodes[e->opcode], payload = e->payload_bytes, path_mtu = to->r->path_mtu;
	bool begins = op & OP_FIRST;
	__u32 length = begins && is_write(e) ? e->dma_length : e->length, placed = begins ? 0 : e->placed;
	struct operation_text o = operation_text(e->opcode);
	const char *what = o.text;

	if (is_write(e) && length > RESPONDER_DMA_MAX)
		say(to, "a DMA length of %u bytes: the most is %u", length, RESPONDER_DMA_MAX);
	else if (path_mtu && payload > path_mtu)
		say(to, "%s with %u bytes, and the path MTU is %u", what, payload, path_mtu);
	else if (path_mtu && !(op & OP_LAST) && payload != path_mtu)
		say(to, "%s with %u bytes: it has to have those of the path MTU, %u", what, payload, path_mtu);
	else if ((payload + e->pad) & 3 && (!e->pad || e->pad == (-(payload + e->pad) & 3)))
		say(to, "%s with %u bytes and a PadCnt of %u: the pad is missing", what, payload + e->pad, e->pad);
	else if (e->pad != (-payload & 3))
		say(to, "%s with %u bytes and a PadCnt of %u: it has to be %u", what, payload, e->pad, -payload & 3);
	else if (!is_write(e) && begins && !length)
		say(to, "%s with %u bytes, and its receive has no buffer: --receive-size", what, payload);
	else if (!is_write(e))
		say(to, "%s: %u bytes after %u do not fit into a receive of %u", what, payload, placed, length);
	else if (!length)
		say(to, "%s with %u bytes: not those that the DMA length leaves", what, payload);
	else if (op & OP_LAST)
		say(to, "%s ends after %u bytes, and the DMA length is %u", what, placed + payload, length);
	else if (begins && payload == length)
		say(to, "%s with a DMA length of %u: that is this packet's, and the message's belongs there", what, length);
	else
		say(to, "%s with %u bytes after %u, and the DMA length is %u: no Last can follow", what, payload, placed, length);
}

static void say_rkey(const struct sentence *to)
{
	if (to->r->regions == 1 && to->r->region)
		say(to, "rkey %#x is not that of the region (%#x)", to->e->rkey, to->r->region[0].rkey);
	else if (to->r->regions)
		say(to, "rkey %#x is none of the %u regions", to->e->rkey, to->r->regions);
	else
		say(to, "rkey %#x is of no region", to->e->rkey);
}

static const struct roce_region *region_of(const struct sentence *to)
{
	for (__u32 i = 0; to->r->region && i < to->r->regions; i++)
		if (to->r->region[i].rkey == to->e->rkey)
			return &to->r->region[i];
	return NULL;
}

static void say_bounds(const struct sentence *to)
{
	const struct roce_region *region = region_of(to);
	const struct receive_example *e = to->e;
	__u64 end;

	if (!region) {
		say(to, "address %#llx and %u bytes lie beyond the region of rkey %#x", e->va, e->dma_length, e->rkey);
		return;
	}
	end = e->va - region->va + e->dma_length;
	if (e->va < region->va)
		say(to, "address %#llx is %llu bytes before region %u (%#llx)", e->va, region->va - e->va, region->index,
		    region->va);
	else
		say(to, "address beyond region %u by %llu bytes: %u bytes at %#llx", region->index, end - region->bytes,
		    e->dma_length, e->va);
}

void refusal_text(char text[REFUSAL_TEXT], enum roce_refusal reason, const struct receive_example *e,
		  const struct refusal_receiver *r)
{
	struct sentence to = { text, e, r };
	struct address_text src = address_text(e->src);
	struct qpn_text qpn = qpn_text(e->qpn);

	switch (reason) {
	case REFUSAL_qpn: say_qpn(&to); break;
	case REFUSAL_icrc: say(&to, "the ICRC of PSN %#x to QP %s from %s is wrong", e->psn, qpn.text, src.text); break;
	case REFUSAL_not_ready: say(&to, "QP %s does not receive yet: nobody has told it its peer", qpn.text); break;
	case REFUSAL_source: say(&to, "%s is not the peer of QP %s", src.text, qpn.text); break;
	case REFUSAL_tver: say(&to, "version %u of the transport header, which has to be 0", e->tver); break;
	case REFUSAL_pkey: say(&to, "P_Key %#x is not that of QP %s", e->pkey, qpn.text); break;
	case REFUSAL_response: say(&to, "%s to QP %s, which requests nothing", operation_text(e->opcode).text, qpn.text); break;
	case REFUSAL_service: say_service(&to); break;
	case REFUSAL_error: say(&to, "QP %s is in the error state, since a request broke the rules", qpn.text); break;
	case REFUSAL_duplicate: say_duplicate(&to); break;
	case REFUSAL_ahead: say_ahead(&to); break;
	case REFUSAL_gap: say_gap(&to); break;
	case REFUSAL_rest: say(&to, "PSN %#x is of the rest of a message that is dropped", e->psn); break;
	case REFUSAL_operation: say_operation(&to); break;
	case REFUSAL_order: say_order(&to); break;
	case REFUSAL_length: say_length(&to); break;
	case REFUSAL_rkey: say_rkey(&to); break;
	case REFUSAL_bounds: say_bounds(&to); break;
	case REFUSAL_no_receive: say(&to, "%s to QP %s, which has no receive posted", operation_text(e->opcode).text, qpn.text); break;
	case REFUSAL_busy:
	case REFUSAL_copy:
	case REFUSAL_NONE:
	case ROCE_REFUSALS: say(&to, "%s", refusal_words[reason < ROCE_REFUSALS ? reason : REFUSAL_NONE]); break;
	}
}
