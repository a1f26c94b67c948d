# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The library for programs that use what is received, and an example.
RECEIVE_SONAME  := librocescope_receive.so.0
RECEIVE_LIBRARY := $(addprefix $(BUILD)/,$(RECEIVE_SONAME) librocescope_receive.a)
RECEIVE_OBJECTS := $(patsubst %,$(BUILD)/shared/userspace/traffic/receive/%.o,maps reader blocks library)
all installed: $(RECEIVE_LIBRARY)

$(BUILD)/shared/%.o: override CFLAGS += -fPIC
$(BUILD)/shared/%.o: %.c | $(BUILD)/version.h
	$(compile)

# userspace/traffic/receive/rocescope_receive.map has the names that programs see; in the archive they are the same.
$(BUILD)/$(RECEIVE_SONAME): $(RECEIVE_OBJECTS) userspace/traffic/receive/rocescope_receive.map
	$(call say,LINK,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-z,defs -Wl,-soname,$(@F) -Wl,--version-script,$(filter %.map,$^) -o $@ \
		$(RECEIVE_OBJECTS) -lbpf
$(BUILD)/librocescope_receive.a: $(RECEIVE_OBJECTS)
	$(call say,AR,$@)
	$(Q)$(LD) -r -o $(@:.a=.o) $^
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='rocescope_*' $(@:.a=.o)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(@:.a=.o)

# As a program of others is built: it sees the header and the library, and nothing else.
PROGRAMS += $(BUILD)/examples/blocks
$(BUILD)/examples/blocks: $(BUILD)/userspace/traffic/receive/examples/blocks.o $(BUILD)/librocescope_receive.a
$(BUILD)/examples/blocks: LDLIBS += -lbpf
$(BUILD)/userspace/traffic/receive/examples/blocks.o: CFLAGS := $(filter-out -iquote . $(BUILD),$(CFLAGS)) -I userspace/traffic/receive

INSTALL_DATA  += $(BUILD)/$(RECEIVE_SONAME):$(LIBDIR)/$(RECEIVE_SONAME) $(BUILD)/librocescope_receive.a:$(LIBDIR)/librocescope_receive.a \
		 userspace/traffic/receive/rocescope_receive.h:$(PREFIX)/include/rocescope_receive.h \
		 userspace/traffic/receive/rocescope_receive.py:$(PREFIX)/share/rocescope/rocescope_receive.py
INSTALL_PATHS += userspace/traffic/receive/rocescope_receive.pc.in:$(LIBDIR)/pkgconfig/rocescope_receive.pc
INSTALL_LINKS += $(RECEIVE_SONAME):$(LIBDIR)/librocescope_receive.so
