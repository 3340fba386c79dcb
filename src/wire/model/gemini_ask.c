/*
 * gemini_ask.c - requests of the Gemini API.
 *
 * The conversation is the last member: the request for a longer one begins
 * with the bytes of the shorter one, up to the end of its last message.
 *
 * A signature goes back on the part it came with. Models from generation 3
 * on refuse a call without one, so the calls of a message that another
 * provider made carry the word that Google has documented for this.
 */
#include "wire/model/parts.h"
#include "wire/model/request.h"

enum { PRO_THINK_TOKENS_MIN = 128 }; /* 2.5 Pro always thinks */

#define NO_SIGNATURE "skip_thought_signature_validator"

struct gemini_asked {
    int generation; /* of the model */
    /* The calls of the newest assistant message, and the ids that the server
     * gave them: an id that we made up must not be sent. */
    const struct call **calls;
    wend_str *ids; /* absent: it gave none */
    size_t count;
};

static wend_str base_name(wend_str model)
{
    const char *slash = memrchr(model.ptr, '/', model.len);

    return slash ? str_skip(model, (size_t)(slash + 1 - model.ptr)) : model;
}

/* 3 for gemini-3-pro; 0 if the name does not say. */
static int generation(wend_str model)
{
    wend_str name = base_name(model);
    size_t at = sizeof "gemini-" - 1;
    char c = str_starts(name, "gemini-") && name.len > at ? name.ptr[at] : 0;

    return c >= '1' && c <= '9' ? c - '0' : 0;
}

/* Those that cannot think refuse to be asked for their thoughts. */
static bool thinks(wend_str model)
{
    static const char *const without[] = {"gemini-1", "gemini-2.0", "gemma",
                                          "learnlm"};

    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (str_starts(base_name(model), without[i]))
            return false;
    return true;
}

static void put_text_part(struct buf *b, wend_str text)
{
    json_key(b, NULL);
    buf_cstr(b, "{\"text\":");
    json_put_str(b, text);
    json_close(b, '}');
}

/* The names of tools go as they are; one that the model made up may have
 * characters that are refused. */
static void put_name(const struct request_writer *w, wend_str name)
{
    if (name_is_plain(name) || config_tool(w->config, name))
        request_str(w->out, "name", name);
    else
        request_put_name(w->out, name);
}

static void put_call(const struct request_writer *w, const struct call *c,
                     wend_str id, wend_str signature)
{
    struct buf *b = w->out;

    json_key(b, NULL);
    buf_cstr(b, "{\"functionCall\":{");
    parts_add_str(b, "id", id);
    put_name(w, c->name);
    json_key(b, "args");
    parts_put_args(b, c);
    json_close(b, '}');
    parts_add_str(b, "thoughtSignature", signature);
    json_close(b, '}');
}

static void put_item(struct request_writer *w, const struct part *p,
                     size_t call)
{
    struct gemini_asked *asked = w->own;
    wend_str signature = json_get_str(p->item, "signature");
    wend_str thought = json_get_str(p->item, "thought");
    wend_str id = json_get_str(p->item, "id");

    if (p->call) {
        if (asked->ids)
            asked->ids[call] = id;
        put_call(w, p->call, id, signature);
        return;
    }
    if (!signature.len || json_get(p->item, "call"))
        return;
    json_open(w->out, NULL, '{');
    request_str(w->out, "text", thought.ptr ? thought : p->text);
    if (thought.ptr)
        json_add_bool(w->out, "thought", true);
    json_add_str(w->out, "thoughtSignature", signature);
    json_close(w->out, '}');
}

/* call: its index, if the part is one. */
static void put_part(struct request_writer *w, const struct part *p,
                     size_t call, bool foreign)
{
    const struct gemini_asked *asked = w->own;
    bool first = asked->generation >= 3 && foreign && !call;

    switch (p->kind) {
    case PART_TEXT: put_text_part(w->out, p->text); break;
    case PART_CALL:
        put_call(w, p->call, STR_NONE, first ? STR(NO_SIGNATURE) : STR_NONE);
        break;
    case PART_ITEM: put_item(w, p, call); break;
    case PART_END: break;
    }
}

static void put_model(struct request_writer *w, const struct msg *m)
{
    struct gemini_asked *asked = w->own;
    size_t begin = w->out->len, first, call;
    struct parts parts;
    struct part part;
    bool foreign;

    parts_begin(&parts, w->turn, m, "gemini", &w->arena);
    foreign = !parts.item;
    asked->calls = parts.calls;
    asked->count = parts.calls_count;
    asked->ids = asked->count
                     ? arena_alloc(&w->arena, asked->count * sizeof *asked->ids)
                     : NULL;
    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"role\":\"model\",\"parts\":[");
    first = w->out->len;
    for (;;) {
        call = parts.call_at;
        part = parts_next(&parts);
        if (part.kind == PART_END)
            break;
        put_part(w, &part, call, foreign);
    }
    if (w->out->len == first)
        w->out->len = begin;
    else
        buf_cstr(w->out, "]}");
}

static wend_str id_given(const struct gemini_asked *a, wend_str call)
{
    for (size_t i = 0; a->ids && i < a->count; i++)
        if (str_eq(a->calls[i]->id, call))
            return a->ids[i];
    return STR_NONE;
}

static void open_user(struct buf *b)
{
    json_key(b, NULL);
    buf_cstr(b, "{\"role\":\"user\",\"parts\":[");
}

/* Results that follow each other are one content: there must be as many
 * responses in it as the content before it has calls. Before generation 3 what
 * they come with follows them as parts of its own. */
