/*
 * stream.c - the loop: a run, its readers, the keyboard and the signals.
 *
 * The run never waits for a reader: while the output is full no event is
 * taken, the library's queue lags, and the rest is read from the log once
 * there is room again.
 */
#include "cli/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/agent/agent.h"
#include "cli/ask/ask.h"
#include "cli/file_out.h"
#include "cli/keys.h"
#include "cli/signals.h"

enum { FD_RUNTIME, FD_SIGNALS, FD_RESULTS, FD_TALK, FD_TTY, FDS };
enum {
    HELD_MS = 100,   /* interval for retrying a busy terminal */
    LEAVE_MS = 1000, /* time for printing the rest after a signal */
};

struct stream_loop {
    struct stream *st;
    struct approvals approvals;
    struct pollfd fds[FDS];
    bool over;          /* no event will follow */
    bool canceled;      /* by a signal or a closed output */
    bool left;          /* by the typist, who may have stopped it before */
    int64_t seq, n;     /* of the newest shown event */
    int code;           /* exit now with it; -1 = continue */
    wend_status status; /* the error that ended it early, or WEND_OK */
};

int exit_of_outcome(wend_outcome outcome)
{
    static const int codes[] = {
        [WEND_OUTCOME_OK] = EXIT_DONE,
        [WEND_OUTCOME_LIMIT] = EXIT_LIMIT,
        [WEND_OUTCOME_CANCELED] = EXIT_CANCELED,
        [WEND_OUTCOME_FAILED] = EXIT_FAILED,
    };
    size_t i = outcome;

    return i && i < sizeof codes / sizeof *codes ? codes[i] : EXIT_FAILED;
}

int stream_open(struct stream *st)
{
    const struct settings *set = &st->cli->set;

    if (set->output && wants_json(set))
        return usage_error(st->cli,
                           "--output takes the answer, and --json prints "
                           "events instead; --log-file FILE takes the events");
    if (set->output && strcmp(set->output, "-") != 0) {
        st->file = file_out_place(st->cli, set->output);
        if (!st->file)
            return EXIT_USAGE;
    }
    return view_open(&st->view, set, view_look(set)) ? EXIT_DONE : EXIT_USAGE;
}

/* Whether another process can answer. */
static int answers_come(const struct cli *cli)
{
    struct buf path = {.mem = &cli_mem};

    return store_file(cli, &path)
               ? EXIT_DONE
               : complain(EXIT_USAGE,
                          "--approve ask: no terminal can ask here, and 'wend "
                          "approve' cannot reach a store in memory; use a "
                          "store in a file, or give rules or --approve deny");
}

int stream_new(struct stream *st)
{
    int code = open_runtime(st->cli);

    if (!code)
        code = agent_make(st->cli);
    st->live = true;
    st->asks = st->cli->asks;
    if (!code && st->asks && !approvals_here(&st->cli->set))
        code = answers_come(st->cli);
    return code ? code : stream_open(st);
}

/* An unfinished run stays resumable. */
void stream_close(struct stream *st)
{
    wend_run_free(st->run);
    view_free(&st->view);
}

int stream_past(struct stream *st, const char *id, int64_t to)
{
    wend_replay_options o = {.size = sizeof o,
                             .seq_to = to,
                             .filter.types = view_past_types(&st->view)};

    return o.filter.types ? each_event(st->cli, id, &o, view_past, &st->view)
                          : EXIT_DONE;
}

/* ---- Ends ---------------------------------------------------------------- */

/* A run of this process continues to its run_end; there is nothing to wait
 * for in a replay or a log. */
static void cancel(struct stream_loop *l, const char *by)
{
    l->canceled = true;
    if (l->over || !l->st->live ||
        wend_run_cancel_by(l->st->run, by) != WEND_OK)
        l->code = EXIT_CANCELED;
}

/* A live run ends as the log says: it is canceled if it was not over yet. */
static void reader_left(struct stream_loop *l)
{
    int error = l->st->view.results.error;

    if (l->canceled)
        return;
    l->canceled = true;
    if (error != EPIPE)
        complain(0, "cannot write to standard output: %s", strerror(error));
    if (!l->st->live)
        l->code = error == EPIPE ? EXIT_CANCELED : EXIT_FAILED;
    else if (!l->over)
        wend_run_cancel_by(l->st->run, "stdout");
}

/* ---- One round ----------------------------------------------------------- */

static void watch(struct stream_loop *l, int fd, int i, short events)
{
    l->fds[i] = (struct pollfd){.fd = fd, .events = events};
}

