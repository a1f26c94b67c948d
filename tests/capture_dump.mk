# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The reader of capture files alone: with sanitizers for tests/reader.test, and as it is, to see how fast it is.
PROGRAMS += $(BUILD)/tests/capture_dump $(BUILD)/tests/capture_speed
$(BUILD)/tests/capture_dump: $(addprefix $(BUILD)/sanitized/,tests/capture_dump.o $(CAPTURE_READER:.c=.o))
$(BUILD)/tests/capture_dump: LDLIBS += $(CAPTURE_LDLIBS) -lpcap
$(BUILD)/tests/capture_dump: LDFLAGS += $(SANITIZE)
$(BUILD)/tests/capture_speed: $(addprefix $(BUILD)/,tests/capture_dump.o $(CAPTURE_READER:.c=.o))
$(BUILD)/tests/capture_speed: LDLIBS += $(CAPTURE_LDLIBS) -lpcap
