/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames into and out of a simulated core: between the AXI-Stream ports of a model that Verilator made and capture files,
 * pipes or taps (docs/rtl.md). This header needs C++17 and axis_frames.h; axis_sim.cpp uses it.
 *
 *     axis::frames_in *from = axis::open_in("-");
 *     axis::frames_out *to = axis::open_out("out.pcap");
 *     axis::source in(top.s_axis_tdata, top.s_axis_tkeep, top.s_axis_tvalid, top.s_axis_tready, top.s_axis_tlast, *from);
 *     axis::sink out(top.m_axis_tdata, top.m_axis_tkeep, top.m_axis_tvalid, top.m_axis_tready, top.m_axis_tlast, *to);
 *     uint64_t cycle;
 *     for (cycle = 0; axis::moves(in, out, cycle); cycle++) {      one clock cycle; clk is 0
 *             in.drive();                what the ports show in this cycle
 *             out.drive();
 *             top.eval();
 *             in.sample();               who took what at the rising edge
 *             out.sample(cycle);
 *             top.clk = 1, top.eval(), top.clk = 0;
 *     }
 *     out.whole.check_end(in.frames, cycle);
 *
 * Byte 0 of a frame is the lowest byte of tdata (lane 0). A beat has as many bytes as its tdata port: 8, 16, 32 or 64. Every
 * beat but the last of a frame is full. It runs on little-endian machines.
 */
#ifndef AXIS_BRIDGE_H
#define AXIS_BRIDGE_H

#include <algorithm>
#include <random>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>

#include "axis_frames.h"

namespace axis {

/* A tap interface: what the kernel sends there is read, and what is written there the kernel receives. */
class tap : public frames_in, public frames_out {
public:
	/* name: an interface that `ip tuntap add NAME mode tap` has made, and that is up. */
	explicit tap(const char *name) : name(name), fd(open("/dev/net/tun", O_RDWR | O_NONBLOCK))
	{
		ifreq request = {};

		strncpy(request.ifr_name, name, IFNAMSIZ - 1);
		request.ifr_flags = IFF_TAP | IFF_NO_PI;
		/* the ioctl would make another one, which is down */
		if (!if_nametoindex(name))
			die("tap %s: no such interface: `ip tuntap add %s mode tap && ip link set %s up`, as root", name, name,
			    name);
		if (fd < 0 || ioctl(fd, TUNSETIFF, &request))
			die("tap %s: %s", name, strerror(errno));
	}

	bool read(bytes &frame, bool wait) override
	{
		pollfd readable = { fd, POLLIN, 0 };
		ssize_t got;

		if (wait)
			poll(&readable, 1, -1);
		frame.resize(65536);
		got = ::read(fd, frame.data(), frame.size());
		if (got < 0 && errno != EAGAIN && errno != EINTR)
			die("tap %s: %s (is it up?)", name, strerror(errno));
		frame.resize(std::max<ssize_t>(got, 0));
		return got > 0;
	}

	void write(const bytes &frame, uint64_t) override
	{
		if (::write(fd, frame.data(), frame.size()) < 0)
			die("tap %s: %s (is it up?)", name, strerror(errno));
	}

private:
	const char *name;
	int fd;
};

/* place: "tap:NAME", a file, or "-". */
inline frames_in *open_in(const char *place)
{
	if (!strncmp(place, "tap:", 4))
		return new tap(place + 4);
	return new capture_in(place);
}

inline frames_out *open_out(const char *place)
{
	if (!strncmp(place, "tap:", 4))
		return new tap(place + 4);
	return new capture_out(place);
}

/* Some cycles of a port, drawn at random: a part `of` of them, 0 to 1. The same seed draws the same ones. */
class pauses {
public:
	double of = 0;
	explicit pauses(unsigned seed) : draw(seed) {}

