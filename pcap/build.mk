# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Capture files, and what of userspace/ only their reader (rocescope analyze) needs; all part of the one command.
CAPTURE_READER := $(addprefix pcap/,reader.c bytes.c decoder.c format_pcap.c format_pcapng.c link.c link_infiniband.c)
CAPTURE_LDLIBS := -lz -llzma -lzstd
$(BUILD)/rocescope: $(patsubst %.c,$(BUILD)/%.o,$(wildcard pcap/*.c) userspace/arguments.c userspace/table.c)
$(BUILD)/rocescope: LDLIBS += $(CAPTURE_LDLIBS)

$(BUILD)/pcap/ng_block.o: CFLAGS += -DVERSION='"$(VERSION)"'

# Includes the sources, so that the sanitizers see them.
UNIT_TESTS += $(BUILD)/tests/unit/test_ng_writer
$(BUILD)/tests/unit/test_ng_writer $(BUILD)/tests/unit/test_ng_writer.o: private CFLAGS += $(SANITIZE)
$(BUILD)/tests/unit/test_ng_writer: $(BUILD)/tests/unit/test_ng_writer.o
