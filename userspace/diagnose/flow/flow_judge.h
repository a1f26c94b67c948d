/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares what --udp tells of a flow with its first datagrams. */
#ifndef USERSPACE_DIAGNOSE_FLOW_FLOW_JUDGE_H
#define USERSPACE_DIAGNOSE_FLOW_FLOW_JUDGE_H

#include "userspace/diagnose/flow/flow.h"

/* Adds the symptom of what is told wrong, if there is one. Changes the sample. */
void flow_judge(struct flow *w, const struct roce_udp_format *f);

/* A symptom of so many datagrams: the first ones of the sample are its evidence, with the values of `number`. NULL: no memory. */
struct symptom *flow_symptom(struct flow *w, enum finding_kind kind, const struct udp_field *number, size_t packets);

/* Adds a sentence to a symptom. */
__attribute__((format(printf, 2, 3))) void flow_say(struct symptom *symptom, const char *format, ...);

/* Adds to a symptom which field counts instead. Returns whether there is one. */
bool flow_say_counter(struct flow *w, const struct roce_udp_format *f, struct symptom *symptom);

#endif
