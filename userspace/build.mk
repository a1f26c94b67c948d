# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/rocescope

ROCESCOPE := $(filter-out userspace/udp_stream%,$(wildcard userspace/*.c)) $(wildcard pcap/*.c send/*.c)

$(BUILD)/rocescope: $(patsubst %.c,$(BUILD)/%.o,$(ROCESCOPE)) $(BUILD)/libstream.a
$(BUILD)/rocescope: LDLIBS += -lbpf -lpcap -lsystemd -lisal -lm $(STREAM_LDLIBS)

$(BUILD)/userspace/rocescope.o: CFLAGS += -DVERSION='"$(VERSION)"'
$(BUILD)/userspace/monitor.o: CFLAGS += -iquote $(BUILD)
$(BUILD)/userspace/monitor.o: $(BUILD)/bpf/monitor.skel.h
$(BUILD)/userspace/taken.o: CFLAGS += -iquote $(BUILD)
$(BUILD)/userspace/taken.o: $(BUILD)/bpf/capture.skel.h
$(BUILD)/send/outlet_live.o: CFLAGS += -iquote $(BUILD)
$(BUILD)/send/outlet_live.o: $(BUILD)/bpf/send.skel.h
