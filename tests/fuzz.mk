# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# libFuzzer targets: everything they run is compiled once more by clang, with its sanitizers, into build/fuzzed/.
#
# make fuzz        each target for FUZZ_SECONDS (120), as many at a time as there are CPUs;
#                  FUZZERS='parse stream' only those
FUZZ_TARGETS := parse decap stream mask reader table capture doctor
FUZZ_SECONDS ?= 120
FUZZERS      ?= $(FUZZ_TARGETS)
FUZZED       := $(BUILD)/fuzzed
FUZZ         := $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/fuzz_%)
FUZZ_SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_CFLAGS  := -O1 -g -fno-omit-frame-pointer -std=gnu11 -Wall -Wextra -Werror -iquote . -D_GNU_SOURCE \
		-fsanitize=fuzzer-no-link $(FUZZ_SANITIZE)

$(FUZZ): $(BUILD)/tests/fuzz/%: $(FUZZED)/tests/fuzz/%.o
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) -fsanitize=fuzzer $(FUZZ_SANITIZE) -o $@ $(filter %.o,$^) $(LDLIBS)

$(BUILD)/tests/fuzz/fuzz_mask: LDLIBS += -lz
$(BUILD)/tests/fuzz/fuzz_table: $(FUZZED)/userspace/table.o
$(BUILD)/tests/fuzz/fuzz_capture: $(CAPTURE_READER:%.c=$(FUZZED)/%.o)
$(BUILD)/tests/fuzz/fuzz_capture: LDLIBS += -Wl,--wrap=read,--wrap=lseek $(CAPTURE_LDLIBS)
# the command without what watches interfaces or sends; its CRC the target has
FUZZ_READER := $(CAPTURE_READER) host/names.c lib/options.c lib/stop.c userspace/cmd_analyze.c $(filter-out $(addprefix userspace/,rocescope.c cmd_% \
	       send_report.c attach.c doctor_live.c events.c hook.c monitor.c service.c share.c findings_% kernel.c layout.c live% maps.c pin.c taken.c udp_stream%),$(wildcard userspace/*.c))
$(BUILD)/tests/fuzz/fuzz_reader: $(FUZZ_READER:%.c=$(FUZZED)/%.o)
$(BUILD)/tests/fuzz/fuzz_reader: LDLIBS += -Wl,--wrap=capture_read $(CAPTURE_LDLIBS) -ljansson -lm
$(BUILD)/tests/fuzz/fuzz_doctor: $(patsubst %.c,$(FUZZED)/%.o,$(wildcard doctor/*.c) $(addprefix userspace/,observer.c pairs.c table.c))
$(BUILD)/tests/fuzz/fuzz_doctor: LDLIBS += -lz -lm -lisal
$(FUZZED)/lib/options.o: FUZZ_CFLAGS += -DVERSION='"$(VERSION)"'

$(FUZZED)/%.o: %.c $(FUZZED)/.libfuzzer
	$(call say,CLANG,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(FUZZ_CFLAGS) -MMD -MP -c -o $@ $<

# Without clang's runtime libraries nothing links: say it once, in words.
$(FUZZED)/.libfuzzer:
	@mkdir -p $(@D)
	@echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return !d && n; }' | \
		$(CLANG) -fsanitize=fuzzer $(FUZZ_SANITIZE) -x c -o $@ - 2>$@.log || \
		{ echo "fuzz: $(CLANG) has no libFuzzer with sanitizers: install libclang-rt-dev (or run 'make deps');" \
		       "details: $@.log" >&2; exit 1; }

.PHONY: fuzz fuzzers
fuzzers: $(FUZZ)
unit-tests: $(FUZZ)

fuzz: deps
	@$(MAKE) --no-print-directory -j$(JOBS) fuzzers
	+@exec tests/fuzzers.py --seconds $(FUZZ_SECONDS) $(FUZZERS)
