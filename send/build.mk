# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The software FPGA behind `rocescope send`, which userspace/build.mk links; here are its unit tests.

NETLINK_LDLIBS = -lnl-genl-3 -lnl-3
$(BUILD)/rocescope: LDLIBS += -lxdp $(NETLINK_LDLIBS)
$(addprefix $(BUILD)/send/,netdev.o netlink.o machine.o): CFLAGS += $(shell $(PKG) --cflags libnl-genl-3.0)

# Each includes the source it tests, so that the sanitizers see it.
SEND_TESTS := $(addprefix $(BUILD)/tests/unit/test_send_,frame compose truth fault)
UNIT_TESTS += $(SEND_TESTS)
# private: the command's own objects stay as they are
$(SEND_TESTS) $(SEND_TESTS:%=%.o): private CFLAGS += $(SANITIZE)
$(SEND_TESTS): LDLIBS += -lisal -lz
$(SEND_TESTS): $(BUILD)/%: $(BUILD)/%.o
$(BUILD)/tests/unit/test_send_truth: LDLIBS += -ljansson
$(BUILD)/tests/unit/test_send_compose: $(addprefix $(BUILD)/send/,payload.o frame.o icrc_way.o)
$(BUILD)/tests/unit/test_send_fault: $(addprefix $(BUILD)/send/,qp.o compose.o payload.o frame.o icrc_way.o)
$(BUILD)/tests/unit/test_send_fault: $(BUILD)/libstream.a
$(BUILD)/tests/unit/test_send_fault: LDLIBS += $(STREAM_LDLIBS)

UNIT_TESTS += $(BUILD)/tests/unit/test_send_options
$(BUILD)/tests/unit/test_send_options: $(BUILD)/tests/unit/test_send_options.o
$(BUILD)/tests/unit/test_send_options: $(addprefix $(BUILD)/send/,options.o option_values.o option_rules.o option_file.o complete.o)
$(BUILD)/tests/unit/test_send_options: $(addprefix $(BUILD)/send/,machine.o netlink.o presets.o lateness.o) $(BUILD)/libstream.a
$(BUILD)/tests/unit/test_send_options: LDLIBS += $(NETLINK_LDLIBS) $(STREAM_LDLIBS)
