/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why the system refused something, and what to do about it. */
#ifndef LIB_CAUSE_H
#define LIB_CAUSE_H

#include <stdbool.h>

#define CAUSE_TEXT 128

struct cause {
	char text[CAUSE_TEXT];
};

/*
 * An errno in words. Where this process or this machine has too little of something, with its limit and what raises it. It depends
 * on the error alone: advice for what the error means in one place (EBUSY, EPERM, ...) is that place's.
 */
struct cause cause(int error);

/* The same, of an interface's device, of AF_PACKET and AF_XDP. */
struct cause cause_of_interface(int error);

/* Open files of a command that watches, asks or sends by an interface, without those for each interface. */
#define CAUSE_FILES 64

/*
 * Raises the soft limit of open files to the hard one where `count` are needed. Call it first: libraries that run
 * out of files later report something else, or nothing. false: the limit is too low, which is reported. who: the command, for the
 * message.
 */
bool cause_files(const char *who, unsigned int count);

#endif
