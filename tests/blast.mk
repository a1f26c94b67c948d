# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/tests/blast
$(BUILD)/tests/blast: $(BUILD)/tests/blast.o
$(BUILD)/tests/blast: LDLIBS += -lz -lpthread
