// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Wireshark post-dissector: adds the verdicts of `rocescope analyze` to Wireshark's fields. The same engine sees the frames in
 * the order of the file when they are first dissected. Later dissections show what it found then.
 */
#include <string.h>

#include <epan/expert.h>
#include <epan/packet.h>
#include <epan/prefs.h>
#include <epan/proto_data.h>
#include <epan/tap.h>
#include <wiretap/wtap.h>
#include <ws_version.h>
#include <wsutil/report_message.h>

#include "lib/address.h"
#include "pcap/link.h"
#include "roce/packet/wire.h"
#include "userspace/observe/model/event_text.h"
#include "userspace/observe/model/udp_ports.h"
#include "userspace/render/wireshark/rocescope.h"
#include "version.h"

#define MAX_STREAMS 1000000 /* as analyze */

/* A stream after its latest packet. */
struct before {
	__u64 messages;
	bool provisional; /* before the first good ICRC */
};

static struct observer observer;
static GArray *befores; /* of struct before, by stream index */
static struct link_memory links;
static const char *udp = ""; /* the preference, as of --udp */
static struct roce_ports ports;

static int proto, tap;
static int hf_icrc, hf_icrc_status, hf_icrc_computed, hf_psn, hf_expected, hf_verdict, hf_skipped, hf_message, hf_lint,
	hf_stream, hf_event;
static int ett = -1;
static expert_field ei[ROCE_EVENTS];

static const char *const verdicts[] = {
	[VERDICT_FIRST] = "first", [VERDICT_IN_ORDER] = "in order", [VERDICT_GAP] = "gap",
	[VERDICT_RECOVERED] = "recovered", [VERDICT_DUPLICATE] = "duplicate", [VERDICT_RESYNC] = "resync",
	[VERDICT_STRAY] = "stray",
};

const struct snapshot_stream *rocescope_stream(__u32 index)
{
	return index < observer.table.count ? &observer.table.streams[index] : NULL;
}

/* ---- the first time ---- */

static enum psn_verdict place(const struct roce_event *e, bool first)
{
	if (e->kinds & ROCE_EVENT(psn_resync))
		return VERDICT_RESYNC;
	if (e->kinds & ROCE_EVENT(psn_stray))
		return VERDICT_STRAY;
	if (e->kinds & ROCE_EVENT(psn_gap))
		return VERDICT_GAP;
	if (e->kinds & ROCE_EVENT(psn_recovered))
		return VERDICT_RECOVERED;
	if (e->kinds & ROCE_EVENT(psn_duplicate))
		return VERDICT_DUPLICATE;
	return first ? VERDICT_FIRST : VERDICT_IN_ORDER;
}

/* Whether the packet was judged by its stream's sequence. */
static bool has_place(const struct roce_packet *p, enum icrc_verdict icrc, const struct roce_stream *s)
{
	if (p->kind == ROCE_UDP)
		return !p->foreign && !p->stream_end && p->udp_kind != UDP_HEAP;
	return p->op && !(p->op & OP_NO_PLACE) && !(icrc == ICRC_BAD && s->trusted);
}

static void conclude(struct wireshark_finding *f, const struct observer_parsed *parsed, const struct roce_stream *s)
{
	__u64 messages = s->counters.value[COUNTER_messages];
	struct before *b;
	bool restarted;

	f->stream = (const struct snapshot_stream *)((const char *)s - offsetof(struct snapshot_stream, stream)) -
		    observer.table.streams;
	if (f->stream >= befores->len)
		g_array_set_size(befores, f->stream + 1);
	b = &g_array_index(befores, struct before, f->stream);
	restarted = s->trusted && b->provisional;
	if (restarted)
		f->event.expected = EVENT_NO_PSN;
	f->completes = messages > (restarted ? 0 : b->messages);
	f->breaks = f->event.kinds & ROCE_EVENT(message_broken);
	if (has_place(&parsed->packet, parsed->icrc, s))
		f->verdict = place(&f->event, f->event.expected == EVENT_NO_PSN);
	if (!roce_is_totalled(s) && s->service != SERVICE_UDP)
		f->event.kinds &= ~ROCE_EVENTS_OF_SEQUENCE;
	*b = (struct before){ .messages = messages, .provisional = !s->trusted && !s->mistrusted };
}

