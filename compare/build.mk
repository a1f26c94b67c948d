# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The fault on the wire that the comparator's tests inject (bpf/build.mk has the rule).
all: $(BUILD)/bpf/drop.bpf.o
