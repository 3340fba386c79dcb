/*
 * driver.c - which driver serves a model's name, and what a file says about
 * the model.
 */
#include "lib/run/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "host/file.h"
#include "wire/file/models.h"
#include "wire/model/model.h"

enum { NAME_SHOWN = 100 }; /* bytes of a name that an error quotes twice */

/* Names of models that say whose they are. */
static const struct {
    const char *begins, *provider;
} families[] = {
    {"gpt-", "openai"},       {"chatgpt-", "openai"}, {"o1", "openai"},
    {"o3", "openai"},         {"o4-", "openai"},      {"codex-", "openai"},
    {"claude-", "anthropic"}, {"gemini-", "gemini"},
};

/* `provider/name` is how others write it. */
static wend_str name_in(const char *model)
{
    const char *slash = strchr(model, '/');
    wend_str before = {model, slash ? (size_t)(slash - model) : 0};

    return str_of(slash && codec_find(before) ? slash + 1 : model);
}

/* "; did you mean 'openai:gpt-4o'?", or nothing. */
static void put_meant(struct buf *out, const char *model)
{
    const char *colon = strchr(model, ':'), *provider = NULL;
    wend_str said = {model, colon ? (size_t)(colon - model) : 0};
    wend_str name = colon ? str_of(colon + 1) : name_in(model);
    const struct codec *c;
    int best = 0;

    for (size_t i = 0; said.len && (c = codec_at(i)); i++)
        if (str_nearer(said, str_of(c->name), &best))
            provider = c->name;
    for (size_t i = 0; !provider && i < sizeof families / sizeof *families; i++)
        if (str_starts(name, families[i].begins))
            provider = families[i].provider;
    if (provider && name.len)
        buf_fmt(out, "; did you mean '%s:%.*s'?", provider,
                name.len < NAME_SHOWN ? (int)name.len : NAME_SHOWN, name.ptr);
}

static wend_status fail_unknown(const char *model, const struct mem *m,
                                wend_error *err)
{
    struct buf meant = {.mem = m}, names = {.mem = m};
    const struct codec *c;
    wend_status s;

    put_meant(&meant, model);
    for (size_t i = 0; (c = codec_at(i)); i++)
        buf_fmt(&names, "%s%s", i ? ", " : "", c->name);
    s = names.failed || meant.failed
            ? fail_nomem(err)
            : fail(err, WEND_E_INVAL,
                   "model '%.100s' has no driver%s%s provider:model with one "
                   "of the providers %s; or script:FILE",
                   model, buf_view(&meant).ptr,
                   meant.len ? " Write" : "; write", buf_view(&names).ptr);
    buf_free(&meant);
    buf_free(&names);
    return s;
}

wend_status http_driver_for(const char *model, const struct driver_options *o,
                            const struct mem *m, struct driver **out,
                            wend_error *err)
{
    const char *colon = strchr(model, ':');
    wend_str name = {model, colon ? (size_t)(colon - model) : strlen(model)};
    const struct codec *codec = codec_find(name);

    if (!codec && str_is(name, "script"))
        return fail(err, WEND_E_INVAL, "a script has no list of models");
    return codec ? http_driver_open(codec, o, m, out, err)
                 : fail_unknown(model, m, err);
}

wend_status driver_open(const char *model, struct driver_options o,
                        const struct mem *m, struct driver **out,
                        wend_error *err)
{
    const char *colon = strchr(model, ':');
    wend_str provider = {model, colon ? (size_t)(colon - model) : 0};
    const struct codec *codec;

    o.spec = str_of(colon ? colon + 1 : "");
    if (o.record_dir && o.playback_dir)
        return fail(err, WEND_E_INVAL,
                    "recording and playing back exclude each other");
    if (str_is(provider, "script") && (o.record_dir || o.playback_dir))
        return fail(err, WEND_E_INVAL,
                    "a script has no wire to record or play back");
    if (str_is(provider, "script"))
        return script_driver_open(&o, m, out, err);
    codec = codec_find(provider);
    if (codec && o.spec.len)
        return http_driver_open(codec, &o, m, out, err);
    return fail_unknown(model, m, err);
}

/* ---- Facts --------------------------------------------------------------- */

