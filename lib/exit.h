/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Exit statuses. */
#ifndef LIB_EXIT_H
#define LIB_EXIT_H

/* 0 success, 1 failure, 2 usage, 3 (--exit-code) a fault was seen */
enum { EXIT_RAN = 0, EXIT_COULD_NOT = 1, EXIT_USAGE = 2, EXIT_FAULTS = 3 };

#endif
