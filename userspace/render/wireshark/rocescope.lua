-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
--
-- The Lua twin of the Wireshark plugin (rocescope.c), for those who cannot build it. It decodes packets and verifies ICRCs as
-- the plugin does. Of PSNs it says which one it expected next, and no more: docs/wireshark.md has what it leaves out.
--
-- If the plugin is there as well, this does nothing.

if pcall(Field.new, "rocescope.icrc.status") then return end

-- Lua 5.1 and 5.2 have no bit operators, and later versions may lack the library. Results may be negative.
local bit = bit or load([[return {
	band = function(a, b) return a & b end, bxor = function(a, b) return a ~ b end,
	bor = function(a, b) return a | b end, rshift = function(a, n) return (a & 0xffffffff) >> n end }]])()
local band, bor, bxor, rshift = bit.band, bit.bor, bit.bxor, bit.rshift

local TWO_24 = 2^24

---- fields ----

local roce = Proto("rocescope", "rocescope")
local statuses = { [0] = "Bad", [1] = "Good", [2] = "Unverified" }
local BAD, GOOD, UNVERIFIED = 0, 1, 2

local f = {
	icrc = ProtoField.uint32("rocescope.icrc", "ICRC", base.HEX),
	status = ProtoField.uint8("rocescope.icrc.status", "ICRC status", base.DEC, statuses),
	computed = ProtoField.uint32("rocescope.icrc.computed", "ICRC computed", base.HEX),
	psn = ProtoField.uint24("rocescope.psn", "PSN", base.DEC_HEX),
	expected = ProtoField.uint24("rocescope.psn.expected", "PSN expected", base.DEC_HEX),
	verdict = ProtoField.string("rocescope.psn.verdict", "PSN verdict"),
	skipped = ProtoField.uint32("rocescope.psn.skipped", "PSNs skipped"),
}
roce.fields = { f.icrc, f.status, f.computed, f.psn, f.expected, f.verdict, f.skipped }

local e = {
	icrc = ProtoExpert.new("rocescope.icrc_bad", "the ICRC is wrong", expert.group.CHECKSUM, expert.severity.ERROR),
	gap = ProtoExpert.new("rocescope.psn_gap", "packets are missing before this one", expert.group.SEQUENCE,
		expert.severity.WARN),
	behind = ProtoExpert.new("rocescope.psn_behind", "its PSN is behind the expected one: it comes late, or again",
		expert.group.SEQUENCE, expert.severity.NOTE),
	resync = ProtoExpert.new("rocescope.psn_resync", "its PSN is elsewhere in the sequence, too far for a loss",
		expert.group.SEQUENCE, expert.severity.WARN),
}
roce.experts = { e.icrc, e.gap, e.behind, e.resync }

local frame_encapsulation = Field.new("frame.encap_type")
local ETHERNET = 1

---- opcodes (roce/packet/opcode.h) ----

-- By code: its name; extension: bytes of headers after the BTH, of which the first `needed` must be in the window. first: the
-- first packet of a message or response, or its only one.
local opcodes = {}

local function opcode(code, needed, extension, ...)
	local op = { needed = needed, extension = extension }
	for _, key in ipairs({ ... }) do op[key] = true end
	opcodes[code] = op
end

-- SEND and RDMA WRITE: First, Middle, Last, Last with immediate, Only, Only with immediate. needed, extra: bytes of the headers
-- that the service puts first.
local function sends_and_writes(code, needed, extra)
	for kind = 0, 1 do
		for i = 0, 5 do
			local first = (i == 0 or i >= 4) and "first" or nil
			local reth, immdt = kind == 1 and first and 16 or 0, (i == 3 or i == 5) and 4 or 0
			local bytes = extra + reth + immdt
			opcode(code + 6 * kind + i, reth + immdt > 0 and bytes or needed, bytes, first)
		end
	end
end

local function reads_and_atomics(code, needed, request, response)
	opcode(code + 0x0c, request + 16, request + 16, "first", "read")
	opcode(code + 0x0d, response + 4, response + 4, "response", "first")
	opcode(code + 0x0e, 0, response, "response")
	opcode(code + 0x0f, response + 4, response + 4, "response")
	opcode(code + 0x10, response + 4, response + 4, "response", "first")
	opcode(code + 0x11, response + 4, response + 4, "response", "ack")
	opcode(code + 0x12, response + 4, response + 12, "response", "first")
	opcode(code + 0x13, needed, request + 28, "first")
	opcode(code + 0x14, needed, request + 28, "first")
