// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "roce/packet/wire.h"
#include "userspace/diagnose/flow/reads.h"

#define VOTES 2 /* READs that must tell the same path MTU by the PSNs that they take */
#define MTU_LEAST 256u
#define MTU_MOST 4096

void reads_anew(struct reads *r)
{
	memset(r, 0, sizeof(*r));
}

/* ---- requests ---- */

/*
 * The path MTU by what READs take, if at least so many of them have no other one. A request that is lost or late makes a READ seem to
 * take more: so most of them must fit, also those that fit others as well. 0: not known.
 */
static __u32 mtu_by_psns(const struct reads *r, __u32 votes)
{
	__u32 found = 0, best = 0;
	__s32 most = 0;

	for (__u32 i = 0; i < READS_MTUS; i++) {
		__s32 fits = r->by_psns[i].fits - r->by_psns[i].exceeded;

		if (fits < most)
			continue;
		found = fits > most ? 1 : found + 1;
		most = fits;
		best = i;
	}
	return found == 1 && r->by_psns[best].only >= votes ? MTU_LEAST << best : 0;
}

static __u32 known_mtu(const struct reads *r)
{
	return r->told ?: mtu_by_psns(r, VOTES) ?: r->filled;
}

bool reads_know_mtu(const struct reads *r)
{
	return r && known_mtu(r);
}

static __u32 path_mtu(const struct reads *r)
{
	__u32 mtu = known_mtu(r);

	return mtu ?: r->answered && mtu_by_psns(r, 1) == r->answered ? r->answered : 0;
}

/* PSNs that this READ may take, as far as is known. */
static __u32 psns_of(const struct reads *r, const struct read_request *q)
{
	return reads_span(q->bytes, path_mtu(r) ?: MTU_LEAST);
}

/* The newest request, if that is a READ. Others that come late, or again, may be behind it in the list. NULL: it is none. */
static const struct read_request *newest_read(const struct reads *r)
{
	for (__u32 i = 1; r->behind && i <= r->count && i <= READS_LAST; i++) {
		const struct read_request *q = &r->list[(r->count - i) % READS_LAST];

		if (q->psn == r->newest)
			return q;
	}
	return NULL;
}

/* A new request follows a READ. */
static void vote(struct reads *r, const struct read_request *q, __u32 psn)
{
	__u32 psns = (psn - q->psn) & PSN_MASK, fits = 0, last = 0;

	for (__u32 i = 0; i < READS_MTUS; i++) {
		if (reads_span(q->bytes, MTU_LEAST << i) != psns)
			continue;
		r->by_psns[i].fits++;
		fits++;
		last = i;
	}
	r->by_psns[last].only += fits == 1;
}

/* Notes a gap of which it is not known yet how much is the READ's. */
static void guess(struct reads *r, const struct doctor_step *step, __u32 bytes, __u32 left)
{
	__u32 i = r->guessed_count;

	if (path_mtu(r) || i == READS_GUESSED)
		return;
	r->guessed[i].frame = step->frame;
	r->guessed[i].bytes = bytes;
	r->guessed[i].left = left;
	r->guessed[i].skipped = step->event.skipped;
	r->guessed_count++;
}

void reads_settle_gaps(const struct reads *r, struct loss *l)
{
	__u32 mtu = r ? path_mtu(r) : 0;

	for (__u32 i = 0; mtu && i < r->guessed_count; i++) {
		__u32 more = reads_span(r->guessed[i].bytes, mtu) - 1 - r->guessed[i].left, skipped = r->guessed[i].skipped;

		loss_take_out(l, r->guessed[i].frame, more < skipped ? more : skipped, more >= skipped);
	}
}

/* The pair tells the path MTU, so that it is known where the READ ends. */
static void place_as_told(const struct reads *r, const struct read_request *q, struct doctor_step *step)
{
	__u32 expected = (q->psn + reads_span(q->bytes, r->told)) & PSN_MASK;
	__s32 skipped = psn_distance(expected, step->psn);

	if (skipped < 0 || skipped > PSN_GAP_MAX)
		return;
	step->event.kinds &= ~(ROCE_EVENT(psn_gap) | ROCE_EVENT(psn_recovered) | ROCE_EVENT(psn_duplicate));
	step->event.kinds |= skipped ? ROCE_EVENT(psn_gap) : 0;
	step->event.expected = expected;
	step->event.skipped = skipped;
	step->event.recovered = 0;
}

