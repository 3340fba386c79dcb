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
#include "wire/model/model.h"
#include "wire/model/name.h"
#include "wire/model/parts.h"

enum { PRO_THINK_TOKENS_MIN = 128 }; /* 2.5 Pro always thinks */

#define NO_SIGNATURE "skip_thought_signature_validator"

/* The calls of the newest assistant message, and the ids the server gave
 * them: an id that we made up must not be sent. */
struct asked {
    const struct call **calls;
    wend_str *ids; /* absent: it gave none */
    size_t count;
};

struct writer {
    const struct turn *turn;
    struct buf *out;
    struct arena *arena;
    struct asked asked;
    int generation;
    bool any; /* a content has been written */
};

static wend_str base_name(wend_str model)
{
    for (size_t i = model.len; i; i--)
        if (model.ptr[i - 1] == '/')
            return (wend_str){model.ptr + i, model.len - i};
    return model;
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
    buf_cstr(b, "{\"text\":");
    json_put_str(b, text);
    buf_char(b, '}');
}

static void put_signature(struct buf *b, wend_str signature)
{
    if (!signature.len)
        return;
    buf_cstr(b, ",\"thoughtSignature\":");
    json_put_str(b, signature);
}

/* A model's invention may have signs that are refused in a name. */
static void put_name(const struct writer *w, wend_str name)
{
    if (config_tool(w->turn->config, name))
        json_put_str(w->out, name);
    else
        name_put(w->out, name);
}

static void put_call(const struct writer *w, const struct call *c, wend_str id,
                     wend_str signature)
{
    struct buf *b = w->out;

    buf_cstr(b, "{\"functionCall\":{");
    if (id.len) {
        buf_cstr(b, "\"id\":");
        json_put_str(b, id);
        buf_char(b, ',');
    }
    buf_cstr(b, "\"name\":");
    put_name(w, c->name);
    buf_cstr(b, ",\"args\":");
    parts_put_args(b, c);
    buf_char(b, '}');
    put_signature(b, signature);
    buf_char(b, '}');
}

static bool put_item(struct writer *w, const struct part *p, size_t call)
{
    wend_str signature = json_str(json_get(p->item, "signature"));
    wend_str thought = json_str(json_get(p->item, "thought"));
    wend_str id = json_str(json_get(p->item, "id"));

    if (p->call) {
        if (w->asked.ids)
            w->asked.ids[call] = id;
        put_call(w, p->call, id, signature);
        return true;
    }
    if (!signature.len || json_get(p->item, "call"))
        return false;
    buf_cstr(w->out, "{\"text\":");
    json_put_str(w->out, thought.ptr ? thought : p->text);
    buf_cstr(w->out, thought.ptr ? ",\"thought\":true" : "");
    put_signature(w->out, signature);
    buf_char(w->out, '}');
    return true;
}

/* call: its index, if the part is one. */
static bool put_part(struct writer *w, const struct part *p, size_t call,
                     bool foreign)
{
    bool first = w->generation >= 3 && foreign && !call;

    switch (p->kind) {
    case PART_TEXT: put_text_part(w->out, p->text); return true;
    case PART_CALL:
        put_call(w, p->call, STR_NONE, first ? STR(NO_SIGNATURE) : STR_NONE);
        return true;
    case PART_ITEM: return put_item(w, p, call);
    case PART_END: break;
    }
    return false;
}

static void put_model(struct writer *w, const struct msg *m)
{
    size_t begin = w->out->len, first, call;
    struct parts parts;
    struct part part;
    bool foreign;

    parts_begin(&parts, w->turn, m, "gemini", w->arena);
    foreign = !parts.item;
    w->asked = (struct asked){.calls = parts.calls, .count = parts.calls_count};
    if (parts.calls_count)
        w->asked.ids =
            arena_alloc(w->arena, parts.calls_count * sizeof *w->asked.ids);
    buf_cstr(w->out, w->any ? ",{\"role\":\"model\",\"parts\":["
                            : "{\"role\":\"model\",\"parts\":[");
    first = w->out->len;
    for (;;) {
        size_t before = w->out->len;

        call = parts.call_at;
        part = parts_next(&parts);
        if (part.kind == PART_END)
            break;
        if (before > first)
            buf_char(w->out, ',');
        if (!put_part(w, &part, call, foreign))
            w->out->len = before;
    }
    if (w->out->len == first) {
        w->out->len = begin;
        return;
    }
    buf_cstr(w->out, "]}");
    w->any = true;
}

static wend_str id_given(const struct asked *a, wend_str call)
{
    for (size_t i = 0; a->ids && i < a->count; i++)
        if (str_eq(a->calls[i]->id, call))
            return a->ids[i];
    return STR_NONE;
}

static void put_result(struct writer *w, const struct msg *m)
{
    wend_str id = id_given(&w->asked, m->call);

    buf_cstr(w->out, "{\"functionResponse\":{");
    if (id.len) {
        buf_cstr(w->out, "\"id\":");
        json_put_str(w->out, id);
        buf_char(w->out, ',');
    }
    buf_cstr(w->out, "\"name\":");
    put_name(w, m->name);
    buf_cstr(w->out, m->failed ? ",\"response\":{\"error\":"
                               : ",\"response\":{\"output\":");
    json_put_str(w->out, m->text);
    buf_cstr(w->out, "}}}");
}

static void open_user(struct writer *w)
{
    buf_cstr(w->out, w->any ? ",{\"role\":\"user\",\"parts\":["
                            : "{\"role\":\"user\",\"parts\":[");
    w->any = true;
}

