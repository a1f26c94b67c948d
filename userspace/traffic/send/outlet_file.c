// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Writes to a capture file without waiting: each frame's timestamp is the time at which it would have left. */
#include <stdlib.h>
#include <string.h>

#include "pcap/writer.h"
#include "userspace/traffic/send/departure.h"

#define EPOCH_NS 946684800000000000ull /* 2000-01-01T00:00:00Z */
#define RUN_SLOTS 1024

struct file {
	struct pcap_writer writer;
	__u8 frame[CELL_BYTES];
};

static const char *name(const struct outlet *o)
{
	return strcmp(o->plan->file, "-") ? o->plan->file : "standard output";
}

static bool fail(struct outlet *o, const char *why)
{
	return outlet_refuse(o, "%.120s: %s", name(o), why);
}

static bool open_file(struct outlet *o)
{
	struct file *f = calloc(1, sizeof(*f));

	o->own = f;
	o->memory = departure_memory();
	if (!f || !o->memory)
		fail(o, "no memory");
	else if (writer_open(&f->writer, o->plan->file))
		fail(o, f->writer.error);
	else
		return true;
	departure_memory_free(o->memory);
	free(f);
	return false;
}

/* Slots count as sent once they are in the file. */
static bool flush(struct outlet *o, uint32_t slots)
{
	struct file *f = o->own;

	if (writer_flush(&f->writer)) {
		o->refused += slots;
		return fail(o, f->writer.error);
	}
	departure_left(o->memory, slots);
	return true;
}

static bool run(struct outlet *o)
{
	uint32_t waiting = departure_waiting(o->memory), slots = 0;
	struct file *f = o->own;

	for (uint32_t i = 0; i < waiting && i < RUN_SLOTS; i++) {
		const struct slot *s = departure_slot(o->memory, slots);

		if (!writer_has_room(&f->writer, s->frame_bytes)) {
			if (!flush(o, slots))
				return false;
			slots = 0;
			s = departure_slot(o->memory, 0);
		}
		departure_frame(o->memory, s, f->frame);
		writer_put(&f->writer, EPOCH_NS + s->departure, f->frame, s->frame_bytes);
		slots++;
	}
	return flush(o, slots);
}

static bool close_file(struct outlet *o)
{
	struct file *f = o->own;
	bool good = !writer_close(&f->writer);

	if (!good)
		fail(o, f->writer.error);
	departure_memory_free(o->memory);
	free(f);
	return good;
}

const struct outlet_kind outlet_file = {
	.name = "file", .words = "a capture file", .open = open_file, .run = run, .close = close_file,
};
