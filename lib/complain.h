/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LIB_COMPLAIN_H
#define LIB_COMPLAIN_H

#include <stdbool.h>
#include <stdio.h>

/* Prints "rocescope: ...", one line on standard error. Its value is false, for who then returns that. format: a literal. */
#define complain(format, ...) ({ fprintf(stderr, "rocescope: " format "\n", ##__VA_ARGS__); false; })

#endif
