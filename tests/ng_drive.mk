# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# With sanitizers: the writer's own objects, which the command links, stay as they are.
PROGRAMS += $(BUILD)/tests/ng_drive
NG_WRITER := $(BUILD)/tests/ng_writer.o $(BUILD)/tests/ng_block.o
$(NG_WRITER) $(BUILD)/tests/ng_drive.o $(BUILD)/tests/ng_drive: private CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined
$(NG_WRITER): private CFLAGS += -DVERSION='"$(VERSION)"'
$(NG_WRITER): $(BUILD)/tests/%.o: pcap/%.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/tests/ng_drive: $(BUILD)/tests/ng_drive.o $(NG_WRITER)
