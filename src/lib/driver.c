/*
 * driver.c - which driver serves a model's name.
 */
#include "lib/lib.h"

#include <string.h>

#include "base/fail.h"

static const struct {
    const char *prefix;
    wend_status (*open)(wend_str spec, const struct mem *m, struct driver **out,
                        wend_error *err);
} providers[] = {
    {"script:", script_driver_open},
};

wend_status driver_open(const char *model, const struct mem *m,
                        struct driver **out, wend_error *err)
{
    wend_str name = str_of(model);

    for (size_t i = 0; i < sizeof providers / sizeof *providers; i++) {
        size_t len = strlen(providers[i].prefix);

        if (str_starts(name, providers[i].prefix))
            return providers[i].open((wend_str){model + len, name.len - len}, m,
                                     out, err);
    }
    return fail(err, WEND_E_INVAL,
                "model '%.200s' has no driver here; write script:FILE or "
                "script:{...}",
                model);
}
