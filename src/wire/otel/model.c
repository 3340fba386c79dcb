/*
 * model.c - which service has the models that a config names.
 */
#include "wire/otel/span.h"

#include "base/url.h"
#include "wire/otel/attr.h"

struct otel_model {
    struct otel_model *next;
    wend_str name, spec; /* in the same block */
    wend_str host;       /* absent: the provider's own */
    uint16_t port;
};

/* Providers of wend and their names in the conventions; others keep theirs. */
static const struct {
    const char *ours, *name;
} providers[] = {
    {"responses", "openai"},
    {"gemini", "gcp.gemini"},
};

/* Services that speak the API of another one, by the end of the host. */
static const struct {
    const char *host, *name;
} services[] = {
    {".openai.azure.com", "azure.ai.openai"},
    {"api.deepseek.com", "deepseek"},
    {"api.groq.com", "groq"},
    {"api.mistral.ai", "mistral_ai"},
    {"api.x.ai", "x_ai"},
    {"api.perplexity.ai", "perplexity"},
    {"api.cohere.com", "cohere"},
    {"aiplatform.googleapis.com", "gcp.vertex_ai"},
};

static wend_str provider_name(const struct otel_model *m)
{
    wend_str spec = m->spec, provider;

    for (size_t i = 0; m->host.len && i < sizeof services / sizeof *services;
         i++)
        if (str_ends(m->host, services[i].host))
            return str_of(services[i].name);
    str_take(&spec, ':', &provider);
    for (size_t i = 0; i < sizeof providers / sizeof *providers; i++)
        if (str_is(provider, providers[i].ours))
            return str_of(providers[i].name);
    return provider;
}

static void note(struct otel_stream *s, wend_str name, wend_str spec,
                 wend_str base_url)
{
    struct url url = {0};
    struct otel_model *m;
    char *room;

    if (!name.len || !spec.len)
        return;
    if (!base_url.len ||
        url_parse(base_url, &s->scratch, &url, NULL) != WEND_OK)
        url = (struct url){0};
    m = mem_zalloc(s->mem, sizeof *m + name.len + spec.len + url.host.len);
    if (!m)
        return;
    room = (char *)(m + 1);
    m->name = str_pack(&room, name);
    m->spec = str_pack(&room, spec);
    if (url.host.len) {
        m->host = str_pack(&room, url.host);
        m->port = url.port;
    }
    m->next = s->models;
    s->models = m;
}

void models_note(struct otel_stream *s, wend_str model, wend_str config_json)
{
    const struct json *c =
        config_json.ptr ? json_parse_own(config_json, &s->scratch, NULL) : NULL;

    if (!c)
        return;
    models_free(s);
    note(s, model, json_get_str(c, "model"), json_get_str(c, "base_url"));
    for (const struct json *j = json_items(json_get(c, "fallback")); j;
         j = j->next)
        note(s, json_get_str(j, "name"), json_get_str(j, "model"),
             json_get_str(j, "base_url"));
}

void models_put(const struct otel_stream *s, struct buf *attrs, wend_str model)
{
    const struct otel_model *m = s->models;

    while (m && !str_eq(m->name, model))
        m = m->next;
    if (!m)
        return;
    attr_str(attrs, "gen_ai.provider.name", provider_name(m));
    attr_str(attrs, "server.address", m->host);
    if (m->port)
        attr_i64(attrs, "server.port", m->port);
}

void models_free(struct otel_stream *s)
{
    while (s->models) {
        struct otel_model *m = s->models;

        s->models = m->next;
        mem_free(s->mem, m);
    }
}
