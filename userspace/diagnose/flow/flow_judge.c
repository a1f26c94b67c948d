// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdarg.h>
#include <string.h>

#include "userspace/diagnose/flow/flow_judge.h"
#include "userspace/observe/model/udp_ports.h"

#define STEPS_LEAST 8 /* between datagrams, to tell how the number counts */
#define STEP_CERTAIN 16 /* a loss is not N - 1 of N datagrams, each time, from here on */
#define SAME_LEAST 16 /* so many equal datagrams one after the other are no duplicates of one */

void flow_say(struct symptom *symptom, const char *format, ...)
{
	size_t length = strlen(symptom->figures);
	va_list more;

	if (length && length < sizeof(symptom->figures) - 1)
		symptom->figures[length++] = ' ';
	va_start(more, format);
	vsnprintf(symptom->figures + length, sizeof(symptom->figures) - length, format, more);
	va_end(more);
}

/* "`--udp 5000,seq=64:32:le,step=2048`" */
struct option_text {
	char text[160];
};

static struct option_text option(const struct flow *w, const struct roce_udp_format *f)
{
	struct option_text t;

	SAY(t.text, "`--udp %u,%s`", w->key.port, udp_format_text(f).text);
	return t;
}

struct symptom *flow_symptom(struct flow *w, enum finding_kind kind, const struct udp_field *number, size_t packets)
{
	struct symptom *symptom = symptoms_get(&w->symptoms, kind);
	__u64 value;

	if (!symptom)
		return NULL;
	symptom->packets = packets;
	for (size_t i = 0; i < w->sample.count && symptom->shown < FINDING_EVIDENCE; i++) {
		struct evidence *e = &symptom->evidence[symptom->shown++];

		e->frame = w->sample.heads[i].frame;
		if (number->bits && sample_value(&w->sample.heads[i], number, &value))
			SAY(e->found, "%llu (0x%llx)", value, value);
	}
	return symptom;
}

/* "bytes 8 to 11, least significant first, go up by 1" */
struct field_text {
	char text[96];
};

static struct field_text describe(const struct udp_field *field, const struct stride *s)
{
	struct field_text t;
	bool back;
	__u64 size = stride_size(s, &back);

	SAY(t.text, "bytes %u to %u, %s significant first, go %s by %llu", field->at / 8, (field->at + field->bits) / 8 - 1,
	    field->little ? "least" : "most", back ? "down" : "up", size);
	return t;
}

bool flow_say_counter(struct flow *w, const struct roce_udp_format *f, struct symptom *symptom)
{
	struct roce_udp_format other = { .kind = UDP_NUMBER };
	struct stride stride;
	bool back;

	if (!udp_format_named(f)) /* the flow's fields are told */
		memcpy(other.stream, f->stream, sizeof(other.stream));
	if (!sample_find_counter(&w->sample, &other.number, &stride))
		return false;
	other.step = stride_size(&stride, &back);
	flow_say(symptom, "But %s%s%s.", describe(&other.number, &stride).text, back ? "" : ": ",
		 back ? "" : option(w, &other).text);
	return !back;
}

static bool is_whole(const struct udp_field *f)
{
	return !(f->at % 8) && !(f->bits % 8) && f->bits > 8;
}

/* The number counts in the other byte order only, or more plainly. */
static bool judge_order(struct flow *w, const struct roce_udp_format *f, const struct stride *told)
{
	struct roce_udp_format other = *f;
	struct stride s;
	struct symptom *symptom;
	bool back, ignored;

	if (!is_whole(&f->number))
		return false;
	other.number.little = !f->number.little;
	s = sample_stride(&w->sample, &other.number, f->step);
	if (!stride_is_regular(&s, 6) || s.right < told->right ||
	    (s.right == told->right && stride_size(&s, &back) >= stride_size(told, &ignored)))
		return false;
	symptom = flow_symptom(w, KIND_flow_byte_order, &f->number, s.right);
	if (!symptom)
		return true;
	other.step = stride_size(&s, &back);
	flow_say(symptom, "Read so, %s: %s.", describe(&other.number, &s).text, option(w, &other).text);
	/* without a carry, a large step that is told wrong looks the same */
	symptom->doubted = s.right == told->right && s.by != f->step;
	return true;
}

static bool judge_mixed(struct flow *w, const struct roce_udp_format *f)
{
	struct udp_field field;
	struct symptom *symptom;

	if (!sample_find_separator(&w->sample, &f->number, f->step, &field))
		return false;
	symptom = flow_symptom(w, KIND_flow_mixed, &f->number, w->sample.count);
	if (symptom)
		flow_say(symptom, "The %u bits from bit %u on tell them apart: stream=%u:%u.", field.bits, field.at, field.at,
			 field.bits);
	return true;
}

