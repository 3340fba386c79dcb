/*
 * test_editor.c - keys as terminals send them, and the rows that they make.
 */
#include "cli/chat/editor.h"

#include <locale.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tap.h"

static const struct mem plain;

void words_add(struct words *w, const char *word, struct arena *a)
{
    (void)w;
    (void)word;
    (void)a;
}

/* What the keys leave: the text with | for the cursor, and the last action. */
static const struct {
    const char *name, *keys, *left;
    enum typed done;
} rows[] = {
    {"text", "hello", "hello|", EDIT_NONE},
    {"Enter", "hi\r", "hi|", EDIT_SEND},
    {"Ctrl-J", "a\nb", "a\nb|", EDIT_NONE},
    {"Alt-Enter", "a\033\rb", "a\nb|", EDIT_NONE},
    {"Shift-Enter", "a\033[13;2ub\033[27;2;13~c", "a\nb\nc|", EDIT_NONE},
    {"a backslash", "a\\\rb", "a\nb|", EDIT_NONE},
    {"a backslash inside", "a\\b\033[D\r", "a\\|b", EDIT_SEND},
    {"a paste", "\033[200~a\rb\nc\td\033[201~!", "a\nb\nc\td!|", EDIT_NONE},
    {"a paste with controls", "\033[200~a\x01\x03\x1b[Ab\033[201~", "ab|",
     EDIT_NONE},
    {"Enter after a paste", "\033[200~a\r\033[201~\r", "a\n|", EDIT_SEND},
    {"left and right", "abc\033[D\033[D\033[Cx", "abx|c", EDIT_NONE},
    {"other arrows", "abc\033OD\033ODx", "ax|bc", EDIT_NONE},
    {"home and end", "abc\033[Hx\033[Fy\001z\005w", "zxabcyw|", EDIT_NONE},
    {"erase",
     "ab\x7f\x08"
     "c",
     "c|", EDIT_NONE},
    {"erase wide", "\u4e16\u754c\x7f", "\u4e16|", EDIT_NONE},
    {"erase an accent", "e\u0301\x7f", "|", EDIT_NONE},
    {"delete", "abc\001\033[3~\004", "|c", EDIT_NONE},
    {"Ctrl-D", "\004", "|", EDIT_LEAVE},
    {"a word back", "one two\027x", "one x|", EDIT_NONE},
    {"by words", "one two\033b\033bx\033fy", "xoney| two", EDIT_NONE},
    {"by words, otherwise", "one two\033[1;5Dx", "one x|two", EDIT_NONE},
    {"cut and put", "one two\001\013\031\031", "one twoone two|", EDIT_NONE},
    {"cut to the begin", "one two\025x", "x|", EDIT_NONE},
    {"a line up", "abc\nd\033[Ax", "ax|bc\nd", EDIT_NONE},
    {"a line down", "a\nbcd\033[A\033[Bx", "a\nbx|cd", EDIT_NONE},
    {"Tab", "/he\t", "/he|", EDIT_TAB},
    {"Ctrl-L", "a\014", "a|", EDIT_CLEAR},
    {"Esc", "a\033", "a|", EDIT_STOP},
    {"Ctrl-C", "a\003", "a|", EDIT_BREAK},
    {"Ctrl-C ends a sequence", "a\033[1\003", "a|", EDIT_BREAK},
    {"two Esc", "\033\033", "|", EDIT_STOP},
    {"an unknown sequence", "a\033[99;99Zb", "ab|", EDIT_NONE},
    {"unknown keys",
     "a\x1f\x02"
     "b",
     "b|a", EDIT_NONE},
};

static void show(const struct editor *e, char *out)
{
    snprintf(out, 200, "%.*s|%.*s", (int)e->at, e->text.ptr ? e->text.ptr : "",
             (int)(e->text.len - e->at),
             e->text.ptr ? e->text.ptr + e->at : "");
}

static void editor_end(struct editor *e)
{
    buf_free(&e->text);
    buf_free(&e->draft);
    buf_free(&e->wanted);
    buf_free(&e->cut);
}

/* Terminals may cut a sequence anywhere. */
static void test_keys(void)
{
    for (size_t i = 0; i < tap_count(rows); i++)
        for (int whole = 0; whole < 2; whole++) {
            struct editor e = {.text.mem = &plain};
            wend_str keys = {rows[i].keys, strlen(rows[i].keys)};
            enum typed done = EDIT_NONE;
            char left[200];

            while (keys.len && done == EDIT_NONE) {
                wend_str one = {keys.ptr, whole ? keys.len : 1};
                size_t before = one.len;

                done = editor_take(&e, &one);
                keys.ptr += before - one.len;
                keys.len -= before - one.len;
            }
            if (editor_waits(&e) && done == EDIT_NONE)
                done = editor_idle(&e);
            show(&e, left);
            tap_is_str(left, rows[i].left, "%s", rows[i].name);
            tap_is_i64(done, rows[i].done, "%s: what follows", rows[i].name);
            editor_end(&e);
        }
}

