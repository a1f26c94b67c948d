# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The XDP programs beside ours in tests/share.test, which xdp-loader loads.
NEIGHBOUR := $(BUILD)/tests/neighbour.bpf.o
all: $(NEIGHBOUR)
$(NEIGHBOUR): tests/neighbour.bpf.c
	$(call say,CLANG,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<