/* Results that follow each other are one content: there must be as many
 * parts in it as the content before it has calls. */
static void put_contents(struct writer *w, const struct msg **list,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct msg *m = list[i];

        if (m->role == ROLE_ASSISTANT) {
            put_model(w, m);
        } else if (m->role == ROLE_TOOL) {
            open_user(w);
            put_result(w, m);
            while (i + 1 < count && list[i + 1]->role == ROLE_TOOL) {
                buf_char(w->out, ',');
                put_result(w, list[++i]);
            }
            buf_cstr(w->out, "]}");
        } else if (m->text.len) {
            open_user(w);
            put_text_part(w->out, m->text);
            buf_cstr(w->out, "]}");
        }
    }
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
        buf_cstr(b, "]},");
    }
    b->failed |= text.failed;
    buf_free(&text);
}

/* A description must be there, and say something. */
static void put_tools(struct buf *b, const struct config *c)
{
    if (!c->tools_count)
        return;
    buf_cstr(b, "\"tools\":[{\"functionDeclarations\":[");
    for (size_t i = 0; i < c->tools_count; i++) {
        const struct tool *t = &c->tools[i];

        buf_cstr(b, i ? ",{\"name\":" : "{\"name\":");
        json_put_str(b, t->name);
        buf_cstr(b, ",\"description\":");
        json_put_str(b, t->description.len ? t->description : t->name);
        if (t->schema) {
            buf_cstr(b, ",\"parametersJsonSchema\":");
            buf_str(b, t->schema_text);
        }
        buf_char(b, '}');
    }
    buf_cstr(b, "]}],");
}

/* Generation 3 has levels, and none without thinking: the least is low, and
 * its first model has no medium. Before it there are budgets; thoughts can
 * only be asked for if there may be any. */
static void put_thinking(struct buf *b, const struct wire_ask *q)
{
    enum effort effort = q->turn->config->effort;
    wend_str name = base_name(q->model);
    int64_t tokens;

    if (effort == EFFORT_DEFAULT) {
        buf_cstr(b, "\"thinkingConfig\":{\"includeThoughts\":true}");
        return;
    }
    if (generation(q->model) >= 3) {
        if (effort == EFFORT_NONE)
            effort = EFFORT_LOW;
        if (effort == EFFORT_MEDIUM && str_starts(name, "gemini-3-pro"))
            effort = EFFORT_HIGH;
        buf_fmt(b,
                "\"thinkingConfig\":{\"includeThoughts\":true,"
                "\"thinkingLevel\":\"%s\"}",
                effort_names[effort]);
        return;
    }
    tokens = wire_think_tokens(effort, q->max_tokens);
    if (!tokens && str_starts(name, "gemini-2.5-pro"))
        tokens = PRO_THINK_TOKENS_MIN;
    buf_cstr(b, "\"thinkingConfig\":{");
    buf_cstr(b, tokens ? "\"includeThoughts\":true," : "");
    buf_cstr(b, "\"thinkingBudget\":");
    buf_i64(b, tokens);
    buf_char(b, '}');
}

static void put_generation(struct buf *b, const struct wire_ask *q,
                           wend_str schema)
{
    const char *comma = "";

    buf_cstr(b, "\"generationConfig\":{");
    if (q->max_tokens > 0) {
        buf_cstr(b, "\"maxOutputTokens\":");
        buf_i64(b, q->max_tokens);
        comma = ",";
    }
    if (schema.len) {
        buf_cstr(b, comma);
        buf_cstr(b, "\"responseMimeType\":\"application/json\","
                    "\"responseJsonSchema\":");
        buf_str(b, schema);
        comma = ",";
    }
    if (thinks(q->model)) {
        buf_cstr(b, comma);
        put_thinking(b, q);
    }
    buf_cstr(b, "},");
}

void gemini_path(const struct wire_ask *q, struct buf *out)
{
    static const char digits[] = "0123456789ABCDEF";

    buf_cstr(out, "/models/");
    for (size_t i = 0; i < q->model.len; i++) {
        unsigned char c = (unsigned char)q->model.ptr[i];

        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
            (c >= '0' && c <= '9') || (c && strchr("-._~", c))) {
            buf_char(out, (char)c);
        } else {
            buf_char(out, '%');
            buf_char(out, digits[c >> 4]);
            buf_char(out, digits[c & 15]);
        }
    }
    buf_cstr(out, ":streamGenerateContent?alt=sse");
}

/* Generations before 3 take a schema or tools, not both: then the model is
 * told of the schema in words. */
void gemini_request(const struct wire_ask *q, struct buf *out)
{
    const struct config *config = q->turn->config;
    struct arena a = {.mem = out->mem};
    size_t count = 0;
    const struct msg **list = wire_messages(q->turn, &a, &count);
    struct writer w = {.turn = q->turn, .out = out, .arena = &a};
    bool words;

    w.generation = generation(q->model);
    words = config->tools_count && w.generation && w.generation < 3;
    buf_char(out, '{');
    put_system(out, config->instructions, words ? q->schema : STR_NONE);
    put_tools(out, config);
    put_generation(out, q, words ? STR_NONE : q->schema);
    buf_cstr(out, "\"contents\":[");
    if (list)
        put_contents(&w, list, count);
    buf_cstr(out, "]}");
    out->failed |= a.failed;
    arena_free(&a);
}