static void take_out_of_gap(struct reads *r, const struct read_request *q, struct doctor_step *step)
{
	__u32 own;

	if (!(step->event.kinds & ROCE_EVENT(psn_gap)) || step->event.expected != ((q->psn + 1) & PSN_MASK))
		return;
	own = reads_span(q->bytes, path_mtu(r) ?: r->answered ?: MTU_MOST) - 1;
	if (own >= step->event.skipped)
		own = 0;
	step->event.expected = (step->event.expected + own) & PSN_MASK;
	step->event.skipped -= own;
	guess(r, step, q->bytes, own);
}

/* With a path MTU that the engine knows now, READs before took what it had counted as skipped: this packet is not late. */
static __u32 take_back_skipped(const struct reads *r, struct doctor_step *step)
{
	__u32 skipped = step->event.recovered;

	if (!(step->event.kinds & ROCE_EVENT(psn_recovered)) || psn_distance(r->newest, step->psn) <= 0)
		return 0;
	step->event.kinds &= ~ROCE_EVENT(psn_recovered);
	step->event.recovered = 0;
	return skipped;
}

__u32 reads_place(struct reads *r, struct doctor_step *step)
{
	const struct read_request *q = r ? newest_read(r) : NULL;

	if (!q || step->apart || step->event.kinds & ROCE_EVENT(psn_resync))
		return 0;
	if (r->told) {
		place_as_told(r, q, step);
		return 0;
	}
	take_out_of_gap(r, q, step);
	return take_back_skipped(r, step);
}

static void add(struct reads *r, const struct roce_packet *p, __u64 frame, bool again)
{
	__u32 bytes = p->op & OP_READ_REQUEST ? p->dma_length : 0, psn = p->number, kept = 0;
	struct read_request *q;

	for (__u32 i = 0; i < r->count && i < READS_LAST; i++) {
		q = &r->list[i];
		if (q->psn == psn && q->bytes == bytes) {
			q->again = true;
			return;
		}
		again |= q->end == p->va + bytes && bytes < q->bytes && ((psn - q->psn) & PSN_MASK) < reads_span(q->bytes, MTU_LEAST);
	}
	q = &r->list[r->count++ % READS_LAST];
	*q = (struct read_request){ .frame = frame, .end = p->va + bytes, .psn = psn, .bytes = bytes, .again = again };
	for (size_t i = 0; i < r->early_count; i++)
		if (((r->early[i].psn - psn) & PSN_MASK) >= psns_of(r, q))
			r->early[kept++] = r->early[i];
	r->early_count = kept;
}

/* Whether a READ response answers it. */
static bool is_read(const struct roce_packet *p)
{
	return roce_is_answered(p) && !(p->op & OP_ATOMICETH);
}

void reads_request(struct reads **reads, const struct doctor_step *step, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	bool again = step->event.kinds & (ROCE_EVENT(psn_duplicate) | ROCE_EVENT(psn_recovered)), read = is_read(p);
	struct reads *r = *reads;

	if (!r && read) {
		r = *reads = calloc(1, sizeof(*r));
		if (r) /* it may be late */
			r->newest = (taken->stream->psn.next - 1) & PSN_MASK;
	}
	if (!r)
		return;
	if (taken->event->kinds & ROCE_EVENT(psn_resync))
		reads_anew(r);
	r->told = taken->stream->pair.path_mtu;
	if (roce_is_partial(p) && roce_is_path_mtu(p->payload_bytes))
		r->filled = p->payload_bytes;
	r->blind |= p->op & OP_CUT && p->op & OP_READ_REQUEST;
	if (!again) {
		if (newest_read(r) && !taken->apart)
			vote(r, newest_read(r), p->number);
		r->behind = read;
		r->newest = p->number;
	}
	if (read)
		add(r, p, taken->number, step->event.kinds & ROCE_EVENT(psn_duplicate));
}

bool reads_again(const struct reads *r, __u32 psn)
{
	for (__u32 i = 0; r && i < r->count && i < READS_LAST; i++)
		if (r->list[i].psn == psn && r->list[i].again)
			return true;
	return false;
}

bool reads_inside(const struct reads *r, __u32 psn)
{
	__u32 mtu = r ? known_mtu(r) : 0, i, from;

	for (i = 0; mtu && i < r->count && i < READS_LAST; i++) {
		from = (psn - r->list[i].psn) & PSN_MASK;
		if (from && from < reads_span(r->list[i].bytes, mtu))
			return true;
	}
	return false;
}

