/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What an observer reads of a frame that mistakes have gone through: any of its bytes may be wrong. Not the engine's code. */
#ifndef SEND_OBSERVE_H
#define SEND_OBSERVE_H

#include "send/packet.h"
#include "send/truth.h"

struct truth_packet frame_observed(const struct frame *f);

#endif
