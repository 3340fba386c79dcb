/*
 * messages.c - the past of a conversation, read, checked and written.
 *
 * One message a member, oldest first:
 *
 *     {"role":"user","text":..,"pinned":true,"by":"wend"}
 *     {"role":"assistant","text":..,"thinking":..,"opaque":[..],"model":..,
 *      "calls":[{"id":..,"name":..,"args":{..}}]}
 *     {"role":"tool","call":ID,"name":..,"text":..,"failed":true}
 *     {"role":"system","text":..}
 *
 * A message of the user or of a tool may also have "parts": in a log as events
 * describe them, from a host as wend_run_options says. Texts, arguments and
 * opaque values pass through unchanged, so that a provider gets back the bytes
 * that it wrote.
 */
#include "core/turn/messages.h"

#include <stdio.h>

#include "base/fail.h"
#include "core/media/media.h"

/* ---- Reading ------------------------------------------------------------- */

static void read_calls(struct msg *m, const struct json *list, struct arena *a)
{
    uint32_t index = 0;

    for (const struct json *j = json_items(list); j && index < CALLS_MAX;
         j = j->next) {
        const struct json *args = json_get(j, "args");
        struct call *c = arena_alloc(a, sizeof *c);

        if (!c)
            return;
        c->prev = m->calls;
        c->index = index++;
        c->id = arena_str(a, str_or(json_get_str(j, "id"), ""));
        c->name = arena_str(a, str_or(json_get_str(j, "name"), ""));
        c->args = args ? json_text(args, a) : STR("{}");
        c->invalid = args && args->kind == JSON_STRING;
        m->calls = c;
    }
}

/* Takes what there is: a log may be damaged. NULL: out of memory. */
static struct msg *read_msg(const struct json *j, struct arena *a)
{
    struct msg *m = arena_alloc(a, sizeof *m);
    const struct json *opaque = json_get(j, "opaque");
    int role = str_index(json_get_str(j, "role"), role_names, ROLES);

    if (!m)
        return NULL;
    m->role = role < 0 ? ROLE_USER : (enum role)role;
    m->text = arena_str(a, str_or(json_get_str(j, "text"), ""));
    m->pinned = json_is_true(json_get(j, "pinned"));
    m->summary = json_is_true(json_get(j, "summary"));
    m->own = str_is(json_get_str(j, "by"), MESSAGE_BY_WEND);
    m->parts = parts_of(j, a, &m->parts_count);
    if (m->role == ROLE_ASSISTANT) {
        m->thinking = arena_str(a, json_get_str(j, "thinking"));
        m->opaque = opaque ? json_text(opaque, a) : STR("[]");
        m->model = arena_str(a, json_get_str(j, "model"));
        read_calls(m, json_get(j, "calls"), a);
    } else if (m->role == ROLE_TOOL) {
        m->call = arena_str(a, str_or(json_get_str(j, "call"), ""));
        m->name = arena_str(a, str_or(json_get_str(j, "name"), ""));
        m->failed = json_is_true(json_get(j, "failed"));
    }
    return m;
}

/* ---- Checking ------------------------------------------------------------ */

enum {
    OF_USER = 1 << ROLE_USER,
    OF_ASSISTANT = 1 << ROLE_ASSISTANT,
    OF_TOOL = 1 << ROLE_TOOL,
    OF_SYSTEM = 1 << ROLE_SYSTEM,
    OF_ALL = (1 << ROLES) - 1,
};

static const struct field {
    const char *name;
    unsigned roles;
    enum json_kind kind; /* JSON_TRUE: true or false */
} fields[] = {
    {"role", OF_ALL, JSON_STRING},
    {"text", OF_ALL, JSON_STRING},
    {"thinking", OF_ASSISTANT, JSON_STRING},
    {"opaque", OF_ASSISTANT, JSON_ARRAY},
    {"model", OF_ASSISTANT, JSON_STRING},
    {"calls", OF_ASSISTANT, JSON_ARRAY},
    {"call", OF_TOOL, JSON_STRING},
    {"name", OF_TOOL, JSON_STRING},
    {"failed", OF_TOOL, JSON_TRUE},
    {"parts", OF_USER | OF_TOOL, JSON_ARRAY},
    {"pinned", OF_USER | OF_SYSTEM, JSON_TRUE},
    {"summary", OF_USER, JSON_TRUE},
    {"by", OF_USER, JSON_STRING},
};

