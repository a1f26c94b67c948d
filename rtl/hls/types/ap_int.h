/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A stand-in for a header of Vitis HLS, so that the example of docs/rtl.md runs without it: as much of ap_uint as the example
 * and rtl/hls_bridge.h use.
 */
#ifndef AP_INT_H
#define AP_INT_H

#include <cstdint>

template <int W> class ap_uint {
public:
	static const int width = W;

	/* Bits high to low of a number. */
	class part {
	public:
		part(ap_uint &of, int high, int low) : of(of), high(high), low(low) {}

		operator unsigned long long() const
		{
			return static_cast<const ap_uint &>(of).range(high, low);
		}

		part &operator=(unsigned long long value)
		{
			for (int bit = low; bit <= high; bit++, value >>= 1) {
				of.words[bit / 64] &= ~(uint64_t(1) << bit % 64);
				of.words[bit / 64] |= uint64_t(value & 1) << bit % 64;
			}
			return *this;
		}

	private:
		ap_uint &of;
		int high, low;
	};

	ap_uint(unsigned long long value = 0) : words()
	{
		range(W > 64 ? 63 : W - 1, 0) = value;
	}

	/* the lowest 64 bits */
	operator unsigned long long() const
	{
		return words[0];
	}

	part range(int high, int low)
	{
		return part(*this, high, low);
	}

	unsigned long long range(int high, int low) const
	{
		unsigned long long value = 0;

		for (int bit = high; bit >= low; bit--)
			value = value << 1 | (words[bit / 64] >> bit % 64 & 1);
		return value;
	}

private:
	uint64_t words[(W + 63) / 64];
};

#endif
