/*
 * editor.h - the text that a person types: keys in, a text and rows out.
 *
 * It knows neither a terminal nor a clock: keys are bytes as terminals send
 * them, and rows are text for a panel.
 */
#ifndef CLI_EDITOR_H
#define CLI_EDITOR_H

#include "base/str.h"
#include "cli/options.h"

enum typed {
    EDIT_NONE,  /* the keys are used up */
    EDIT_SEND,  /* Enter: the text is complete */
    EDIT_STOP,  /* Esc */
    EDIT_BREAK, /* Ctrl-C */
    EDIT_LEAVE, /* Ctrl-D in an empty text */
    EDIT_TAB,
    EDIT_CLEAR, /* Ctrl-L: the screen */
};

enum { EDIT_KEYS_MAX = 32 }; /* bytes of an escape sequence */

struct editor {
    struct buf text; /* set its mem */
    size_t at;       /* of the cursor, in bytes */
    /* Texts that were sent before, oldest first; place is the one that is
     * shown, `count` for the draft. */
    struct words history;
    size_t place;
    struct buf draft, cut; /* the text before the history; Ctrl-Y inserts it */
    bool searching;        /* for `wanted` in the history: Ctrl-R */
    bool lost;             /* there is none, or no further one */
    struct buf wanted;     /* ends with NUL */
    char keys[EDIT_KEYS_MAX];
    size_t keys_len; /* of a sequence that is not whole */
    bool pasting;    /* until the paste ends, or editor_unpaste */
};

/* Takes keys from the front of `keys` until something is to be done. */
enum typed editor_take(struct editor *e, wend_str *keys);
/* No key followed for a while: an Esc that could begin a sequence is one. */
enum typed editor_idle(struct editor *e);
/* Whether it waits for the rest of a sequence. */
bool editor_waits(const struct editor *e);
/* A paste whose end was lost. */
void editor_unpaste(struct editor *e);
void editor_insert(struct editor *e, wend_str text);
void editor_set(struct editor *e, wend_str text); /* cursor at its end */
void editor_past(struct editor *e, size_t place); /* shows a text of before */

/* search.c, for editor_take. False: the search is over, and the key is not
 * its own. */
void search_begin(struct editor *e);
bool search_take(struct editor *e, char key);

/* Where the cursor is: rows above the last one, and its column. */
struct edit_cursor {
    size_t up, column;
};
/* The text behind a mark of two columns, wrapped into rows narrower than
 * `width`; the `rows` around the cursor if it has more. */
struct edit_cursor editor_put(const struct editor *e, struct buf *out,
                              size_t width, size_t rows);

#endif
