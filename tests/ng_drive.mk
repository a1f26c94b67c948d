# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/tests/ng_drive
$(BUILD)/tests/ng_drive: $(BUILD)/sanitized/tests/ng_drive.o $(call rooms,sanitized/,pcap)
$(BUILD)/tests/ng_drive: LINK := $(CLANG) $(SANITIZE)
$(BUILD)/tests/ng_drive: LDLIBS += $(ROOM_LDLIBS)
