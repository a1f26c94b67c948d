# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# A unit test is in the folder of its room. It links the room's archive and those below, with the sanitizers.
UNIT_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/unit/*/test_*.c))
unit_room   = $(or $(filter %/$(notdir $(patsubst %/,%,$(dir $1))),$(addprefix /,$(ROOMS))),/userspace/traffic/streams)
# These have other flags, because of several threads, and of a million ICRCs.
RACED_TESTS := $(addprefix $(BUILD)/tests/unit/,offline/test_analysis rdma_stream/test_ring_workers)
PLAIN_TESTS := $(addprefix $(BUILD)/tests/unit/doctor/,test_icrc_random test_icrc_solve)

# These would be compiled longer than they run.
SHORT_TESTS := doctor/test_icrc model/test_dialogue model/test_pair roce/test_decap roce/test_lint roce/test_stream
$(SHORT_TESTS:%=$(BUILD)/sanitized/tests/unit/%.o): OPTIMIZE := -O0

define unit_test
$1: $(BUILD)/$2$(1:$(BUILD)/%=%).o $(call rooms,$2,$(patsubst /%,%,$(call unit_room,$1)))
endef
$(foreach t,$(filter-out $(RACED_TESTS) $(PLAIN_TESTS),$(UNIT_TESTS)),$(eval $(call unit_test,$t,sanitized/)))
$(foreach t,$(RACED_TESTS),$(eval $(call unit_test,$t,raced/)))
$(foreach t,$(PLAIN_TESTS),$(eval $(call unit_test,$t,)))

$(UNIT_TESTS): LINK := $(CLANG) $(SANITIZE)
$(RACED_TESTS): LINK := $(CC) $(SANITIZE_THREADS)
$(PLAIN_TESTS): LINK := $(CC)
$(UNIT_TESTS): LDLIBS += $(ROOM_LDLIBS) -lcmocka
$(UNIT_TESTS):
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) $(LDFLAGS) -Wl,--as-needed -o $@ $(filter %.o %.a,$^) $(LDLIBS)

$(BUILD)/tests/unit/roce/test_message: $(BUILD)/$(if $(filter %/test_message,$(PLAIN_TESTS)),,sanitized/)tests/support/observe_old.o

# Compares the rewritten packets' ICRCs with zlib's.
$(BUILD)/tests/unit/bench/test_rewrite: $(BUILD)/sanitized/bench/frame.o

# The soak (tests/soak.test) for any time; `make test` runs twenty seconds of it.
SOAK_SECONDS ?= 3600
.PHONY: soak
soak: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all
	+@SOAK_SECONDS=$(SOAK_SECONDS) exec tests/soak.test

# Which tests notice a broken rule of the engine: the table of docs/tests.md. ARGS='--count 100' and others: tests/mutate.
.PHONY: mutations
mutations: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all
	+@exec tests/mutate $(or $(ARGS),--write)
