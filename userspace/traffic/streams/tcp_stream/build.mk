# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/tcp_stream
$(BUILD)/tcp_stream: $(patsubst %.c,$(BUILD)/%.o,$(wildcard userspace/traffic/streams/tcp_stream/*.c)) $(call rooms,,userspace/traffic/streams)
$(BUILD)/tcp_stream: LDLIBS += $(ROOM_LDLIBS)
