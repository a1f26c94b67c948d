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
static int run_gnuplot(int script, int picture, int complaint)
{
	char *const arguments[] = { "gnuplot", "-d", NULL }; /* -d: ignore ~/.gnuplot */
	posix_spawn_file_actions_t actions;
	int status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, picture, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, complaint, STDERR_FILENO);
	errno = posix_spawnp(&pid, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (errno)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* The size of a file; rewinds it. -1: see errno. */
static ssize_t size_of(int fd)
{
	struct stat s;

	return fstat(fd, &s) || lseek(fd, 0, SEEK_SET) ? -1 : s.st_size;
}

static bool explain(const char *path, int complaint)
{
	char text[200] = "";
	ssize_t length = size_of(complaint) < 0 ? 0 : read(complaint, text, sizeof(text) - 1);

	for (ssize_t i = 0; i < length; i++)
		if (text[i] < ' ')
			text[i] = ' ';
	fprintf(stderr, "rocescope: %s: gnuplot cannot draw it: %.*s\n", path, (int)(length > 0 ? length : 0), text);
	return false;
}

static bool complain(const char *path)
{
	fprintf(stderr, "rocescope: %s: the picture cannot be written: %s\n", path, cause(errno).text);
	return false;
}

static bool copy(int from, int to)
{
	char block[65536];
	ssize_t size;

	while ((size = read(from, block, sizeof(block))) > 0)
		for (ssize_t done = 0, now; done < size; done += now) {
			now = write(to, block + done, size - done);
			if (now < 0)
				return false;
		}
	return !size;
}

/* Writes the picture to its file. An incomplete file is removed. */
static bool save(const char *path, int picture)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), error;
	struct stat s;

	if (fd < 0)
		return complain(path);
	error = copy(picture, fd) ? 0 : errno;
	fstat(fd, &s);
	if (close(fd) && !error)
		error = errno;
	if (!error)
		return true;
	if (S_ISREG(s.st_mode))
		unlink(path);
	errno = error;
	return complain(path);
}

/* Draws what the script has. */
static bool draw(const char *path, int script, int picture, int complaint)
{
	int status = run_gnuplot(script, picture, complaint);

	if (status < 0 && errno == ENOENT) {
		fprintf(stderr, "rocescope: %s: gnuplot is missing, which draws pictures: install gnuplot-nox\n", path);
		return false;
	}
	if (status < 0)
		return complain(path);
	if (status || size_of(picture) <= 0)
		return explain(path, complaint);
	return save(path, picture);
}

/* A file in memory. */
static FILE *open_memory(void)
{
	int fd = memfd_create("plot", MFD_CLOEXEC);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w+");

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

static void close_memory(FILE *file)
{
	if (file)
		fclose(file);
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
	bool good = picture && complaint && !fflush(g->script) && !ferror(g->script) && !lseek(fileno(g->script), 0, SEEK_SET);

	good = good ? draw(g->path, fileno(g->script), fileno(picture), fileno(complaint)) : complain(g->path);
	fclose(g->script);
	close_memory(picture);
	close_memory(complaint);
	return good;
}
