/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instead of a model of Verilator, for rtl/axis_sim.cpp: a register that hands beats on. With +BREAK=RULE it breaks a rule of
 * AXI-Stream (tests/rtl.test). At the end it says what it saw. Its ports have other names than those of icrc_insert.v.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "verilated.h"

struct Vtop {
	uint8_t aclk = 0, aresetn = 0, rx_TUSER = 0;
	uint64_t rx_TDATA = 0, tx_TDATA = 0;
	uint8_t rx_TKEEP = 0, rx_TVALID = 0, rx_TREADY = 0, rx_TLAST = 0;
	uint8_t tx_TKEEP = 0, tx_TVALID = 0, tx_TREADY = 0, tx_TLAST = 0;

	void eval()
	{
		if (aclk)
			edge();
		else
			rx_TREADY = (!tx_TVALID || tx_TREADY) && !(Verilated::breaks("stuck") && beats == 3) &&
				    rx_TUSER == 2 && !Verilated::breaks("never-ready") && !Verilated::breaks("repeats");
	}

	void final()
	{
		fprintf(stderr, "seen: least gap %d, bubbles %d, back-pressure %d, first byte 0x%x\n", least_gap, bubbles, blocked,
			first);
	}

private:
	void edge()
	{
		if (tx_TVALID && tx_TREADY)
			tx_TVALID = 0;
		else if (tx_TVALID && Verilated::breaks("falls"))
			tx_TVALID = 0;
		else if (tx_TVALID && Verilated::breaks("changes"))
			tx_TDATA++;
		if (!aresetn)
			return;
		see();
		if (rx_TVALID && rx_TREADY)
			take();
		else if (!tx_TVALID && !inside && (Verilated::breaks("babbles") || Verilated::breaks("repeats") ||
						     Verilated::breaks("goes-on")))
			offer(0, 0xff, !Verilated::breaks("babbles") && ++made % 8 == 0);
	}

	void see()
	{
		blocked += !tx_TREADY;
		if (rx_TVALID && !inside && !beats)
			first = rx_TDATA & 0xff;
		if (rx_TVALID && !inside && beats && !waits)
			least_gap = std::min(least_gap, gap);
		gap = rx_TVALID ? 0 : gap + 1;
		bubbles += inside && !rx_TVALID;
		waits = rx_TVALID && !rx_TREADY;
	}

	void take()
	{
		beats++;
		if (Verilated::breaks("null") && rx_TLAST)
			offer(rx_TDATA, 0, 1);
		else if (!Verilated::breaks("silent"))
			offer(rx_TDATA, Verilated::breaks("gap") ? 0x05 : Verilated::breaks("short") ? 0x0f : rx_TKEEP,
			      Verilated::breaks("endless") ? 0 : rx_TLAST || (Verilated::breaks("twice") && beats % 8 == 7));
		inside = !rx_TLAST;
	}

	void offer(uint64_t data, uint8_t keep, uint8_t last)
	{
		tx_TVALID = 1;
		tx_TDATA = data;
		tx_TKEEP = keep;
		tx_TLAST = last;
	}

	int beats = 0, made = 0, least_gap = 1 << 30, gap = 0, bubbles = 0, blocked = 0;
	unsigned first = 0;
	bool inside = false; /* a frame */
	bool waits = false;  /* a beat of the input */
};
