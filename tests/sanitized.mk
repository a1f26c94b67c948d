# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make check-sanitized    the tests of `make check` with every program built with the address and undefined-behaviour sanitizers;
#                         T='NAME PATTERN*': only these. In a copy of the tree, because tests look for their programs in build/.
SANITIZED_TREE := $(BUILD)/sanitized-tree
# Unit tests and fuzzers always have them.
SANITIZED_TESTS := $(filter-out tests/fuzz.test,$(TESTS))
# The library of `receive` is without them: programs without them load it. A process tells what it finds in a file: most tests do
# not show what programs say. What a program has not freed when it ends is no mistake; unit tests look for leaks. Programs have these
# options in them, because not every test passes its environment on (by ssh, as another user).
REPORTS := $(abspath $(SANITIZED_TREE))/reports
DEFAULTS := const char *__asan_default_options(void) { return "detect_leaks=0:log_path=$(REPORTS)/asan"; } \
	    const char *__ubsan_default_options(void) { return "print_stacktrace=1:log_path=$(REPORTS)/ubsan"; }

.PHONY: check-sanitized
check-sanitized: deps
	@mkdir -p $(SANITIZED_TREE)/build
	@git ls-files -z | xargs -0 cp --parents --no-dereference --preserve=mode,timestamps -t $(SANITIZED_TREE)
	@ln -sfn $(abspath $(BUILD))/venv $(abspath $(BUILD))/debian $(SANITIZED_TREE)/build
	@touch $(SANITIZED_TREE)/build/.deps
	@$(MAKE) --no-print-directory -C $(SANITIZED_TREE) build/librocescope_receive.so.0
	@echo '$(DEFAULTS)' | $(CLANG) -x c -c -o $(SANITIZED_TREE)/build/defaults.o -
	@CC=$(CLANG) CFLAGS='-O1 -g -fno-omit-frame-pointer $(SANITIZE)' LDFLAGS='$(SANITIZE) build/defaults.o' \
		$(MAKE) --no-print-directory -C $(SANITIZED_TREE) -j$(JOBS) all
	@rm -rf $(REPORTS) && mkdir -m 1777 $(REPORTS)
	@cd $(SANITIZED_TREE) && tests/run check $(T:%='--only=%') $(SANITIZED_TESTS); status=$$?; \
		for report in $(REPORTS)/*; do [ ! -e "$$report" ] || { cat "$$report"; status=1; }; done; exit $$status
