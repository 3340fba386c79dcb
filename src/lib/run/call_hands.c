/*
 * call_hands.c - what a built-in tool may ask of its call.
 */
#include "base/fail.h"
#include "base/utf8.h"
#include "core/media/media.h"
#include "core/turn/verdict.h"
#include "lib/otel/otel.h"
#include "lib/run/call.h"
#include "lib/run/child.h"
#include "lib/run/shell.h"

void call_set_stop(wend_call *call, call_stop_fn stop, void *ctx)
{
    call->stop = stop;
    call->stop_ctx = ctx;
}

wend_status call_fetch(wend_call *call, struct fetch **out, wend_error *err)
{
    return rt_fetch(call->run->rt, out, err);
}

wend_status call_procs(wend_call *call, struct procs **out, wend_error *err)
{
    return rt_procs(call->run->rt, out, err);
}

wend_str call_run(const wend_call *call)
{
    return str_of(call->run->id);
}

_Static_assert(CALL_TRACE_BYTES == OTEL_PARENT_LEN + 1, "a traceparent");

bool call_trace(const wend_call *call, char out[CALL_TRACE_BYTES])
{
    return trace_parent(call->run, call->fx.call ? OTEL_CALL : OTEL_ACTION,
                        call->id, out);
}

void call_blame(wend_call *call, const char *code, bool no_effect,
                bool retryable)
{
    size_t len = strnlen(code, sizeof call->blame.code - 1);

    memcpy(call->blame.code, code, len);
    call->blame.code[len] = 0;
    call->blame.no_effect = no_effect;
    call->blame.retryable = retryable;
}

static void put_output(wend_call *call, wend_str text)
{
    if (call->fx.call)
        shell_output(call->run, call->id, text);
    else
        shell_action_output(call->run, call->fx.action, text);
}

void call_tell_unshown(wend_call *call)
{
    char text[100];
    size_t len;

    if (!call->unshown)
        return;
    len = utf8_fmt(text, sizeof text,
                   "[%zu bytes were not shown: the store is behind]\n",
                   call->unshown);
    call->unshown = 0;
    put_output(call, (wend_str){text, len});
}

/* A tool may quote what it has read: the keys of this agent and of its parents
 * are blanked. A tool's output cannot be slowed down, so it is dropped while
 * the log's writer is behind. */
void call_show_text(wend_call *call, char *p, size_t len)
{
    const wend_agent *a = call->run->agent;

    for (const struct child *c = call->run->child; c; c = c->parent->child)
        redact_list(c->parent->agent->keys, c->parent->agent->keys_count, p,
                    len);
    for (size_t i = 0; i < a->keys_count; i++) {
        call->hidden[i].secret = a->keys[i];
        redact(&call->hidden[i], p, len);
    }
    if (!shell_may_read(call->run)) {
        call->unshown += len;
        return;
    }
    call_tell_unshown(call);
    if (call->run)
        put_output(call, (wend_str){p, len});
}

void call_show(wend_call *call, struct buf *text)
{
    if (call->run)
        call_show_text(call, text->ptr, text->len);
}

struct mem call_mem(const wend_call *call)
{
    return call->mem;
}

wend_store *call_store(const wend_call *call)
{
    return call->run->rt->store;
}

wend_str call_user(const wend_call *call)
{
    return call->run->birth.user;
}

wend_str call_agent(const wend_call *call)
{
    return call->run->agent->name;
}

wend_str call_folder(const wend_call *call)
{
    const wend_agent *a = call->run->agent;

    return a->memory_user ? STR_NONE : a->cwd;
}

uint32_t call_memories(const wend_call *call)
{
    uint32_t most = call->run->agent->max_memories;

    return most && most < FACTS_TOLD_MAX ? most : FACTS_TOLD_MAX;
}

void call_keep_answer(struct wend_call *c, wend_str output)
{
    if (c->tool->cache_ms && c->outcome == WEND_OUTCOME_OK && !c->parts_count)
        answers_keep(&c->tool->answers, &c->mem, c->args, output,
                     c->labels | run_labels(c->run),
                     rt_after(c->run->rt, c->tool->cache_ms));
}

