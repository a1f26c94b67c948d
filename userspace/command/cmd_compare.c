// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope compare: runs the comparator of the source tree whose build/ holds this program. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "userspace/command/commands.h"

#define COMPARATOR "/../compare/compare"

const struct command compare_command = {
	.name = "compare",
	.words = "compare RoCE, UDP and SoftRoCE on one path (make compare)",
	.arguments = "[ARGUMENTS]", /* the comparator has its own --help */
};

int cmd_compare(int argc, char **argv)
{
	char path[PATH_MAX + sizeof(COMPARATOR)];
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash;

	(void)argc;
	path[length < 0 ? 0 : length] = '\0';
	slash = strrchr(path, '/');
	strcpy(slash ? slash : path, COMPARATOR);
	argv[0] = path;
	execv(path, argv);
	fprintf(stderr, "rocescope: compare: %s: %s (it runs from the source tree: make compare)\n", path,
		strerror(errno));
	return EXIT_COULD_NOT;
}