/* ---- responses ---- */

/* How a packet is what a READ asks for, the best first. */
enum fit {
	FIT_RIGHT,
	FIT_AETH,  /* four bytes too many or too few where the AETH is, or it says NAK */
	FIT_SIZE,
	FIT_PLACE, /* another packet than the First, Middle, Last or Only that is due */
	FIT_NONE,  /* its PSN is none of the READ's */
};

struct due {
	const struct read_request *of; /* NULL: none */
	enum fit fit;
	__u32 op, payload, place, packets;
};

static struct due judge(const struct read_request *q, const struct roce_packet *p, __u32 mtu)
{
	__u32 n = reads_span(q->bytes, mtu), i = (p->number - q->psn) & PSN_MASK;
	struct due d = { q, FIT_RIGHT, OP_MIDDLE, mtu, i, n };
	__s32 more;

	if (i >= n) {
		d.fit = FIT_NONE;
		return d;
	}
	if (!i)
		d.op = OP_FIRST;
	if (i == n - 1) {
		d.op = i ? OP_LAST : OP_ONLY;
		d.payload = q->bytes - i * mtu;
	}
	more = p->payload_bytes - d.payload;
	if ((p->op & (OP_FIRST | OP_MIDDLE | OP_LAST)) != d.op)
		d.fit = FIT_PLACE;
	else if (more == (d.op == OP_MIDDLE ? (int)sizeof(struct wire_aeth) : -(int)sizeof(struct wire_aeth)))
		d.fit = FIT_AETH;
	else if (more)
		d.fit = FIT_SIZE;
	else if (p->op & OP_AETH && p->syndrome >> 5 & 3)
		d.fit = FIT_AETH;
	return d;
}

/* What is due, by the READ that fits best. A READ may have been sent again, also from inside of it. */
static struct due find_due(const struct reads *r, const struct roce_packet *p)
{
	struct due best = { .fit = FIT_NONE };

	for (__u32 i = 0; i < r->count && i < READS_LAST && (best.fit || !best.of); i++) {
		const struct read_request *q = &r->list[(r->count - 1 - i) % READS_LAST];
		__u32 mtu = path_mtu(r) ?: q->bytes <= MTU_LEAST ? MTU_MOST : 0;
		struct due d = { .of = q, .fit = FIT_RIGHT };

		if (mtu)
			d = judge(q, p, mtu);
		else if (((p->number - q->psn) & PSN_MASK) >= psns_of(r, q))
			d.fit = FIT_NONE;
		if (d.fit < best.fit)
			best = d;
	}
	return best;
}

enum reads_match reads_match(const struct reads *r, const struct roce_packet *p)
{
	struct due due;

	if (!r || !r->count)
		return READS_NONE;
	due = find_due(r, p);
	if (r->blind || p->op & OP_CUT || !known_mtu(r) || (due.fit == FIT_NONE && r->count > READS_LAST))
		return READS_PERHAPS;
	if (due.fit == FIT_NONE)
		return READS_NONE;
	return due.fit == FIT_RIGHT && due.packets ? READS_RIGHT : READS_PERHAPS;
}

static const char *name_of(__u32 op)
{
	return (op & OP_ONLY) == OP_ONLY ? "Only" : op & OP_FIRST ? "First" : op & OP_LAST ? "Last" : "Middle";
}

static void show_number(struct symptoms *symptoms, const struct doctor_packet *taken, const struct due *d)
{
	struct evidence *e = symptoms_add(symptoms, KIND_read_response_number, taken->number);
	const struct roce_packet *p = &taken->parsed->packet;

	if (!e)
		return;
	if (d->fit == FIT_PLACE)
		SAY(e->expected, "%s, %u of %u (READ in frame %llu)", name_of(d->op), d->place + 1, d->packets, d->of->frame);
	else
		SAY(e->expected, "nothing behind the READ's last packet");
	SAY(e->found, "%s, PSN 0x%06llx", name_of(p->op), p->number);
}

static void show_size(struct symptoms *symptoms, const struct doctor_packet *taken, const struct due *d)
{
	struct evidence *e = symptoms_add(symptoms, KIND_read_response_size, taken->number);
	const struct roce_packet *p = &taken->parsed->packet;

	if (!e)
		return;
	SAY(e->expected, "payload %u: %s of %u bytes (frame %llu)", d->payload, name_of(d->op), d->of->bytes, d->of->frame);
	SAY(e->found, "payload %u", p->payload_bytes);
}

