// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The page of one stream: everything that is known of it. */
#include <stdio.h>
#include <string.h>

#include "lib/address.h"
#include "roce/event/focus.h"
#include "userspace/observe/live/focus.h"
#include "userspace/observe/model/advice.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/qpn.h"
#include "userspace/render/output/view.h"
#include "userspace/render/screen/grid.h"
#include "userspace/render/screen/state.h"

/* What the page is made of. */
struct stream_page {
	struct lines *l;
	const struct snapshot_stream *s;
	const struct roce_stream *since; /* with the counters since the base */
	const struct snapshot *snapshot;
	const struct stream_row *row; /* NULL: the filter leaves the stream out */
	__u64 time; /* ns since 1970 */
};

#define add_line(p, label, ...) lines_add((p)->l, STYLE_PLAIN, label, __VA_ARGS__)

/* ---- who it is ---- */

static const char *from_words(__u32 from)
{
	switch (from) {
	case PAIR_EXPECT:
		return "of --expect";
	case PAIR_CM:
		return "of the connection's beginning";
	default:
		return "of this machine";
	}
}

static void add_title(const struct stream_page *p)
{
	const struct roce_key *key = &p->s->key;
	const struct roce_stream *s = &p->s->stream;
	const __u8 *dst = key->kind == KEY_DATAGRAM ? s->ud.dst : key->dst;
	char number[CELL], peer[CELL] = "";

	if (key->kind == KEY_UDP)
		snprintf(number, CELL, "port %u, flow %u", key->port, key->qpn);
	else if (key->kind == KEY_DATAGRAM)
		snprintf(number, CELL, "source QPN %s, to QPN %s", qpn_text(key->qpn).text, qpn_text(s->ud.dqpn).text);
	else
		snprintf(number, CELL, "QPN %s", qpn_text(key->qpn).text);
	if (s->pair.from)
		snprintf(peer, CELL, ", from QPN %s, %s", qpn_text(s->pair.peer_qpn).text, from_words(s->pair.from));
	lines_add(p->l, STYLE_TITLE, NULL, "%s > %s  %s%s  %s %s", address_text(key->src).text, address_text(dst).text, number,
		  peer, roce_service_name(s->service), key->side == SIDE_RESPONSE ? "answers" : "requests");
	if (!s->trusted)
		lines_add(p->l, STYLE_FAULT, NULL, "No packet had a right ICRC: the stream may not exist, and "
			  "the totals of PSNs and messages leave it out.");
	if (snapshot_is_estimate(s))
		lines_add(p->l, STYLE_HINT, NULL, "Nobody checks the PSN of UD: its PSN figures are estimates, "
			  "and the totals leave them out.");
	lines_raw(p->l, STYLE_PLAIN, "");
}

static void add_owner(const struct stream_page *p, const struct opened *o)
{
	const struct host_qp *qp = &o->qp;
	char psn[CELL] = "";

	if (!o->has_owner) {
		if (p->row && p->row->owner[0])
			add_line(p, "owner", "%s", p->row->owner);
		return;
	}
	if (o->owner.qp) {
		if (qp->rq_psn != HOST_NO_PSN)
			snprintf(psn, CELL, ", expects PSN 0x%06x", qp->rq_psn);
		add_line(p, "owner", "%s%s process %u: QP %s of %s port %u, peer QPN %s, state %u%s", qp->program,
			 qp->program[0] ? "," : "", qp->pid, qpn_text(qp->qpn).text, qp->device, qp->port, qpn_text(qp->peer_qpn).text, qp->state, psn);
		if (o->owner.calls.known)
			lines_add(p->l, o->owner.calls.failed ? STYLE_FAULT : STYLE_PLAIN, "", "%s", view_calls(&o->owner.calls).text);
	}
	if (o->owner.words[0])
		lines_add(p->l, STYLE_FAULT, "", "%s", o->owner.words);
}

/* ---- counters ---- */

