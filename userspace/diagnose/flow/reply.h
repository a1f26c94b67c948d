/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What one answer shows by itself: that it goes to nobody, or that its RNR NAK refuses a request which needs no receive. */
#ifndef USERSPACE_DIAGNOSE_FLOW_REPLY_H
#define USERSPACE_DIAGNOSE_FLOW_REPLY_H

#include "userspace/diagnose/finding/packet.h"
#include "userspace/diagnose/finding/symptom.h"
#include "userspace/diagnose/flow/twice.h"

/* Takes an answer. symptoms: of its stream. */
void reply_take(struct symptoms *symptoms, const struct doctor_packet *taken);

/* The finding that an RNR NAK of this PSN is. sent: the latest requests; NULL: not known. */
enum finding_kind reply_rnr(const struct twice *sent, __u32 psn);

#endif
