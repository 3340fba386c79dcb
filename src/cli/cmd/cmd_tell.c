/*
 * cmd_tell.c - wend cancel, say, pause, continue, approve: requests to a run
 * that is active in another process.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/ask/lend.h"
#include "cli/ask/question.h"
#include "cli/ask/waiting.h"
#include "cli/cmd/cmd.h"
#include "cli/keys.h"
#include "cli/rows.h"

static const struct opt opts[] = {
    ROW_STORE,
    ROWS_END,
};

static const struct opt cancel_opts[] = {
    ROW_FLAG(force, "force", "close a run that cannot be resumed"),
    ROW_STORE,
    ROWS_END,
};

static const struct opt say_opts[] = {
    ROW_FLAG(pin, "pin", "keep it when the conversation is shortened"),
    ROW_FLAG(compact, "compact",
             "shorten the conversation now; TEXT is what to keep"),
    ROW_FILES(FILES_HELP),
    ROW_STORE,
    ROWS_END,
};

static const struct opt approve_opts[] = {
    ROW_FLAG(always, "always", "apply the answer to similar calls of this run"),
    ROW_TEXT(call_args, "args", "JSON", "approve with other arguments"),
    ROW_FLAG(edit, "edit", "approve with the arguments as $EDITOR leaves them"),
    ROW_STORE,
    ROWS_END,
};

enum { TELL_WAIT_MS = 5000 };

static int ask(struct cli *cli, const char *id, wend_request r, wend_told *told)
{
    r.size = sizeof r;
    r.by = "command";
    return report(cli, wend_store_tell_wait(cli->store, id, &r, TELL_WAIT_MS,
                                            told, &cli->err));
}

static int say_told(struct cli *cli, const char *id, wend_told told)
{
    switch (told) {
    case WEND_TOLD_APPLIED: break;
    case WEND_TOLD_QUEUED:
        return complain(EXIT_DONE,
                        "queued: no process has read it yet; the next owner of "
                        "run %s applies it first ('wend resume %s')",
                        id, id);
    case WEND_TOLD_LATE:
        return complain(EXIT_FAILED, "too late: run %s is %s", id,
                        run_state(cli, id, NULL) == RUN_OVER
                            ? "over"
                            : "not waiting for this");
    }
    return EXIT_DONE;
}

static int tell(struct cli *cli, const char *id, wend_request r)
{
    wend_told told;
    int code = ask(cli, id, r, &told);

    return code ? code : say_told(cli, id, told);
}

static void say_retry(const char *id)
{
    complain(0, "run %s is canceled; 'wend retry %s' resumes from there", id,
             id);
}

/* Else the request waits for the next owner. */
static bool is_heard(struct cli *cli, const char *id)
{
    enum run_state state = run_state(cli, id, NULL);

    return state == RUN_OVER || state == RUN_UNDER_WAY;
}

static int close_run(struct cli *cli)
{
    struct found found;
    wend_status s;
    int code = find_arg(cli, open_store, &found);

    if (code)
        return code;
    s = wend_store_close(cli->store, found.id, "command", &cli->err);
    if (s == WEND_E_BUSY)
        return complain(EXIT_USAGE, "%s; cancel it without --force",
                        cli->err.message);
    if (s == WEND_E_INVAL)
        return complain(EXIT_FAILED, "too late: %s", cli->err.message);
    if (s == WEND_OK)
        say_retry(found.id);
    return report(cli, s);
}

/* A request without a text: its kind is the command. */
static int run_simply(struct cli *cli)
{
    wend_request r = {
        .kind = cli->command == &command_pause      ? WEND_REQUEST_PAUSE
                : cli->command == &command_continue ? WEND_REQUEST_CONTINUE
                                                    : WEND_REQUEST_CANCEL};
    struct found found;
    int code;

    if (cli->set.force)
        return close_run(cli);
    code = find_arg(cli, open_store, &found);
    if (!code)
        code = tell(cli, found.id, r);
    if (!code && r.kind == WEND_REQUEST_CANCEL && is_heard(cli, found.id))
        say_retry(found.id);
    return code;
}

struct refusal {
    int64_t seq; /* 0: none */
    struct buf why;
};

static void note_refusal(void *ctx, const wend_event *ev)
{
    static const char *const codes[] = {"pin_refused", "media_omitted"};
    struct refusal *r = ctx;

    if (str_index(ev->u.warning.code, codes, 2) < 0)
        return;
    r->seq = ev->seq;
    buf_clear(&r->why);
    buf_str(&r->why, ev->u.warning.message);
}

