/*
 * agent_tools.c - built-in tools, and tools that are programs of the user.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "host/path.h"
#include "lib/run/child.h"

/* ---- Built-in tools ------------------------------------------------------ */

void workplace_unref(struct workplace *w)
{
    struct mem m;

    if (!w || atomic_fetch_sub(&w->refs, 1) != 1)
        return;
    m = w->mem;
    if (w->env.root_fd >= 0)
        close(w->env.root_fd);
    mem_free(&m, w);
}

static wend_status find_place(wend_agent *a, wend_error *err)
{
    struct workplace *w = a->place ? NULL : mem_zalloc(&a->mem, sizeof *w);

    if (a->place)
        return WEND_OK;
    if (!w)
        return fail_nomem(err);
    w->mem = a->mem;
    w->env.web = &a->web;
    atomic_init(&w->refs, 1);
    w->env.root = a->root.ptr;
    w->env.sandbox_off = a->sandbox_off;
    w->env.root_fd = path_root(a->root.ptr, err);
    if (w->env.root_fd < 0) {
        workplace_unref(w);
        return WEND_E_IO;
    }
    a->place = w;
    return WEND_OK;
}

wend_status wend_agent_add_builtin(wend_agent *a, const char *name,
                                   wend_error *err)
{
    const struct builtin *b = name ? builtin_find(name) : NULL;
    wend_status s = agent_enter(a, "tool", err);
    wend_tool_options t = {.size = sizeof t};
    struct tool_kind kind = {.source = "builtin"};

    if (s != WEND_OK)
        return s;
    if (!b)
        return fail(err, WEND_E_NOTFOUND,
                    "there is no built-in tool '%.80s'; `wend tools` lists "
                    "them",
                    name ? name : "");
    if (!b->fn)
        return agent_offer_task(a, err);
    s = find_place(a, err);
    if (s != WEND_OK)
        return s;
    t.name = b->info.name.ptr;
    t.description = b->info.description.ptr;
    t.schema = b->info.schema.ptr;
    t.call_class = b->info.call_class;
    t.category = b->info.category;
    t.labels = b->info.labels;
    t.concurrent = b->info.concurrent;
    t.threaded = !b->on_loop;
    t.subject = b->subject;
    t.fn = b->fn;
    t.ctx = &a->place->env;
    kind.place = a->place;
    kind.program = b->program;
    kind.sandbox_off = a->sandbox_off;
    return agent_add(a, &t, &kind, err);
}

/* ---- Programs of the user ------------------------------------------------ */

/* The context of its calls, in the agent's arena. */
struct program {
    struct command_tool command;
    const char **argv;
};

static wend_status run_program(void *ctx, wend_call *call)
{
    const struct program *p = ctx;

    return command_start(call, &p->command, p->argv, wend_call_args(call));
}

/* A copy that ends with NULL; NULL: out of memory, or one of them is NULL. */
static const char **keep_list(struct arena *a, const char *const *list,
                              size_t count)
{
    const char **kept = arena_alloc(a, (count + 1) * sizeof *kept);

    for (size_t i = 0; kept && i < count; i++) {
        kept[i] = list[i] ? arena_str(a, str_of(list[i])).ptr : NULL;
        if (!kept[i])
            return NULL;
    }
    return kept;
}

/* The words that are paths of files, absolute; a folder would open more than
 * was meant. */
static const char **files_among(wend_agent *a, const char *const *argv,
                                size_t count)
{
    const char **list = arena_alloc(&a->arena, (count + 1) * sizeof *list);
    size_t n = 0;
    struct stat st;

    for (size_t i = 0; list && i < count; i++) {
        struct buf b = {.mem = &a->mem};

        if (!strchr(argv[i], '/'))
            continue;
        if (argv[i][0] != '/')
            buf_fmt(&b, "%s/", a->root.ptr);
        buf_cstr(&b, argv[i]);
        if (!b.failed && stat(b.ptr, &st) == 0 && S_ISREG(st.st_mode))
            list[n++] = arena_str(&a->arena, buf_view(&b)).ptr;
        a->arena.failed |= b.failed;
        buf_free(&b);
    }
    return a->arena.failed ? NULL : list;
}

/* over: the status of a list that is too long. */
static wend_status check_words(const char *name, const char *list,
                               const char *const *words, size_t count,
                               wend_status over, wend_error *err)
{
    if (!words || !count || !words[0] || !words[0][0])
        return fail(err, WEND_E_INVAL, "tool '%.80s': %s names no program",
                    name, list);
    if (count > COMMAND_WORDS_MAX)
        return fail(err, over, "tool '%.80s': %s has over %d words", name, list,
                    COMMAND_WORDS_MAX);
    for (size_t i = 0; i < count; i++)
        if (!words[i])
            return fail(err, WEND_E_INVAL, "tool '%.80s': %s[%zu] is NULL",
                        name, list, i);
    return WEND_OK;
}

static wend_status check(const wend_command_options *o, wend_error *err)
{
    const char *name = o->name ? o->name : "";
    wend_status s =
        check_words(name, "argv", o->argv, o->argv_count, WEND_E_LIMIT, err);

    if (s == WEND_OK && o->verify_count)
        s = check_words(name, "verify", o->verify, o->verify_count,
                        WEND_E_INVAL, err);
    if (s != WEND_OK)
        return s;
    if (o->secrets_count > SECRETS_MAX)
        return fail(err, WEND_E_LIMIT, "tool '%.80s': over %d secrets", name,
                    SECRETS_MAX);
    for (size_t i = 0; i < o->secrets_count; i++)
        if (!o->secrets || !o->secrets[i] || !o->secrets[i][0] ||
            strchr(o->secrets[i], '='))
            return fail(
                err, WEND_E_INVAL,
                "tool '%.80s': secret %zu is not the name of a variable", name,
                i);
    return WEND_OK;
}

