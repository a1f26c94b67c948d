/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `monitor --prometheus ADDR:PORT`: a small HTTP server that answers GET /metrics, on the caller's own thread. Whoever can
 * reach it is taken for hostile: so many connections, so many of one address, each for one request and so long; and however
 * often it is asked, the metrics are made once a second at most.
 */
#ifndef USERSPACE_PROMETHEUS_EXPORTER_H
#define USERSPACE_PROMETHEUS_EXPORTER_H

#include <stdbool.h>
#include <stdio.h>

struct exporter;

/* Writes the metrics of this moment. false: it could not. */
typedef bool exporter_fill(void *context, FILE *out);

/*
 * Whether it can be listened on: "127.0.0.1:9795", "[::1]:9795", "localhost:9795", "9795" (of 127.0.0.1), ":9795" (all
 * addresses). Port 0: a free one.
 */
bool exporter_is_address(const char *text);

/*
 * Listens; nobody is answered before exporter_run(), nor is `fill` called. NULL: it could not listen, which is said in one
 * line on stderr.
 */
struct exporter *exporter_start(const char *address, exporter_fill *fill, void *context);

/* Where the metrics are, for people. */
const char *exporter_url(const struct exporter *e);

/* To be waited for (POLLIN); then exporter_run(), which never blocks. It has to be called once a second as well. */
int exporter_fd(const struct exporter *e);
void exporter_run(struct exporter *e);

void exporter_stop(struct exporter *e); /* may be NULL */

#endif
