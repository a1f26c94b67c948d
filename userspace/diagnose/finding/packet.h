/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A packet as the doctor takes it: the frame, what was read in it, and what the engine says of it. */
#ifndef USERSPACE_DIAGNOSE_FINDING_PACKET_H
#define USERSPACE_DIAGNOSE_FINDING_PACKET_H

#include "userspace/observe/model/observer.h"

struct doctor_packet {
	__u64 number; /* of the frame: in a capture from 1, as in Wireshark; live: of the frames taken */
	const struct observer_frame *frame;
	const struct observer_parsed *parsed;
	const struct roce_event *event;
	const struct roce_stream *stream; /* its state after this packet; NULL: no stream */
	bool apart; /* live, or of a selection: packets of this stream were not taken between the one before and this one */
	__u64 time; /* ns, of any clock; 0: not known */
};

#endif
