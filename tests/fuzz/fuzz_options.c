// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Options with whatever values. A mistake ends the command (here: the input) with exit status 1 or 2. Of a plan of `send` the
 * packets are made as well.
 * Input: the command (1 byte), then one option a line without dashes, as in a plan file; behind a 0, what any other file contains.
 */
#include <setjmp.h>

#include "tests/fuzz/engine.h"
#include "userspace/command/commands.h"
#include "userspace/observe/model/filter.h"
#include "userspace/traffic/send/departure.h"
#include "userspace/traffic/send/planner.h"

#define OPTIONS_BYTES (1 << 17) /* more than the struct of any command */
#define QPS_FEW 64
#define PACKETS_FEW 100 /* twice as many have room in CELLS, with nobody to consume them */
#define OPEN_FILES 4

int LLVMFuzzerInitialize(int *argc, char ***argv);
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
int __real_fclose(FILE *f);
int __wrap_fclose(FILE *f);
void __real_exit(int status) __attribute__((noreturn));
void __wrap_exit(int status) __attribute__((noreturn));
int __lsan_is_turned_off(void);

static const struct command *const commands[] = {
	&send_command, &monitor_command, &analyze_command, &capture_command, &doctor_command, &receive_command, &path_command,
	&between_command, &compare_command,
};

static const char *plan, *other; /* the contents of files */
static jmp_buf at_exit;
static bool inside; /* of the command */
static FILE *opened[OPEN_FILES];

/* ---- the world around the command: no file of this machine is opened (ld --wrap) ---- */

FILE *__wrap_fopen(const char *path, const char *mode)
{
	const char *text = strcmp(path, "plan") ? other : plan;
	FILE *f;

	if (!inside)
		return __real_fopen(path, mode);
	f = fmemopen((char *)text, strlen(text), mode);
	for (size_t i = 0; f && i < OPEN_FILES; i++)
		if (!opened[i]) {
			opened[i] = f;
			return f;
		}
	must(!f);
	return NULL;
}

int __wrap_fclose(FILE *f)
{
	for (size_t i = 0; i < OPEN_FILES; i++)
		if (opened[i] == f)
			opened[i] = NULL;
	return __real_fclose(f);
}

void __wrap_exit(int status)
{
	if (!inside)
		__real_exit(status);
	must(status == EXIT_USAGE || status == EXIT_COULD_NOT || status == EXIT_RAN);
	longjmp(at_exit, 1);
}

/* A command that ends need not free. */
int __lsan_is_turned_off(void)
{
	return 1;
}

/* ---- a plan of `send` ---- */

static bool is_small(const struct send_plan *p)
{
	return p->qps <= QPS_FEW && p->message <= (uint64_t)p->mtu * PACKETS_FEW;
}

/* A frame is what the plan says it can be at most. Without faults it is a packet whose ICRC is right. */
static void check_frame(const struct send_plan *p, const struct send_memory *m, const struct slot *s)
{
	static __u8 frame[CELL_BYTES + ROCE_WINDOW_BYTES];
	static const struct roce_ports none;
	struct roce_packet packet;

	must(s->header_bytes <= SLOT_HEADERS && s->frame_bytes >= SLOT_TAIL && s->frame_bytes <= plan_longest_frame(p));
	must(s->header_bytes + s->payload_bytes <= s->frame_bytes && s->payload + s->payload_bytes <= sizeof(m->payload));
	departure_frame(m, s, frame);
	if (p->fault_count)
		return;
	engine_parse(frame, s->frame_bytes, s->frame_bytes, &none, &packet);
	must(packet.kind == ROCE_PACKET && icrc_end(&packet) == s->frame_bytes);
	must(engine_icrc_is_good(frame, s->frame_bytes, &packet, false));
}

static void make_packets(struct send_plan *p)
{
	static struct send_memory memory;
	uint64_t most = PACKETS_FEW / (p->message ? (p->message + p->mtu - 1) / p->mtu : 1);
	struct planner *planner;

	if (!p->messages || p->messages > most)
		p->messages = most;
	memory.produced = memory.ended = 0;
	planner = planner_new(p, &memory);
	planner_run(planner);
	must(memory.ended && memory.produced <= 2 * PACKETS_FEW);
	for (uint64_t i = 0; i < memory.produced; i++)
		check_frame(p, &memory, &memory.ring[i]);
	planner_free(planner);
}

/* As options_parse_send() does it, but for a command line, of which there is none. */
static void parse_plan(struct send_options *o)
{
	char *nothing[] = { "send", NULL };
	struct option_parser p = { .command = &send_command, .options = o, .to = o };

	command_parse(&send_command, o, 1, nothing);
	option_parse(&p, "write", "file");
	option_parse(&p, "messages", "9");
	for_each_option(&send_command, t, e)
		if (!strcmp(e->name, "plan"))
			e->take(&p, e, "plan");
	if (o->plan.qps <= QPS_FEW)
		options_complete(o);
}

static void send(void)
{
	static struct send_options o;

	if (!setjmp(at_exit)) {
		parse_plan(&o);
		if (is_small(&o.plan) && plan_longest_frame(&o.plan) <= CELL_BYTES)
			make_packets(&o.plan);
	}
	options_free(&o);
}

/* ---- other commands ---- */

static void parse_line(struct option_parser *p, char *line)
{
	char *value = strchr(line, ' ');

	p->line++;
	if (value)
		*value++ = 0;
	option_parse(p, line, value);
}

static void parse_all(const struct command *c, char *text)
{
	static _Alignas(16) char options[OPTIONS_BYTES];
	char *arguments[] = { (char *)c->name, NULL }, *rest = text, *line;
	struct option_parser p = { .command = c, .options = options, .path = "options" };

	memset(options, 0, sizeof(options));
	if (!setjmp(at_exit)) {
		command_parse(c, options, 1, arguments);
		while ((line = strsep(&rest, "\n")))
			parse_line(&p, line);
	}
	for_each_option(c, t, e)
		if (!strcmp(e->name, "filter"))
			filter_free(*(struct filter **)(options + t->at + e->at));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	stderr = stdout = fopen("/dev/null", "w"); /* where mistakes are told, and presets listed */
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = size ? malloc(size + 1) : NULL;
	const struct command *c;
	size_t length;

	if (!text)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = text[size] = 0;
	length = strlen(text);
	plan = text;
	other = text + (length < size - 1 ? length + 1 : length);
	c = commands[data[0] % ROCE_ARRAY_SIZE(commands)];
	inside = true;
	if (c == &send_command)
		send();
	else
		parse_all(c, text);
	inside = false;
	for (size_t i = 0; i < OPEN_FILES; i++)
		if (opened[i])
			fclose(opened[i]);
	free(text);
	return 0;
}