struct checker {
    wend_error *err;
    size_t index;             /* of the message */
    bool begun;               /* there was one of the user */
    const struct json *calls; /* of the newest assistant's message */
    size_t calls_index;       /* of that message */
    bool answered[CALLS_MAX];
    bool follows; /* it continues a run, whose calls these are */
};

__attribute__((format(printf, 3, 4))) static wend_status
bad(const struct checker *c, const char *field, const char *fmt, ...)
{
    char why[400];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(why, sizeof why, fmt, ap);
    va_end(ap);
    return fail(c->err, WEND_E_INVAL, "run: messages[%zu]%s%s: %s", c->index,
                field ? "." : "", field ? field : "", why);
}

static int depth_of(const struct json *j)
{
    int most = 0;

    for (const struct json *m = j->first; m; m = m->next) {
        int depth = depth_of(m);

        most = depth > most ? depth : most;
    }
    return most + 1;
}

static bool is_kind(const struct json *j, enum json_kind kind)
{
    return j->kind == kind || (kind == JSON_TRUE && j->kind == JSON_FALSE);
}

static wend_status check_fields(const struct checker *c, const struct json *m,
                                enum role role)
{
    for (const struct json *j = m->first; j; j = j->next) {
        const struct field *f = NULL;

        for (size_t i = 0; !f && i < sizeof fields / sizeof *fields; i++)
            if (str_is(j->key, fields[i].name))
                f = &fields[i];
        if (!f || !(f->roles & (1u << role)))
            return bad(c, NULL, "'%.*s' is not a field of a message of role %s",
                       (int)(j->key.len < 80 ? j->key.len : 80), j->key.ptr,
                       role_names[role]);
        if (!is_kind(j, f->kind))
            return bad(c, f->name, "expected %s, not %s",
                       f->kind == JSON_TRUE ? "true or false"
                                            : json_kind_name(f->kind),
                       json_kind_name(j->kind));
    }
    return WEND_OK;
}

static wend_status check_call(const struct checker *c, const struct json *calls,
                              const struct json *call, size_t at)
{
    wend_str id = json_get_str(call, "id");
    const struct json *args = json_get(call, "args");
    char field[40];

    snprintf(field, sizeof field, "calls[%zu]", at);
    if (!id.len || !tool_name_ok(json_get_str(call, "name")))
        return bad(c, field, "expected id, name and args");
    if (args && depth_of(args) > JSON_DEPTH_MAX)
        return bad(c, field, "args has more than %d levels", JSON_DEPTH_MAX);
    for (const struct json *j = calls->first; j != call; j = j->next)
        if (str_eq(json_get_str(j, "id"), id))
            return bad(c, field, "the id '%.*s' is used twice",
                       (int)(id.len < 80 ? id.len : 80), id.ptr);
    return WEND_OK;
}

static wend_status check_assistant(struct checker *c, const struct json *m)
{
    const struct json *calls = json_get(m, "calls");
    const struct json *opaque = json_get(m, "opaque");
    wend_status s = WEND_OK;
    size_t at = 0;

    if (opaque && depth_of(opaque) > JSON_DEPTH_MAX)
        return bad(c, "opaque", "it has more than %d levels", JSON_DEPTH_MAX);
    if (!json_get_str(m, "text").len && !json_items(calls) &&
        !json_items(opaque))
        return bad(c, "text", "an answer has a text or calls");
    if (calls && calls->count > CALLS_MAX)
        return bad(c, "calls", "%u calls, at most %d", calls->count, CALLS_MAX);
    for (const struct json *j = json_items(calls); s == WEND_OK && j;
         j = j->next)
        s = check_call(c, calls, j, at++);
    c->calls = calls;
    c->calls_index = c->index;
    memset(c->answered, 0, sizeof c->answered);
    return s;
}

