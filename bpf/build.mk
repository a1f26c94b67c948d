# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The kernel programs, and the skeleton headers with which user space loads them.
# Programs at functions (verbs) read the CPU's registers, by bpf_tracing.h's names of CPUs.
BPF_CPU = $(subst x86_64,x86,$(subst aarch64,arm64,$(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))))
BPF_CFLAGS := -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Werror -iquote . -D__TARGET_ARCH_$(BPF_CPU) \
	      -I$(SYSROOT)/usr/include/$(shell $(CC) -print-multiarch)

SKELETONS := $(patsubst %,$(BUILD)/bpf/%.skel.h,monitor monitor_old capture receive send redirect verbs)

# Such a program has all arguments of its function, and uses some.
$(BUILD)/bpf/verbs.bpf.o: BPF_CFLAGS += -Wno-unused-parameter

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	$(call say,CLANG,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/bpf/%.skel.h: $(BUILD)/bpf/%.bpf.o
	$(call say,SKELETON,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

# Make the skeletons before the objects that may include them.
$(foreach v,$(VARIANTS),$(foreach room,observe/live observe/verbs traffic/streams traffic/send traffic/receive command,$(patsubst %.c,$(BUILD)/$(call variant,$v)%.o,$(wildcard userspace/$(room)/*.c)))): | $(SKELETONS)
