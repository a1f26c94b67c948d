# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/rdma_ring
$(BUILD)/rdma_ring: $(patsubst %.c,$(BUILD)/%.o,$(wildcard rxe_tests/rdma_ring/*.c)) $(call rooms,,userspace/traffic/streams)
$(BUILD)/rdma_ring: LDLIBS += $(ROOM_LDLIBS) -libverbs -lpthread

$(BUILD)/tests/unit/rdma_ring/test_ring: $(BUILD)/sanitized/rxe_tests/rdma_ring/ring.o
$(BUILD)/tests/unit/rdma_ring/test_crew: $(addprefix $(BUILD)/raced/rxe_tests/rdma_ring/,ring.o crew.o)
