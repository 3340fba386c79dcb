/*
 * slash.c - commands of a chat: texts that begin with a slash.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "cli/chat/talk.h"
#include "cli/cmd/cmd.h"
#include "cli/file_out.h"
#include "cli/term.h"

typedef void (*slash_fn)(struct chat *c, const char *arg);

struct slash {
    const char *name, *arg, *help;
    slash_fn fn;
};

/* ---- What a run began with ----------------------------------------------- */

struct beginning {
    struct arena *arena;
    wend_str prompt, follows, messages, answer;
    wend_ev_part *parts; /* hash and name */
    size_t parts_count;
};

static void note_parts(struct beginning *b, const wend_ev_run_start *e)
{
    b->parts = arena_alloc(b->arena, (e->parts_count + 1) * sizeof *b->parts);
    for (size_t i = 0; b->parts && i < e->parts_count; i++)
        b->parts[b->parts_count++] =
            (wend_ev_part){.hash = arena_str(b->arena, e->parts[i].hash),
                           .name = arena_str(b->arena, e->parts[i].name)};
}

static void note_event(void *ctx, const wend_event *ev)
{
    struct beginning *b = ctx;

    if (ev->type == WEND_RUN_START) {
        b->prompt = arena_str(b->arena, ev->u.run_start.prompt);
        b->follows = arena_str(b->arena, ev->u.run_start.follows);
        b->messages = arena_str(b->arena, ev->u.run_start.messages_json);
        note_parts(b, &ev->u.run_start);
    } else if (ev->type == WEND_RUN_END) {
        b->answer = arena_str(b->arena, ev->u.run_end.text);
    }
}

/* False: there is no run yet, or it cannot be read; said. */
static bool look_back(struct chat *c, struct beginning *b, struct arena *a)
{
    wend_replay_options o = {.size = sizeof o,
                             .filter.types = TYPE(RUN_START) | TYPE(RUN_END)};

    *b = (struct beginning){.arena = a};
    if (!c->last[0]) {
        chat_say(c, "nothing was said yet");
        return false;
    }
    return each_event(c->cli, c->last, &o, note_event, b) == EXIT_DONE;
}

/* The config of a conversation that was continued is in its log: a run without
 * a past would not have it. */
static bool go_to(struct chat *c, wend_str to)
{
    if (c->continues && !to.len) {
        chat_say(c, "the conversation begins here; 'wend chat' without -c "
                    "begins another one");
        return false;
    }
    chat_move(c, to);
    return true;
}

/* Before the last exchange; its files come with the next message. */
static bool go_back(struct chat *c, const struct beginning *b)
{
    char last[sizeof c->last];

    memcpy(last, c->last, sizeof last);
    if (!go_to(c, b->follows))
        return false;
    attach_again(c, last, b->parts, b->parts_count);
    return true;
}

/* ---- Commands ------------------------------------------------------------ */

static void do_undo(struct chat *c, const char *arg)
{
    struct arena a = {.mem = &cli_mem};
    struct beginning b;

    (void)arg;
    if (look_back(c, &b, &a) && go_back(c, &b)) {
        editor_set(&c->editor, b.prompt);
        chat_say(c,
                 "the last exchange is left out from here on; its text is in "
                 "the prompt%s",
                 b.parts_count ? ", and its files come with it" : "");
    }
    arena_free(&a);
}

static void do_retry(struct chat *c, const char *arg)
{
    struct arena a = {.mem = &cli_mem};
    struct beginning b;

    (void)arg;
    if (look_back(c, &b, &a) && go_back(c, &b))
        chat_ask(c, b.prompt);
    arena_free(&a);
}

static void do_fork(struct chat *c, const char *arg)
{
    const char *old = c->o.session;

    if (*arg)
        c->o.session = arena_str(&c->cli->arena, str_of(arg)).ptr;
    else
        chat_new_session(c);
    chat_say(c, "from here on this is session %s%s%s%s", c->o.session,
             old ? "; 'wend chat -c --session " : "", old ? old : "",
             old ? "' continues the other" : "");
}

static void do_clear(struct chat *c, const char *arg)
{
    (void)arg;
    if (!go_to(c, STR_NONE))
        return;
    chat_new_session(c);
    chat_say(c, "a new conversation; /load goes back to another one");
}

