/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Shared by the files of the Wireshark plugin. */
#ifndef USERSPACE_RENDER_WIRESHARK_ROCESCOPE_H
#define USERSPACE_RENDER_WIRESHARK_ROCESCOPE_H

#include "userspace/observe/model/observer.h"

#define NO_STREAM 0xffffffffu

enum psn_verdict { VERDICT_NONE, VERDICT_FIRST, VERDICT_IN_ORDER, VERDICT_GAP, VERDICT_RECOVERED, VERDICT_DUPLICATE,
		   VERDICT_RESYNC, VERDICT_STRAY };

/* What a frame did to its stream. Found once, in the order of the file, and shown at every dissection. */
struct wireshark_finding {
	struct roce_event event;
	__u32 stream; /* index, or NO_STREAM */
	__u8 verdict; /* enum psn_verdict */
	bool completes, breaks; /* a message */
};

/* The streams of the file in order of appearance, after the last frame. */
const struct snapshot_stream *rocescope_stream(__u32 index);

/* The table 'RoCE streams'. It listens to the tap "rocescope"; the tap's data is a struct wireshark_finding. */
void register_stream_table(void);

#endif
