// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/address.h"
#include "lib/cause.h"
#include "lib/complain.h"
#include "lib/json.h"
#include "userspace/diagnose/qp_error/wire.h"

#define MESSAGES 4096 /* that are remembered: a NAK is for one of the last */
#define ETHERTYPE_ARP 0x0806

struct message {
	__u32 first, packets; /* PSNs */
	__u32 opcode, rkey, length;
	__u64 va;
	__u32 payload; /* bytes of its largest packet */
	bool has_reth;
};

struct wire_reader {
	struct wire_ends ends;
	struct why_wire w;
	struct message message[MESSAGES]; /* a ring */
	__u64 count;			  /* messages so far */
	__u32 highest, acked;		  /* PSNs: of the requests; up to which they are acknowledged */
	bool has_acked;
	__u64 arp_asked, arp_told;
	__u32 largest_payload;
};

struct wire_ends wire_ends_of(const struct verbs_qp *q)
{
	struct wire_ends e = { .qpn = q->qp.qpn, .peer_qpn = q->qp.peer_qpn };

	if (q->attributes.known & VERBS_KNOWS_MTU)
		e.path_mtu = q->attributes.path_mtu;
	if (q->attributes.known & VERBS_KNOWS_PATH) {
		memcpy(e.source, q->attributes.sgid, sizeof(e.source));
		memcpy(e.destination, q->attributes.dgid, sizeof(e.destination));
	}
	return e;
}

struct wire_reader *wire_reader_new(const struct wire_ends *ends)
{
	struct wire_reader *r = calloc(1, sizeof(*r));

	if (r)
		r->ends = *ends;
	return r;
}

/* Of two PSNs, how far a is ahead of b (24 bits). */
static int ahead(__u32 a, __u32 b)
{
	return (int)((a - b) << 8) >> 8;
}

static bool is_at(const __u8 wanted[16], const __u8 address[16])
{
	static const __u8 any[16];

	return !memcmp(wanted, any, 16) || !memcmp(wanted, address, 16);
}

static struct message *nth(struct wire_reader *r, __u64 n)
{
	return &r->message[n % MESSAGES];
}

/* The newest message of which the PSN is a part. */
static struct message *message_of(struct wire_reader *r, __u32 psn)
{
	__u64 oldest = r->count > MESSAGES ? r->count - MESSAGES : 0;

	for (__u64 n = r->count; n > oldest; n--) {
		struct message *m = nth(r, n - 1);
		int place = ahead(psn, m->first);

		if (place >= 0 && place < (int)m->packets)
			return m;
	}
	return NULL;
}

static bool is_read(__u32 opcode)
{
	return roce_opcodes[opcode & 0xff] & OP_READ_REQUEST;
}

/* ---- requests ---- */

/* PSNs that a message has from its first packet on, as far as that one tells: a READ has one for each response. */
static __u32 psns_of(const struct wire_reader *r, const struct roce_packet *p)
{
	__u64 mtu = r->ends.path_mtu;

	return is_read(p->opcode) && mtu && p->dma_length > mtu ? ((__u64)p->dma_length + mtu - 1) / mtu : 1;
}

static void begin_message(struct wire_reader *r, const struct roce_packet *p)
{
	struct message *m = nth(r, r->count++);

	*m = (struct message){ .first = p->number, .packets = 1, .opcode = p->opcode, .payload = p->payload_bytes };
	m->has_reth = p->op & OP_RETH;
	if (m->has_reth) {
		m->rkey = p->rkey;
		m->va = p->va;
		m->length = p->dma_length;
	}
	m->packets = psns_of(r, p);
}

static void take_request(struct wire_reader *r, const struct roce_packet *p)
{
	struct why_wire *w = &r->w;
	bool again = w->has_first && ahead(p->number, r->highest) <= 0;

	w->requests++;
	if (p->payload_bytes > w->request_bytes_most)
		w->request_bytes_most = p->payload_bytes;
	w->retransmitted += again;
	if (again)
		return;
	if (!w->has_first) {
		w->has_first = true;
		w->first_psn = p->number;
		memcpy(w->source, p->src, sizeof(w->source));
	}
	if (r->count && !(p->op & OP_FIRST)) {
		struct message *m = nth(r, r->count - 1);

		m->packets = ahead(p->number, m->first) + 1;
		if (p->payload_bytes > m->payload)
			m->payload = p->payload_bytes;
	} else {
		begin_message(r, p);
	}
	r->highest = (nth(r, r->count - 1)->first + nth(r, r->count - 1)->packets - 1) & PSN_MASK;
}

/* ---- answers ---- */

