// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <systemd/sd-daemon.h>

#include "userspace/service.h"

void service_ready(const char *words)
{
	sd_notifyf(0, "READY=1\nSTATUS=%s", words);
}

void service_alive(void)
{
	sd_notify(0, "WATCHDOG=1");
}

void service_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}
