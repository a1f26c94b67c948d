/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames into and out of a core in C++ (HLS) in C simulation: captures or pipes at both ends of its streams (docs/rtl.md). This
 * header needs C++11 and axis_frames.h. A whole test bench:
 *
 *     int main(int argc, char **argv)
 *     {
 *             hls::stream<ap_axiu<64, 0, 0, 0>> in, out;
 *
 *             return axis::hls_main(argc, argv, in, out, [&] { my_core(in, out); });
 *     }
 *
 * A stream is any type with read(), write() and empty(). A word of it has `data`, `keep` and `last`. These are ap_uint, another
 * type with `width` and range(high, low), or a plain integer. Byte 0 of a frame is the lowest byte of data; every word but the
 * last of a frame is full. data has 64 bytes at most.
 */
#ifndef HLS_BRIDGE_H
#define HLS_BRIDGE_H

#include <csignal>
#include <utility>

#include <fcntl.h>
#include <getopt.h>
#include <sys/time.h>

#include "axis_frames.h"

namespace axis {

/* ---- bits of an ap_uint by range(), of a plain integer by shifts: the argument 0 prefers the former ---- */

template <class Bits> constexpr auto width_of(int) -> decltype(unsigned(Bits::width))
{
	return Bits::width;
}

template <class Bits> constexpr unsigned width_of(long)
{
	return 8 * sizeof(Bits);
}

/* Bits low to low + count - 1; count is 1 to 64. */
template <class Bits> auto get_bits(const Bits &bits, int low, int count, int) -> decltype(uint64_t(bits.range(0, 0)))
{
	return uint64_t(bits.range(low + count - 1, low));
}

template <class Bits> uint64_t get_bits(const Bits &bits, int low, int count, long)
{
	return uint64_t(bits >> low) & ~uint64_t(0) >> (64 - count);
}

template <class Bits> auto set_bits(Bits &bits, int low, int count, uint64_t value, int) -> decltype(bits.range(0, 0), void())
{
	bits.range(low + count - 1, low) = value;
}

template <class Bits> void set_bits(Bits &bits, int low, int count, uint64_t value, long)
{
	uint64_t lanes = ~uint64_t(0) >> (64 - count);

	bits = (bits & Bits(~(lanes << low))) | Bits(value << low);
}

/* ---- a call that does not come back ---- */

/* Looks ten times a second at the call that is going on; what it finds to be without end ends the program with a line. */
class hls_watch {
public:
	volatile uint64_t frames = 0, calls = 0;
	unsigned seconds = 10;

	static hls_watch &it()
	{
		static hls_watch watch;
		return watch;
	}

	/* From now on, calls may take `seconds`, and 256 MiB. */
	void start()
	{
		ticks = 0;
		memory = resident();
		signal(SIGALRM, [](int) { it().look(); });
		tick(100000);
	}

	void stop()
	{
		tick(0);
	}

private:
	volatile unsigned ticks = 0;
	size_t memory = 0; /* at the start, in bytes */

	static void tick(long microseconds)
	{
		const itimerval every = { { 0, microseconds }, { 0, microseconds } };

		setitimer(ITIMER_REAL, &every, nullptr);
	}

	/* Bytes of this process; 0: not known. It is called in a signal handler. */
	static size_t resident()
	{
		char text[128] = "";
		int file = open("/proc/self/statm", O_RDONLY);
		bool got = file >= 0 && ::read(file, text, sizeof(text) - 1) > 0;
		const char *second = strchr(text, ' ');

		close(file);
		return got && second ? strtoul(second, nullptr, 10) * sysconf(_SC_PAGESIZE) : 0;
	}

	void look()
	{
		ticks = ticks + 1;
		if (resident() > memory + (256 << 20))
			end("256 MiB of memory, and no end: does the core write without end in one call?");
		if (ticks >= 10 * seconds)
			end("no end: does the core read a stream that is empty, or wait for one that nobody fills? (--calls 0: "
			    "no call without a frame; --seconds N: more time)");
	}

