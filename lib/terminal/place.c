// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ncurses.h>

#include "lib/terminal/place.h"

void place_settle(struct place *p, size_t count, size_t room)
{
	if (!p->follows)
		p->top = p->selected = 0;
	if (p->selected >= count)
		p->selected = count ? count - 1 : 0;
	if (p->top > p->selected)
		p->top = p->selected;
	if (p->selected >= p->top + room)
		p->top = p->selected - room + 1;
	if (p->top + room > count)
		p->top = count > room ? count - room : 0;
}

void place_move(struct place *p, long by, size_t count, size_t room)
{
	long to = (long)p->selected + by;

	if (!count)
		return;
	p->selected = to < 0 ? 0 : to;
	p->follows = true;
	place_settle(p, count, room);
}

static void move_pages(struct place *p, int pages, size_t count, size_t room)
{
	long top = (long)p->top + pages * (long)room;

	p->top = top < 0 ? 0 : top;
	place_move(p, pages * (long)room, count, room);
}

bool place_key(struct place *p, int key, size_t count, size_t room)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		place_move(p, -1, count, room);
		return true;
	case KEY_DOWN:
	case 'j':
		place_move(p, 1, count, room);
		return true;
	case KEY_PPAGE:
		move_pages(p, -1, count, room);
		return true;
	case KEY_NPAGE:
	case ' ':
		move_pages(p, 1, count, room);
		return true;
	case KEY_HOME:
	case 'g':
		p->follows = false;
		place_settle(p, count, room);
		return true;
	case KEY_END:
	case 'G':
		place_move(p, count, count, room);
		return true;
	}
	return false;
}
