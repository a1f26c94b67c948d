/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The doctor at an interface: the kernel counts all packets and hands over the first ones of each stream and the faulty ones. */
#ifndef USERSPACE_DOCTOR_DOCTOR_LIVE_H
#define USERSPACE_DOCTOR_DOCTOR_LIVE_H

#include "userspace/doctor/doctor.h"
#include "userspace/live/live.h"

/*
 * Shows the doctor what there is for o->duration seconds, or until a signal. *s: everything that was seen, to be freed in any
 * case. Returns an exit status; another one than EXIT_RAN, and why was said: there is nothing to conclude from.
 */
int doctor_live(struct doctor *d, const struct live_options *o, struct snapshot *s);

#endif
