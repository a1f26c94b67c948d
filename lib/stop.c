// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lib/stop.h"

volatile sig_atomic_t stop;

static void set_stop(int signal)
{
	(void)signal;
	stop = 1;
}

/* Under nohup, SIGHUP stays ignored. */
static void stop_on_hangup(const struct sigaction *action)
{
	struct sigaction before;

	if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, action, NULL);
}

void stop_on_signals(void)
{
	struct sigaction action = { .sa_handler = set_stop };

	stop_on_hangup(&action);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void stop_on_interrupt(void)
{
	struct sigaction action = { .sa_handler = set_stop, .sa_flags = SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
}
