/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Frames that would be RoCE with another port or Ethertype (near_roce.h). So many without a likely port are tried, and no more. */
#ifndef USERSPACE_DIAGNOSE_FLOW_NEAR_STUDY_H
#define USERSPACE_DIAGNOSE_FLOW_NEAR_STUDY_H

#include "userspace/diagnose/finding/packet.h"
#include "userspace/diagnose/finding/symptom.h"
#include "userspace/observe/model/near_roce.h"

struct near_study {
	__u64 tried;
	__u64 right[NEAR_ROCES]; /* frames whose ICRC is right, too */
};

/*
 * Takes a frame of kind ROCE_OTHER. alone: there is hardly a RoCE packet; else only a right ICRC tells a mistake. Returns the kind of
 * its symptom, and the packet that it would be; FINDING_KINDS: none.
 */
enum finding_kind near_study_take(struct near_study *n, struct symptoms *symptoms, const struct doctor_packet *p, bool alone,
				  struct roce_packet *would);

/* Doubts symptoms of frames whose ICRCs are not right. */
void near_study_conclude(const struct near_study *n, struct symptoms *symptoms);

#endif
