/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cmocka needs these before its own header. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
