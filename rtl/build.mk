# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# make build/rtl_example       the ICRC inserter of docs/rtl.md, simulated, with 8 bytes a beat
# make build/rtl_example_64    the same with 64 (or 16, 32)
#
# `make` builds neither: nothing else needs Verilator. With all loops unrolled the model of 64 bytes would be six times as large.
VERILATOR    ?= verilator
RTL_EXAMPLES := $(addprefix $(BUILD)/,rtl_example rtl_example_16 rtl_example_32 rtl_example_64)
RTL_LOG       = $(BUILD)/log/$(@F).log
rtl_width     = $(or $(patsubst rtl_example_%,%,$(filter rtl_example_%,$(@F))),8)

$(RTL_EXAMPLES): rtl/icrc_insert.v rtl/axis_sim.cpp rtl/axis_bridge.h rtl/axis_frames.h
	$(call say,VERILATE,$@)
	$(Q)command -v $(VERILATOR) >/dev/null || { echo "rtl: no $(VERILATOR): run 'make deps'" >&2; exit 1; }
	@mkdir -p $(BUILD)/log $(BUILD)/rtl
	+$(Q)$(VERILATOR) --cc --exe --build --trace -Wall -Wno-fatal --unroll-count 16 --prefix Vtop --top-module icrc_insert \
		-GDATA_BYTES=$(rtl_width) -CFLAGS '-std=c++17 -Wall -Wextra -I$(CURDIR)/rtl' \
		-MAKEFLAGS OPT_FAST=-O1 --Mdir $(BUILD)/rtl/$(@F) -o ../../$(@F) \
		rtl/icrc_insert.v $(CURDIR)/rtl/axis_sim.cpp >$(RTL_LOG) || { cat $(RTL_LOG) >&2; exit 1; }

# make build/hls_example       the ICRC inserter of docs/rtl.md in C++ for HLS, in C simulation, with stand-ins for Vitis's types
HLS_EXAMPLE := rtl/hls/bench.cpp rtl/hls/icrc_insert.cpp

$(BUILD)/hls_example: $(HLS_EXAMPLE) $(wildcard rtl/*.h rtl/hls/*.h rtl/hls/types/*.h)
	$(call say,CXX,$@)
	$(Q)$(CXX) -std=c++11 -O1 -Wall -Wextra -Wno-unknown-pragmas -Irtl -Irtl/hls/types -o $@ $(HLS_EXAMPLE)
