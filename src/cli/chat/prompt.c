/*
 * prompt.c - the prompt of a chat: a panel with the text that is typed, and
 * what the conversation has used. While the model answers the same text stands
 * below the answer, and Enter tells it to the run.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "cli/chat/talk.h"
#include "cli/keys.h"
#include "cli/signals.h"
#include "cli/term.h"

enum {
    CTRL_C = 3,
    ESC_MS = 50,        /* the rest of a sequence follows within */
    LOOK_MS = 250,      /* for another size of the terminal */
    ROWS_LEFT = 3,      /* of the screen, for the text above */
    AGAIN_US = 1000000, /* between two keys that stop, and so leave */
};

/* ---- Keys ---------------------------------------------------------------- */

/* Several lines at once are a paste, also of a terminal that does not say so:
 * only an Enter at their end sends. */
static void join_lines(char *keys, size_t len)
{
    for (size_t i = 0; i + 1 < len; i++)
        if (keys[i] == '\r')
            keys[i] = '\n';
}

/* Reads what has been typed; *more is what is left of it after an action. Call
 * it until nothing is, and the editor does not wait. */
static enum typed take_keys(struct chat *c, char *room, size_t size,
                            wend_str *more)
{
    struct pollfd fd = {.fd = c->tty, .events = POLLIN};
    ssize_t n;

    if (!more->len) {
        if (editor_waits(&c->editor) && poll(&fd, 1, ESC_MS) == 0)
            return editor_idle(&c->editor);
        n = read(c->tty, room, size);
        if (n <= 0)
            return n < 0 && (errno == EINTR || errno == EAGAIN) ? EDIT_NONE
                                                                : EDIT_LEAVE;
        if (n == 1 && room[0] == CTRL_C)
            editor_unpaste(&c->editor); /* pressed, not pasted */
        join_lines(room, (size_t)n);
        *more = (wend_str){room, (size_t)n};
    }
    return editor_take(&c->editor, more);
}

static void forget_text(struct chat *c)
{
    editor_set(&c->editor, STR(""));
    c->editor.place = c->editor.history.count;
}

/* ---- While the model answers --------------------------------------------- */

static void lay(void *ctx, struct view *v)
{
    struct chat *c = ctx;
    size_t height = v->panel.height / 2;
    struct edit_cursor at;

    buf_clear(&v->typed);
    v->typed_any = c->editor.text.len > 0;
    at = editor_put(&c->editor, &v->typed, v->width, height ? height : 1);
    v->typed_up = at.up;
    v->typed_column = at.column;
}

static bool is_compact(wend_str text)
{
    return str_starts(text, "/compact") &&
           (text.len == 8 || text.ptr[8] == ' ');
}

/* A text that comes too late is the next message. */
static void steer(struct chat *c, struct stream *st)
{
    wend_str text = buf_view(&c->editor.text);

    if (!text.len)
        return;
    if (is_compact(text)) {
        wend_run_compact(st->run, str_trim(str_skip(text, 8), is_blank));
        forget_text(c);
    } else if (slash_is(text))
        buf_cstr(view_talk(&st->view),
                 "wend: commands wait for the end of the answer; Esc stops "
                 "it\n");
    else if (!c->stopped && wend_run_say(st->run, text) == WEND_OK) {
        history_add(c, text);
        forget_text(c);
    } else {
        c->queued = true;
    }
}

static bool read_beside(void *ctx, struct stream *st, wend_str keys)
{
    struct chat *c = ctx;
    char room[4096];
    wend_str more = STR_NONE;

    c->queued = false;
    if (keys.len && keys.len <= sizeof room) {
        memcpy(room, keys.ptr, keys.len);
        join_lines(room, keys.len);
        more = (wend_str){room, keys.len};
    }

    do {
        switch (take_keys(c, room, sizeof room, &more)) {
        case EDIT_SEND: steer(c, st); break;
        case EDIT_STOP:
        case EDIT_BREAK:
            c->left = c->stopped;
            if (c->left)
                return false;
            c->stopped = true;
            wend_run_cancel_by(st->run, "user");
            break;
        case EDIT_LEAVE:
            c->left = true;
            wend_run_cancel_by(st->run, "user");
            return false;
        case EDIT_NONE:
        case EDIT_TAB:
        case EDIT_CLEAR: break;
        }
    } while (more.len || editor_waits(&c->editor));
    return true;
}

const struct typist prompt_typist = {.read = read_beside, .lay = lay};

/* ---- The prompt ---------------------------------------------------------- */

