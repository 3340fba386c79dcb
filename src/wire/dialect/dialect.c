/*
 * dialect.c - another vocabulary: native events in, its records out.
 */
#include "wire/dialect/dialect.h"

#include "core/event/event.h"
#include "core/media/media.h"
#include "wire/dialect/flow.h"

_Static_assert(WEND_EVENT_TYPES <= 64, "ON() has a bit for each type");

/* Where an event has what a record may be about; 0: nowhere. */
struct about {
    size_t id, name, json, reason, error, outcome, ms, cached;
};

#define AT(member) offsetof(wend_event, u.member)

static const struct about abouts[WEND_EVENT_TYPES] = {
    [WEND_CALL_START] = {.id = AT(call_start.call),
                         .name = AT(call_start.name),
                         .json = AT(call_start.args_json)},
    [WEND_CALL_OUTPUT] = {.id = AT(call_output.call)},
    [WEND_CALL_END] = {.id = AT(call_end.call),
                       .name = AT(call_end.name),
                       .reason = AT(call_end.output),
                       .error = AT(call_end.error),
                       .outcome = AT(call_end.outcome),
                       .ms = AT(call_end.ms),
                       .cached = AT(call_end.cached)},
    [WEND_ACTION_START] = {.id = AT(action_start.action),
                           .name = AT(action_start.name),
                           .json = AT(action_start.params_json)},
    [WEND_ACTION_RETRY] = {.id = AT(action_retry.action),
                           .error = AT(action_retry.error)},
    [WEND_ACTION_END] = {.id = AT(action_end.action),
                         .name = AT(action_end.name),
                         .json = AT(action_end.output_json),
                         .reason = AT(action_end.reason),
                         .error = AT(action_end.error),
                         .outcome = AT(action_end.outcome),
                         .ms = AT(action_end.ms),
                         .cached = AT(action_end.cached)},
    [WEND_MODEL_START] = {.id = AT(model_start.action)},
    [WEND_THINKING_DELTA] = {.id = AT(thinking_delta.action)},
    [WEND_TEXT_DELTA] = {.id = AT(text_delta.action)},
    [WEND_MODEL_END] = {.id = AT(model_end.action),
                        .error = AT(model_end.error),
                        .outcome = AT(model_end.outcome)},
    [WEND_RUN_END] = {.error = AT(run_end.error),
                      .outcome = AT(run_end.outcome)},
};

static wend_str str_at(const wend_event *ev, size_t at)
{
    return at ? *(const wend_str *)(const void *)((const char *)ev + at)
              : STR_NONE;
}

static void look_at(struct dialect_now *now, const wend_event *ev)
{
    const struct about *a = &abouts[ev->type];
    const char *p = (const char *)ev;
    const void *error = p + a->error, *outcome = p + a->outcome,
               *ms = p + a->ms;
    wend_str reason, name;

    now->id = str_at(ev, a->id);
    now->name = str_at(ev, a->name);
    now->json = str_at(ev, a->json);
    now->error = a->error ? *(const wend_ev_error *const *)error : NULL;
    if (!a->outcome)
        return;
    now->outcome = *(const wend_outcome *)outcome;
    now->ms = a->ms ? *(const int64_t *)ms : 0;
    now->cached = a->cached && *(const bool *)(p + a->cached);
    now->truncated = ev->type == WEND_CALL_END && ev->u.call_end.truncated;
    reason = str_at(ev, a->reason);
    name = str_of(wend_outcome_name(now->outcome));
    now->why = now->error && now->error->message.len ? now->error->message
               : reason.len                          ? reason
                                                     : name;
    now->code = now->error && now->error->code.len ? now->error->code : name;
}

static bool applies(const struct record_rule *r, struct dialect_stream *s,
                    const wend_event *ev)
{
    return (!r->outcomes || (r->outcomes >> s->now.outcome & 1)) &&
           (!r->when || r->when(s, ev)) &&
           (!r->flag || *(const bool *)((const char *)s + r->flag));
}

static void apply_rules(struct dialect_stream *s, const wend_event *ev)
{
    const struct record_rule *rules = s->dialect->rules;

    if (s->to[ev->type]) {
        memset(&s->now, 0, sizeof s->now);
        s->dialect->begin(s, ev);
        look_at(&s->now, ev);
    }
    for (uint8_t i = s->from[ev->type]; i < s->to[ev->type]; i++)
        if ((rules[i].on >> ev->type & 1) && applies(&rules[i], s, ev) &&
            rules[i].name)
            record_put(s, &rules[i], ev);
}

