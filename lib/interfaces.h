/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* How many interfaces a command watches, a capture file of ours has, and pinned state remembers, at most. */
#ifndef LIB_INTERFACES_H
#define LIB_INTERFACES_H

#define INTERFACES_MOST 16

#endif