end

sends_and_writes(0x00, 0, 0)
sends_and_writes(0x20, 0, 0)
sends_and_writes(0x40, 12, 12) -- RD: RDETH and DETH
sends_and_writes(0xa0, 0, 4) -- XRC: XRCETH
reads_and_atomics(0x00, 0, 0, 0)
reads_and_atomics(0x40, 12, 12, 4)
reads_and_atomics(0xa0, 0, 4, 0)
opcode(0x16, 0, 4) -- SEND with invalidate
opcode(0x17, 0, 4, "first")
opcode(0xb6, 0, 8)
opcode(0xb7, 0, 8, "first")
for code, extra in pairs({ [0x00] = 0, [0x40] = 12, [0xa0] = 4 }) do
	opcode(code + 0x1c, extra + 20, extra + 20, "first") -- FLUSH
	opcode(code + 0x1d, extra + 16, extra + 16, "first") -- ATOMIC WRITE
end
opcode(0x55, 12, 12) -- RD RESYNC
opcode(0x64, 8, 8, "first", "deth")
opcode(0x65, 12, 12, "first", "deth")
opcode(0x81, 0, 0, "response", "cnp")
local UNKNOWN = { needed = 0, extension = 0, unknown = true }

---- frames (roce/packet/parse.h) ----

local WINDOW = 128 -- headers are parsed in this many bytes
local EXTENSIONS = { [0] = true, [43] = true, [44] = true, [60] = true, [135] = true, [139] = true, [140] = true }

local MAPPED = ("\0"):rep(10) .. "\255\255" -- before an IPv4 address written as IPv6 (RFC 4291)

-- Offset of UDP after IP, or of the BTH after a GRH; nil: neither. Sets p.source, p.destination, p.finish.
local function parse_ip(tvb, available, p, ethertype)
	local at = p.l3
	if ethertype == 0x0800 then
		if at + 20 > available or rshift(tvb(at, 1):uint(), 4) ~= 4 then return end
		local header = band(tvb(at, 1):uint(), 15) * 4
		if header < 20 or tvb(at + 9, 1):uint() ~= 17 or band(tvb(at + 6, 2):uint(), 0x3fff) ~= 0 then return end
		p.source, p.destination = MAPPED .. tvb:raw(at + 12, 4), MAPPED .. tvb:raw(at + 16, 4)
		p.finish = at + tvb(at + 2, 2):uint()
		p.ipv4 = true
		return at + header
	end
	if ethertype ~= 0x86dd and ethertype ~= 0x8915 then return end
	if at + 40 > available or rshift(tvb(at, 1):uint(), 4) ~= 6 then return end
	p.source, p.destination = tvb:raw(at + 8, 16), tvb:raw(at + 24, 16)
	p.finish = at + 40 + tvb(at + 4, 2):uint()
	local protocol = tvb(at + 6, 1):uint()
	at = at + 40
	if ethertype == 0x8915 then
		p.v1 = true
		return protocol == 0x1b and at or nil
	end
	for _ = 1, 4 do
		if not EXTENSIONS[protocol] then break end
		if at > WINDOW or at + 8 > available then return end
		if protocol == 44 and band(tvb(at + 2, 2):uint(), 0xfff9) ~= 0 then return end
		local length = protocol == 44 and 8 or (tvb(at + 1, 1):uint() + 1) * 8
		protocol = tvb(at, 1):uint()
		at = at + length
	end
	return protocol == 17 and at or nil
end

local VLAN = { [0x8100] = true, [0x88a8] = true, [0x9100] = true, [0x9200] = true }

local function checksum_is_right(tvb, at, finish)
	local sum = 0
	for word = at, finish - 2, 2 do sum = sum + tvb(word, 2):uint() end
	return sum > 0 and sum % 0xffff == 0
end

