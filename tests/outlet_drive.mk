# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/tests/outlet_drive
$(BUILD)/tests/outlet_drive: $(BUILD)/tests/outlet_drive.o $(call rooms,,userspace/send)
$(BUILD)/tests/outlet_drive: LDLIBS += $(ROOM_LDLIBS)
