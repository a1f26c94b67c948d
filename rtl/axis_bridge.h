/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Frames into and out of a simulated core: between the AXI-Stream ports of a model that Verilator made and capture files,
 * pipes or taps (docs/rtl.md). This header needs C++17 and libpcap, and nothing else of this project; axis_sim.cpp uses it.
 *
 *     axis::frames_in *from = axis::open_in("-");
 *     axis::source in(top.s_axis_tdata, top.s_axis_tkeep, top.s_axis_tvalid, top.s_axis_tready, top.s_axis_tlast, *from);
 *     for (;;) {                         one clock cycle; clk is 0
 *             in.drive();                what the ports show in this cycle
 *             top.eval();
 *             in.sample();               who took what at the rising edge
 *             top.clk = 1, top.eval(), top.clk = 0;
 *     }
 *
 * Byte 0 of a frame is the lowest byte of tdata (lane 0). A beat has as many bytes as its tdata port: 8, 16, 32 or 64. Every
 * beat but the last of a frame is full. It runs on little-endian machines.
 */
#ifndef AXIS_BRIDGE_H
#define AXIS_BRIDGE_H

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace axis {

using bytes = std::vector<uint8_t>;

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

/* pcap or pcapng; "-": standard input. */
class capture_in : public frames_in {
public:
	explicit capture_in(const char *path) : path(path)
	{
		char why[PCAP_ERRBUF_SIZE];

		file = pcap_open_offline(path, why);
		if (!file)
			die("%s: not a capture: %s", path, why);
		if (pcap_datalink(file) != DLT_EN10MB)
			die("%s: its frames have no Ethernet header", path);
	}

	bool read(bytes &frame, bool) override
	{
		pcap_pkthdr *head;
		const uint8_t *data;
		int got = ended ? PCAP_ERROR_BREAK : pcap_next_ex(file, &head, &data);

		if (got == PCAP_ERROR)
			die("%s: %s", path, pcap_geterr(file));
		ended = got != 1;
		if (ended)
			return false;
		if (head->caplen < head->len)
			die("%s: the capture cut a frame of %u bytes to %u: capture whole frames (tcpdump -s 0)", path,
			    head->len, head->caplen);
		frame.assign(data, data + head->caplen);
		return true;
	}

private:
	const char *path;
	pcap_t *file;
};

/* pcap; "-": standard output. Each frame leaves at once, so that the reader of a pipe sees it. */
class capture_out : public frames_out {
public:
	explicit capture_out(const char *path) : path(path)
	{
		pcap_t *kind = pcap_open_dead_with_tstamp_precision(DLT_EN10MB, 262144, PCAP_TSTAMP_PRECISION_NANO);

		file = pcap_dump_open(kind, path);
		if (!file)
			die("%s", pcap_geterr(kind));
	}

	void write(const bytes &frame, uint64_t ns) override
	{
		pcap_pkthdr head = {};

		head.ts.tv_sec = ns / 1000000000;
		head.ts.tv_usec = ns % 1000000000; /* nanoseconds, as the file's head says */
		head.caplen = head.len = frame.size();
		pcap_dump((uint8_t *)file, &head, frame.data());
		if (pcap_dump_flush(file))
			die("%s: %s", path, strerror(errno));
	}

private:
	const char *path;
	pcap_dumper_t *file;
};

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
	uint64_t frames = 0; /* taken by the core */
	unsigned idle = 0;   /* cycles since it took a beat */
	unsigned cut = 0;    /* bytes that are left out at the end of each frame */

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
			frames += tlast;
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

private:
	bool next(bool wait)
	{
		at = 0;
		if (!from.read(frame, wait)) {
			frame.clear();
			return false;
		}
		if (frame.size() <= cut)
			die("a frame of %zu bytes: no %u bytes can be left out", frame.size(), cut);
		frame.resize(frame.size() - cut);
		return true;
	}

	Data &tdata;
	Keep &tkeep;
	uint8_t &tvalid;
	const uint8_t &tready;
	uint8_t &tlast;
	frames_in &from;
	bytes frame;
	size_t at = 0, count = 0;
	bool taken = true;
};

/* Takes a core's output, and judges it by the rules of AXI-Stream. */
template <class Data, class Keep> class sink {
public:
	pauses pause{ 2 };
	uint64_t frames = 0;
	unsigned idle = 0; /* cycles since it took a beat */

	sink(const Data &tdata, const Keep &tkeep, const uint8_t &tvalid, uint8_t &tready, const uint8_t &tlast, frames_out &to)
		: tdata(tdata), tkeep(tkeep), tvalid(tvalid), tready(tready), tlast(tlast), to(to)
	{
	}

	void drive()
	{
		tready = !pause.next();
	}

	/* ns: simulated time. */
	void sample(uint64_t ns)
	{
		bytes beat;

		idle++;
		if (tvalid)
			beat = kept();
		if (waiting && (!tvalid || beat != offered || tlast != offered_last))
			die("output: tvalid fell, or the beat changed, before tready took it (frame %ju)",
			    (uintmax_t)frames + 1);
		waiting = tvalid && !tready;
		if (waiting) {
			offered = beat;
			offered_last = tlast;
		}
		if (!tvalid || !tready)
			return;
		idle = 0;
		frame.insert(frame.end(), beat.begin(), beat.end());
		if (!tlast)
			return;
		frames++;
		to.write(frame, ns);
		frame.clear();
	}

	/* Bytes of a frame whose last beat has not come. */
	size_t open() const
	{
		return frame.size();
	}

private:
	bytes kept() const
	{
		const uint8_t *lanes = (const uint8_t *)&tdata;
		uint64_t keep = tkeep;
		size_t count = __builtin_popcountll(keep);

		if (!count || keep != ~uint64_t(0) >> (64 - count))
			die("output: tkeep 0x%jx: lanes from 0 on, without a gap, are asked for (frame %ju)", (uintmax_t)keep,
			    (uintmax_t)frames + 1);
		if (!tlast && count < sizeof(Data))
			die("output: tkeep 0x%jx in a beat that is not the frame's last (frame %ju)", (uintmax_t)keep,
			    (uintmax_t)frames + 1);
		return bytes(lanes, lanes + count);
	}

	const Data &tdata;
	const Keep &tkeep;
	const uint8_t &tvalid;
	uint8_t &tready;
	const uint8_t &tlast;
	frames_out &to;
	bytes frame, offered;
	bool waiting = false;
	uint8_t offered_last = 0;
};

} // namespace axis

#endif