/* The run refuses to pin what would leave no room for anything else, and leaves
 * out files that its model does not accept. */
static int say_checked(struct cli *cli, const char *id, wend_request said)
{
    wend_replay_options o = {.size = sizeof o, .filter.types = TYPE(WARNING)};
    struct refusal r = {.why.mem = &cli_mem};
    wend_told told;
    int64_t before;
    int code = each_event(cli, id, &o, note_refusal, &r);

    before = r.seq;
    if (!code)
        code = ask(cli, id, said, &told);
    if (!code && told != WEND_TOLD_QUEUED)
        code = each_event(cli, id, &o, note_refusal, &r);
    if (code)
        return code;
    if (r.seq == before)
        return say_told(cli, id, told);
    return complain(told == WEND_TOLD_LATE ? EXIT_USAGE : EXIT_FAILED, "%s",
                    r.why.ptr);
}

static int run_say(struct cli *cli)
{
    wend_request r = {.kind = cli->set.compact ? WEND_REQUEST_COMPACT
                                               : WEND_REQUEST_SAY,
                      .pin = cli->set.pin};
    struct buf text = {.mem = &cli_mem};
    struct found found;
    bool checked;
    int code;

    if (cli->set.compact && (cli->set.pin || cli->set.files.count))
        return usage_error(cli, "--compact sends no message to --pin, or to "
                                "send files with");
    if (!cli->set.compact && cli->args_count < 2)
        return usage_error(cli, "expected a run and a message");
    code = read_parts(cli, &r.parts, &r.parts_count);
    checked = r.pin || r.parts_count;
    if (!code)
        code = find_arg(cli, checked ? open_runtime : open_store, &found);
    put_args(cli, 1, &text);
    r.text = text.ptr;
    if (code)
        return code;
    return checked ? say_checked(cli, found.id, r) : tell(cli, found.id, r);
}

/* ---- Approve ------------------------------------------------------------- */

static int not_waiting(struct cli *cli, const struct waiting *w, const char *id,
                       const char *call)
{
    struct buf names = {.mem = &cli_mem};

    if (run_state(cli, id, NULL) == RUN_OVER)
        return complain(EXIT_FAILED, "too late: run %s is over", id);
    if (!w->count)
        return complain(EXIT_USAGE, "no call is waiting for approval in run %s",
                        id);
    for (size_t i = 0; i < w->count; i++) {
        buf_cstr(&names, i ? ", " : "");
        buf_str(&names, approval_subject(w->list[i].ask));
    }
    return complain(
        EXIT_USAGE,
        "no call '%s' is waiting for approval in run %s; waiting: %s", call, id,
        names.ptr);
}

/* ---- Other arguments ----------------------------------------------------- */

/* The terminal is the editor's until it is over. */
static int edit(wend_str args, struct buf *out)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    struct buf text = {.mem = &cli_mem};
    const char *editor = lend_editor();
    struct lend l = {0};
    int tty = keys_open(), code = EXIT_DONE;
    bool ok = false;

    if (tty < 0 || !editor) {
        if (tty >= 0)
            close(tty);
        return complain(EXIT_USAGE, "--edit: %s; use --args JSON",
                        editor ? "no terminal"
                               : "neither VISUAL nor EDITOR is "
                                 "set");
    }
    lend_put_args(&text, args);
    if (lend_edit(&l, editor, buf_view(&text), tty)) {
        while (!lend_over(&l, &ok))
            nanosleep(&pause, NULL);
        ok = ok && lend_read(&l, out);
    }
    if (!ok)
        code = complain(EXIT_FAILED,
                        "--edit: '%s' failed; nothing was approved", editor);
    lend_close(&l);
    close(tty);
    return code;
}

/* What the run made of it; says so where it did not take the arguments. */
static int approve_changed(struct cli *cli, const char *id, struct waiting *w,
                           const char *args)
{
    const wend_request r = {.kind = WEND_REQUEST_APPROVE,
                            .call = cli->args[1],
                            .args = args,
                            .yes = true};
    int64_t before = w->refused;
    wend_told told;
    int code = ask(cli, id, r, &told);

    if (!code && told == WEND_TOLD_LATE)
        code = waiting_find(cli, id, w);
    if (code || w->refused == before)
        return code ? code : say_told(cli, id, told);
    return complain(EXIT_USAGE, "%.*s; it still waits for approval",
                    (int)w->why.len, w->why.ptr);
}

