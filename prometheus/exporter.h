/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* `monitor --prometheus ADDR:PORT`: a small HTTP server that answers GET /metrics, on the caller's own thread. */
#ifndef PROMETHEUS_EXPORTER_H
#define PROMETHEUS_EXPORTER_H

#include <stdbool.h>
#include <stdio.h>

struct exporter;

/* Writes the metrics of this moment. false: it could not. */
typedef bool exporter_fill(void *context, FILE *out);

/*
 * address: "127.0.0.1:9795", "[::1]:9795", ":9795" (all addresses). NULL: it could not listen, which is said in one line on
 * stderr.
 */
struct exporter *exporter_start(const char *address, exporter_fill *fill, void *context);

/* To be waited for (POLLIN); then exporter_run(), which never blocks. It has to be called once a second as well. */
int exporter_fd(const struct exporter *e);
void exporter_run(struct exporter *e);

void exporter_stop(struct exporter *e); /* may be NULL */

#endif
