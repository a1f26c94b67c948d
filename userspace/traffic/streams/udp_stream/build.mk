# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/udp_stream
$(BUILD)/udp_stream: $(patsubst %.c,$(BUILD)/%.o,$(wildcard userspace/traffic/streams/udp_stream/*.c)) $(call rooms,,userspace/traffic/streams)
$(BUILD)/udp_stream: LDLIBS += $(ROOM_LDLIBS) -luring
