// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/cause.h"
#include "lib/gnuplot.h"

/* Prints text in quotes, without characters that have a meaning for gnuplot or SVG. */
static void print_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'')
			fputc('\'', out);
		fputc(*text >= ' ' && *text <= '~' && *text != '\\' ? *text : '?', out);
	}
	fputc('\'', out);
}

void gnuplot_label(const struct gnuplot *g, double x, double y, const char *style, const char *text)
{
	fputs("set label ", g->script);
	print_quoted(g->script, text);
	fprintf(g->script, " at screen %.5f,%.5f %s\n", x / g->width, 1 - y / g->height, style);
}

void gnuplot_line(const struct gnuplot *g, double from_x, double from_y, double to_x, double to_y, const char *style)
{
	fprintf(g->script, "set arrow from screen %.5f,%.5f to screen %.5f,%.5f %s\n", from_x / g->width, 1 - from_y / g->height,
		to_x / g->width, 1 - to_y / g->height, style);
}

/* ---- the program ---- */

/* Returns the exit status of gnuplot; -1 with errno: it could not be run. */
static int run_gnuplot(FILE *script, FILE *picture, FILE *complaint)
{
	char *const arguments[] = { "gnuplot", "-d", NULL }; /* -d: ignore ~/.gnuplot */
	posix_spawn_file_actions_t actions;
	int status;
	pid_t pid;

	if (!picture || !complaint || fflush(script) || ferror(script))
		return -1;
	rewind(script);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(script), STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fileno(picture), STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fileno(complaint), STDERR_FILENO);
	errno = posix_spawnp(&pid, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (errno)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	rewind(picture);
	rewind(complaint);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void explain(const char *path, FILE *complaint)
{
	char text[200];
	size_t length = fread(text, 1, sizeof(text), complaint);

	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ')
			text[i] = ' ';
	fprintf(stderr, "rocescope: %s: gnuplot cannot draw it: %.*s\n", path, (int)length, text);
}

static bool complain(const char *path)
{
	fprintf(stderr, "rocescope: %s: the picture cannot be written: %s\n", path, cause(errno).text);
	return false;
}

/* Writes the picture, which begins with `first`, to its file. An incomplete file is removed. */
static bool save(const char *path, int first, FILE *picture)
{
	FILE *out = fopen(path, "we");
	int error = 0;
	struct stat s;

	if (!out)
		return complain(path);
	for (int c = first; c != EOF; c = getc_unlocked(picture))
		putc_unlocked(c, out);
	if (fflush(out) || ferror(out))
		error = errno;
	fstat(fileno(out), &s);
	if (fclose(out) && !error)
		error = errno;
	if (!error)
		return true;
	if (S_ISREG(s.st_mode))
		unlink(path);
	errno = error;
	return complain(path);
}

/* A file in memory. */
static FILE *open_memory(void)
{
	int fd = memfd_create("plot", MFD_CLOEXEC);

	return fd < 0 ? NULL : fdopen(fd, "w+");
}

bool gnuplot_open(struct gnuplot *g, const char *path, bool png, int width, int height)
{
	*g = (struct gnuplot){ .path = path, .script = open_memory(), .width = width, .height = height };
	if (!g->script)
		return complain(path);
	if (png)
		fprintf(g->script,
			"set terminal pngcairo noenhanced size %d,%d fontscale 1.35 linewidth 1.4 pointscale 1.4 font "
			"'Sans,12' background 'white'\n",
			width * 3 / 2, height * 3 / 2);
	else
		fprintf(g->script, "set terminal svg noenhanced size %d,%d font 'sans-serif,12' background 'white'\n", width, height);
	fputs("set encoding utf8\n", g->script);
	return true;
}

bool gnuplot_close(struct gnuplot *g)
{
	FILE *picture = open_memory(), *complaint = open_memory();
	int status = run_gnuplot(g->script, picture, complaint), first;
	bool good = false;

	if (status < 0 && errno == ENOENT)
		fprintf(stderr, "rocescope: %s: gnuplot is missing, which draws pictures: install gnuplot-nox\n", g->path);
	else if (status < 0)
		complain(g->path);
	else if (status || (first = getc(picture)) == EOF)
		explain(g->path, complaint);
	else
		good = save(g->path, first, picture);
	fclose(g->script);
	if (picture)
		fclose(picture);
	if (complaint)
		fclose(complaint);
	return good;
}
