// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Runs frames through a core with one AXI-Stream input and one output (docs/rtl.md). Verilator makes Vtop.h of the core
// (--prefix Vtop). Its ports are those of icrc_insert.v; a core with other names changes them here.
#include <climits>
#include <memory>

#include <getopt.h>

#include "Vtop.h"
#include "verilated.h"

#include "axis_bridge.h"

static const char usage[] =
	"usage: %s [--pause P] [--seed N] [--cut N] [+PARAMETER=VALUE]... [IN [OUT]]\n"
	"\n"
	"Runs frames through a simulated core. IN and OUT: a capture file, - (standard input and output: the default), or\n"
	"tap:NAME.\n"
	"\n"
	"  --pause P   in a part P of the cycles (0 to 0.99), drawn at random, input and output pause (0)\n"
	"  --seed N    what is drawn (1)\n"
	"  --cut N     leaves out the last N bytes of each frame on its way in: 4 for a core that appends the ICRC (0)\n"
	"  +NAME=VALUE a parameter of the core that reads it by $value$plusargs: +INIT=0\n";

// A cycle has 4 ns in the times of the frames that come out: 250 MHz.
static const uint64_t cycle_ns = 4;
// As many cycles without a beat mean that nothing more will come.
static const unsigned patience = 10000;

static double number(const char *text, const char *option, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= most)) {
		fprintf(stderr, "--%s %s: a number from 0 to %g is asked for\n", option, text, most);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	static const option options[] = { { "pause", 1, nullptr, 'p' }, { "seed", 1, nullptr, 's' }, { "cut", 1, nullptr, 'c' },
					  { "help", 0, nullptr, 'h' }, {} };
	std::vector<const char *> places;
	double part = 0, seed = 1, cut = 0;
	int letter;

	Verilated::commandArgs(argc, argv);
	while ((letter = getopt_long(argc, argv, "h", options, nullptr)) != -1)
		switch (letter) {
		case 'p':
			part = number(optarg, "pause", 0.99);
			break;
		case 's':
			seed = number(optarg, "seed", INT_MAX);
			break;
		case 'c':
			cut = number(optarg, "cut", 64);
			break;
		default:
			fprintf(letter == 'h' ? stdout : stderr, usage, argv[0]);
			return letter == 'h' ? 0 : 2;
		}
	for (int i = optind; i < argc; i++)
		if (argv[i][0] != '+')
			places.push_back(argv[i]);
	if (places.size() > 2) {
		fprintf(stderr, usage, argv[0]);
		return 2;
	}
	places.resize(2, "-");

	std::unique_ptr<axis::frames_in> from(axis::open_in(places[0]));
	std::unique_ptr<axis::frames_out> to(axis::open_out(places[1]));
	Vtop top;
	axis::source in(top.s_axis_tdata, top.s_axis_tkeep, top.s_axis_tvalid, top.s_axis_tready, top.s_axis_tlast, *from);
	axis::sink out(top.m_axis_tdata, top.m_axis_tkeep, top.m_axis_tvalid, top.m_axis_tready, top.m_axis_tlast, *to);

	in.pause = axis::pauses(seed);
	out.pause = axis::pauses(seed + 1);
	in.pause.of = out.pause.of = part;
	in.cut = cut;

	uint64_t cycle = 0;
	for (unsigned idle = 0; idle < patience || !in.ended(); cycle++) {
		top.rst = cycle < 8;
		if (!top.rst) {
			in.drive(idle > 1000);
			out.drive();
		}
		top.eval();
		if (!top.rst) {
			in.sample();
			out.sample(cycle * cycle_ns);
		}
		top.clk = 1;
		top.eval();
		top.clk = 0;
		idle = std::min(in.idle, out.idle);
		if (in.stuck() && idle > patience)
			axis::die("the core takes no more: s_axis_tready is low since %u cycles (frame %ju)", patience,
				  (uintmax_t)in.frames + 1);
	}
	top.final();
	fprintf(stderr, "%ju frames in, %ju out, %ju cycles\n", (uintmax_t)in.frames, (uintmax_t)out.frames,
		(uintmax_t)cycle - patience);
	if (out.open())
		axis::die("the last frame has no end: %zu bytes, and no tlast", out.open());
	return 0;
}
