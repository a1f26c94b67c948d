// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

#include "roce/packet/cm.h"
#include "userspace/diagnose/doctor/record.h"

#define RECORDS 32768 /* most streams remembered */
#define SENDERS 4096 /* most source addresses remembered */
#define PATHS 16384  /* most directions remembered */
#define DETH_STUDIES 4096 /* most QPs to which UD packets go */

struct doctor *doctor_new(void)
{
	struct doctor *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->records = (struct index){ .max = RECORDS, .key_size = sizeof(struct roce_key),
				    .entry_size = sizeof(struct stream_record) };
	d->senders = (struct index){ .max = SENDERS, .key_size = 16, .entry_size = sizeof(struct doctor_sender) };
	flows_init(&d->flows);
	d->paths = (struct index){ .max = PATHS, .key_size = 32, .entry_size = sizeof(struct path) };
	d->deths = (struct index){ .max = DETH_STUDIES, .key_size = sizeof(struct deth_key), .entry_size = sizeof(struct deth_study) };
	return d;
}

static struct stream_record *record_at(const struct doctor *d, size_t i)
{
	return d->records.entries[i];
}

void doctor_free(struct doctor *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->records.count; i++) {
		icrc_study_free(record_at(d, i)->icrc);
		free(record_at(d, i)->reads);
		free(record_at(d, i)->to_receiver);
		symptoms_free(&record_at(d, i)->symptoms);
		symptoms_free(&record_at(d, i)->early);
	}
	index_free(&d->records);
	index_free(&d->senders);
	index_free(&d->paths);
	index_free(&d->deths);
	pairs_free(&d->pairs);
	neighbours_free(&d->neighbours);
	symptoms_free(&d->loose);
	findings_free(&d->machine);
	flows_free(&d->flows);
	free(d);
}

bool doctor_expect(struct doctor *d, const struct expected *e)
{
	d->expected = e;
	for (size_t i = 0; i < e->count; i++)
		if (!pairs_put(&d->pairs, &e->entries[i].key, &e->entries[i].pair))
			return false;
	return true;
}

void doctor_receiver(struct doctor *d, const struct endpoint *endpoint)
{
	d->receiver.endpoint = endpoint;
}

void doctor_udp(struct doctor *d, const struct roce_ports *ports)
{
	d->flows.ports = ports;
}

/* A few RoCE packets may be strays beside a sender whose packets are none. */
static bool few_packets(const struct doctor *d)
{
	return d->packets < DOCTOR_STRAYS;
}

bool doctor_wants_others(const struct doctor *d)
{
	return few_packets(d) || flows_lack_port(&d->flows);
}

void doctor_flows(struct doctor *d, const struct snapshot *s)
{
	flows_count(&d->flows, s);
}

void doctor_selection(struct doctor *d)
{
	d->selection = true;
}

/* ---- the sequence of a stream ---- */

/* Several streams that lose at the same time share a cause outside their QPs. */
static void take_loss(struct doctor *d, struct stream_record *c, __u64 frame)
{
	if (!d->burst || frame - d->burst_frame > burst_frames(d)) {
		d->burst++;
		d->burst_frame = frame;
		d->burst_streams = d->burst_gaps = 0;
	}
	d->gaps++;
	d->burst_gaps++;
	if (c->burst == d->burst)
		return;
	c->burst = d->burst;
	d->burst_streams++;
	if (d->burst_streams >= 3 && 2 * d->burst_streams >= d->records.count) {
		d->gaps_together += d->burst_gaps;
		d->burst_gaps = 0;
	}
}

static void settle(struct doctor *d, struct stream_record *c, const struct doctor_step *next)
{
	const struct doctor_step *p = &c->waiting;
	enum psn_how how;

	if (!c->waits)
		return;
	c->waits = false;
	how = psn_study_take(&c->psn, &c->symptoms, p, next);
	if (loss_take(&c->loss, &c->symptoms, p, how) && !p->apart)
		take_loss(d, c, p->frame);
	message_study_take(&c->message, &c->loss, &c->symptoms, p, how);
}

void doctor_settle(struct doctor *d, struct stream_record *c)
{
	settle(d, c, NULL);
}

