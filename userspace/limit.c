// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "userspace/limit.h"

const char *const limit_names[LIMITS] = {
	[LIMIT_UNKNOWN] = "unknown",	      [LIMIT_IDLE] = "idle",
	[LIMIT_SENDER] = "sender-limited",    [LIMIT_WINDOW] = "window-limited",
	[LIMIT_RECEIVER] = "receiver-limited", [LIMIT_LOSS] = "lossy",
	[LIMIT_STALLED] = "stalled",
};

enum limit limit_of(const struct snapshot_stream *now, const struct snapshot *snapshot, const struct snapshot *previous)
{
	(void)now, (void)snapshot, (void)previous;
	return LIMIT_UNKNOWN;
}
