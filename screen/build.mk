# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The table of `monitor` on a terminal; all part of the one command.
$(BUILD)/rocescope: $(patsubst %.c,$(BUILD)/%.o,$(wildcard screen/*.c))
$(BUILD)/rocescope: LDLIBS += -lncursesw