static struct wireshark_finding *follow(packet_info *pinfo, const struct observer_frame *frame, struct observer_parsed *parsed)
{
	struct wireshark_finding *f = wmem_new0(wmem_file_scope(), struct wireshark_finding);
	__u64 time = (__u64)pinfo->abs_ts.secs * 1000000000u + pinfo->abs_ts.nsecs;
	const struct roce_stream *s = observer_follow(&observer, frame, parsed, time, &f->event);

	f->stream = NO_STREAM;
	if (s)
		conclude(f, parsed, s);
	p_add_proto_data(wmem_file_scope(), pinfo, proto, 0, f);
	return f;
}

/* ---- every time ---- */

static void add_generated(proto_item *item)
{
	proto_item_set_generated(item);
}

static void show_icrc(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, const struct observer_frame *frame,
		      const struct observer_parsed *parsed)
{
	const struct roce_packet *p = &parsed->packet;
	__u32 at = p->icrc_offset - frame->captured + tvb_captured_length(tvb); /* not in tvb: a made-up header */
	proto_item *item;
	__u32 computed;

	if (parsed->icrc == ICRC_UNCHECKED) {
		add_generated(proto_tree_add_uint(tree, hf_icrc_status, tvb, 0, 0, PROTO_CHECKSUM_E_UNVERIFIED));
		return;
	}
	/* like infiniband.invariant.crc of Wireshark: the first byte on the wire is the highest */
	computed = __builtin_bswap32(observer_icrc(p, frame->bytes));
	item = proto_tree_add_checksum(tree, tvb, at, hf_icrc, hf_icrc_status, NULL, pinfo, computed,
				       ENC_BIG_ENDIAN, PROTO_CHECKSUM_VERIFY);
	if (parsed->icrc == ICRC_BAD) /* Wireshark's own text differs for each value */
		expert_add_info(pinfo, item, &ei[EVENT_icrc_bad]);
	add_generated(proto_tree_add_uint(tree, hf_icrc_computed, tvb, at, WIRE_ICRC_LEN, computed));
}

static void show_psn(proto_tree *tree, tvbuff_t *tvb, const struct wireshark_finding *f)
{
	const struct roce_event *e = &f->event;

	if (f->verdict == VERDICT_NONE)
		return;
	add_generated(proto_tree_add_uint(tree, hf_psn, tvb, 0, 0, e->seen & PSN_MASK));
	if (e->expected != EVENT_NO_PSN)
		add_generated(proto_tree_add_uint(tree, hf_expected, tvb, 0, 0, e->expected));
	add_generated(proto_tree_add_string(tree, hf_verdict, tvb, 0, 0, verdicts[f->verdict]));
	if (f->verdict == VERDICT_GAP)
		add_generated(proto_tree_add_uint(tree, hf_skipped, tvb, 0, 0, e->skipped));
}

static void show_messages(proto_tree *tree, tvbuff_t *tvb, const struct wireshark_finding *f)
{
	if (f->breaks)
		add_generated(proto_tree_add_string(tree, hf_message, tvb, 0, 0, "broken"));
	if (f->completes)
		add_generated(proto_tree_add_string(tree, hf_message, tvb, 0, 0, "complete"));
}

static void show_stream(proto_tree *tree, tvbuff_t *tvb, const struct wireshark_finding *f)
{
	const struct snapshot_stream *s = rocescope_stream(f->stream);
	proto_item *item;

	if (!s)
		return;
	item = proto_tree_add_uint(tree, hf_stream, tvb, 0, 0, f->stream);
	add_generated(item);
	proto_item_append_text(item, " (%s %s -> %s)", roce_service_name(s->stream.service),
			       address_text(s->key.src).text, address_text(snapshot_destination(s)).text);
}

