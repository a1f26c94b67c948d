// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/traffic/receive/library.h"

_Static_assert((int)ROCESCOPE_IMMEDIATE == MESSAGE_IMMEDIATE && (int)ROCESCOPE_SEND == MESSAGE_SEND &&
	       (int)ROCESCOPE_INCOMPLETE == MESSAGE_INCOMPLETE && (int)ROCESCOPE_HEADLESS == MESSAGE_HEADLESS &&
	       (int)ROCESCOPE_LATE == MESSAGE_LATE && ROCESCOPE_NOWHERE == RESPONDER_NOWHERE, "one set of flags");

/* ---- opening ---- */

int library_open(struct rocescope *r, unsigned int flags)
{
	r->region = calloc(RECEIVE_REGIONS, sizeof(*r->region));
	r->immediate = calloc(r->maps.qp_count, sizeof(*r->immediate));
	if (!r->region || !r->immediate ||
	    !receive_reader_open(&r->reader, &r->maps, flags & ROCESCOPE_OLDEST, !(flags & ROCESCOPE_NO_POST)))
		return -ENOMEM;
	return 0;
}

void library_close(struct rocescope *r)
{
	receive_reader_close(&r->reader);
	free(r->region);
	free(r->immediate);
}

static int open_pinned(struct rocescope *r, const char *name, unsigned int flags)
{
	int error;

	r->maps.regions = -1;
	r->name = strdup(name);
	if (!r->name)
		return -ENOMEM;
	error = receive_maps_pinned(name, &r->id);
	return error ?: receive_maps_of_pin(&r->maps, name) ?: library_open(r, flags);
}

struct rocescope *rocescope_open(const char *name, unsigned int flags)
{
	struct rocescope *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return NULL;
	error = open_pinned(r, name, flags);
	if (!error)
		return r;
	rocescope_close(r);
	errno = -error;
	return NULL;
}

void rocescope_close(struct rocescope *r)
{
	if (!r)
		return;
	library_close(r);
	receive_maps_close(&r->maps);
	free(r->name);
	free(r);
}

int rocescope_ended(const struct rocescope *r)
{
	__u64 id;
	int error = receive_maps_pinned(r->name, &id);

	return error ? error == -ENOENT : id != r->id;
}

const char *rocescope_error(int error)
{
	switch (error) {
	case ENOENT:
		return "no receiver has this name: rocescope receive IFACE --pin NAME begins one";
	case EPROTO:
		return "another build of rocescope made this receiver: use the library of that build, or begin it anew";
	case EPERM:
	case EACCES:
		return "not allowed: only root and the user who began the receiver may open it";
	case EINVAL:
		return "the ring is not in the memory, is no multiple of --block, or has less than 3 blocks or 2 windows";
	case ENOSPC:
		return "rocescope_blocks_next() has blocks to give out first";
	default:
		return strerror(error);
	}
}

const void *rocescope_memory(const struct rocescope *r, uint64_t *bytes)
{
	if (bytes)
		*bytes = r->maps.memory_bytes;
	return r->maps.memory;
}

/* ---- completions ---- */

/* The region of a message; NULL if it is not known. It may have been registered after the receiver was opened. */
static const struct roce_region *find_region(struct rocescope *r, const struct receive_record *record)
{
	const struct roce_region *region;

	if (record->flags & MESSAGE_SEND || record->region >= RECEIVE_REGIONS)
		return NULL;
	region = &r->region[record->region];
	if (!region->bytes)
		receive_maps_regions(&r->maps, r->region, RECEIVE_REGIONS);
	return record->at >= region->at && record->at - region->at < region->bytes ? region : NULL;
}

static int32_t skipped(struct rocescope *r, const struct receive_record *record)
{
	struct library_immediate *last = &r->immediate[record->qp];
	int32_t skipped = last->any ? record->immediate - last->value - 1 : 0;

	if (!(record->flags & MESSAGE_LATE))
		*last = (struct library_immediate){ .value = record->immediate, .any = true };
	return skipped;
}

static void set_place(struct rocescope *r, const struct receive_record *record, struct rocescope_completion *to)
{
	const __u64 end = r->maps.memory_bytes;
	const struct roce_region *region;

	if (record->at >= end || record->placed > end - record->at)
		return;
	to->offset = record->at;
	to->data = r->maps.memory + record->at;
	region = find_region(r, record);
	if (region)
		to->va = region->va + (record->at - region->at);
	to->reserved[LIBRARY_LATER] = receive_later_generations(&r->maps, record->at, record->placed);
}

int rocescope_next(struct rocescope *r, struct rocescope_completion *to, int timeout)
{
	struct receive_record record;

	do {
		if (!receive_reader_next(&r->reader, &record, timeout))
			return 0;
	} while (record.qp >= r->maps.qp_count);
	*to = (struct rocescope_completion){
		.offset = ROCESCOPE_NOWHERE,
		.receive = record.receive,
		.time = record.time,
		.length = record.length,
		.placed = record.placed,
		.immediate = record.immediate,
		.skipped = record.flags & MESSAGE_IMMEDIATE ? skipped(r, &record) : 0,
		.qpn = r->maps.setup->first_qpn + record.qp,
		.first_psn = record.first_psn,
		.last_psn = record.last_psn,
		.flags = record.flags,
		.reserved = { [LIBRARY_GENERATION] = record.generation, [LIBRARY_QP] = record.qp },
	};
	set_place(r, &record, to);
	return 1;
}

int rocescope_torn(const struct rocescope *r, const struct rocescope_completion *c)
{
	return c->data && receive_torn(&r->maps, c->offset, c->placed, c->reserved[LIBRARY_GENERATION],
				       c->reserved[LIBRARY_LATER]);
}

void rocescope_post(struct rocescope *r, const struct rocescope_completion *c)
{
	if (c)
		receive_reader_post(&r->maps, &(struct receive_record){ .flags = c->flags, .receive = c->receive,
									 .qp = c->reserved[LIBRARY_QP] });
	else
		receive_reader_post_all(&r->maps);
}

uint64_t rocescope_lost(const struct rocescope *r)
{
	return r->reader.lost;
}