	[[noreturn]] void end(const char *why) const
	{
		char line[512];
		int size = snprintf(line, sizeof(line), "input: frame %ju, call %ju, after %u s: %s\n", (uintmax_t)frames,
				    (uintmax_t)calls, ticks / 10, why);

		_exit(write(2, line, size) == size ? 1 : 2);
	}
};

/* ---- both ends of a core ---- */

/* Fills a core's input with whole frames. */
template <class Stream> class hls_source {
	using Word = decltype(std::declval<Stream &>().read());
	static constexpr unsigned bytes_of = width_of<decltype(Word::data)>(0) / 8;
	static_assert(bytes_of >= 1 && bytes_of <= 64, "data has 1 to 64 bytes");

public:
	uint64_t frames = 0; /* put into the stream */
	uint64_t beats = 0;  /* of the last one */

	hls_source(Stream &stream, frames_in &from) : stream(stream), from(from) {}

	/* Puts the next frame into the stream; false: there is none. */
	bool next()
	{
		bytes frame;

		if (!from.read(frame, true))
			return false;
		frames++;
		beats = 0;
		for (size_t at = 0; at < frame.size(); at += bytes_of, beats++) {
			Word word = Word();

			for (unsigned lane = 0; lane < bytes_of; lane++) {
				bool kept = at + lane < frame.size();

				/* lanes that are not kept may hold anything */
				set_bits(word.data, 8 * lane, 8, kept ? frame[at + lane] : 0xa5, 0);
				set_bits(word.keep, lane, 1, kept, 0);
			}
			word.last = at + bytes_of >= frame.size();
			stream.write(word);
		}
		return true;
	}

	/* The first beat of the last frame that is still in the stream, from 1. It takes the rest out. */
	uint64_t stuck()
	{
		uint64_t left = 0;

		for (; !stream.empty(); left++)
			stream.read();
		return beats - left + 1;
	}

private:
	Stream &stream;
	frames_in &from;
};

/* Takes a core's output, and judges it. */
template <class Stream> class hls_sink {
	using Word = decltype(std::declval<Stream &>().read());
	static constexpr unsigned bytes_of = width_of<decltype(Word::data)>(0) / 8;

public:
	joined whole{ "call" };

	hls_sink(Stream &stream, frames_out &to) : stream(stream), to(to) {}

	/* All that is in the stream; whether there was something. C simulation has no time: frames are 1 us apart. */
	bool take(uint64_t call)
	{
		bool any = !stream.empty();

		while (!stream.empty()) {
			Word word = stream.read();
			uint8_t lanes[bytes_of];
			uint64_t keep = 0;

			for (unsigned lane = 0; lane < bytes_of; lane++) {
				lanes[lane] = get_bits(word.data, 8 * lane, 8, 0);
				keep |= get_bits(word.keep, lane, 1, 0) << lane;
			}
			if (whole.beat(lanes, bytes_of, keep, word.last != 0, call))
				to.write(whole.frame, whole.frames * 1000);
		}
		return any;
	}

private:
	Stream &stream;
	frames_out &to;
};

/* ---- a run ---- */

static const char hls_usage[] =
	"usage: %s [--skip N] [--cut N] [--calls N] [--seconds N] [IN [OUT]]\n"
	"\n"
	"Runs frames through a core in C simulation. IN and OUT: a capture file, or - (standard input and output: the default).\n"
	"\n"
	"  --skip N     leaves out the first N bytes of each frame on its way in, and puts them back: 14 for a core that begins at\n"
	"               the IP header (0)\n"
	"  --cut N      leaves out the last N bytes of each frame on its way in: 4 for a core that appends the ICRC (0)\n"
	"  --calls N    behind the last frame, the core is called while frames are missing, until N calls sent nothing (1000); 0 is\n"
	"               for a core that reads without asking whether there is something\n"
	"  --seconds N  what a frame may take, at most (10)\n";

/*
 * The test bench: puts a frame into `in`, calls core() until it took it, and takes what is in `out` behind each call; the next
 * frame; and so on. Its exit status. What has no end ends the program with a line that says where.
 */
template <class In, class Out, class Core> int hls_main(int argc, char **argv, In &in, Out &out, Core core)
{
	static const option options[] = { { "skip", 1, nullptr, 'k' }, { "cut", 1, nullptr, 'c' }, { "calls", 1, nullptr, 'n' },
					  { "seconds", 1, nullptr, 's' }, { "help", 0, nullptr, 'h' }, {} };
	/* As many calls that move nothing, or that send and take nothing, mean that it goes on for ever. */
	const uint64_t patience = 10000, endless = 100000;
	double skip = 0, cut = 0, calls = 1000;
	hls_watch &watch = hls_watch::it();
	int letter;

	while ((letter = getopt_long(argc, argv, "h", options, nullptr)) != -1)
		switch (letter) {
		case 'k':
			skip = number(optarg, "skip", 64);
			break;
		case 'c':
			cut = number(optarg, "cut", 64);
			break;
		case 'n':
			calls = number(optarg, "calls", 1000000);
			break;
		case 's':
			watch.seconds = number(optarg, "seconds", 1000000);
			break;
		default:
			fprintf(letter == 'h' ? stdout : stderr, hls_usage, argv[0]);
			return letter == 'h' ? 0 : 2;
		}
	if (argc - optind > 2) {
		fprintf(stderr, hls_usage, argv[0]);
		return 2;
	}

	capture_in from(optind < argc ? argv[optind] : "-");
	capture_out to(optind + 1 < argc ? argv[optind + 1] : "-");
	trimmed frames(from, to, skip, cut);
	hls_source<In> source(in, frames);
	hls_sink<Out> sink(out, frames);
	uint64_t quiet = 0, since = 0;

	sink.whole.shortest = skip < 14 ? 14 - skip : 1;
	/* One call; quiet: calls that sent nothing; since: all calls with this frame, or behind the last one. */
	auto call = [&] {
		watch.calls = watch.calls + 1;
		core();
		quiet = sink.take(watch.calls) ? 0 : quiet + 1;
		if (++since > endless + source.beats && !quiet)
			sink.whole.wrong(watch.calls, "the core goes on sending, though it took nothing in the last %ju calls: "
					 "what goes in has to end what comes out", (uintmax_t)since);
	};

	for (; source.next(); watch.stop()) {
		watch.frames = source.frames;
		watch.start();
		for (quiet = since = 0; !in.empty();) {
			call();
			if (quiet > patience + source.beats)
				die("input: frame %ju, beat %ju, call %ju: the core takes no more: nothing moved in %ju calls",
				    (uintmax_t)source.frames, (uintmax_t)source.stuck(), (uintmax_t)watch.calls,
				    (uintmax_t)quiet);
		}
	}
	watch.start();
	for (quiet = since = 0; quiet < calls && (sink.whole.beats || sink.whole.frames < source.frames);)
		call();
	watch.stop();
	fprintf(stderr, "%ju frames in, %ju out, %ju calls\n", (uintmax_t)source.frames, (uintmax_t)sink.whole.frames,
		(uintmax_t)watch.calls);
	sink.whole.check_end(source.frames, watch.calls);
	frames.tell_left();
	return 0;
}

} // namespace axis

#endif
