// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "roce/packet/wire.h"
#include "userspace/diagnose/flow/deth.h"

#define FEW(count, of) (16 * (count) <= (of)) /* payload is now and then the same by chance */
#define COUNTED 8 /* packets whose PSNs follow one another, though their source QPNs differ: at least so many */

static bool has(const __u32 *list, __u32 count, __u32 value)
{
	for (__u32 i = 0; i < count; i++)
		if (list[i] == value)
			return true;
	return false;
}

void deth_take(struct deth_study *d, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	__u32 at = p->l4_offset + (p->rocev1 ? 0 : WIRE_UDP_LEN) + sizeof(struct wire_bth), n = d->count, qkey, psn = p->number;
	bool good = taken->parsed->icrc != ICRC_BAD;

	if (at + sizeof(struct wire_deth) > taken->frame->captured || (d->good && !good))
		return;
	/* damage may have changed what came before the first right packet */
	if (good && !d->good)
		d->packets = d->count = n = d->same_qkeys = d->same_sqpns = d->next = 0;
	d->good = good;
	d->packets++;
	if (n == DETHS)
		return;
	qkey = roce_be32(taken->frame->bytes + at);
	if (n && d->psn == psn && d->qkey[n - 1] == qkey && d->sqpn[n - 1] == p->sqpn) /* the same packet again */
		return;
	d->same_qkeys += has(d->qkey, n, qkey);
	d->same_sqpns += has(d->sqpn, n, p->sqpn);
	d->next += n && psn == ((d->psn + 1) & PSN_MASK);
	d->psn = psn;
	d->qkey[n] = qkey;
	d->sqpn[n] = p->sqpn;
	if (n < FINDING_EVIDENCE)
		d->frame[n] = taken->number;
	d->count++;
}

/*
 * All packets to one QP carry its Q_Key, and those of one source QPN count their PSNs. So neither different Q_Keys nor a PSN that
 * goes on from one source QPN to the next are those of a DETH.
 */
bool deth_is_missing(const struct deth_study *d)
{
	return d->count >= FINDING_PACKETS && FEW(d->same_sqpns, d->count) &&
	       (FEW(d->same_qkeys, d->count) || (d->count >= COUNTED && FEW(d->count - 1 - d->next, d->count)));
}

void deth_conclude(const struct deth_study *d, struct symptoms *symptoms)
{
	struct symptom *symptom = symptoms_get(symptoms, KIND_deth_missing);

	if (!symptom)
		return;
	symptom->packets = d->packets;
	for (__u32 i = 0; i < d->count && i < FINDING_EVIDENCE; i++) {
		struct evidence *e = &symptom->evidence[symptom->shown++];

		e->frame = d->frame[i];
		SAY(e->expected, "always the Q_Key of QPN %u", d->key.qpn);
		SAY(e->found, "Q_Key 0x%08x, source QPN 0x%06x", d->qkey[i], d->sqpn[i]);
	}
	SAY(symptom->figures, "%s",
	    FEW(d->same_qkeys, d->count) ? "Neither the Q_Key nor the source QPN that is read there comes twice." :
	    "No source QPN that is read there comes twice, but the PSN counts on from packet to packet.");
}