/* A habit of the sender (stream_is_habit()) is shown as well, but it is no event and gets no expert information. */
static void show_lints(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, const struct roce_event *e)
{
	for (int i = 0; i < ROCE_LINTS; i++) {
		proto_item *item;

		if (!(e->lints >> i & 1))
			continue;
		item = proto_tree_add_string(tree, hf_lint, tvb, 0, 0, lint_names[i]);
		add_generated(item);
		if (e->kinds & ROCE_EVENT(lint))
			expert_add_info_format(pinfo, item, &ei[EVENT_lint], "%s", lint_words[i]);
	}
}

/* Shows the events that no other item has shown. */
static void show_events(proto_item *item, packet_info *pinfo, const struct roce_event *e)
{
	for (int i = 0; i < ROCE_EVENTS; i++)
		if (e->kinds >> i & 1 && i != EVENT_icrc_bad && i != EVENT_lint)
			expert_add_info(pinfo, item, &ei[i]);
}

static void show_event(proto_tree *tree, tvbuff_t *tvb, packet_info *pinfo, const struct wireshark_finding *f)
{
	char text[EVENT_TEXT];
	proto_item *item;

	if (!f->event.kinds)
		return;
	event_text(&f->event, text);
	item = proto_tree_add_string(tree, hf_event, tvb, 0, 0, text);
	add_generated(item);
	show_events(item, pinfo, &f->event);
}

/* Appends events to the packet list's column. */
static void append_column(packet_info *pinfo, const struct roce_event *e)
{
	const char *before = " [";

	if (!e->kinds)
		return;
	for (int i = 0; i < ROCE_EVENTS; i++) {
		if (!(e->kinds >> i & 1))
			continue;
		col_append_fstr(pinfo->cinfo, COL_INFO, "%s%s", before, event_names[i]);
		before = ",";
	}
	col_append_str(pinfo->cinfo, COL_INFO, "]");
}

static void show(proto_tree *parent, tvbuff_t *tvb, packet_info *pinfo, const struct observer_frame *frame,
		 const struct observer_parsed *parsed, const struct wireshark_finding *f)
{
	static const char *const icrcs[] = { "ICRC unverified", "ICRC good", "ICRC bad" };
	proto_item *item = proto_tree_add_item(parent, proto, tvb, 0, 0, ENC_NA);
	proto_tree *tree = proto_item_add_subtree(item, ett);

	add_generated(item);
	if (parsed->packet.kind == ROCE_PACKET)
		proto_item_append_text(item, ": %s", icrcs[parsed->icrc]);
	if (parsed->has_stream) {
		if (f->verdict)
			proto_item_append_text(item, "%s PSN %s", parsed->packet.kind == ROCE_UDP ? ":" : ",",
					       verdicts[f->verdict]);
		show_stream(tree, tvb, f);
		if (parsed->packet.kind == ROCE_PACKET)
			show_icrc(tree, tvb, pinfo, frame, parsed);
		show_psn(tree, tvb, f);
		show_messages(tree, tvb, f);
		show_lints(tree, tvb, pinfo, &f->event);
	}
	show_event(tree, tvb, pinfo, f);
	append_column(pinfo, &f->event);
}

/* ---- frames ---- */

/* A fragment of any UDP datagram may be RoCE. Fragments are shown only in files with RoCE. */
static bool concerns(const struct roce_packet *p)
{
	return p->kind == ROCE_PACKET || p->kind == ROCE_UDP || p->kind == ROCE_MALFORMED ||
	       (p->kind == ROCE_FRAGMENT && observer.table.count);
}

/* Wireshark's own numbers of link types, for those of files. Wireshark does not export its function for that. */
static enum link_kind link_of(const wtap_rec *rec)
{
	static const struct {
		int wiretap;
		__u32 type; /* LINKTYPE_ */
	} types[] = {
		{ WTAP_ENCAP_ETHERNET, 1 }, { WTAP_ENCAP_RAW_IP, 101 }, { WTAP_ENCAP_RAW_IP4, 228 },
		{ WTAP_ENCAP_RAW_IP6, 229 }, { WTAP_ENCAP_NULL, 0 }, { WTAP_ENCAP_LOOP, 108 },
		{ WTAP_ENCAP_SLL, 113 }, { WTAP_ENCAP_SLL2, 276 },
	};

