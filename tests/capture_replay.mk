# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/tests/capture_replay
$(BUILD)/tests/capture_replay: $(BUILD)/tests/capture_replay.o $(call rooms,,userspace/live)
$(BUILD)/tests/capture_replay: LDLIBS += $(ROOM_LDLIBS)
$(BUILD)/tests/capture_replay.o: $(BUILD)/bpf/capture.skel.h
