# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/tests/capture_replay
$(BUILD)/tests/capture_replay: $(addprefix $(BUILD)/,tests/capture_replay.o $(CAPTURE_READER:.c=.o)) \
	$(addprefix $(BUILD)/userspace/,observer.o table.o pairs.o snapshot.o maps.o event_text.o focus.o)
$(BUILD)/tests/capture_replay: LDLIBS += -lbpf -lisal $(CAPTURE_LDLIBS)
$(BUILD)/tests/capture_replay.o: CFLAGS += -iquote $(BUILD)
$(BUILD)/tests/capture_replay.o: $(BUILD)/bpf/capture.skel.h
