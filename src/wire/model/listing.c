/*
 * listing.c - what a provider says about the models that it has.
 *
 * Servers that speak an API of another provider answer in its shape and add
 * members of their own (vLLM, llama.cpp, gateways): a member counts wherever it
 * stands.
 */
#include "wire/model/listing.h"

#include <string.h>

enum { ALIASES_MAX = 6 };

/* The last row is for all others. */
static const struct listing_form {
    const char *provider, *path;
    const char *page; /* in the query: the value of `next`; NULL: one page */
    const char *next;
    const char *more; /* a bool that must be true as well; may be NULL */
} forms[] = {
    {"anthropic", "/models?limit=1000", "after_id", "last_id", "has_more"},
    {"gemini", "/models?pageSize=1000", "pageToken", "nextPageToken", NULL},
    {"ollama", "/api/tags", NULL, NULL, NULL},
    {NULL, "/models", NULL, NULL, NULL},
};

static const char *const list_keys[] = {"data", "models", NULL};
static const char *const name_keys[] = {"id", "name", "model", NULL};
static const char *const window_keys[ALIASES_MAX + 1] = {"max_input_tokens",
                                                         "context_length",
                                                         "context_window",
                                                         "max_model_len",
                                                         "inputTokenLimit",
                                                         "n_ctx",
                                                         NULL};
static const char *const output_keys[ALIASES_MAX + 1] = {
    "max_output_tokens", "max_completion_tokens", "outputTokenLimit",
    "max_tokens", NULL};

static const struct listing_form *form_of(const struct codec *c)
{
    const struct listing_form *f = forms;

    while (f->provider && strcmp(f->provider, c->name))
        f++;
    return f;
}

void listing_path(const struct codec *c, wend_str page, struct buf *out)
{
    static const char hex[] = "0123456789ABCDEF";
    const struct listing_form *f = form_of(c);

    buf_cstr(out, f->path);
    if (!page.ptr || !f->page)
        return;
    buf_fmt(out, "&%s=", f->page);
    for (size_t i = 0; i < page.len; i++) {
        unsigned char b = (unsigned char)page.ptr[i];

        if ((b >= '0' && b <= '9') || (b >= 'a' && b <= 'z') ||
            (b >= 'A' && b <= 'Z') || memchr("-._~", b, 4)) {
            buf_char(out, (char)b);
        } else {
            buf_char(out, '%');
            buf_char(out, hex[b >> 4]);
            buf_char(out, hex[b & 15]);
        }
    }
}

static wend_str text_in(const struct json *j, const char *const *keys)
{
    wend_str s = STR_NONE;

    for (; *keys && !s.len; keys++)
        s = json_get_str(j, *keys);
    return s;
}

static int64_t count_in(const struct json *j, const char *const *keys)
{
    int64_t n = 0;

    for (; *keys && !n; keys++)
        n = wire_i64(j, *keys);
    return n;
}

/* A list of methods without the one that answers: it embeds, or draws. */
static bool can_answer(const struct json *row)
{
    const struct json *methods = json_get(row, "supportedGenerationMethods");
    bool can = !methods || methods->kind != JSON_ARRAY;

    for (const struct json *m = can ? NULL : methods->first; m; m = m->next)
        can |= str_is(json_str(m), "generateContent");
    return can;
}

static bool read_row(const struct json *row, wend_model_info *out)
{
    static const char models[] = "models/";

    *out = (wend_model_info){.name = text_in(row, name_keys),
                             .window = count_in(row, window_keys),
                             .output = count_in(row, output_keys)};
    if (!out->window)
        out->window = count_in(json_get(row, "meta"), window_keys);
    if (str_starts(out->name, models)) {
        out->name.ptr += sizeof models - 1;
        out->name.len -= sizeof models - 1;
    }
    return out->name.len && can_answer(row);
}

bool listing_read(const struct codec *c, const struct json *body,
                  listing_fn add, void *ctx, wend_str *page)
{
    const struct listing_form *f = form_of(c);
    const struct json *list = NULL;
    bool more = true;

    *page = STR_NONE;
    if (body && body->kind == JSON_ARRAY)
        list = body;
    for (size_t i = 0; body && !list && list_keys[i]; i++)
        list = json_get(body, list_keys[i]);
    if (!list || list->kind != JSON_ARRAY)
        return false;
    for (const struct json *row = list->first; row && more; row = row->next) {
        wend_model_info info;

        if (row->kind == JSON_OBJECT && read_row(row, &info))
            more = add(ctx, &info);
    }
    if (more && f->next && body->kind == JSON_OBJECT) {
        const struct json *said = f->more ? json_get(body, f->more) : NULL;
        wend_str next = json_get_str(body, f->next);

        if (next.len && (!f->more || (said && said->kind == JSON_TRUE)))
            *page = next;
    }
    return true;
}
