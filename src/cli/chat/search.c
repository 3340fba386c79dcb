/*
 * search.c - Ctrl-R: finds a text that was sent before while its part is
 * typed.
 */
#include "cli/chat/editor.h"

#include <string.h>

enum {
    CTRL_C = 3,
    CTRL_G = 7,
    CTRL_H = 8,
    CTRL_R = 0x12,
    DEL = 0177,
};

/* The newest one before `place`; if there is none, all stays. */
static void look_before(struct editor *e, size_t place)
{
    const char *at;

    e->lost = true;
    while (e->lost && place--)
        if ((at = strstr(e->history.items[place], e->wanted.ptr))) {
            size_t offset = (size_t)(at - e->history.items[place]);

            editor_past(e, place);
            e->at = offset;
            e->lost = false;
        }
}

static void shorten(struct editor *e)
{
    size_t len = e->wanted.len;

    while (len && ((unsigned char)e->wanted.ptr[--len] & 0xC0) == 0x80)
        continue;
    e->wanted.len = len;
    e->wanted.ptr[len] = 0;
    e->lost = false;
    if (len)
        look_before(e, e->history.count);
}

void search_begin(struct editor *e)
{
    e->wanted.mem = e->text.mem;
    buf_clear(&e->wanted);
    buf_cstr(&e->wanted, "");
    e->searching = buf_room(&e->wanted, 1);
    e->lost = false;
}

bool search_take(struct editor *e, char key)
{
    if (key == CTRL_R) {
        if (e->wanted.len)
            look_before(e, e->place);
    } else if (key == DEL || key == CTRL_H) {
        if (e->wanted.len)
            shorten(e);
    } else if (key == CTRL_G || key == CTRL_C) {
        e->searching = false;
        editor_past(e, e->history.count);
    } else if ((unsigned char)key >= ' ') {
        buf_char(&e->wanted, key);
        look_before(e, e->history.count);
    } else {
        e->searching = false;
        return false;
    }
    return true;
}
