# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/dpdk_stream
DPDK_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard dpdk_udp/*.c))
$(BUILD)/dpdk_stream: $(DPDK_OBJECTS) $(call rooms,,userspace/traffic/streams)
$(BUILD)/dpdk_stream: LDLIBS += $(ROOM_LDLIBS) $(shell $(PKG) --libs libdpdk)
$(DPDK_OBJECTS): override CFLAGS += $(shell $(PKG) --cflags libdpdk)
