// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <isa-l/crc.h>
#include <string.h>

#include "roce/packet/wire.h"
#include "userspace/diagnose/icrc/icrc_place.h"

#define WORD_LEAST 8  /* bytes of the narrowest and the widest bus whose words are looked for */
#define WORD_MOST 64
#define WORDS 4       /* so many widths */
#define REACH (WORD_MOST + WIRE_ICRC_LEN) /* bytes around the place of the lengths, in which the ICRC is looked for */
#define LEAST_FRAME 60 /* of Ethernet, without FCS and VLAN tags */

/* ---- one frame ---- */

/* Where the payload begins. */
static __u32 payload_offset(const struct roce_packet *p)
{
	return p->icrc_offset - p->pad - p->payload_bytes;
}

bool icrc_place_payload_lacks(const struct roce_packet *p, __u32 bytes)
{
	__u32 whole = p->payload_bytes + bytes;

	if ((p->op & OP_ONLY) == OP_ONLY)
		return p->op & OP_RETH && !(p->op & (OP_READ_REQUEST | OP_FETH)) && p->dma_length == whole;
	return roce_is_partial(p) && p->payload_bytes && roce_is_path_mtu(whole);
}

bool icrc_place_lacks_pad(const struct roce_packet *p)
{
	__u32 bytes = p->payload_bytes + p->pad; /* from the headers to the ICRC */

	return bytes & 3 && (!p->pad || p->pad == (-bytes & 3));
}

/* The right ICRC of the bytes up to there, the first of its bytes lowest. end: not before the payload, not behind the frame. */
static __u32 icrc_up_to(const struct observer_frame *f, const struct roce_packet *p, __u32 end)
{
	struct roce_packet part = *p;

	part.icrc_offset = end;
	return observer_icrc(&part, f->bytes);
}

/* Whether the ICRC is at that offset, and covers what is in front of it, or that and `pad` zeroes that are not sent. */
static bool is_icrc_at(const struct observer_frame *f, const struct roce_packet *p, __u32 at, __u32 pad)
{
	static const __u8 zeroes[4];
	__u32 found = roce_load(__u32, f->bytes + at), icrc = icrc_up_to(f, p, at);

	return found == icrc || found == crc32_gzip_refl(icrc, zeroes, pad);
}

/* Whether these bytes of the frame are zeroes, or those of the bus word before: what is left in its lanes. */
static bool is_blank(const struct observer_frame *f, __u32 from, __u32 to, bool *zero)
{
	__u32 bytes = to - from;
	bool same = false;

	*zero = true;
	for (__u32 i = from; i < to; i++)
		*zero &= !f->bytes[i];
	for (__u32 word = WORD_LEAST; word <= WORD_MOST; word *= 2)
		same |= bytes < word && from >= word && !memcmp(f->bytes + from, f->bytes + from - word, bytes);
	return *zero || same;
}

/* Ethernet may have filled up a frame of that length. */
static bool is_least(const struct observer_frame *f, const struct roce_packet *p)
{
	return f->wire <= LEAST_FRAME + p->vlan_tags * (__u32)WIRE_VLAN_LEN;
}

/* Why a frame ends so many bytes before its lengths do. */
static enum finding_kind judge_early(const struct observer_frame *f, const struct roce_packet *p, __u32 missing)
{
	__u32 start = payload_offset(p), bare = start + p->payload_bytes; /* behind the payload: the place without a pad */
	__u32 sent = missing < WIRE_ICRC_LEN ? WIRE_ICRC_LEN - missing : 0, both = WIRE_ICRC_LEN + p->pad, icrc;
	bool zero;

	if (p->pad && f->wire >= bare + WIRE_ICRC_LEN && is_icrc_at(f, p, bare, p->pad))
		return KIND_pad_missing;
	if (f->wire >= start + WIRE_ICRC_LEN && is_icrc_at(f, p, f->wire - WIRE_ICRC_LEN, 0))
		return KIND_malformed_ip_length;
	if (sent) { /* is it there, as far as the frame goes? */
		icrc = icrc_up_to(f, p, p->icrc_offset);
		if (!memcmp(&icrc, f->bytes + p->icrc_offset, sent))
			return KIND_malformed_ip_length;
	}
	if (missing == WIRE_ICRC_LEN || missing == both || (is_least(f, p) && missing < both) ||
	    (sent && is_blank(f, p->icrc_offset, f->wire, &zero)))
		return KIND_icrc_not_appended;
	return missing == p->pad ? KIND_pad_missing : KIND_malformed_ip_length;
}

/* How many bytes the frame ends before its lengths do. 0: none, or a mirror may have cut it. */
static __u32 missing_bytes(const struct observer_frame *f, const struct roce_packet *p)
{
	__u32 end = p->kind == ROCE_PACKET ? p->icrc_offset + WIRE_ICRC_LEN : p->l4_offset + p->ip_payload;

	return !f->cut && end > f->wire ? end - f->wire : 0;
}

