// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/options.h"
#include "userspace/command/arguments.h"
#include "userspace/command/commands.h"

static __attribute__((noreturn)) void help(const struct arguments *a, const char *topic)
{
	if (!topic || !a->help || !a->help(topic))
		printf("%s\nExamples:\n%s", a->usage, a->examples);
	exit(EXIT_RAN);
}

int arguments_parse(const struct arguments *a, void *context, int argc, char **argv)
{
	char letters[32];
	int value, index;

	snprintf(letters, sizeof(letters), ":h%s", a->letters);
	opterr = 0;
	while (index = -1, (value = getopt_long(argc, argv, letters, a->options, &index)) != -1) {
		if (value == '?' || value == ':')
			usage_error("%s: %s: %s", a->command, argv[optind - 1],
				    value == '?' ? "no such option" : "needs a value");
		if (value == 'h')
			help(a, argv[optind]);
		a->take(context, value, optarg, index < 0 ? "" : a->options[index].name);
	}
	return optind;
}

int argument_choice(const char *command, const char *option, const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	usage_error("%s: --%s %s: no such choice", command, option, text);
}

uint64_t argument_number(const char *command, const char *option, const char *text, uint64_t least, uint64_t most)
{
	uint64_t n;

	if (!parse_number(text, most, &n) || n < least)
		usage_error("%s: --%s %s: not a number from %ju to %ju", command, option, text, (uintmax_t)least,
			    (uintmax_t)most);
	return n;
}

enum capture_link argument_link(const char *command, const char *text)
{
	static const char *const links[] = { "file", "ethernet", "ip", "bth", NULL }; /* enum capture_link */

	return argument_choice(command, "link", text, links);
}

void argument_ports(const char *command, const char *list, struct roce_ports *ports)
{
	size_t count = 0;

	*ports = (struct roce_ports){ 0 };
	for (const char *at = list;; at++) {
		size_t length = strcspn(at, ",");
		char word[8] = "";
		uint64_t port;

		if (length < sizeof(word))
			memcpy(word, at, length);
		if (!parse_number(word, 65535, &port) || !port || port == WIRE_ROCEV2_PORT)
			usage_error("%s: --udp %s: wants UDP ports, 4791 not among them", command, list);
		if (count == ROCE_UDP_PORTS)
			usage_error("%s: --udp %s: at most %d ports", command, list, ROCE_UDP_PORTS);
		ports->port[count++] = port;
		at += length;
		if (!*at)
			return;
	}
}

void argument_faults(const char *command, const char *list, struct faults *faults)
{
	const char *bad;

	if (!faults_parse(faults, list, &bad))
		usage_error("%s: --fail-on: no counter is called '%.*s'", command, (int)strcspn(bad, ","), bad);
}

struct filter *argument_filter(const char *command, const char *text)
{
	char mistake[FILTER_MISTAKE];
	struct filter *f = filter_parse(text, mistake);

	if (!f)
		usage_error("%s: --filter %s: %s", command, text, mistake);
	return f;
}
