/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `monitor --prometheus ADDR:PORT`: a small HTTP server that answers GET /metrics on the caller's own thread. Clients are
 * assumed to be hostile: connections are limited in all and for each address, each takes one request and has a limited life. A new
 * one beyond the limit ends an older one, first one that is silent. The metrics are made at most once a second, however often they
 * are asked for.
 */
#ifndef USERSPACE_RENDER_PROMETHEUS_EXPORTER_H
#define USERSPACE_RENDER_PROMETHEUS_EXPORTER_H

#include <stdbool.h>
#include <stdio.h>

struct exporter;

/* Writes the present metrics. false: it failed. */
typedef bool exporter_fill(void *context, FILE *out);

/*
 * Whether the text is an address to listen on: "127.0.0.1:9795", "[::1]:9795", "localhost:9795", "9795" (of 127.0.0.1), ":9795"
 * (all addresses). Port 0: any free port.
 */
bool exporter_is_address(const char *text);

/* Listens. It answers nothing and does not call `fill` before exporter_run(). NULL: an error was printed on stderr. */
struct exporter *exporter_start(const char *address, exporter_fill *fill, void *context);

/* The URL of the metrics, for people. */
const char *exporter_url(const struct exporter *e);

/* Poll this descriptor for POLLIN, then call exporter_run(), which never blocks. Also call it once a second. */
int exporter_fd(const struct exporter *e);
void exporter_run(struct exporter *e);

void exporter_stop(struct exporter *e); /* may be NULL */

#endif