static struct icrc_place find_early(const struct observer_frame *f, const struct roce_packet *p, __u32 missing)
{
	struct icrc_place at = { .kind = KIND_malformed_ip_length, .at = f->wire };

	if (p->kind == ROCE_PACKET && !(p->op & OP_CUT) && f->captured == f->wire && f->wire >= payload_offset(p))
		at.kind = judge_early(f, p, missing);
	else if (missing == WIRE_ICRC_LEN)
		at.kind = KIND_icrc_not_appended;
	return at;
}

/* The ICRC is at `at`, and covers all up to `end`, which is not behind it. */
static struct icrc_place name_place(const struct observer_frame *f, const struct roce_packet *p, __u32 at, __u32 end)
{
	__u32 given = p->icrc_offset, behind = given + WIRE_ICRC_LEN;
	struct icrc_place place = { .kind = KIND_icrc_behind_end, .at = at, .covered = end == at };
	bool zero, payload = !icrc_place_payload_lacks(p, 0) && !is_blank(f, given, behind, &zero); /* what is there seems to be some */

	if (at < given) {
		place.beyond = given - at;
		place.kind = (at - payload_offset(p)) & 3 && place.beyond == p->pad ? KIND_pad_missing : KIND_icrc_before_end;
	} else if (end >= behind && (icrc_place_payload_lacks(p, WIRE_ICRC_LEN) || (end == behind && (at > end || payload)))) {
		place.kind = KIND_icrc_uncounted;
		place.beyond = at - behind;
	} else {
		place.beyond = at - given;
	}
	return place;
}

/* The ICRC is not at the place that the lengths give. Is it elsewhere? */
static struct icrc_place find_elsewhere(const struct observer_frame *f, const struct roce_packet *p)
{
	__u32 given = p->icrc_offset, behind = given + WIRE_ICRC_LEN, start = payload_offset(p), last = f->wire - WIRE_ICRC_LEN;
	__u32 from = given > start + REACH ? given - REACH : start;
	__u32 here = icrc_up_to(f, p, from), whole = icrc_up_to(f, p, given), uncounted = icrc_up_to(f, p, behind);

	for (__u32 at = from; at <= last && at <= given + REACH; at++) {
		__u32 found = roce_load(__u32, f->bytes + at);

		if (at != given && found == here)
			return name_place(f, p, at, at);
		if (at > given && found == whole)
			return name_place(f, p, at, given);
		if (at > behind && found == uncounted)
			return name_place(f, p, at, behind);
		here = crc32_gzip_refl(here, f->bytes + at, 1);
	}
	if (p->pad && given >= start + p->pad && is_icrc_at(f, p, given - p->pad, p->pad))
		return name_place(f, p, given - p->pad, given - p->pad);
	return (struct icrc_place){ .kind = FINDING_KINDS };
}

/* A whole packet with a wrong ICRC. */
static struct icrc_place find_whole(const struct observer_frame *f, const struct roce_packet *p)
{
	struct icrc_place at = find_elsewhere(f, p);
	bool zero;

	if (at.kind != FINDING_KINDS || !is_blank(f, p->icrc_offset, f->wire, &zero))
		return at;
	at.at = p->icrc_offset;
	at.blank = f->wire == p->icrc_offset + WIRE_ICRC_LEN || (zero && is_least(f, p)) ? BLANK_DOUBTED : BLANK_WORD;
	if (at.blank == BLANK_WORD)
		at.beyond = f->wire - p->icrc_offset;
	return at;
}

struct icrc_place icrc_place_find(const struct observer_frame *f, const struct roce_packet *p)
{
	__u32 missing = missing_bytes(f, p);

	if (missing)
		return find_early(f, p, missing);
	if (p->kind == ROCE_PACKET && !p->truncated && f->captured == f->wire && !f->no_icrc)
		return find_whole(f, p);
	return (struct icrc_place){ .kind = FINDING_KINDS };
}

void icrc_place_say(const struct icrc_place *at, const struct roce_packet *p, struct evidence *e)
{
	__u32 given = p->kind == ROCE_PACKET ? p->icrc_offset : p->l4_offset + p->ip_payload - WIRE_ICRC_LEN;
	bool early = at->kind == KIND_malformed_ip_length;

	SAY(e->expected, early ? "at most %u bytes behind IP" : "the ICRC behind %u bytes from IP on",
	    early ? at->at - p->l4_offset : given - p->l3_offset);
	if (at->kind == KIND_icrc_not_appended)
		SAY(e->found, "%u bytes, and no ICRC", at->at - p->l3_offset);
	else if (at->kind == KIND_pad_missing)
		SAY(e->found, "%u bytes of pad are not there", p->pad);
	else
		SAY(e->found, "%u", early ? given + WIRE_ICRC_LEN - p->l4_offset : at->at - p->l3_offset);
}

