/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An event as one line of text, used by the list of `analyze`, comments in captures, and Wireshark: key=value pairs for
 * filters, a colon, and words:
 *
 *     reason=psn-gap expected=0x001234 seen=0x001240 skipped=12: 12 packets are missing before this one
 *     reason=icrc-bad,lint lint=udp_length: the ICRC is wrong; UDP length is not the IP payload's length
 */
#ifndef USERSPACE_OBSERVE_MODEL_EVENT_TEXT_H
#define USERSPACE_OBSERVE_MODEL_EVENT_TEXT_H

#include "roce/event/event.h"

#define EVENT_TEXT 1024

/* Names in output: psn-gap. */
extern const char *const event_names[ROCE_EVENTS];
/* The word of --reason that selects the event: psn. */
extern const char *const event_reasons[ROCE_EVENTS];
extern const char *const event_words[ROCE_EVENTS];
/* lint.def */
extern const char *const lint_names[ROCE_LINTS];
extern const char *const lint_words[ROCE_LINTS];

/*
 * Parses a comma-separated list of reasons or event names (`psn,icrc,nak`) into a set of ROCE_EVENT(). false: *bad points at
 * the unknown word.
 */
bool event_parse_reasons(const char *list, __u32 *kinds, const char **bad);

/* Writes the line, without newline, cut to EVENT_TEXT. Returns its length. */
size_t event_text(const struct roce_event *e, char text[EVENT_TEXT]);

/*
 * Reads the keys of a line. Keys and names that are not known are ignored, and numbers that are too large are cut to 32 bits, since
 * files come from anywhere. length: bytes of text, which need no 0 at the end. expected: EVENT_NO_PSN without that key. false: it is
 * no such line.
 */
bool event_parse(const char *text, size_t length, struct roce_event *e);

#endif