/* Another sequence of PSNs begins: the answers to the one before tell nothing of it. */
static void forget_answers(struct stream_record *c)
{
	c->acks = false;
	exchange_anew(&c->exchange);
	responder_study_anew(&c->responder);
	duplicates_anew(&c->duplicates);
	goback_anew(&c->goback);
	if (c->reads)
		reads_anew(c->reads);
	c->silence = (struct silence){ 0 };
}

/* Forgets the sequence: a new connection begins, or the stream has its first good ICRC. */
static void begin_anew(struct stream_record *c)
{
	c->waits = false;
	c->psn.met = c->psn.begun = false;
	c->psn.ones = c->psn.zeroes = 0;
	c->message.open = c->message.met = c->message.counts = false;
	forget_answers(c);
	receiver_anew(c->to_receiver);
	c->start = NO_PSN;
}

/* Drops what was seen before the first good ICRC: those packets may belong to another stream. */
static void trust(struct stream_record *c)
{
	c->trusted = true;
	c->bad_before = c->bad;
	if (!c->bad)
		return;
	symptoms_free(&c->symptoms);
	c->psn = (struct psn_study){ 0 };
	c->message = (struct message_study){ 0 };
	c->loss = (struct loss){ 0 };
	c->lint = (struct lint_study){ 0 };
	c->exchange = (struct exchange){ 0 };
	c->duplicates = (struct duplicates){ 0 };
	c->goback = (struct goback){ 0 };
	c->responder = (struct responder_study){ 0 };
	c->twice = (struct twice){ 0 };
	c->behind = c->behind_naks = 0;
	begin_anew(c);
}

/* Looks up the first PSNs of this connection and of its opposite direction. */
static void look_up_start(const struct doctor *d, struct stream_record *c, const struct roce_packet *p)
{
	struct roce_pair_key key;
	const struct roce_pair *pair;

	c->start = c->other_start = NO_PSN;
	if (c->key.kind != KEY_CONNECTED || c->key.side != SIDE_REQUEST)
		return;
	pair_key(&key, p->src, p->dst, p->dqpn);
	pair = pairs_get(&d->pairs, &key);
	if (!pair)
		return;
	c->start = pair->first_psn;
	c->started |= c->start != NO_PSN;
	pair_key(&key, p->dst, p->src, pair->peer_qpn);
	pair = pairs_get(&d->pairs, &key);
	if (pair)
		c->other_start = pair->first_psn;
}

/* Hash of the packet after the BTH and an AETH, without the ICRC, and of its opcode: what stays the same if it is sent again. */
static __u32 content(const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	__u32 from = p->l4_offset + (p->rocev1 ? 0 : WIRE_UDP_LEN) + sizeof(struct wire_bth);
	__u32 aeth = p->op & OP_AETH ? sizeof(struct wire_aeth) : 0; /* the MSN may have gone on */
	__u32 end = p->icrc_offset < taken->frame->captured ? p->icrc_offset : taken->frame->captured;

	from += aeth;
	return crc32_gzip_refl(p->opcode, taken->frame->bytes + from, end > from ? end - from : 0);
}

/* That of most packets, so that a stray packet of another one changes nothing (Boyer and Moore's majority vote, 1981). */
static void take_service(struct stream_record *c, __u8 service)
{
	if (!c->votes)
		c->service = service;
	c->votes += service == c->service ? 1 : -1;
}

/* READs and atomics are answered without AckReq. */
static void take_ackreq(struct stream_record *c, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;

	c->ackreqs += request_asks(p);
	if (c->ackreqs || !(p->op & OP_LAST))
		return;
	if (!c->silent++)
		c->silent_frame = taken->number;
}

/* When this packet came, behind the one before. */
static void take_time(struct stream_record *c, const struct doctor_packet *taken)
{
	__u64 now = taken->stream->last_seen;

	if (taken->parsed->packet.op & OP_FIRST)
		c->pause = 0;
	else if (now - c->seen > c->pause)
		c->pause = now - c->seen;
	c->seen = now;
}

