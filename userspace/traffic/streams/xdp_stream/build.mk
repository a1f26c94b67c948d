# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/xdp_stream
XDP_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard userspace/traffic/streams/xdp_stream/*.c))
$(BUILD)/xdp_stream: $(XDP_OBJECTS) $(call rooms,,userspace/traffic/streams)
$(BUILD)/xdp_stream: LDLIBS += $(ROOM_LDLIBS)
$(XDP_OBJECTS): | $(BUILD)/bpf/redirect.skel.h