static int approve(struct cli *cli, const char *id, struct waiting *w, bool yes)
{
    const wend_event *asked = waiting_call(w, cli->args[1]);
    const wend_request r = {.kind = WEND_REQUEST_APPROVE,
                            .call = cli->args[1],
                            .yes = yes,
                            .always = cli->set.always};
    struct buf text = {.mem = &cli_mem};
    const char *args = cli->set.call_args;
    int code = EXIT_DONE;

    if (!asked)
        return not_waiting(cli, w, id, cli->args[1]);
    if (cli->set.edit) {
        code = edit(asked->u.approval_ask.args_json, &text);
        args = text.ptr;
    }
    if (code)
        return code;
    return args ? approve_changed(cli, id, w, args) : tell(cli, id, r);
}

static int list(struct cli *cli, const char *id, struct waiting *w)
{
    int code = waiting_find_below(cli, id, w);

    if (code)
        return code;
    return w->count ? waiting_print(cli, w) : not_waiting(cli, w, id, NULL);
}

static int run_approve(struct cli *cli)
{
    static const char *const answers[] = {"no", "yes"};
    struct waiting w = {0};
    bool changes = cli->set.call_args || cli->set.edit;
    struct found found;
    int yes, code;

    yes = cli->args_count > 2 ? str_index(str_of(cli->args[2]), answers, 2) : 1;
    if (yes < 0)
        return usage_error(cli, "expected yes or no, not '%s'", cli->args[2]);
    if (changes &&
        (!yes || cli->set.always || (cli->set.call_args && cli->set.edit)))
        return usage_error(cli, "--args and --edit approve one call: they go "
                                "with neither no, --always nor each other");
    if (cli->args_count < 2 && (changes || cli->set.always))
        return usage_error(cli, "the options are for one call: name it");
    code = find_arg(cli, open_runtime, &found);
    if (!code)
        code = waiting_find(cli, found.id, &w);
    if (!code)
        code = cli->args_count < 2 ? list(cli, found.id, &w)
                                   : approve(cli, found.id, &w, yes == 1);
    waiting_free(&w);
    return code;
}

/* ---- The commands -------------------------------------------------------- */

const struct command command_cancel = {
    .name = "cancel",
    .args = "[OPTIONS] RUN",
    .summary = "cancel a run of another process",
    .more =
        "The run ends soon; its partial answer is kept. The command waits up "
        "to 5 s.\n"
        "Exit status 0: applied, or queued for the next owner; 1: too late.\n"
        "--force closes a run that no process owns and that cannot be "
        "resumed.\n",
    TAKES_A_RUN,
    .statuses = "queued running waiting paused interrupted",
    .opts = cancel_opts,
    .run = run_simply,
};

const struct command command_say = {
    .name = "say",
    .args = "[OPTIONS] RUN [TEXT]",
    .summary = "send a message to a run of another process",
    .more = "The model reads the message, and the files that it comes with, in "
            "its next\nturn.\n",
    .args_min = 1,
    .args_max = ARGS_ANY,
    .expected = "a run and a message",
    .statuses = "queued running waiting paused interrupted",
    .opts = say_opts,
    .run = run_say,
};

const struct command command_pause = {
    .name = "pause",
    .args = "[OPTIONS] RUN",
    .summary = "pause a run of another process",
    .more = "Active model calls and tool calls finish; nothing new starts.\n",
    TAKES_A_RUN,
    .statuses = "queued running waiting interrupted",
    .opts = opts,
    .run = run_simply,
};

const struct command command_continue = {
    .name = "continue",
    .args = "[OPTIONS] RUN",
    .summary = "continue a paused run",
    TAKES_A_RUN,
    .statuses = "paused interrupted",
    .opts = opts,
    .run = run_simply,
};

const struct command command_approve = {
    .name = "approve",
    .args = "[OPTIONS] RUN [CALL] [yes|no]",
    .summary = "approve or deny a call that waits for approval",
    .more =
        "CALL is the id of a call, or of an action of a plan, in the event "
        "approval_ask;\n"
        "without it what waits is shown. The default answer is yes. The run "
        "checks other\n"
        "arguments against the schema of the tool and its policy.\n",
    .args_min = 1,
    .args_max = 3,
    .expected = "a run, and perhaps one of its calls and yes or no",
    .statuses = "waiting",
    .opts = approve_opts,
    .run = run_approve,
};
