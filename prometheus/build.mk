# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What `monitor --prometheus` answers; all part of the one command.
$(BUILD)/rocescope: $(patsubst %.c,$(BUILD)/%.o,$(wildcard prometheus/*.c))
$(BUILD)/rocescope: LDLIBS += -lmicrohttpd

$(BUILD)/prometheus/metrics.o: CFLAGS += -DVERSION='"$(VERSION)"'
