# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# The rooms, lowest first, a wing a line. A room includes only itself and rooms before it (tests/rooms.test), and is linked in this
# order: what a lower room would need of a higher one is not found. bpf/ has no C files of user space.
ROOMS := $(addprefix roce/,packet icrc stream message sequence event datagram dialogue responder) roce
ROOMS += lib lib/terminal bpf pcap
ROOMS += $(addprefix userspace/observe/,model offline live host verbs)
ROOMS += $(addprefix userspace/traffic/,streams send receive)
ROOMS += $(addprefix userspace/diagnose/,solver finding icrc flow doctor path bring_up between qp_error)
ROOMS += $(addprefix userspace/render/,output screen prometheus)
ROOMS += userspace/command

# What they need of other libraries. Each program links those it uses (--as-needed).
ROOM_LDLIBS := -lbpf -lxdp -lpcap -lz -llzma -lzstd -lisal -lnl-genl-3 -lnl-3 -ljansson -lmicrohttpd -lncursesw -lsystemd -lm

# $(call rooms,VARIANT,ROOM): the archives of a room and of all before it, as they are linked.
sources = $(filter-out %.bpf.c,$(wildcard $1/*.c))
up_to  :=
$(foreach room,$(ROOMS),$(if $(call sources,$(room)),$(eval up_to := $(room) $(up_to)))$(eval up_to_$(room) := $(up_to)))
rooms   = $(up_to_$2:%=$(BUILD)/$1%.a)

# Each room once for the programs; once with clang's address and undefined-behaviour sanitizers, for unit tests and fuzzers;
# once with the thread sanitizer; once for Wireshark's plugin.
VARIANTS := programs sanitized raced wireshark
variant   = $(if $(filter-out programs,$1),$1/)

define archive
$(BUILD)/$1$2.a: $(patsubst %.c,$(BUILD)/$1%.o,$(call sources,$2))
endef
$(foreach v,$(VARIANTS),$(foreach room,$(ROOMS),$(eval $(call archive,$(call variant,$v),$(room)))))

$(BUILD)/%.a:
	$(call say,AR,$@)
	@mkdir -p $(@D)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

define compile
$(call say,CC,$@)
@mkdir -p $(@D)
$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
endef

# SANITIZE=: without any, and without fuzzers, where the CPU is emulated.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
# gcc warns that it cannot follow fences; those of observe/live are in no test with threads.
SANITIZE_THREADS := $(and $(SANITIZE),-fsanitize=thread $(if $(findstring clang,$(CC)),,-Wno-tsan))
# What the fuzzers are guided by. A unit test takes no notice of it.
GUIDE := $(and $(SANITIZE),-fsanitize=fuzzer-no-link)

$(BUILD)/%.o: %.c | $(BUILD)/version.h
	$(compile)
$(BUILD)/raced/%.o: override CFLAGS += $(SANITIZE_THREADS)
$(BUILD)/raced/%.o: %.c | $(BUILD)/version.h
	$(compile)
$(BUILD)/sanitized/%.o: OPTIMIZE := -O1
$(BUILD)/sanitized/%.o: %.c | $(BUILD)/version.h $(and $(GUIDE),$(BUILD)/sanitized/.libfuzzer)
	$(call say,CLANG,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(OPTIMIZE) -g -fno-omit-frame-pointer $(WARNINGS) $(INCLUDES) $(GUIDE) $(SANITIZE) -MMD -MP -c -o $@ $<

$(BUILD)/sanitized/.libfuzzer:
	@mkdir -p $(@D)
	@echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d && n; }' | \
		$(CLANG) -fsanitize=fuzzer $(SANITIZE) -x c -o $@ - 2>$@.log || \
		{ echo "$(CLANG) has no libFuzzer with sanitizers: run 'make deps' (details: $@.log)" >&2; exit 1; }

# Made anew only when it differs, and what includes it then as well.
.PHONY: .version
$(BUILD)/version.h: .version
	@mkdir -p $(@D)
	@line='#define VERSION "$(VERSION)"'; echo "$$line" | cmp -s - $@ || echo "$$line" >$@
