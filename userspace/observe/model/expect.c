// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/address.h"
#include "lib/cause.h"
#include "lib/exit.h"
#include "lib/number.h"
#include "userspace/observe/model/expect.h"
#include "userspace/observe/model/qpn.h"

#define BLANKS " \t\r\n"
#define UNSET 0xffffffffu

/* One end of a connection. */
struct expect_end {
	__u8 address[16];
	bool ipv6;
	__u32 qpn, psn; /* UNSET: not given */
};

struct expect_line {
	const char *path;
	unsigned int number;
	struct expect_end end[2];
	__u32 mtu;
};

/* Reports the mistake in a line. Its value is false. format: a literal. */
#define wrong(l, format, ...) ({ fprintf(stderr, "%s:%u: " format "\n", (l)->path, (l)->number, ##__VA_ARGS__); false; })

static bool parse_address(const char *text, struct expect_end *end)
{
	end->ipv6 = strchr(text, ':');
	return address_parse(text, end->address);
}

static bool parse_field(const struct expect_line *l, const char *name, const char *text, __u32 least, __u32 *to)
{
	uint64_t n;
	char *end;

	if (!text)
		return wrong(l, "%s: its number is missing", name);
	if (*to != UNSET)
		return wrong(l, "%s: said twice", name);
	if (!parse_whole(text, &n, &end) || *end || n < least || n > 0xffffff)
		return wrong(l, "%s %s: not a number from %u to 0xffffff", name, text, least);
	*to = n;
	return true;
}

static bool is_path_mtu(__u32 bytes)
{
	return bytes == UNSET || roce_is_path_mtu(bytes);
}

/* Parses the words of a line that is not empty. */
static bool parse_words(struct expect_line *l, char *word, char **rest)
{
	struct expect_end *end = l->end;

	if (!parse_address(word, end))
		return wrong(l, "%s: no IP address", word);
	while ((word = strtok_r(NULL, BLANKS, rest))) {
		const char *name = word;
		__u32 *to = NULL, least = 0;

		if (!strcmp(word, "<->") && end == l->end) {
			end++;
			word = strtok_r(NULL, BLANKS, rest);
			if (!word || !parse_address(word, end))
				return wrong(l, "%s: no IP address", word ?: "behind <->");
			continue;
		}
		if (!strcmp(word, "qpn")) {
			to = &end->qpn;
			least = 2; /* QPNs 0 and 1 are for management */
		} else if (!strcmp(word, "psn")) {
			to = &end->psn;
		} else if (!strcmp(word, "mtu")) {
			to = &l->mtu;
		}
		if (!to)
			return wrong(l, "%s: not understood: ADDRESS qpn N [psn N] <-> ADDRESS qpn N [psn N] [mtu N]", word);
		if (!parse_field(l, name, strtok_r(NULL, BLANKS, rest), least, to))
			return false;
	}
	if (end == l->end)
		return wrong(l, "the other end, behind <->, is missing");
	if (l->end[0].qpn == UNSET || l->end[1].qpn == UNSET)
		return wrong(l, "each end needs its qpn");
	if (l->end[0].ipv6 != l->end[1].ipv6)
		return wrong(l, "one end has an IPv4 address, the other IPv6");
	if (!is_path_mtu(l->mtu))
		return wrong(l, "mtu %u: not 256, 512, 1024, 2048 or 4096", l->mtu);
	return true;
}

/* The pair of the streams from src to dst. */
static struct expected_pair make_pair(const struct expect_line *l, const struct expect_end *src, const struct expect_end *dst)
{
	struct expected_pair e = {
		.line = l->number,
		.pair = { .peer_qpn = src->qpn, .path_mtu = l->mtu == UNSET ? 0 : l->mtu, .first_psn = src->psn,
			  .from = PAIR_EXPECT },
	};

	_Static_assert(UNSET == PAIR_NO_PSN, "an end without a psn");
	pair_key(&e.key, src->address, dst->address, dst->qpn);
	return e;
}

static bool add(struct expected *e, const struct expect_line *l)
{
	/* grow at each power of two */
	if (!(e->count & (e->count - 1))) {
		void *grown = realloc(e->entries, (e->count ? e->count * 2 : 2) * sizeof(*e->entries));

		if (!grown)
			return false;
		e->entries = grown;
	}
	e->entries[e->count++] = make_pair(l, &l->end[0], &l->end[1]);
	e->entries[e->count++] = make_pair(l, &l->end[1], &l->end[0]);
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct expected_pair *x = a, *y = b;
	int order = memcmp(&x->key, &y->key, sizeof(x->key));

	return order ?: (x->line > y->line) - (x->line < y->line);
}

/* Checks that each QPN has one peer. */
static bool check_unique(const char *path, struct expected *e)
{
	if (e->count)
		qsort(e->entries, e->count, sizeof(*e->entries), compare);
	for (size_t i = 1; i < e->count; i++) {
		const struct expected_pair *one = &e->entries[i - 1], *two = &e->entries[i];
		struct expect_line l = { .path = path, .number = two->line };

		if (!memcmp(&one->key, &two->key, sizeof(one->key)))
			return wrong(&l, "qpn %s of %s has a peer at %s already, in line %u", qpn_text(one->key.number).text,
				     address_text(one->key.dst).text, address_text(one->key.src).text, one->line);
	}
	return true;
}

static int read_lines(FILE *f, const char *path, struct expected *e)
{
	struct expect_line l = { .path = path };
	int status = EXIT_RAN;
	char *text = NULL;
	size_t room = 0;

	while (status == EXIT_RAN && getline(&text, &room, f) >= 0) {
		char *rest, *word;

		text[strcspn(text, "#")] = 0;
		l = (struct expect_line){ .path = path, .number = l.number + 1, .mtu = UNSET,
				   .end = { { .qpn = UNSET, .psn = UNSET }, { .qpn = UNSET, .psn = UNSET } } };
		word = strtok_r(text, BLANKS, &rest);
		if (!word)
			continue;
		if (!parse_words(&l, word, &rest))
			status = EXIT_USAGE;
		else if (!add(e, &l))
			status = EXIT_COULD_NOT;
	}
	free(text);
	return status;
}

int expect_read(const char *path, struct expected *e)
{
	FILE *f = fopen(path, "r");
	int status;

	*e = (struct expected){ 0 };
	if (!f) {
		fprintf(stderr, "rocescope: --expect %s: %s\n", path, cause(errno).text);
		return EXIT_COULD_NOT;
	}
	errno = 0;
	status = read_lines(f, path, e);
	if (status == EXIT_COULD_NOT || ferror(f)) {
		fprintf(stderr, "rocescope: --expect %s: %s\n", path, cause(errno).text);
		status = EXIT_COULD_NOT;
	}
	fclose(f);
	if (status == EXIT_RAN && !check_unique(path, e))
		status = EXIT_USAGE;
	return status;
}

void expect_free(struct expected *e)
{
	free(e->entries);
	*e = (struct expected){ 0 };
}
