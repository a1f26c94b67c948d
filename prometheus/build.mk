# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What `monitor --prometheus` answers; all part of the one command.
$(BUILD)/rocescope: $(patsubst %.c,$(BUILD)/%.o,$(wildcard prometheus/*.c))
$(BUILD)/rocescope: LDLIBS += -lmicrohttpd

$(BUILD)/prometheus/metrics.o: CFLAGS += -DVERSION='"$(VERSION)"'

# Includes the sources, so that the sanitizers see them.
UNIT_TESTS += $(BUILD)/tests/unit/test_metrics
$(BUILD)/tests/unit/test_metrics $(BUILD)/tests/unit/test_metrics.o: private CFLAGS += $(SANITIZE) -DVERSION='"$(VERSION)"'
$(BUILD)/tests/unit/test_metrics: $(BUILD)/tests/unit/test_metrics.o $(addprefix $(BUILD)/userspace/,event_text.o limit.o snapshot.o) $(BUILD)/libstream.a
$(BUILD)/tests/unit/test_metrics: LDLIBS += -lmicrohttpd $(STREAM_LDLIBS)