static void add_rates(const struct stream_page *p, const struct opened *o, bool utf8)
{
	char bars[3 * SPARK_SAMPLES + LINES_LABEL + 1], bits[CELL], packets[CELL], messages[CELL], highest[CELL];
	size_t room = p->l->width > LINES_LABEL + 1 ? p->l->width - LINES_LABEL - 1 : 1;
	const struct rates *r = p->row ? &p->row->rates : NULL;
	double most;

	if (!r)
		return;
	format_rate(bits, r->gbps * 1e9, rates_known_bits(r));
	format_rate(packets, r->packets, rates_known(r, r->packets));
	format_rate(messages, r->messages, rates_known(r, r->messages));
	snprintf(bars, LINES_LABEL + 1, "%*s", LINES_LABEL, "");
	most = spark_text(&o->gbps, room, utf8, bars + LINES_LABEL);
	format_rate(highest, most * 1e9, rates_known_bits(r));
	add_line(p, "now", "%s bit/s, %s packets/s, %s messages/s; the highest bar is %s bit/s", bits, packets, messages,
		 highest);
	lines_raw(p->l, STYLE_BARS, bars);
}

static void add_amount(const struct stream_page *p)
{
	const struct roce_stream *s = p->since;
	const __u64 *v = s->counters.value;
	char bytes[CELL], first[CELL], ago[CELL];
	__u64 met = s->first_seen + p->snapshot->realtime_offset, last = s->last_seen + p->snapshot->realtime_offset;

	format_bytes(bytes, v[COUNTER_payload_bytes]);
	format_time(first, met);
	format_ago(ago, p->time > last ? (p->time - last) / 1e9 : 0);
	add_line(p, "seen", "%llu packets, %s of payload; met at %s, last seen %s%s", snapshot_packets(s), bytes, first, ago,
		 strcmp(ago, "now") ? " ago" : "");
}

#define MISSING 6 /* ranges that are listed */

struct missing {
	char text[MISSING * 32];
	size_t length, ranges;
	__u64 count; /* PSNs in all ranges */
};

static void add_range(struct missing *m, __u64 begin, __u64 end)
{
	m->count += end - begin;
	if (m->ranges++ >= MISSING)
		return;
	m->length += snprintf(m->text + m->length, sizeof(m->text) - m->length, "%s0x%06llx", m->length ? ", " : "",
			      begin & PSN_MASK);
	if (end - begin > 1)
		m->length += snprintf(m->text + m->length, sizeof(m->text) - m->length, "-0x%06llx", (end - 1) & PSN_MASK);
}

/* Lists the PSNs of the window that are missing now, the nearest first. */
static void add_missing(const struct stream_page *p)
{
	const struct roce_psn *psn = &p->s->stream.psn;
	struct missing m = { .length = 0 };
	__u64 end = 0;

	if (!p->s->stream.met || snapshot_lost(&p->s->stream.counters) == 0)
		return;
	for (__u64 d = 1; d <= PSN_WINDOW; d++) {
		__u64 n = psn->next - d;
		bool missing = !(psn->seen[n % PSN_WINDOW / 64] >> n % 64 & 1);

		if (missing && !end)
			end = n + 1;
		if (!end || (missing && d < PSN_WINDOW))
			continue;
		add_range(&m, missing ? n : n + 1, end);
		end = 0;
	}
	if (m.ranges)
		add_line(p, "missing now", "%s%s", m.text,
			 m.ranges > MISSING || m.count < snapshot_lost(&p->s->stream.counters) ? ", and others before" : "");
}

/* UC's receiver breaks a message where a packet comes late, so it matters how late they come. */
static void add_late(const struct stream_page *p)
{
	const struct roce_stream *s = &p->s->stream;
	char text[STREAM_DEPTHS * 32] = "";
	size_t length = 0;

	if (!snapshot_is_reordered(s))
		return;
	for (int i = 0; i < STREAM_DEPTHS; i++)
		if (s->arrival.depth[i])
			length += snprintf(text + length, sizeof(text) - length, "%s%u by %u or more", length ? ", " : "",
					   s->arrival.depth[i], 1u << i);
	add_line(p, "late", "packets by PSNs: %s", text);
	if (s->counters.value[COUNTER_psn_crossed])
		add_line(p, "", "%llu of them came by another interface or queue than those before: perhaps reordered here",
			 s->counters.value[COUNTER_psn_crossed]);
}

