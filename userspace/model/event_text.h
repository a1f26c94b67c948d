/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An event in one line, the same everywhere (the list of `analyze`, comments in captures, Wireshark): key=value pairs that
 * tools can filter by, a colon, and words:
 *
 *     reason=psn-gap expected=0x001234 seen=0x001240 skipped=12: 12 packets are missing before this one
 *     reason=icrc-bad,lint lint=udp_length: the ICRC is wrong; UDP length is not the IP payload's length
 */
#ifndef USERSPACE_MODEL_EVENT_TEXT_H
#define USERSPACE_MODEL_EVENT_TEXT_H

#include "roce/event.h"

#define EVENT_TEXT 1024

/* Names as people write them: psn-gap. */
extern const char *const event_names[ROCE_EVENTS];
/* The word of --reason that stands for it: psn. */
extern const char *const event_reasons[ROCE_EVENTS];
extern const char *const event_words[ROCE_EVENTS];
/* lint.def */
extern const char *const lint_names[ROCE_LINTS];
extern const char *const lint_words[ROCE_LINTS];

/*
 * A comma-separated list of reasons or event names (`psn,icrc,nak`) as a set of ROCE_EVENT(). false: *bad points at the
 * word that is none.
 */
bool event_parse_reasons(const char *list, __u32 *kinds, const char **bad);

/* The line, without newline; as much of it as fits. Returns its length. */
size_t event_text(const struct roce_event *e, char text[EVENT_TEXT]);

#endif
