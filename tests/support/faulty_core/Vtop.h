/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instead of a model of Verilator, for rtl/axis_sim.cpp: a register that hands beats on. With +BREAK=RULE it breaks a rule of
 * AXI-Stream (tests/rtl.test). At the end it says what it saw.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "verilated.h"

struct Vtop {
	uint8_t clk = 0, rst = 0;
	uint64_t s_axis_tdata = 0, m_axis_tdata = 0;
	uint8_t s_axis_tkeep = 0, s_axis_tvalid = 0, s_axis_tready = 0, s_axis_tlast = 0;
	uint8_t m_axis_tkeep = 0, m_axis_tvalid = 0, m_axis_tready = 0, m_axis_tlast = 0;

	void eval()
	{
		if (clk)
			edge();
		else
			s_axis_tready = (!m_axis_tvalid || m_axis_tready) && !(Verilated::breaks("stuck") && beats == 3) &&
					!Verilated::breaks("never-ready") && !Verilated::breaks("repeats");
	}

	void final()
	{
		fprintf(stderr, "seen: least gap %d, bubbles %d, back-pressure %d, first byte 0x%x\n", least_gap, bubbles, blocked,
			first);
	}

private:
	void edge()
	{
		if (m_axis_tvalid && m_axis_tready)
			m_axis_tvalid = 0;
		else if (m_axis_tvalid && Verilated::breaks("falls"))
			m_axis_tvalid = 0;
		else if (m_axis_tvalid && Verilated::breaks("changes"))
			m_axis_tdata++;
		if (rst)
			return;
		see();
		if (s_axis_tvalid && s_axis_tready)
			take();
		else if (!m_axis_tvalid && !inside && (Verilated::breaks("babbles") || Verilated::breaks("repeats") ||
						       Verilated::breaks("goes-on")))
			offer(0, 0xff, !Verilated::breaks("babbles") && ++made % 8 == 0);
	}

	void see()
	{
		blocked += !m_axis_tready;
		if (s_axis_tvalid && !inside && !beats)
			first = s_axis_tdata & 0xff;
		if (s_axis_tvalid && !inside && beats && !waits)
			least_gap = std::min(least_gap, gap);
		gap = s_axis_tvalid ? 0 : gap + 1;
		bubbles += inside && !s_axis_tvalid;
		waits = s_axis_tvalid && !s_axis_tready;
	}

	void take()
	{
		beats++;
		if (Verilated::breaks("null") && s_axis_tlast)
			offer(s_axis_tdata, 0, 1);
		else if (!Verilated::breaks("silent"))
			offer(s_axis_tdata, Verilated::breaks("gap") ? 0x05 : Verilated::breaks("short") ? 0x0f : s_axis_tkeep,
			      Verilated::breaks("endless") ? 0 : s_axis_tlast || (Verilated::breaks("twice") && beats % 8 == 7));
		inside = !s_axis_tlast;
	}

	void offer(uint64_t data, uint8_t keep, uint8_t last)
	{
		m_axis_tvalid = 1;
		m_axis_tdata = data;
		m_axis_tkeep = keep;
		m_axis_tlast = last;
	}

	int beats = 0, made = 0, least_gap = 1 << 30, gap = 0, bubbles = 0, blocked = 0;
	unsigned first = 0;
	bool inside = false; /* a frame */
	bool waits = false;  /* a beat of the input */
};