static void add_psn(const struct stream_page *p)
{
	const struct roce_stream *s = p->since;
	const __u64 *v = s->counters.value;

	if (!s->met)
		return;
	lines_add(p->l, snapshot_lost(&s->counters) && s->trusted ? STYLE_FAULT : STYLE_PLAIN, "lost",
		  "PSNs %llu: skipped %llu, came later %llu; jumps %llu", snapshot_lost(&s->counters),
		  v[COUNTER_psn_skipped], v[COUNTER_psn_recovered], v[COUNTER_psn_gaps]);
	add_line(p, "", "seen before %llu, another sequence %llu, strays %llu", v[COUNTER_psn_duplicates], v[COUNTER_psn_restarts],
		 v[COUNTER_psn_strays]);
	if (v[COUNTER_psn_unseen])
		add_line(p, "", "not seen here, but acknowledged %llu", v[COUNTER_psn_unseen]);
	if (snapshot_damaged(s))
		add_line(p, "", "%llu of the lost ones came here with a wrong ICRC: not dropped, but damaged", snapshot_damaged(s));
	if (snapshot_is_one_sided(p->snapshot, p->s))
		add_line(p, "", "no acknowledgements are seen: perhaps the lost ones were only not seen here");
	if (v[COUNTER_psn_late_unknown] || v[COUNTER_psn_forgotten])
		add_line(p, "", "too late to know %llu, not remembered %llu: perhaps so many fewer are lost",
			 v[COUNTER_psn_late_unknown], v[COUNTER_psn_forgotten]);
	if (v[COUNTER_psn_interleaved])
		lines_add(p->l, STYLE_FAULT, "two senders", "%llu packets of another sequence of PSNs come to this QPN",
			  v[COUNTER_psn_interleaved]);
	add_late(p);
	if (p->s->key.kind == KEY_UDP)
		return;
	add_line(p, "PSN", "first 0x%06llx, last 0x%06llx, next expected 0x%06llx", s->sequence.first_psn & PSN_MASK,
		 s->last.psn & PSN_MASK, s->psn.next & PSN_MASK);
	add_missing(p);
}

static void write_ring(const struct roce_stream *s, char *text, size_t size)
{
	const struct roce_ring *r = &s->ring.ring;

	if (!ring_is_known(&s->ring))
		snprintf(text, size, "their addresses do not go round a ring");
	else if (!r->slots)
		snprintf(text, size, "slots of %u bytes, not seen to go round yet", r->slot);
	else
		snprintf(text, size, "a ring of %u slots of %u bytes, last %u", r->slots, r->slot, s->message.immediate);
}

static void add_blocks(const struct stream_page *p)
{
	const struct roce_stream *s = p->since;
	const __u64 *v = s->counters.value;
	__u64 incomplete = v[COUNTER_blocks_incomplete], missing = v[COUNTER_blocks_missing];
	char counts[100] = "their immediate data does not count by a constant step";

	if (s->by_ring)
		write_ring(s, counts, sizeof(counts));
	else if (block_counts(s))
		snprintf(counts, sizeof(counts), "counted by %u, last %u", s->message.step, s->message.immediate);
	lines_add(p->l, (incomplete || missing) && s->trusted ? STYLE_FAULT : STYLE_PLAIN, "blocks",
		  "%llu complete, %llu incomplete, %llu missing; %s", v[COUNTER_blocks] - incomplete, incomplete, missing, counts);
}

static void add_checks(const struct stream_page *p)
{
	const struct roce_stream *s = p->since;
	const __u64 *v = s->counters.value;

	if (p->s->key.kind == KEY_UDP)
		return;
	lines_add(p->l, v[COUNTER_messages_broken] && s->trusted ? STYLE_FAULT : STYLE_PLAIN, "messages",
		  "%llu complete, %llu broken", v[COUNTER_messages], v[COUNTER_messages_broken]);
	if (v[COUNTER_blocks])
		add_blocks(p);
	if (v[COUNTER_imm_gaps])
		lines_add(p->l, STYLE_FAULT, s->by_ring ? "ring" : "immediate", "values left out %llu, jumps %llu", v[COUNTER_imm_skipped],
			  v[COUNTER_imm_gaps]);
	lines_add(p->l, v[COUNTER_icrc_bad] ? STYLE_FAULT : STYLE_PLAIN, "ICRC", "%llu bad, %llu checked, %llu unchecked",
		  v[COUNTER_icrc_bad], v[COUNTER_icrc_checked] + v[COUNTER_rocev1_icrc_checked], v[COUNTER_icrc_unchecked]);
	if (snapshot_icrcs_are_wrong(s))
		add_line(p, "", "most are wrong: `rocescope doctor %s` says why",
			 advice_where(p->snapshot).text);
	if (p->s->key.side == SIDE_RESPONSE)
		add_line(p, "answers",
			 "%llu ACKs, %llu NAKs (%llu PSN sequence, %llu invalid request, %llu remote access, %llu remote "
			 "operational), %llu RNR NAKs, %llu CNPs",
			 v[COUNTER_acks], v[COUNTER_naks], v[COUNTER_nak_psn_sequence], v[COUNTER_nak_invalid_request],
			 v[COUNTER_nak_remote_access], v[COUNTER_nak_remote_operational], v[COUNTER_rnr_naks], v[COUNTER_cnps]);
	if (v[COUNTER_ecn_ce])
		add_line(p, "congestion", "%llu packets marked on their way", v[COUNTER_ecn_ce]);
	if (snapshot_is_class_mixed(&p->s->stream))
		lines_add(p->l, STYLE_FAULT, "classes", "%s: changed %u times within the stream",
			  snapshot_class_text(&p->s->stream).text, p->s->stream.class_changes);
	if (v[COUNTER_unknown_opcodes])
		lines_add(p->l, STYLE_FAULT, "opcodes", "%llu unknown", v[COUNTER_unknown_opcodes]);
}