static void show_aeth(struct symptoms *symptoms, const struct doctor_packet *taken, const struct due *d)
{
	struct evidence *e = symptoms_add(symptoms, KIND_read_response_aeth, taken->number);
	const struct roce_packet *p = &taken->parsed->packet;

	if (!e)
		return;
	SAY(e->expected, "%s with%s AETH%s", name_of(d->op), d->op == OP_MIDDLE ? "out" : " an", d->op == OP_MIDDLE ? "" : " that says ACK");
	if (p->payload_bytes != d->payload)
		SAY(e->found, "payload %u instead of %u", p->payload_bytes, d->payload);
	else
		SAY(e->found, "syndrome 0x%02x", p->syndrome);
}

static void show_psn(struct symptoms *symptoms, const struct symptom_seen *p)
{
	struct evidence *e = symptoms_add(symptoms, KIND_read_response_psn, p->frame);

	if (!e)
		return;
	SAY(e->expected, "the PSN of a READ, and those behind it");
	SAY(e->found, "PSN 0x%06x", p->psn);
}

/* Whether a First or Only would be right with the PSN of its READ. A READ that asks for the rest of another one has its own. */
static bool is_shifted(const struct reads *r, const struct due *d, const struct roce_packet *p)
{
	struct roce_packet at = *p;

	if (d->fit != FIT_PLACE || !d->place)
		return false;
	at.number = d->of->psn;
	return judge(d->of, &at, path_mtu(r)).fit == FIT_RIGHT;
}

/* Whether another request than a READ was sent with this PSN, or none has come so far. */
static bool is_of_no_read(const struct reads *r, const struct twice *sent, __u32 psn)
{
	int opcode = twice_opcode(sent, psn);

	return opcode < 0 ? psn_distance(r->newest, psn) > 0 : (opcode & 0x1f) < 0x0c;
}

/* Nobody has asked for this response. */
static void take_unasked(struct reads *r, const struct twice *sent, struct symptoms *symptoms,
			 const struct doctor_packet *taken)
{
	struct symptom_seen p = { taken->number, taken->parsed->packet.number, 0 };
	const struct read_request *oldest = &r->list[r->count < READS_LAST ? 0 : r->count % READS_LAST];

	if (psn_distance(oldest->psn, p.psn) < 0 || !is_of_no_read(r, sent, p.psn))
		return;
	if (psn_distance(r->newest, p.psn) <= 0) {
		show_psn(symptoms, &p);
		return;
	}
	if (r->early_count == READS_EARLY) {
		show_psn(symptoms, &r->early[0]);
		memmove(r->early, r->early + 1, --r->early_count * sizeof(r->early[0]));
	}
	r->early[r->early_count++] = p;
}

/* A response of several packets has ended with its Last, or without. */
static void end_response(struct reads *r, bool whole, __u64 frame)
{
	if (!r->response.open)
		return;
	r->response.open = false;
	r->whole += whole;
	if (whole)
		return;
	symptom_keep(r->cut_shown, r->cut++, (struct symptom_seen){ frame, r->response.next, 0 });
}

static void follow(struct reads *r, const struct doctor_packet *taken, const struct due *d)
{
	const struct roce_packet *p = &taken->parsed->packet;

	if (p->op & OP_FIRST)
		end_response(r, false, taken->number);
	if (p->op & OP_LAST)
		end_response(r, true, taken->number);
	if (!roce_is_partial(p))
		return;
	r->response.open = true;
	r->response.anew = !(taken->event->kinds & ROCE_EVENT(psn_duplicate));
	r->response.next = (p->number + 1) & PSN_MASK;
	if (p->op & OP_FIRST || d->of)
		r->response.known = d->of;
	if (d->of)
		r->response.end = (d->of->psn + psns_of(r, d->of)) & PSN_MASK;
}

/* Notes the PSNs of the open response from the next one on as missing. */
static void leave_out(struct reads *r, struct doctor_step *step, __u32 psns)
{
	for (__u32 i = 0; i < psns && i < READS_MISSING; i++) {
		__u32 psn = (r->response.next + i) & PSN_MASK;

		r->missing[psn % READS_MISSING] = psn + 1;
	}
	step->event.kinds |= ROCE_EVENT(psn_gap);
	step->event.expected = r->response.next;
	step->event.skipped = psns;
}

