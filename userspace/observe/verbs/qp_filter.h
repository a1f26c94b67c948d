/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Selects QPs: `rocescope verbs --filter`, and `/` in its table. The grammar is that of streams (filter_language.h); the terms:
 *
 *     10.9.0.1, peer=10.9.0.1  the peer's address; also a prefix
 *     17, qpn=17, qpn=0x11     its own QPN, or the peer's
 *     pid=4711                 its process
 *     device=rxe0  program=ib_*  container=*ab12*   names, with patterns of the shell
 *     rc, type=rc ...          rc uc ud xrc_ini xrc_tgt gsi smi
 *     rts, state=rts ...       reset init rtr rts sqd sqe err
 *     error stalled busy idle ended                 how it is (qp_rows.h)
 *     faulty                   error or stalled
 *     unseen                   its calls should be counted, and are not
 *     NAME, NAME<N ...         a counter (bpf/verbs_counter.def), or outstanding
 */
#ifndef USERSPACE_OBSERVE_VERBS_QP_FILTER_H
#define USERSPACE_OBSERVE_VERBS_QP_FILTER_H

#include "userspace/observe/model/filter_language.h"

struct qp_row;

/* filter_make() for QPs. */
struct filter *qp_filter_parse(const char *text, char mistake[FILTER_MISTAKE]);

/* f: NULL selects all. */
bool qp_filter_wants(const struct filter *f, const struct qp_row *r);

#endif
