# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# What tools/testing/selftests/lib.mk does for tests in a kernel tree, for those of this folder. Not a part of the build.
.PHONY: all install emit_tests
all:

install:
	mkdir -p $(INSTALL_PATH)
	cp -L $(TEST_PROGS) $(TEST_FILES) Makefile config settings $(INSTALL_PATH)

emit_tests:
	@printf '$(COLLECTION):%s\n' $(TEST_PROGS)