/* An external effect says nothing about a value. */
uint32_t run_labels(const struct wend_run *r)
{
    return turn_labels(&r->turn, &r->rt->mem) &
           ~(uint32_t)WEND_LABEL_EXTERNAL_EFFECT;
}

uint32_t call_labels(const wend_call *call)
{
    return turn_labels(&call->run->turn, &call->run->rt->mem);
}

bool call_names(const wend_call *call, wend_str path)
{
    return policy_names(&call->run->turn, path);
}

void call_bring(wend_call *call, uint32_t labels)
{
    call->labels = labels;
}

int64_t call_time_us(const wend_call *call)
{
    return rt_wall(call->run->rt);
}

static wend_decision decide(const wend_call *call, const struct call_request *q)
{
    /* Relics have names of their own; rules for http_request hold for them. */
    static const struct tool others = {.name = {"http_request", 12},
                                       .subject = {"url", 3},
                                       .kind = SUBJECT_URL,
                                       .call_class = WEND_CLASS_READ};
    const struct turn *t = &call->run->turn;
    const struct tool *tool = config_tool(t->config, call->name);
    struct arena a = {.mem = &call->mem};
    struct buf b = {.mem = &call->mem};
    struct verdict v = {.policy.decision = WEND_DECISION_DENY};
    const struct json *args;

    json_open(&b, NULL, '{');
    json_add_str(&b, "method", str_of(q->method));
    json_add_str(&b, "body", q->body ? STR("") : STR_NONE);
    json_add_str(&b, "url", q->url);
    json_close(&b, '}');
    args = b.failed ? NULL : json_parse(buf_view(&b), &a, NULL);
    if (args)
        policy_check(t, tool && tool->kind == SUBJECT_URL ? tool : &others,
                     args, &a, &v);
    if (a.failed)
        v.policy.decision = WEND_DECISION_DENY;
    buf_free(&b);
    arena_free(&a);
    return v.policy.decision;
}

bool call_may_follow(wend_call *call, const struct call_request *from,
                     const struct call_request *to, bool same_host)
{
    switch (decide(call, to)) {
    case WEND_DECISION_ALLOW: return true;
    case WEND_DECISION_DENY: return false;
    case WEND_DECISION_ASK: break;
    }
    return same_host && decide(call, from) == WEND_DECISION_ASK;
}

bool call_look(struct wend_call *c)
{
    const struct turn *t = &c->run->turn;
    const struct tool *tool = config_tool(t->config, c->name);

    if (!c->place || !tool || !tool->access)
        return true;
    c->view = policy_view(t, &c->arena);
    return c->view != NULL;
}

bool call_names_file(const wend_call *call, wend_str path)
{
    return !call || !call->view || view_names(call->view, path);
}

bool call_opens_file(wend_call *call, wend_str start, wend_str path)
{
    if (!call || !call->view)
        return true;
    if (!view_opens(call->view, start, path))
        return false;
    call->labels |= view_labels(call->view, path);
    return true;
}

bool call_hides_files(const wend_call *call)
{
    return call && call->view && call->view->hides;
}

void call_set_structured(wend_call *call, wend_str json)
{
    call->structured.mem = &call->mem;
    buf_clear(&call->structured);
    buf_str(&call->structured, json);
    if (call->structured.failed)
        buf_free(&call->structured);
}

wend_status call_add_part(wend_call *call, wend_str bytes, wend_str name,
                          struct buf *note, wend_error *err)
{
    struct arena *a = &call->arena;
    wend_ev_part part;
    wend_status s = media_look(bytes, &part, err);

    if (s == WEND_OK && media_type_of(&part) == MEDIA_TEXT)
        s = fail(err, WEND_E_INVAL, "is text; return it as text");
    if (s == WEND_OK && call->parts_count == PARTS_MAX)
        s = fail(err, WEND_E_LIMIT, "is one part too many, after %d",
                 PARTS_MAX);
    if (s != WEND_OK)
        return s;
    if (!call->parts)
        call->parts = arena_alloc(a, PARTS_MAX * sizeof *call->parts);
    call->blobs.arena = a;
    part_finish(&part, arena_str(a, bytes), name, &call->blobs);
    if (a->failed)
        return fail_nomem(err);
    call->parts[call->parts_count++] = part;
    if (note)
        media_note(note, &part, "");
    return WEND_OK;
}

