/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stand-in for a header of Vitis HLS (ap_int.h): a queue. */
#ifndef HLS_STREAM_H
#define HLS_STREAM_H

#include <cstdio>
#include <cstdlib>
#include <deque>

namespace hls {

template <class T> class stream {
public:
	stream() = default;
	stream(const stream &) = delete;

	bool empty() const
	{
		return words.empty();
	}

	/* Where Vitis warns, this ends the program. */
	T read()
	{
		if (words.empty()) {
			fprintf(stderr, "a core reads a stream that is empty: ask empty() before (or run it with --calls 0)\n");
			exit(1);
		}

		T word = words.front();

		words.pop_front();
		return word;
	}

	void write(const T &word)
	{
		words.push_back(word);
	}

private:
	std::deque<T> words;
};

} // namespace hls

#endif
