// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "userspace/render/screen/format.h"

void format_count(char to[CELL], __u64 n)
{
	static const char units[] = "MGTPE";
	double m = n / 1e6;
	int unit = 0;

	if (n < 10000000) {
		snprintf(to, CELL, "%llu", n);
		return;
	}
	for (; m >= 999.95 && unit < 4; unit++)
		m /= 1e3;
	snprintf(to, CELL, "%.*f%c", m < 9.9995 ? 3 : m < 99.995 ? 2 : 1, m, units[unit]);
}

/* Digits behind the point of which the last one says something of a number that is known so exactly. Almost 1 is 1. */
static int digits_known(double known)
{
	return known > 0 ? ceil(-log10(known) - 0.05) : 9;
}

void format_rate(char to[CELL], double rate, double known)
{
	static const char units[] = "\0kMGTPE";
	int unit = 0, digits, most;

	if (rate < 0.0005) {
		strcpy(to, "0");
		return;
	}
	for (; rate >= 999.95 && unit < 6; unit++) {
		rate /= 1e3;
		known /= 1e3;
	}
	most = rate < 9.9995 ? 3 : rate < 99.995 ? 2 : 1;
	digits = digits_known(known);
	digits = digits < 0 ? 0 : digits > most ? most : digits;
	snprintf(to, CELL, "%.*f%.1s", digits, fmin(rate, 999.9), units + unit);
}

void format_ago(char to[CELL], double seconds)
{
	static const struct {
		double seconds;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (seconds < units[i].seconds)
			continue;
		snprintf(to, CELL, "%.0f%c", fmin(floor(seconds / units[i].seconds), 999), units[i].unit);
		return;
	}
	snprintf(to, CELL, "now");
}

void format_clock(char to[CELL], double seconds)
{
	unsigned long long s = seconds;

	snprintf(to, CELL, "%llu:%02llu:%02llu", s / 3600, s / 60 % 60, s % 60);
}

void format_time(char to[CELL], __u64 ns)
{
	time_t seconds = ns / 1000000000;
	struct tm tm;

	localtime_r(&seconds, &tm);
	snprintf(to, CELL, "%02d:%02d:%02d.%03llu", tm.tm_hour, tm.tm_min, tm.tm_sec, ns % 1000000000 / 1000000);
}

void format_latency(char to[CELL], __u64 ns)
{
	if (ns < 1000)
		snprintf(to, CELL, "%llu ns", ns);
	else if (ns < 1000000)
		snprintf(to, CELL, "%.*f us", ns < 99950 ? 1 : 0, ns / 1e3);
	else if (ns < 1000000000)
		snprintf(to, CELL, "%.*f ms", ns < 99950000 ? 2 : 1, ns / 1e6);
	else
		snprintf(to, CELL, "%.2f s", ns / 1e9);
}

void format_bytes(char to[CELL], __u64 bytes)
{
	static const char units[] = "KMGTPE";
	double b = bytes / 1024.0;
	int unit = 0;

	if (bytes < 1024) {
		snprintf(to, CELL, "%llu B", bytes);
		return;
	}
	for (; b >= 1023.95 && unit < 5; unit++)
		b /= 1024;
	snprintf(to, CELL, "%.1f %ciB", b, units[unit]);
}

/* ---- bars ---- */

void spark_add(struct spark *s, double sample)
{
	s->sample[s->count++ % SPARK_SAMPLES] = sample;
}

double spark_levels(const struct spark *s, size_t cells, __u8 *level)
{
	size_t shown = s->count < cells ? s->count : cells;
	double most = 0;

	if (shown > SPARK_SAMPLES)
		shown = SPARK_SAMPLES;
	for (size_t i = 0; i < shown; i++)
		most = fmax(most, s->sample[(s->count - 1 - i) % SPARK_SAMPLES]);
	memset(level, 0, cells);
	for (size_t i = 0; i < shown; i++) {
		double sample = s->sample[(s->count - 1 - i) % SPARK_SAMPLES];

		level[cells - 1 - i] = sample > 0 ? 2 + fmin(floor(sample / most * 7), 6) : 1;
	}
	return most;
}

double spark_text(const struct spark *s, size_t cells, bool utf8, char *to)
{
	static const char *const blocks[SPARK_LEVELS] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char ascii[] = " _.:-=+*#";
	__u8 level[SPARK_SAMPLES];
	double most;

	if (cells > SPARK_SAMPLES)
		cells = SPARK_SAMPLES;
	most = spark_levels(s, cells, level);
	*to = '\0';
	for (size_t i = 0; i < cells; i++)
		to += utf8 ? sprintf(to, "%s", blocks[level[i]]) : sprintf(to, "%c", ascii[level[i]]);
	return most;
}
