/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* cmocka wants these before itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
