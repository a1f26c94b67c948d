// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "roce/packet/pair.h"
#include "userspace/diagnose/flow/msn.h"

#define MOST(n, of) ((n) >= 2 && (n) * 10 >= (of) * 9)
#define WRAP_LEAST 8 /* bits of the narrowest counter */

static __u32 swap(__u32 msn)
{
	return __builtin_bswap32(msn << 8);
}

void msn_study_forget(struct msn_study *m)
{
	m->known = false;
}

static void go_on(struct msn_study *m, const struct msn_step *s)
{
	m->known = true;
	m->psn = s->psn;
	m->msn = s->msn;
	m->acks++;
}

void msn_study_begin(struct msn_study *m, const struct msn_step *s, bool whole, __u32 start)
{
	go_on(m, s);
	m->first_msn = s->msn;
	m->messages = m->first_messages = whole ? s->messages : 0;
	m->from = (s->msn - (whole ? s->packets : 0)) & PSN_MASK;
	if (!whole || m->based)
		return;
	m->based = true;
	m->start.frame = s->frame;
	m->start.psn = start;
	m->start.base = (s->msn - s->messages) & PSN_MASK;
	m->start.expected = s->messages;
	m->start.found = s->msn;
}

/* Width of a counter that went round between both. 0: it did not, or all 24 bits did. */
static __u32 wrapped_bits(__u32 before, __u32 expected, __u32 msn)
{
	for (__u32 bits = WRAP_LEAST; bits < 24; bits++)
		if (before < 1u << bits && expected >= 1u << bits && msn == (expected & ((1u << bits) - 1)))
			return bits;
	return 0;
}

static void count_ways(struct msn_study *m, const struct msn_step *s)
{
	__u32 up = (s->msn - m->msn) & PSN_MASK, swapped = (swap(s->msn) - swap(m->msn)) & PSN_MASK;

	m->could[MSN_PACKETS] += s->packets != s->messages;
	m->way[MSN_PACKETS] += s->packets != s->messages && up == s->packets;
	m->could[MSN_ANSWERS] += s->messages != 1;
	m->way[MSN_ANSWERS] += s->messages != 1 && up == 1;
	m->could[MSN_SWAPPED] += s->messages > 0;
	m->way[MSN_SWAPPED] += s->messages > 0 && up != s->messages && swapped == s->messages;
	m->still = up ? 0 : m->still + (s->messages > 0);
	if (m->still > m->still_most) {
		m->still_most = m->still;
		m->still_msn = s->msn;
	}
}

void msn_study_take(struct msn_study *m, struct symptoms *symptoms, const struct msn_step *s)
{
	__u32 expected = m->msn + s->messages, bits = wrapped_bits(m->msn, expected, s->msn);
	struct evidence *e;

	count_ways(m, s);
	m->steps++;
	m->messages += s->messages;
	if (bits) {
		m->wrap_bits = bits;
		m->wraps++;
	}
	m->wrapped += m->wraps > 0;
	if (s->msn != (expected & PSN_MASK)) {
		m->odd++;
		e = symptoms_add(symptoms, KIND_ack_msn, s->frame);
		if (e) {
			SAY(e->expected, "MSN %u", expected & PSN_MASK);
			SAY(e->found, "MSN %u", s->msn);
		}
	}
	go_on(m, s);
}

/* ---- conclusions ---- */

/* "MSN 18 where 6 messages are complete", or "it went up by 18 where ...", since the MSN `from`. */
static void say_total(const struct msn_study *m, struct symptom *symptom, const char *words, __u32 from, __u64 messages)
{
	const char *are = messages == 1 ? " is" : "s are";

	if (from)
		SAY(symptom->figures, "%s: it went up by %u where %llu message%s complete.", words, (m->msn - from) & PSN_MASK,
		    messages, are);
	else
		SAY(symptom->figures, "%s: MSN %u where %llu message%s complete.", words, m->msn, messages, are);
}

static bool conclude_way(const struct msn_study *m, struct symptom *symptom)
{
	static const char *const words[] = {
		[MSN_PACKETS] = "It counts packets", [MSN_ANSWERS] = "It counts acknowledgements",
		[MSN_SWAPPED] = "Its bytes are in the other order",
	};

	for (enum msn_way way = 0; way < MSN_WAYS; way++) {
		if (!MOST(m->way[way], m->could[way]))
			continue;
		symptom->packets = m->way[way];
		if (way == MSN_PACKETS)
			say_total(m, symptom, words[way], m->from, m->messages);
		else
			say_total(m, symptom, words[way], m->first_msn, m->messages - m->first_messages);
		return true;
	}
	return false;
}

/* All ones in so many bits; 0: it is not. */
static __u32 full_bits(__u32 msn)
{
	return msn && !(msn & (msn + 1)) ? __builtin_popcount(msn) : 0;
}

static bool conclude_still(const struct msn_study *m, struct symptom *symptom)
{
	if (m->still_most < FINDING_PACKETS)
		return false;
	symptom->packets = m->still_most;
	if (full_bits(m->still_msn) >= WRAP_LEAST)
		SAY(symptom->figures, "It stops at %u, which is all ones in %u bits: it does not wrap.", m->still_msn,
		    full_bits(m->still_msn));
	else
		SAY(symptom->figures, "It stands still at %u, though messages are completed: %llu acknowledgements in a row.",
		    m->still_msn, m->still_most);
	return true;
}

static bool conclude_wrap(const struct msn_study *m, struct symptom *symptom)
{
	if (!m->wraps || (m->odd - m->wraps) * 10 > m->steps)
		return false;
	symptom->packets = m->wrapped;
	SAY(symptom->figures, "It wraps too early: its counter has %u bits.", m->wrap_bits);
	return true;
}

/* It counts right, but does not begin with 0. */
static bool conclude_start(const struct msn_study *m, struct symptom *symptom, __u32 start)
{
	if (!m->based || start == PAIR_NO_PSN || start != m->start.psn || !m->start.base || m->odd * 10 > m->steps)
		return false;
	symptom->packets = m->acks;
	symptom->shown = 1;
	symptom->evidence[0].frame = m->start.frame;
	SAY(symptom->evidence[0].expected, "MSN %u", m->start.expected);
	SAY(symptom->evidence[0].found, "MSN %u", m->start.found);
	SAY(symptom->figures, "It starts elsewhere: at %u, not at 0, when the connection begins.", m->start.base);
	return true;
}

static bool conclude_other(const struct msn_study *m, struct symptom *symptom)
{
	if (m->odd < FINDING_PACKETS || m->odd * 10 < m->steps * 9)
		return false;
	symptom->packets = m->odd;
	say_total(m, symptom, "It goes up otherwise", m->first_msn, m->messages - m->first_messages);
	return true;
}

void msn_study_conclude(const struct msn_study *m, struct symptoms *symptoms, __u32 start)
{
	struct symptom *symptom = m->odd || (m->based && m->start.base) ? symptoms_get(symptoms, KIND_ack_msn) : NULL;

	if (!symptom)
		return;
	if (!conclude_way(m, symptom) && !conclude_still(m, symptom) && !conclude_wrap(m, symptom) &&
	    !conclude_start(m, symptom, start) && !conclude_other(m, symptom))
		symptoms_drop(symptoms, KIND_ack_msn);
}
