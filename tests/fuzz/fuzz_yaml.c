/*
 * fuzz_yaml.c - any bytes to yaml_parse; what it accepts must be a value.
 */
#include <stdlib.h>

#include "base/json.h"
#include "wire/file/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem}, again = {.mem = &mem};
    struct buf b = {.mem = &mem};
    struct json *j, *k;
    wend_error err = {0};

    j = yaml_parse((wend_str){(const char *)data, size}, &a, NULL, &err);
    if (!j && (!err.status || !err.message[0]))
        abort();
    if (j) {
        /* Written out it is JSON, and the same. */
        json_put(&b, j);
        k = json_parse(buf_view(&b), &again, &err);
        if (!k || !json_equal(j, k))
            abort();
    }
    buf_free(&b);
    arena_free(&again);
    arena_free(&a);
    return 0;
}
