// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <ncurses.h>
#include <string.h>

#include "lib/terminal/draw.h"
#include "lib/terminal/typing.h"

void typing_begin(struct typing *t, const char *text)
{
	t->on = true;
	snprintf(t->text, sizeof(t->text), "%s", text);
}

bool typing_key(struct typing *t, int key)
{
	size_t length = strlen(t->text);

	if (typing_is_enter(key))
		return true;
	if (key == TYPING_ESCAPE) {
		t->on = false;
	} else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
		t->text[length ? length - 1 : 0] = '\0';
	} else if (key == 'U' - '@') { /* Ctrl-U */
		t->text[0] = '\0';
	} else if (key >= ' ' && key <= '~' && length + 1 < sizeof(t->text)) {
		t->text[length] = key;
		t->text[length + 1] = '\0';
	}
	return false;
}

void typing_draw(const struct typing *t, const char *label, const char *message)
{
	int visible = COLS > 12 ? COLS - 10 : 2, length = strlen(t->text);
	char text[TYPING_TEXT + 32];

	snprintf(text, sizeof(text), "%.20s: %s_", label, length > visible ? t->text + length - visible : t->text);
	draw_text(LINES - 1, 0, COLS, STYLE_TITLE, text, false);
	if (!message[0])
		return;
	mvhline(LINES - 2, 0, ' ', COLS);
	draw_text(LINES - 2, 0, COLS, STYLE_FAULT, message, false);
}