/* What the user types besides; a question has the rows that it leaves. */
static void lay_typed(struct stream_loop *l)
{
    const struct typist *t = l->st->typist;
    struct view *v = &l->st->view;
    size_t rows = v->typed_any ? str_count(buf_view(&v->typed), '\n') : 0;

    t->lay(t->ctx, v);
    if (v->question.len && v->paints &&
        rows != (v->typed_any ? str_count(buf_view(&v->typed), '\n') : 0))
        v->lay(v->asker);
}

static void typed_beside(void *loop, wend_str keys)
{
    struct stream_loop *l = loop;
    const struct typist *t = l->st->typist;

    if (!t->read(t->ctx, l->st, keys)) {
        l->code = EXIT_CANCELED;
        l->left = true;
    }
}

/* An approval comes before what the user types besides. */
static int keyboard(struct stream_loop *l)
{
    const struct typist *t = l->st->typist;
    bool asks = approvals_wait(&l->approvals);

    if (!t || l->over || l->st->view.lent || !keys_present())
        return asks ? l->approvals.tty : -1;
    keys_typing();
    lay_typed(l);
    return asks ? l->approvals.tty : t->fd;
}

static void wait_for_something(struct stream_loop *l)
{
    struct view *v = &l->st->view;
    wend_runtime *rt = l->st->cli->rt;
    int fd = keyboard(l), timeout;
    int tick = l->over ? -1 : view_tick(v);

    watch(l, l->over ? -1 : wend_runtime_fd(rt), FD_RUNTIME, POLLIN);
    /* Even without POLLOUT: poll reports that the reader is gone. */
    watch(l, v->results.error ? -1 : v->results.fd, FD_RESULTS,
          out_pending(&v->results) && !(v->lent && v->together) ? POLLOUT : 0);
    watch(l, out_pending(&v->talk) && !v->lent ? v->talk.fd : -1, FD_TALK,
          POLLOUT);
    watch(l, fd, FD_TTY, POLLIN);
    timeout = l->over ? -1 : wend_runtime_timeout_ms(rt);
    if (tick >= 0 && (timeout < 0 || tick < timeout))
        timeout = tick;
    if ((approvals_held(&l->approvals) || v->prompt == PROMPT_LOST) &&
        (timeout < 0 || timeout > HELD_MS))
        timeout = HELD_MS;
    poll(l->fds, FDS, timeout);
}

static void write_some(struct stream_loop *l)
{
    struct view *v = &l->st->view;
    short results = l->fds[FD_RESULTS].revents;
    short talk = l->fds[FD_TALK].revents;

    if (results & POLLOUT)
        out_write(&v->results);
    else if (results & (POLLERR | POLLHUP | POLLNVAL))
        out_close(&v->results, results & POLLNVAL ? EBADF : EPIPE);
    if (talk & POLLOUT)
        out_write(&v->talk);
    else if (talk)
        out_close(&v->talk, EPIPE);
    if (v->results.error)
        reader_left(l);
}

static bool has_room(const struct view *v)
{
    return !out_full(&v->results) && !out_full(&v->talk);
}

/* Approvals of descendants; nothing else of them is shown. */
static void take_approvals(struct stream_loop *l, wend_run *run)
{
    const wend_event *ev;
    wend_run *child;

    for (size_t i = 0; (child = wend_run_child(run, i)); i++) {
        while (wend_run_poll(child, &ev) == WEND_OK)
            approvals_event(&l->approvals, &l->st->view, ev);
        take_approvals(l, child);
    }
}

static void take_events(struct stream_loop *l)
{
    struct stream *st = l->st;
    const wend_event *ev;
    wend_status s = WEND_OK;

    while (has_room(&st->view) &&
           (s = wend_run_poll(st->run, &ev)) == WEND_OK) {
        view_event(&st->view, ev);
        l->seq = ev->seq;
        l->n = ev->n;
        if (st->asks)
            approvals_event(&l->approvals, &st->view, ev);
    }
    if (st->asks)
        take_approvals(l, st->run);
    if (s == WEND_OK || s == WEND_AGAIN)
        return;
    l->over = true;
    l->status = s == WEND_END ? WEND_OK : s;
    view_end(&st->view);
}

/* A question about a child reads logs, and events may arrive meanwhile. */
static void take_and_ask(struct stream_loop *l)
{
    take_events(l);
    if (l->over || !approvals_held(&l->approvals))
        return;
    approvals_show(&l->approvals, &l->st->view, l->st->run);
    take_events(l);
}