/* About the model itself: then what wend knows of it still holds. */
static bool says_nothing(const struct model *m)
{
    return !m->window && !m->output && !m->price.known;
}

static wend_status read_entry(const char *path, wend_str text, wend_str model,
                              struct arena *a, struct model *out,
                              wend_error *err)
{
    const struct model *found = NULL;
    struct models *all = NULL;
    wend_error why = {0};
    wend_status s;

    text = arena_str(a, text); /* the row points into it */
    s = text.ptr ? models_parse(text, a, &all, &why) : fail_nomem(&why);
    if (s != WEND_OK)
        fail_in(err, path, &why);
    else
        found = models_look_up(all, model);
    if (found && says_nothing(found))
        out->wishes = found->wishes;
    else if (found)
        *out = *found;
    if (found) {
        out->concurrency = found->concurrency;
        out->no_tools = found->no_tools;
        out->media = found->media ? found->media : out->media;
    }
    return s;
}

/* Without a file. */
static void take_known(const char *model, struct model *out)
{
    const struct model *found = models_look_up(NULL, str_of(model));

    if (found)
        *out = *found;
}

static wend_status fail_unpriced(wend_str model, const char *where,
                                 wend_error *err)
{
    int len = model.len < NAME_SHOWN ? (int)model.len : NAME_SHOWN;

    return fail(err, WEND_E_INVAL,
                "a cost limit cannot be kept: no price is known for '%.*s'%s; "
                "add {name: \"%.*s\", output: TOKENS, price: {input: USD, "
                "output: USD}} to the models in ~/.config/wend/models.yaml or "
                "the file of --models, see wend-models(5)",
                len, model.ptr, where, len, model.ptr);
}

wend_status budget_check(const struct config *c, wend_error *err)
{
    const struct model_use *m = config_unpriced(c);

    return m ? fail_unpriced(m->spec, "", err) : WEND_OK;
}

/* A limit that cannot be checked would be exceeded unseen. */
static wend_status check_budget(const wend_agent_options *o, const char *model,
                                bool elsewhere, const struct model *facts,
                                wend_error *err)
{
    if (!o->limits.cost_nano || str_starts(str_of(model), "script:"))
        return WEND_OK;
    if (!facts->price.known)
        return fail_unpriced(str_of(model),
                             facts->source && elsewhere
                                 ? " at this address: the price that 'wend "
                                   "models' shows is the provider's own"
                                 : "",
                             err);
    if (facts->price.output && !facts->output)
        return fail(err, WEND_E_INVAL,
                    "a cost limit cannot be kept: the longest answer of "
                    "'%.200s' is not known; give its 'output', see "
                    "wend-models(5)",
                    model);
    return WEND_OK;
}

wend_status model_facts(const wend_agent_options *o, const char *model,
                        bool elsewhere, struct arena *a, struct model *out,
                        wend_error *err)
{
    const char *named = o->models_file ? o->models_file : getenv("WEND_MODELS");
    struct buf path = {.mem = a->mem}, text = {.mem = a->mem};
    wend_error why = {0};
    wend_status s = WEND_OK;

    *out = (struct model){.price.cache_write = -1};
    take_known(model, out);
    if (models_path(&path, named, getenv("XDG_CONFIG_HOME"), getenv("HOME"))) {
        s = file_read(path.ptr, MODELS_BYTES_MAX, &text, &why);
        if (s == WEND_E_NOTFOUND && !(named && *named))
            s = WEND_OK; /* none is needed */
        else if (s != WEND_OK && err)
            *err = why;
        else if (s == WEND_OK)
            s = read_entry(path.ptr, buf_view(&text), str_of(model), a, out,
                           err);
    }
    if (path.failed)
        s = fail_nomem(err);
    buf_free(&path);
    buf_free(&text);
    if (out->source && elsewhere) /* another server has its own price */
        out->price = (struct price){.cache_write = -1};
    if (o->output_tokens)
        out->output = o->output_tokens;
    if (o->context_tokens && (!out->window || out->window > o->context_tokens))
        out->window = o->context_tokens;
    return s == WEND_OK ? check_budget(o, model, elsewhere, out, err) : s;
}
