/*
 * fuzz_schema.c - the first line is a schema, the rest a value.
 *
 * What compiles must answer, the same each time, and say why not.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "core/schema/schema.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct schema *s, const struct json *value,
                  const struct mem *mem)
{
    struct buf why = {.mem = mem};
    bool fits = schema_check(s, value, &why);

    if (fits != schema_check(s, value, NULL))
        abort();
    if (fits != !why.len)
        abort();
    if (utf8_valid_len(buf_view(&why)) != why.len)
        abort();
    buf_free(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct mem mem;
    struct arena a = {.mem = &mem};
    const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
    size_t len = end ? (size_t)(end - data) : size;
    struct json *schema, *value;
    struct schema *s = NULL;
    wend_error err = {0};

    schema = json_parse((wend_str){(const char *)data, len}, &a, &err);
    value =
        json_parse((wend_str){(const char *)data + len, size - len}, &a, NULL);
    if (schema && schema_compile(schema, &a, &s, &err) != WEND_OK &&
        (!err.status || !err.message[0] ||
         utf8_valid_len(str_of(err.message)) != strlen(err.message)))
        abort();
    if (s)
        check(s, schema, &mem); /* there is always one to check */
    if (s && value)
        check(s, value, &mem);
    arena_free(&a);
    return 0;
}
