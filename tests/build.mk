# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unit tests of the engine and of what stores its streams, with the address and undefined-behaviour sanitizers on.
ENGINE_TESTS := $(addprefix $(BUILD)/tests/unit/test_,opcode parse icrc psn model message lint stream pair dialogue table decap event_text fault_list plot_row filter focus history)
UNIT_TESTS   += $(ENGINE_TESTS)

# The last six include their sources. private: the command's own objects, which test_table links, stay as they are
$(ENGINE_TESTS) $(ENGINE_TESTS:%=%.o): private CFLAGS += $(SANITIZE)
$(ENGINE_TESTS): LDLIBS += -lz
$(ENGINE_TESTS): $(BUILD)/%: $(BUILD)/%.o
$(BUILD)/tests/unit/test_table: $(addprefix $(BUILD)/userspace/,table.o snapshot.o faults.o)
$(BUILD)/tests/unit/test_filter: $(addprefix $(BUILD)/,lib/options.o userspace/snapshot.o)
$(BUILD)/tests/unit/test_fault_list: $(addprefix $(BUILD)/,lib/options.o userspace/filter.o)
$(BUILD)/tests/unit/test_filter $(BUILD)/tests/unit/test_fault_list $(BUILD)/tests/unit/test_history: LDLIBS += -lm
$(BUILD)/tests/unit/test_history: $(BUILD)/userspace/table.o
$(BUILD)/tests/unit/test_pair: $(BUILD)/userspace/pairs.o
$(BUILD)/tests/unit/test_dialogue: $(addprefix $(BUILD)/userspace/,limit.o snapshot.o)

# The analysis of captures on several threads, all of it once more with the thread sanitizer.
UNIT_TESTS += $(BUILD)/tests/unit/test_analysis
$(BUILD)/tests/unit/test_analysis: $(patsubst %.c,$(BUILD)/raced/%.o,tests/unit/test_analysis.c \
	$(filter-out pcap/ng_% pcap/writer.c,$(wildcard pcap/*.c)) \
	$(addprefix userspace/,analysis.c analysis_files.c analysis_part.c observer.c table.c pairs.c snapshot.c))
$(BUILD)/tests/unit/test_analysis: LDLIBS += -fsanitize=thread -lisal -lz $(CAPTURE_LDLIBS)

# The soak (tests/soak.test) for as long as one wants; `make test` has a minute of it.
SOAK_SECONDS ?= 3600
.PHONY: soak
soak: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all
	+@SOAK_SECONDS=$(SOAK_SECONDS) exec tests/soak.test
