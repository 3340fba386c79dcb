/*
 * driver.c - which driver serves a model's name.
 */
#include "lib/run/run.h"

#include <string.h>

#include "base/fail.h"
#include "wire/model/model.h"

static wend_status fail_unknown(const char *model, const struct mem *m,
                                wend_error *err)
{
    struct buf names = {.mem = m};
    struct provider p;
    wend_status s;

    for (size_t i = 0; provider_at(i, &p); i++)
        buf_fmt(&names, "%s%s", i ? ", " : "", p.name);
    s = names.failed ? fail_nomem(err)
                     : fail(err, WEND_E_INVAL,
                            "model '%.200s' has no driver; write "
                            "provider:model with one of the providers %s; or "
                            "script:FILE",
                            model, buf_view(&names).ptr);
    buf_free(&names);
    return s;
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
