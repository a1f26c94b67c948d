/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The doctor at an interface. The kernel counts all packets and hands over the first packets of each stream and the faulty
 * ones.
 */
#ifndef USERSPACE_DIAGNOSE_DOCTOR_DOCTOR_LIVE_H
#define USERSPACE_DIAGNOSE_DOCTOR_DOCTOR_LIVE_H

#include "userspace/diagnose/doctor/doctor.h"
#include "userspace/observe/live/live.h"

/*
 * Shows the doctor the interface's packets for o->duration seconds, or until a signal. *s: counters of all packets seen; the
 * caller frees it in any case. Returns an exit status. If it is not EXIT_RAN, an error was printed and there is nothing to
 * conclude from.
 */
int doctor_live(struct doctor *d, const struct live_options *o, struct snapshot *s);

#endif