/* The old agent stays if the new one cannot be made. */
static void do_model(struct chat *c, const char *arg)
{
    struct cli *cli = c->cli;
    wend_agent *old = cli->made;
    const char *set = cli->set.model, *given = cli->given.model;
    struct found last = {0};
    int code;

    if (!*arg) {
        chat_say(c, "%s; /model NAME changes it", c->model);
        return;
    }
    cli->made = NULL;
    cli->set.model = cli->given.model = arena_str(&cli->arena, str_of(arg)).ptr;
    str_copy(last.id, sizeof last.id, str_of(c->last));
    code =
        c->continues ? conversation_agent(cli, &last, &c->o) : agent_make(cli);
    if (code) {
        cli->made = old;
        cli->set.model = set;
        cli->given.model = given;
        return;
    }
    wend_agent_free(old);
    str_copy(c->model, sizeof c->model, str_of(arg));
    c->window = c->context = 0;
    chat_say(c, "the next answer is from %s", arg);
}

static void do_tools(struct chat *c, const char *arg)
{
    size_t width = term_width(STDERR_FILENO);
    const wend_tool_info *t;
    struct buf row = {.mem = &cli_mem};

    (void)arg;
    for (size_t i = 0; (t = wend_agent_tool(c->cli->made, i)); i++) {
        buf_clear(&row);
        buf_str(&row, t->name);
        buf_cstr(&row, "  ");
        term_line(&row, t->description,
                  width > t->name.len + 3 ? width - t->name.len - 3 : 1);
        chat_say(c, "%s", row.ptr);
    }
    if (!row.len)
        chat_say(c, "this agent has no tools");
    buf_free(&row);
}

static void do_cost(struct chat *c, const char *arg)
{
    struct buf out = {.mem = &cli_mem};

    (void)arg;
    chat_used(c, &out);
    chat_say(c, "%s, in %lld answers", out.len ? out.ptr : "",
             (long long)c->runs);
    buf_free(&out);
}

static void do_context(struct chat *c, const char *arg)
{
    (void)arg;
    if (!c->context)
        chat_say(c, "nothing was sent yet");
    else if (!c->window)
        chat_say(c, "%lld tokens; the window of %s is not known",
                 (long long)c->context, c->model);
    else
        chat_say(c, "%lld of %lld tokens (%d %%)", (long long)c->context,
                 (long long)c->window,
                 (int)((double)c->context * 100 / (double)c->window));
}

/* The summary is made before the next answer, by the run that gives it. */
static void do_compact(struct chat *c, const char *arg)
{
    if (!c->last[0]) {
        chat_say(c, "nothing was said yet");
        return;
    }
    c->o.compact = arena_str(&c->cli->arena, str_of(arg)).ptr;
    chat_say(c, "the next message goes with a summary of the conversation%s%s",
             *arg ? ", above all of: " : "", arg);
}

static void do_quit(struct chat *c, const char *arg)
{
    (void)arg;
    c->code = EXIT_DONE;
}

/* ---- Files --------------------------------------------------------------- */

static void put_said(struct buf *out, const char *who, wend_str text)
{
    if (!text.len)
        return;
    buf_fmt(out, "%s## %s\n\n", out->len ? "\n" : "", who);
    buf_str(out, text);
    if (text.ptr[text.len - 1] != '\n')
        buf_char(out, '\n');
}

static void put_conversation(struct buf *out, const struct beginning *b)
{
    const struct json *list =
        b->messages.ptr ? json_parse_own(b->messages, b->arena, NULL) : NULL;

    for (const struct json *m = json_items(list); m; m = m->next) {
        wend_str role = json_get_str(m, "role");

        if (str_is(role, "user") || str_is(role, "assistant"))
            put_said(out, str_is(role, "user") ? "You" : "Assistant",
                     json_get_str(m, "text"));
    }
    put_said(out, "You", b->prompt);
    put_said(out, "Assistant", b->answer);
}

static void save(struct chat *c, const char *arg)
{
    struct arena a = {.mem = &cli_mem};
    struct buf text = {.mem = &cli_mem};
    struct beginning b;
    struct file_out file;

    if (look_back(c, &b, &a)) {
        put_conversation(&text, &b);
        if (!file_out_open(&file, arg, FILE_OUT_PRIVATE)) {
            file_out_write(&file, buf_view(&text));
            if (!file_out_close(&file, EXIT_DONE))
                chat_say(c,
                         "%s has the conversation; 'wend export %s' the "
                         "whole run",
                         arg, c->last);
        }
    }
    buf_free(&text);
    arena_free(&a);
}

