# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What this machine knows itself of QPs and devices; all part of the one command.
$(BUILD)/rocescope: $(patsubst %.c,$(BUILD)/%.o,$(wildcard host/*.c))
$(patsubst %.c,$(BUILD)/%.o,$(wildcard host/*.c)): CFLAGS += $(shell $(PKG) --cflags libnl-genl-3.0)
