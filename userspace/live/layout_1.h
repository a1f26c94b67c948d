/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Layouts of maps that were pinned before each map had its layout stored beside it (PIN_VERSION_1). Each is found by the hash
 * that those builds pinned instead, and is what layout_of_map() would print. Of `scratches` only the totals are here, which
 * have since left it. Never change these. Remove them when no such build is in use any more.
 */
#ifndef USERSPACE_LIVE_LAYOUT_1_H
#define USERSPACE_LIVE_LAYOUT_1_H

#include <linux/types.h>

static const struct {
	const char *map;
	__u64 hash;
	const char *layout;
} layouts_1[] = {
	{ "scratches", 0x405405a50d497aac,
	  "meaning 1\nsize 4 10592\ntotals.frames 10240 8 1\ntotals.other_frames 10248 8 1\n"
	  "totals.udp_packets 10256 8 1\ntotals.rocev1_packets 10264 8 1\ntotals.ip_fragments 10272 8 1\n"
	  "totals.malformed 10280 8 1\ntotals.truncated 10288 8 1\ntotals.roce_packets 10296 8 1\n"
	  "totals.bytes 10304 8 1\ntotals.payload_bytes 10312 8 1\ntotals.icrc_checked 10320 8 1\n"
	  "totals.icrc_unchecked 10328 8 1\ntotals.rocev1_icrc_checked 10336 8 1\ntotals.icrc_bad 10344 8 1\n"
	  "totals.messages 10352 8 1\ntotals.messages_broken 10360 8 1\ntotals.imm_gaps 10368 8 1\n"
	  "totals.imm_skipped 10376 8 1\ntotals.psn_gaps 10384 8 1\ntotals.psn_skipped 10392 8 1\n"
	  "totals.psn_recovered 10400 8 1\ntotals.psn_lost 10408 8 1\ntotals.psn_duplicates 10416 8 1\n"
	  "totals.psn_resyncs 10424 8 1\ntotals.acks 10432 8 1\ntotals.rnr_naks 10440 8 1\ntotals.naks 10448 8 1\n"
	  "totals.nak_psn_sequence 10456 8 1\ntotals.nak_invalid_request 10464 8 1\n"
	  "totals.nak_remote_access 10472 8 1\ntotals.nak_remote_operational 10480 8 1\ntotals.cnps 10488 8 1\n"
	  "totals.ecn_ce 10496 8 1\ntotals.unknown_opcodes 10504 8 1\ntotals.untracked_packets 10512 8 1\n"
	  "totals.streams_evicted 10520 8 1\ntotals.events_lost 10528 8 1\ntotals.ring_missed 10536 8 1\n" },
	{ "streams", 0x619f7ce434e98f62,
	  "meaning 1\nsize 4 1344\nsequence 0 4 1\nreserved 4 4 1\nkey.src 8 1 16\nkey.dst 24 1 16\nkey.qpn 40 4 1\n"
	  "key.port 44 2 1\nkey.side 46 1 1\nkey.kind 47 1 1\nstream.last_seen 48 8 1\nstream.psn.next 56 8 1\n"
	  "stream.psn.seen 64 8 16\nstream.psn.hole[] 192 16 20\nstream.psn.hole[].from 0 8 1\n"
	  "stream.psn.hole[].count 8 8 1\nstream.psn.move_seen 512 8 1\nstream.psn.move_unseen 520 8 1\n"
	  "stream.psn.move_take 528 8 1\nstream.psn.any 536 8 1\nstream.psn.at 544 8 1\nstream.psn.found 552 8 1\n"
	  "stream.psn.vanished 560 8 1\nstream.psn.split 568 8 1\nstream.message.next 576 4 1\n"
	  "stream.message.first 580 4 1\nstream.message.bytes 584 4 1\nstream.message.payload 588 4 1\n"
	  "stream.message.immediate 592 4 1\nstream.message.skipped 596 4 1\nstream.message.open 600 1 1\n"
	  "stream.message.late 601 1 1\nstream.message.unended 602 1 1\nstream.message.met 603 1 1\n"
	  "stream.message.imm_steps 604 1 1\nstream.lint_state.dma_next 608 4 1\n"
	  "stream.lint_state.dma_length 612 4 1\nstream.lint_state.dma_bytes 616 4 1\n"
	  "stream.lint_state.partial 620 2 1\nstream.lint_state.service 622 2 1\nstream.lint_state.psn 624 4 1\n"
	  "stream.lint_state.psn_what 628 4 1\nstream.lint_state.icrc 632 4 1\nstream.lint_state.psn_row 636 1 1\n"
	  "stream.lint_state.icrc_row 637 1 1\nstream.lint_state.bad_row 638 1 1\nstream.last_psn 640 8 1\n"
	  "stream.after_read 648 8 1\nstream.read_end 656 8 1\nstream.path_mtu 664 4 1\nstream.mtu_least 668 4 1\n"
	  "stream.mtu_guess 672 4 1\nstream.dqpn 676 4 1\nstream.sqpn 680 4 1\nstream.run 684 4 1\n"
	  "stream.service 688 1 1\nstream.met 689 1 1\nstream.trusted 690 1 1\nstream.used 691 1 1\n"
	  "stream.pair_generation 692 4 1\nstream.mistrusted 696 1 1\nstream.reserved 697 1 7\n"
	  "stream.last.va 704 8 1\nstream.last.rkey 712 4 1\nstream.last.dma_length 716 4 1\n"
	  "stream.last.udp_source_port 720 2 1\nstream.last.vlan 722 2 1\nstream.last.vlan_tags 724 1 1\n"
	  "stream.last.tos 725 1 1\nstream.last.ttl 726 1 1\nstream.last.src_mac 727 1 6\n"
	  "stream.last.dst_mac 733 1 6\nstream.dst 744 1 16\nstream.first_seen 760 8 1\nstream.first_psn 768 8 1\n"
	  "stream.counters.frames 776 8 1\nstream.counters.other_frames 784 8 1\n"
	  "stream.counters.udp_packets 792 8 1\nstream.counters.rocev1_packets 800 8 1\n"
	  "stream.counters.ip_fragments 808 8 1\nstream.counters.malformed 816 8 1\n"
	  "stream.counters.truncated 824 8 1\nstream.counters.roce_packets 832 8 1\nstream.counters.bytes 840 8 1\n"
	  "stream.counters.payload_bytes 848 8 1\nstream.counters.icrc_checked 856 8 1\n"
	  "stream.counters.icrc_unchecked 864 8 1\nstream.counters.rocev1_icrc_checked 872 8 1\n"
	  "stream.counters.icrc_bad 880 8 1\nstream.counters.messages 888 8 1\n"
	  "stream.counters.messages_broken 896 8 1\nstream.counters.imm_gaps 904 8 1\n"
	  "stream.counters.imm_skipped 912 8 1\nstream.counters.psn_gaps 920 8 1\n"
	  "stream.counters.psn_skipped 928 8 1\nstream.counters.psn_recovered 936 8 1\n"
	  "stream.counters.psn_lost 944 8 1\nstream.counters.psn_duplicates 952 8 1\n"
	  "stream.counters.psn_resyncs 960 8 1\nstream.counters.acks 968 8 1\nstream.counters.rnr_naks 976 8 1\n"
	  "stream.counters.naks 984 8 1\nstream.counters.nak_psn_sequence 992 8 1\n"
	  "stream.counters.nak_invalid_request 1000 8 1\nstream.counters.nak_remote_access 1008 8 1\n"
	  "stream.counters.nak_remote_operational 1016 8 1\nstream.counters.cnps 1024 8 1\n"
	  "stream.counters.ecn_ce 1032 8 1\nstream.counters.unknown_opcodes 1040 8 1\n"
	  "stream.counters.untracked_packets 1048 8 1\nstream.counters.streams_evicted 1056 8 1\n"
	  "stream.counters.events_lost 1064 8 1\nstream.counters.ring_missed 1072 8 1\n"
	  "stream.lint.ip_checksum 1080 4 1\nstream.lint.df_unset 1084 4 1\nstream.lint.udp_length 1088 4 1\n"
	  "stream.lint.udp_checksum 1092 4 1\nstream.lint.tver 1096 4 1\nstream.lint.pkey_invalid 1100 4 1\n"
	  "stream.lint.reserved_bits 1104 4 1\nstream.lint.pad_count 1108 4 1\n"
	  "stream.lint.payload_not_path_mtu 1112 4 1\nstream.lint.payload_mixed 1116 4 1\n"
	  "stream.lint.payload_beyond_mtu 1120 4 1\nstream.lint.dma_length 1124 4 1\nstream.lint.dma_reth 1128 4 1\n"
	  "stream.lint.dma_immdt 1132 4 1\nstream.lint.dma_pad 1136 4 1\nstream.lint.qpn_management 1140 4 1\n"
	  "stream.lint.service_mixed 1144 4 1\nstream.lint.psn_constant 1148 4 1\nstream.lint.icrc_zero 1152 4 1\n"
	  "stream.lint.icrc_constant 1156 4 1\nstream.lint.icrc_all_bad 1160 4 1\nstream.pair.connection 1168 8 1\n"
	  "stream.pair.peer_qpn 1176 4 1\nstream.pair.path_mtu 1180 4 1\nstream.pair.first_psn 1184 4 1\n"
	  "stream.pair.from 1188 4 1\nstream.asked.entry 1192 8 16\nstream.asked.count 1320 4 1\n"
	  "stream.asked.unused 1324 4 1\npad 1328 1 16\n" },
	{ "buckets", 0xba8e981b63613fd8,
	  "meaning 1\nsize 4 256\nlock.val 0 4 1\nreserved 4 4 3\nways[] 16 16 15\nways[].word 0 8 1\n"
	  "ways[].seen 8 4 1\nways[].reserved 12 4 1\n" },
	{ "table_states", 0xbddec224da61e373,
	  "meaning 1\nsize 4 8\nlock.val 0 4 1\ngiven 4 4 1\n" },
	{ "dialogues", 0x43d000056df93767,
	  "meaning 1\nsize 4 1312\nsent 0 8 1\nanswered 8 8 1\nlast_sent 16 8 1\nlast_answer 24 8 1\n"
	  "silent_since 32 8 1\noutstanding 40 4 1\noutstanding_most 44 4 1\nreads 48 4 1\nreads_most 52 4 1\n"
	  "waiting_ns 56 8 1\nfull_ns 64 8 1\nback 72 8 4\nback_packets 104 8 1\nack.count 112 8 1\nack.sum 120 8 1\n"
	  "ack.most 128 8 1\nack.bucket 136 8 52\nread.count 552 8 1\nread.sum 560 8 1\nread.most 568 8 1\n"
	  "read.bucket 576 8 52\nbegun 992 8 1\nconnection 1000 8 1\nresyncs 1008 8 1\nduplicates 1016 8 1\n"
	  "next 1024 8 1\nmet 1032 1 1\nagain 1033 1 1\nnegative 1034 1 1\nheard 1035 1 1\nreserved 1036 1 4\n"
	  "acks.entry 1040 8 16\nacks.begin 1168 4 1\nacks.end 1172 4 1\nresponses.entry 1176 8 16\n"
	  "responses.begin 1304 4 1\nresponses.end 1308 4 1\n" },
	{ "pairs", 0x567c1a51cb6bae13,
	  "meaning 1\nsize 36 24\nconnection 0 8 1\npeer_qpn 8 4 1\npath_mtu 12 4 1\nfirst_psn 16 4 1\nfrom 20 4 1\n" },
	{ "pair_requests", 0x567c1a51cb6bae13,
	  "meaning 1\nsize 36 24\nconnection 0 8 1\npeer_qpn 8 4 1\npath_mtu 12 4 1\nfirst_psn 16 4 1\nfrom 20 4 1\n" },
	{ "taken", 0xf0d6ff91471bc3f6,
	  "meaning 1\nsize 0 0\nrecord.origin.time 0 8 1\nrecord.origin.id 8 8 1\nrecord.origin.ifindex 16 4 1\n"
	  "record.origin.queue 20 4 1\nrecord.origin.length 24 4 1\nrecord.origin.tag 28 4 1\n"
	  "record.origin.outward 32 1 1\nrecord.origin.verdict 33 1 1\nrecord.origin.reserved 34 1 6\n"
	  "record.fault 40 8 1\nrecord.suppressed 48 8 1\nrecord.lost 56 8 1\nrecord.left_out 64 8 1\n"
	  "record.captured 72 4 1\nrecord.what 76 2 1\nrecord.trusted 78 2 1\nrecord.event.kinds 80 4 1\n"
	  "record.event.lints 84 4 1\nrecord.event.expected 88 4 1\nrecord.event.seen 92 4 1\n"
	  "record.event.skipped 96 4 1\nrecord.event.recovered 100 4 1\nrecord.event.broken 104 4 1\n"
	  "record.event.imm_skipped 108 4 1\nkind psn-gap is bit 0\nkind psn-recovered is bit 1\n"
	  "kind psn-duplicate is bit 2\nkind psn-resync is bit 3\nkind message-broken is bit 4\n"
	  "kind imm-gap is bit 5\nkind icrc-bad is bit 6\nkind lint is bit 7\nkind unknown-opcode is bit 8\n"
	  "kind malformed is bit 9\nkind ip-fragment is bit 10\nkind nak is bit 11\nkind rnr-nak is bit 12\n"
	  "kind cnp is bit 13\nkind ecn-ce is bit 14\nlint ip_checksum is bit 0\nlint df_unset is bit 1\n"
	  "lint udp_length is bit 2\nlint udp_checksum is bit 3\nlint tver is bit 4\nlint pkey_invalid is bit 5\n"
	  "lint reserved_bits is bit 6\nlint pad_count is bit 7\nlint payload_not_path_mtu is bit 8\n"
	  "lint payload_mixed is bit 9\nlint payload_beyond_mtu is bit 10\nlint dma_length is bit 11\n"
	  "lint dma_reth is bit 12\nlint dma_immdt is bit 13\nlint dma_pad is bit 14\nlint qpn_management is bit 15\n"
	  "lint service_mixed is bit 16\nlint psn_constant is bit 17\nlint icrc_zero is bit 18\n"
	  "lint icrc_constant is bit 19\nlint icrc_all_bad is bit 20\n" },
	{ "data", 0x2638f52cc6000ab3,
	  "meaning 1\nsize 4 4\npairs_generation 0 4 1\n" },
	{ "bss", 0x9989873c39a4b06c,
	  "meaning 1\nsize 4 16\ncapture_suppressed 0 8 1\ncapture_lost 8 8 1\n" },
};

#endif
