# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
BENCH := $(BUILD)/bench
PROGRAMS += $(BENCH)/engine $(BENCH)/live $(BENCH)/unchanged

$(BENCH)/%.bpf.o: bench/%.bpf.c
	$(call say,CLANG,$@)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(BENCH)/%.skel.h: $(BENCH)/%.bpf.o
	$(call say,SKELETON,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

$(BENCH)/engine.o: $(BENCH)/bench.skel.h
$(BENCH)/engine: $(BENCH)/engine.o $(BENCH)/frame.o $(BENCH)/probe.o $(call rooms,,userspace/observe/live)
$(BENCH)/engine: LDLIBS += $(ROOM_LDLIBS)

$(BENCH)/live.o: $(BENCH)/live.skel.h
$(BENCH)/live: $(BENCH)/live.o $(BENCH)/frame.o
$(BENCH)/live: LDLIBS += -lbpf -lz

$(BENCH)/unchanged: $(BENCH)/unchanged.o $(BENCH)/frame.o
$(BENCH)/unchanged: LDLIBS += -lxdp -lbpf -lz

PROGRAMS += $(BENCH)/read_crc
$(BENCH)/read_crc: $(BENCH)/read_crc.o
$(BENCH)/read_crc: LDLIBS += -lisal

PROGRAMS += $(BENCH)/write_receiver
$(BENCH)/write_receiver.o: | $(BUILD)/bpf/redirect.skel.h
$(BENCH)/write_receiver: $(BENCH)/write_receiver.o $(call rooms,,userspace/traffic/streams)
$(BENCH)/write_receiver: LDLIBS += $(ROOM_LDLIBS)

PROGRAMS += $(BENCH)/verbs_calls
$(BENCH)/verbs_calls.o: | $(BUILD)/bpf/verbs.skel.h
$(BENCH)/verbs_calls: $(BENCH)/verbs_calls.o $(BENCH)/verbs_provider.o $(call rooms,,userspace/observe/verbs)
$(BENCH)/verbs_calls: LDLIBS += $(ROOM_LDLIBS)

PROGRAMS += $(BENCH)/watch_cores
$(BENCH)/watch_cores: $(BENCH)/watch_cores.o $(BENCH)/probe.o

PROGRAMS += $(BENCH)/watch_run
$(BENCH)/watch_run: $(BENCH)/watch_run.o $(BENCH)/probe.o

.PHONY: bench
bench: $(DEPS)
	@$(MAKE) --no-print-directory -j$(JOBS) all
	+@exec bench/bench --output $(BENCH) $(ARGS)
