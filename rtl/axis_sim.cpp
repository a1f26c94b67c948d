// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Runs frames through a core with one AXI-Stream input and one output (docs/rtl.md). Verilator makes Vtop.h of the core
// (--prefix Vtop). Its ports are those of icrc_insert.v; for other names there are macros, of HLS's Verilog for example
// (AXIS_RESET_LOW: a reset that is active low; AXIS_UPPER: rx_TDATA, not rx_tdata). AXIS_SETUP gives other inputs their values,
// which are 0 without it: -DAXIS_SETUP='top.s_axis_tuser=2'.
//
//     -CFLAGS '-DAXIS_CLOCK=ap_clk -DAXIS_RESET_LOW=ap_rst_n -DAXIS_IN=rx -DAXIS_OUT=tx -DAXIS_UPPER'
#include <climits>
#include <memory>

#include <getopt.h>

#include "Vtop.h"
#include "verilated.h"
#if VM_TRACE
#include "verilated_vcd_c.h"
#endif

#include "axis_bridge.h"

#ifndef AXIS_CLOCK
#define AXIS_CLOCK clk
#endif
#ifndef AXIS_RESET
#define AXIS_RESET rst
#endif
#ifndef AXIS_IN
#define AXIS_IN s_axis
#endif
#ifndef AXIS_OUT
#define AXIS_OUT m_axis
#endif
#ifdef AXIS_UPPER
#define NAMED(port) top.port##_TDATA, top.port##_TKEEP, top.port##_TVALID, top.port##_TREADY, top.port##_TLAST
#else
#define NAMED(port) top.port##_tdata, top.port##_tkeep, top.port##_tvalid, top.port##_tready, top.port##_tlast
#endif
#define STREAM(port) NAMED(port)

static const char usage[] =
	"usage: %s [--pause P] [--pause-in P] [--pause-out P] [--seed N] [--gap N] [--skip N] [--cut N] [--vcd FILE]\n"
	"       [+PARAMETER=VALUE]... [IN [OUT]]\n"
	"\n"
	"Runs frames through a simulated core. IN and OUT: a capture file, - (standard input and output: the default), or\n"
	"tap:NAME.\n"
	"\n"
	"  --pause-in P   the input pauses in a part P of the cycles (0 to 0.99), drawn at random (0)\n"
	"  --pause-out P  the output pauses: back-pressure (0)\n"
	"  --pause P      both\n"
	"  --seed N       what is drawn (1)\n"
	"  --gap N        idle cycles between two frames of the input, at least (0)\n"
	"  --skip N       leaves out the first N bytes of each frame on its way in, and puts them back: 14 for a core that begins\n"
	"                 at the IP header (0)\n"
	"  --cut N        leaves out the last N bytes of each frame on its way in: 4 for a core that appends the ICRC (0)\n"
	"  --vcd FILE     the waves of all signals, for GTKWave: of a core that was built with `verilator --trace`\n"
	"  +NAME=VALUE    a parameter of the core that reads it by $value$plusargs: +INIT=0\n";

/* The values of all signals, in a file. */
class waves {
public:
#if VM_TRACE
	waves(Vtop &top, const char *path)
	{
		if (!path)
			return;
		Verilated::traceEverOn(true);
		top.trace(&file(), 99);
		file().set_time_unit("1ns");
		file().set_time_resolution("1ns");
		file().open(path);
		if (!file().isOpen())
			axis::die("%s: %s", path, strerror(errno));
	}

	/* ns: simulated time. */
	void dump(uint64_t ns)
	{
		if (file().isOpen())
			file().dump(ns);
	}

private:
	/* At exit() as well it is written to its end: there one looks for what was wrong. */
	static VerilatedVcdC &file()
	{
		static VerilatedVcdC file;
		return file;
	}
#else
	waves(Vtop &, const char *path)
	{
		if (path)
			axis::die("--vcd: this core was built without `verilator --trace`");
	}

	void dump(uint64_t) {}
#endif
};

int main(int argc, char **argv)
{
	static const option options[] = { { "pause", 1, nullptr, 'p' }, { "pause-in", 1, nullptr, 'i' },
					  { "pause-out", 1, nullptr, 'o' }, { "seed", 1, nullptr, 's' },
					  { "gap", 1, nullptr, 'g' }, { "skip", 1, nullptr, 'k' },
					  { "cut", 1, nullptr, 'c' }, { "vcd", 1, nullptr, 'v' },
					  { "help", 0, nullptr, 'h' }, {} };
	std::vector<const char *> places;
	const char *vcd = nullptr;
	double pause_in = 0, pause_out = 0, seed = 1, gap = 0, skip = 0, cut = 0;
	int letter;

	Verilated::commandArgs(argc, argv);
	while ((letter = getopt_long(argc, argv, "h", options, nullptr)) != -1)
		switch (letter) {
		case 'p':
			pause_in = pause_out = axis::number(optarg, "pause", 0.99);
			break;
		case 'i':
			pause_in = axis::number(optarg, "pause-in", 0.99);
			break;
		case 'o':
			pause_out = axis::number(optarg, "pause-out", 0.99);
			break;
		case 's':
			seed = axis::number(optarg, "seed", INT_MAX);
			break;
		case 'g':
			gap = axis::number(optarg, "gap", 1000000);
			break;
		case 'k':
			skip = axis::number(optarg, "skip", 64);
			break;
		case 'c':
			cut = axis::number(optarg, "cut", 64);
			break;
		case 'v':
			vcd = optarg;
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
	axis::trimmed frames(*from, *to, skip, cut);
	Vtop top;
	axis::source in(STREAM(AXIS_IN), frames);
	axis::sink out(STREAM(AXIS_OUT), frames);

#ifdef AXIS_SETUP
	AXIS_SETUP;
#endif
	in.pause = axis::pauses(seed);
	in.pause.of = pause_in;
	in.gap = gap;
	out.pause = axis::pauses(seed + 1);
	out.pause.of = pause_out;
	out.whole.shortest = skip < 14 ? 14 - skip : 1;

	waves shown(top, vcd);
	uint64_t cycle = 0;
	for (; axis::moves(in, out, cycle); cycle++) {
		bool reset = cycle < 8;

#ifdef AXIS_RESET_LOW
		top.AXIS_RESET_LOW = !reset;
#else
		top.AXIS_RESET = reset;
#endif
		if (!reset) {
			in.drive(std::min(in.idle, out.idle) > 1000);
			out.drive();
		}
		top.eval();
		if (!reset) {
			in.sample();
			out.sample(cycle);
		}
		shown.dump(cycle * out.cycle_ns);
		top.AXIS_CLOCK = 1;
		top.eval();
		shown.dump(cycle * out.cycle_ns + out.cycle_ns / 2);
		top.AXIS_CLOCK = 0;
	}
	top.final();
	fprintf(stderr, "%ju frames in, %ju out, %ju cycles\n", (uintmax_t)in.frames, (uintmax_t)out.whole.frames,
		(uintmax_t)cycle - axis::patience);
	out.whole.check_end(in.frames, cycle);
	frames.tell_left();
	return 0;
}
