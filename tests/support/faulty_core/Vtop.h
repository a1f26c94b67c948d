/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instead of a model of Verilator, for rtl/axis_sim.cpp: a register that hands beats on. With +BREAK=RULE it breaks a rule of
 * AXI-Stream (tests/rtl.test).
 */
#include <cstdint>

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
			s_axis_tready = (!m_axis_tvalid || m_axis_tready) && !(Verilated::breaks("stuck") && beats == 3);
	}

	void final() {}

private:
	void edge()
	{
		if (m_axis_tvalid && m_axis_tready)
			m_axis_tvalid = 0;
		else if (m_axis_tvalid && Verilated::breaks("falls"))
			m_axis_tvalid = 0;
		else if (m_axis_tvalid && Verilated::breaks("changes"))
			m_axis_tdata++;
		if (rst || !s_axis_tvalid || !s_axis_tready)
			return;
		beats++;
		m_axis_tvalid = 1;
		m_axis_tdata = s_axis_tdata;
		m_axis_tkeep = Verilated::breaks("gap") ? 0x05 : Verilated::breaks("short") ? 0x0f : s_axis_tkeep;
		m_axis_tlast = Verilated::breaks("endless") ? 0 : s_axis_tlast;
	}

	int beats = 0;
};