	bool next()
	{
		return of > 0 && draw() < of * 0x1p32;
	}

private:
	std::mt19937 draw;
};

/* Drives a core's input. Once tvalid is high, the beat stays until tready takes it, as AXI-Stream asks. */
template <class Data, class Keep> class source {
public:
	pauses pause{ 1 };
	unsigned gap = 0;    /* idle cycles between two frames, at least */
	uint64_t frames = 0; /* taken by the core */
	uint64_t beats = 0;  /* taken by the core, of all frames */
	uint64_t idle = 0;   /* cycles since it took a beat */

	source(Data &tdata, Keep &tkeep, uint8_t &tvalid, const uint8_t &tready, uint8_t &tlast, frames_in &from)
		: tdata(tdata), tkeep(tkeep), tvalid(tvalid), tready(tready), tlast(tlast), from(from)
	{
	}

	/* wait: nothing moves in the core, so it may wait for a frame. */
	void drive(bool wait = false)
	{
		uint8_t lanes[sizeof(Data)];

		if (tvalid && !taken)
			return;
		tvalid = 0;
		if (rest) {
			rest--;
			return;
		}
		if ((at == frame.size() && !next(wait)) || pause.next())
			return;
		/* lanes that are not kept may hold anything */
		memset(lanes, 0xa5, sizeof(lanes));
		count = std::min(sizeof(lanes), frame.size() - at);
		memcpy(lanes, &frame[at], count);
		memcpy(&tdata, lanes, sizeof(lanes));
		tkeep = ~uint64_t(0) >> (64 - count);
		tlast = at + count == frame.size();
		tvalid = 1;
	}

	void sample()
	{
		taken = tvalid && tready;
		idle = taken ? 0 : idle + 1;
		if (taken) {
			at += count;
			beats++;
			frames += tlast;
			rest = tlast ? gap : 0;
		}
	}

	/* The core takes no more, though there is more. */
	bool stuck() const
	{
		return tvalid && !taken;
	}

	bool ended() const
	{
		return from.ended && at == frame.size();
	}

	/* The beat of the frame that waits or comes next, from 1. */
	uint64_t beat() const
	{
		return at / sizeof(Data) + 1;
	}

private:
	bool next(bool wait)
	{
		at = 0;
		if (from.read(frame, wait))
			return true;
		frame.clear();
		return false;
	}

	Data &tdata;
	Keep &tkeep;
	uint8_t &tvalid;
	const uint8_t &tready;
	uint8_t &tlast;
	frames_in &from;
	bytes frame;
	size_t at = 0, count = 0;
	unsigned rest = 0; /* idle cycles of the gap that are left */
	bool taken = true;
};

/* Takes a core's output, and judges it by the rules of AXI-Stream. */
template <class Data, class Keep> class sink {
public:
	pauses pause{ 2 };
	unsigned cycle_ns = 4; /* in the times of frames: 250 MHz */
	uint64_t idle = 0;     /* cycles since it took a beat */
	joined whole{ "cycle" };

	sink(const Data &tdata, const Keep &tkeep, const uint8_t &tvalid, uint8_t &tready, const uint8_t &tlast, frames_out &to)
		: tdata(tdata), tkeep(tkeep), tvalid(tvalid), tready(tready), tlast(tlast), to(to)
	{
	}

	void drive()
	{
		tready = !pause.next();
	}

	void sample(uint64_t cycle)
	{
		const uint8_t *lanes = (const uint8_t *)&tdata;

		idle++;
		if (waiting && !tvalid)
			whole.wrong(cycle, "tvalid fell before tready took the beat: hold it until tready is high");
		if (waiting && (tkeep != keep || tlast != last || different(lanes)))
			whole.wrong(cycle, "the beat changed before tready took it: hold %s until tready is high",
				    tkeep != keep ? "tkeep" : tlast != last ? "tlast" : "tdata");
		waiting = tvalid && !tready;
		if (waiting) {
			memcpy(offered, lanes, sizeof(Data));
			keep = tkeep;
			last = tlast;
		}
		if (!tvalid || !tready)
			return;
		idle = 0;
		if (whole.beat(lanes, sizeof(Data), tkeep, tlast, cycle))
			to.write(whole.frame, cycle * cycle_ns);
	}

private:
	/* Lanes that are not kept may change. */
	bool different(const uint8_t *lanes) const
	{
		for (size_t lane = 0; lane < sizeof(Data); lane++)
			if (keep >> lane & 1 && lanes[lane] != offered[lane])
				return true;
		return false;
	}

	const Data &tdata;
	const Keep &tkeep;
	const uint8_t &tvalid;
	uint8_t &tready;
	const uint8_t &tlast;
	frames_out &to;
	bool waiting = false; /* the core offers a beat, which it has to hold: */
	uint8_t offered[sizeof(Data)];
	uint64_t keep = 0;
	uint8_t last = 0;
};

/* As many cycles without a beat mean that nothing more will come. */
constexpr unsigned patience = 10000;
/* As many cycles, while the sink does not pause, in which a core sends and takes nothing mean that it never stops. */
constexpr unsigned endless = 300000;

/*
 * Whether a run goes on, behind each cycle: frames are left, or beats came in the last cycles. A core that takes no more, or
 * never stops, ends the program with a line that says where.
 */
template <class Source, class Sink> bool moves(const Source &in, const Sink &out, uint64_t cycle)
{
	uint64_t idle = std::min(in.idle, out.idle);

	if (in.stuck() && idle > patience)
		die("input: frame %ju, beat %ju, cycle %ju: the core takes no more: tready is low since %ju cycles%s",
		    (uintmax_t)in.frames + 1, (uintmax_t)in.beat(), (uintmax_t)cycle, (uintmax_t)in.idle,
		    in.beats ? "" : ", and never was high: does the core come out of reset? is the reset the right way up?");
	if ((in.stuck() || in.ended()) && in.idle * (1 - out.pause.of) > endless)
		out.whole.wrong(cycle, "the core goes on sending, though it took nothing in the last %ju cycles: "
				"what goes in has to end what comes out", (uintmax_t)in.idle);
	return idle < patience || !in.ended();
}

} // namespace axis

#endif