static wend_status check_result(struct checker *c, const struct json *m)
{
    wend_str id = json_get_str(m, "call");
    int shown = (int)(id.len < 80 ? id.len : 80);
    size_t at = 0;
    const struct json *j = json_items(c->calls);

    while (j && !str_eq(json_get_str(j, "id"), id)) {
        j = j->next;
        at++;
    }
    if (!id.len || !j)
        return bad(c, "call", "%s '%.*s'",
                   c->follows ? "the run before it has no pending call"
                              : "the message of the assistant before it has "
                                "no call",
                   shown, id.ptr ? id.ptr : "");
    if (c->answered[at])
        return bad(c, "call", "the call '%.*s' has its result already", shown,
                   id.ptr);
    if (json_get(m, "name") &&
        !str_eq(json_get_str(m, "name"), json_get_str(j, "name")))
        return bad(c, "name", "the call '%.*s' is one of another tool", shown,
                   id.ptr);
    c->answered[at] = true;
    return WEND_OK;
}

/* Before any message but a result, and at the end. */
static wend_status check_answered(struct checker *c)
{
    const struct json *j = json_items(c->calls);
    char field[40];

    for (size_t at = 0; j && !c->follows; j = j->next, at++)
        if (!c->answered[at]) {
            wend_str id = json_get_str(j, "id");

            snprintf(field, sizeof field, "calls[%zu]", at);
            c->index = c->calls_index;
            return bad(c, field,
                       "the call '%.*s' has no result: a message of role tool "
                       "follows it",
                       (int)(id.len < 80 ? id.len : 80), id.ptr);
        }
    c->calls = NULL;
    return WEND_OK;
}

static wend_status check_msg(struct checker *c, const struct json *m)
{
    wend_str name = json_get_str(m, "role");
    int role = str_index(name, role_names, ROLES);
    wend_status s;

    if (m->kind != JSON_OBJECT)
        return bad(c, NULL, "expected an object, not %s",
                   json_kind_name(m->kind));
    if (role < 0)
        return bad(c, "role", "expected user, assistant, tool or system");
    if (c->follows && role != ROLE_TOOL && role != ROLE_USER)
        return bad(c, "role",
                   "the past is that of the run: expected tool, for the result "
                   "of a pending call, or user");
    s = check_fields(c, m, (enum role)role);
    if (s == WEND_OK && role != ROLE_TOOL)
        s = check_answered(c);
    if (s != WEND_OK)
        return s;
    c->begun |= role == ROLE_USER;
    if (!c->begun && role != ROLE_SYSTEM)
        return bad(c, "role", "the first message is one of the user");
    if (role == ROLE_TOOL)
        return check_result(c, m);
    if (role == ROLE_ASSISTANT)
        return check_assistant(c, m);
    return json_get_str(m, "text").len ? WEND_OK
                                       : bad(c, "text", "it is empty");
}

static wend_status check_all(const struct json *list, struct checker *c,
                             wend_error *err)
{
    wend_status s = WEND_OK;

    if (list->kind != JSON_ARRAY)
        return fail(err, WEND_E_INVAL, "run: messages: expected a list, not %s",
                    json_kind_name(list->kind));
    if (list->count > MESSAGES_MAX)
        return fail(err, WEND_E_LIMIT, "run: %u messages, at most %d",
                    list->count, MESSAGES_MAX);
    for (const struct json *j = list->first; s == WEND_OK && j; j = j->next) {
        s = check_msg(c, j);
        c->index++;
    }
    return s == WEND_OK ? check_answered(c) : s;
}

