/*
 * fuzz_models.c - any bytes to models_parse; then what is found has a cost.
 */
#include <stdlib.h>

#include "wire/file/models.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct model *m)
{
    wend_ev_usage u = {.input = 1234567,
                       .cached = 234567,
                       .cache_write = 1000000,
                       .output = 7654321};

    if (!m->name.len || m->window < 0 || m->output < 0)
        abort();
    if (m->price.known != (price_of(&m->price, &u) >= 0))
        abort();
    if (m->price.cache_write < -1 || m->price.cache_write > PRICE_NANO_MAX)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct models *all = NULL;
    wend_error err = {0};

    if (!models_parse((wend_str){(const char *)data, size}, &a, &all, &err)) {
        for (size_t i = 0; i < all->count; i++)
            check(&all->list[i]);
        models_find(all, STR("openai:some-model"));
    } else if (!err.status || !err.message[0]) {
        abort();
    }
    arena_free(&a);
    return 0;
}
