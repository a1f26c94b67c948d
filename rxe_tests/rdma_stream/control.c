// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <err.h>

#include "lib/stop.h"
#include "rxe_tests/rdma_stream/rdma_stream.h"

static struct control_place find(const struct rdma_options *o, const char *where)
{
	struct control_place place;
	char why[CONTROL_WHY];

	if (!control_find(&place, where, o->common.port, !o->common.send, why))
		errx(1, "--control %s: %s", where, why);
	return place;
}

void must_listen(const struct rdma_options *o, struct control_listener *l)
{
	struct control_place place = find(o, o->control[0]);
	char why[CONTROL_WHY];

	if (!control_listener_open(l, "rdma_stream", &place, why))
		errx(1, "control connection: %s", why);
}

struct control *must_connect(const struct rdma_options *o, const char *where)
{
	struct control_place place = find(o, where);
	char why[CONTROL_WHY];
	struct control *control = control_connect(&place, why);

	if (!control)
		errx(1, "control connection to %s (is 'rdma_stream recv' running there?): %s", where, why);
	return control;
}

void must_receive_end(struct control *control, struct rdma_end *end)
{
	json_t *message = control_receive(control);

	if (!message && stop)
		errx(1, "stopped");
	if (!message)
		errx(1, "control connection: no answer from the other end (%s)", control->why);
	if (control_refused(message, control->why))
		errx(1, "the other end: %s", control->why);
	if (!rdma_end_parse(message, end, control->why))
		errx(1, "control connection: not an rdma_stream of this version (%s)", control->why);
	json_decref(message);
}
