# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/tests/xdp_replay
$(BUILD)/tests/xdp_replay: $(BUILD)/tests/xdp_replay.o $(call rooms,,userspace/live)
$(BUILD)/tests/xdp_replay: LDLIBS += $(ROOM_LDLIBS)
$(BUILD)/tests/xdp_replay.o: $(BUILD)/bpf/monitor.skel.h