static void add_last(const struct stream_page *p)
{
	const struct roce_stream *s = &p->s->stream;
	const struct roce_last *l = &s->last;
	char vlan[CELL] = "none", length[CELL];

	if (l->vlan_tags)
		snprintf(vlan, CELL, "%u%s", l->vlan & 0xfff, l->vlan_tags > 1 ? " (the inner of two)" : "");
	add_line(p, "last packet", "%s > %s, VLAN %s, DSCP %u, ECN %u, TTL %u, UDP source port %u", mac_text(l->src_mac).text,
		 mac_text(l->dst_mac).text, vlan, l->tos >> 2, l->tos & 3, l->ttl, l->udp_source_port);
	format_bytes(length, l->dma_length);
	if (l->va || l->rkey || l->dma_length)
		add_line(p, "last RETH", "address 0x%llx, rkey 0x%08x, %u bytes (%s)", l->va, l->rkey, l->dma_length, length);
	if (s->path_mtu)
		add_line(p, "path MTU", "%u bytes", s->path_mtu);
}

/* ---- histograms ---- */

static void label_latency(char to[CELL], int i)
{
	format_latency(to, dialogue_bucket(i));
	strcat(to, " on");
}

static void label_size(char to[CELL], int i)
{
	format_bytes(to, focus_size_begin(i));
	strcat(to, " on");
}

static void label_gap(char to[CELL], int i)
{
	format_latency(to, focus_gap_begin(i));
	strcat(to, " on");
}

static void label_burst(char to[CELL], int i)
{
	if (i)
		snprintf(to, CELL, "%u-%u PSNs", 1u << i, (2u << i) - 1);
	else
		snprintf(to, CELL, "1 PSN");
}

/* ---- requests and answers ---- */

static void add_latency(const struct stream_page *p, const char *words, const struct roce_latency *latency)
{
	char half[CELL], late[CELL], most[CELL], sample[CELL] = "";
	__u64 count = dialogue_latencies(latency);

	if (!count)
		return;
	if (latency->timed != count)
		snprintf(sample, sizeof(sample), " (%llu timed)", latency->timed);
	format_latency(half, dialogue_quantile(latency, 0.5));
	format_latency(late, dialogue_quantile(latency, 0.99));
	format_latency(most, latency->most);
	add_line(p, "latency", "%s: half within %s, 99 %% within %s, %s at most, of %llu%s", words, half, late, most,
		 count, sample);
	grid_histogram(p->l, latency->bucket, DIALOGUE_BUCKETS, label_latency);
}