/* ---- the wrong ICRCs of a stream ---- */

/* The words of a bus, counted from the frame's first byte and (upper bits) from the IP header, that end in front of that offset. */
static __u32 words_at(const struct roce_packet *p, __u32 offset)
{
	__u32 words = 0;

	for (__u32 i = 0; i < WORDS; i++) {
		words |= (__u32)(offset % (WORD_LEAST << i) == 0) << i;
		words |= (__u32)((offset - p->l3_offset) % (WORD_LEAST << i) == 0) << (i + WORDS);
	}
	return words;
}

static void take_beyond(struct icrc_places *p, const struct icrc_place *at, const struct observer_frame *f,
			const struct roce_packet *packet)
{
	/* the end of a frame that Ethernet has filled up tells nothing */
	__u32 words = at->kind == KIND_icrc_behind_end ? words_at(packet, at->at) : is_least(f, packet) ? ~0u : words_at(packet, f->wire);
	bool first = !p->most;

	if (!at->beyond)
		return;
	p->words = first ? words : p->words & words;
	p->covered = (first || p->covered) && at->covered;
	p->least = first || at->beyond < p->least ? at->beyond : p->least;
	p->most = at->beyond > p->most ? at->beyond : p->most;
}

struct icrc_place icrc_places_take(struct icrc_places *p, __u64 number, const struct observer_frame *f, const struct roce_packet *packet)
{
	struct icrc_place at = icrc_place_find(f, packet);
	struct evidence *e;

	p->doubted += at.blank == BLANK_DOUBTED;
	if (at.kind == FINDING_KINDS && at.blank != BLANK_WORD)
		return at;
	take_beyond(p, &at, f, packet);
	e = symptoms_add(&p->symptoms, at.blank ? KIND_icrc_not_appended : at.kind, number);
	if (!e)
		return at;
	icrc_place_say(&at, packet, e);
	if (at.blank)
		SAY(e->found, "zeroes, or bytes of the word before");
	return at;
}

/* The widest word of which all frames have whole ones. One length of frames alone would show it by chance. */
static void say_word(const struct icrc_places *p, char text[SYMPTOM_FIGURES])
{
	size_t length = strlen(text);

	for (__u32 i = 2 * WORDS; i-- > 0 && p->least < p->most;) {
		__u32 bit = i / 2 + (i % 2 ? 0 : WORDS);

		if (!(p->words >> bit & 1))
			continue;
		snprintf(text + length, SYMPTOM_FIGURES - length,
			 " The last word of a bus of %u bytes goes out whole (words counted from the %s).", WORD_LEAST << (i / 2),
			 bit < WORDS ? "frame" : "IP header");
		return;
	}
}

static void say(const struct icrc_places *p, struct symptom *symptom)
{
	char range[32];

	if (!p->most)
		return;
	if (p->least < p->most)
		SAY(range, "%u to %u bytes", p->least, p->most);
	else
		SAY(range, "%u bytes", p->most);
	if (symptom->kind == KIND_icrc_behind_end)
		SAY(symptom->figures, "%s stand in front of it that no length counts%s.", range,
		    p->covered ? ", but the CRC does" : "");
	else if (symptom->kind == KIND_icrc_before_end)
		SAY(symptom->figures, "%s stand behind it that the lengths count.", range);
	else if (symptom->kind == KIND_icrc_not_appended)
		SAY(symptom->figures,
		    "In its place and behind it, in %s up to the frame's end, stand zeroes or what is left of the word "
		    "before.", range);
	else
		return;
	say_word(p, symptom->figures);
}

/* Four bytes in front of an ICRC may be payload or left in the word: the other packets of the stream tell. */
static void settle(struct symptoms *s, enum finding_kind kind, enum finding_kind other)
{
	struct symptom *to = symptoms_find(s, kind), *from = symptoms_find(s, other);

	if (!to || !from)
		return;
	to->packets += from->packets;
	symptoms_drop(s, other);
}

bool icrc_places_conclude(const struct icrc_places *p, struct symptoms *symptoms, bool unappended)
{
	struct symptom *none;

	symptoms_merge(symptoms, &p->symptoms);
	if (p->most == WIRE_ICRC_LEN)
		settle(symptoms, KIND_icrc_uncounted, KIND_icrc_behind_end);
	else
		settle(symptoms, KIND_icrc_behind_end, KIND_icrc_uncounted);
	for (size_t i = 0; i < p->symptoms.count; i++) {
		struct symptom *symptom = symptoms_find(symptoms, p->symptoms.list[i].kind);

		if (symptom)
			say(p, symptom);
	}
	none = unappended && p->doubted ? symptoms_get(symptoms, KIND_icrc_not_appended)
		: symptoms_find(symptoms, KIND_icrc_not_appended);
	if (none)
		none->packets += p->doubted;
	return none;
}
