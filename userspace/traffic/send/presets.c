// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Senders that are described in print. What the source does not say is left at its default, or is marked as ours. */
#include "lib/list.h"
#include "userspace/traffic/send/options.h"

/*
 * W.M. de Laat, "The Application of RDMA over Converged Ethernet Data Transport for Radio-Astronomy Systems", TU Delft and
 * ASTRON, 2022: Coyote on an Alveo U55C and U280.
 *   6.4.1  packets leave with the DF flag unset; Table 6.1: RC WRITE up to 1024 bytes a message
 *   6.4.2  the FPGA puts its own QP's PSN into packets, not the remote QP's; the ICRC is off by default, a default value is
 *          in its place
 *   C.3    QPN 0 at both ends; PSN 0x6ec530 here, 0x5970f6 at the remote end, its buffer of 0x200000 bytes at 0x7f528e800000
 * The default value is not in the thesis: 0xdeadbeef of fpgasystems/fpga-network-stack, hls/crc/crc.cpp, which Coyote is
 * based on. The thesis's path MTU is 4096, no packet beyond 1024 bytes arrived.
 */
static const char coyote_2022[] =
	"op rc-write\n"
	"message 1024\n"
	"mtu 1024\n"
	"first-qpn 0\n"
	"first-psn 0x5970f6\n"
	"other-psn 0x6ec530\n"
	"va 0x7f528e800000\n"
	"regions 2048\n"
	"region-bytes 1024\n"
	"fault psn-other-side\n"
	"fault icrc-constant:value=0xdeadbeef\n"
	"fault df-unset\n";

/*
 * T. Song, "RoCE based 100Gbps RDMA network stack on FPGA hardware", TU Delft, 2021: Vitis_RoCE on an Alveo U280.
 *   4      RC; packets of 1408 bytes of payload, a multiple of the data path's 64; UDP ports are 0x12b7 on both sides
 *   5      messages of 64 bytes to 4 MB (here 64 KiB, ours)
 *   5.3    "the ICRC inside the rocev2 IP is ignored in our implementation": sent here without the field
 *   Tab. 5.1  host 0, the requester of the measurements: rQPN 0x100000, the destination of its packets; rPSN 0x200000, its first
 *          PSN (section 4: "used to generate new request PSNs"); R_Key 0. QPN 0 and PSN 0 are those of the responder's packets
 */
static const char vitis_1408[] =
	"op rc-write\n"
	"message 64K\n"
	"mtu 1408\n"
	"port 4791\n"
	"first-qpn 0x100000\n"
	"first-psn 0x200000\n"
	"rkey 0\n"
	"fault icrc-absent\n";

/*
 * de Laat 2022 (see above), what LOFAR's stations would send to one receiver.
 *   3.5.3  at most 1627 QPs a node, 2000 with some margin, one a subband and sending FPGA, 45 Mbit/s each (--rate 90Gbit
 *          in all); messages of 16 KiB
 *   2.3, 2.5  UC, RDMA WRITE with immediate
 *   3.3    path MTU 4096
 *   Tab. B.2  10 memory regions a QP, each of 100 messages: here as 1000 regions of one message
 * In which order the QPs' packets leave could not be seen (5.3.3); packet by packet is what 7.2 wants of an FPGA.
 */
static const char lofar[] =
	"op uc-write-imm\n"
	"qps 2000\n"
	"message 16K\n"
	"mtu 4096\n"
	"regions 1000\n"
	"region-bytes 16K\n"
	"interleave packet\n";

/*
 * M.-E. Vasile et al., "Improvements for the implementation of RDMA on FPGA devices", TWEPP 2024 (slides): the hardware
 * sender, full streaming.
 *   messages of 8192 bytes, continuous, into a ring of 1000000 of them; 10.653 GB/s on average (--rate 85Gbit)
 * The slides name neither operation nor path MTU: RC WRITE, packets of 4096 and one QP are ours.
 */
static const char twepp[] =
	"op rc-write\n"
	"qps 1\n"
	"message 8K\n"
	"mtu 4096\n"
	"regions 1000000\n"
	"region-bytes 8K\n";

/*
 * NVIDIA Holoscan Sensor Bridge (github.com/nvidia-holoscan/holoscan-sensor-bridge), its software transmitter,
 * src/hololink/emulation/src/common/rocev2_transmitter.cpp of 2026.
 *   send()              a frame is a run of UC RDMA WRITE Only whose RETH address walks on; its last packet is a WRITE Only with
 *                       immediate data
 *   send_packet()       immediate data: page | psn << 12, the PSN that of the packet
 *   init_metadata()     DF set, P_Key 0xffff, UDP checksum 0
 *   update_packet_headers()  0xff is written in front of the QPN, for the ICRC, and leaves as it is: hsb-resv8a
 * Ours: 32 packets a frame, 1408 bytes each, a ring of 4 pages; MigReq, which is 0 there; the metadata at a page's end are payload
 * here.
 */
#define HSB                       \
	"op uc-write-imm\n"       \
	"message 1408\n"          \
	"mtu 1408\n"              \
	"frame 32\n"              \
	"regions 128\n"           \
	"region-bytes 1408\n"     \
	"immediate-page\n"
static const char hsb[] = HSB;
static const char hsb_resv8a[] = HSB "reserved 0xff\n";

/*
 * ASKAP's CRACO correlator cards (github.com/askap-craco/craco-python), src/craco/cardcap.py of 2026, get_data(): a message has
 * either all 144 packets of a frame or one, and the immediate data is 2048 more in each frame. In the second case 144 messages
 * have the same. PSNs begin with 0; each FPGA has a QP. Ours: UC WRITE with immediate data, packets of 4096, 2 QPs.
 */
#define CRACO                     \
	"op uc-write-imm\n"       \
	"qps 2\n"                 \
	"mtu 4096\n"              \
	"immediate-step 2048\n"   \
	"interleave packet\n"
static const char craco[] = CRACO "message 576K\n" "regions 8\n";
static const char craco_beams[] = CRACO "message 4K\n" "regions 1152\n" "immediate-messages 144\n";

const struct preset presets[] = {
	{ "coyote-2022", "Coyote to a NIC: the other side's PSN, a constant ICRC, DF unset", coyote_2022 },
	{ "vitis-1408", "Vitis_RoCE: 1408 bytes a packet, no ICRC", vitis_1408 },
	{ "lofar", "2000 QPs, 16 KiB UC WRITE with immediate, packets of 4096", lofar },
	{ "twepp", "8 KiB messages streamed into a ring of a million", twepp },
	{ "hsb", "Holoscan Sensor Bridge: frames of UC WRITE Only, the last one with page and PSN as immediate data", hsb },
	{ "hsb-resv8a", "the same with 0xff in the BTH's fifth byte", hsb_resv8a },
	{ "craco", "ASKAP CRACO: a frame a message, immediate data 2048 more in each", craco },
	{ "craco-beams", "the same with 144 messages a frame, which share its immediate data", craco_beams },
	{ 0 },
};

void presets_list(void)
{
	for (const struct preset *p = presets; p->name; p++)
		list_entry(p->name, p->words);
}