	if (rec->rec_type != REC_TYPE_PACKET)
		return LINK_UNKNOWN;
	for (size_t i = 0; i < ROCE_ARRAY_SIZE(types); i++)
		if (types[i].wiretap == rec->rec_header.packet_header.pkt_encap)
			return link_find(types[i].type, CAPTURE_LINK_FILE);
	return LINK_UNKNOWN;
}

/* The frame as an Ethernet frame. false: unknown link type. */
static bool take(tvbuff_t *tvb, packet_info *pinfo, struct observer_frame *frame)
{
	struct capture_frame f = { .captured = tvb_captured_length(tvb), .wire = tvb_reported_length(tvb) };
	enum link_kind link = link_of(pinfo->rec);
	__u8 *made_up;

	if (link == LINK_UNKNOWN || f.captured > CAPTURE_FRAME_MAX - LINK_MADE_UP)
		return false;
	if (link == LINK_ETHERNET && f.captured >= OBSERVER_READABLE) {
		*frame = (struct observer_frame){ .bytes = tvb_get_ptr(tvb, 0, f.captured), .captured = f.captured,
						  .wire = MAX(f.wire, f.captured) };
		return true;
	}
	f.bytes = (__u8 *)wmem_alloc0(pinfo->pool, LINK_MADE_UP + f.captured + CAPTURE_SLACK) + LINK_MADE_UP;
	tvb_memcpy(tvb, f.bytes, 0, f.captured);
	made_up = wmem_alloc0(pinfo->pool, LINK_MADE_UP + f.captured + CAPTURE_SLACK);
	link_to_ethernet(link, &f, &made_up, &links);
	*frame = (struct observer_frame){ .bytes = f.bytes, .captured = f.captured, .wire = MAX(f.wire, f.captured),
					  .no_icrc = f.no_icrc };
	return true;
}

static int dissect(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data _U_)
{
	struct observer_frame frame;
	struct observer_parsed parsed;
	struct wireshark_finding *f;

	if (!take(tvb, pinfo, &frame))
		return 0;
	observer_parse(&frame, &ports, &parsed);
	if (!concerns(&parsed.packet))
		return 0;
	f = p_get_proto_data(wmem_file_scope(), pinfo, proto, 0);
	if (!f && !PINFO_FD_VISITED(pinfo))
		f = follow(pinfo, &frame, &parsed);
	if (!f)
		return 0;
	show(tree, tvb, pinfo, &frame, &parsed, f);
	tap_queue_packet(tap, pinfo, f);
	return tvb_captured_length(tvb);
}

static void begin_file(void)
{
	observer = (struct observer){ .table.max = MAX_STREAMS };
	links = (struct link_memory){ 0 };
	befores = g_array_new(FALSE, TRUE, sizeof(struct before));
}

static void end_file(void)
{
	observer_free(&observer);
	g_array_free(befores, TRUE);
}

/* ---- registration ---- */

