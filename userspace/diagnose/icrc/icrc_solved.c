// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Wrong ICRCs that are right CRCs with other parameters: the finding, in words against what it ought to be. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "userspace/diagnose/icrc/icrc_sender.h"

#define SOLVED_OF 256   /* most packets that are handed to solve() */
#define SOLVED_SENDERS 64 /* senders for which it is called: with packets of 9000 bytes it takes a quarter of a second */

/* "; " in front of all but the first */
__attribute__((format(printf, 2, 3))) static void say(char text[FINDING_TEXT], const char *format, ...)
{
	char words[FINDING_TEXT];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof(words), format, arguments);
	va_end(arguments);
	icrc_append(text, "%s%s", *text ? "; " : "", words);
}

/* "TTL and the PSN": the fields of the set. */
static void list_fields(char text[FINDING_TEXT], __u32 set)
{
	*text = 0;
	for (__u32 rest = set; rest; rest &= rest - 1)
		icrc_append(text, "%s%s", rest == set ? "" : rest & (rest - 1) ? ", " : " and ",
			    solve_field_words(__builtin_ctz(rest)));
}

/* Which fields go in, and ought not to; and the other way round. */
static void say_fields(char text[FINDING_TEXT], const struct solution *s)
{
	char names[FINDING_TEXT];
	__u32 sent = 0, masked = 0;

	for (int f = 0; f < SOLVE_COUNT; f++) {
		bool in = s->masked >> f & 1;

		if (solve_field_masked(f) && !in && solve_field_first(f) >= s->first && (s->shown >> f & 1 || s->in_start >> f & 1))
			sent |= 1u << f;
		else if (!solve_field_masked(f) && in)
			masked |= 1u << f;
	}
	if (sent) {
		list_fields(names, sent);
		say(text, "%s %s as sent, not as ones", names, sent & (sent - 1) ? "go in" : "goes in");
	}
	if (masked) {
		list_fields(names, masked);
		say(text, "%s %s masked as well", names, masked & (masked - 1) ? "are" : "is");
	}
}

static void say_start(char text[FINDING_TEXT], const struct solution *s, const struct solution *than)
{
	if (!s->ones && s->start == SOLVE_BEHIND_ONES) {
		say(text, "start 0x%08x (reflected 0xdebb20e3), right behind eight bytes 0xff with the right polynomial only",
		    s->start);
		return;
	}
	if (s->start != than->start)
		say(text, "start 0x%08x instead of 0x%08x", s->start, than->start);
	if (s->loose)
		icrc_append(text, " (0x%08x without the eight bytes 0xff in front)", s->bare_start);
	if (s->ones != than->ones)
		say(text, "the eight bytes 0xff in front are %s", s->ones ? "there" : "left out");
}

/* What is other than with another one. */
static void say_solution(char text[FINDING_TEXT], const struct solution *s, const struct solution *than)
{
	static const char *const begins[] = { "the Ethernet header", "the IP header", "the UDP header", "the BTH" };
	const char *name = polynomial_name(s->polynomial);

	*text = 0;
	if (s->polynomial != than->polynomial)
		say(text, "polynomial 0x%08x%s%s%s instead of 0x%08x", s->polynomial, name ? " (" : "", name ?: "", name ? ")" : "",
		    than->polynomial);
	if (s->refin != than->refin)
		say(text, "REFIN is %s: bytes go in %s significant bit first", s->refin ? "on" : "off", s->refin ? "least" : "most");
	if (s->refout != than->refout)
		say(text, "REFOUT is %s: the bits of the CRC are in the other order", s->refout ? "on" : "off");
	say_start(text, s, than);
	if (s->xor_out != than->xor_out)
		say(text, "XOR_OUT 0x%08x instead of 0x%08x", s->xor_out, than->xor_out);
	if (s->swapped != than->swapped)
		say(text, "the ICRC goes out %s significant byte first", s->swapped ? "most" : "least");
	if (s->first != than->first)
		say(text, "it begins with %s instead of %s", begins[s->first], begins[than->first]);
	if (s->zeroes != than->zeroes)
		say(text, "masked fields go in as %s", s->zeroes ? "zeroes, not as ones" : "ones");
	if (s->masked != than->masked)
		say_fields(text, s);
}

/* In the notation of CRC RevEng. */
static void append_parameters(char text[FINDING_TEXT], const struct solution *s)
{
	icrc_append(text, "poly=0x%08x init=0x%08x refin=%s refout=%s xorout=0x%08x%s", s->polynomial, s->start,
		    s->refin ? "true" : "false", s->refout ? "true" : "false", s->xor_out,
		    s->swapped ? ", most significant byte first" : "");
}

/* Packets that nothing else explains, whose bytes were kept. */
static size_t gather(const struct icrc_sender *s, struct solve_packet to[SOLVED_OF])
{
	size_t count = 0;

	for (__u32 i = 0; i < s->count && count < SOLVED_OF; i++) {
		const struct icrc_sample *m = &s->samples[i];

		if (m->packet->kept.frame && !m->done && !m->again)
			to[count++] = m->packet->kept;
	}
	return count;
}

/* Chooses the packets that the solution explains. Returns how many are different. */
static __u32 choose(struct icrc_sender *s, const struct solution *solution)
{
	__u32 different = 0;

	for (__u32 i = 0; i < s->count; i++) {
		struct icrc_sample *m = &s->samples[i];

		m->chosen = m->packet->kept.frame && !m->done &&
			    solution_icrc(solution, &m->packet->kept) == m->packet->found;
		different += m->chosen && !m->again;
	}
	return different;
}

static void write_texts(struct finding *f, const struct icrc_sender *s)
{
	static const struct solution right = {
		.polynomial = SOLVE_POLYNOMIAL, .start = ~0u, .xor_out = ~0u, .refin = true, .refout = true,
		.first = FIRST_IP, .ones = true,
	};
	char words[FINDING_TEXT];

	snprintf(f->kind, sizeof(f->kind), "icrc-parameters");
	for (int i = 0; i < f->solution_count; i++) {
		say_solution(words, &f->solutions[i], i ? &f->solutions[0] : &right);
		icrc_append(f->text, "%s%s", i ? "; the same here as: " : "the CRC has other parameters: ", words);
	}
	icrc_append_share(f, s);
	f->asks = mistake_asks_all;
	icrc_append(f->fix, "as CRC RevEng writes it, the ICRC is ");
	append_parameters(f->fix, &right);
	icrc_append(f->fix, "; yours is ");
	append_parameters(f->fix, &f->solutions[0]);
}

bool icrc_report_solved(struct icrc_sender *s)
{
	struct solve_packet packets[SOLVED_OF];
	struct solution solutions[SOLUTIONS_MOST];
	size_t count = gather(s, packets);
	__u32 different;
	struct finding *f;
	int found;

	if (count < FINDING_PACKETS || *s->solved == SOLVED_SENDERS)
		return true;
	++*s->solved;
	found = solve(packets, count, solutions);
	if (!found || solution_is_right(&solutions[0]))
		return true;
	different = choose(s, &solutions[0]);
	f = icrc_add_finding(s, different >= FINDING_PACKETS, WEIGHT_MISTAKE);
	if (!f)
		return false;
	f->solution_count = found;
	memcpy(f->solutions, solutions, found * sizeof(*solutions));
	write_texts(f, s);
	return true;
}
