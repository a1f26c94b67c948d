// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "lib/stop.h"

volatile sig_atomic_t stop;

static void set_stop(int signal)
{
	(void)signal;
	stop = 1;
}

void stop_on_signals(void)
{
	struct sigaction action = { .sa_handler = set_stop };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

void stop_on_interrupt(void)
{
	struct sigaction action = { .sa_handler = set_stop, .sa_flags = SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
}
