/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef VERILATED_H
#define VERILATED_H

#include <string>

struct Verilated {
	static inline std::string rule;

	static void commandArgs(int argc, char **argv)
	{
		for (int i = 1; i < argc; i++)
			if (!std::string(argv[i]).compare(0, 7, "+BREAK="))
				rule = argv[i] + 7;
	}

	static bool breaks(const char *name)
	{
		return rule == name;
	}
};

#endif
