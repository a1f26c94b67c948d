/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A setting of this machine that --fix changes and puts back. Values are text, as the setting's own tool prints them. */
#ifndef USERSPACE_DIAGNOSE_PATH_CHANGE_H
#define USERSPACE_DIAGNOSE_PATH_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

enum change_kind {
	CHANGE_NOTHING,
	CHANGE_SYSCTL, /* what: its name, "net.core.rmem_max" */
	CHANGE_MTU,    /* what: an interface */
	CHANGE_RING,   /* what: an interface; the value is the frames of its receive ring */
	CHANGE_GRO,    /* what: an interface; the value is "on" or "off" */
};

#define CHANGE_VALUE 64

struct path_change {
	enum change_kind kind;
	char what[64];
	unsigned int ifindex; /* of the interface, which may get another name, and another one its */
	char before[CHANGE_VALUE], after[CHANGE_VALUE];
	bool made;
	char error[128]; /* why it was not made; "": it was, or was not tried */
};

/* The command that sets the value. */
void change_command(const struct path_change *c, char *command, size_t size);

/* Whether the interface is gone, and its settings with it. */
bool change_is_gone(const struct path_change *c);

/* The present value. false with errno: not known. */
bool change_read(const struct path_change *c, char value[CHANGE_VALUE]);

/* Sets the value. false with errno. */
bool change_write(const struct path_change *c, const char *value);

#endif
