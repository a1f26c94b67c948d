# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make install     installs the command, the library of `receive` and their files on the machine; starts and enables nothing
#                  PREFIX=/usr/local; DESTDIR= for packages
# make uninstall   removes these files
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
LIBDIR  ?= $(PREFIX)/lib
UNITDIR ?= $(PREFIX)/lib/systemd/system
USERDIR ?= $(PREFIX)/lib/sysusers.d
FILEDIR ?= $(PREFIX)/lib/tmpfiles.d
ZSHDIR  ?= $(PREFIX)/share/zsh/site-functions

# FILE:WHERE. Files, files with paths in them, and links; other fragments add theirs.
INSTALL_DATA  = packaging/rocescope.sysusers:$(USERDIR)/rocescope.conf packaging/rocescope.tmpfiles:$(FILEDIR)/rocescope.conf
INSTALL_PATHS = packaging/rocescope@.service:$(UNITDIR)/rocescope@.service
INSTALL_LINKS =
EDIT_PATHS    = sed 's,/usr/local/bin,$(BINDIR),; s,@PREFIX@,$(PREFIX),; s,@LIBDIR@,$(LIBDIR),; s,@VERSION@,$(VERSION),'

.PHONY: installed install uninstall
installed: $(BUILD)/rocescope

install: installed
	install -D -m 0755 $(BUILD)/rocescope $(DESTDIR)$(BINDIR)/rocescope
	for f in $(INSTALL_DATA); do install -D -m 0644 $${f%%:*} $(DESTDIR)$${f#*:} || exit 1; done
	for f in $(INSTALL_PATHS); do $(EDIT_PATHS) $${f%%:*} | install -D -m 0644 /dev/stdin $(DESTDIR)$${f#*:} || exit 1; done
	for f in $(INSTALL_LINKS); do ln -sf $${f%%:*} $(DESTDIR)$${f#*:} || exit 1; done

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/rocescope
	for f in $(INSTALL_DATA) $(INSTALL_PATHS) $(INSTALL_LINKS); do rm -f $(DESTDIR)$${f#*:}; done
	! test -d $(DESTDIR)$(PREFIX)/share/rocescope || rmdir --ignore-fail-on-non-empty $(DESTDIR)$(PREFIX)/share/rocescope
