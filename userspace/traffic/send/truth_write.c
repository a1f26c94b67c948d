// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* rocescope.truth/1 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/address.h"
#include "lib/json.h"
#include "userspace/traffic/send/truth_stream.h"

struct figures {
	uint64_t messages, messages_broken, gaps, skipped, recovered, duplicates, resyncs, icrc_bad;
};

static struct figures figures_of(const struct truth_stream *s)
{
	return (struct figures){
		truth_messages(s), s->uc.broken, s->psn.gaps, s->psn.skipped, s->psn.recovered, s->psn.duplicates,
		s->psn.resyncs, s->icrc_bad,
	};
}

static void add(struct figures *sum, const struct figures *f)
{
	sum->messages += f->messages;
	sum->messages_broken += f->messages_broken;
	sum->gaps += f->gaps;
	sum->skipped += f->skipped;
	sum->recovered += f->recovered;
	sum->duplicates += f->duplicates;
	sum->resyncs += f->resyncs;
}

static void set_figures(json_t *o, const struct figures *f)
{
	json_set_count(o, "messages", f->messages);
	json_set_count(o, "messages_broken", f->messages_broken);
	json_set_count(o, "psn_gaps", f->gaps);
	json_set_count(o, "psn_skipped", f->skipped);
	json_set_count(o, "psn_recovered", f->recovered);
	json_set_count(o, "psn_lost", f->skipped - f->recovered);
	json_set_count(o, "psn_duplicates", f->duplicates);
	json_set_count(o, "psn_resyncs", f->resyncs);
	json_set_count(o, "icrc_bad", f->icrc_bad);
}

static bool has_sqpn(const struct truth_stream *s)
{
	return s->key & KEY_IS_DATAGRAM;
}

/* True also for a datagram stream whose only evidence is an unknown opcode. */
static bool is_estimate(const struct truth_stream *s)
{
	return s->service == SERVICE_UD;
}

static json_t *totals(const struct truth *t)
{
	uint64_t packets = t->untracked.packets, bytes = t->untracked.bytes, payload_bytes = t->untracked.payload_bytes;
	struct figures sum = { .icrc_bad = t->untracked.icrc_bad };
	json_t *o = json_object();

	for (uint32_t i = 0; i < t->count; i++) {
		const struct truth_stream *s = t->streams[i];
		struct figures f = figures_of(s);

		packets += s->packets;
		bytes += s->bytes;
		payload_bytes += s->payload_bytes;
		sum.icrc_bad += s->icrc_bad;
		if (s->trusted && !is_estimate(s))
			add(&sum, &f);
	}
	json_set_count(o, "frames", packets + t->malformed + t->fragments + t->others);
	json_set_count(o, "other_frames", t->others);
	json_set_count(o, "ip_fragments", t->fragments);
	json_set_count(o, "roce_packets", packets);
	json_set_count(o, "malformed", t->malformed);
	json_set_count(o, "untracked_packets", t->untracked.packets);
	json_set_count(o, "bytes", bytes);
	json_set_count(o, "payload_bytes", payload_bytes);
	set_figures(o, &sum);
	return o;
}

static json_t *stream(const struct truth_stream *s)
{
	uint32_t qpn = s->key & TRUTH_PSN_MASK;
	struct figures f = figures_of(s);
	json_t *o = json_pack("{s:s, s:s, s:i, s:o, s:s, s:s, s:b, s:b}",
			      "src", address_text(s->src).text, "dst", address_text(s->dst).text,
			      "dqpn", has_sqpn(s) ? s->dqpn : qpn,
			      "sqpn", json_count_or_null(has_sqpn(s), qpn),
			      "service", roce_service_name(s->service),
			      "side", s->key & KEY_IS_RESPONSE ? "response" : "request",
			      "icrc_trusted", s->trusted, "estimate", is_estimate(s));

	json_set_count(o, "packets", s->packets);
	set_figures(o, &f);
	return o;
}

static bool put_all(FILE *f, const struct truth *t, bool exact)
{
	const char *separator = "\n";
	bool ok = fprintf(f, "{\"schema\": \"rocescope.truth/1\", \"exact\": %s,\n", exact ? "true" : "false") >= 0 &&
		  fputs("\"totals\": ", f) >= 0 && json_print(f, totals(t), 0) && fputs(",\n\"streams\": [", f) >= 0;

	for (uint32_t i = 0; ok && i < t->count; i++) {
		if (t->streams[i]->packets == 0)
			continue;
		ok = fputs(separator, f) >= 0 && json_print(f, stream(t->streams[i]), 0);
		separator = ",\n";
	}
	return ok && fputs("\n]}\n", f) >= 0;
}

/* Closes the file in every case. The latest write errors appear here. */
static bool finish(FILE *f, bool ok)
{
	int error = ok ? 0 : errno ? errno : ENOMEM;

	if (fclose(f) && !error)
		error = errno;
	errno = error;
	return !error;
}

/* Opens a new file in the same folder. Sets *name, which the caller frees. -1: errno. */
static int make_beside(const char *path, char **name)
{
	int fd;

	if (asprintf(name, "%s.XXXXXX", path) < 0) {
		*name = NULL;
		return -1;
	}
	fd = mkstemp(*name);
	if (fd < 0) {
		int error = errno;

		free(*name);
		*name = NULL;
		errno = error;
	}
	return fd;
}

/* Writes a new file in the same folder, which replaces the old one when it is complete. */
static bool write_beside(const struct truth *t, const char *path, bool exact)
{
	mode_t mask = umask(0);
	char *beside;
	FILE *f = NULL;
	int fd, error;
	bool ok;

	umask(mask);
	fd = make_beside(path, &beside);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	ok = f && fchmod(fd, 0666 & ~mask) == 0;
	errno = ok ? 0 : errno;
	ok = ok && put_all(f, t, exact);
	if (f)
		ok = finish(f, ok);
	ok = ok && rename(beside, path) == 0;
	error = errno;
	if (!ok && fd >= 0)
		unlink(beside);
	free(beside);
	errno = error;
	return ok;
}

/* Whether a new file replaces it. A device, a pipe or a link is written in place. */
static bool is_replaced(const char *path)
{
	struct stat st;

	return lstat(path, &st) || S_ISREG(st.st_mode);
}

bool truth_writable(const char *path)
{
	struct stat st;
	char *beside;
	int fd;

	if (!is_replaced(path)) {
		errno = !stat(path, &st) && S_ISDIR(st.st_mode) ? EISDIR : 0;
		/* the target of a link need not exist yet */
		return !errno && (!access(path, W_OK) || errno == ENOENT);
	}
	fd = make_beside(path, &beside);
	if (fd < 0)
		return false;
	close(fd);
	unlink(beside);
	free(beside);
	return true;
}

bool truth_write(const struct truth *t, const char *path, bool exact)
{
	FILE *f;

	if (is_replaced(path))
		return write_beside(t, path, exact);
	f = fopen(path, "w");
	errno = f ? 0 : errno;
	return f && finish(f, put_all(f, t, exact));
}
