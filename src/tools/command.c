/*
 * command.c - tools that are programs: the shell, and those of users.
 *
 * The program gets its arguments as JSON on standard input, or none. Its
 * standard error is shown as it comes; its standard output is the answer. The
 * environment is a short list of ours and the secrets that were granted by
 * name, which are blanked in all output.
 */
#include "tools/tools.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/redact.h"
#include "base/utf8.h"
#include "host/proc/proc.h"

enum {
    ENV_MAX = 16 + SECRETS_MAX,
    TAIL_BYTES = 8 << 10, /* of what it says when it fails */
};

struct command_job {
    struct mem mem;
    wend_call *call;
    struct proc *proc;
    struct buf out, err, line;
    struct arena arena; /* environment, secrets */
    const char *env[ENV_MAX + 1];
    size_t env_count;
    wend_str secrets[SECRETS_MAX];
    size_t secrets_count;
    struct command_tool tool;
    bool guarded;          /* it cannot change what git runs */
    bool showing, dropped; /* its run may fail of what is shown */
};

/* ---- Environment --------------------------------------------------------- */

static void put_env(struct command_job *j, const char *name, wend_str value)
{
    struct buf b = {.mem = &j->mem};

    buf_fmt(&b, "%s=", name);
    buf_str(&b, value);
    j->env[j->env_count++] = buf_keep(&b, &j->arena).ptr;
}

static wend_status grant(struct command_job *j, const char *const *names,
                         wend_error *err)
{
    for (size_t i = 0; names && names[i]; i++) {
        const char *value = getenv(names[i]);

        if (!value || !*value)
            return fail(err, WEND_E_NOTFOUND,
                        "the tool is to get the secret %.100s, but the "
                        "environment has none of that name",
                        names[i]);
        put_env(j, names[i], str_of(value));
        j->secrets[j->secrets_count++] = arena_str(&j->arena, str_of(value));
    }
    return WEND_OK;
}

static wend_status fill_env(struct command_job *j, const struct command_tool *c,
                            wend_error *err)
{
    static const char *const passed[] = {"LANG", "LC_ALL", "LC_CTYPE", "TZ"};
    const char *path = getenv("PATH");
    char trace[CALL_TRACE_BYTES];
    wend_status s;

    put_env(j, "PATH", str_of(path && *path ? path : "/usr/bin:/bin"));
    put_env(j, "HOME", str_of(c->root)); /* the user's is not to be read */
    put_env(j, "WEND_IDEMPOTENCY_KEY", wend_call_key(j->call));
    put_env(j, "WEND_CALL", wend_call_id(j->call));
    put_env(j, "WEND_RUN", call_run(j->call));
    if (call_trace(j->call, trace))
        put_env(j, "TRACEPARENT", str_of(trace));
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        if (getenv(passed[i]))
            put_env(j, passed[i], str_of(getenv(passed[i])));
    s = grant(j, c->secrets, err);
    return s == WEND_OK && j->arena.failed ? fail_nomem(err) : s;
}

static void job_free(struct command_job *j)
{
    struct mem m = j->mem;

    for (size_t i = 0; i < j->secrets_count; i++)
        memset((char *)(uintptr_t)j->secrets[i].ptr, 0, j->secrets[i].len);
    proc_free(j->proc);
    buf_free(&j->out);
    buf_free(&j->err);
    buf_free(&j->line);
    arena_free(&j->arena);
    mem_free(&m, j);
}

/* ---- Its output ---------------------------------------------------------- */

static void hide(const struct command_job *j, struct buf *b)
{
    redact_list(j->secrets, j->secrets_count, b->ptr, b->len);
}

/* The length of the text before a possible beginning of a secret. */
static size_t clear_len(const struct command_job *j, wend_str text)
{
    size_t held = 0;

    for (size_t i = 0; i < j->secrets_count; i++) {
        size_t n = redact_begins(j->secrets[i], text);

        held = n > held ? n : held;
    }
    return text.len - held;
}

/* Only whole lines, so that no character and no secret is cut. */
static void show_lines(struct command_job *j, bool all)
{
    struct buf text = {.mem = &j->mem};
    const char *last;
    size_t len;

    if (!j->line.len)
        return;
    hide(j, &j->line);
    len = all ? j->line.len : clear_len(j, buf_view(&j->line));
    last = memrchr(j->line.ptr, '\n', len);
    if (!all && (last || len < TAIL_BYTES))
        len = last ? (size_t)(last - j->line.ptr) + 1 : 0;
    if (!len)
        return;
    utf8_repair(&text, (wend_str){j->line.ptr, len});
    j->showing = true;
    if (!text.failed)
        call_show(j->call, &text);
    j->showing = false;
    buf_free(&text);
    memmove(j->line.ptr, j->line.ptr + len, j->line.len - len);
    j->line.len -= len;
}

