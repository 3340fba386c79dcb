/*
 * test_name.c - names of tools as providers take them, and back.
 */
#include "tap.h"
#include "wire/model/model.h"

static const struct mem plain;

static const struct {
    const char *name, *put;
} puts_rows[] = {
    {"calculator", "\"calculator\""},
    {"fs.read_file", "\"fs__read_file\""},
    {"a-b_c9", "\"a-b_c9\""},
    {"what \"is\n\xc3\xa4", "\"what__is___\""},
    {"", "\"_\""},
};

static const struct {
    const char *why, *said, *meant;
} meant_rows[] = {
    {"its own name", "calculator", "calculator"},
    {"as it was sent", "fs__read", "fs.read"},
    {"some models say it with the dot", "fs.read", "fs.read"},
    {"a name with underscores is itself", "a__b", "a__b"},
    {"no such tool", "fs__write", "fs__write"},
    {"only its start", "fs__rea", "fs__rea"},
    {"more than it", "fs__read2", "fs__read2"},
    {"half of the dot", "fs_", "fs_"},
    {"nothing", "", ""},
};

int main(void)
{
    struct arena a = {.mem = &plain};
    struct config *c = NULL;

    for (size_t i = 0; i < tap_count(puts_rows); i++) {
        struct buf b = {.mem = &plain};

        name_put(&b, str_of(puts_rows[i].name));
        tap_is_str(buf_view(&b), puts_rows[i].put, "put %zu", i);
        buf_clear(&b);
        json_put_str(&b, str_of(puts_rows[i].name));
        tap_ok(name_is_plain(str_of(puts_rows[i].name)) ==
                   str_is(buf_view(&b), puts_rows[i].put),
               "%zu: plain is what does not change", i);
        buf_free(&b);
    }
    config_parse(STR("{\"tools\":[{\"name\":\"calculator\"},{\"name\":"
                     "\"fs.read\"},{\"name\":\"a__b\"},{\"name\":\"a.b\"}]}"),
                 &a, &c, NULL);
    if (tap_ok(c, "a config"))
        for (size_t i = 0; i < tap_count(meant_rows); i++)
            tap_is_str(name_meant(c, str_of(meant_rows[i].said)),
                       meant_rows[i].meant, "%s", meant_rows[i].why);
    arena_free(&a);
    return tap_done();
}
