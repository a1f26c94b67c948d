/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Prints the findings of the doctor. */
#ifndef USERSPACE_RENDER_OUTPUT_FINDINGS_VIEW_H
#define USERSPACE_RENDER_OUTPUT_FINDINGS_VIEW_H

#include <stdio.h>

#include "userspace/diagnose/doctor/doctor.h"

struct findings_report {
	const struct findings *findings;
	struct doctor_checked checked;
	struct doctor_losses losses[LOSSES_BY];
	struct doctor_pauses pauses;
	struct roce_totals totals; /* of all packets */
	bool complete;
};

/* Prints one rocescope.findings/1 object. Returns 0, or -1 with errno. */
int findings_json(FILE *out, const struct findings_report *r);

/* Prints findings for people, as wide as the terminal. Bold only there and without NO_COLOR. Returns 0, or -1 with errno. */
int findings_lines(FILE *out, const struct findings_report *r);

/* Lists every kind of finding. */
void findings_list_kinds(FILE *out);

#endif