static void add_dialogue(const struct stream_page *p)
{
	const struct roce_dialogue *d = p->s->dialogue;

	if (!d)
		return;
	lines_raw(p->l, STYLE_PLAIN, "");
	if (p->row)
		lines_add(p->l, p->row->limit == LIMIT_STALLED || p->row->limit == LIMIT_LOSS ? STYLE_FAULT : STYLE_PLAIN,
			  "limit", "%s", limit_names[p->row->limit]);
	if (p->row && p->row->limit == LIMIT_WINDOW)
		add_line(p, "window", "%s", window_of(p->s).text);
	add_line(p, "outstanding", "%u PSNs now, %u at most; READs and atomics: %u now, %u at most", d->outstanding,
		 d->outstanding_most, d->reads, d->reads_most);
	add_line(p, "waiting", "%.3f s for answers, %.3f s of that with a full window", d->waiting_ns / 1e9, d->full_ns / 1e9);
	add_line(p, "went back", "%llu times for a gap, %llu for a NAK, %llu not ready, %llu timeouts; %llu packets again",
		 d->back[DIALOGUE_GAP], d->back[DIALOGUE_NAK], d->back[DIALOGUE_RNR], d->back[DIALOGUE_TIMEOUT],
		 d->back_packets);
	add_line(p, "repeated", "single packets: %llu for a gap, %llu for a NAK, %llu not ready, %llu timeouts",
		 d->selective[DIALOGUE_GAP], d->selective[DIALOGUE_NAK], d->selective[DIALOGUE_RNR],
		 d->selective[DIALOGUE_TIMEOUT]);
	if (d->back[DIALOGUE_TIMEOUT] || d->selective[DIALOGUE_TIMEOUT])
		add_line(p, "timer", "%.6f s of silence before the last timeout", d->timeout_ns / 1e9);
	add_latency(p, "request to acknowledgement", &d->ack);
	add_latency(p, "READ to its first answer", &d->read);
}

/* ---- faults ---- */

static void add_bursts(const struct stream_page *p, const struct history_stream *h)
{
	if (!h->together && !h->alone)
		return;
	add_line(p, "gaps by",
		 "how many PSNs were missing in a row; %llu came together with those of other streams, %llu alone", h->together,
		 h->alone);
	grid_histogram(p->l, h->burst, HISTORY_BURSTS, label_burst);
}

static void add_faults(const struct stream_page *p, const struct history *history)
{
	const struct history_stream *h = history ? history_of(history, &p->s->key) : NULL;
	char words[HISTORY_WORDS], text[EVENT_TEXT], time[CELL], suppressed[CELL] = "";
	__u64 kept;

	if (!h || !h->kept)
		return;
	lines_raw(p->l, STYLE_PLAIN, "");
	history_words(history, h, words);
	if (words[0] && p->snapshot->stream_count > 1) /* a single stream cannot be compared with others */
		lines_add(p->l, STYLE_HINT, "pattern", "%s", words);
	add_bursts(p, h);
	kept = h->kept < HISTORY_FAULTS ? h->kept : HISTORY_FAULTS;
	if (h->suppressed)
		snprintf(suppressed, CELL, ", and %llu beyond --event-limit", h->suppressed);
	add_line(p, "faults", "%llu since the start%s; the last %llu, newest first:", h->faults, suppressed, kept);
	for (__u64 i = 0; i < kept; i++) {
		const struct history_fault *f = &h->last[(h->kept - 1 - i) % HISTORY_FAULTS];

		event_text(&f->event, text);
		format_time(time, f->time);
		add_line(p, time, "%s", text);
	}
}

static void add_lints(const struct stream_page *p)
{
	bool any = false;

	for (int i = 0; i < ROCE_LINTS; i++) {
		bool habit = stream_is_habit(&p->s->stream, i);

		if (!p->since->lint[i])
			continue;
		if (!any)
			lines_raw(p->l, STYLE_PLAIN, "");
		lines_add(p->l, habit ? STYLE_PLAIN : STYLE_FAULT, habit ? "habit" : any ? "" : "mistakes", "%s, in %s%u packet%s: %s",
			  lint_names[i], p->since->lint[i] == LINT_COUNT_MOST ? "at least " : "", p->since->lint[i],
			  p->since->lint[i] == 1 ? "" : "s", lint_words[i]);
		any = true;
	}
}

/* ---- what is counted only while the page is open ---- */

static void add_addresses(const struct stream_page *p, const struct roce_focus *f)
{
	char bytes[CELL];

	if (!f->reths)
		return;
	format_bytes(bytes, f->high - f->low);
	add_line(p, "memory", "0x%llx to 0x%llx (%s), rkey 0x%08x%s", f->low, f->high, bytes, f->rkey,
		 f->rkeys > 1 ? ", and others" : "");
	if (f->reths == 1)
		return;
	add_line(p, "",
		 "%llu RETHs after another one: %llu continue where it ended, %llu begin where it began, %llu leave a gap, "
		 "%llu go back",
		 f->reths - 1, f->step[FOCUS_ON], f->step[FOCUS_SAME], f->step[FOCUS_AHEAD], f->step[FOCUS_BACK]);
}