static void on_out(void *ctx, int stream, const char *p, size_t len)
{
    struct command_job *j = ctx;

    buf_add(stream == 1 ? &j->out : &j->err, p, len);
    if (stream == 2)
        buf_add(&j->line, p, len);
    if (!j->line.failed) /* else told at the end */
        show_lines(j, false);
    if (j->dropped)
        job_free(j);
}

/* ---- Its end ------------------------------------------------------------- */

static wend_str tail(const struct buf *b)
{
    wend_str s = buf_view(b);

    while (s.len && s.ptr[s.len - 1] == '\n')
        s.len--;
    return s.len > TAIL_BYTES ? str_skip(s, s.len - TAIL_BYTES) : s;
}

static void put_failure(struct command_job *j, const char *message,
                        struct buf *text)
{
    wend_str err = tail(&j->err), out = tail(&j->out);

    buf_cstr(text, message);
    if (err.len) {
        buf_char(text, '\n');
        buf_str(text, err);
    }
    if (out.len) {
        buf_cstr(text, "\nits output:\n");
        buf_str(text, out);
    }
}

static void put_answer(struct command_job *j, struct buf *text)
{
    buf_str(text, buf_view(&j->out));
    if (j->tool.merges && j->err.len) {
        if (text->len && text->ptr[text->len - 1] != '\n')
            buf_char(text, '\n');
        buf_cstr(text, "[standard error]\n");
        buf_str(text, buf_view(&j->err));
    }
}

static bool is_json(const struct command_job *j, char *why, size_t size)
{
    struct arena a = {.mem = &j->mem};
    wend_error err = {0};
    bool ok = json_parse(buf_view(&j->out), &a, &err) != NULL;

    arena_free(&a);
    if (!ok)
        utf8_fmt(why, size, "its output is no JSON: line %u, column %u: %s",
                 (unsigned)err.line, (unsigned)err.column, err.message);
    return ok;
}

static bool err_has(const struct command_job *j, const char *word)
{
    return j->err.len && memmem(j->err.ptr, j->err.len, word, strlen(word));
}

/* The kernel's words for a mount in the way do not say what to do. */
static void explain(struct command_job *j)
{
    if (j->guarded && err_has(j, ".git/") &&
        (err_has(j, "Read-only file system") ||
         err_has(j, "Device or resource busy")))
        buf_cstr(&j->err, "wend: programs cannot change config and hooks of "
                          "git repositories; a rule that names them, such as "
                          "write_file(.git/*), allows this\n");
}

static void on_end(void *ctx, const struct proc_end *end)
{
    struct command_job *j = ctx;
    struct buf text = {.mem = &j->mem};
    bool ok = end->how == PROC_EXITED && !end->code;
    const char *message = end->message;
    char why[600];

    show_lines(j, true);
    if (j->dropped) {
        job_free(j);
        return;
    }
    hide(j, &j->out);
    hide(j, &j->err);
    explain(j);
    if (ok && j->tool.json && !j->out.failed && !is_json(j, why, sizeof why)) {
        ok = false;
        message = why;
    }
    if (ok)
        put_answer(j, &text);
    else
        put_failure(j, message, &text);
    if (text.failed || j->out.failed || j->err.failed || j->line.failed)
        wend_call_fail(j->call, "out of memory");
    else if (ok)
        wend_call_return(j->call, text.len ? buf_view(&text) : STR(""));
    else if (j->tool.check) /* 0: it happened, 1: it did not, else unknown */
        call_answer(j->call,
                    end->how == PROC_EXITED && end->code == 1
                        ? WEND_OUTCOME_SKIPPED
                        : WEND_OUTCOME_UNKNOWN,
                    buf_view(&text));
    else
        wend_call_fail(j->call, text.ptr);
    buf_free(&text);
    job_free(j);
}

static void on_stop(void *ctx, enum stop_reason why)
{
    struct command_job *j = ctx;

    if (why != CALL_STOP_NOW) {
        proc_stop(j->proc); /* its end is the answer */
        return;
    }
    wend_call_fail(j->call, "killed");
    j->dropped = j->showing;
    if (!j->showing)
        job_free(j);
}

