# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/tests/xdp_replay
$(BUILD)/tests/xdp_replay: $(addprefix $(BUILD)/,tests/xdp_replay.o userspace/maps.o userspace/snapshot.o userspace/table.o userspace/pairs.o)
$(BUILD)/tests/xdp_replay: LDLIBS += -lbpf -lpcap
$(BUILD)/tests/xdp_replay.o: CFLAGS += -iquote $(BUILD)
$(BUILD)/tests/xdp_replay.o: $(BUILD)/bpf/monitor.skel.h
