# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The man page, made of what the program says of itself, and what is installed beside the program: FILE:WHERE, below PREFIX.
MAN_PAGE     := $(BUILD)/packaging/rocescope.8
INSTALL_DATA := $(MAN_PAGE):share/man/man8/rocescope.8 \
		packaging/rocescope.bash:share/bash-completion/completions/rocescope

all install: $(MAN_PAGE)
$(MAN_PAGE): packaging/rocescope.8.in packaging/manpage packaging/helptext.py $(BUILD)/rocescope
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$(PYTHON) -B packaging/manpage $(BUILD)/rocescope $$(git log -1 --format=%cs 2>/dev/null || date +%F) <$< >$@
