# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The one command: its subcommands, and of the rooms below what they need.
PROGRAMS += $(BUILD)/rocescope
$(BUILD)/rocescope: $(BUILD)/userspace/command/main.o $(call rooms,,userspace/command)
$(BUILD)/rocescope: LDLIBS += $(ROOM_LDLIBS)