/* A result may leave the name of its tool to its call. */
static wend_str tool_of(const struct msg *result)
{
    const struct msg *m = result->prev;

    while (m && m->role == ROLE_TOOL)
        m = m->prev;
    for (const struct call *c = m ? m->calls : NULL; c; c = c->prev)
        if (str_eq(c->id, result->call))
            return c->name;
    return result->name;
}

struct part_reader {
    messages_part_fn fn;
    void *ctx;
    struct arena *arena;
    wend_error *err;
};

static wend_status take_parts(const struct part_reader *r, struct msg *m,
                              const struct json *list)
{
    const struct json *j = json_items(list);
    wend_ev_part *parts;
    wend_error why = {0};
    wend_status s = WEND_OK;

    if (!j)
        return WEND_OK;
    if (list->count > PARTS_MAX)
        return fail(r->err, WEND_E_LIMIT,
                    "run: messages[%lld].parts: %u parts, at most %d",
                    (long long)m->index, list->count, PARTS_MAX);
    parts = arena_alloc(r->arena, list->count * sizeof *parts);
    if (!parts)
        return fail_nomem(r->err);
    for (m->parts_count = 0; s == WEND_OK && j; j = j->next)
        s = r->fn(r->ctx, j, &parts[m->parts_count++], &why);
    m->parts = parts;
    if (s == WEND_E_NOMEM)
        return fail_nomem(r->err);
    return s == WEND_OK
               ? s
               : fail(r->err, s, "run: messages[%lld].parts[%zu]: %s",
                      (long long)m->index, m->parts_count - 1, why.message);
}

static wend_status read_all(wend_str json, struct checker *c,
                            const struct part_reader *reader,
                            const struct msg **newest)
{
    struct arena *a = reader->arena;
    wend_error why = {0}, *err = reader->err;
    const struct json *list;
    wend_status s;

    *newest = NULL;
    c->err = err;
    if (json.len > BLOB_BYTES_MAX)
        return fail(err, WEND_E_LIMIT, "run: the messages are over %d bytes",
                    BLOB_BYTES_MAX);
    list = json_parse_own(json, a, &why);
    if (!list)
        return a->failed
                   ? fail_nomem(err)
                   : fail(err, WEND_E_INVAL, "run: messages: %s", why.message);
    s = check_all(list, c, err);
    for (const struct json *j = list->first; s == WEND_OK && j; j = j->next) {
        struct msg *m = read_msg(j, a);

        if (!m)
            return fail_nomem(err);
        m->prev = *newest;
        m->index = m->prev ? m->prev->index + 1 : 0;
        s = take_parts(reader, m, json_get(j, "parts"));
        if (m->role == ROLE_TOOL && !m->name.len)
            m->name = tool_of(m);
        *newest = m;
    }
    return s == WEND_OK && a->failed ? fail_nomem(err) : s;
}

wend_status messages_parse(wend_str json, messages_part_fn part, void *ctx,
                           struct arena *a, const struct msg **newest,
                           wend_error *err)
{
    const struct part_reader reader = {part, ctx, a, err};
    struct checker c = {0};

    return read_all(json, &c, &reader, newest);
}

/* ---- Continuing a run ---------------------------------------------------- */

/* The calls whose results the caller may give. */
static const struct json *pending_calls(const struct msg **past, size_t count,
                                        struct arena *a)
{
    struct buf b = {.mem = a->mem};

    json_open(&b, NULL, '[');
    for (size_t i = 0; i < count; i++)
        if (past[i]->client) {
            json_open(&b, NULL, '{');
            json_add_str(&b, "id", past[i]->call);
            json_add_str(&b, "name", past[i]->name);
            json_close(&b, '}');
        }
    json_close(&b, ']');
    return json_parse_own(buf_keep(&b, a), a, NULL);
}

/* A copy of the message behind `prev`. */
static struct msg *put_behind(const struct msg *prev, const struct msg *m,
                              struct arena *a)
{
    struct msg *copy = arena_alloc(a, sizeof *copy);

