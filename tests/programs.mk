# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Programs that the tests run: build/tests/NAME, of one source in tests/support/.
# $(call test_program,NAME,SOURCE,ROOM,VARIANT): links the archives up to that room.
define test_program
PROGRAMS += $(BUILD)/tests/$1
$(BUILD)/tests/$1: $(BUILD)/$4tests/support/$2.o $(call rooms,$4,$3)
$(BUILD)/tests/$1: LDLIBS += $(ROOM_LDLIBS)
$(if $4,$(BUILD)/tests/$1: LINK := $(CLANG) $(SANITIZE))
endef
$(eval $(call test_program,blast,blast,userspace/traffic/streams))
$(eval $(call test_program,outlet_drive,outlet_drive,userspace/traffic/send))
$(eval $(call test_program,ng_drive,ng_drive,pcap,sanitized/))
# The reader of capture files: one program checks its output, one its speed.
$(eval $(call test_program,capture_dump,capture_dump,pcap,sanitized/))
$(eval $(call test_program,capture_speed,capture_dump,pcap))
# The kernel's programs, run by BPF_PROG_TEST_RUN or only loaded.
$(eval $(call test_program,xdp_replay,xdp_replay,userspace/observe/live))
$(BUILD)/tests/xdp_replay: $(BUILD)/tests/support/observe_old.o
$(eval $(call test_program,capture_replay,capture_replay,userspace/observe/live))
$(eval $(call test_program,verifier_cost,verifier_cost,userspace/observe/live))
$(eval $(call test_program,receive_replay,receive_replay,userspace/observe/live))
$(eval $(call test_program,receive_cpus,receive_cpus,userspace/observe/live))
$(eval $(call test_program,receive_feed,receive_feed,userspace/observe/live))
$(addprefix $(BUILD)/tests/support/,capture_replay.o verifier_cost.o): $(BUILD)/bpf/capture.skel.h
$(BUILD)/tests/support/verifier_cost.o: $(BUILD)/bpf/verbs.skel.h
$(addprefix $(BUILD)/tests/support/,verifier_cost.o receive_replay.o receive_cpus.o receive_feed.o): $(BUILD)/bpf/receive.skel.h
# rocescope with made-up QPs: what this source defines takes the place of what the archive has.
$(eval $(call test_program,verbs_made_up,verbs_made_up,userspace/command))
$(BUILD)/tests/verbs_made_up: LDFLAGS += -Wl,-z,muldefs

# A provider of verbs without a device, a program that uses it, and the probes at its calls.
$(eval $(call test_program,verbs_drive,verbs_drive,userspace/observe/verbs))
$(BUILD)/tests/support/verbs_drive.o: $(BUILD)/bpf/verbs.skel.h
PROGRAMS += $(BUILD)/tests/verbs_standin
$(BUILD)/tests/verbs_standin: $(BUILD)/tests/support/verbs_standin.o $(BUILD)/bench/verbs_provider.o
$(BUILD)/tests/verbs_standin: LDLIBS += -ldl -lpthread
VERBS_PROVIDER := $(BUILD)/tests/verbs_provider.so
all: $(VERBS_PROVIDER)
$(VERBS_PROVIDER): bench/verbs_provider.c bench/verbs_provider.h
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -fPIC -shared -o $@ $<

# rdma_stream, with its provider linked in: where the distribution has all of its libraries as archives.
STATIC_STREAM := $(BUILD)/tests/rdma_stream_static
static_library = $(wildcard $(dir $(shell $(CC) -print-file-name=libibverbs.a))$1.a)
STATIC_RXE := $(call static_library,librxe-rdmav*)
ifneq ($(and $(STATIC_RXE),$(call static_library,libjansson),$(call static_library,libnl-route-3)),)
all: $(STATIC_STREAM)
endif
$(BUILD)/tests/static/device.o: rxe_tests/rdma_stream/device.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -DRDMA_STATIC_PROVIDERS=rxe -MMD -MP -c -o $@ $<
# The linker warns of functions that load libraries, none of which is called.
$(STATIC_STREAM): $(BUILD)/tests/static/device.o $(patsubst %.c,$(BUILD)/%.o,$(filter-out %/device.c,$(wildcard rxe_tests/rdma_stream/*.c))) \
		$(call rooms,,userspace/traffic/streams)
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -static $(if $(findstring no-warnings,$(shell $(LD) --help)),-Xlinker --no-warnings) -o $@ $^ \
		-libverbs $(STATIC_RXE) -libverbs -lnl-route-3 -lnl-3 -ljansson -lm -lpthread

.PHONY: budget
budget: $(BUILD)/tests/verifier_cost
	@tests/budget.test

# The XDP programs that xdp-loader loads beside ours in tests/share.test.
NEIGHBOUR := $(BUILD)/tests/support/neighbour.bpf.o
all: $(NEIGHBOUR)
$(NEIGHBOUR): tests/support/neighbour.bpf.c
	$(call say,CLANG,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<
