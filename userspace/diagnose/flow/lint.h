/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mistakes in headers: the engine's lints and further checks, with what was expected and found. */
#ifndef USERSPACE_DIAGNOSE_FLOW_LINT_H
#define USERSPACE_DIAGNOSE_FLOW_LINT_H

#include "userspace/diagnose/finding/packet.h"
#include "userspace/diagnose/finding/symptom.h"

struct lint_study {
	__u16 partial;	  /* payload of the First or Middle packet before; 0: none */
	__u8 service;	  /* service of the packet before */
	bool met;
	__u64 packets;	  /* packets looked at */
	__u64 padless;	  /* packets whose pad is missing (lint pad_count) */
	__u64 short_of_icrc; /* First and Middle packets 4 bytes short of a path MTU */
};

/* Takes a packet of a stream whose ICRC is good, or of a stream without good ICRCs. */
void lint_study_take(struct lint_study *l, struct symptoms *symptoms, const struct doctor_packet *taken);

/* Takes symptoms that every packet of the stream shows for habits, if they are no fault then (LINT_HABITS). */
void lint_study_conclude(const struct lint_study *l, struct symptoms *symptoms);

/*
 * Takes a frame that is no packet: its lengths disagree, or it is a fragment. Returns the kind of its symptom; FINDING_KINDS:
 * none.
 */
enum finding_kind lint_frame(struct symptoms *symptoms, const struct doctor_packet *taken);

/* Whether the last four bytes of a malformed frame are no ICRC of what is before: damage may have changed its opcode or pad count. */
bool lint_is_damaged(const struct doctor_packet *taken);

#endif