wend_status wend_call_attach(wend_call *call, const wend_part *part,
                             wend_error *err)
{
    wend_error why = {0};
    wend_str name;
    wend_status s;

    if (!call || !part || !part->data.ptr)
        return fail(err, WEND_E_INVAL,
                    "attach: call or part is NULL, or the part has no data");
    if (forked_check(call->process, err) != WEND_OK)
        return WEND_E_MISUSE;
    if (atomic_load(&call->answered))
        return fail(err, WEND_E_MISUSE, "attach: the call is answered");
    s = call_add_part(call, part->data, part->name, NULL, &why);
    call->attached |= s == WEND_OK;
    if (s == WEND_OK || s == WEND_E_NOMEM)
        return s == WEND_OK ? s : fail_nomem(err);
    name = str_or(part->name, "a part");
    return fail(err, s, "'%.*s' %s", UTF8_ARGS(name, PART_NAME_MAX),
                why.message);
}

void call_put_notes(const struct wend_call *c, struct buf *out)
{
    for (size_t i = 0; c->attached && i < c->parts_count; i++) {
        if (out->len)
            buf_char(out, '\n');
        media_note(out, &c->parts[i], "");
    }
}

void call_put_limit(const struct wend_call *c, wend_str said, struct buf *out)
{
    int64_t ms = c->fx.timeout_ms;
    bool whole = ms % 1000 == 0;

    buf_fmt(out, "timed out after %lld %s (this %s's limit)",
            (long long)(whole ? ms / 1000 : ms), whole ? "s" : "ms",
            c->fx.call ? "tool" : "action");
    buf_cstr(out, said.len ? "\n" : "; it may have had an effect");
    buf_str(out, said);
}

/* ---- What rules keep from programs --------------------------------------- */

/* Rules and tools are the same in all; that of a child's mode may be none. */
static const struct config *some_config(const wend_agent *a)
{
    unsigned mode = 0;

    while (mode < RUN_MODES && !a->configs[mode])
        mode++;
    return mode < RUN_MODES ? a->configs[mode] : NULL;
}

bool run_hides(struct wend_run *r)
{
    struct arena a = {.mem = &r->rt->mem};
    const struct config *c = some_config(r->agent);
    /* Rules may also come from a run above, or from a log. */
    bool more = r->child || r->resumed;
    bool asked =
        c && (policy_gap(c, false, &a).ptr || (more && policy_programs(c)));
    struct procs *procs;

    arena_free(&a);
    return asked && rt_procs(r->rt, &procs, NULL) == WEND_OK &&
           procs_hide(procs);
}

const char *const *call_hidden(const wend_call *call, struct arena *a)
{
    return policy_hidden(&call->run->turn, a);
}

/* ---- On a thread --------------------------------------------------------- */

static void run_job(struct threads_job *job)
{
    struct wend_call *c = container_of(job, struct wend_call, job);

    c->ran = c->fn(c->ctx, c);
}

static void end_job(struct threads_job *job)
{
    struct wend_call *c = container_of(job, struct wend_call, job);

    if (c->ran != WEND_OK)
        wend_call_fail(c, c->ran == WEND_AGAIN ? "canceled"
                                               : wend_status_name(c->ran));
    call_unref(c);
}

void call_run_threaded(struct wend_call *c)
{
    struct threads *pool = rt_threads(c->run->rt);

    c->job.canceled = &c->canceled;
    c->job.answered = &c->answered;
    c->job.fn = run_job;
    c->job.end = end_job;
    c->ran = WEND_AGAIN;           /* it has not begun */
    atomic_fetch_add(&c->refs, 1); /* an answer releases the tool's */
    if (pool && threads_run(pool, &c->job) == WEND_OK)
        return;
    wend_call_fail(c, "no thread could be started");
    call_unref(c);
}
