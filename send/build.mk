# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The software FPGA behind `rocescope send`, which userspace/build.mk links; here are its unit tests.

# The test includes the sources it tests, so that the sanitizers see them.
UNIT_TESTS += $(BUILD)/tests/unit/test_send_frame
$(BUILD)/tests/unit/test_send_frame $(BUILD)/tests/unit/test_send_frame.o: private CFLAGS += -fsanitize=address,undefined -fno-sanitize-recover=undefined
$(BUILD)/tests/unit/test_send_frame: LDLIBS += -lisal -lz
$(BUILD)/tests/unit/test_send_frame: $(BUILD)/tests/unit/test_send_frame.o
