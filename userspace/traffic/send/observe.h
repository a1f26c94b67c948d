/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an observer reads from a frame after faults, which may have changed any byte. Not the engine's code. */
#ifndef USERSPACE_TRAFFIC_SEND_OBSERVE_H
#define USERSPACE_TRAFFIC_SEND_OBSERVE_H

#include "userspace/traffic/send/packet.h"
#include "userspace/traffic/send/truth.h"

struct truth_packet frame_observed(const struct send_frame *f);

#endif
