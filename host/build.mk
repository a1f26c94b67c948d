# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What this machine knows itself of QPs and devices; all part of the one command.
$(BUILD)/rocescope: $(patsubst %.c,$(BUILD)/%.o,$(wildcard host/*.c))
$(patsubst %.c,$(BUILD)/%.o,$(wildcard host/*.c)) $(patsubst %.c,$(BUILD)/sanitized/%.o,$(wildcard host/*.c)): CFLAGS += $(shell $(PKG) --cflags libnl-genl-3.0)

HOST_TEST := $(BUILD)/tests/unit/test_host
UNIT_TESTS += $(HOST_TEST)
$(HOST_TEST) $(HOST_TEST).o: private CFLAGS += $(SANITIZE) $(shell $(PKG) --cflags libnl-genl-3.0)
$(HOST_TEST): $(HOST_TEST).o $(patsubst %,$(BUILD)/sanitized/host/%.o,book hints names owners rdma)
$(HOST_TEST): LDLIBS += -lnl-3
