/*
 * url_driver.c - says what base/url makes of each line on its input.
 *
 * A line for each: "SCHEME HOST PORT TARGET", or "no".
 */
#include "base/url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    static const struct mem libc_mem;
    struct arena a = {.mem = &libc_mem};
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

    while ((len = getline(&line, &cap, stdin)) > 0) {
        struct url u;

        if (url_parse((wend_str){line, (size_t)len - 1}, &a, &u, NULL))
            puts("no");
        else
            printf("%s %s %d %s\n", u.https ? "https" : "http", u.host.ptr,
                   u.port, u.target.ptr);
        arena_reset(&a);
    }
    free(line);
    arena_free(&a);
    return 0;
}
