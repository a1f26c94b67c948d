# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make wireshark              the plugin, for the Wireshark whose headers are installed (libwireshark-dev)
# make wireshark-install      ... into the user's plugin folder (root: everybody's), and the profile
# make wireshark-install-lua  what needs no compiler instead of it: the Lua twin, and the profile
#
# Wireshark is GPL-2.0-or-later: what is linked with it is distributed under the GPL, which our files' BSD-2-Clause arm allows.
#
# Nothing of this is part of `make`, which must not ask for those headers: pkg-config is asked in recipes only.
WIRESHARK        := $(BUILD)/wireshark
WIRESHARK_SERIES  = $(shell $(PKG) --modversion wireshark | cut -d. -f1,2)
# WIRESHARK_PLUGIN_DIR=$(WIRESHARK)/plugins tries it without installing
WIRESHARK_PLUGIN  = $(WIRESHARK)/plugins/$(WIRESHARK_SERIES)/epan/rocescope.so

# what else goes in, compiled anew as a shared object wants it
WIRESHARK_OBJECTS := $(patsubst %.c,$(WIRESHARK)/%.o,$(wildcard userspace/render/wireshark/*.c))

.PHONY: wireshark wireshark-install wireshark-install-lua wireshark-profile .wireshark-version
wireshark: $(WIRESHARK)/.linked

# Wireshark loads only what was made for its own series
$(WIRESHARK)/.version: .wireshark-version
	@mkdir -p $(@D)
	@$(PKG) --modversion wireshark >$@.new 2>/dev/null || { rm -f $@.new; \
		echo "wireshark: no headers of Wireshark: apt-get install libwireshark-dev libglib2.0-dev" >&2; exit 1; }
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(WIRESHARK)/.linked: $(WIRESHARK_OBJECTS) $(call rooms,wireshark/,userspace/observe/model)
	$(call say,LINK,$(WIRESHARK_PLUGIN))
	@mkdir -p $(dir $(WIRESHARK_PLUGIN))
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs -o $(WIRESHARK_PLUGIN) $^ -Wl,--as-needed $(ROOM_LDLIBS) \
		$(shell $(PKG) --libs wireshark)
	@touch $@

$(WIRESHARK)/%.o: override CFLAGS += -fPIC -fvisibility=hidden
$(WIRESHARK_OBJECTS): override CFLAGS += $(patsubst -I%,-isystem %,$(shell $(PKG) --cflags wireshark))

$(WIRESHARK)/%.o: %.c $(WIRESHARK)/.version | $(BUILD)/version.h
	$(compile)

wireshark-install: wireshark wireshark-profile
	@userspace/render/wireshark/install plugin $(WIRESHARK_PLUGIN)

wireshark-install-lua: wireshark-profile
	@userspace/render/wireshark/install lua userspace/render/wireshark/rocescope.lua

wireshark-profile:
	@userspace/render/wireshark/install profile userspace/render/wireshark/profile/*
