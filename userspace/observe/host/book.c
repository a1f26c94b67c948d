// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "userspace/observe/host/book.h"

/* ---- what a counter's name tells ---- */

static bool has_word(const char *name, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

/*
 * Every driver has its own names: rx_discards_phy, rx_out_of_buffer, rx_missed_errors, rx_queue_3_drops, rx_no_buffer_count,
 * rx_fifo_errors, rx_crc_errors, ... XDP drops are left out: our own program made them (--drop), or they are counted as
 * failures to send.
 */
static bool is_loss(const char *name)
{
	static const char *const losses[] = { "drop", "discard", "missed", "no_buf", "nobuf", "out_of_buffer", "overflow",
					      "overrun", "fifo_err", "crc_err", "rx_errors", "alloc_fail", "no_dma" };
	static const char *const others[] = { "xdp", "tx", "xmit" };

	return has_word(name, losses, sizeof(losses) / sizeof(losses[0])) &&
	       !has_word(name, others, sizeof(others) / sizeof(others[0]));
}

/*
 * rx_queue_3_packets (virtio_net, igb, ixgbe), rx3_packets (mlx5), rx-3.packets (i40e), rx_queue_3_xdp_packets (veth), [3]:
 * rx_ucast_packets (bnxt_en)
 */
static enum book_queue queue_of(const char *name, unsigned int *number)
{
	char rest[HOST_NAME];

	if (sscanf(name, "rx_queue_%u_%63s", number, rest) != 2 && sscanf(name, "rx%u_%63s", number, rest) != 2 &&
	    sscanf(name, "rx-%u.%63s", number, rest) != 2 && sscanf(name, "[%u]: rx_%63s", number, rest) != 2)
		return BOOK_NO_QUEUE;
	if (!strcmp(rest, "xdp_packets"))
		return BOOK_XDP_PACKETS;
	return strcmp(rest, "packets") && strcmp(rest, "ucast_packets") && strcmp(rest, "rx_packets") ? BOOK_NO_QUEUE :
													 BOOK_PACKETS;
}

/*
 * The number behind the word for a priority: rx_prio3_pause (mlx5), rx_pause_prio_3 (mlx4), rx_priority_3_xoff.nic (ice),
 * port.rx_priority_3_xoff (i40e), rx_pb_3_pxoff (ixgbe), rx_pfc_ena_frames_pri3 (bnxt_en), mac_rx_pfc_pri3_pkt_num (hns3, hinic).
 * NULL: there is none.
 */
static const char *number_of_priority(const char *name)
{
	static const char *const words[] = { "prio", "priority", "pri", "pb" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *at = strstr(name, words[i]);

		if (!at)
			continue;
		at += strlen(words[i]);
		at += *at == '_';
		if (*at >= '0' && *at <= '7' && !(at[1] >= '0' && at[1] <= '9'))
			return at;
	}
	return NULL;
}

/* Whether the counter is of one queue: a number follows rx or tx. */
static bool is_of_queue(const char *name)
{
	const char *digit = strpbrk(name, "0123456789");

	return digit && !number_of_priority(name) && (name[0] == '[' || ((!strncmp(name, "rx", 2) || !strncmp(name, "tx", 2)) &&
					    (digit == name + 2 || strchr("_-", digit[-1]))));
}

/*
 * A pause frame with a time of 0 ends a pause early (xon), and xon_2_xoff are changes: neither stops anything more. mlx5's
 * rx_prio3_marked are packets that the NIC itself has marked CE.
 */
static int priority_count_of(const char *name, unsigned int *priority)
{
	static const char *const pauses[] = { "_pause", "xoff", "pfc_ena_frames", "pkt_num" };
	static const char *const others[] = { "duration", "transition", "xon_2_xoff" };
	static const char *const discards[] = { "discard" };
	const char *number = number_of_priority(name);
	bool out = strstr(name, "tx");

	if (!number || has_word(name, others, sizeof(others) / sizeof(others[0])))
		return PRIORITY_COUNTS;
	*priority = *number - '0';
	if (has_word(name, pauses, sizeof(pauses) / sizeof(pauses[0])))
		return out ? PRIORITY_TX_PAUSE : PRIORITY_RX_PAUSE;
	if (has_word(name, discards, 1) && !out)
		return PRIORITY_DISCARDS;
	return strstr(name, "marked") ? PRIORITY_MARKED : PRIORITY_COUNTS;
}

/* ---- the book ---- */

static struct book_entry *find(struct book *b, const char *where, const char *name)
{
	for (size_t i = 0; i < b->count; i++) {
		struct book_entry *e = &b->entries[(b->next + i) % b->count];

		if (!strcmp(e->counter.name, name) && !strcmp(e->counter.where, where)) {
			b->next = e - b->entries + 1;
			return e;
		}
	}
	return NULL;
}

void book_add(struct book *b, const char *where, const char *name, __u64 value)
{
	struct book_entry *e;
	char text[HOST_NAME];

	/* some drivers indent names */
	snprintf(text, sizeof(text), "%s", name + strspn(name, " "));
	e = find(b, where, text);
	if (e) {
		/* a counter that was reset continues from its new value */
		if (value > e->last)
			e->counter.value += value - e->last;
		e->last = value;
		return;
	}
	if (!grow(b->entries, b->count, b->room, 64))
		return;
	e = &b->entries[b->count++];
	*e = (struct book_entry){ .last = value };
	b->next = b->count;
	snprintf(e->counter.where, sizeof(e->counter.where), "%s", where);
	memcpy(e->counter.name, text, sizeof(text));
	e->counter.dropped = is_loss(text);
	e->queue = queue_of(text, &e->queue_number);
	e->priority_count = priority_count_of(text, &e->priority);
}

void book_rename(struct book *b, const char *from, const char *to)
{
	for (size_t i = 0; i < b->count; i++)
		if (!strcmp(b->entries[i].counter.where, from))
			snprintf(b->entries[i].counter.where, HOST_NAME, "%s", to);
}

static void copy_moved(struct book *b, bool dropped)
{
	for (size_t i = 0; i < b->count; i++) {
		const struct host_counter *c = &b->entries[i].counter;

		if (c->value && c->dropped == dropped && (dropped || !is_of_queue(c->name)))
			b->moved[b->moved_count++] = *c;
	}
}

static struct host_priority *find_priority(struct book *b, const char *where, unsigned int priority)
{
	struct host_priority *p = b->priorities;

	while (p < b->priorities + b->priority_count && (p->priority != priority || strcmp(p->where, where)))
		p++;
	if (p < b->priorities + b->priority_count)
		return p;
	if (b->priority_count == BOOK_PRIORITIES)
		return NULL;
	b->priority_count++;
	*p = (struct host_priority){ .priority = priority };
	snprintf(p->where, sizeof(p->where), "%s", where);
	return p;
}

static void add_priorities(struct book *b)
{
	struct host_priority *p;

	b->priority_count = 0;
	for (size_t i = 0; i < b->count; i++) {
		const struct book_entry *e = &b->entries[i];

		if (!e->counter.value || e->priority_count == PRIORITY_COUNTS)
			continue;
		p = find_priority(b, e->counter.where, e->priority);
		if (p)
			p->count[e->priority_count] += e->counter.value;
	}
}

void book_close(struct book *b)
{
	add_priorities(b);
	b->moved_count = 0;
	if (b->moved_room < b->count) {
		free(b->moved);
		b->moved = calloc(b->count, sizeof(*b->moved));
		b->moved_room = b->moved ? b->count : 0;
	}
	if (b->moved_room < b->count)
		return;
	copy_moved(b, true);
	copy_moved(b, false);
}

const struct host_counter *book_worst(const struct book *b, const char *where, bool lost)
{
	const struct host_counter *worst = NULL;

	for (size_t i = 0; i < b->count; i++) {
		const struct host_counter *c = &b->entries[i].counter;

		if (!strcmp(c->where, where) && c->value && (c->dropped || !lost) && (!worst || c->value > worst->value))
			worst = c;
	}
	return worst;
}

bool book_counts_losses(const struct book *b, const char *where)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->entries[i].counter.dropped && !strcmp(b->entries[i].counter.where, where))
			return true;
	return false;
}

static struct book_queues add_queues(const struct book *b, const char *where, enum book_queue kind)
{
	struct book_queues q = { 0 };

	for (size_t i = 0; i < b->count; i++) {
		const struct book_entry *e = &b->entries[i];

		if (e->queue != kind || strcmp(e->counter.where, where))
			continue;
		q.count = e->queue_number >= q.count ? e->queue_number + 1 : q.count;
		q.packets += e->counter.value;
		if (e->counter.value > q.most) {
			q.most = e->counter.value;
			q.busiest = e->queue_number;
		}
	}
	return q;
}

struct book_queues book_queues(const struct book *b, const char *where)
{
	struct book_queues q = add_queues(b, where, BOOK_PACKETS);

	return q.packets ? q : add_queues(b, where, BOOK_XDP_PACKETS);
}

void book_free(struct book *b)
{
	free(b->entries);
	free(b->moved);
	*b = (struct book){ 0 };
}
