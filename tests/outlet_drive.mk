# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
PROGRAMS += $(BUILD)/tests/outlet_drive
OUTLETS := send/departure.o send/netdev.o send/netlink.o send/outlet.o send/outlet_file.o send/outlet_packet.o send/outlet_xdp.o pcap/writer.o
$(BUILD)/tests/outlet_drive: $(addprefix $(BUILD)/,tests/outlet_drive.o $(OUTLETS)) $(BUILD)/libstream.a
$(BUILD)/tests/outlet_drive: LDLIBS += -lpthread -lpcap -lxdp -lbpf $(NETLINK_LDLIBS) $(STREAM_LDLIBS)
