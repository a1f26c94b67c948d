/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames that go through a simulated core: captures, what a core gets of a frame, and frames made of the beats that leave it.
 * axis_bridge.h (Verilator) and hls_bridge.h (C simulation) use it (docs/rtl.md). This header needs C++11, POSIX, a
 * little-endian machine, and nothing else of this project.
 */
#ifndef AXIS_FRAMES_H
#define AXIS_FRAMES_H

#include <cerrno>
#include <cinttypes>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>
#include <vector>

#include <unistd.h>

namespace axis {

using bytes = std::vector<uint8_t>;

/* No frame is longer, neither in a capture nor out of a core. */
constexpr size_t longest_frame = 262144;

/* One line on stderr, and exit status 1. */
[[noreturn]] [[gnu::format(printf, 1, 2)]] inline void die(const char *format, ...)
{
	va_list words;

	va_start(words, format);
	vfprintf(stderr, format, words);
	va_end(words);
	fputc('\n', stderr);
	exit(1);
}

/* An option's value, from 0 to most; exit status 2: it is none. */
inline double number(const char *text, const char *option, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0 && value <= most)) {
		fprintf(stderr, "--%s %s: a number from 0 to %.10g is asked for\n", option, text, most);
		exit(2);
	}
	return value;
}

/* Where frames come from. */
struct frames_in {
	virtual ~frames_in() = default;
	/* The next frame; false: there is none now. wait: the core is idle, so it may wait for one. */
	virtual bool read(bytes &frame, bool wait) = 0;
	bool ended = false; /* there will be none */
};

/* Where frames go. ns: simulated time. */
struct frames_out {
	virtual ~frames_out() = default;
	virtual void write(const bytes &frame, uint64_t ns) = 0;
};

/* pcap or pcapng of Ethernet frames, of either byte order; "-": standard input. */
class capture_in : public frames_in {
public:
	explicit capture_in(const char *path) : path(path), file(strcmp(path, "-") ? fopen(path, "rb") : stdin)
	{
		uint32_t magic = 0;

		if (!file)
			die("%s: not a capture: %s", path, strerror(errno));
		if (file == stdin && isatty(0))
			die("frames come from a file, or through a pipe: `rocescope send -w - | ...`");
		if (fread(&magic, 1, sizeof(magic), file) < sizeof(magic))
			die("%s: not a capture: it is empty", path);
		if (magic == SECTION) {
			blocks = true;
			section();
			return;
		}
		swapped = magic == 0xd4c3b2a1 || magic == 0x4d3cb2a1;
		if (!swapped && magic != 0xa1b2c3d4 && magic != 0xa1b23c4d)
			die("%s: not a capture: neither pcap nor pcapng", path);
		check_link(u32(rest(20), 16) & 0xffff);
	}

	bool read(bytes &frame, bool) override
	{
		ended = ended || !(blocks ? read_block(frame) : read_record(frame));
		return !ended;
	}

private:
	enum : uint32_t { SECTION = 0x0a0d0d0a, INTERFACE = 1, OLD_PACKET = 2, SIMPLE_PACKET = 3, PACKET = 6 };

	/* The next `size` bytes, which have to be there. */
	bytes rest(size_t size)
	{
		bytes data(size);

		if (fread(data.data(), 1, size, file) < size)
			die("%s: it ends inside a frame: the capture was cut", path);
		return data;
	}

	uint32_t u32(const bytes &data, size_t at) const
	{
		uint32_t value;

		memcpy(&value, &data[at], sizeof(value));
		return swapped ? __builtin_bswap32(value) : value;
	}

	bool at_end()
	{
		int next = getc(file);

		ungetc(next, file);
		return next == EOF;
	}

	void check_link(unsigned type) const
	{
		if (type != 1)
			die("%s: its frames have no Ethernet header (link type %u)", path, type);
	}

	void check_lengths(uint32_t captured, uint32_t length) const
	{
		if (captured < length)
			die("%s: the capture cut a frame of %u bytes to %u: capture whole frames (tcpdump -s 0)", path, length,
			    captured);
		if (captured > longest_frame)
			die("%s: a frame of %u bytes: the file is broken", path, captured);
	}

	bool read_record(bytes &frame)
	{
		if (at_end())
			return false;

		bytes head = rest(16);

		check_lengths(u32(head, 8), u32(head, 12));
		frame = rest(u32(head, 8));
		return true;
	}

