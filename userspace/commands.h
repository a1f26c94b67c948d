/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subcommands of rocescope; each lives in cmd_NAME.c. */
#ifndef USERSPACE_COMMANDS_H
#define USERSPACE_COMMANDS_H

/* argv[0] is the subcommand's name. They return the exit status (EXIT_* below). */
int cmd_monitor(int argc, char **argv);
int cmd_analyze(int argc, char **argv);
int cmd_capture(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_send(int argc, char **argv);
int cmd_compare(int argc, char **argv);

/* 0 ran, 1 could not, 2 usage, 3 (--exit-code) a fault was seen */
enum { EXIT_RAN = 0, EXIT_COULD_NOT = 1, EXIT_USAGE = 2, EXIT_FAULTS = 3 };

#endif
