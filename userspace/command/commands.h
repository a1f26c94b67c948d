/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The subcommands of rocescope; each lives in cmd_NAME.c. */
#ifndef USERSPACE_COMMAND_COMMANDS_H
#define USERSPACE_COMMAND_COMMANDS_H

#include "lib/exit.h"
#include "lib/option.h"
#include "userspace/observe/live/program_kind.h"
#include "userspace/traffic/send/options.h"

extern const struct command monitor_command, analyze_command, capture_command, doctor_command, compare_command,
	receive_command, path_command, between_command, verbs_command;

/* Topics of --help that only one command has. */
extern const struct option_topic topic_findings, topic_steps, topic_checks, topic_qps;

/* Of bpf/monitor.bpf.c and bpf/capture.bpf.c, which monitor, capture and doctor attach; only monitor pins them. */
extern const struct program_kind monitor_kind;

/* Run a subcommand. argv[0]: its name. They return the exit status (EXIT_*). */
int cmd_monitor(int argc, char **argv);
int cmd_analyze(int argc, char **argv);
int cmd_capture(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_send(int argc, char **argv);
int cmd_receive(int argc, char **argv);
int cmd_path(int argc, char **argv);
int cmd_between(int argc, char **argv);
int cmd_verbs(int argc, char **argv);
int cmd_compare(int argc, char **argv);

#endif
