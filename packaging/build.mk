# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make install     installs the command, the library of `receive` and their files on the machine; starts and enables nothing
#                  PREFIX=/usr/local; DESTDIR= for packages
# make uninstall   removes these files
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
UNITDIR ?= $(PREFIX)/lib/systemd/system
USERDIR ?= $(PREFIX)/lib/sysusers.d
FILEDIR ?= $(PREFIX)/lib/tmpfiles.d

.PHONY: install uninstall
install: $(BUILD)/rocescope
	install -D -m 0755 $(BUILD)/rocescope $(DESTDIR)$(BINDIR)/rocescope
	sed 's,/usr/local/bin,$(BINDIR),' 'packaging/rocescope@.service' | \
		install -D -m 0644 /dev/stdin '$(DESTDIR)$(UNITDIR)/rocescope@.service'
	install -D -m 0644 packaging/rocescope.sysusers $(DESTDIR)$(USERDIR)/rocescope.conf
	install -D -m 0644 packaging/rocescope.tmpfiles $(DESTDIR)$(FILEDIR)/rocescope.conf
	for f in $(INSTALL_DATA); do install -D -m 0644 $${f%%:*} $(DESTDIR)$(PREFIX)/$${f#*:} || exit 1; done
	for f in $(INSTALL_LINKS); do ln -sf $${f%%:*} $(DESTDIR)$(PREFIX)/$${f#*:} || exit 1; done

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/rocescope '$(DESTDIR)$(UNITDIR)/rocescope@.service' \
		$(DESTDIR)$(USERDIR)/rocescope.conf $(DESTDIR)$(FILEDIR)/rocescope.conf
	for f in $(INSTALL_DATA) $(INSTALL_LINKS); do rm -f $(DESTDIR)$(PREFIX)/$${f#*:}; done
