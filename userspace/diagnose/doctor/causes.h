/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The graph of causes and consequences: the lines EXPLAINS of userspace/diagnose/finding/finding.def. It has no circle. A cause or a
 * consequence is a finding_kind, or a group of findings.
 */
#ifndef USERSPACE_DIAGNOSE_DOCTOR_CAUSES_H
#define USERSPACE_DIAGNOSE_DOCTOR_CAUSES_H

#include "userspace/diagnose/finding/index.h"
#include "userspace/diagnose/finding/symptom.h"

/* Follow the findings' kinds, so that both are named alike. */
enum finding_group {
	GROUPS_BEGIN = FINDING_KINDS - 1,
#define ANY(class) KIND_any_##class,
	FINDING_CLASSES(ANY) /* all of a class */
#undef ANY
#define SURE(class) KIND_sure_##class,
	FINDING_CLASSES(SURE) /* those of a class that FINDING_PACKETS packets or more show */
#undef SURE
	KIND_wrong_icrc, /* mistakes in ICRCs that are certain: findings without a symptom */
	FINDING_GROUPS_END
};

enum explains_where { WHERE_STREAM, WHERE_PAIR, WHERE_HOST };

struct explains {
	int cause;
	enum explains_where where;
	int consequence;
	bool part; /* only the packets that follow the cause */
};

extern const struct explains explains[];
extern const size_t explains_count;

/* Whether it is that kind, or a group with this kind. */
bool finding_is(int kind_or_group, enum finding_kind kind);

/* The causes in other streams: what lines with PAIR or HOST ask for. */
struct causes {
	struct index elsewhere;
};
void causes_init(struct causes *c);
void causes_free(struct causes *c);

/* Notes the symptom of a stream if it may explain something in others: it is not doubted, and nothing explains it. */
void causes_note(struct causes *c, const struct symptom *s, const struct roce_key *stream);

/*
 * Says of each symptom of a stream what explains it. wrong_icrc: a mistake that is certain explains ICRCs of this stream.
 * elsewhere (NULL: not looked at): all streams are noted.
 */
void causes_explain(const struct causes *elsewhere, struct symptoms *s, const struct roce_key *stream, bool wrong_icrc);

#endif
