// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// Puts the ICRC into RoCEv2 frames, on an AXI-Stream of 8 to 64 bytes a beat (IBTA 7.8.1, annex A17.3.3; docs/rtl.md).
//
// A frame begins in lane 0 with its Ethernet header (with IP_AT = 0: with its IP header), and ends with the ICRC field: no
// padding and no FCS follow. What the field holds is replaced. With APPEND = 1 frames come without the field, and their lengths
// count it already. VLAN tags may be there. Frames that are not RoCEv2 over IPv4 without options or IPv6 without extension
// headers pass as they are.
//
// The defaults are right. Any other value is a mistake that cores were seen to make. CRC parameters have the names of the
// CRC RevEng catalogue. In simulation a plusarg sets a parameter as well: +INIT=0.
//
// It is written to be read: the CRC of a beat is one step of logic. A core for a fast clock spreads it over several.

`default_nettype none

`ifdef SYNTHESIS
`define TOLD(text, variable) 1'b0
`else
`define TOLD(text, variable) $value$plusargs(text, variable)
`endif

module icrc_insert #(
	parameter DATA_BYTES = 8,
	parameter APPEND = 0,
	parameter IP_AT = 14,		// bytes in front of the IP header: 0 where frames begin with it

	parameter [31:0] POLY = 32'h04c11db7,
	parameter [31:0] INIT = 32'hffffffff,
	parameter [31:0] XOR_OUT = 32'hffffffff,
	parameter REFIN = 1,		// each byte goes in least significant bit first
	parameter REFOUT = 1,		// the register's bits are reversed at the end
	parameter SWAP = 0,		// 1: the ICRC goes out most significant byte first
	parameter ONES = 1,		// 0: the eight bytes 0xff in front of the IP header are left out
	parameter [5:0] MASK = 6'h3f,	// the fields that go in as ones: bits TOS to FLOW_LABEL, below
	parameter MASK_LATE = 0,	// 1: the mask comes one beat late
	parameter CARRY_OVER = 0,	// 1: the register is not reset between packets
	parameter signed END = 0	// the byte enables at the end of the CRC are off by this: -1 or 1
) (
	input wire clk,
	input wire rst,

	input wire [8*DATA_BYTES-1:0] s_axis_tdata,
	input wire [DATA_BYTES-1:0] s_axis_tkeep,
	input wire s_axis_tvalid,
	output wire s_axis_tready,
	input wire s_axis_tlast,

	output reg [8*DATA_BYTES-1:0] m_axis_tdata,
	output wire [DATA_BYTES-1:0] m_axis_tkeep,
	output wire m_axis_tvalid,
	input wire m_axis_tready,
	output wire m_axis_tlast
);
	localparam TOS = 0, TTL = 1, IP_CHECKSUM = 2, UDP_CHECKSUM = 3, RESV8A = 4, FLOW_LABEL = 5;

	reg [31:0] poly, init, xor_out;
	reg [5:0] mask;
	reg append, refin, refout, swap, ones, mask_late, carry_over;
	reg [7:0] ip_at;
	integer end_off;

	initial begin
		if (!`TOLD("APPEND=%b", append)) append = APPEND != 0;
		if (!`TOLD("IP_AT=%d", ip_at)) ip_at = IP_AT[7:0];
		if (!`TOLD("POLY=%h", poly)) poly = POLY;
		if (!`TOLD("INIT=%h", init)) init = INIT;
		if (!`TOLD("XOR_OUT=%h", xor_out)) xor_out = XOR_OUT;
		if (!`TOLD("REFIN=%b", refin)) refin = REFIN != 0;
		if (!`TOLD("REFOUT=%b", refout)) refout = REFOUT != 0;
		if (!`TOLD("SWAP=%b", swap)) swap = SWAP != 0;
		if (!`TOLD("ONES=%b", ones)) ones = ONES != 0;
		if (!`TOLD("MASK=%h", mask)) mask = MASK;
		if (!`TOLD("MASK_LATE=%b", mask_late)) mask_late = MASK_LATE != 0;
		if (!`TOLD("CARRY_OVER=%b", carry_over)) carry_over = CARRY_OVER != 0;
		if (!`TOLD("END=%d", end_off)) end_off = END;
	end

	// ---- the headers: where IP begins, what is masked, is it RoCEv2? ----

	// Those bits of byte `at` of the IP packet that may change on the way: they go into the CRC as ones.
	function [7:0] masked(input v6, input [7:0] at);
		case ({v6, at})
		{1'b0, 8'd1}: masked = {8{mask[TOS]}};
		{1'b0, 8'd8}: masked = {8{mask[TTL]}};
		{1'b0, 8'd10}, {1'b0, 8'd11}: masked = {8{mask[IP_CHECKSUM]}};
		{1'b0, 8'd26}, {1'b0, 8'd27}: masked = {8{mask[UDP_CHECKSUM]}};
		{1'b0, 8'd32}: masked = {8{mask[RESV8A]}};
		{1'b1, 8'd0}: masked = {4'h0, {4{mask[TOS]}}};
		{1'b1, 8'd1}: masked = {{4{mask[TOS]}}, {4{mask[FLOW_LABEL]}}};
		{1'b1, 8'd2}, {1'b1, 8'd3}: masked = {8{mask[FLOW_LABEL]}};
		{1'b1, 8'd7}: masked = {8{mask[TTL]}};
		{1'b1, 8'd46}, {1'b1, 8'd47}: masked = {8{mask[UDP_CHECKSUM]}};
		{1'b1, 8'd52}: masked = {8{mask[RESV8A]}};
		default: masked = 8'h00;
		endcase
	endfunction

	// What is known of the frame in front of this beat (seen_) and behind it. Beyond the headers `offset` stays at 128.
	reg [7:0] offset, seen_ip, ip, at, value;
	reg seen_v6, seen_roce, v6, roce;
	reg [8*DATA_BYTES-1:0] beat_mask, late_mask;
	reg [DATA_BYTES-1:0] beat_fed;
	integer i;

	always @* begin
		ip = offset == 0 ? ip_at : seen_ip;
		v6 = offset != 0 && seen_v6;
		roce = offset == 0 || seen_roce;
		for (i = 0; i < DATA_BYTES; i = i + 1) begin
			at = offset + i[7:0];
			value = s_axis_tdata[8*i +: 8];
			if (at == ip - 8'd2)			// the Ethertype
				case (value)
				8'h81, 8'h88: ip = ip + 8'd4;	// it is that of a VLAN tag
				8'h08, 8'h86: ;
				default: roce = 0;
				endcase
			beat_fed[i] = at >= ip;
			at = at - ip;
			if (at == 0) begin
				v6 = value[7:4] == 6;
				roce = roce && (v6 || value == 8'h45);
			end
			if (at == (v6 ? 8'd6 : 8'd9) && value != 8'd17)		// UDP
				roce = 0;
			if (at == (v6 ? 8'd42 : 8'd22) && value != 8'h12)	// destination port 4791
				roce = 0;
			if (at == (v6 ? 8'd43 : 8'd23) && value != 8'hb7)
				roce = 0;
			beat_mask[8*i +: 8] = masked(v6, at);
		end
	end

	// ---- room for the ICRC: with APPEND four more bytes, which may need a beat of their own ----

	function [7:0] count(input [DATA_BYTES-1:0] keep);
		integer k;
		begin
			count = 0;
			for (k = 0; k < DATA_BYTES; k = k + 1)
				count = count + {7'b0, keep[k]};
		end
	endfunction

	localparam [7:0] BEAT = DATA_BYTES[7:0];

	reg [7:0] rest;		// the bytes in the beat of their own
	wire [7:0] bytes = rest != 0 ? rest : !s_axis_tlast ? BEAT : count(s_axis_tkeep) + (append && roce ? 8'd4 : 8'd0);
	wire in_valid = s_axis_tvalid || rest != 0;
	wire in_last = (s_axis_tlast || rest != 0) && bytes <= BEAT;
	wire [7:0] in_bytes = bytes <= BEAT ? bytes : BEAT;
	wire in_ready;

	assign s_axis_tready = in_ready && rest == 0;

	// ---- one beat is held until it is known whether the ICRC begins in it ----

	reg [8*DATA_BYTES-1:0] held_data, held_mask;
	reg [DATA_BYTES-1:0] held_fed;
	reg [7:0] held_bytes;
	reg held, held_last, held_roce;
	wire out = m_axis_tvalid && m_axis_tready;

	assign m_axis_tvalid = held && (held_last || in_valid);
	assign m_axis_tlast = held_last;
	assign m_axis_tkeep = {DATA_BYTES{1'b1}} >> (BEAT - held_bytes);
	assign in_ready = !held || out;

	always @(posedge clk)
		if (rst) begin
			held <= 0;
			rest <= 0;
			offset <= 0;
		end else if (in_ready) begin
			held <= in_valid;
			if (in_valid) begin
				held_data <= s_axis_tdata;
				held_mask <= mask_late ? late_mask : beat_mask;
				held_fed <= beat_fed;
				held_bytes <= in_bytes;
				held_last <= in_last;
				held_roce <= roce;
				late_mask <= beat_mask;
				rest <= bytes - in_bytes;
				offset <= in_last ? 8'd0 : offset < 8'd128 ? offset + BEAT : offset;
				{seen_ip, seen_v6, seen_roce} <= {ip, v6, roce};
			end
		end

	// ---- the CRC, and where it goes ----

	function [31:0] crc_byte(input [31:0] crc, input [7:0] b);
		integer k;
		begin
			crc_byte = crc;
			for (k = 0; k < 8; k = k + 1)
				crc_byte = {crc_byte[30:0], 1'b0} ^ (crc_byte[31] ^ b[refin ? k : 7 - k] ? poly : 32'h0);
		end
	endfunction

	function [31:0] reversed(input [31:0] v);
		integer k;
		for (k = 0; k < 32; k = k + 1)
			reversed[k] = v[31 - k];
	endfunction

	// The register in front of the IP header.
	function [31:0] after_ones(input [31:0] crc);
		integer k;
		begin
			after_ones = crc;
			for (k = 0; k < 8; k = k + 1)
				if (ones)
					after_ones = crc_byte(after_ones, 8'hff);
		end
	endfunction

	reg [31:0] crc, crc_next, icrc;
	reg ends;		// the ICRC begins in the held beat, or did in the one before
	integer n, covered;	// lanes of the held beat in front of the ICRC; negative: it began in the beat before

	always @* begin
		ends = held_last || (in_last && in_bytes < 4);
		covered = held_last ? {24'b0, held_bytes} - 4 : ends ? DATA_BYTES + {24'b0, in_bytes} - 4 : DATA_BYTES;

		crc_next = crc;
		for (n = 0; n < DATA_BYTES; n = n + 1)
			if (held_fed[n] && n < covered + (ends ? end_off : 0))
				crc_next = crc_byte(crc_next, held_data[8*n +: 8] | held_mask[8*n +: 8]);

		icrc = (refout ? reversed(crc_next) : crc_next) ^ xor_out;
		if (swap)
			icrc = {icrc[7:0], icrc[15:8], icrc[23:16], icrc[31:24]};

		m_axis_tdata = held_data;
		for (n = 0; n < DATA_BYTES; n = n + 1)
			if (held_roce && n >= covered && n < covered + 4)
				m_axis_tdata[8*n +: 8] = icrc[8*(n - covered) +: 8];
	end

	// Not by ?:, inside of which a function that reads variables of the module is 0 in Verilator 5.032.
	always @(posedge clk)
		if (rst || (out && held_last && !carry_over))
			crc <= after_ones(init);
		else if (out)
			crc <= crc_next;
endmodule

`default_nettype wire
