/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What packets of one stream have shown, by kind: the signs from which findings are made. */
#ifndef USERSPACE_DOCTOR_SIGN_H
#define USERSPACE_DOCTOR_SIGN_H

#include <stdio.h>

#include "userspace/doctor/finding.h"

enum finding_kind {
#define FINDING(name, class, weight, words, asks, fix) KIND_##name,
#include "userspace/doctor/finding.def"
#undef FINDING
	FINDING_KINDS
};

enum finding_class {
	CLASS_ICRC, CLASS_IP, CLASS_BTH, CLASS_PSN, CLASS_GRAMMAR, CLASS_SIZE, CLASS_DMA, CLASS_ANSWER, CLASS_CORRUPTION,
	CLASS_LOSS, CLASS_PATH, CLASS_HARMLESS, CLASS_HINT,
};

struct finding_rule {
	const char *name; /* with _ */
	enum finding_class class;
	int weight;
	const char *words, *asks, *fix;
};

extern const struct finding_rule finding_rules[FINDING_KINDS];

/* As people read it: psn-constant. */
void finding_name(enum finding_kind kind, char name[FINDING_KIND]);

#define SIGN_FIGURES 200

struct sign {
	enum finding_kind kind;
	__u64 packets; /* that show it */
	size_t shown;
	struct evidence evidence[FINDING_EVIDENCE];
	char figures[SIGN_FIGURES]; /* a sentence with what is special here, or empty */
};

/* Grows with the kinds that are seen, so that a stream without mistakes has none. All zero at first. */
struct signs {
	struct sign *list;
	size_t count;
	bool failed; /* no memory: some were not remembered */
};

/* The sign of that kind, made if there is none; NULL: no memory. Valid until the next call. */
struct sign *signs_get(struct signs *s, enum finding_kind kind);

/* NULL: there is none. */
struct sign *signs_find(const struct signs *s, enum finding_kind kind);

/* One packet more that shows it. Returns where what it shows is to be written; NULL: there are enough. */
struct evidence *signs_add(struct signs *s, enum finding_kind kind, __u64 frame);

/* The latest packet that was added to that kind shows something else. */
void signs_take_back(struct signs *s, enum finding_kind kind);

void signs_drop(struct signs *s, enum finding_kind kind);
void signs_free(struct signs *s);

#define SAY(text, ...) ((void)!snprintf(text, sizeof(text), __VA_ARGS__))

#endif
