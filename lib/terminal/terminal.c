// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "lib/complain.h"
#include "lib/terminal/terminal.h"

#define KEPT (1 << 16) /* the file that keeps standard error is emptied beyond this many bytes */

static struct {
	SCREEN *screen;
	struct termios before;
	char restore[256]; /* sequences that restore the terminal */
	size_t restore_length;
	int buffer; /* a file in memory that replaces standard error; -1: standard error is not replaced */
	int real; /* the real standard error */
	off_t read; /* terminal_message() has returned everything before this offset */
} terminal = { .buffer = -1, .real = -1 };

/* ---- standard error ---- */

static void keep_stderr(void)
{
	if (!isatty(STDERR_FILENO))
		return;
	terminal.read = 0;
	terminal.buffer = memfd_create("stderr", MFD_CLOEXEC);
	terminal.real = dup(STDERR_FILENO);
	if (terminal.buffer >= 0 && terminal.real >= 0)
		dup2(terminal.buffer, STDERR_FILENO);
}

/* Async-signal-safe, since on_crash() calls it. */
static void give_stderr_back(void)
{
	char bytes[512];
	ssize_t n;

	if (terminal.buffer < 0 || terminal.real < 0)
		return;
	dup2(terminal.real, STDERR_FILENO);
	lseek(terminal.buffer, 0, SEEK_SET);
	while ((n = read(terminal.buffer, bytes, sizeof(bytes))) > 0)
		if (write(STDERR_FILENO, bytes, n) < 0)
			break;
	close(terminal.buffer);
	close(terminal.real);
	terminal.buffer = terminal.real = -1;
}

bool terminal_message(char *line, size_t size)
{
	char bytes[1024];
	off_t end = terminal.buffer < 0 ? 0 : lseek(terminal.buffer, 0, SEEK_END), from;
	ssize_t n;

	if (end <= terminal.read)
		return false;
	from = end > (off_t)sizeof(bytes) - 1 ? end - ((off_t)sizeof(bytes) - 1) : 0;
	n = pread(terminal.buffer, bytes, sizeof(bytes) - 1, from);
	terminal.read = end;
	if (end > KEPT && !ftruncate(terminal.buffer, 0))
		terminal.read = lseek(terminal.buffer, 0, SEEK_SET);
	while (n > 0 && bytes[n - 1] == '\n')
		n--;
	if (n <= 0)
		return false;
	bytes[n] = '\0';
	strncpy(line, strrchr(bytes, '\n') ? strrchr(bytes, '\n') + 1 : bytes, size - 1);
	line[size - 1] = '\0';
	return true;
}

/* ---- a crash ---- */

static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGQUIT };

/* Calls only async-signal-safe functions, and endwin() is not. */
static void on_crash(int signal)
{
	if (write(STDOUT_FILENO, terminal.restore, terminal.restore_length) < 0)
		signal += 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
	give_stderr_back();
	raise(signal); /* SA_RESETHAND has restored its default action */
}

static void watch_crashes(bool watch)
{
	struct sigaction action = { .sa_handler = on_crash, .sa_flags = SA_RESETHAND | SA_NODEFER }, before;

	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++) {
		sigaction(crashes[i], NULL, &before);
		if (watch && before.sa_handler == SIG_DFL)
			sigaction(crashes[i], &action, NULL);
		else if (!watch && before.sa_handler == on_crash)
			signal(crashes[i], SIG_DFL);
	}
}

/* Adds a capability without its delays ($<5>), which only old terminals need. */
static void add_restore(const char *name)
{
	const char *text = tigetstr(name);

	if (!text || text == (char *)-1)
		return;
	for (; *text && terminal.restore_length < sizeof(terminal.restore); text++) {
		if (text[0] == '$' && text[1] == '<' && strchr(text, '>'))
			text = strchr(text, '>');
		else
			terminal.restore[terminal.restore_length++] = *text;
	}
}

static void learn_restore(void)
{
	terminal.restore_length = 0;
	add_restore("sgr0");
	add_restore("op");
	add_restore("rmkx");
	add_restore("cnorm");
	add_restore("rmcup");
}

/* ---- the terminal ---- */

static bool can_do_it(void)
{
	const char *type = getenv("TERM") ?: "";
	int error = 0;
	bool can;

	if (setupterm(NULL, STDOUT_FILENO, &error) != OK)
		return complain("TERM=%s is %s: printing lines instead", type,
				error < 0 ? "unknown (no terminfo is installed)" : "unknown, or a dumb terminal");
	can = tigetstr("cup") && tigetstr("cup") != (char *)-1;
	if (!can)
		complain("TERM=%s cannot move its cursor: printing lines instead", type);
	del_curterm(cur_term);
	return can;
}

/* Turns Ctrl-S off: it would stop the whole program, which has to count, serve and end. */
static void unstoppable(void)
{
	struct termios now;

	if (tcgetattr(STDIN_FILENO, &now))
		return;
	now.c_iflag &= ~IXON;
	tcsetattr(STDIN_FILENO, TCSANOW, &now);
	def_prog_mode();
}

bool terminal_wants_colour(void)
{
	const char *no_colour = getenv("NO_COLOR");

	return !no_colour || !*no_colour;
}

bool terminal_begin(bool *utf8, bool *colour)
{
	setlocale(LC_CTYPE, "");
	*utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	if (!can_do_it())
		return false;
	tcgetattr(STDIN_FILENO, &terminal.before);
	terminal.screen = newterm(NULL, stdout, stdin);
	if (!terminal.screen)
		return complain("the terminal cannot be used: printing lines instead");
	learn_restore();
	watch_crashes(true);
	atexit(terminal_end);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, true);
	nodelay(stdscr, true);
	curs_set(0);
	set_escdelay(25);
	unstoppable();
	*colour = terminal_wants_colour() && has_colors();
	if (*colour) {
		start_color();
		use_default_colors();
	}
	keep_stderr();
	return true;
}

bool terminal_size(int fd, size_t *width, size_t *height)
{
	struct winsize size;

	if (!isatty(fd))
		return false;
	*width = *height = 0;
	if (!ioctl(fd, TIOCGWINSZ, &size)) {
		*width = size.ws_col;
		*height = size.ws_row;
	}
	*width = *width ?: 80; /* a serial line does not know */
	*height = *height ?: 24;
	return true;
}

bool terminal_takes(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&out, 1, 0) == 1 && out.revents & POLLOUT;
}

bool terminal_gone(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, 0) == 1 && in.revents & (POLLHUP | POLLERR | POLLNVAL);
}

bool terminal_keys(bool (*take)(void *context, int key), void *context, bool *any)
{
	*any = false;
	if (terminal_gone())
		return false;
	for (int key; (key = getch()) != ERR; *any = true)
		if (!take(context, key))
			return false;
	return true;
}

void terminal_end(void)
{
	if (!terminal.screen)
		return;
	endwin();
	delscreen(terminal.screen);
	terminal.screen = NULL;
	watch_crashes(false);
	give_stderr_back();
}
