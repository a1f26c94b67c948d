# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# libFuzzer targets, of the archives with sanitizers.
#
# make fuzz        runs each target for FUZZ_SECONDS (120), as many at a time as there are CPUs;
#                  FUZZERS='parse stream' only those
FUZZ_TARGETS := parse decap stream mask reader table capture doctor control responder server text options
FUZZ_SECONDS ?= 120
FUZZERS      ?= $(FUZZ_TARGETS)
FUZZ         := $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/fuzz_%)

$(FUZZ): $(BUILD)/tests/fuzz/%: $(BUILD)/sanitized/tests/fuzz/%.o $(call rooms,sanitized/,userspace/command)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -fsanitize=fuzzer $(SANITIZE) -Wl,--as-needed -o $@ $(filter %.o %.a,$^) $(LDLIBS)

$(FUZZ): LDLIBS += $(ROOM_LDLIBS)
$(BUILD)/tests/fuzz/fuzz_capture: LDLIBS += -Wl,--wrap=read,--wrap=lseek
$(BUILD)/tests/fuzz/fuzz_reader: LDLIBS += -Wl,--wrap=capture_read
$(BUILD)/tests/fuzz/fuzz_options: LDLIBS += -Wl,--wrap=exit,--wrap=fopen,--wrap=fclose

.PHONY: fuzz fuzzers
fuzzers: $(and $(GUIDE),$(FUZZ))

fuzz: deps
	@$(MAKE) --no-print-directory -j$(JOBS) fuzzers
	+@cd tests && exec $(PYTHON) -m support.fuzzers --seconds $(FUZZ_SECONDS) $(FUZZERS)
