// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What commands that watch live are told. */
#include <string.h>

#include "lib/options.h"
#include "userspace/command/arguments.h"
#include "userspace/live/live.h"

#define MAX_STREAMS (1 << 24)

struct live_options live_options(const char *command)
{
	return (struct live_options){ .command = command, .settings = { .icrc_every = 1, .max_streams = 65536 },
				      .interval = 1 };
}

static __u32 parse_icrc(const char *command, const char *text)
{
	uint64_t n;

	if (!strcmp(text, "all"))
		return 1;
	if (!strcmp(text, "off"))
		return 0;
	if (strncmp(text, "1/", 2) || !parse_number(text + 2, UINT32_MAX, &n) || !n)
		usage_error("%s: --icrc %s: neither all nor off nor 1/N", command, text);
	return n;
}

static double parse_positive_seconds(const char *command, const char *option, const char *text)
{
	double seconds;

	if (!parse_seconds(text, &seconds) || seconds < 0.001)
		usage_error("%s: --%s %s: not a number of seconds of at least 0.001", command, option, text);
	return seconds;
}

void live_option(struct live_options *o, const char *name, char *text)
{
	static const char *const modes[] = { "auto", "native", "generic", NULL };
	static const char *const directions[] = { "in", "both", NULL };

	if (!strcmp(name, "interval"))
		o->interval = parse_positive_seconds(o->command, name, text);
	else if (!strcmp(name, "duration"))
		o->duration = parse_positive_seconds(o->command, name, text);
	else if (!strcmp(name, "icrc"))
		o->settings.icrc_every = parse_icrc(o->command, text);
	else if (!strcmp(name, "mode"))
		o->mode = argument_choice(o->command, name, text, modes);
	else if (!strcmp(name, "direction"))
		o->both = argument_choice(o->command, name, text, directions);
	else if (!strcmp(name, "decap"))
		o->decap = true;
	else if (!strcmp(name, "share"))
		o->share = true;
	else if (!strcmp(name, "drop"))
		o->settings.drop = 1;
	else if (!strcmp(name, "expect"))
		o->expect = text;
	else if (!strcmp(name, "udp"))
		argument_ports(o->command, text, &o->settings.ports);
	else if (!strcmp(name, "max-streams"))
		o->settings.max_streams = argument_number(o->command, name, text, 1, MAX_STREAMS);
	else if (!strcmp(name, "verbose"))
		o->verbose = true;
}

void live_take_interface(struct live_options *o, const char *name)
{
	if (o->interface_count == LIVE_INTERFACES)
		usage_error("%s: at most %d interfaces", o->command, LIVE_INTERFACES);
	if (strlen(name) >= IF_NAMESIZE)
		usage_error("%s: %s: too long for the name of an interface", o->command, name);
	for (size_t i = 0; i < o->interface_count; i++)
		if (!strcmp(o->interface[i], name))
			usage_error("%s: %s: named twice", o->command, name);
	o->interface[o->interface_count++] = name;
}
