/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What passed between two QPs, out of a capture, or out of a monitor's JSON lines. */
#ifndef USERSPACE_DIAGNOSE_QP_ERROR_WIRE_H
#define USERSPACE_DIAGNOSE_QP_ERROR_WIRE_H

#include "userspace/diagnose/qp_error/why.h"
#include "userspace/observe/offline/analysis.h"

/* The requests of one QP, and what answers them. Addresses all zero: any. */
struct wire_ends {
	__u8 source[16], destination[16];
	__u32 qpn;	/* to which answers go */
	__u32 peer_qpn; /* to which requests go */
	__u32 path_mtu; /* bytes, of the QP that asks; 0: not known */
};

/* The ends of what this QP asks. */
struct wire_ends wire_ends_of(const struct verbs_qp *q);

struct wire_reader;

/* NULL: no memory. */
struct wire_reader *wire_reader_new(const struct wire_ends *ends);
void wire_reader_see(struct wire_reader *r, const struct analysis_seen *seen);

/* Finishes *w. Frees the reader. */
void wire_reader_end(struct wire_reader *r, struct why_wire *w);

/* Reads a capture, or a file of rocescope.snapshot/1 lines. false: an error was said on stderr. */
bool wire_read(const char *file, const struct wire_ends *ends, struct why_wire *w);

#endif
