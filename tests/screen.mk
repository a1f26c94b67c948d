# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What the table of `monitor` shows, without a terminal, with the address and undefined-behaviour sanitizers on.
UNIT_TESTS += $(BUILD)/tests/unit/test_screen
$(BUILD)/tests/unit/test_screen: $(patsubst %.c,$(BUILD)/sanitized/%.o,tests/unit/test_screen.c \
	$(addprefix screen/,columns.c format.c hold.c lines.c rows.c stream_page.c) \
	$(addprefix userspace/,event_text.c filter.c focus.c history.c limit.c rates.c snapshot.c table.c)) $(BUILD)/lib/options.o
$(BUILD)/tests/unit/test_screen: private CFLAGS += $(SANITIZE)
$(BUILD)/tests/unit/test_screen: LDLIBS += -lm