/* A request that its responder answers. */
static void take_request(struct stream_record *c, struct doctor_step *step, const struct doctor_packet *taken)
{
	const struct exchange_nak *nak = &c->exchange.nak;
	const struct roce_packet *p = &taken->parsed->packet;
	__u64 seen = taken->stream->last_seen;

	if (step->event.kinds & ROCE_EVENT(psn_resync))
		forget_answers(c);
	if (step->damaged) {
		responder_study_damaged(&c->responder, step);
		goback_damaged(&c->goback);
		return;
	}
	step->resent = nak->open && step->psn == nak->psn;
	loss_take_out(&c->loss, step->frame, reads_place(c->reads, step), false);
	exchange_request(&c->exchange, &c->responder, step, taken->time);
	silence_ask(&c->silence, &c->responder, p, taken->number, seen);
	responder_study_request(&c->responder, &c->symptoms, step, taken->stream->psn.next & PSN_MASK, seen);
	duplicates_request(&c->duplicates, taken);
	goback_request(&c->goback, taken);
	reads_request(&c->reads, step, taken);
	step->guessed = !reads_know_mtu(c->reads);
}

/* PSNs that it takes, at most. */
static __u32 span(const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;

	return p->op & OP_READ_REQUEST ? reads_span(p->dma_length, taken->stream->path_mtu ?: 256) : 1;
}

static void take_step(struct doctor *d, struct stream_record *c, const struct doctor_packet *taken, __u32 hash)
{
	const struct roce_packet *p = &taken->parsed->packet;
	struct doctor_step step = {
		.frame = taken->number, .event = *taken->event, .psn = p->number, .op = p->op, .content = hash,
		.payload = p->payload_bytes, .dma_length = p->dma_length, .immediate = p->immediate, .opcode = p->opcode,
		.va = p->va, .service = p->service, .damaged = c->trusted && taken->parsed->icrc == ICRC_BAD,
		.identification = p->ip_id, .apart = taken->apart, .asks = request_asks(p),
		.span = span(taken),
		/* responses come again because requests do */
		.called = c->called ?: c->key.side == SIDE_RESPONSE ? CALL_OTHER : CALL_NONE,
	};

	c->called = CALL_NONE;
	if (taken->stream->pair.from && taken->stream->pair.connection != c->connection) {
		settle(d, c, NULL);
		begin_anew(c);
		c->connection = taken->stream->pair.connection;
	}
	if (c->key.kind == KEY_CONNECTED && c->key.side == SIDE_REQUEST && p->service != SERVICE_UC)
		take_request(c, &step, taken);
	settle(d, c, &step);
	if (!c->psn.met && !step.damaged)
		look_up_start(d, c, p);
	c->waiting = step;
	c->waits = true;
	if (step.damaged)
		return;
	c->wanted_came |= c->refused && step.psn == c->wanted;
	take_time(c, taken);
	c->asked += p->ackreq || p->op & OP_LAST;
	take_ackreq(c, taken);
	if (p->op & OP_RETH) {
		c->reth.known = true;
		c->reth.va = p->va;
		c->reth.rkey = p->rkey;
		c->reth.dma_length = p->dma_length;
	}
}

/* ---- packets ---- */

/* Returns whether the ICRC is wrong, and not only in another place. */
static bool take_icrc(struct stream_record *c, struct doctor_sender *s, const struct doctor_packet *taken)
{
	static const struct icrc_before none;
	struct icrc_case bad = { taken->number, taken->frame, &taken->parsed->packet, &c->before, s ? &s->before : &none };

	if (taken->parsed->icrc == ICRC_GOOD) {
		c->good++;
		if (s)
			s->good++;
		if (c->icrc)
			icrc_study_good(c->icrc, 1);
		return false;
	}
	if (!c->icrc) {
		c->icrc = icrc_study_new();
		if (!c->icrc)
			return false;
		icrc_study_good(c->icrc, c->good);
	}
	c->bad++;
	if (icrc_study_take(c->icrc, &c->key, &bad))
		return false;
	if (c->wrong < FINDING_EVIDENCE) {
		c->bad_shown[c->wrong].frame = taken->number;
		c->bad_shown[c->wrong].expected = observer_icrc(&taken->parsed->packet, taken->frame->bytes);
		c->bad_shown[c->wrong].found = taken->parsed->packet.icrc;
	}
	c->wrong++;
	return true;
}

