// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/diagnose/flow/near_study.h"

#define TRIED 4096 /* frames without a likely port that are looked into; all are counted */

static const enum finding_kind kind_of[NEAR_ROCES] = {
	[NOT_ROCE] = FINDING_KINDS,
#define NEAR_ROCE(...)
#define NEAR_ROCE_FIELD(name, ...) [NEAR_##name] = KIND_##name,
#include "userspace/observe/model/near_roce.def"
};

enum finding_kind near_study_take(struct near_study *n, struct symptoms *symptoms, const struct doctor_packet *p, bool alone,
				  struct roce_packet *would)
{
	const struct roce_packet *is = &p->parsed->packet;
	bool likely = near_roce_port(is), right;
	struct near_roce_words words;
	struct observer_parsed parsed;
	enum near_roce near;
	struct evidence *e;

	if ((!likely && n->tried >= TRIED) || (!alone && !is->udp_port))
		return FINDING_KINDS;
	n->tried += !likely;
	near = near_roce_find(p->frame, p->parsed, &parsed, &right);
	if (near == NOT_ROCE || (!alone && !right))
		return FINDING_KINDS;
	*would = parsed.packet;
	n->right[near] += right;
	e = symptoms_add(symptoms, kind_of[near], p->number);
	if (e) {
		words = near_roce_say(near, p->frame, is);
		SAY(e->expected, "%s", words.expected);
		SAY(e->found, "%s", words.found);
	}
	return kind_of[near];
}

void near_study_conclude(const struct near_study *n, struct symptoms *symptoms)
{
#define NEAR_ROCE(...)
#define NEAR_ROCE_FIELD(name, ...)			  \
	if (n->right[NEAR_##name] < FINDING_PACKETS)	  \
		symptoms_doubt(symptoms, KIND_##name);
#include "userspace/observe/model/near_roce.def"
}