/* Writes what the readers accept quickly. */
static void flush(struct out *o)
{
    struct pollfd fd = {.fd = o->fd, .events = POLLOUT};

    while (out_pending(o) && poll(&fd, 1, LEAVE_MS) == 1 &&
           fd.revents & POLLOUT)
        out_write(o);
}

/* Ctrl-Z: the shell gets a terminal as the run found it. */
static void suspend(struct stream_loop *l)
{
    struct view *v = &l->st->view;

    approvals_away(&l->approvals, v);
    if (v->paints && !v->lent) {
        live_lift(v);
        flush(v->together ? &v->results : &v->talk);
    }
    keys_restore();
    signals_stop();
}

/* Also after a SIGSTOP, which leaves no time to tidy up. */
static void continued(struct stream_loop *l)
{
    approvals_away(&l->approvals, &l->st->view);
    live_anew(&l->st->view);
}

static void take_signals(struct stream_loop *l)
{
    int number;

    while ((number = signals_next()))
        if (number == SIGTERM)
            l->code = EXIT_TERM;
        else if (number == SIGHUP)
            l->code = EXIT_HANGUP;
        else if (number == SIGTSTP)
            suspend(l);
        else if (number == SIGCONT)
            continued(l);
        else
            cancel(l, "signal");
}

static bool is_done(const struct stream_loop *l)
{
    const struct view *v = &l->st->view;

    return l->code >= 0 ||
           (l->over && !out_pending(&v->results) && !out_pending(&v->talk));
}

/* What is pending comes first; then the terminal is the user's. Ctrl-C there
 * is for the program that has it. */
static void lend_screen(struct stream_loop *l)
{
    struct view *v = &l->st->view;

    view_talk(v); /* after the text, in a line of its own */
    flush(&v->results);
    flush(&v->talk);
    approvals_lend(&l->approvals, v);
}

/* Keys, and whether a program of the user gives the terminal back; also when
 * the run is over. */
static void look_at_screen(struct stream_loop *l)
{
    struct view *v = &l->st->view;

    if (l->fds[FD_TTY].revents && approvals_wait(&l->approvals))
        approvals_read(&l->approvals, v, l->st->run);
    else if (l->fds[FD_TTY].revents && l->st->typist)
        typed_beside(l, STR_NONE);
    if (approvals_want_screen(&l->approvals))
        lend_screen(l);
    approvals_look(&l->approvals, v, l->st->run);
    signals_lent(l->approvals.lend.pid != 0);
    if (l->approvals.lend.stopped)
        signals_stop();
}

static void lay_question(void *loop)
{
    struct stream_loop *l = loop;

    approvals_lay(&l->approvals, &l->st->view, l->st->run);
}

static void go_round(struct stream_loop *l)
{
    if (signals_arrived()) /* before a paint: the process may have stopped */
        take_signals(l);
    if (l->code >= 0)
        return;
    wait_for_something(l);
    if (l->fds[FD_SIGNALS].revents)
        take_signals(l);
    write_some(l);
    if (l->code < 0)
        look_at_screen(l);
    if (l->code >= 0 || l->over)
        return;
    /* If the store failed, show the events before the failure first. */
    wend_runtime_pump(l->st->cli->rt);
    take_and_ask(l);
    approvals_repeat(&l->approvals, &l->st->view);
}

static bool is_parked(struct cli *cli, const char *id)
{
    enum run_state s = run_state(cli, id, NULL);

    return s == RUN_OVER || s == RUN_INTERRUPTED;
}

/* For a resumed run of which nothing was shown yet. */
static int64_t resumed_at(struct cli *cli, const char *id)
{
    wend_replay_options o = {.size = sizeof o,
                             .filter.types = TYPE(RUN_RESUME) | TYPE(RUN_FORK)};
    const wend_event *ev;
    wend_run *log = NULL;
    int64_t seq = 0;

    if (wend_store_replay(cli->rt, id, &o, &log, NULL) == WEND_OK)
        while (wend_run_next(log, &ev) == WEND_OK)
            seq = ev->seq - 1;
    wend_run_free(log);
    return seq;
}

/* Releases the run after a signal, and shows the events that the log has
 * after the newest shown event. */
