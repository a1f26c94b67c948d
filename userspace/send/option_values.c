// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Options of one number, choice, text or address. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "userspace/model/address.h"
#include "userspace/send/option.h"

void option_wrong(const struct option_parser *p, const struct option_word *w, const char *text, const char *format, ...)
{
	char words[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	if (p->path)
		usage_error("send: %s:%u: %s %.60s: %s", p->path, p->line, w->name, text, words);
	usage_error("send: --%s %.60s: %s", w->name, text, words);
}

void *option_memory(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "rocescope: send: out of memory\n");
	exit(1);
}

static void store(struct option_parser *p, const struct option_word *w, uint64_t number)
{
	void *to = option_field(p, w->at);

	if (w->bytes == 1)
		*(uint8_t *)to = number;
	else if (w->bytes == 2)
		*(uint16_t *)to = number;
	else if (w->bytes == 4)
		*(uint32_t *)to = number;
	else
		*(uint64_t *)to = number;
}

void option_store_text(const char **to, const char *text)
{
	free((char *)*to);
	*to = option_memory(strdup(text));
}

uint64_t option_number(struct option_parser *p, const struct option_word *w, const char *text, uint64_t least, uint64_t most)
{
	const char *form = most > 65535 ? "not a number from %#llx to %#llx" : "not a number from %llu to %llu";
	uint64_t number;
	char *end, words[100];

	if (parse_whole(text, &number, &end) && !*end && number >= least && number <= most)
		return number;
	snprintf(words, sizeof(words), form, (unsigned long long)least, (unsigned long long)most);
	option_wrong(p, w, text, "%s", words);
}

void take_number(struct option_parser *p, const struct option_word *w, const char *text)
{
	store(p, w, option_number(p, w, text, w->least, w->most));
}

void take_count(struct option_parser *p, const struct option_word *w, const char *text)
{
	uint64_t number;

	if (!parse_number(text, w->most, &number) || number < w->least)
		option_wrong(p, w, text, "not a number from %llu to %llu", (unsigned long long)w->least,
			     (unsigned long long)w->most);
	store(p, w, number);
}

void take_size(struct option_parser *p, const struct option_word *w, const char *text)
{
	uint64_t size = 0;

	if ((!parse_size(text, &size) && strcmp(text, "0")) || size < w->least || size > w->most)
		option_wrong(p, w, text, "not a size from %llu to %llu bytes (K and M behind it are allowed)",
			     (unsigned long long)w->least, (unsigned long long)w->most);
	store(p, w, size);
}

void take_choice(struct option_parser *p, const struct option_word *w, const char *text)
{
	char all[160] = "";

	for (size_t i = 0; w->choices[i]; i++) {
		if (!strcmp(text, w->choices[i])) {
			store(p, w, i);
			return;
		}
		if (i)
			strcat(all, ", ");
		strcat(all, w->choices[i]);
	}
	option_wrong(p, w, text, "no such choice: %s", all);
}

void take_text(struct option_parser *p, const struct option_word *w, const char *text)
{
	option_store_text(option_field(p, w->at), text);
}

void take_flag(struct option_parser *p, const struct option_word *w, const char *text)
{
	(void)text;
	*(bool *)option_field(p, w->at) = true;
}

void take_seconds(struct option_parser *p, const struct option_word *w, const char *text)
{
	if (!parse_seconds(text, option_field(p, w->at)))
		option_wrong(p, w, text, "not a number of seconds above 0");
}

void take_address(struct option_parser *p, const struct option_word *w, const char *text)
{
	__u8 *to = option_field(p, w->at);

	if (!address_parse(text, to))
		option_wrong(p, w, text, "no IP address");
	if (strchr(text, ':') && address_is_ipv4(to))
		option_wrong(p, w, text, "that is an IPv4 address: write it as a.b.c.d");
}

void take_mac(struct option_parser *p, const struct option_word *w, const char *text)
{
	__u8 *to = option_field(p, w->at);
	int end = -1;

	if (strspn(text, "0123456789abcdefABCDEF:") != strlen(text) ||
	    sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", to, to + 1, to + 2, to + 3, to + 4, to + 5, &end) != 6 ||
	    end != (int)strlen(text))
		option_wrong(p, w, text, "no MAC address like 02:00:00:00:00:01");
}
