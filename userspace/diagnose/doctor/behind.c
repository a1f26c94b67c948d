// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Losses before and behind this place: the figures of what was lost behind it, and where to look for what comes again. */
#include <string.h>

#include "userspace/diagnose/doctor/record.h"

static void say_refused(const struct doctor *d, struct findings *f)
{
	struct finding *to = doctor_find(f, KIND_psn_refused);
	__u64 psns = 0, naks = 0, again = 0;

	for (size_t i = 0; to && i < d->records.count; i++) {
		const struct stream_record *c = d->records.entries[i];
		const struct symptom *symptom = symptoms_find(&c->symptoms, KIND_psn_refused);

		if (!symptom || symptom->cause_count)
			continue;
		psns += c->behind;
		naks += c->behind_naks;
		again += c->loss.again_for[CALL_BEHIND].packets;
	}
	if (psns)
		SAY(to->text, "%s. %llu packet%s, for which it asks %llu time%s; %llu %s sent again for it.",
		    finding_rules[KIND_psn_refused].words, psns, psns == 1 ? "" : "s", naks, naks == 1 ? "" : "s", again,
		    again == 1 ? "is" : "are");
}

/* Whether packets were missing here in a stream that sends others again, or in the opposite direction. */
static bool is_missing_here(const struct doctor *d, const struct finding *again)
{
	for (size_t i = 0; i < again->cause_count; i++)
		if (!strcmp(again->causes[i], "loss"))
			return true;
	for (size_t i = 0; i < d->records.count; i++) {
		const struct stream_record *c = d->records.entries[i];

		if (c->loss.skipped && symptoms_find(&c->symptoms, KIND_retransmission))
			return true;
	}
	return false;
}

static void advise_again(const struct doctor *d, struct findings *f)
{
	struct finding *to = doctor_find(f, KIND_retransmission);

	if (to && is_missing_here(d, to))
		SAY(to->fix, "what is missing here is told above, with what is sent again for it; these follow no gap and no NAK: a packet "
		    "that was sent again may be lost once more, acknowledgements may be lost on their way back, or the retry timeout is "
		    "below the path's delay");
}

void behind_say(const struct doctor *d, struct findings *f)
{
	say_refused(d, f);
	advise_again(d, f);
}