	/* What follows the first `had` bytes of a block, without its length at the end. */
	bytes block(uint32_t length, uint32_t had)
	{
		if (length < had + 4 || length % 4 || length > 2 * longest_frame)
			die("%s: a block of %u bytes: the file is broken", path, length);

		bytes body = rest(length - had);

		body.resize(body.size() - 4);
		return body;
	}

	/* The head of a section, behind its type: it says the byte order. */
	void section()
	{
		bytes head = rest(8);

		swapped = false;
		swapped = u32(head, 4) != 0x1a2b3c4d;
		if (u32(head, 4) != 0x1a2b3c4d)
			die("%s: not a capture: neither pcap nor pcapng", path);
		block(u32(head, 0), 12);
		links.clear();
	}

	bool read_block(bytes &frame)
	{
		while (!at_end()) {
			uint32_t type = u32(rest(4), 0);

			if (type == SECTION) {
				section();
				continue;
			}

			bytes body = block(u32(rest(4), 0), 8);

			if (type == INTERFACE && body.size() >= 8)
				links.push_back(swapped ? body[0] << 8 | body[1] : body[1] << 8 | body[0]);
			if (type == OLD_PACKET || type == SIMPLE_PACKET)
				die("%s: it has blocks of kind %u: make it pcap (editcap -F pcap)", path, type);
			if (type != PACKET)
				continue;
			if (body.size() < 20 || u32(body, 12) > body.size() - 20 || u32(body, 0) >= links.size())
				die("%s: a packet that does not fit its block: the file is broken", path);
			check_link(links[u32(body, 0)]);
			check_lengths(u32(body, 12), u32(body, 16));
			frame.assign(&body[20], &body[20] + u32(body, 12));
			return true;
		}
		return false;
	}

	const char *path;
	FILE *file;
	bool blocks = false;  /* pcapng */
	bool swapped = false; /* the other byte order */
	std::vector<unsigned> links;
};

/*
 * pcap; "-": standard output. Each frame leaves at once, so that the reader of a pipe sees it. What a core prints goes to
 * stderr then.
 */
class capture_out : public frames_out {
public:
	explicit capture_out(const char *path) : path(path)
	{
		/* nanoseconds, version 2.4, Ethernet */
		const uint32_t head[] = { 0xa1b23c4d, 2 | 4 << 16, 0, 0, longest_frame, 1 };

		if (strcmp(path, "-")) {
			file = fopen(path, "wb");
		} else if (isatty(1)) {
			die("frames go to a file, or through a pipe: `... | rocescope doctor -`");
		} else {
			file = fdopen(dup(1), "wb");
			fflush(stdout);
			dup2(2, 1);
		}
		if (!file)
			die("%s: %s", path, strerror(errno));
		put(head, sizeof(head));
	}

	void write(const bytes &frame, uint64_t ns) override
	{
		const uint32_t size = frame.size();
		const uint32_t head[] = { uint32_t(ns / 1000000000), uint32_t(ns % 1000000000), size, size };

		fwrite(head, sizeof(head), 1, file);
		put(frame.data(), size);
	}

private:
	void put(const void *data, size_t size)
	{
		if (fwrite(data, 1, size, file) < size || fflush(file))
			die("%s: %s", path, strerror(errno));
	}

	const char *path;
	FILE *file;
};

/*
 * Takes bytes off both ends of each frame on its way into the core. The first `skip` ones, headers that the core does not
 * know, come back in front of what leaves it: the n-th frame out gets those of the n-th frame in.
 */
class trimmed : public frames_in, public frames_out {
public:
	trimmed(frames_in &from, frames_out &to, size_t skip, size_t cut) : from(from), to(to), skip(skip), cut(cut) {}

	bool read(bytes &frame, bool wait) override
	{
		bool got = from.read(frame, wait);

		ended = from.ended;
		if (!got)
			return false;
		taken++;
		if (frame.size() <= skip + cut)
			die("input: frame %ju has %zu bytes: no %zu bytes can be left out", (uintmax_t)taken, frame.size(),
			    skip + cut);
		if (heads.size() > 100000)
			die("%zu frames went in without one that came out: --skip keeps their headers", heads.size());
		if (skip)
			heads.emplace_back(frame.begin(), frame.begin() + skip);
		frame = bytes(frame.begin() + skip, frame.end() - cut);
		return true;
	}