static void judge_constant(struct flow *w, const struct roce_udp_format *f, const struct stride *told)
{
	struct symptom *symptom = flow_symptom(w, KIND_flow_constant, &f->number, told->still);

	if (!symptom)
		return;
	flow_say(symptom, "It changes in %zu of %zu steps.", told->steps - told->still, told->steps);
	flow_say_counter(w, f, symptom);
}

static void judge_step(struct flow *w, const struct roce_udp_format *f, const struct stride *told)
{
	struct symptom *symptom = flow_symptom(w, KIND_flow_step, &f->number, told->right);
	struct roce_udp_format other = *f;
	bool back;
	__u64 size = stride_size(told, &back);

	if (!symptom)
		return;
	other.step = size;
	symptom->doubted = !back && !(size % f->step) && size / f->step < STEP_CERTAIN;
	flow_say(symptom, "In %zu of %zu steps the number goes %s by %llu, not by %llu%s%s.", told->right, told->steps,
		 back ? "down" : "up", size, f->step, back ? "" : ": ", back ? "" : option(w, &other).text);
	if (symptom->doubted)
		flow_say(symptom, "Or %llu of %llu datagrams are missing, each time: they may take another way.",
			 size / f->step - 1, size / f->step);
}

static void judge_offset(struct flow *w, const struct roce_udp_format *f, const struct stride *told)
{
	struct symptom *symptom = flow_symptom(w, KIND_flow_offset, &f->number, told->steps);

	if (!symptom)
		return;
	flow_say(symptom, "Of %zu steps %zu are equal, and %zu no larger than a loss.", told->steps, told->right, told->near);
	symptom->doubted = !flow_say_counter(w, f, symptom);
}

/* Datagrams that are all the same: the number is constant, or one datagram comes again and again. */
static void judge_same(struct flow *w, const struct roce_udp_format *f)
{
	struct symptom *symptom;

	if (w->sample.count < SAME_LEAST)
		return;
	symptom = flow_symptom(w, KIND_flow_constant, &f->number, w->sample.count);
	if (!symptom)
		return;
	symptom->doubted = true;
	flow_say(symptom, "Nothing else of them changes: it may be one datagram, which comes %zu times.", w->sample.count);
}

/* What is told of a number that is one field. */
static void judge_number(struct flow *w, const struct roce_udp_format *f)
{
	struct stride told = sample_stride(&w->sample, &f->number, f->step);

	if (!told.steps)
		judge_same(w, f);
	if (told.steps < STEPS_LEAST || (told.by == f->step && 2 * told.right >= told.steps) || judge_order(w, f, &told))
		return;
	if (4 * told.right < 3 * told.steps && judge_mixed(w, f))
		return;
	if (2 * told.still >= told.steps)
		judge_constant(w, f, &told);
	else if (stride_is_regular(&told, 6))
		judge_step(w, f, &told);
	else if (4 * told.near < 3 * told.steps)
		judge_offset(w, f, &told);
}

/* Of numbers that need more than a field: whether anything counts at all. */
static void judge_still(struct flow *w, const struct udp_field *field)
{
	struct stride s = sample_stride(&w->sample, field, 1);
	struct symptom *symptom;

	if (s.steps < STEPS_LEAST || 8 * s.still < 7 * s.steps)
		return;
	symptom = flow_symptom(w, KIND_flow_constant, field, s.still);
	if (symptom)
		flow_say(symptom, "It changes in %zu of %zu steps.", s.steps - s.still, s.steps);
}

/* Of SPEAD the identifiers of heaps count, where the first item is the heap's (roce/datagram/datagram.h). */
static void judge_heaps(struct flow *w, const struct roce_udp_format *f)
{
	struct roce_udp_format heaps = { .kind = UDP_HEAP, .step = f->step, .number = { .at = 80, .bits = 48 } };
	struct flow_sample *s = &w->sample;
	size_t kept = 0;
	__u64 heap, most = 0;
	struct stride told;

	for (size_t i = 0; i < s->count; i++) {
		if (roce_be16(s->heads[i].data + 8) != 0x8001 || !sample_value(&s->heads[i], &heaps.number, &heap) ||
		    (kept && heap <= most))
			continue;
		s->heads[kept++] = s->heads[i];
		most = heap;
	}
	s->count = kept;
	told = sample_stride(s, &heaps.number, f->step);
	if (told.by != f->step && stride_is_regular(&told, 6))
		judge_step(w, &heaps, &told);
}

void flow_judge(struct flow *w, const struct roce_udp_format *f)
{
	static const struct udp_field vdif = { .bits = 64, .little = 1 }; /* second and frame */

	if (f->kind == UDP_NUMBER)
		judge_number(w, f);
	else if (f->kind == UDP_SECOND)
		judge_still(w, &vdif);
	else if (f->kind == UDP_TIME)
		judge_still(w, &f->number);
	else if (f->kind == UDP_HEAP && f->step)
		judge_heaps(w, f);
}
