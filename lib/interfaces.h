/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Upper bound of the interfaces that a command watches, one of our capture files lists, or pinned state remembers. */
#ifndef LIB_INTERFACES_H
#define LIB_INTERFACES_H

#define INTERFACES_MOST 16

#endif
