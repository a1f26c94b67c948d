// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/shown.h"
#include "userspace/observe/offline/analysis_files.h"

struct analysis_files analysis_files(const struct analysis_settings *settings, char *const names[], size_t count)
{
	return (struct analysis_files){ .settings = settings, .names = names, .count = count, .complete = true,
					.progress_next = now_ns() + 2 * NSEC_PER_SEC };
}

static void clear(struct analysis_files *f)
{
	if (f->progress_shown)
		shown_erase_line();
	f->progress_shown = false;
}

void analysis_files_show(struct analysis_files *f, __u64 frames)
{
	__u64 now, size;

	if (!f->settings->progress)
		return;
	now = now_ns();
	if (now < f->progress_next)
		return;
	shown_erase_line();
	fprintf(stderr, "reading %s: %.1f million frames", capture_name(f->capture), frames / 1e6);
	size = capture_size(f->capture);
	if (size)
		fprintf(stderr, ", %.0f %% of the file", 100.0 * capture_position(f->capture) / size);
	fflush(stderr);
	f->progress_shown = true;
	f->progress_next = now + NSEC_PER_SEC / 2;
}

static void complain(struct analysis_files *f, const char *name, const char *why)
{
	clear(f);
	fprintf(stderr, "rocescope: %s: %s\n", name, why);
	f->complete = false;
}

/* Opens the next file that can be opened. false: none is left. */
static bool open_next(struct analysis_files *f)
{
	char error[CAPTURE_ERROR];

	for (; !f->capture && f->count; f->names++, f->count--) {
		f->capture = capture_open(*f->names, f->settings->link, error);
		if (f->capture) {
			capture_heed(f->capture, f->settings->stop);
			f->opened++;
		} else {
			complain(f, strcmp(*f->names, "-") ? *f->names : "standard input", error);
		}
	}
	return f->capture;
}

static void close_capture(struct analysis_files *f)
{
	if (capture_is_selection(f->capture)) {
		clear(f);
		fprintf(stderr, "rocescope: %s: contains selected packets only (rocescope capture): what is missing between "
			"them is not lost; their comments say what was\n", capture_name(f->capture));
		f->selection = true;
		f->left_out += capture_left_out(f->capture);
	}
	capture_close(f->capture);
	f->capture = NULL;
	f->complained = false;
}

/* If reading stopped early, the result is incomplete. */
static bool is_stopped(struct analysis_files *f)
{
	bool stopped = f->settings->stop && *f->settings->stop;

	f->complete &= !stopped;
	return stopped;
}

bool analysis_files_next(struct analysis_files *f, struct capture_piece *piece)
{
	if (is_stopped(f))
		return false;
	while (open_next(f)) {
		bool claimed = piece->claimed;
		int more = capture_read(f->capture, piece);

		if (more < 0 && is_stopped(f))
			return false;
		if (more < 0 && !f->complained)
			complain(f, capture_name(f->capture), capture_error(f->capture));
		f->complained = more < 0;
		if (more > 0 || claimed)
			return true;
		close_capture(f);
	}
	return false;
}

void analysis_files_end(struct analysis_files *f)
{
	clear(f);
	if (f->capture)
		close_capture(f);
}
