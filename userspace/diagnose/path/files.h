/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Files of /proc and /sys. ROCESCOPE_ROOT in the environment: another folder that has them, for tests.
 */
#ifndef USERSPACE_DIAGNOSE_PATH_FILES_H
#define USERSPACE_DIAGNOSE_PATH_FILES_H

#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file_path {
	char text[PATH_MAX];
};

/* The path of a file, from a format such as "/sys/class/net/%s/mtu". */
struct file_path file_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool file_exists(const char *path);

/* The first line, without newline. false with errno, and text empty: it cannot be read. */
bool file_line(const char *path, char *text, size_t size);

/* Replaces the content. false with errno. */
bool file_write(const char *path, const char *text);

/* A number in the first line; -1: it cannot be read. */
int64_t file_number(const char *path);

/* "0-3,8": a list of CPUs in the first line. false: it cannot be read. */
bool file_cpus(const char *path, cpu_set_t *cpus);

#endif