static const size_t bufs[] = {
    offsetof(struct dialect_stream, early),
    offsetof(struct dialect_stream, later),
    offsetof(struct dialect_stream, text),
    offsetof(struct dialect_stream, turn_id),
    offsetof(struct dialect_stream, correlation_id),
    offsetof(struct dialect_stream, cancel_by),
    offsetof(struct dialect_stream, plan),
};

enum { BUFS = sizeof bufs / sizeof *bufs };

static struct buf *buf_at(struct dialect_stream *s, int i)
{
    return (void *)((char *)s + bufs[i]);
}

/* ---- All dialects -------------------------------------------------------- */

static void native_event(struct dialect_stream *s, const wend_event *ev)
{
    if (ev->type == WEND_EVENT_NONE)
        return;
    event_write(s->out, ev, NULL);
    buf_char(s->out, '\n');
}

const struct dialect dialect_native = {.name = "native", .event = native_event};

const char *const dialect_names[] = {
#define X(constant, name) name,
    DIALECT_LIST(X)
#undef X
        NULL,
};

static const struct dialect *const dialects[DIALECTS] = {
    [DIALECT_NATIVE] = &dialect_native,
    [DIALECT_LOOM] = &dialect_loom,
    [DIALECT_AGIO] = &dialect_agio,
    [DIALECT_CORTEX] = &dialect_cortex,
    [DIALECT_AG_UI] = &dialect_ag_ui,
    [DIALECT_OPENAI_CHAT] = &dialect_openai_chat,
    [DIALECT_RESPONSES] = &dialect_responses,
    [DIALECT_UI] = &dialect_ui,
};

const struct dialect *dialect_find(wend_str name)
{
    int i = str_index(name, dialect_names, DIALECTS);

    return i < 0 ? NULL : dialects[i];
}

/* ---- Streams ------------------------------------------------------------- */

void dialect_open(struct dialect_stream *s, const struct dialect *d,
                  const struct mem *m, const wend_dialect_options *options)
{
    *s = (struct dialect_stream){
        .dialect = d,
        .mem = m,
        .scratch.mem = m,
        .options = options,
        .verbose = options && options->verbose,
        .turns_max = d->turns_max,
        .parallel_max = d->parallel_max,
    };
    for (int i = 0; i < BUFS; i++)
        buf_at(s, i)->mem = m;
    for (uint8_t i = 0; d->rules && d->rules[i].on; i++)
        for (int type = 0; type < WEND_EVENT_TYPES; type++)
            if (d->rules[i].on >> type & 1) {
                s->from[type] = s->to[type] ? s->from[type] : i;
                s->to[type] = i + 1;
            }
}

bool dialect_event(struct dialect_stream *s, const wend_event *ev,
                   struct buf *out, bool past)
{
    size_t before = out->len;

    if ((unsigned)ev->type >= WEND_EVENT_TYPES)
        return !out->failed;
    s->out = out;
    s->past = past;
    if (s->dialect->event)
        s->dialect->event(s, ev);
    else
        apply_rules(s, ev);
    s->last_us = ev->time_us;
    out->failed |= s->scratch.failed;
    if (s->scratch.held)
        arena_free(&s->scratch);
    for (int i = 0; i < BUFS; i++)
        out->failed |= buf_at(s, i)->failed;
    if (past && out->len > before)
        out->ptr[out->len = before] = 0;
    return !out->failed;
}

bool dialect_interrupt(struct dialect_stream *s, struct buf *out)
{
    return flow_interrupt(s, out);
}

void dialect_close(struct dialect_stream *s)
{
    flow_drop(s->flow);
    for (struct record_call *c = s->calls, *next; c; c = next) {
        next = c->next;
        mem_free(s->mem, c);
    }
    for (int i = 0; i < BUFS && s->dialect; i++)
        buf_free(buf_at(s, i));
    s->calls = NULL;
    s->flow = NULL;
    s->dialect = NULL;
}

void dialect_put_parts(struct buf *b, const wend_ev_part *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buf_cstr(b, " [");
        media_put_name(b, &parts[i]);
        if (parts[i].name.len && media_type_of(&parts[i]) != MEDIA_TEXT) {
            buf_char(b, ' ');
            buf_str(b, parts[i].name);
        }
        buf_char(b, ']');
    }
}
