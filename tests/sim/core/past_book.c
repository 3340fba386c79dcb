/*
 * past_book.c - what a reader knows about the past of a conversation.
 *
 * Written again without the core's messages.c and turn_refused.c, for the same
 * reason as book.c.
 */
#include "past_book.h"

#include "base/label.h"

/* Of a call in a run that was closed by force. */
static const char no_result[] =
    "[the outcome of this call is not known: its run was closed before it "
    "ended]";

uint32_t names_in(wend_str json, const char *const *names, uint32_t count)
{
    uint32_t bits = 0;

    for (uint32_t i = 0; json.ptr && i < count; i++) {
        char text[64];
        int len = snprintf(text, sizeof text, "\"%s\"", names[i]);

        if (memmem(json.ptr, json.len, text, (size_t)len))
            bits |= 1u << i;
    }
    return bits;
}

static bool is_true(const struct json *j, const char *key)
{
    const struct json *value = json_get(j, key);

    return value && value->kind == JSON_TRUE;
}

static uint32_t items(const struct json *j, const char *key)
{
    const struct json *list = json_get(j, key);

    return list ? (uint32_t)list->count : 0;
}

uint32_t past_read(wend_str json, struct book_msg out[BOOK_MSGS])
{
    static const char *const roles[] = {[ROLE_USER] = "user",
                                        [ROLE_ASSISTANT] = "assistant",
                                        [ROLE_TOOL] = "tool",
                                        [ROLE_SYSTEM] = "system"};
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    const struct json *list = json.ptr ? json_parse(json, &a, NULL) : NULL;
    uint32_t count = 0;

    for (const struct json *j = json_items(list); j && count < BOOK_MSGS;
         j = j->next)
        out[count++] = (struct book_msg){
            .role = (enum role)str_index(json_get_str(j, "role"), roles, 4),
            .text = hash_str(json_get_str(j, "text")),
            .call = json_get(j, "call") ? hash_str(json_get_str(j, "call")) : 0,
            .calls = items(j, "calls"),
            .parts = items(j, "parts"),
            .pinned = is_true(j, "pinned"),
            .summary = is_true(j, "summary"),
            .own = json_get(j, "by") && !is_true(j, "summary")};
    arena_free(&a);
    return count;
}

static void add(struct book_msg *out, uint32_t *count, struct book_msg m)
{
    if (*count < BOOK_MSGS)
        out[(*count)++] = m;
}

/* Calls that were under way get a result that says so. */
static void add_open(const struct book *b, struct book_msg *out,
                     uint32_t *count)
{
    if (!b->turn_open || !b->calls_count)
        return;
    if (b->model_open)
        add(out, count,
            (struct book_msg){.role = ROLE_ASSISTANT,
                              .text = b->part_text,
                              .calls = b->calls_count});
    for (uint32_t i = 0; i < b->calls_count; i++)
        add(out, count,
            (struct book_msg){.role = ROLE_TOOL,
                              .text = b->calls[i].ended
                                          ? b->calls[i].output
                                          : hash_str(str_of(no_result)),
                              .call = hash_str(str_of(b->calls[i].id))});
}

uint32_t past_of(const struct book *b, bool closed,
                 struct book_msg out[BOOK_MSGS])
{
    uint32_t count = b->msgs_count;
    bool canceled = closed || (b->stopping && b->stop == WEND_OUTCOME_CANCELED);

    memcpy(out, b->msgs, sizeof b->msgs);
    for (uint32_t i = 0; i < count; i++) {
        out[i].cut = false;                 /* all of it can be read again */
        if (out[i].summary && out[i].own) { /* a note, not a summary */
            out[i].summary = false;
            out[i].text = 0;
        }
    }
    add_open(b, out, &count);
    if (count && b->unanswered && !canceled &&
        out[count - 1].role == ROLE_ASSISTANT && !out[count - 1].calls)
        count--;
    for (uint32_t i = 0; i < b->pending_count; i++)
        add(out, &count, b->pending[i]);
    return count;
}

/* ---- What was refused, labelled and asked for ---------------------------- */

struct book_refused *past_refused(struct book *b)
{
    const struct model_use *m = &b->config->models[b->model_at];
    uint64_t model = hash_str(m->spec);
    uint32_t i = 0;

    while (i < b->refused_count && b->refused_by[i].model != model)
        i++;
    if (i == BOOK_REFUSED)
        return NULL;
    if (i == b->refused_count)
        b->refused_by[b->refused_count++] =
            (struct book_refused){.model = model};
    return &b->refused_by[i];
}

static void on_retry(struct book *b, const wend_ev_model_retry *e)
{
    struct book_refused *r = past_refused(b);

    if (!r)
        return;
    r->dropped |= names_in(e->dropped_json, asked_names, ASKED_FIELDS);
    r->media |= str_starts(e->reason, "refused ");
}

static void on_call_end(struct book *b, const wend_ev_call_end *e)
{
    const struct tool *tool = config_tool(b->config, e->name);

    if (!e->labels_json.ptr || e->outcome == WEND_OUTCOME_SUPERSEDED)
        return;
    b->labels |= names_in(e->labels_json, label_names, LABELS);
    if (tool)
        b->labels |= tool_labels(tool);
}

static void on_compacted(struct book *b, const wend_ev_compacted *e)
{
    if (!str_is(e->method, "trimmed"))
        b->fold = b->folding = false;
}

/* A request that comes while the context of the next one is made counts for
 * the one behind it. */
static void on_model_start(struct book *b, const wend_ev_model_start *e)
{
    if (e->purpose == WEND_PURPOSE_SUMMARY || !b->folding)
        return;
    b->fold = b->folding = false;
}

void past_book_add(struct book *b, const wend_event *ev)
{
    switch ((int)ev->type) {
    case WEND_RUN_START:
        b->msgs_count = past_read(ev->u.run_start.messages_json, b->msgs);
        b->labels |=
            names_in(ev->u.run_start.past_labels_json, label_names, LABELS);
        break;
    case WEND_CONTROL: b->fold |= str_is(ev->u.control.what, "compact"); break;
    case WEND_CONTEXT_START:
        b->folding = b->fold;
        b->unfolded = false;
        break;
    case WEND_WARNING:
        b->unfolded |= str_is(ev->u.warning.code, "not_compacted");
        break;
    case WEND_COMPACTED: on_compacted(b, &ev->u.compacted); break;
    case WEND_MODEL_START: on_model_start(b, &ev->u.model_start); break;
    case WEND_MODEL_PART: b->part_text = hash_str(ev->u.model_part.text); break;
    case WEND_MODEL_RETRY: on_retry(b, &ev->u.model_retry); break;
    case WEND_MODEL_END:
        if (ev->u.model_end.purpose != WEND_PURPOSE_SUMMARY &&
            ev->u.model_end.outcome != WEND_OUTCOME_SUPERSEDED)
            b->unanswered = ev->u.model_end.outcome != WEND_OUTCOME_OK;
        break;
    case WEND_TURN_END:
        b->unanswered |=
            ev->u.turn_end.outcome != WEND_OUTCOME_OK && !b->calls_count;
        break;
    case WEND_CALL_END: on_call_end(b, &ev->u.call_end); break;
    case WEND_CHILD_END:
        b->labels |= names_in(ev->u.child_end.labels_json, label_names, LABELS);
        break;
    default: break;
    }
}
