// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "roce/dialogue/dialogue.h"
#include "userspace/render/prometheus/dialogues.h"
#include "userspace/render/prometheus/memory.h"
#include "userspace/render/prometheus/text.h"

#define NAME 64

static const char *const causes[DIALOGUE_CAUSES] = {
	[DIALOGUE_NAK] = "nak", [DIALOGUE_RNR] = "rnr", [DIALOGUE_GAP] = "gap", [DIALOGUE_TIMEOUT] = "timeout",
};

/* One number of a dialogue. */
static const struct number {
	const char *name, *type, *help;
	size_t offset;
	size_t bytes;
	bool time; /* in ns */
} numbers[] = {
#define NUMBER(name, type, field, time, help) \
	{ name, type, help, offsetof(struct roce_dialogue, field), sizeof(((struct roce_dialogue *)0)->field), time }
	NUMBER("outstanding", "gauge", outstanding, false, "PSNs sent and not answered"),
	NUMBER("outstanding_most", "gauge", outstanding_most, false,
	       "most PSNs that ever were sent and not answered at a time"),
	NUMBER("reads", "gauge", reads, false, "READs and atomics sent and not answered"),
	NUMBER("reads_most", "gauge", reads_most, false,
	       "most READs and atomics that ever were sent and not answered at a time"),
	NUMBER("waiting_seconds_total", "counter", waiting_ns, true, "time in which something was outstanding"),
	NUMBER("full_seconds_total", "counter", full_ns, true,
	       "of that, time in which as much was outstanding as ever and nothing more was sent"),
	NUMBER("back_packets_total", "counter", back_packets, false, "packets sent again by going back"),
#undef NUMBER
};

static __u64 value_of(const struct roce_dialogue *d, const struct number *n)
{
	const void *at = (const char *)d + n->offset;

	return n->bytes == sizeof(__u32) ? *(const __u32 *)at : *(const __u64 *)at;
}

static void write_number(FILE *out, const char *prefix, const struct number *n, const struct dialogue_series *series,
			 size_t count)
{
	char name[NAME];

	snprintf(name, sizeof(name), "%s%s", prefix, n->name);
	text_family(out, name, n->type, n->help);
	for (size_t i = 0; i < count; i++)
		if (series[i].dialogue)
			(n->time ? text_seconds : text_count)(out, name, series[i].labels, value_of(series[i].dialogue, n));
}

/* offset: of the counters in a dialogue. */
static void write_causes(FILE *out, const char *prefix, const char *what, const char *help, size_t offset,
			 const struct dialogue_series *series, size_t count)
{
	char name[NAME];

	snprintf(name, sizeof(name), "%s%s", prefix, what);
	text_family(out, name, "counter", help);
	for (size_t i = 0; i < count; i++) {
		for (int c = 0; series[i].dialogue && c < DIALOGUE_CAUSES; c++) {
			struct text_labels l;

			snprintf(l.text, sizeof(l.text), "%s", series[i].labels);
			text_label(&l, "cause", causes[c]);
			text_count(out, name, l.text, ((const __u64 *)((const char *)series[i].dialogue + offset))[c]);
		}
	}
}

/* Writes cumulative buckets, as Prometheus wants them. The last bucket has no upper bound. */
static void write_latency(FILE *out, const char *name, const char *labels, const struct roce_latency *latency, int merged)
{
	const char *comma = *labels ? "," : "", *open = *labels ? "{" : "", *close = *labels ? "}" : "";
	__u64 count = 0;

	for (int i = 0; i < DIALOGUE_BUCKETS; i++) {
		count += latency->bucket[i];
		if (i % merged == merged - 1 && i < DIALOGUE_BUCKETS - 1)
			fprintf(out, "rocescope_%s_bucket{%s%sle=\"%.10g\"} %llu\n", name, labels, comma,
				dialogue_bucket(i + 1) / 1e9, count);
	}
	fprintf(out, "rocescope_%s_bucket{%s%sle=\"+Inf\"} %llu\n", name, labels, comma, count);
	fprintf(out, "rocescope_%s_sum%s%s%s %.9f\n", name, open, labels, close, latency->sum / 1e9);
	fprintf(out, "rocescope_%s_count%s%s%s %llu\n", name, open, labels, close, count);
}

static void write_latencies(FILE *out, const char *prefix, const char *what, size_t offset, const char *help,
			    const struct dialogue_series *series, size_t count, int merged)
{
	char name[NAME];

	snprintf(name, sizeof(name), "%s%s_seconds", prefix, what);
	text_family(out, name, "histogram", help);
	for (size_t i = 0; i < count; i++)
		if (series[i].dialogue)
			write_latency(out, name, series[i].labels, (const void *)((const char *)series[i].dialogue + offset),
				      merged);
}

void dialogues_write(FILE *out, const char *prefix, const struct dialogue_series *series, size_t count, int merged)
{
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(numbers); i++)
		write_number(out, prefix, &numbers[i], series, count);
	write_causes(out, prefix, "back_total", "times a requester went back to send again, by what made it do so",
		     offsetof(struct roce_dialogue, back), series, count);
	write_causes(out, prefix, "selective_total", "single packets that a requester sent again, by what made it do so",
		     offsetof(struct roce_dialogue, selective), series, count);
	write_latencies(out, prefix, "ack", offsetof(struct roce_dialogue, ack),
			"from a request that asks for an acknowledgement to what acknowledges it", series, count, merged);
	write_latencies(out, prefix, "read", offsetof(struct roce_dialogue, read),
			"from a READ or atomic request to its first response packet", series, count, merged);
}

/* ---- all of them ---- */

static void add_latency(struct roce_latency *to, const struct roce_latency *from)
{
	to->sum += from->sum;
	for (int i = 0; i < DIALOGUE_BUCKETS; i++)
		to->bucket[i] += from->bucket[i];
}

static __u32 more(__u32 a, __u32 b)
{
	return a > b ? a : b;
}

static void add(struct roce_dialogue *to, const struct roce_dialogue *from)
{
	to->outstanding += from->outstanding;
	to->outstanding_most = more(to->outstanding_most, from->outstanding_most);
	to->reads += from->reads;
	to->reads_most = more(to->reads_most, from->reads_most);
	to->waiting_ns += from->waiting_ns;
	to->full_ns += from->full_ns;
	for (int c = 0; c < DIALOGUE_CAUSES; c++)
		to->back[c] += from->back[c];
	for (int c = 0; c < DIALOGUE_CAUSES; c++)
		to->selective[c] += from->selective[c];
	to->back_packets += from->back_packets;
	add_latency(&to->ack, &from->ack);
	add_latency(&to->read, &from->read);
}

static void remember(struct metrics_memory *memory, struct roce_dialogue *sum)
{
	__u64 *rising = &sum->waiting_ns;

	for (size_t i = 0; i < ROCE_ARRAY_SIZE(memory->dialogue); i++)
		rising[i] = memory_add(&memory->dialogue[i], rising[i]);
}

void dialogues_write_totals(FILE *out, const struct snapshot *s, struct metrics_memory *memory)
{
	struct roce_dialogue sum = { 0 };
	struct dialogue_series all = { .dialogue = &sum, .labels = "" };
	size_t count = 0;

	for (size_t i = 0; i < s->stream_count; i++) {
		if (!s->streams[i].dialogue)
			continue;
		add(&sum, s->streams[i].dialogue);
		count++;
	}
	if (memory)
		remember(memory, &sum);
	if (!count)
		return;
	text_gauge(out, "dialogues", "request streams whose responses are seen as well", count);
	dialogues_write(out, "", &all, 1, 1);
}