static __u32 payload_hash(const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	__u32 from = p->icrc_offset - p->pad - p->payload_bytes;

	return crc32_gzip_refl(0, taken->frame->bytes + from, p->payload_bytes);
}

/* right: its right ICRC; NULL: it was not checked. wrong: it has another one. */
static void take_order(struct doctor_sender *s, const struct stream_record *c, const struct doctor_packet *taken,
		       const __u32 *right, bool wrong)
{
	struct icrc_another_packet packet = {
		.number = taken->number, .stream = &c->key, .in_stream = c->good + c->bad,
		.found = taken->parsed->packet.icrc, .psn = taken->parsed->packet.number,
		.study = wrong ? c->icrc : NULL,
	};

	if (!right) {
		icrc_another_pass(&s->others);
		return;
	}
	packet.right = *right;
	if (wrong || s->others.wrong)
		packet.payload = payload_hash(taken);
	icrc_another_take(&s->others, &packet);
}

static void remember(struct icrc_before *b, const struct observer_frame *frame, const struct roce_packet *p, const __u32 *right)
{
	__u32 bytes = frame->captured < sizeof(b->header) ? frame->captured : sizeof(b->header);

	b->packet = *p;
	memcpy(b->header, frame->bytes, bytes);
	b->whole = right;
	b->right = right ? *right : 0;
}

void doctor_remember(struct doctor *d, const struct observer_frame *frame, const struct roce_packet *p)
{
	struct doctor_sender *sender = index_get(&d->senders, p->src);
	struct roce_key key;
	struct stream_record *c;

	roce_stream_key(p, &key);
	c = index_find(&d->records, &key);
	if (c)
		remember(&c->before, frame, p, NULL);
	if (!sender)
		return;
	remember(&sender->before, frame, p, NULL);
	icrc_another_pass(&sender->others);
}

static __u32 ip_bytes(const struct roce_packet *p)
{
	return p->ip_payload + (p->ip_version == 4 ? WIRE_IPV4_LEN : WIRE_IPV6_LEN);
}

/* The latest request that is answered, and whether several QPs send such. */
static void take_requests(struct path *path, struct stream_record *c, const struct roce_packet *p)
{
	if (p->op & OP_RESPONSE || p->service == SERVICE_UC || p->service == SERVICE_UD)
		return;
	path->several |= path->requests && path->requests != c;
	path->requests = c;
}

struct path *doctor_path(const struct doctor *d, const __u8 src[16], const __u8 dst[16])
{
	__u8 key[32];

	memcpy(key, src, 16);
	memcpy(key + 16, dst, 16);
	return index_find(&d->paths, key);
}

static struct path *take_path(struct doctor *d, const struct roce_packet *p)
{
	__u8 key[32];
	struct path *path;

	memcpy(key, p->src, 16);
	memcpy(key + 16, p->dst, 16);
	path = index_get(&d->paths, key);
	if (!path)
		return NULL;
	path->packets++;
	if (p->kind != ROCE_PACKET)
		return path;
	path->responses += p->op & OP_RESPONSE && !(p->op & OP_CNP);
	path->filled |= roce_is_partial(p);
	if (ip_bytes(p) > path->largest)
		path->largest = ip_bytes(p);
	return path;
}

/* A connected stream of requests. */
static void list_requests(struct path *path, struct stream_record *c, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	__u32 label = !p->rocev1 && p->ip_version == 6 ? roce_be32(taken->frame->bytes + p->l3_offset) & 0xfffff : 0;

	if (!c->listed) {
		c->listed = true;
		c->beside = path->streams;
		path->streams = c;
		c->entropy.port = p->udp_source_port;
		c->entropy.label = label;
	}
	c->entropy.varies |= c->entropy.port != p->udp_source_port || c->entropy.label != label;
}

