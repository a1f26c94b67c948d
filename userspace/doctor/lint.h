/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mistakes in headers: the lints of the engine, and what it has no lint for, with what was expected and found. */
#ifndef USERSPACE_DOCTOR_LINT_H
#define USERSPACE_DOCTOR_LINT_H

#include "userspace/doctor/doctor.h"
#include "userspace/doctor/sign.h"

struct lint_study {
	__u16 partial;	  /* payload of the First or Middle packet before; 0: none */
	__u8 service;	  /* of the packet before */
	bool met;
	__u64 short_of_icrc; /* First and Middle packets that are 4 bytes short of a path MTU */
};

/* A packet of a stream whose ICRC is right, or none of whose ICRCs is. */
void lint_study_take(struct lint_study *l, struct signs *signs, const struct doctor_packet *p);

/* A frame that is no packet: lengths in disagreement, a fragment. The sign it is of, FINDING_KINDS: of none. */
enum finding_kind lint_frame(struct signs *signs, const struct doctor_packet *p);

/* "icrc 1a 2b 3c 4d", as on the wire. */
void lint_say_icrc(char text[48], __u32 icrc);

#endif
