# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The man page and the completion, generated from the program's own dump, and the other files to install: FILE:WHERE, below
# PREFIX.
MAN_PAGE     := $(BUILD)/packaging/rocescope.8
COMPLETION   := $(BUILD)/packaging/rocescope.bash
INSTALL_DATA := $(MAN_PAGE):share/man/man8/rocescope.8 $(COMPLETION):share/bash-completion/completions/rocescope

all install: $(MAN_PAGE) $(COMPLETION)
$(MAN_PAGE): packaging/rocescope.8.in packaging/manpage packaging/helptext.py $(BUILD)/rocescope
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$(PYTHON) -B packaging/manpage $(BUILD)/rocescope $$(git log -1 --format=%cs 2>/dev/null || date +%F) <$< >$@
$(COMPLETION): packaging/rocescope.bash.in packaging/completion packaging/helptext.py $(BUILD)/rocescope
	$(call say,BASH,$@)
	@mkdir -p $(@D)
	$(Q)$(PYTHON) -B packaging/completion $(BUILD)/rocescope <$< >$@
