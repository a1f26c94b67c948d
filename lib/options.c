// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/options.h"
#include "version.h"

#define MAX_OPTIONS	64
#define MAX_SECONDS	1e9
#define MAX_FLOWS	65535	/* the flow number has 16 bits in the stream header */

static const char common_usage[] =
	"  --size BYTES[K|M]   message; the receiver learns it from the sender      (4096)\n"
	"  --rate RATE         100Mbit (message bits a second), 2Mpps (packets)     (as fast as it goes)\n"
	"  --duration SECONDS  how long to send; a receiver ends so long after its first packet\n"
	"  --messages N        how many to send, over all flows                     (10 seconds' worth)\n"
	"  --flows N           sockets or QPs                                       (1)\n"
	"  --port N                                                                 (%u)\n"
	"  --idle SECONDS      a receiver ends after so long without a packet       (2)\n"
	"  --wait SECONDS      a receiver gives up when nothing has come so long    (30)\n"
	"  --latency           receiver: one-way times, where both ends have one clock\n"
	"  --json              print one JSON object (rocescope.stream/1)\n"
	"  --help, --version\n";

enum {
	OPT_SIZE = 1, OPT_RATE, OPT_DURATION, OPT_MESSAGES, OPT_FLOWS, OPT_PORT, OPT_IDLE, OPT_WAIT, OPT_LATENCY,
	OPT_JSON, OPT_HELP, OPT_VERSION,
};

static const struct option common[] = {
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "rate", required_argument, NULL, OPT_RATE },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "messages", required_argument, NULL, OPT_MESSAGES },
	{ "flows", required_argument, NULL, OPT_FLOWS },
	{ "port", required_argument, NULL, OPT_PORT },
	{ "idle", required_argument, NULL, OPT_IDLE },
	{ "wait", required_argument, NULL, OPT_WAIT },
	{ "latency", no_argument, NULL, OPT_LATENCY },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
};

void usage_error(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (--help tells more)\n");
	exit(2);
}

bool parse_number(const char *text, uint64_t max, uint64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end && *number <= max;
}

bool parse_whole(const char *text, uint64_t *number, char **end)
{
	bool hexadecimal = text[0] == '0' && (text[1] | 32) == 'x' && isxdigit(text[2]);

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*number = strtoull(text, end, hexadecimal ? 16 : 10);
	return !errno;
}

bool parse_size(const char *text, uint64_t *size)
{
	char *end;
	unsigned int shift = 0;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*size = strtoull(text, &end, 10);
	if (*end == 'K' || *end == 'k')
		shift = 10;
	else if (*end == 'M' || *end == 'm')
		shift = 20;
	if (errno || !*size || end[!!shift] || *size > UINT32_MAX >> shift)
		return false;
	*size <<= shift;
	return true;
}

static bool parse_positive(const char *text, double max, double *value, char **end)
{
	if ((*text < '0' || *text > '9') && *text != '.')
		return false;
	*value = strtod(text, end);
	return isfinite(*value) && *value > 0 && *value <= max;
}

bool parse_seconds(const char *text, double *seconds)
{
	char *end;

	return parse_positive(text, MAX_SECONDS, seconds, &end) && !*end;
}

bool parse_rate(const char *text, struct rate *rate)
{
	static const char prefixes[] = "kMG";
	const char *prefix;
	double scale = 1;
	char *end;

	if (!parse_positive(text, 1e15, &rate->per_second, &end) || !*end)
		return false;
	prefix = strchr(prefixes, *end == 'K' ? 'k' : *end);
	if (prefix) {
		scale = pow(1000, prefix - prefixes + 1);
		end++;
	}
	if (!strcmp(end, "bit"))
		rate->unit = RATE_BITS;
	else if (!strcmp(end, "pps"))
		rate->unit = RATE_PACKETS;
	else
		return false;
	rate->per_second *= scale;
	return true;
}

static void number_option(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	if (!parse_number(text, max, number) || *number < min)
		usage_error("--%s %s: not a number from %llu to %llu", name, text, (unsigned long long)min,
			    (unsigned long long)max);
}

static void seconds_option(const char *name, const char *text, double *seconds)
{
	if (!parse_seconds(text, seconds))
		usage_error("--%s %s: not a number of seconds above 0", name, text);
}

static void print_help(const struct stream_program *program)
{
	printf("usage: %s send|recv OPTIONS\n\n", program_invocation_short_name);
	printf(common_usage, program->port);
	printf("\n%s", program->usage);
}

static void take_common(struct stream_options *o, const struct stream_program *program, int value, const char *text)
{
	uint64_t n;

	switch (value) {
	case OPT_SIZE:
		if (!parse_size(text, &o->size))
			usage_error("--size %s: not a size in bytes (or with K or M behind)", text);
		break;
	case OPT_RATE:
		if (!parse_rate(text, &o->rate))
			usage_error("--rate %s: not a rate like 100Mbit, 1.5Gbit or 2Mpps", text);
		break;
	case OPT_DURATION:
		seconds_option("duration", text, &o->duration);
		break;
	case OPT_MESSAGES:
		number_option("messages", text, 1, UINT64_MAX >> 16, &o->messages);
		break;
	case OPT_FLOWS:
		number_option("flows", text, 1, MAX_FLOWS, &n);
		o->flows = n;
		break;
	case OPT_PORT:
		number_option("port", text, 1, 65535, &n);
		o->port = n;
		break;
	case OPT_IDLE:
		seconds_option("idle", text, &o->idle);
		break;
	case OPT_WAIT:
		seconds_option("wait", text, &o->wait);
		break;
	case OPT_LATENCY:
		o->latency = true;
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case OPT_HELP:
		print_help(program);
		exit(0);
	case OPT_VERSION:
		printf("%s %s\n", program_invocation_short_name, VERSION);
		exit(0);
	default:
		program->take(value, text);
	}
}

/* The first argument: send or recv; --help and --version do without. */
static void take_role(struct stream_options *o, int argc, char **argv)
{
	if (argc < 2)
		usage_error("say 'send' or 'recv' first");
	if (!strcmp(argv[1], "send"))
		o->send = true;
	else if (strcmp(argv[1], "recv") && strcmp(argv[1], "--help") && strcmp(argv[1], "--version"))
		usage_error("'%s': say 'send' or 'recv' first", argv[1]);
}

int options_parse(struct stream_options *o, const struct stream_program *program, int argc, char **argv)
{
	struct option all[MAX_OPTIONS] = {};
	size_t count = sizeof(common) / sizeof(common[0]);
	int value, dashes = argc;

	*o = (struct stream_options){ .size = 4096, .flows = 1, .port = program->port, .idle = 2, .wait = 30 };
	take_role(o, argc, argv);
	memcpy(all, common, sizeof(common));
	for (const struct option *own = program->own; own->name && count < MAX_OPTIONS - 1; own++)
		all[count++] = *own;
	for (int i = argc - 1; i > 0; i--)
		if (!strcmp(argv[i], "--"))
			dashes = i;

	opterr = 1;
	optind = argv[1][0] == '-' ? 1 : 2;
	while ((value = getopt_long(dashes, argv, "+", all, NULL)) != -1) {
		if (value == '?')
			exit(2);
		take_common(o, program, value, optarg);
	}
	if (optind < dashes)
		usage_error("'%s' is too much", argv[optind]);
	if (o->send && !o->duration && !o->messages)
		o->duration = 10;
	return dashes < argc ? dashes + 1 : argc;
}
