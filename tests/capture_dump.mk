# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The reader of capture files, alone: with the sanitizers for tests, and as it is for how fast it is.
PROGRAMS += $(BUILD)/tests/capture_dump $(BUILD)/tests/capture_speed
$(BUILD)/tests/capture_dump: $(BUILD)/sanitized/tests/capture_dump.o $(call rooms,sanitized/,pcap)
$(BUILD)/tests/capture_dump: LINK := $(CLANG) $(SANITIZE)
$(BUILD)/tests/capture_speed: $(BUILD)/tests/capture_dump.o $(call rooms,,pcap)
$(BUILD)/tests/capture_dump $(BUILD)/tests/capture_speed: LDLIBS += $(ROOM_LDLIBS)