/* Without the path MTU it is not known how many PSNs a READ has. */
static bool may_be_of_read(struct wire_reader *r)
{
	return !r->ends.path_mtu && r->count && is_read(nth(r, r->count - 1)->opcode);
}

static void acknowledge(struct wire_reader *r, __u32 psn)
{
	struct why_wire *w = &r->w;

	if (!w->has_first)
		return;
	if (ahead(psn, w->first_psn) < 0 || ahead(psn, r->highest) > 0) {
		w->acks_elsewhere |= (ahead(psn, r->highest) > 0 && !may_be_of_read(r)) || ahead(psn, w->first_psn) < -1;
		return;
	}
	if (r->has_acked && ahead(psn, r->acked) <= 0)
		return;
	w->acknowledged += r->has_acked ? ahead(psn, r->acked) : ahead(psn, w->first_psn) + 1;
	r->acked = psn;
	r->has_acked = true;
}

static bool is_acked(const struct wire_reader *r, const struct message *m)
{
	return r->has_acked && ahead(m->first + m->packets - 1, r->acked) <= 0;
}

static bool has_worked(struct wire_reader *r, __u32 rkey)
{
	__u64 oldest = r->count > MESSAGES ? r->count - MESSAGES : 0;

	for (__u64 n = oldest; n < r->count; n++) {
		const struct message *m = nth(r, n);

		if (m->has_reth && m->rkey == rkey && is_acked(r, m))
			return true;
	}
	return false;
}

static void take_nak(struct wire_reader *r, const struct roce_packet *p)
{
	struct why_wire *w = &r->w;
	struct why_nak *n = &w->nak;
	struct message *m;

	w->naks[(p->syndrome & 7) < 5 ? p->syndrome & 7 : 4]++;
	if (!(p->syndrome & 0x1f)) {
		if (!w->has_first_nak) {
			w->first_nak_psn = p->number;
			w->first_nak_inside = !w->has_first || (ahead(p->number, w->first_psn) >= 0 && ahead(p->number, r->highest) <= 0);
		}
		w->has_first_nak = true;
		return;
	}
	if (w->has_nak)
		return;
	w->has_nak = true;
	*n = (struct why_nak){ .syndrome = p->syndrome, .psn = p->number };
	m = message_of(r, p->number);
	if (!m)
		return;
	n->has_packet = true;
	n->packet = ahead(p->number, m->first);
	n->opcode = m->opcode;
	n->has_reth = m->has_reth;
	n->rkey = m->rkey;
	n->va = m->va;
	n->length = m->length;
	n->rkey_worked = m->has_reth && has_worked(r, m->rkey);
}

/* AETH's syndrome (IBTA 9.3.5.2): 0x00 ACK, 0x20 RNR NAK, 0x60 NAK, by bits 5 and 6. A NAK acknowledges what is before its PSN. */
static void take_answer(struct wire_reader *r, const struct roce_packet *p)
{
	r->w.answers++;
	if (!(p->op & OP_AETH)) {
		acknowledge(r, p->number);
		return;
	}
	switch (p->syndrome & 0x60) {
	case 0x00:
		acknowledge(r, p->number);
		break;
	case 0x20:
		r->w.rnr_naks++;
		acknowledge(r, (p->number - 1) & PSN_MASK);
		break;
	case 0x60:
		if (p->syndrome & 0x1f)
			acknowledge(r, (p->number - 1) & PSN_MASK);
		take_nak(r, p);
		break;
	}
}

/* ---- frames ---- */

/* ARP for the peer's IPv4 address: asked and answered. */
static void take_arp(struct wire_reader *r, const struct observer_frame *f)
{
	const __u8 *arp = f->bytes + 14;

	if (f->captured < 42 || f->bytes[12] << 8 != (ETHERTYPE_ARP & 0xff00) || f->bytes[13] != (ETHERTYPE_ARP & 0xff) ||
	    !address_is_ipv4(r->ends.destination))
		return;
	if (arp[7] == 1 && !memcmp(arp + 24, r->ends.destination + 12, 4))
		r->arp_asked++;
	else if (arp[7] == 2 && !memcmp(arp + 14, r->ends.destination + 12, 4))
		r->arp_told++;
}

void wire_reader_see(struct wire_reader *r, const struct analysis_seen *seen)
{
	const struct roce_packet *p = &seen->parsed->packet;
	const struct wire_ends *e = &r->ends;

	if (p->kind == ROCE_OTHER)
		take_arp(r, seen->frame);
	if (p->kind != ROCE_PACKET || seen->parsed->icrc == ICRC_BAD || seen->parsed->copy || p->op & OP_CNP)
		return;
	if (p->op & OP_RESPONSE) {
		if (p->dqpn == e->qpn && is_at(e->destination, p->src) && is_at(e->source, p->dst))
			take_answer(r, p);
	} else if (p->dqpn == e->peer_qpn && is_at(e->source, p->src) && is_at(e->destination, p->dst)) {
		take_request(r, p);
	}
}

