/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the packets of one stream show, by kind. Findings are made from these symptoms. */
#ifndef USERSPACE_DIAGNOSE_FINDING_SYMPTOM_H
#define USERSPACE_DIAGNOSE_FINDING_SYMPTOM_H

#include <stdio.h>

#include "userspace/diagnose/finding/finding.h"

enum finding_kind {
#define FINDING(name, ...) KIND_##name,
#include "userspace/diagnose/finding/finding.def"
#undef FINDING
	FINDING_KINDS
};

/* COUNT: a PSN that does not count. RESPONDER: answers that are wrong. FLOW, FLOW_LOSS: of --udp. */
#define FINDING_CLASSES(do)                                                                                            \
	do(ICRC) do(IP) do(BTH) do(COUNT) do(PSN) do(GRAMMAR) do(SIZE) do(DMA) do(RECEIVER) do(ANSWER) do(RESPONDER) do(CORRUPTION)  \
	do(LOSS) do(PATH) do(HARMLESS) do(HINT) do(FLOW) do(FLOW_LOSS)

enum finding_class {
#define CLASS(name) CLASS_##name,
	FINDING_CLASSES(CLASS)
#undef CLASS
	FINDING_CLASS_COUNT
};

struct finding_rule {
	const char *name; /* with _ between words */
	enum finding_class class;
	int weight;
	const char *words, *asks, *fix;
};

extern const struct finding_rule finding_rules[FINDING_KINDS];

/* The name as printed: psn-constant. */
void finding_name(enum finding_kind kind, char name[FINDING_KIND]);

#define SYMPTOM_FIGURES 512
#define SYMPTOM_CAUSES 4 /* most causes named of one symptom */

struct symptom {
	enum finding_kind kind;
	__u64 packets; /* packets that show it */
	bool doubted;  /* another symptom may explain the same packets as well: a candidate, however many they are */
	bool habit;    /* every packet of the stream shows it, and no receiver minds */
	const struct roce_key *of; /* the stream that it is told of, if it is another one; it outlives the symptoms */
	size_t shown;
	struct evidence evidence[FINDING_EVIDENCE];
	char figures[SYMPTOM_FIGURES]; /* a sentence with the figures of this case, or empty */
	/* set by causes_explain() (userspace/diagnose/doctor/causes.h): what explains it; none: it is a finding of its own */
	int causes[SYMPTOM_CAUSES];
	size_t cause_count;
	int root;  /* of these causes, or of theirs, the one that nothing explains; if several, the most important */
	bool part; /* not all of its packets are explained */
};

/* A packet that may show something later. */
struct symptom_seen {
	__u64 frame;
	__u32 psn, found; /* what is expected, and what is found */
};

/* Keeps a packet if it is one of the first. before: so many there were. */
static inline void symptom_keep(struct symptom_seen seen[FINDING_EVIDENCE], __u64 before, struct symptom_seen it)
{
	if (before < FINDING_EVIDENCE)
		seen[before] = it;
}

/* Grows with the kinds seen: a stream without mistakes needs no memory. All zero at first. */
struct symptoms {
	struct symptom *list;
	size_t count;
	bool failed; /* no memory: some symptoms are missing */
};

/* Finds or adds the symptom of that kind. NULL: no memory. Valid until the next call. */
struct symptom *symptoms_get(struct symptoms *s, enum finding_kind kind);

/* NULL: no such symptom. */
struct symptom *symptoms_find(const struct symptoms *s, enum finding_kind kind);

/* Counts one more packet. Returns the evidence to fill in; NULL: there is enough evidence already. */
struct evidence *symptoms_add(struct symptoms *s, enum finding_kind kind, __u64 frame);

/*
 * Adds `count` packets to the symptom of that kind, and shows the first ones. expected, found: formats of printf, which get
 * `psn` and `found`. NULL: no memory.
 */
struct symptom *symptoms_show(struct symptoms *s, enum finding_kind kind, const struct symptom_seen seen[FINDING_EVIDENCE],
			      __u64 count, const char *expected, const char *found);

/* Adds the packets and the evidence of `from`. */
void symptoms_merge(struct symptoms *s, const struct symptoms *from);

/* Takes back the latest packet that was added to that kind. */
void symptoms_take_back(struct symptoms *s, enum finding_kind kind);

/* Nothing happens if there is no such symptom. */
void symptoms_doubt(struct symptoms *s, enum finding_kind kind);
void symptoms_drop(struct symptoms *s, enum finding_kind kind);
void symptoms_free(struct symptoms *s);

#define SAY(text, ...) ((void)!snprintf(text, sizeof(text), __VA_ARGS__))

#endif
