# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What a sender does wrong; all part of the one command.
$(BUILD)/rocescope: $(patsubst %.c,$(BUILD)/%.o,$(wildcard doctor/*.c))