void wire_reader_end(struct wire_reader *r, struct why_wire *w)
{
	__u64 oldest = r->count > MESSAGES ? r->count - MESSAGES : 0;

	for (__u64 n = oldest; n < r->count; n++) {
		const struct message *m = nth(r, n);
		__u64 *largest = is_acked(r, m) ? &r->w.largest_answered : &r->w.unanswered_largest;

		if (m->payload > *largest)
			*largest = m->payload;
	}
	r->w.arp_unanswered = r->arp_told ? 0 : r->arp_asked;
	*w = r->w;
	free(r);
}

static void see(void *context, const struct analysis_seen *seen)
{
	wire_reader_see(context, seen);
}

static bool read_capture(const char *file, const struct wire_ends *ends, struct why_wire *w)
{
	struct wire_reader *r = wire_reader_new(ends);
	/* one thread: each frame comes in the order of the file */
	struct analysis_settings settings = { .threads = 1, .max_streams = ANALYSIS_SHARDS, .see = see, .context = r };
	struct snapshot s = { 0 };
	char *const files[] = { (char *)file };
	int opened;

	if (!r)
		return complain("there is not enough memory");
	opened = analysis_run(&settings, files, 1, &s);
	snapshot_free(&s);
	wire_reader_end(r, w);
	return opened == 1;
}

/* ---- a monitor's lines ---- */

static __u64 number_of(const json_t *stream, const char *key)
{
	const json_t *n = json_object_get(stream, key);

	return json_is_integer(n) && json_integer_value(n) > 0 ? json_integer_value(n) : 0;
}

static bool is_text_of(const json_t *stream, const char *key, const __u8 address[16])
{
	static const __u8 any[16];
	const char *text = json_string_value(json_object_get(stream, key));

	return !memcmp(address, any, 16) || (text && !strcmp(text, address_text(address).text));
}

static void take_stream(struct why_wire *w, const struct wire_ends *e, const json_t *s)
{
	__u64 dqpn = number_of(s, "dqpn");

	if (dqpn == e->peer_qpn && is_text_of(s, "src", e->source) && is_text_of(s, "dst", e->destination)) {
		w->requests = number_of(s, "roce_packets");
		w->retransmitted = number_of(s, "psn_duplicates");
		w->lost = number_of(s, "psn_lost");
	} else if (dqpn == e->qpn && is_text_of(s, "src", e->destination) && is_text_of(s, "dst", e->source)) {
		w->answers = number_of(s, "acks") + number_of(s, "naks") + number_of(s, "rnr_naks");
		w->acknowledged = number_of(s, "acks");
		w->rnr_naks = number_of(s, "rnr_naks");
		w->naks[0] = number_of(s, "nak_psn_sequence");
		w->naks[1] = number_of(s, "nak_invalid_request");
		w->naks[2] = number_of(s, "nak_remote_access");
		w->naks[3] = number_of(s, "nak_remote_operational");
	}
}

static bool take_line(struct why_wire *w, const struct wire_ends *e, const char *line)
{
	json_t *o = json_loads(line, 0, NULL), *s;
	const char *schema = json_string_value(json_object_get(o, "schema"));
	bool good = schema && !strcmp(schema, "rocescope.snapshot/1");
	size_t i;

	json_array_foreach(json_object_get(o, "streams"), i, s)
		if (good)
			take_stream(w, e, s);
	json_decref(o);
	return good;
}

static bool read_lines(FILE *f, const char *file, const struct wire_ends *ends, struct why_wire *w)
{
	char *line = NULL;
	size_t room = 0;
	bool any = false;

	while (getline(&line, &room, f) >= 0)
		any |= take_line(w, ends, line);
	free(line);
	return any || complain("verbs: %s: no line of `rocescope monitor -j` is in it", file);
}

bool wire_read(const char *file, const struct wire_ends *ends, struct why_wire *w)
{
	FILE *f = fopen(file, "re");
	struct stat is;
	bool good;
	int first;

	*w = (struct why_wire){ 0 };
	if (!f)
		return complain("verbs: %s: %s", file, cause(errno).text);
	if (fstat(fileno(f), &is) || !S_ISREG(is.st_mode)) {
		fclose(f);
		return complain("verbs: %s: not a regular file: it is read more than once", file);
	}
	first = getc(f);
	ungetc(first, f);
	good = first != '{' || read_lines(f, file, ends, w);
	fclose(f);
	return first == '{' ? good : read_capture(file, ends, w);
}
