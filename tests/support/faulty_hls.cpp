// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
//
// A core in C++ that hands words on, for rtl/hls_bridge.h, with a stream of its own and plain integers. The environment's BREAK
// names the rule that it breaks (tests/rtl.test).
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <queue>

#include "hls_bridge.h"

struct word {
	uint32_t data;
	uint8_t keep;
	bool last;
};

class words {
public:
	bool empty()
	{
		return queue.empty();
	}

	word read()
	{
		if (queue.empty())
			return word();

		word first = queue.front();

		queue.pop();
		return first;
	}

	void write(const word &last)
	{
		queue.push(last);
	}

private:
	std::queue<word> queue;
};

static bool breaks(const char *rule)
{
	const char *broken = getenv("BREAK");

	return broken && !strcmp(broken, rule);
}

static void hand_on(words &in, words &out)
{
	static unsigned beats;
	volatile bool forever = true;

	while (breaks("hangs") && beats == 20 && forever)
		;
	while (breaks("floods") && beats == 20)
		out.write(word());
	if (breaks("babbles") || breaks("repeats"))
		out.write({ 0, 0xf, breaks("repeats") && ++beats % 16 == 0 });
	if (breaks("babbles") || breaks("repeats") || (breaks("stuck") && beats == 20))
		return;
	/* blind: reads up to the last word of a frame, without asking */
	do {
		if (!breaks("blind") && in.empty())
			return;

		word one = in.read();

		beats++;
		if (breaks("gap"))
			one.keep = 0x5;
		if (breaks("null") && one.last)
			one.keep = 0;
		if (breaks("endless") || (breaks("twice") && beats % 16 == 15))
			one.last = !breaks("endless");
		if (!breaks("silent") && !(breaks("loses") && beats > 300))
			out.write(one);
		if (one.last)
			break;
	} while (breaks("blind"));
}

int main(int argc, char **argv)
{
	words in, out;

	return axis::hls_main(argc, argv, in, out, [&] { hand_on(in, out); });
}