static void test_history(void)
{
    const char *items[] = {"first", "second\nline"};
    struct editor e = {.text.mem = &plain,
                       .history = {.items = items, .count = 2},
                       .place = 2};
    static const struct {
        const char *keys, *left;
    } steps[] = {{"draft\033[A", "second\nline|"},
                 {"\033[A", "seco|nd\nline"},
                 {"\033[A", "first|"},
                 {"\033[A", "first|"},
                 {"\033[B", "second\nline|"},
                 {"\033[B", "draft|"},
                 {"\033[B", "draft|"}};

    for (size_t i = 0; i < tap_count(steps); i++) {
        wend_str keys = {steps[i].keys, strlen(steps[i].keys)};
        char left[200];

        editor_take(&e, &keys);
        show(&e, left);
        tap_is_str(left, steps[i].left, "history, step %zu", i + 1);
    }
    editor_end(&e);
}

static void test_search(void)
{
    const char *items[] = {"make test", "git log", "make all"};
    static const struct {
        const char *name, *keys, *left;
        bool searching, lost;
        enum typed done;
    } steps[] = {
        {"the newest", "draft\022mak", "|make all", true, false, EDIT_NONE},
        {"the one before", "\022make\022", "|make test", true, false,
         EDIT_NONE},
        {"no further one", "\022make\022\022", "|make test", true, true,
         EDIT_NONE},
        {"none at all", "ab\022xyz", "ab|", true, true, EDIT_NONE},
        {"shorter again", "\022gix\177", "|git log", true, false, EDIT_NONE},
        {"inside a text", "\022log", "git |log", true, false, EDIT_NONE},
        {"Ctrl-G goes back", "ab\022make\007", "ab|", false, false, EDIT_NONE},
        {"Ctrl-C goes back", "ab\022make\003", "ab|", false, false, EDIT_NONE},
        {"Enter sends", "\022git\r", "|git log", false, false, EDIT_SEND},
        {"a key moves", "\022git\005!", "git log!|", false, false, EDIT_NONE},
        {"an arrow moves", "\022git\033[C", "g|it log", false, false,
         EDIT_NONE},
        {"a paste is text", "\022git\033[200~x\033[201~", "x|git log", false,
         false, EDIT_NONE},
    };

    for (size_t i = 0; i < tap_count(steps); i++) {
        struct editor e = {.text.mem = &plain,
                           .history = {.items = items, .count = 3},
                           .place = 3};
        wend_str keys = {steps[i].keys, strlen(steps[i].keys)};
        enum typed done = editor_take(&e, &keys);
        char left[200];

        show(&e, left);
        tap_is_str(left, steps[i].left, "search: %s", steps[i].name);
        tap_ok(e.searching == steps[i].searching && e.lost == steps[i].lost &&
                   done == steps[i].done,
               "search: %s: its state", steps[i].name);
        editor_end(&e);
    }
}

static void test_rows(void)
{
    static const struct {
        const char *keys;
        size_t width, rows;
        const char *shown;
        size_t up, column;
    } looks[] = {
        {"", 10, 5, "> \n", 0, 2},
        {"abc", 10, 5, "> abc\n", 0, 5},
        {"abc\033[D", 10, 5, "> abc\n", 0, 4},
        {"a\nb", 10, 5, "> a\n  b\n", 0, 3},
        {"a\nb\033[A", 10, 5, "> a\n  b\n", 1, 3},
        {"abcdefghij", 10, 5, "> abcdefg\n  hij\n", 0, 5},
        {"abcdefg", 10, 5, "> abcdefg\n", 0, 9},
        {"\u4e16\u4e16\u4e16\u4e16", 10, 5, "> \u4e16\u4e16\u4e16\n  \u4e16\n",
         0, 4},
        {"a\nb\nc\nd", 10, 2, "  c\n  d\n", 0, 3},
        {"a\nb\nc\nd\033[A\033[A\033[A", 10, 2, "> a\n  b\n", 1, 3},
        {"\033[200~a\tb\033[201~", 20, 2, "> a    b\n", 0, 8},
        {"\033[200~a\x9b"
         "b\033[201~",
         20, 2, "> a\uFFFDb\n", 0, 5},
    };

    for (size_t i = 0; i < tap_count(looks); i++) {
        struct editor e = {.text.mem = &plain};
        struct buf out = {.mem = &plain};
        wend_str keys = {looks[i].keys, strlen(looks[i].keys)};
        struct edit_cursor c;

        editor_take(&e, &keys);
        c = editor_put(&e, &out, looks[i].width, looks[i].rows);
        tap_is_str(buf_view(&out), looks[i].shown, "rows %zu", i);
        tap_ok(c.up == looks[i].up && c.column == looks[i].column,
               "rows %zu: cursor %zu up, column %zu", i, c.up, c.column);
        buf_free(&out);
        editor_end(&e);
    }
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    setenv("LC_ALL", "C.UTF-8", 1); /* what the terminal shows */
    test_keys();
    test_history();
    test_search();
    test_rows();
    return tap_done();
}