static struct program *keep_program(wend_agent *a,
                                    const wend_command_options *o,
                                    const char *const *argv, size_t count)
{
    struct program *p = arena_alloc(&a->arena, sizeof *p);

    if (!p)
        return NULL;
    p->argv = keep_list(&a->arena, argv, count);
    p->command = (struct command_tool){
        .root = a->root.ptr,
        .secrets = keep_list(&a->arena, o->secrets, o->secrets_count),
        .sandbox_off = o->sandbox_off || a->sandbox_off,
        .network = o->network || o->category == WEND_CATEGORY_NETWORK,
        .json = o->output_json,
        .readable = files_among(a, argv, count),
        .memory_bytes = o->memory_bytes,
        .disk_bytes = o->disk_bytes,
        .tasks = o->tasks,
    };
    return p->argv && p->command.secrets && p->command.readable ? p : NULL;
}

static void put_number(struct buf *b, const char *key, uint64_t n)
{
    if (!n)
        return;
    json_key(b, key);
    buf_fmt(b, "%" PRIu64, n);
}

/* What a resume needs to offer it again; secrets by name. */
static void put_hands(struct buf *b, const wend_command_options *o)
{
    agent_put_list(b, "argv", o->argv, o->argv_count);
    agent_put_list(b, "verify", o->verify, o->verify_count);
    agent_put_list(b, "secrets", o->secrets, o->secrets_count);
    if (o->network)
        json_add_bool(b, "network", true);
    if (o->output_json)
        json_add_bool(b, "output_json", true);
    put_number(b, "cache_ms", o->cache_ms);
    put_number(b, "per_minute", o->per_minute);
    put_number(b, "memory", o->memory_bytes);
    put_number(b, "disk", o->disk_bytes);
    put_number(b, "tasks", o->tasks);
}

/* The program behind `verify`, as a tool that is not offered. */
static bool add_check(wend_agent *a, const wend_command_options *o)
{
    struct agent_tool *tool = agent_tool(a, str_of(o->name));
    struct agent_tool *check = arena_alloc(&a->arena, sizeof *check);
    struct program *p = keep_program(a, o, o->verify, o->verify_count);

    if (!check || !p)
        return false;
    p->command.json = false;
    p->command.check = true;
    check->name = tool->name;
    check->fn = run_program;
    check->ctx = p;
    tool->check = check;
    return true;
}

/* A call that needs a variable which is not set fails later. */
static wend_status hide_secrets(wend_agent *a, const wend_command_options *o,
                                wend_error *err)
{
    wend_status s = WEND_OK;

    for (size_t i = 0; s == WEND_OK && i < o->secrets_count; i++)
        s = agent_hide(a, str_of(getenv(o->secrets[i])), err);
    return s;
}

static wend_tool_options tool_of(const wend_command_options *o)
{
    return (wend_tool_options){.size = sizeof(wend_tool_options),
                               .name = o->name,
                               .description = o->description,
                               .schema = o->schema,
                               .call_class = o->call_class,
                               .category = o->category,
                               .labels = o->labels,
                               .concurrent = o->concurrent,
                               .repeat_ok = o->repeat_ok,
                               .timeout_ms = o->timeout_ms,
                               .subject = o->subject,
                               .cache_ms = o->cache_ms,
                               .per_minute = o->per_minute,
                               .client = o->client};
}

/* One that is described like a program, and is none. */
static wend_status add_client(wend_agent *a, const wend_command_options *o,
                              wend_error *err)
{
    const struct tool_kind kind = {.source = "client"};
    const wend_tool_options t = tool_of(o);

    if (o->argv_count || o->verify_count || o->secrets_count)
        return fail(err, WEND_E_INVAL,
                    "tool '%.80s': the caller executes it (client): it has no "
                    "argv, verify or secrets",
                    o->name ? o->name : "");
    return agent_add(a, &t, &kind, err);
}

wend_status wend_agent_add_command(wend_agent *a,
                                   const wend_command_options *command,
                                   wend_error *err)
{
    wend_status s = agent_enter(a, "tool", err);
    struct tool_kind kind = {.source = "command", .program = true};
    wend_command_options o;
    wend_tool_options t;
    struct buf hands = {0};
    struct program *p;

    if (s != WEND_OK)
        return s;
    if (!command ||
        !OPTIONS_TAKE(&o, wend_command_options, secrets_count, command))
        return fail(err, WEND_E_INVAL,
                    "tool: options are NULL or options.size is wrong");
    if (o.client)
        return add_client(a, &o, err);
    s = check(&o, err);
    if (s != WEND_OK)
        return s;
    p = keep_program(a, &o, o.argv, o.argv_count);
    if (!p) {
        a->arena.failed = false; /* the agent is as it was */
        return fail_nomem(err);
    }
    kind.sandbox_off = p->command.sandbox_off;
    t = tool_of(&o);
    t.fn = run_program;
    t.ctx = p;
    hands.mem = &a->mem;
    put_hands(&hands, &o);
    kind.hands = buf_view(&hands);
    s = hands.failed ? fail_nomem(err) : hide_secrets(a, &o, err);
    if (s == WEND_OK)
        s = agent_add(a, &t, &kind, err);
    buf_free(&hands);
    /* Without memory for it the outcome of a lost call stays unknown. */
    if (s == WEND_OK && o.verify_count && !add_check(a, &o))
        a->arena.failed = false;
    return s;
}
