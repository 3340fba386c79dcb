/*
 * test_local.c - which local server has a URL, and what starts it.
 */
#include "wire/model/local.h"

#include "fault.h"
#include "tap.h"

static const struct mem plain;

static const struct {
    const char *why, *url, *wanted;
} rows[] = {
    {"ollama", "http://127.0.0.1:11434", "ollama"},
    {"by name", "http://localhost:11434/v1", "ollama"},
    {"IPv6", "http://[::1]:8080/v1", "llamacpp"},
    {"another address of this machine", "http://127.1.2.3:8000", "vllm"},
    {"upper case", "http://LOCALHOST:1234/v1", "lmstudio"},
    {"with TLS", "https://localhost:8000", "vllm"},
    {"another machine", "http://10.0.0.1:11434", NULL},
    {"a name that begins alike", "http://localhost.example:11434", NULL},
    {"a name that begins like an address", "http://127.example:11434", NULL},
    {"another port", "http://localhost:9999", NULL},
    {"the usual port of the scheme", "http://localhost", NULL},
    {"no URL", "localhost:11434", NULL},
    {"nothing", "", NULL},
};

static void test_find(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        const struct local_server *s = local_find(str_of(rows[i].url), &plain);

        tap_is_str(str_of(s ? s->name : NULL), rows[i].wanted, "find: %s",
                   rows[i].why);
    }
}

/* Each has what messages need, and is found by its name and its port. */
static void test_table(void)
{
    const struct local_server *s;
    int bad = 0;
    size_t i;

    for (i = 0; (s = local_at(i)); i++) {
        char url[64];

        snprintf(url, sizeof url, "http://localhost:%u/", s->port);
        bad += !*s->title || !*s->start || local_named(str_of(s->name)) != s ||
               local_find(str_of(url), &plain) != s;
    }
    tap_ok(i > 0 && !bad, "each server is found by name and port");
    tap_ok(!local_named(STR("ollam")) && !local_named(STR_NONE),
           "a part of a name, and none");
}

static void test_memory(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);

        bad += !local_find(STR("http://localhost:11434"), &m) != f.hit;
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "without memory it is not known");
}

int main(void)
{
    test_find();
    test_table();
    test_memory();
    return tap_done();
}