static void paint(struct chat *c)
{
    struct buf rows = {.mem = &cli_mem}, out = {.mem = &cli_mem};
    size_t width = term_width(STDERR_FILENO),
           height = term_height(STDERR_FILENO);
    struct edit_cursor at;
    struct buf row = {.mem = &cli_mem};

    panel_resize(&c->panel, width, height, term_reflows());
    at = editor_put(&c->editor, &rows, width,
                    height > ROWS_LEFT ? height - ROWS_LEFT : 1);
    if (c->editor.searching)
        buf_fmt(&row, "search%s: %s", c->editor.lost ? " (nothing found)" : "",
                c->editor.wanted.ptr);
    else if (c->note.len)
        buf_str(&row, buf_view(&c->note));
    else
        chat_used(c, &row);
    if (row.len) {
        buf_cstr(&rows, term_colour(STDERR_FILENO) ? "\033[2m" : "");
        term_line(&rows, buf_view(&row), width - 1);
        buf_cstr(&rows, term_colour(STDERR_FILENO) ? "\033[0m\n" : "\n");
    }
    panel_paint(&c->panel, &out, buf_view(&rows), 0);
    panel_cursor(&c->panel, &out, at.up + (row.len > 0), at.column);
    write_all(STDERR_FILENO, buf_view(&out));
    buf_free(&rows);
    buf_free(&row);
    buf_free(&out);
}

static void lift(struct chat *c)
{
    struct buf out = {.mem = &cli_mem};

    panel_resize(&c->panel, term_width(STDERR_FILENO),
                 term_height(STDERR_FILENO), term_reflows());
    panel_lift(&c->panel, &out);
    write_all(STDERR_FILENO, buf_view(&out));
    buf_free(&out);
}

/* What was sent stands above the answer. */
static void show_sent(struct chat *c)
{
    struct buf out = {.mem = &cli_mem};
    size_t end = c->editor.at;

    c->editor.at = c->editor.text.len;
    editor_put(&c->editor, &out, term_width(STDERR_FILENO), SIZE_MAX / 2);
    c->editor.at = end;
    write_all(STDERR_FILENO, buf_view(&out));
    buf_free(&out);
}

/* The same as a program that is started in a shell: it stops, and goes on. */
static void suspend(struct chat *c)
{
    lift(c);
    keys_restore();
    signals_stop();
}

/* The second of two keys that stop; the answer may end between them. */
static bool stops_again(const struct chat *c)
{
    return !c->editor.text.len && c->stopped_us &&
           steady_us() - c->stopped_us < AGAIN_US;
}

static void interrupted(struct chat *c)
{
    signals_forget();
    if (stops_again(c)) {
        c->code = EXIT_CANCELED;
    } else if (c->warned && !c->editor.text.len) {
        c->code = EXIT_DONE;
    } else {
        forget_text(c);
        c->warned = true;
        buf_clear(&c->note);
        buf_cstr(&c->note, "Ctrl-C again or /quit leaves");
    }
}

static void take_signals(struct chat *c)
{
    int number;

    while ((number = signals_next()))
        if (number == SIGINT)
            interrupted(c);
        else if (number == SIGTSTP)
            suspend(c);
        else if (number == SIGCONT)
            panel_forget(&c->panel);
        else
            c->code = number == SIGHUP ? EXIT_HANGUP : EXIT_TERM;
}

/* True: the text is complete. */
static bool take_typed(struct chat *c)
{
    static char room[4096];
    wend_str more = STR_NONE;
    enum typed done;

    do {
        done = take_keys(c, room, sizeof room, &more);
        if (done != EDIT_BREAK) {
            buf_clear(&c->note);
            c->warned = false;
        }
        if (c->editor.text.len)
            c->stopped_us = 0; /* what follows is another text */
        if (done == EDIT_SEND && c->editor.text.len)
            return true; /* it was the last key: see join_lines */
        if (done == EDIT_LEAVE)
            c->code = EXIT_DONE;
        else if (done == EDIT_BREAK)
            interrupted(c);
        else if (done == EDIT_STOP && stops_again(c))
            c->code = EXIT_CANCELED;
        else if (done == EDIT_TAB)
            tab_complete(c);
        else if (done == EDIT_CLEAR) {
            panel_forget(&c->panel);
            write_all(STDERR_FILENO, STR("\033[H\033[2J"));
        }
    } while (c->code == CHAT_GOES_ON && (more.len || editor_waits(&c->editor)));
    return false;
}

static void wait_for_keys(struct chat *c, int signals, bool *keys)
{
    wend_runtime *rt = c->cli->rt;
    struct pollfd fds[] = {{.fd = c->tty, .events = POLLIN},
                           {.fd = signals, .events = POLLIN},
                           {.fd = wend_runtime_fd(rt), .events = POLLIN}};

    poll(fds, 3, LOOK_MS);
    wend_runtime_pump(rt); /* servers of tools may have something to say */
    *keys = fds[0].revents != 0;
}

bool prompt_read(struct chat *c)
{
    int signals = signals_open();
    bool sent = c->queued && c->editor.text.len, keys;

    c->queued = false;
    if (signals < 0)
        return false;
    signals_take_stops(true);
    while (!sent && c->code == CHAT_GOES_ON) {
        if (keys_present()) {
            keys_typing();
            paint(c);
        }
        wait_for_keys(c, signals, &keys);
        take_signals(c);
        if (keys && c->code == CHAT_GOES_ON)
            sent = take_typed(c);
    }
    lift(c);
    if (sent)
        show_sent(c);
    signals_take_stops(false);
    return sent;
}
