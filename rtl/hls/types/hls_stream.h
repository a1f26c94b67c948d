/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A stand-in for a header of Vitis HLS (ap_int.h): a queue. */
#ifndef HLS_STREAM_H
#define HLS_STREAM_H

#include <cstdio>
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

	/* Of an empty stream: a line, and a word of zeros. */
	T read()
	{
		T word = T();

		if (words.empty()) {
			fprintf(stderr, "a stream is read while it is empty\n");
			return word;
		}
		word = words.front();
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