-- Whether a frame that is shorter than its IP length may have been cut, though its own length does not say so: parse_cut().
local function may_be_cut(tvb, p, wire)
	if p.v1 then return true end
	return p.l4 + tvb(p.l4 + 4, 2):uint() > wire and (not p.ipv4 or checksum_is_right(tvb, p.l3, p.l4))
end

-- Parses a frame. nil: no RoCE packet, or its headers cannot be followed.
local function parse(tvb)
	local captured, wire = tvb:captured_len(), tvb:reported_len()
	local available = math.min(captured, WINDOW)
	if available < 14 then return end
	local p, ethertype = { l3 = 14 }, tvb(12, 2):uint()
	for _ = 1, 3 do
		if not VLAN[ethertype] then break end
		if p.l3 + 4 > available then return end
		ethertype = tvb(p.l3 + 2, 2):uint()
		p.l3 = p.l3 + 4
	end
	p.l4 = parse_ip(tvb, available, p, ethertype)
	if not p.l4 or p.l4 > WINDOW then return end
	p.bth = p.l4
	if not p.v1 then
		if p.l4 + 8 > available or tvb(p.l4 + 2, 2):uint() ~= 4791 then return end
		p.bth = p.l4 + 8
	end
	if p.bth + 16 > p.finish or p.bth > WINDOW or p.bth + 12 > available then return end
	wire = math.max(wire, captured)
	if p.finish > wire and not may_be_cut(tvb, p, wire) then return end
	p.code = tvb(p.bth, 1):uint()
	p.op = opcodes[p.code] or UNKNOWN
	local pad, at = band(rshift(tvb(p.bth + 1, 1):uint(), 4), 3), p.bth + 12
	if at + p.op.extension + pad + 4 > p.finish then return end
	if p.op.needed > 0 and at + p.op.needed > available and at + p.op.extension <= captured then return end
	p.qpn = tvb(p.bth + 5, 3):uint()
	p.psn = tvb(p.bth + 9, 3):uint()
	p.unplaced = p.op.deth and at + 8 > available -- its source QPN was cut off
	if p.op.deth and not p.unplaced then p.source_qpn = tvb(at + 5, 3):uint() end
	p.icrc = p.finish - 4
	p.truncated = captured < p.finish
	return p
end

---- the ICRC (roce/icrc/icrc.h) ----

local crc_table = {}
for i = 0, 255 do
	local crc = i
	for _ = 1, 8 do
		local odd = band(crc, 1) == 1
		crc = rshift(crc, 1)
		if odd then crc = bxor(crc, 0xedb88320) end
	end
	crc_table[i] = crc
end

local AFTER_EIGHT_ONES = 0xdebb20e3 -- the register after the eight bytes 0xff in place of InfiniBand's LRH

-- The right value. Its first byte on the wire is the highest.
local function icrc(tvb, p)
	local mask = { [p.bth + 4] = 0xff } -- by offset: bits that may change on the path
	if p.ipv4 then
		for _, offset in ipairs({ 1, 8, 10, 11 }) do mask[p.l3 + offset] = 0xff end
	else
		mask[p.l3] = 0x0f
		for _, offset in ipairs({ 1, 2, 3, 7 }) do mask[p.l3 + offset] = 0xff end
	end
	if not p.v1 then
		mask[p.l4 + 6] = 0xff
		mask[p.l4 + 7] = 0xff
	end
	local bytes, crc = tvb:raw(p.l3, p.icrc - p.l3), AFTER_EIGHT_ONES
	local byte, table = string.byte, crc_table
	for i = 1, p.bth + 5 - p.l3 do
		local b = bor(byte(bytes, i), mask[p.l3 + i - 1] or 0)
		crc = bxor(table[band(bxor(crc, b), 0xff)], rshift(crc, 8))
	end
	for i = p.bth + 6 - p.l3, #bytes do
		crc = bxor(table[band(bxor(crc, byte(bytes, i)), 0xff)], rshift(crc, 8))
	end
	local value = 0
	crc = bxor(crc, 0xffffffff)
	for shift = 0, 24, 8 do value = value * 256 + band(rshift(crc, shift), 0xff) end
	return value
end

---- streams ----

local streams, verdicts = {}, {}
local FAR = 65535 -- PSNs: a packet further off is neither lost nor late, but elsewhere in the sequence

