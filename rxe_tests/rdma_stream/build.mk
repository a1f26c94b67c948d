# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/rdma_stream
$(BUILD)/rdma_stream: $(patsubst %.c,$(BUILD)/%.o,$(wildcard rxe_tests/rdma_stream/*.c)) $(call rooms,,userspace/traffic/streams)
$(BUILD)/rdma_stream: LDLIBS += $(ROOM_LDLIBS) -libverbs -lpthread

# The old name of rdma_stream --ring, for one release.
all: $(BUILD)/rdma_ring
$(BUILD)/rdma_ring: $(BUILD)/rdma_stream
	@ln -sf $(<F) $@

$(BUILD)/tests/unit/rdma_stream/test_xrc: $(patsubst %,$(BUILD)/sanitized/rxe_tests/rdma_stream/%.o,completion_queue device memory requester responder)
$(BUILD)/tests/unit/rdma_stream/test_xrc: LDLIBS += -libverbs
$(BUILD)/tests/unit/rdma_stream/test_ring: $(BUILD)/sanitized/rxe_tests/rdma_stream/ring.o
$(BUILD)/tests/unit/rdma_stream/test_ring_workers: $(addprefix $(BUILD)/raced/rxe_tests/rdma_stream/,ring.o ring_workers.o)
