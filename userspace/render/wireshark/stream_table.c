// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * 'RoCE streams': the figures of `rocescope analyze` for each stream. A filter lists the streams with a matching packet; the
 * figures are always those of the whole stream.
 */
#include <stdio.h>

#include <epan/packet.h>
#include <epan/stat_tap_ui.h>
#include <epan/tap.h>

#include "lib/address.h"
#include "userspace/render/wireshark/rocescope.h"

enum { WHO, WHOM, QPN, SERVICE, SIDE, PACKETS, LOST, DUPLICATES, BAD_ICRC, MESSAGES, BROKEN, COLUMNS };

/* by table: the row of each stream, + 1 */
static GHashTable *tables;

static void set_text(stat_tap_table_item_type *item, const char *text)
{
	item->type = TABLE_ITEM_STRING;
	item->value.string_value = g_strdup(text);
}

static void set_number(stat_tap_table_item_type *item, __u64 number)
{
	item->type = TABLE_ITEM_UINT;
	item->value.uint_value = number;
}

static void set_who(stat_tap_table_item_type *row, const struct snapshot_stream *s)
{
	bool datagram = s->key.kind == KEY_DATAGRAM;
	char qpn[16];

	set_text(&row[WHO], address_text(s->key.src).text);
	set_text(&row[WHOM], address_text(snapshot_destination(s)).text);
	snprintf(qpn, sizeof(qpn), "0x%06x", datagram ? s->stream.ud.dqpn : s->key.qpn); /* as infiniband.bth.destqp */
	set_text(&row[QPN], qpn);
	set_text(&row[SERVICE], roce_service_name(s->stream.service));
	set_text(&row[SIDE], s->key.side == SIDE_RESPONSE ? "response" : "request");
}

static void set_numbers(stat_tap_table_item_type *row, const struct roce_counters *c)
{
	const __u64 *v = c->value;

	set_number(&row[PACKETS], v[COUNTER_roce_packets] + v[COUNTER_rocev1_packets]);
	set_number(&row[LOST], snapshot_lost(c));
	set_number(&row[DUPLICATES], v[COUNTER_psn_duplicates]);
	set_number(&row[BAD_ICRC], v[COUNTER_icrc_bad]);
	set_number(&row[MESSAGES], v[COUNTER_messages]);
	set_number(&row[BROKEN], v[COUNTER_messages_broken]);
}

static void free_item(stat_tap_table *table G_GNUC_UNUSED, guint row G_GNUC_UNUSED, guint column G_GNUC_UNUSED,
		      stat_tap_table_item_type *item)
{
	if (item->type == TABLE_ITEM_STRING)
		g_free((char *)item->value.string_value);
	item->type = TABLE_ITEM_NONE;
}

/* Rows must have no gaps: Wireshark stops drawing at the first one. */
static guint find_row(const stat_tap_table *table, __u32 stream)
{
	GHashTable *rows = g_hash_table_lookup(tables, table);
	guint row = GPOINTER_TO_UINT(g_hash_table_lookup(rows, GUINT_TO_POINTER(stream)));

	if (row)
		return row - 1;
	row = g_hash_table_size(rows);
	g_hash_table_insert(rows, GUINT_TO_POINTER(stream), GUINT_TO_POINTER(row + 1));
	return row;
}

static tap_packet_status take_packet(void *data, packet_info *pinfo G_GNUC_UNUSED, epan_dissect_t *edt G_GNUC_UNUSED,
				     const void *finding, tap_flags_t flags G_GNUC_UNUSED)
{
	stat_tap_table *table = g_array_index(((stat_data_t *)data)->stat_tap_data->tables, stat_tap_table *, 0);
	const struct wireshark_finding *f = finding;
	const struct snapshot_stream *s = rocescope_stream(f->stream);
	stat_tap_table_item_type row[COLUMNS] = { 0 };
	guint at;

	if (!s)
		return TAP_PACKET_DONT_REDRAW;
	at = find_row(table, f->stream);
	for (guint i = 0; at < table->num_elements && i < COLUMNS; i++)
		free_item(table, at, i, stat_tap_get_field_data(table, at, i));
	set_who(row, s);
	set_numbers(row, &s->stream.counters);
	stat_tap_init_table_row(table, at, COLUMNS, row);
	return TAP_PACKET_REDRAW;
}

static void reset(stat_tap_table *table)
{
	for (guint i = 0; i < table->num_elements; i++) {
		for (guint k = 0; k < COLUMNS; k++)
			free_item(table, i, k, &table->elements[i][k]);
		g_free(table->elements[i]);
	}
	table->num_elements = 0;
	g_hash_table_insert(tables, table, g_hash_table_new(NULL, NULL));
}

static void begin(stat_tap_table_ui *ui)
{
	stat_tap_table *table = stat_tap_find_table(ui, "RoCE streams");

	if (!table) {
		table = stat_tap_init_table("RoCE streams", COLUMNS, 0, NULL);
		stat_tap_add_table(ui, table);
	}
	reset(table);
}

void register_stream_table(void)
{
	static stat_tap_table_item columns[COLUMNS] = {
		[WHO] = { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Source", "%s" },
		[WHOM] = { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Destination", "%s" },
		[QPN] = { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "QPN", "%s" },
		[SERVICE] = { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Service", "%s" },
		[SIDE] = { TABLE_ITEM_STRING, TAP_ALIGN_LEFT, "Side", "%s" },
		[PACKETS] = { TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Packets", "%u" },
		[LOST] = { TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Lost", "%u" },
		[DUPLICATES] = { TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Duplicates", "%u" },
		[BAD_ICRC] = { TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Bad ICRC", "%u" },
		[MESSAGES] = { TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Messages", "%u" },
		[BROKEN] = { TABLE_ITEM_UINT, TAP_ALIGN_RIGHT, "Broken", "%u" },
	};
	static tap_param parameters[] = { { PARAM_FILTER, "filter", "Filter", NULL, TRUE } };
	static stat_tap_table_ui ui = {
		.group = REGISTER_PACKET_STAT_GROUP_UNSORTED,
		.title = "RoCE streams",
		.tap_name = "rocescope",
		.cli_string = "rocescope,streams",
		.stat_tap_init_cb = begin,
		.packet_func = take_packet,
		.stat_tap_reset_table_cb = reset,
		.stat_tap_free_table_item_cb = free_item,
		.nfields = COLUMNS,
		.fields = columns,
		.nparams = G_N_ELEMENTS(parameters),
		.params = parameters,
	};

	tables = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_hash_table_destroy);
	register_stat_tap_table_ui(&ui);
}