/* A RoCE packet of this direction. */
static void take_version(struct path *path, struct stream_record *c, const struct roce_packet *p)
{
	if (!path->any) {
		memcpy(path->src_mac, p->src_mac, sizeof(path->src_mac));
		memcpy(path->dst_mac, p->dst_mac, sizeof(path->dst_mac));
	}
	path->any = c;
	path->versions[p->rocev1]++;
}

static void take_class(struct stream_record *c, const struct doctor_packet *taken)
{
	const struct roce_stream *s = taken->stream;
	const struct roce_last *l = &s->last;
	bool changed = s->class_changes > c->class_changes;
	struct evidence *e = changed ? symptoms_add(&c->symptoms, KIND_traffic_class, taken->number) : NULL;

	c->class_changes = s->class_changes;
	if (!e)
		return;
	SAY(e->expected, "DSCP %u, %s", l->tos_before >> 2, l->tos_before & 3 ? "ECN-capable" : "not ECN-capable");
	SAY(e->found, "DSCP %u, %s", l->tos >> 2, l->tos & 3 ? "ECN-capable" : "not ECN-capable");
}

/* Management datagrams have one Q_Key, and several programs may send them. */
static void take_deth(struct doctor *d, struct stream_record *c, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	struct deth_key key = { .qpn = p->dqpn };
	struct deth_study *study;

	if (c->key.kind != KEY_DATAGRAM || p->dqpn < 2)
		return;
	memcpy(key.src, p->src, sizeof(key.src));
	memcpy(key.dst, p->dst, sizeof(key.dst));
	study = index_get(&d->deths, &key);
	if (study)
		deth_take(study, taken);
	c->deth = study;
}

/* Packets that were taken for ones sent again were copies: the latest one still waits. */
static void take_back(struct stream_record *c, __u64 packets)
{
	for (; packets; packets--) {
		bool waits = c->waits && c->waiting.event.kinds & ROCE_EVENT(psn_duplicate);

		symptoms_add(&c->symptoms, KIND_captured_twice, waits ? c->waiting.frame : 0);
		if (waits) {
			c->waits = false;
		} else if (c->loss.again) {
			loss_take_back(&c->loss);
			symptoms_take_back(&c->symptoms, KIND_duplicates);
		}
	}
}

static void take_packet(struct doctor *d, struct stream_record *c, struct path *path, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	bool bad = taken->parsed->icrc == ICRC_BAD, sequence = p->op && !(p->op & OP_NO_PLACE), astray, wrong;
	struct doctor_sender *sender = index_get(&d->senders, p->src);
	__u32 icrc, *right, hash = content(taken);

	c->packets++;
	c->apart |= taken->apart;
	if (taken->stream->trusted && !c->trusted)
		trust(c);
	take_back(c, twice_settled(&c->twice, taken));
	if (p->op && !(p->op & OP_CNP) && twice_take(&c->twice, &c->symptoms, taken, hash))
		return;
	wrong = taken->parsed->icrc != ICRC_UNCHECKED && take_icrc(c, sender, taken);
	icrc = bad ? observer_icrc(p, taken->frame->bytes) : p->icrc;
	right = taken->parsed->icrc == ICRC_UNCHECKED ? NULL : &icrc;
	remember(&c->before, taken->frame, p, right);
	if (sender) {
		remember(&sender->before, taken->frame, p, right);
		take_order(sender, c, taken, right, wrong);
	}
	if (p->truncated)
		symptoms_add(&c->symptoms, KIND_hint_truncated, taken->number);
	if (near_roce_ends_early(taken->frame, p)) {
		c->short_packets++;
		lint_frame(&c->early, taken);
	}
	if (taken->frame->no_icrc)
		symptoms_add(&c->symptoms, KIND_hint_bare, taken->number);
	take_deth(d, c, taken);
	/* no receiver checks the PSNs of management datagrams, and several programs may send them */
	if (c->key.kind == KEY_DATAGRAM && c->key.qpn < 2)
		sequence = false;
	if (sequence)
		take_step(d, c, taken, hash);
	if (bad && c->trusted)
		return;
	if (path)
		path->trusted |= taken->parsed->icrc == ICRC_GOOD;
	astray = bad && path && path->trusted; /* damage may have changed its QPN: it tells nothing of other streams */
	if (p->op && !(p->op & OP_CNP))
		take_service(c, p->service);
	c->dscp = p->tos >> 2;
	c->vlan = p->vlan_tags ? p->vlan & 0xfff : LOSSES_NO_VLAN;
	c->port = p->udp_source_port;
	if (path && sequence && !astray)
		take_requests(path, c, p);
	if (path && sequence && !(p->op & OP_RESPONSE) && c->key.kind == KEY_CONNECTED)
		list_requests(path, c, taken);
	if (path)
		take_version(path, c, p);
	if (taken->event->kinds & ROCE_EVENT(ecn_ce))
		symptoms_add(&c->symptoms, KIND_congestion, taken->number);
	take_class(c, taken);
	lint_study_take(&c->lint, &c->symptoms, taken);
	receiver_take(&d->receiver, &c->to_receiver, &c->symptoms, taken);
	if (p->op & OP_RESPONSE && !astray)
		answer_take(d, c, taken);
}