static void put_result(struct request_writer *w, const struct msg *m)
{
    const struct gemini_asked *asked = w->own;
    bool first = !w->at || w->list[w->at - 1]->role != ROLE_TOOL;
    bool last = w->at + 1 == w->count || w->list[w->at + 1]->role != ROLE_TOOL;
    size_t batch;

    if (first)
        open_user(w->out);
    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"functionResponse\":{");
    parts_add_str(w->out, "id", id_given(w->own, m->call));
    put_name(w, m->name);
    json_open(w->out, "response", '{');
    request_result_text(w, m->failed ? "error" : "output", m);
    json_close(w->out, '}');
    if (asked->generation >= 3 && request_sends(w, m)) {
        json_open(w->out, "parts", '[');
        request_put_sent(w, m);
        json_close(w->out, ']');
    }
    buf_cstr(w->out, "}}");
    if (asked->generation < 3 && request_batch(w, &batch))
        request_put_batch(w, batch);
    buf_cstr(w->out, last ? "]}" : "");
}

static void put_media_text(struct request_writer *w, wend_str text)
{
    put_text_part(w->out, text);
}

static bool put_media(struct request_writer *w, const wend_ev_part *p,
                      enum media_type type, wend_str bytes)
{
    bool mp3 = str_is(p->media, "audio/mpeg"); /* Google's own name for it */

    (void)type;
    json_key(w->out, NULL);
    buf_cstr(w->out, "{\"inlineData\":{");
    json_add_str(w->out, "mimeType", mp3 ? STR("audio/mp3") : p->media);
    request_base64(w->out, "data", bytes);
    buf_cstr(w->out, "}}");
    return true;
}

static void put_said(struct request_writer *w, const struct msg *m)
{
    if (!m->text.len && !m->parts_count)
        return;
    open_user(w->out);
    request_put_parts(w, m);
    if (m->text.len)
        put_text_part(w->out, m->text);
    buf_cstr(w->out, "]}");
}

static void put_system(struct buf *b, wend_str instructions, wend_str schema)
{
    struct buf text = {.mem = b->mem};

    buf_str(&text, instructions);
    if (schema.len) {
        buf_cstr(&text, instructions.len ? "\n\n" : "");
        buf_cstr(&text, SCHEMA_WORDS);
        buf_str(&text, schema);
    }
    if (text.len) {
        buf_cstr(b, "\"systemInstruction\":{\"parts\":[");
        put_text_part(b, buf_view(&text));
        buf_cstr(b, "]}");
    }
    b->failed |= text.failed;
    buf_free(&text);
}

/* A description must be there, and say something. */
static void put_tool(struct request_writer *w, const struct tool *t)
{
    json_open(w->out, NULL, '{');
    request_str(w->out, "name", t->name);
    request_str(w->out, "description",
                t->description.len ? t->description : t->name);
    if (tool_schema(t).len)
        json_add_raw(w->out, "parametersJsonSchema", tool_schema(t));
    json_close(w->out, '}');
}

/* Generation 3 has levels, and none without thinking: the least is low, and
 * its first model has no medium. Before it there are budgets; thoughts can
 * only be asked for if there may be any. */
static void put_thinking(const struct request_writer *w, int gen)
{
    const struct wire_ask *q = w->q;
    struct buf *b = w->out;
    enum effort effort = w->effort;
    wend_str name = base_name(q->model);
    int64_t tokens = wire_think_tokens(effort, q->max_tokens);
    bool levels = effort && gen >= 3;

    if (levels && effort == EFFORT_NONE)
        effort = EFFORT_LOW;
    if (effort == EFFORT_MEDIUM && str_starts(name, "gemini-3-pro"))
        effort = EFFORT_HIGH;
    if (!tokens && str_starts(name, "gemini-2.5-pro"))
        tokens = PRO_THINK_TOKENS_MIN;
    json_open(b, "thinkingConfig", '{');
    if (!effort || levels || tokens)
        json_add_bool(b, "includeThoughts", true);
    if (levels)
        json_add_str(b, "thinkingLevel", str_of(effort_names[effort]));
    else if (effort)
        json_add_i64(b, "thinkingBudget", tokens);
    json_close(b, '}');
}

static void put_options(struct request_writer *w, int gen, wend_str schema)
{
    const struct wire_ask *q = w->q;
    struct buf *b = w->out;

    json_open(b, "generationConfig", '{');
    if (q->max_tokens > 0)
        json_add_i64(b, "maxOutputTokens", q->max_tokens);
    if (schema.len) {
        json_add_str(b, "responseMimeType", STR("application/json"));
        json_add_raw(b, "responseJsonSchema", schema);
    }
    if (thinks(q->model))
        put_thinking(w, gen);
    request_put_params(w, "generationConfig");
    json_close(b, '}');
}

/* Generations before 3 take a schema or tools, not both: then the model is
 * told of the schema in words. */
static void put_head(struct request_writer *w)
{
    struct gemini_asked *asked = w->own;
    int gen = asked->generation = generation(w->q->model);
    bool words = w->config->tools_count && gen && gen < 3;
    struct buf *b = w->out;

    buf_char(b, '{');
    put_system(b, w->turn->frame->system, words ? w->q->schema : STR_NONE);
    if (w->config->tools_count) {
        json_key(b, "tools");
        buf_cstr(b, "[{");
        request_put_tools(w, "functionDeclarations");
        buf_cstr(b, "}]");
    }
    put_options(w, gen, words ? STR_NONE : w->q->schema);
    request_put_params(w, NULL);
    json_open(b, "contents", '[');
}

const struct request_form gemini_form = {
    .head = put_head,
    .said = put_said,
    .assistant = put_model,
    .result = put_result,
    .tail = request_tail,
    .tool = put_tool,
    .part = put_media,
    .part_text = put_media_text,
    .own_size = sizeof(struct gemini_asked),
};