-- Signed distance from a to b, positive when b comes after a.
local function distance(a, b)
	local d = (b - a) % TWO_24
	return d < TWO_24 / 2 and d or d - TWO_24
end

local function stream_of(p)
	local side = p.op.response and "response" or "request"
	local key = p.op.deth and "datagram " .. p.source .. p.source_qpn
		or side .. p.source .. p.destination .. p.qpn
	streams[key] = streams[key] or {}
	return streams[key]
end

-- How a packet d ahead of the expected PSN is judged. ACKs take PSNs and are not followed: a response may begin ahead.
local function place(p, d)
	if d < -FAR or d > FAR then return "resync" end
	if d < 0 then return "behind" end
	if d > 0 and not (p.op.response and p.op.first) then return "gap" end
	return "in order"
end

-- { psn, expected, verdict, skipped } of a packet in its stream's sequence, else nil. Expected is the PSN after the highest one
-- so far. After a READ request none is expected: it takes a number of PSNs that depends on the path MTU.
local function follow(p, status)
	if p.unplaced then return end
	local s = stream_of(p)
	if status == BAD and s.good then return end
	if status == GOOD and not s.good then s.good, s.next, s.stepped = true, nil, nil end -- earlier packets may be of another stream
	if p.op.unknown and s.next == p.psn then -- it may be one of the sequence, until a known packet has its PSN
		s.next, s.stepped = (p.psn + 1) % TWO_24, (s.stepped or 0) + 1
	end
	if p.op.unknown or p.op.cnp or p.op.ack then return end
	local d = s.next and distance(s.next, p.psn)
	if d and s.stepped and d >= -s.stepped then
		if d < 0 then s.next, d = p.psn, 0 end
		s.stepped = nil
	end
	local v = { psn = p.psn, expected = s.next, verdict = d and place(p, d) or "first", skipped = d }
	if v.verdict == "behind" then return v end
	s.next = not p.op.read and (p.psn + 1) % TWO_24 or nil
	return v
end

---- what is shown ----

local function show_icrc(tree, tvb, p, status, computed)
	if status == UNVERIFIED then
		tree:add(f.status, UNVERIFIED):set_generated()
		return
	end
	local item = tree:add(f.icrc, tvb(p.icrc, 4))
	item:append_text(status == GOOD and " [correct]" or string.format(" incorrect, should be 0x%08x", computed))
	if status == BAD then item:add_proto_expert_info(e.icrc) end
	tree:add(f.status, tvb(p.icrc, 4), status):set_generated()
	tree:add(f.computed, tvb(p.icrc, 4), computed):set_generated()
end

local function show_psn(tree, v)
	tree:add(f.psn, v.psn):set_generated()
	if v.expected then tree:add(f.expected, v.expected):set_generated() end
	local item = tree:add(f.verdict, v.verdict)
	item:set_generated()
	if e[v.verdict] then item:add_proto_expert_info(e[v.verdict]) end
	if v.verdict == "gap" then tree:add(f.skipped, v.skipped):set_generated() end
end

function roce.dissector(tvb, pinfo, tree)
	local encapsulation = frame_encapsulation()
	if not encapsulation or encapsulation.value ~= ETHERNET then return end
	local p = parse(tvb)
	if not p then return end
	local status, computed = UNVERIFIED, nil
	if not p.truncated then
		computed = icrc(tvb, p)
		status = computed == tvb(p.icrc, 4):uint() and GOOD or BAD
	end
	if not pinfo.visited then verdicts[pinfo.number] = follow(p, status) end
	local v, names = verdicts[pinfo.number], {}
	local item = tree:add(roce, tvb(0, 0), "rocescope: ICRC " .. statuses[status]:lower()
		.. (v and ", PSN " .. v.verdict or ""))
	item:set_generated()
	show_icrc(item, tvb, p, status, computed)
	if v then show_psn(item, v) end
	if v and e[v.verdict] then names[#names + 1] = "psn-" .. v.verdict end
	if status == BAD then names[#names + 1] = "icrc-bad" end
	if #names > 0 then pinfo.cols.info:append(" [" .. table.concat(names, ",") .. "]") end
end

function roce.init()
	streams, verdicts = {}, {}
end

register_postdissector(roce)