/*
 * Where the engine does not know the pair, the PSNs between two messages may all be acknowledged ones. But here the requests are
 * known: if another response begins inside of one, the rest of that one is missing.
 */
static void complete_event(struct reads *r, struct doctor_step *step)
{
	__s32 ahead = psn_distance(r->response.next, step->psn), rest = psn_distance(r->response.next, r->response.end);
	__u32 *missing = &r->missing[step->psn % READS_MISSING];

	if (r->response.open && r->response.known && r->response.anew && step->op & OP_FIRST && ahead > 0 && rest > 0) {
		leave_out(r, step, ahead < rest ? ahead : rest);
	} else if (*missing == step->psn + 1 && step->event.kinds & ROCE_EVENT(psn_duplicate)) {
		step->event.kinds ^= ROCE_EVENT(psn_duplicate) | ROCE_EVENT(psn_recovered);
		step->event.recovered = 1;
		*missing = 0;
	}
}

/* A response of one packet that is larger than a path MTU speaks against that. */
static void take_only(struct reads *r, const struct roce_packet *p)
{
	for (__u32 i = 0; i < READS_MTUS && (p->op & OP_ONLY) == OP_ONLY; i++)
		r->by_psns[i].exceeded += p->payload_bytes > MTU_LEAST << i;
}

void reads_answer(struct reads *r, const struct twice *sent, struct symptoms *symptoms, struct doctor_step *step,
		  const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	struct due due;
	bool goes_on;

	if (!r || !r->count || r->blind || p->op & OP_CUT)
		return;
	if (p->op & (OP_ACK | OP_ATOMICACKETH)) {
		if (r->response.known && !(p->syndrome >> 5 & 3) && psn_distance(r->response.end, p->number) >= 0)
			end_response(r, false, taken->number);
		return;
	}
	take_only(r, p);
	if (!r->answered && roce_is_partial(p) && roce_is_path_mtu(p->payload_bytes))
		r->answered = p->payload_bytes;
	due = find_due(r, p);
	step->resent = due.of && due.of->again;
	if (!taken->stream->pair.from && !taken->apart)
		complete_event(r, step);
	goes_on = r->response.open && r->response.known && p->number == r->response.next && !(p->op & OP_FIRST);
	if (p->op & OP_FIRST)
		r->response.shifted = is_shifted(r, &due, p);
	if (r->response.shifted && (due.fit == FIT_PLACE || (due.fit == FIT_NONE && goes_on))) {
		show_psn(symptoms, &(struct symptom_seen){ taken->number, p->number, 0 });
	} else if (due.fit == FIT_PLACE || (due.fit == FIT_NONE && goes_on)) {
		r->in_one += !r->told && due.of && (p->op & OP_ONLY) == OP_ONLY && p->payload_bytes == due.of->bytes;
		show_number(symptoms, taken, &due);
	} else if (due.fit == FIT_NONE) {
		take_unasked(r, sent, symptoms, taken);
	} else if (due.fit == FIT_SIZE) {
		show_size(symptoms, taken, &due);
	} else if (due.fit == FIT_AETH) {
		show_aeth(symptoms, taken, &due);
	}
	follow(r, taken, &due);
}

/* No response of several packets has ever ended: its Last is not lost, but not sent. */
static void conclude_cut(const struct reads *r, struct symptoms *symptoms)
{
	if (r->whole || r->cut < FINDING_PACKETS)
		return;
	symptoms_show(symptoms, KIND_read_response_number, r->cut_shown, r->cut, "the Last of the READ, from PSN 0x%06x on",
		      "the next answer");
}

/* All of them are responses of one packet, and what READs take no longer tells that the path MTU is smaller. */
static void drop_in_one(const struct reads *r, struct symptoms *symptoms)
{
	const struct symptom *symptom = symptoms_find(symptoms, KIND_read_response_number);

	if (symptom && symptom->packets == r->in_one && !known_mtu(r))
		symptoms_drop(symptoms, KIND_read_response_number);
}

void reads_left_out(struct reads *r)
{
	if (r)
		r->response.open = false;
}

void reads_conclude(struct reads *r, const struct twice *sent, struct symptoms *symptoms)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->early_count; i++)
		if (is_of_no_read(r, sent, r->early[i].psn))
			show_psn(symptoms, &r->early[i]);
	r->early_count = 0;
	drop_in_one(r, symptoms);
	conclude_cut(r, symptoms);
}
