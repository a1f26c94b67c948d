# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/tests/verifier_cost
$(BUILD)/tests/verifier_cost: $(BUILD)/tests/verifier_cost.o $(call rooms,,userspace/live)
$(BUILD)/tests/verifier_cost: LDLIBS += $(ROOM_LDLIBS)
$(BUILD)/tests/verifier_cost.o: $(BUILD)/bpf/monitor.skel.h $(BUILD)/bpf/capture.skel.h

.PHONY: budget
budget: $(BUILD)/tests/verifier_cost
	@tests/budget.test
