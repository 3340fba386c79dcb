/*
 * openai_ask.c - a turn as the body of a Chat Completions request.
 *
 * Canonical bytes: the members in a fixed order, tools as the config sorts
 * them, every message as it was. A longer history only adds to the end of
 * the list, so that a server can reuse what it knows of the start.
 */
#include "wire/model/parts.h"
#include "wire/model/request.h"

static void put_call(struct request_writer *w, const struct msg *m,
                     const struct call *c)
{
    char room[WIRE_ID + 1];

    json_open(w->out, NULL, '{');
    request_str(w->out, "id", wire_call_id(w->turn, m, c, room));
    buf_cstr(w->out, ",\"type\":\"function\",\"function\":{");
    request_put_name(w->out, c->name);
    request_put_args(w->out, c);
    buf_cstr(w->out, "}}");
}

/* The first item of ours from `item` on, or NULL. */
static const struct json *own(const struct json *item, const char *key)
{
    while (item &&
           !(str_is(json_get_str(item, "p"), "openai") && json_get(item, key)))
        item = item->next;
    return item;
}

/* Members that the server wants back, by the names it gave. */
static void put_kept(struct request_writer *w, const struct msg *m)
{
    const struct json *all, *item;
    wend_str field;

    if (m->opaque.len <= 2 || !wire_is_own(w->turn, m)) /* nearly all: [] */
        return;
    all = json_parse(m->opaque, &w->arena, NULL);
    item = own(all ? all->first : NULL, "thinking");
    field = json_get_str(item, "thinking");
    if (field.ptr && m->calls) { /* others may refuse or bill it */
        json_add_str(w->out, NULL, field);
        buf_char(w->out, ':');
        json_put_str(w->out, m->thinking);
    }
    item = own(all ? all->first : NULL, "detail");
    if (!item)
        return;
    json_open(w->out, "reasoning_details", '[');
    for (; item; item = own(item->next, "detail"))
        json_add(w->out, NULL, json_get(item, "detail"));
    json_close(w->out, ']');
}

static void put_assistant(struct request_writer *w, const struct msg *m)
{
    request_open(w->out, ROLE_ASSISTANT);
    if (m->calls && !m->text.len)
        json_add_raw(w->out, "content", STR("null"));
    else
        request_str(w->out, "content", m->text);
    put_kept(w, m);
    request_put_calls(w, m);
    json_close(w->out, '}');
}

static void put_part_text(struct request_writer *w, wend_str text)
{
    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"type\":\"text\"");
    request_str(w->out, "text", text);
    json_close(w->out, '}');
}

static bool put_part(struct request_writer *w, const wend_ev_part *p,
                     enum media_type type, wend_str bytes)
{
    struct buf *b = w->out;

    json_key(b, NULL);
    if (type == MEDIA_IMAGE) {
        buf_cstr(b, "{\"type\":\"image_url\",\"image_url\":{");
        request_data_url(b, "url", p, bytes);
    } else if (type == MEDIA_DOCUMENT) {
        buf_cstr(b, "{\"type\":\"file\",\"file\":{");
        request_str(b, "filename", request_part_name(p));
        request_data_url(b, "file_data", p, bytes);
    } else {
        buf_cstr(b, "{\"type\":\"input_audio\",\"input_audio\":{");
        request_base64(b, "data", bytes);
        json_add_str(b, "format",
                     str_is(p->media, "audio/wav") ? STR("wav") : STR("mp3"));
    }
    buf_cstr(b, "}}");
    return true;
}

static void put_said(struct request_writer *w, const struct msg *m)
{
    if (!m->parts_count) {
        request_said(w, m);
        return;
    }
    request_open(w->out, m->role);
    json_open(w->out, "content", '[');
    request_put_parts(w, m);
    if (m->text.len)
        put_part_text(w, m->text);
    buf_cstr(w->out, "]}");
}

/* A result takes no media, and nothing may stand between two of them. */
static void put_result(struct request_writer *w, const struct msg *m)
{
    char room[WIRE_ID + 1];
    size_t first;

    request_open(w->out, ROLE_TOOL);
    request_str(w->out, "tool_call_id", wire_result_id(w->turn, m, room));
    request_result_text(w, "content", m);
    json_close(w->out, '}');
    if (!request_batch(w, &first))
        return;
    request_open(w->out, ROLE_USER);
    json_open(w->out, "content", '[');
    request_put_batch(w, first);
    buf_cstr(w->out, "]}");
}

static void put_tool(struct request_writer *w, const struct tool *t)
{
    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"type\":\"function\",\"function\":{");
    request_put_tool(w->out, t, "parameters", REQUEST_ANY_OBJECT);
    buf_cstr(w->out, "}}");
}

/* OpenAI's newer models refuse the old name of the limit; other servers ignore
 * the new one, and then there is no limit. The name of the model tells, without
 * what precedes it. */
static const char *limit_name(wend_str model)
{
    static const char *const theirs[] = {"gpt-", "chatgpt-", "codex-"};
    size_t at = model.len;

    while (at && !memchr("/:", model.ptr[at - 1], 2))
        at--;
    if (str_starts(model, "ft:")) /* ft:MODEL:OWNER:... */
        at = 3;
    model = str_skip(model, at);
    if (model.len > 1 && model.ptr[0] == 'o' && model.ptr[1] >= '1' &&
        model.ptr[1] <= '9')
        return "max_completion_tokens";
    for (size_t i = 0; i < sizeof theirs / sizeof *theirs; i++)
        if (str_starts(model, theirs[i]) && !str_starts(model, "gpt-oss"))
            return "max_completion_tokens";
    return "max_tokens";
}

/* `strict` only where it is not refused; the answer is checked anyway. */
static void put_tail(struct request_writer *w)
{
    struct buf *b = w->out;

    json_close(b, ']');
    request_put_tools(w, "tools");
    if (w->q->max_tokens)
        json_add_i64(b, limit_name(w->q->model), w->q->max_tokens);
    if (w->effort)
        json_add_str(b, "reasoning_effort", str_of(effort_names[w->effort]));
    request_put_params(w, NULL);
    if (w->schema) {
        buf_cstr(b, ",\"response_format\":{\"type\":\"json_schema\","
                    "\"json_schema\":{\"name\":\"answer\"");
        json_add(b, "schema", w->schema);
        buf_cstr(b, schema_is_strict(w->schema) ? ",\"strict\":true}}" : "}}");
    }
    buf_cstr(b, ",\"stream\":true,"
                "\"stream_options\":{\"include_usage\":true}}");
}

const struct request_form openai_form = {
    .extends = true,
    .head = request_head,
    .said = put_said,
    .assistant = put_assistant,
    .result = put_result,
    .tail = put_tail,
    .tool = put_tool,
    .call = put_call,
    .part = put_part,
    .part_text = put_part_text,
};
