/*
 * json_driver.c - says what base/json makes of each text on its input.
 *
 * Reads records of a length in decimal, a newline and so many bytes; writes
 * a line for each: "yes TEXT" as json_put has it, "num TEXT" for a number as
 * json_put_f64 has it, "inf", "twice" (a key), "limit" or "no".
 */
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void answer(wend_str text, struct arena *a, struct buf *out)
{
    wend_error err = {0};
    struct json *j = json_parse(text, a, &err);
    double d;

    if (!j) {
        buf_cstr(out, err.status == WEND_E_LIMIT       ? "limit"
                      : strstr(err.message, "new key") ? "twice"
                                                       : "no");
    } else if (j->kind != JSON_NUMBER) {
        buf_cstr(out, "yes ");
        json_put(out, j);
    } else if (json_f64(j, &d)) {
        buf_cstr(out, "num ");
        json_put_f64(out, d);
    } else {
        buf_cstr(out, "inf");
    }
    buf_char(out, '\n');
}

int main(void)
{
    static const struct mem plain;
    struct arena a = {.mem = &plain};
    struct buf out = {.mem = &plain};
    size_t len;

    while (scanf("%zu", &len) == 1 && getchar() == '\n') {
        /* Exactly as large as it is, for the sanitizer to watch. */
        char *exact = malloc(len ? len : 1);

        if (!exact || fread(exact, 1, len, stdin) != len)
            return 1;
        answer((wend_str){exact, len}, &a, &out);
        arena_reset(&a);
        free(exact);
    }
    fwrite(out.ptr, 1, out.len, stdout);
    buf_free(&out);
    arena_free(&a);
    return 0;
}
