// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userspace/diagnose/path/files.h"

struct file_path file_path(const char *format, ...)
{
	const char *root = getenv("ROCESCOPE_ROOT");
	struct file_path p = { "" };
	va_list arguments;
	size_t length;

	snprintf(p.text, sizeof(p.text), "%s", root ?: "");
	length = strlen(p.text);
	va_start(arguments, format);
	vsnprintf(p.text + length, sizeof(p.text) - length, format, arguments);
	va_end(arguments);
	return p;
}

bool file_exists(const char *path)
{
	return !access(path, F_OK);
}

bool file_line(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");
	bool came;

	text[0] = 0;
	if (!f)
		return false;
	errno = ENODATA;
	came = fgets(text, size, f);
	text[came ? strcspn(text, "\n") : 0] = 0;
	fclose(f);
	return came;
}

/* In one write, as sysctls ask for. */
bool file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	ssize_t length = strlen(text), written;
	int error;

	if (fd < 0)
		return false;
	written = write(fd, text, length);
	error = errno;
	close(fd);
	errno = error;
	return written == length;
}

int64_t file_number(const char *path)
{
	char text[64], *end;
	int64_t number;

	if (!file_line(path, text, sizeof(text)))
		return -1;
	number = strtoll(text, &end, 10);
	return end == text ? -1 : number;
}

bool file_cpus(const char *path, cpu_set_t *cpus)
{
	unsigned int first, last;
	char text[512];
	const char *at;
	int length;

	CPU_ZERO(cpus);
	if (!file_line(path, text, sizeof(text)))
		return false;
	for (at = text; sscanf(at, "%u%n", &first, &length) == 1; at += *at == ',') {
		at += length;
		last = first;
		if (sscanf(at, "-%u%n", &last, &length) == 1)
			at += length;
		for (; first <= last && first < CPU_SETSIZE; first++)
			CPU_SET(first, cpus);
	}
	return CPU_COUNT(cpus);
}
