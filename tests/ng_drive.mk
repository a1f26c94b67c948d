# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The writer of pcapng alone, with sanitizers, for tests/ng_writer.test.
PROGRAMS += $(BUILD)/tests/ng_drive
$(BUILD)/tests/ng_drive: $(addprefix $(BUILD)/sanitized/,tests/ng_drive.o pcap/ng_writer.o pcap/ng_block.o)
$(BUILD)/tests/ng_drive: LDFLAGS += $(SANITIZE)
$(BUILD)/sanitized/pcap/ng_block.o: CFLAGS += -DVERSION='"$(VERSION)"'
