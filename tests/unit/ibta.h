/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tests compare the engine's opcode table with this one: every opcode of the IBTA specification (volume 1, tables 38 to 40;
 * annexes A14 XRC, A17 CNP, A19 FLUSH and ATOMIC WRITE), written out one by one.
 */
#ifndef TESTS_IBTA_H
#define TESTS_IBTA_H

/*
 * bytes: of the extension headers between BTH and payload. what: F First, M Middle, L Last, O Only; r response; q READ
 * request; w ATOMIC WRITE; a acknowledgement; c CNP; and the headers: D DETH, R RETH, A AETH, I ImmDt, T atomic, t AtomicAck, V IETH,
 * X XRCETH, Y RDETH, H FETH.
 */
static const struct ibta_opcode {
	unsigned char opcode;
	unsigned char bytes;
	const char *what;
} ibta_opcodes[] = {
	/* RC */
	{ 0x00, 0, "F" },       { 0x01, 0, "M" },       { 0x02, 0, "L" },      { 0x03, 4, "LI" },
	{ 0x04, 0, "O" },       { 0x05, 4, "OI" },      { 0x06, 16, "FR" },    { 0x07, 0, "M" },
	{ 0x08, 0, "L" },       { 0x09, 4, "LI" },      { 0x0a, 16, "OR" },    { 0x0b, 20, "ORI" },
	{ 0x0c, 16, "OqR" },    { 0x0d, 4, "FrA" },     { 0x0e, 0, "Mr" },     { 0x0f, 4, "LrA" },
	{ 0x10, 4, "OrA" },     { 0x11, 4, "raA" },     { 0x12, 12, "OrAt" },  { 0x13, 28, "OT" },
	{ 0x14, 28, "OT" },     { 0x16, 4, "LV" },      { 0x17, 4, "OV" },     { 0x1c, 20, "OHR" },
	{ 0x1d, 16, "OwR" },
	/* UC */
	{ 0x20, 0, "F" },       { 0x21, 0, "M" },       { 0x22, 0, "L" },      { 0x23, 4, "LI" },
	{ 0x24, 0, "O" },       { 0x25, 4, "OI" },      { 0x26, 16, "FR" },    { 0x27, 0, "M" },
	{ 0x28, 0, "L" },       { 0x29, 4, "LI" },      { 0x2a, 16, "OR" },    { 0x2b, 20, "ORI" },
	/* RD: RDETH in all, DETH in requests */
	{ 0x40, 12, "FYD" },    { 0x41, 12, "MYD" },    { 0x42, 12, "LYD" },   { 0x43, 16, "LYDI" },
	{ 0x44, 12, "OYD" },    { 0x45, 16, "OYDI" },   { 0x46, 28, "FYDR" },  { 0x47, 12, "MYD" },
	{ 0x48, 12, "LYD" },    { 0x49, 16, "LYDI" },   { 0x4a, 28, "OYDR" },  { 0x4b, 32, "OYDRI" },
	{ 0x4c, 28, "OqYDR" },  { 0x4d, 8, "FrYA" },    { 0x4e, 4, "MrY" },    { 0x4f, 8, "LrYA" },
	{ 0x50, 8, "OrYA" },    { 0x51, 8, "raYA" },    { 0x52, 16, "OrYAt" }, { 0x53, 40, "OYDT" },
	{ 0x54, 40, "OYDT" },   { 0x55, 12, "YD" },     { 0x5c, 32, "OYDHR" }, { 0x5d, 28, "OwYDR" },
	/* UD */
	{ 0x64, 8, "OD" },      { 0x65, 12, "ODI" },
	/* congestion notification */
	{ 0x81, 0, "rc" },
	/* XRC: XRCETH in requests */
	{ 0xa0, 4, "FX" },      { 0xa1, 4, "MX" },      { 0xa2, 4, "LX" },     { 0xa3, 8, "LXI" },
	{ 0xa4, 4, "OX" },      { 0xa5, 8, "OXI" },     { 0xa6, 20, "FXR" },   { 0xa7, 4, "MX" },
	{ 0xa8, 4, "LX" },      { 0xa9, 8, "LXI" },     { 0xaa, 20, "OXR" },   { 0xab, 24, "OXRI" },
	{ 0xac, 20, "OqXR" },   { 0xad, 4, "FrA" },     { 0xae, 0, "Mr" },     { 0xaf, 4, "LrA" },
	{ 0xb0, 4, "OrA" },     { 0xb1, 4, "raA" },     { 0xb2, 12, "OrAt" },  { 0xb3, 32, "OXT" },
	{ 0xb4, 32, "OXT" },    { 0xb6, 8, "LXV" },     { 0xb7, 8, "OXV" },    { 0xbc, 24, "OXHR" },
	{ 0xbd, 20, "OwXR" },
};

#define IBTA_OPCODES (sizeof(ibta_opcodes) / sizeof(ibta_opcodes[0]))

/* NULL: the opcode is reserved or a manufacturer's. */
static inline const struct ibta_opcode *ibta_find(unsigned char opcode)
{
	for (unsigned int i = 0; i < IBTA_OPCODES; i++)
		if (ibta_opcodes[i].opcode == opcode)
			return &ibta_opcodes[i];
	return 0;
}

#endif
