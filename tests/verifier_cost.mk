# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/tests/verifier_cost
$(BUILD)/tests/verifier_cost: $(addprefix $(BUILD)/,tests/verifier_cost.o userspace/maps.o userspace/snapshot.o)
$(BUILD)/tests/verifier_cost: LDLIBS += -lbpf
$(BUILD)/tests/verifier_cost.o: CFLAGS += -iquote $(BUILD)
$(BUILD)/tests/verifier_cost.o: $(BUILD)/bpf/monitor.skel.h $(BUILD)/bpf/capture.skel.h

.PHONY: budget
budget: $(BUILD)/tests/verifier_cost
	@tests/budget.test