static void show_rest(struct stream_loop *l)
{
    struct stream *st = l->st;
    wend_replay_options o = {.size = sizeof o};
    const struct timespec moment = {.tv_nsec = 10000000};
    const wend_event *ev;
    wend_run *log = NULL;
    char id[40];

    snprintf(id, sizeof id, "%s", wend_run_id(st->run));
    wend_run_free(st->run);
    st->run = NULL;
    for (int i = 0; i < LEAVE_MS / 10 && !is_parked(st->cli, id); i++)
        nanosleep(&moment, NULL);
    if (!l->seq) {
        l->seq = resumed_at(st->cli, id);
        l->n = INT64_MAX;
    }
    o.seq_from = l->seq;
    if (wend_store_replay(st->cli->rt, id, &o, &log, NULL) == WEND_OK)
        while (wend_run_next(log, &ev) == WEND_OK)
            if (ev->seq > l->seq || (ev->seq == l->seq && ev->n > l->n))
                view_event(&st->view, ev);
    wend_run_free(log);
    if (!st->view.quiet)
        buf_fmt(view_talk(&st->view),
                "wend: stopped; 'wend resume %s' resumes it\n", id);
}

/* What was stopped is over soon, and then a conversation goes on from it. */
static void let_end(struct stream_loop *l)
{
    wend_runtime *rt = l->st->cli->rt;
    struct pollfd fd = {.fd = wend_runtime_fd(rt), .events = POLLIN};
    int64_t end_us = steady_us() + LEAVE_MS * 1000, left_us;
    int timeout;

    while (!l->over && (left_us = end_us - steady_us()) > 0) {
        timeout = wend_runtime_timeout_ms(rt);
        if (timeout < 0 || timeout > left_us / 1000)
            timeout = (int)(left_us / 1000) + 1;
        poll(&fd, 1, timeout);
        wend_runtime_pump(rt);
        take_events(l);
        if (!has_room(&l->st->view))
            return;
    }
}

/* The answer did not arrive. */
static void say_where(struct stream *st)
{
    if (st->view.stored)
        complain(0, "'wend replay -q %s' prints the answer",
                 wend_run_id(st->run));
}

static int ended(struct stream_loop *l)
{
    struct view *v = &l->st->view;
    int error = v->results.error, code;

    if (l->code >= 0)
        return l->code;
    if (l->status != WEND_OK) {
        l->st->cli->err = *wend_run_error(l->st->run);
        code = report(l->st->cli, l->status);
        return code == EXIT_STORE ? EXIT_STORE : EXIT_FAILED;
    }
    code = v->outcome ? exit_of_outcome(v->outcome) : EXIT_DONE;
    if (code || !error || error == EPIPE) /* a reader may leave */
        return code;
    say_where(l->st);
    return EXIT_FAILED;
}

/* The answer of a run that ended ok. */
static int save(struct stream *st)
{
    struct buf *answer = &st->view.answer;
    struct file_out file;
    int code;

    if (answer->len && answer->ptr[answer->len - 1] != '\n')
        buf_char(answer, '\n');
    if (answer->failed)
        return complain(EXIT_FAILED, "out of memory");
    code = file_out_open(&file, st->file, FILE_OUT_SHARED);
    if (!code) {
        file_out_write(&file, buf_view(answer));
        code = file_out_close(&file, EXIT_DONE);
    }
    if (code)
        say_where(st);
    return code ? EXIT_FAILED : EXIT_DONE;
}

int stream_go(struct stream *st)
{
    struct stream_loop l = {.st = st, .code = -1};
    int signals = signals_open(), code;

    if (signals < 0)
        return EXIT_FAILED;
    st->view.live = st->live;
    st->view.lay = lay_question;
    st->view.asker = &l;
    l.approvals.tty = l.approvals.lock = -1;
    keys_open();
    if (st->asks)
        approvals_open(&l.approvals, st->cli);
    if (st->typist) {
        l.approvals.beside = typed_beside;
        l.approvals.ctx = &l;
    }
    signals_take_stops(true);
    watch(&l, signals, FD_SIGNALS, POLLIN);
    take_and_ask(&l);
    while (!is_done(&l))
        go_round(&l);
    if ((l.code == EXIT_TERM || l.code == EXIT_HANGUP) && st->live && !l.over)
        show_rest(&l);
    if (l.left)
        let_end(&l);
    if (l.code >= 0) {
        view_end(&st->view);
        flush(&st->view.results);
        flush(&st->view.talk);
    }
    approvals_close(&l.approvals);
    if (!st->typist) /* who goes on typing */
        keys_restore();
    signals_take_stops(false);
    if (st->view.results.error)
        reader_left(&l);
    code = ended(&l);
    return !code && st->file && st->view.outcome ? save(st) : code;
}

int stream_run(struct stream *st, wend_status s)
{
    int code = report(st->cli, s);

    if (!code)
        code = stream_go(st);
    stream_close(st);
    return code;
}
