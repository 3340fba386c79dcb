/*
 * history.c - messages of other protocols as the history of a run.
 */
#include "serve/proto/proto.h"

#include "base/ascii.h"

enum { PARTS_MAX = 64 };

void proto_begin(struct serve_ask *q, struct proto_ask *p)
{
    memset(p, 0, sizeof *p);
    p->messages.mem = p->tools.mem = &q->server->mem;
    p->options.size = sizeof p->options;
    p->parts = arena_alloc(&q->arena, PARTS_MAX * sizeof *p->parts);
    json_open(&p->messages, NULL, '[');
    json_open(&p->tools, NULL, '[');
}

void proto_free(struct proto_ask *p)
{
    buf_free(&p->messages);
    buf_free(&p->tools);
}

/* ---- The past ------------------------------------------------------------ */

void past_text(struct proto_ask *p, const char *role, wend_str text)
{
    json_open(&p->messages, NULL, '{');
    json_add_str(&p->messages, "role", str_of(role));
    json_add_str(&p->messages, "text", str_or(text, ""));
    json_close(&p->messages, '}');
}

void past_call(struct buf *calls, wend_str id, wend_str name, wend_str args)
{
    if (!calls->len)
        json_open(calls, NULL, '[');
    json_open(calls, NULL, '{');
    json_add_str(calls, "id", str_or(id, ""));
    json_add_str(calls, "name", str_or(name, ""));
    json_key(calls, "args");
    json_put_any(calls, args.len ? args : STR("{}"));
    json_close(calls, '}');
}

void past_assistant(struct proto_ask *p, wend_str text, struct buf *calls)
{
    json_open(&p->messages, NULL, '{');
    json_add_str(&p->messages, "role", STR("assistant"));
    json_add_str(&p->messages, "text", str_or(text, ""));
    if (calls->len) {
        json_close(calls, ']');
        json_add_raw(&p->messages, "calls", buf_view(calls));
    }
    json_close(&p->messages, '}');
    p->messages.failed |= calls->failed;
    buf_free(calls);
}

void past_functions(struct serve_ask *q, struct proto_ask *p, wend_str text,
                    const struct json *calls)
{
    struct buf list = {.mem = &q->server->mem};

    for (const struct json *c = json_items(calls); c; c = c->next) {
        const struct json *f = json_get(c, "function");

        past_call(&list, json_get_str(c, "id"), json_get_str(f, "name"),
                  json_get_str(f, "arguments"));
    }
    past_assistant(p, text, &list);
}

void past_result(struct proto_ask *p, wend_str call, wend_str text, bool failed)
{
    json_open(&p->messages, NULL, '{');
    json_add_str(&p->messages, "role", STR("tool"));
    json_add_str(&p->messages, "call", str_or(call, ""));
    json_add_str(&p->messages, "text", str_or(text, ""));
    if (failed)
        json_add_bool(&p->messages, "failed", true);
    json_close(&p->messages, '}');
}

/* ---- What the user says -------------------------------------------------- */

void spoken_begin(struct spoken *s, struct serve_ask *q)
{
    const struct mem *m = &q->server->mem;

    *s = (struct spoken){.q = q, .text.mem = m, .parts.mem = m};
    json_open(&s->parts, NULL, '[');
}

void spoken_text(struct spoken *s, wend_str text)
{
    if (s->text.len && text.len)
        buf_cstr(&s->text, "\n\n");
    buf_str(&s->text, str_or(text, ""));
}

static void refuse(struct spoken *s, const char *why)
{
    if (s->answered)
        return;
    s->answered = true;
    respond_problem(s->q, 400, "part", "messages",
                    "send the file itself, as a "
                    "data URL in base64",
                    "%s", why);
}

void spoken_data(struct spoken *s, wend_str base64, wend_str name)
{
    if (!base64.len) {
        refuse(s, "a file has no data");
        return;
    }
    json_open(&s->parts, NULL, '{');
    json_add_str(&s->parts, "data", base64);
    json_add_str(&s->parts, "name", name);
    json_close(&s->parts, '}');
}

void spoken_url(struct spoken *s, wend_str url, wend_str name)
{
    static const char mark[] = ";base64,";
    const char *at =
        url.len ? memmem(url.ptr, url.len, mark, sizeof mark - 1) : NULL;

    if (!str_starts_nocase(url, "data:") || !at)
        refuse(s, "a file is named by a URL, and this server fetches nothing");
    else
        spoken_data(s, str_skip(url, (size_t)(at - url.ptr) + sizeof mark - 1),
                    name);
}

static bool take_prompt(struct spoken *s, struct proto_ask *p)
{
    struct serve_ask *q = s->q;
    const struct json *list;
    const wend_part *parts;

    json_close(&s->parts, ']');
    p->prompt = arena_str(&q->arena, buf_view(&s->text));
    list =
        json_parse(arena_str(&q->arena, buf_view(&s->parts)), &q->arena, NULL);
    if (!list || q->arena.failed || s->parts.failed || s->text.failed) {
        respond_nomem(q);
        return false;
    }
    if (!body_parts(q, list, &parts, &p->parts_count))
        return false;
    if (p->parts_count)
        memcpy(p->parts, parts, p->parts_count * sizeof *parts);
    return true;
}

bool spoken_end(struct spoken *s, struct proto_ask *p, bool newest)
{
    bool ok = !s->answered;

    if (ok && newest) {
        ok = take_prompt(s, p);
    } else if (ok) {
        json_open(&p->messages, NULL, '{');
        json_add_str(&p->messages, "role", STR("user"));
        json_add_str(&p->messages, "text", buf_view(&s->text));
        if (s->parts.len > 1) {
            json_close(&s->parts, ']');
            json_add_raw(&p->messages, "parts", buf_view(&s->parts));
        }
        json_close(&p->messages, '}');
        p->messages.failed |= s->parts.failed || s->text.failed;
    }
    buf_free(&s->text);
    buf_free(&s->parts);
    return ok;
}

void proto_tool(struct proto_ask *p, wend_str name, wend_str description,
                const struct json *schema)
{
    json_open(&p->tools, NULL, '{');
    json_add_str(&p->tools, "name", str_or(name, ""));
    json_add_str(&p->tools, "description",
                 description.len ? description : STR_NONE);
    if (schema && schema->kind == JSON_OBJECT)
        json_add(&p->tools, "schema", schema);
    json_close(&p->tools, '}');
}
