// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The test bench of icrc_insert.cpp: frames of a capture or a pipe go in, and what comes out goes to another (docs/rtl.md).
#include "hls_bridge.h"

#include "icrc_insert.h"

int main(int argc, char **argv)
{
	hls::stream<axis_word> in, out;

	return axis::hls_main(argc, argv, in, out, [&] { icrc_insert(in, out); });
}
