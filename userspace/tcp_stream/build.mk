# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/tcp_stream
$(BUILD)/tcp_stream: $(patsubst %.c,$(BUILD)/%.o,$(wildcard userspace/tcp_stream/*.c)) $(call rooms,,lib)
$(BUILD)/tcp_stream: LDLIBS += $(ROOM_LDLIBS)
