# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make install     installs the command, the library of `receive` and their files on the machine; starts and enables nothing
#                  PREFIX=/usr/local; DESTDIR= for packages
# make uninstall   removes these files
# make deb         Debian packages of this tree, in build/deb/ (docs/install.md)
#                  DEB_BUILD_OPTIONS= runs the unit tests as well, as dpkg-buildpackage does
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

# dpkg-buildpackage works in a copy: it leaves its files beside debian/, and its packages in the folder above. A commit after a
# release is a newer version than the release, one before it an older.
DEB         := $(BUILD)/deb
DEB_BUILD_OPTIONS ?= nocheck
DEB_VERSION  = $(if $(filter $(RELEASE)%,$(VERSION)),$(subst -,+,$(VERSION)),$(RELEASE)~$(subst -,+,$(VERSION)))

.PHONY: deb
deb:
	@command -v dpkg-buildpackage >/dev/null || { echo "deb: no dpkg-buildpackage: apt-get install dpkg-dev" >&2; exit 1; }
	@rm -rf $(DEB)
	@mkdir -p $(DEB)/rocescope
	@tar -c --exclude-vcs --exclude=__pycache__ --exclude=./$(BUILD) . | tar -x -C $(DEB)/rocescope
	@sed -i '1s/(.*)/($(DEB_VERSION))/' $(DEB)/rocescope/debian/changelog
	@cd $(DEB)/rocescope && { dpkg-checkbuilddeps || \
		{ echo "deb: 'apt-get build-dep .' installs them (once, as root)" >&2; exit 1; }; }
	@cd $(DEB)/rocescope && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS DEB_BUILD_OPTIONS="noautodbgsym $(DEB_BUILD_OPTIONS)" \
		dpkg-buildpackage --build=binary --no-sign -jauto
	@rm -rf $(DEB)/rocescope
	@ls $(DEB)/*.deb