#define FIELD(id, name, abbrev, type, base, strings, words) \
	{ &hf_##id, { name, "rocescope." abbrev, type, base, strings, 0, words, HFILL } }

static void register_fields(void)
{
	static hf_register_info fields[] = {
		FIELD(stream, "Stream", "stream", FT_UINT32, BASE_DEC, NULL, "Which stream of PSNs of this file, from 0"),
		FIELD(icrc, "ICRC", "icrc", FT_UINT32, BASE_HEX, NULL, "The invariant CRC, in the order of the wire"),
		FIELD(icrc_status, "ICRC status", "icrc.status", FT_UINT8, BASE_NONE, VALS(proto_checksum_vals),
		      "Good, Bad, or Unverified: the packet was cut"),
		FIELD(icrc_computed, "ICRC computed", "icrc.computed", FT_UINT32, BASE_HEX, NULL,
		      "What the ICRC should be, in the order of the wire"),
		FIELD(psn, "PSN", "psn", FT_UINT24, BASE_DEC_HEX, NULL, NULL),
		FIELD(expected, "PSN expected", "psn.expected", FT_UINT24, BASE_DEC_HEX, NULL, NULL),
		FIELD(verdict, "PSN verdict", "psn.verdict", FT_STRING, BASE_NONE, NULL,
		      "first, in order, gap, recovered, duplicate or resync"),
		FIELD(skipped, "PSNs skipped", "psn.skipped", FT_UINT32, BASE_DEC, NULL,
		      "So many packets are missing before this one"),
		FIELD(message, "Message", "message", FT_STRING, BASE_NONE, NULL,
		      "complete: with this packet; broken: one was, as this packet shows"),
		FIELD(lint, "Header mistake", "lint", FT_STRING, BASE_NONE, NULL, "Name of a mistake in the headers"),
		FIELD(event, "Event", "event", FT_STRING, BASE_NONE, NULL,
		      "What analyze says of the packet; nothing of good ones"),
	};
	static int *trees[] = { &ett };

	proto_register_field_array(proto, fields, G_N_ELEMENTS(fields));
	proto_register_subtree_array(trees, G_N_ELEMENTS(trees));
}

/* The groups of event.def's reasons, and the severities of its levels. */
#define GROUP_psn PI_SEQUENCE
#define GROUP_message PI_SEQUENCE
#define GROUP_icrc PI_CHECKSUM
#define GROUP_lint PI_PROTOCOL
#define GROUP_malformed PI_MALFORMED
#define GROUP_nak PI_RESPONSE_CODE
#define GROUP_cnp PI_RESPONSE_CODE
#define LEVEL_ERROR PI_ERROR
#define LEVEL_WARN PI_WARN
#define LEVEL_NOTE PI_NOTE
#define LEVEL_NORMAL PI_NOTE

static void register_expert(void)
{
	static ei_register_info infos[] = {
#define EVENT(name, reason, level, words) \
		{ &ei[EVENT_##name], { "rocescope." #name, GROUP_##reason, LEVEL_##level, words, EXPFILL } },
#include "roce/event/event.def"
#undef EVENT
	};

	expert_register_field_array(expert_register_protocol(proto), infos, G_N_ELEMENTS(infos));
}

static void take_preference(void)
{
	char mistake[UDP_MISTAKE];

	ports = (struct roce_ports){ 0 };
	if (*udp && !udp_ports_add(&ports, udp, mistake))
		report_failure("rocescope: %s", mistake);
}

static void register_preference(void)
{
	prefs_register_string_preference(prefs_register_protocol(proto, take_preference), "udp", "UDP ports",
					 "Also follow the numbers of datagrams to these ports: as --udp, PORT[,FORMAT],...", &udp);
}

static void register_protocol(void)
{
	proto = proto_register_protocol("rocescope", "rocescope", "rocescope");
	register_fields();
	register_expert();
	register_preference();
	tap = register_tap("rocescope");
	register_stream_table();
	register_init_routine(begin_file);
	register_cleanup_routine(end_file);
	register_postdissector(create_dissector_handle(dissect, proto));
}

/* ---- what Wireshark looks for in a plugin ---- */

#define PUBLIC __attribute__((visibility("default")))

PUBLIC extern const char plugin_version[];
PUBLIC extern const int plugin_want_major, plugin_want_minor;
PUBLIC void plugin_register(void);
PUBLIC uint32_t plugin_describe(void);

const char plugin_version[] = VERSION;
const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
const int plugin_want_minor = WIRESHARK_VERSION_MINOR;

void plugin_register(void)
{
	static proto_plugin plugin = { .register_protoinfo = register_protocol };

	proto_register_plugin(&plugin);
}

/* Called since 4.2. 1 is WS_PLUGIN_DESC_DISSECTOR of wsutil/plugins.h, which is not installed everywhere. */
uint32_t plugin_describe(void)
{
	return 1;
}
