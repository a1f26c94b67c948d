// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A header field that goes into the CRC with another value than it has: bits of it differ, and others from packet to packet. */
#include <stdio.h>

#include "userspace/diagnose/icrc/icrc_sender.h"

#define FIELDS_MOST 256 /* indices of flip_field_name() */

#define LISTED (CHANGES_MOST + FLIPS_MOST)

/* Whether a burst is in a header field that is too large for struct field_change. */
static bool is_in_field(const struct flip *f)
{
	__u32 bytes = flip_field_bytes(f->place.field);

	return bytes > FIELD_BYTES && bytes <= 16 && f->place.byte < bytes;
}

/* Lists the fields that explain a packet. Of large fields `bits` only tells whether others differ; `sent` is not known. */
static __u32 list_changes(const struct icrc_sample *m, struct field_change to[LISTED])
{
	const struct icrc_detail *d = m->packet->detail;
	__u32 count = 0;

	for (__u32 i = 0; d && i < d->flips.change_count; i++)
		to[count++] = d->flips.changes[i];
	for (__u32 i = 0; d && i < d->flips.count; i++) {
		const struct flip *f = &d->flips.list[i];

		if (is_in_field(f))
			to[count++] = (struct field_change){ .field = f->place.field, .bits = f->place.byte << 16 | f->bits };
	}
	return count;
}

static bool find_change(const struct icrc_sample *m, __u8 field, struct field_change *to)
{
	struct field_change list[LISTED];
	__u32 count = list_changes(m, list);

	for (__u32 i = 0; i < count; i++) {
		*to = list[i];
		if (to->field == field)
			return true;
	}
	return false;
}

/* Different open packets with a changed field or a burst, wherever it is. */
static __u32 count_changed(const struct icrc_sender *s)
{
	__u32 count = 0;

	for (__u32 i = 0; i < s->count; i++) {
		const struct icrc_sample *m = &s->samples[i];

		count += !m->done && !m->again && m->packet->detail &&
			 (m->packet->detail->flips.count || m->packet->detail->flips.change_count);
	}
	return count;
}

/* How many values of the field explain an ICRC. */
static double count_values(__u8 field)
{
	__u32 bits = 8 * flip_field_bytes(field);

	return bits <= 8 * FIELD_BYTES ? 1u << bits : bits << (FLIP_SPAN - 1);
}

struct icrc_field icrc_find_best_field(const struct icrc_sender *s)
{
	struct {
		__u32 votes, bits;
		bool differ;
	} of[FIELDS_MOST] = {};
	struct icrc_field best = {};
	__u32 changed = count_changed(s);

	for (__u32 i = 0; i < s->count; i++) {
		struct field_change list[LISTED];
		__u32 count = s->samples[i].again || s->samples[i].done ? 0 : list_changes(&s->samples[i], list);

		for (__u32 k = 0; k < count; k++) {
			of[list[k].field].differ |= of[list[k].field].votes && list[k].bits != of[list[k].field].bits;
			of[list[k].field].bits = list[k].bits;
			of[list[k].field].votes++;
		}
	}
	for (__u32 i = 0; i < FIELDS_MOST; i++)
		if (of[i].differ && of[i].votes > best.votes && of[i].votes >= FINDING_PACKETS &&
		    icrc_chance(s, FIELDS_MOST, count_values(i), of[i].votes) < CHANCE_OF_ALL &&
		    icrc_coincidence(changed, of[i].votes, s->mean_bits / 8 / flip_field_bytes(i)) < CHANCE)
			best = (struct icrc_field){ i, of[i].votes };
	return best;
}

/* Which value goes in, if it is always the same one, or always off by the same. field: of up to FIELD_BYTES. */
static void append_value(struct finding *f, const struct icrc_sender *s, __u8 field)
{
	__u32 bytes = flip_field_bytes(field), mask = ~(~0u << 8 * bytes), value = 0, off = 0, half = mask / 2 + 1;
	bool met = false, one = true, shifted = !flip_field_masked(field);

	for (__u32 i = 0; i < s->count; i++) {
		struct field_change c;
		__u32 in;

		if (!s->samples[i].chosen || !find_change(&s->samples[i], field, &c))
			continue;
		in = c.sent ^ c.bits;
		one &= !met || in == value;
		shifted &= !met || ((in - c.sent) & mask) == off;
		value = in;
		off = (in - c.sent) & mask;
		met = true;
	}
	if (one)
		icrc_append(f->text, ": always 0x%0*x", 2 * bytes, value);
	else if (shifted)
		icrc_append(f->text, ": %u too %s", off < half ? off : mask + 1 - off, off < half ? "large" : "small");
}

bool icrc_report_field(struct icrc_sender *s, struct icrc_field best)
{
	struct field_change c;
	struct finding *f;

	for (__u32 i = 0; i < s->count; i++)
		s->samples[i].chosen = !s->samples[i].done && find_change(&s->samples[i], best.field, &c);
	f = icrc_add_finding(s, true, WEIGHT_MISTAKE);
	if (!f)
		return false;
	snprintf(f->kind, sizeof(f->kind), "icrc-field");
	icrc_append(f->text, "%s goes into the ICRC with another value than it ought to", flip_field_name(best.field));
	if (flip_field_bytes(best.field) <= FIELD_BYTES)
		append_value(f, s, best.field);
	icrc_append_share(f, s);
	f->asks = mistake_asks_all;
	snprintf(f->fix, sizeof(f->fix), "feed it as it is sent (or as ones, if it is masked): look for what changes it behind the CRC, or "
		 "is late in front of it");
	return true;
}
