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

static const char *const role_names[] = {
    [ROLE_USER] = "user",
    [ROLE_ASSISTANT] = "assistant",
    [ROLE_TOOL] = "tool",
    [ROLE_SYSTEM] = "system",
};
enum { ROLES = sizeof role_names / sizeof *role_names };

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
        return bad(c, "call",
                   "the message of the assistant before it has no call '%.*s'",
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

    for (size_t at = 0; j; j = j->next, at++)
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

static wend_status check_all(const struct json *list, wend_error *err)
{
    struct checker c = {.err = err};
    wend_status s = WEND_OK;

    if (list->kind != JSON_ARRAY)
        return fail(err, WEND_E_INVAL, "run: messages: expected a list, not %s",
                    json_kind_name(list->kind));
    if (list->count > MESSAGES_MAX)
        return fail(err, WEND_E_LIMIT, "run: %u messages, at most %d",
                    list->count, MESSAGES_MAX);
    for (const struct json *j = list->first; s == WEND_OK && j; j = j->next) {
        s = check_msg(&c, j);
        c.index++;
    }
    return s == WEND_OK ? check_answered(&c) : s;
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

wend_status messages_parse(wend_str json, messages_part_fn part, void *ctx,
                           struct arena *a, const struct msg **newest,
                           wend_error *err)
{
    const struct part_reader reader = {part, ctx, a, err};
    wend_error why = {0};
    const struct json *list;
    wend_status s;

    *newest = NULL;
    if (json.len > BLOB_BYTES_MAX)
        return fail(err, WEND_E_LIMIT, "run: the messages are over %d bytes",
                    BLOB_BYTES_MAX);
    list = json_parse_own(json, a, &why);
    if (!list)
        return a->failed
                   ? fail_nomem(err)
                   : fail(err, WEND_E_INVAL, "run: messages: %s", why.message);
    s = check_all(list, err);
    for (const struct json *j = list->first; s == WEND_OK && j; j = j->next) {
        struct msg *m = read_msg(j, a);

        if (!m)
            return fail_nomem(err);
        m->prev = *newest;
        m->index = m->prev ? m->prev->index + 1 : 0;
        s = take_parts(&reader, m, json_get(j, "parts"));
        if (m->role == ROLE_TOOL && !m->name.len)
            m->name = tool_of(m);
        *newest = m;
    }
    return s == WEND_OK && a->failed ? fail_nomem(err) : s;
}

/* ---- Writing ------------------------------------------------------------- */

static void put_calls(struct buf *b, const struct call *newest)
{
    const struct call *list[CALLS_MAX];
    size_t count = 0;

    for (const struct call *c = newest; c && count < CALLS_MAX; c = c->prev)
        list[count++] = c;
    if (!count)
        return;
    json_open(b, "calls", '[');
    while (count--) {
        json_open(b, NULL, '{');
        json_add_str(b, "id", list[count]->id);
        json_add_str(b, "name", list[count]->name);
        json_add_raw(b, "args", list[count]->args);
        json_close(b, '}');
    }
    json_close(b, ']');
}

static void put_msg(struct buf *b, const struct msg *m, enum messages_form form)
{
    wend_str text = form == MESSAGES_WHOLE ? result_whole(m) : m->text;

    json_open(b, NULL, '{');
    json_add_str(b, "role", str_of(role_names[m->role]));
    if (m->role == ROLE_TOOL) {
        json_add_str(b, "call", m->call);
        json_add_str(b, "name", m->name);
    }
    json_add_str(b, "text", text);
    if (m->pinned)
        json_add_bool(b, "pinned", true);
    if (m->summary)
        json_add_bool(b, "summary", true);
    if (m->own)
        json_add_str(b, "by", STR(MESSAGE_BY_WEND));
    json_add_str(b, "thinking", m->thinking);
    if (m->opaque.len && !str_is(m->opaque, "[]"))
        json_add_raw(b, "opaque", m->opaque);
    json_add_str(b, "model", m->model);
    put_calls(b, m->calls);
    if (m->parts_count) {
        json_open(b, "parts", '[');
        for (size_t i = 0; i < m->parts_count; i++)
            part_write(b, &m->parts[i]);
        json_close(b, ']');
    }
    if (m->failed)
        json_add_bool(b, "failed", true);
    json_close(b, '}');
}

/* Marks with NULL what is left out so that at most `most` remain. They begin
 * with a message of the user; if the newest of these is older than that, it
 * stays, and what follows it begins where no call is open. */
static void cut(const struct msg **list, size_t count, size_t most)
{
    size_t from = count - most, user = from;

    while (user < count && list[user]->role != ROLE_USER)
        user++;
    if (user < count) {
        memset(list, 0, user * sizeof *list);
        return;
    }
    user = from;
    while (user > 0 && list[user - 1]->role != ROLE_USER)
        user--;
    if (!user) { /* there is none at all */
        memset(list, 0, count * sizeof *list);
        return;
    }
    from++; /* it counts, too */
    while (from < count && list[from]->role == ROLE_TOOL)
        from++;
    memset(list, 0, (user - 1) * sizeof *list);
    memset(list + user, 0, (from - user) * sizeof *list);
}

wend_str messages_text(const struct msg *newest, int64_t most,
                       enum messages_form form, struct arena *a)
{
    struct buf b = {.mem = a->mem};
    const struct msg **list;
    size_t count = 0, at;

    for (const struct msg *m = newest; m; m = m->prev)
        count++;
    list = count ? arena_alloc(a, count * sizeof *list) : NULL;
    if (!list)
        return STR_NONE;
    at = count;
    for (const struct msg *m = newest; m; m = m->prev)
        list[--at] = m;
    if (most > 0 && (uint64_t)most < count)
        cut(list, count, (size_t)most);
    json_open(&b, NULL, '[');
    for (; at < count; at++)
        if (list[at])
            put_msg(&b, list[at], form);
    json_close(&b, ']');
    if (b.len == 2 && !b.failed) {
        buf_free(&b);
        return STR_NONE;
    }
    return buf_keep(&b, a);
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

/* The message that was being written when its run was closed: calls of it had
 * begun. */
static void close_message(struct turn *t, const struct keep *k)
{
    struct msg *m = arena_alloc(k->arena, sizeof *m);

    if (!m)
        return;
    m->role = ROLE_ASSISTANT;
    m->text = str_or(t->part_text, "");
    m->thinking = t->part_thinking;
    m->opaque = str_or(t->part_opaque, "[]");
    m->model = t->model;
    m->calls = t->calls;
    turn_history_add(t, m);
}

void turn_settle(struct turn *t, const struct keep *k)
{
    bool open = t->phase == PH_MODEL && t->calls_count;

    if (t->aside) { /* a summary was being written */
        t->history = t->aside;
        t->aside = NULL;
    }
    if (open)
        close_message(t, k);
    if (open || t->phase == PH_CALLS)
        turn_add_results(t, k);
    /* The user stopped an answer that is canceled, and has seen it. */
    if (t->unanswered && t->stop.outcome != WEND_OUTCOME_CANCELED &&
        t->history && t->history->role == ROLE_ASSISTANT && !t->history->calls)
        t->history = t->history->prev;
    turn_join_pending(t, k);
}