	void write(const bytes &frame, uint64_t ns) override
	{
		bytes whole;

		written++;
		if (skip && heads.empty())
			die("output: frame %ju, and %ju went in: --skip has no header to put in front of it",
			    (uintmax_t)written, (uintmax_t)written - 1);
		if (skip) {
			whole = heads.front();
			heads.pop_front();
		}
		whole.insert(whole.end(), frame.begin(), frame.end());
		to.write(whole, ns);
	}

	/* At the end: a line, if frames did not come out. */
	void tell_left() const
	{
		if (!heads.empty())
			fprintf(stderr, "%zu frames did not come out: behind the first of them, headers are those of others "
				"(--skip)\n", heads.size());
	}

private:
	frames_in &from;
	frames_out &to;
	size_t skip, cut;
	uint64_t taken = 0, written = 0;
	std::deque<bytes> heads;
};

/*
 * Makes frames of the beats that leave a core. Lanes are kept from 0 on without a gap, each beat but a frame's last is full,
 * and a frame ends. What breaks this ends the program with a line that says where.
 */
class joined {
public:
	bytes frame;          /* so far; behind its last beat, all of it */
	uint64_t frames = 0;  /* whole ones */
	uint64_t beats = 0;   /* of the frame that is not whole yet */
	size_t shortest = 14; /* bytes; a shorter frame is none */

	/* clock: what counts time: "cycle", "call" */
	explicit joined(const char *clock) : clock(clock) {}

	/* A beat of `width` lanes, 1 to 64, at that time. Whether it was its frame's last one. */
	bool beat(const uint8_t *lanes, unsigned width, uint64_t keep, bool last, uint64_t now)
	{
		unsigned count = __builtin_popcountll(keep);

		if (!beats)
			frame.clear();
		if (!keep)
			wrong(now, "tkeep is 0: a beat has one byte at least; tlast belongs to the last beat with bytes");
		if (keep != ~uint64_t(0) >> (64 - count))
			wrong(now, "tkeep 0x%jx: lanes from 0 on, without a gap, are asked for", (uintmax_t)keep);
		if (!last && count < width)
			wrong(now, "tkeep 0x%jx in a beat that is not the frame's last: fill it, or set tlast",
			      (uintmax_t)keep);
		frame.insert(frame.end(), lanes, lanes + count);
		if (frame.size() > longest_frame)
			wrong(now, "%zu bytes, and no tlast: set it in the last beat of each frame", frame.size());
		if (last && frame.size() < shortest)
			wrong(now, "tlast ends a frame of %zu bytes, less than an Ethernet header: is it high for one beat a "
			      "frame?%s", frame.size(), beats ? "" : " was it high in the beat before, too?");
		beats = last ? 0 : beats + 1;
		frames += last;
		return last;
	}

	/* Ends the program: a line says what is wrong with the beat that is there. */
	[[noreturn]] [[gnu::format(printf, 3, 4)]] void wrong(uint64_t now, const char *format, ...) const
	{
		va_list words;

		fprintf(stderr, "output: frame %ju, beat %ju, %s %ju: ", (uintmax_t)frames + 1, (uintmax_t)beats + 1, clock,
			(uintmax_t)now);
		va_start(words, format);
		vfprintf(stderr, format, words);
		va_end(words);
		fputc('\n', stderr);
		exit(1);
	}

	/* At the end of a run, `now`: ends the program if a frame has no end, or if none came though frames went in. */
	void check_end(uint64_t frames_in, uint64_t now) const
	{
		if (beats)
			die("output: frame %ju, beat %ju, until %s %ju: the last frame has no end: %zu bytes, and no tlast",
			    (uintmax_t)frames + 1, (uintmax_t)beats, clock, (uintmax_t)now, frame.size());
		if (frames_in && !frames)
			die("output: no beat until %s %ju: the core took %ju frames and sent none: is it out of reset, and does "
			    "it wait for a start, an address or a QP that nobody gave it?", clock, (uintmax_t)now,
			    (uintmax_t)frames_in);
		if (frames > frames_in)
			fprintf(stderr, "more frames came out than went in: is tlast high for two beats of a frame?\n");
	}

private:
	const char *clock;
};

} // namespace axis

#endif
