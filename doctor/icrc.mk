# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# Unit tests of why an ICRC is wrong, with the address and undefined-behaviour sanitizers on.
DOCTOR_ICRC  := $(addprefix $(BUILD)/sanitized/doctor/,finding.o icrc.o icrc_conclude.o icrc_crc.o icrc_flip.o \
		  icrc_flipped.o icrc_named.o icrc_recipe.o icrc_sender.o icrc_try.o)
DOCTOR_TESTS := $(BUILD)/tests/unit/test_doctor_icrc
UNIT_TESTS   += $(DOCTOR_TESTS)

$(DOCTOR_TESTS) $(DOCTOR_TESTS:%=%.o): private CFLAGS += $(SANITIZE)
$(DOCTOR_TESTS): LDLIBS += -lisal -lz -lm
$(DOCTOR_TESTS): $(BUILD)/%: $(BUILD)/%.o $(DOCTOR_ICRC)

UNIT_TESTS += $(BUILD)/tests/unit/test_doctor_icrc_random
$(BUILD)/tests/unit/test_doctor_icrc_random: LDLIBS += -lisal -lz -lm
$(BUILD)/tests/unit/test_doctor_icrc_random: $(BUILD)/tests/unit/test_doctor_icrc_random.o
$(BUILD)/tests/unit/test_doctor_icrc_random: $(DOCTOR_ICRC:$(BUILD)/sanitized/%=$(BUILD)/%)
