// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The kinds of option values. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/number.h"
#include "lib/option.h"

static void store(const struct option_parser *p, const struct option_entry *e, uint64_t number)
{
	void *to = option_member(p, e);

	if (e->bytes == 1)
		*(uint8_t *)to = number;
	else if (e->bytes == 2)
		*(uint16_t *)to = number;
	else if (e->bytes == 4)
		*(uint32_t *)to = number;
	else if (e->bytes == 8)
		*(uint64_t *)to = number;
	else
		abort(); /* the entry has no member */
}

void option_flag(struct option_parser *p, const struct option_entry *e, const char *text)
{
	(void)text;
	store(p, e, true);
}

void option_number(struct option_parser *p, const struct option_entry *e, const char *text)
{
	uint64_t number;

	if (!parse_number(text, e->most, &number) || number < e->least)
		option_wrong(p, e, text, "not a number from %llu to %llu", (unsigned long long)e->least,
			     (unsigned long long)e->most);
	store(p, e, number);
}

uint64_t option_whole(const struct option_parser *p, const struct option_entry *e, const char *text, uint64_t least,
		      uint64_t most)
{
	const char *form = most > 65535 ? "not a number from %#llx to %#llx" : "not a number from %llu to %llu";
	char *end, words[100];
	uint64_t number;

	if (parse_whole(text, &number, &end) && !*end && number >= least && number <= most)
		return number;
	snprintf(words, sizeof(words), form, (unsigned long long)least, (unsigned long long)most);
	option_wrong(p, e, text, "%s", words);
}

void option_hex(struct option_parser *p, const struct option_entry *e, const char *text)
{
	store(p, e, option_whole(p, e, text, e->least, e->most));
}

void option_size(struct option_parser *p, const struct option_entry *e, const char *text)
{
	uint64_t size = 0;

	if ((!parse_size(text, &size) && strcmp(text, "0")) || size < e->least || size > e->most)
		option_wrong(p, e, text, "not a size from %llu to %llu bytes (K, M and G behind it are allowed)",
			     (unsigned long long)e->least, (unsigned long long)e->most);
	store(p, e, size);
}

void option_seconds(struct option_parser *p, const struct option_entry *e, const char *text)
{
	double seconds, least = e->least / 1e3;

	if (!parse_seconds(text, &seconds) || seconds < least) {
		if (e->least)
			option_wrong(p, e, text, "not a number of seconds of at least %g", least);
		option_wrong(p, e, text, "not a number of seconds above 0");
	}
	*(double *)option_member(p, e) = seconds;
}

void option_text(struct option_parser *p, const struct option_entry *e, const char *text)
{
	*(const char **)option_member(p, e) = text;
}

void option_choice(struct option_parser *p, const struct option_entry *e, const char *text)
{
	char all[300] = "";
	size_t length = 0;

	for (size_t i = 0; e->choices[i]; i++) {
		if (!strcmp(text, e->choices[i])) {
			store(p, e, i);
			return;
		}
		if (length < sizeof(all))
			length += snprintf(all + length, sizeof(all) - length, "%s%s", i ? ", " : "", e->choices[i]);
	}
	option_wrong(p, e, text, "no such choice; choices are %s", all);
}

void option_address(struct option_parser *p, const struct option_entry *e, const char *text)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff }; /* RFC 4291, 2.5.5.2 */
	uint8_t *to = option_member(p, e), ipv4[4];

	if (e->bytes == sizeof(ipv4)) {
		if (inet_pton(AF_INET, text, to) != 1)
			option_wrong(p, e, text, "not an IPv4 address");
		return;
	}
	if (inet_pton(AF_INET, text, ipv4) == 1) {
		memcpy(to, mapped, sizeof(mapped));
		memcpy(to + sizeof(mapped), ipv4, sizeof(ipv4));
		return;
	}
	if (inet_pton(AF_INET6, text, to) != 1)
		option_wrong(p, e, text, "no IP address");
	if (!memcmp(to, mapped, sizeof(mapped)))
		option_wrong(p, e, text, "that is an IPv4 address: write it as a.b.c.d");
}

void option_mac(struct option_parser *p, const struct option_entry *e, const char *text)
{
	uint8_t *to = option_member(p, e);
	int end = -1;

	if (strspn(text, "0123456789abcdefABCDEF:") != strlen(text) ||
	    sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", to, to + 1, to + 2, to + 3, to + 4, to + 5, &end) != 6 ||
	    end != (int)strlen(text))
		option_wrong(p, e, text, "no MAC address like 02:00:00:00:00:01");
}

/* The least rate: departure times are ns in 64 bits. */
static bool read_rate(struct option_parser *p, const struct option_entry *e, const char *text)
{
	struct rate *to = option_member(p, e);

	return parse_rate(text, to) && to->per_second >= 0.001;
}

void option_rate(struct option_parser *p, const struct option_entry *e, const char *text)
{
	if (!read_rate(p, e, text))
		option_wrong(p, e, text, "not a rate like 100Mbit, 1.5Gbit or 2Mpps");
}

void option_bit_rate(struct option_parser *p, const struct option_entry *e, const char *text)
{
	if (!read_rate(p, e, text) || ((struct rate *)option_member(p, e))->unit != RATE_BITS)
		option_wrong(p, e, text, "not a rate like 100Mbit or 1.5Gbit");
}

void option_sampled(struct option_parser *p, const struct option_entry *e, const char *text)
{
	uint64_t n = !strcmp(text, "all");

	if (!n && strcmp(text, "off") &&
	    (strncmp(text, "1/", 2) || !parse_number(text + 2, UINT32_MAX, &n) || !n))
		option_wrong(p, e, text, "neither all nor off nor 1/N");
	store(p, e, n);
}
