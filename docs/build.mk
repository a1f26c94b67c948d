# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The JSON schemas (docs/json.md), all of them in one folder: those of docs/schema, and names.schema.json, whose names come from
# the .def files.
SCHEMAS      := $(patsubst docs/%,$(BUILD)/%,$(wildcard docs/schema/*.schema.json)) $(BUILD)/schema/names.schema.json
SCHEMA_NAMES := $(BUILD)/docs/schema/names
PROGRAMS     += $(SCHEMA_NAMES)

$(SCHEMA_NAMES): $(SCHEMA_NAMES).o
$(SCHEMA_NAMES): LDLIBS += -ljansson

all: $(SCHEMAS)
$(BUILD)/schema/names.schema.json: $(SCHEMA_NAMES)
	$(call say,NAMES,$@)
	@mkdir -p $(@D)
	$(Q)$< >$@

$(BUILD)/schema/%: docs/schema/%
	$(call say,COPY,$@)
	@mkdir -p $(@D)
	$(Q)cp $< $@

# Prints docs/counters.md; `tests/docs.test --write` puts it there.
COUNTERS_PAGE := $(BUILD)/docs/counters
PROGRAMS      += $(COUNTERS_PAGE)

$(COUNTERS_PAGE): $(COUNTERS_PAGE).o $(call rooms,,userspace/diagnose/doctor)
$(COUNTERS_PAGE): LDLIBS += $(ROOM_LDLIBS)
