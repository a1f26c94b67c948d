// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stddef.h>

#include "prometheus/exporter.h"

struct exporter *exporter_start(const char *address, exporter_fill *fill, void *context)
{
	(void)fill, (void)context;
	fprintf(stderr, "rocescope: --prometheus %s: not built yet\n", address);
	return NULL;
}

int exporter_fd(const struct exporter *e)
{
	(void)e;
	return -1;
}

void exporter_run(struct exporter *e)
{
	(void)e;
}

void exporter_stop(struct exporter *e)
{
	(void)e;
}
