// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * watch_cores CPU...: probes these CPUs until its input ends. For each line of input it prints what the probes found since the
 * line before: [[adds a cycle, MHz], ...], in the order of the CPUs. bench/quiet.py has its other end.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/probe.h"

int main(int argc, char **argv)
{
	struct probe *probes[argc];
	char line[16];

	for (int i = 1; i < argc; i++) {
		probes[i] = probe_start(atoi(argv[i]), PROBE_OFTEN_NS);
		if (!probes[i])
			err(1, "CPU %s", argv[i]);
	}
	while (fgets(line, sizeof(line), stdin)) {
		for (int i = 1; i < argc; i++) {
			struct probe_reading r = probe_take(probes[i]);

			printf("%s[%.4f, %.1f]", i == 1 ? "[" : ", ", r.adds, r.mhz);
		}
		puts("]");
		fflush(stdout);
	}
	return 0;
}
