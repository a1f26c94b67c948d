// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <linux/types.h>
#include <systemd/sd-daemon.h>

#include "lib/clock.h"
#include "userspace/command/service.h"

static __u64 pause_ns; /* between two messages to the watchdog; 0: there is none */
static __u64 next;

void service_ready(const char *words)
{
	uint64_t watchdog_us;

	if (sd_watchdog_enabled(0, &watchdog_us) > 0)
		pause_ns = watchdog_us * NSEC_PER_USEC / 4; /* sd_watchdog_enabled(3) recommends half */
	sd_notifyf(0, "READY=1\nSTATUS=%s", words);
}

void service_alive(void)
{
	__u64 now;

	if (!pause_ns)
		return;
	now = now_ns();
	if (now < next)
		return;
	next = now + pause_ns;
	sd_notify(0, "WATCHDOG=1");
}

void service_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}
