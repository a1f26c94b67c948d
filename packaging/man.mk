# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The man page and the completions of bash and zsh, generated from the program's own dump.
MAN_PAGE      := $(BUILD)/packaging/rocescope.8
COMPLETIONS   := $(addprefix $(BUILD)/packaging/rocescope.,bash zsh)
INSTALL_DATA  += $(MAN_PAGE):$(PREFIX)/share/man/man8/rocescope.8 \
		 $(BUILD)/packaging/rocescope.bash:$(PREFIX)/share/bash-completion/completions/rocescope \
		 $(BUILD)/packaging/rocescope.zsh:$(ZSHDIR)/_rocescope

all installed: $(MAN_PAGE) $(COMPLETIONS)
$(MAN_PAGE): packaging/rocescope.8.in packaging/manpage packaging/helptext.py $(BUILD)/rocescope
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$(PYTHON) -B packaging/manpage $(BUILD)/rocescope $(DATE) <$< >$@
$(COMPLETIONS): $(BUILD)/%: %.in packaging/completion packaging/helptext.py $(BUILD)/rocescope
	$(call say,COMPLETE,$@)
	@mkdir -p $(@D)
	$(Q)$(PYTHON) -B packaging/completion $(BUILD)/rocescope <$< >$@