static void add_sizes(const struct stream_page *p, const struct roce_focus *f)
{
	char least[CELL], most[CELL];

	if (!f->messages)
		return;
	format_bytes(least, f->size_least);
	format_bytes(most, f->size_most);
	add_line(p, "sizes", "of %llu messages: %s to %s%s", f->messages, least, most,
		 f->unsized ? "; others lack their beginning" : "");
	grid_histogram(p->l, f->size, FOCUS_SIZES, label_size);
}

static void add_gaps(const struct stream_page *p, const struct roce_focus *f)
{
	char least[CELL], half[CELL], late[CELL], most[CELL];

	if (!f->gaps)
		return;
	format_latency(least, f->gap_least);
	format_latency(half, focus_gap_quantile(f, 0.5));
	format_latency(late, focus_gap_quantile(f, 0.99));
	format_latency(most, f->gap_most);
	add_line(p, "arrival", "from packet to packet: %s at least, half within %s, 99 %% within %s, %s at most", least, half,
		 late, most);
	grid_histogram(p->l, f->gap, FOCUS_GAPS, label_gap);
}

static void add_focus(const struct stream_page *p, const struct focus *focus)
{
	struct roce_focus seen;

	if (!focus || !focus_read(focus, &seen) || memcmp(focus_key(focus), &p->s->key, sizeof(p->s->key)))
		return;
	lines_raw(p->l, STYLE_PLAIN, "");
	add_line(p, "since opened", "%llu packets", seen.packets);
	add_addresses(p, &seen);
	add_sizes(p, &seen);
	add_gaps(p, &seen);
}

/* ---- the page ---- */

static const struct stream_row *row_of(const struct screen *s, const struct roce_key *key)
{
	const struct rows *r = &screen_shown(s)->rows;
	size_t at = rows_find(r, key);

	return at < r->shown_count ? &r->row[r->shown[at]] : NULL;
}

void stream_page(struct screen *s, const struct screen_source *source)
{
	const struct roce_key *key = &s->opened.key;
	const struct snapshot *snapshot = screen_snapshot(s, source);
	const struct snapshot_stream *found = snapshot_find(snapshot, key);
	const struct snapshot_stream *base = s->base.held ? snapshot_find(&s->base.snapshot, key) : NULL;
	struct roce_stream since;
	struct stream_page p = { .l = &s->lines, .s = found, .since = &since, .snapshot = snapshot, .row = row_of(s, key),
			     .time = screen_shown(s)->rows.time };

	if (!found) {
		lines_add(&s->lines, STYLE_HINT, NULL,
			  "This stream is no longer tracked: it was idle, and others took its place.");
		return;
	}
	stream_since(&found->stream, base ? &base->stream : NULL, &since);
	add_title(&p);
	add_rates(&p, &s->opened, s->utf8);
	add_amount(&p);
	add_psn(&p);
	add_checks(&p);
	add_last(&p);
	add_owner(&p, &s->opened);
	add_dialogue(&p);
	add_lints(&p);
	add_faults(&p, source->history);
	add_focus(&p, source->focus);
}

void stream_open(struct screen *s, const struct screen_source *source, const struct roce_key *key)
{
	if (s->page == PAGE_STREAM && !memcmp(&s->opened.key, key, sizeof(*key)))
		return;
	s->opened = (struct opened){ .key = *key };
	s->page = PAGE_STREAM;
	s->scroll = 0;
	if (source->focus)
		focus_set(source->focus, key);
}

void stream_close(struct screen *s, const struct screen_source *source)
{
	s->page = PAGE_TABLE;
	if (source->focus)
		focus_set(source->focus, NULL);
}

void stream_update(struct screen *s, const struct screen_source *source)
{
	struct opened *o = &s->opened;
	const struct snapshot_stream *found;

	if (s->page != PAGE_STREAM && s->behind != PAGE_STREAM)
		return;
	found = snapshot_find(source->now, &o->key);
	if (!found)
		return;
	spark_add(&o->gbps, rates_of_stream(found, source->now, source->previous).gbps);
	o->has_owner = found->owner && (found->owner->qp || found->owner->words[0]);
	if (!o->has_owner)
		return;
	o->owner = *found->owner;
	if (o->owner.qp)
		o->qp = *o->owner.qp;
}