/* Keeps who sent the first frame of a kind. */
static void keep_key(struct doctor *d, enum finding_kind kind, const struct roce_packet *p)
{
	if (kind == FINDING_KINDS || d->loose_key[kind].kind)
		return;
	roce_stream_key(p, &d->loose_key[kind]);
	if (!p->op || p->truncated)
		d->loose_key[kind].qpn = FINDING_NO_QPN;
}

static void take_frame(struct doctor *d, const struct path *path, const struct doctor_packet *p)
{
	enum finding_kind kind = lint_frame(&d->loose, p);
	bool damaged = path && path->trusted && lint_is_damaged(p);
	__u32 op = p->parsed->packet.op;

	d->short_responses += kind == KIND_malformed_short && !damaged && op & OP_AETH && !(op & (OP_ACK | OP_ATOMICACKETH));
	d->damaged_opcodes += damaged && kind == KIND_icrc_absent;
	if (damaged && kind == KIND_malformed_short)
		symptoms_take_back(&d->loose, kind);
	else
		keep_key(d, kind, &p->parsed->packet);
}

static void take_other(struct doctor *d, const struct doctor_packet *p)
{
	struct roce_packet would;
	enum finding_kind kind;
	struct path *path;

	other_frames_count(&d->others, p->frame, &p->parsed->packet);
	flows_take_other(&d->flows, p);
	kind = near_study_take(&d->near, &d->loose, p, few_packets(d), &would);
	if (kind == FINDING_KINDS)
		return;
	keep_key(d, kind, &would);
	path = doctor_path(d, would.src, would.dst);
	if (!path)
		return;
	path->astray = kind;
	*(would.op & OP_RESPONSE ? &path->astray_responses : &path->astray_requests) += 1;
}

void doctor_take(struct doctor *d, const struct doctor_packet *taken)
{
	const struct roce_packet *p = &taken->parsed->packet;
	struct path *path = p->ip_version ? take_path(d, p) : NULL;
	struct roce_key key;
	struct stream_record *c;

	if (p->kind == ROCE_MALFORMED || p->kind == ROCE_FRAGMENT || (p->kind != ROCE_PACKET && p->truncated && p->ends_at))
		take_frame(d, path, taken);
	if (p->kind == ROCE_OTHER) {
		neighbours_take(&d->neighbours, taken);
		take_other(d, taken);
	}
	if (p->kind == ROCE_UDP)
		flows_take(&d->flows, taken);
	if (p->kind != ROCE_PACKET)
		return;
	roce_stream_key(p, &key);
	c = taken->stream ? index_get(&d->records, &key) : NULL;
	if (!c) {
		d->left_out++;
		return;
	}
	d->packets++;
	d->latest = taken->number;
	if (taken->stream->last_seen > d->end)
		d->end = taken->stream->last_seen;
	if (roce_is_management(p) && taken->parsed->icrc != ICRC_BAD)
		pairs_learn(&d->pairs, p, taken->frame->bytes,
			    taken->frame->captured < ROCE_WINDOW_BYTES ? taken->frame->captured : ROCE_WINDOW_BYTES);
	take_packet(d, c, path, taken);
}
