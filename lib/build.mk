# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the stream programs share, as one archive; each of them links with $(STREAM_LDLIBS).
STREAM_LDLIBS := -ljansson -lm

$(BUILD)/libstream.a: $(patsubst %.c,$(BUILD)/%.o,$(wildcard lib/*.c))
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/lib/options.o: CFLAGS += -DVERSION='"$(VERSION)"'

LIB_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/test_lib_*.c))
UNIT_TESTS += $(LIB_TESTS)
$(LIB_TESTS): $(BUILD)/%: $(BUILD)/%.o $(BUILD)/libstream.a
$(LIB_TESTS): LDLIBS += $(STREAM_LDLIBS)