wend_status command_start(wend_call *call, const struct command_tool *c,
                          const char *const *argv, wend_str input)
{
    static const struct proc_events events = {on_out, on_end};
    const char *const writable[] = {c->root, NULL};
    struct mem m = call_mem(call);
    struct command_job *j = mem_zalloc(&m, sizeof *j);
    struct proc_spec spec = {
        .argv = argv,
        .cwd = c->root,
        .input = input,
        .sandbox_off = c->sandbox_off,
        .network = c->network,
        .git_writable = call_names(call, STR(".git/config")),
        .writable = writable,
        .readable = c->readable,
        .limits = {.memory_bytes = c->memory_bytes,
                   .disk_bytes = c->disk_bytes,
                   .tasks = c->tasks},
    };
    struct procs *procs;
    wend_error err = {0};
    wend_status s;

    if (!j)
        return WEND_E_NOMEM;
    j->mem = m;
    j->call = call;
    j->tool = *c;
    j->guarded = !spec.sandbox_off && !spec.git_writable;
    j->out.mem = j->err.mem = j->line.mem = j->arena.mem = &j->mem;
    s = fill_env(j, c, &err);
    spec.env = j->env;
    spec.hidden = call_hidden(call, &j->arena);
    if (s == WEND_OK && j->arena.failed)
        s = fail_nomem(&err);
    if (s == WEND_OK)
        s = call_procs(call, &procs, &err);
    if (s == WEND_OK)
        s = proc_start(procs, &spec, &events, j, &j->proc, &err);
    if (s == WEND_OK) {
        call_set_stop(call, on_stop, j);
    } else {
        wend_call_fail(call, err.message);
        job_free(j);
    }
    return WEND_OK;
}

/* ---- The shell, and programs without one --------------------------------- */

/* As a C string; one with a zero byte would run as something else. */
static wend_status take_word(struct tool_job *j, wend_str text,
                             const char *what, const char **out)
{
    if (text.len && memchr(text.ptr, 0, text.len))
        return fail(&j->err, WEND_E_INVAL, "%s has a zero byte", what);
    *out = arena_str(&j->arena, text).ptr;
    return *out ? WEND_OK : fail_nomem(&j->err);
}

/* Starts it, or answers with what is wrong. */
static wend_status start_argv(struct tool_job *j, const struct tool_env *e,
                              wend_call *call, const char *const *argv,
                              wend_status s)
{
    const struct command_tool c = {
        .root = e->root, .sandbox_off = e->sandbox_off, .merges = true};
    wend_status started = s ? WEND_OK : command_start(call, &c, argv, STR_NONE);

    tool_leave(j, call, s);
    return started;
}

wend_status tool_shell(void *env, wend_call *call)
{
    const char *argv[] = {"/bin/sh", "-c", NULL, NULL};
    wend_str text = STR_NONE;
    struct tool_job j;
    wend_status s = tool_begin(&j, call, TOOL_ARGS({"command", .str = &text}));

    if (s == WEND_OK)
        s = take_word(&j, text, "the command", &argv[2]);
    return start_argv(&j, env, call, argv, s);
}

static wend_status read_argv(struct tool_job *j, const char ***out)
{
    const struct json *list = json_get(j->args, "argv");
    const char **argv;
    size_t n = 0;

    if (!list || list->kind != JSON_ARRAY || !list->first)
        return fail(&j->err, WEND_E_INVAL,
                    "argument 'argv' must be a list of strings, the program "
                    "first");
    argv = arena_alloc(&j->arena, (list->count + 1) * sizeof *argv);
    if (!argv)
        return fail_nomem(&j->err);
    for (const struct json *w = list->first; w; w = w->next) {
        wend_status s = w->kind == JSON_STRING
                            ? take_word(j, json_str(w), "argv", &argv[n++])
                            : fail(&j->err, WEND_E_INVAL,
                                   "argument 'argv': %s is no string",
                                   json_kind_name(w->kind));

        if (s != WEND_OK)
            return s;
    }
    if (!*argv[0])
        return fail(&j->err, WEND_E_INVAL, "argv names no program");
    *out = argv;
    return WEND_OK;
}

wend_status tool_exec(void *env, wend_call *call)
{
    const char **argv = NULL;
    struct tool_job j;
    wend_status s = tool_begin(&j, call, TOOL_ARGS({.key = NULL}));

    if (s == WEND_OK)
        s = read_argv(&j, &argv);
    return start_argv(&j, env, call, argv, s);
}
