/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A verdict, for people and as rocescope.qpwhy/1 (docs/json.md). */
#ifndef USERSPACE_DIAGNOSE_QP_ERROR_WHY_VIEW_H
#define USERSPACE_DIAGNOSE_QP_ERROR_WHY_VIEW_H

#include <stdio.h>

#include "userspace/diagnose/qp_error/why.h"

/* time: "2026-...Z"; NULL: not known. Each returns 0, or -1 with errno. */
int why_json(FILE *out, const struct why_verdict *v, const struct verbs_qp *q, const char *time);
int why_lines(FILE *out, const struct why_verdict *v);

/* One line: the sentence, and how sure it is. */
int why_sentence(FILE *out, const struct why_verdict *v);

#endif