    if (copy) {
        *copy = *m;
        copy->prev = prev;
    }
    return copy;
}

/* The past with these results in place of those that say that there is none,
 * then what else was told. */
static const struct msg *join(const struct msg **past, size_t past_count,
                              const struct msg **told, size_t told_count,
                              struct arena *a)
{
    const struct msg *newest = NULL;

    for (size_t i = 0; i < past_count && !a->failed; i++) {
        struct msg *m = put_behind(newest, past[i], a);

        for (size_t k = 0; m && m->client && k < told_count; k++)
            if (told[k]->role == ROLE_TOOL && str_eq(told[k]->call, m->call)) {
                m->text = told[k]->text;
                m->parts = told[k]->parts;
                m->parts_count = told[k]->parts_count;
                m->failed = told[k]->failed;
                m->client = false;
            }
        newest = m;
    }
    for (size_t i = 0; i < told_count && !a->failed; i++)
        if (told[i]->role != ROLE_TOOL)
            newest = put_behind(newest, told[i], a);
    return newest;
}

wend_status messages_continue(wend_str json, messages_part_fn part, void *ctx,
                              struct arena *a, const struct msg **newest,
                              wend_error *err)
{
    const struct part_reader reader = {part, ctx, a, err};
    struct checker c = {.follows = true, .begun = true};
    const struct msg **past, **told, *last = NULL;
    size_t past_count, told_count;
    wend_status s;

    past = msg_list(*newest, a, &past_count);
    c.calls = pending_calls(past, past_count, a);
    if (a->failed)
        return fail_nomem(err);
    s = read_all(json, &c, &reader, &last);
    if (s != WEND_OK)
        return s;
    told = msg_list(last, a, &told_count);
    *newest = join(past, past_count, told, told_count, a);
    return a->failed ? fail_nomem(err) : WEND_OK;
}

const wend_ev_part *messages_parts(wend_str json, struct arena *a,
                                   size_t *count)
{
    struct arena scratch = {.mem = a->mem};
    struct buf list = {.mem = a->mem};
    const struct json *all;
    const wend_ev_part *parts;
    size_t n;

    *count = 0;
    if (!json.ptr || !str_has(json, STR("\"parts\":[")))
        return NULL;
    all = json_parse_own(json, &scratch, NULL);
    for (const struct json *j = json_items(all); j; j = j->next) {
        parts = parts_of(j, a, &n);
        buf_add(&list, (const char *)parts, n * sizeof *parts);
        *count += n;
    }
    a->failed |= scratch.failed;
    arena_free(&scratch);
    return *count ? (const void *)buf_keep(&list, a).ptr : NULL;
}

/* ---- The state ----------------------------------------------------------- */

/* What a host says of its results is not known here: a tool's own labels count,
 * and a tool that the run lacks may have brought anything. */
static void take_result(struct turn *t, const struct msg *m)
{
    const struct tool *tool = config_tool(t->config, m->name);

    t->labels |= tool ? tool_labels(tool) : WEND_LABEL_UNTRUSTED_SOURCE;
}

void turn_take_messages(struct turn *t, const wend_ev_run_start *e,
                        const struct keep *k)
{
    struct arena scratch = {.mem = k->arena->mem};
    const struct json *list =
        json_parse_own(str_or(e->messages_json, "[]"), &scratch, NULL);

    for (const struct json *j = json_items(list); j; j = j->next) {
        struct msg *m = read_msg(j, k->arena);

        if (m && t->history) /* read_result names a result by its turn, too */
            m->turn = t->history->turn - (m->role == ROLE_ASSISTANT);
        if (!turn_history_add(t, m))
            break;
        if (m->role == ROLE_TOOL && !e->follows.ptr)
            take_result(t, m);
    }
    turn_take_labels(t, e->past_labels_json, k);
    k->arena->failed |= scratch.failed;
    arena_free(&scratch);
}
