// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <string.h>

#include "lib/options.h"
#include "userspace/arguments.h"

int argument_choice(const char *command, const char *option, const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	usage_error("%s: --%s %s: no such choice", command, option, text);
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