static void do_save_over(struct chat *c, const char *arg)
{
    if (*arg)
        save(c, arg);
    else
        chat_say(c, "/save! FILE writes the conversation as Markdown, and "
                    "replaces the file");
}

/* A device or a pipe has nothing to lose. */
static void do_save(struct chat *c, const char *arg)
{
    struct stat st;

    if (!*arg)
        chat_say(c, "/save FILE writes the conversation as Markdown");
    else if (!stat(arg, &st) && S_ISREG(st.st_mode))
        chat_say(c, "'%s' exists already; '/save! %s' replaces it", arg, arg);
    else
        save(c, arg);
}

static int find_other(struct chat *c, const char *name, struct found *out)
{
    struct cli *cli = c->cli;
    wend_list_options in = {.size = sizeof in, .session = name, .limit = 1};
    const char *session = cli->set.session;
    int code;

    if (runs_count(cli, &in) <= 0)
        return find_run(cli, name, out);
    cli->set.session = name;
    code = conversation_find(cli, out);
    cli->set.session = session;
    if (!code)
        c->o.session = arena_str(&cli->arena, str_of(name)).ptr;
    return code;
}

static void do_load(struct chat *c, const char *arg)
{
    struct found other = {0};

    if (!*arg) {
        chat_say(c, "/load SESSION or RUN continues that conversation; 'wend "
                    "runs' lists them");
    } else if (!find_other(c, arg, &other)) {
        if (other.imported) {
            chat_say(c, "run %s was imported, and is not continued", other.id);
            return;
        }
        chat_move(c, str_of(other.id));
        chat_say(c, "the next message follows run %s", other.id);
    }
}

/* ---- The table ----------------------------------------------------------- */

static void do_help(struct chat *c, const char *arg);

static const struct slash commands[] = {
    {"attach", "FILE", "send a file with the next message", slash_attach},
    {"clear", "", "begin a new conversation", do_clear},
    {"compact", "[FOCUS]", "shorten the conversation, with a summary",
     do_compact},
    {"context", "", "how full the window of the model is", do_context},
    {"cost", "", "tokens and money of this chat", do_cost},
    {"detach", "[FILE]", "leave out a file, or all of them", slash_detach},
    {"fork", "[SESSION]", "continue as another session", do_fork},
    {"help", "", "this list", do_help},
    {"load", "SESSION|RUN", "continue another conversation", do_load},
    {"model", "[NAME]", "show or change the model", do_model},
    {"quit", "", "leave, as Ctrl-D does", do_quit},
    {"retry", "", "ask the last question again", do_retry},
    {"save", "FILE", "write the conversation as Markdown", do_save},
    {"save!", "FILE", "the same, and replace a file", do_save_over},
    {"tools", "", "the tools that the model may use", do_tools},
    {"undo", "", "leave out the last exchange", do_undo},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void do_help(struct chat *c, const char *arg)
{
    (void)arg;
    for (int i = 0; i < COMMANDS; i++) {
        char left[40];

        snprintf(left, sizeof left, "/%s %s", commands[i].name,
                 commands[i].arg);
        chat_say(c, "%-18s %s", left, commands[i].help);
    }
    chat_say(c, "Enter sends, Alt-Enter or Ctrl-J begins a new line, Esc stops "
                "an answer, Ctrl-R finds what was typed before.");
}

bool slash_is(wend_str text)
{
    size_t len = 1;

    while (len < text.len && text.ptr[len] != '/' && text.ptr[len] != ' ' &&
           text.ptr[len] != '\n')
        len++;
    return text.len && text.ptr[0] == '/' &&
           (len == text.len || text.ptr[len] != '/');
}

const char *slash_name(size_t i)
{
    return i < COMMANDS ? commands[i].name : NULL;
}

void slash_do(struct chat *c, wend_str text)
{
    const char *names[COMMANDS];
    char hint[HINT_BYTES], name[32], *arg;
    char *words = (char *)(uintptr_t)arena_str(&c->cli->arena, text).ptr;

    arg = strchr(words, ' ');
    if (arg) {
        *arg++ = 0;
        arg += strspn(arg, " ");
    }
    for (int i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
        if (!strcmp(words + 1, commands[i].name)) {
            commands[i].fn(c, arg ? arg : "");
            return;
        }
    }
    str_copy(name, sizeof name, str_of(words + 1));
    chat_say(c, "unknown command /%s%s; /help lists them", name,
             did_you_mean(hint, name, names, COMMANDS));
}
