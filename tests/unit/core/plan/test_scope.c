/*
 * test_scope.c - texts with references: what they make, what is refused.
 */
#include "core/plan/scope.h"

#include "base/limits.h"
#include "fault.h"
#include "tap.h"

static const struct {
    const char *name, *json;
} known[] = {
    {"s", "\"a \\\"b\\\" \xc3\xa4\\n\""},
    {"n", "1.50"},
    {"yes", "true"},
    {"nil", "null"},
    {"list", "[1,{\"k\":\"v\"}]"},
    {"map", "{\"a-b\":[[5]],\"c\":\"x\"}"},
};

struct world {
    struct mem mem;
    struct arena arena;
    struct names names;
    wend_error err;
    struct ref_reader reader;
    wend_str values[64];
    const struct json *trees[64];
    struct scope scope;
};

static void world_begin(struct world *w, bool missing_null)
{
    *w = (struct world){.mem = {0}};
    w->arena.mem = &w->mem;
    w->names.arena = &w->arena;
    w->reader = (struct ref_reader){
        .arena = &w->arena, .names = &w->names, .err = &w->err};
    w->scope = (struct scope){w->values, w->trees, &w->arena, missing_null};
    for (size_t i = 0; i < tap_count(known); i++)
        w->values[names_add(&w->names, str_of(known[i].name))] =
            str_of(known[i].json);
}

/* The JSON that the JSON makes, or "!" and what is wrong. */
static void make(struct world *w, const char *json, bool text, struct buf *out)
{
    struct json *j = json_parse(str_of(json), &w->arena, &w->err);
    const struct template *t;
    wend_status s = j ? WEND_OK : w->err.status;

    if (!s)
        s = text ? template_text(&w->reader, j, &t)
                 : template_json(&w->reader, j, &t);
    if (!s)
        s = template_put(t, &w->scope, 1000, out, &w->err);
    if (s) {
        buf_clear(out);
        buf_fmt(out, "!%s", w->err.message);
    }
}

static const struct {
    const char *from, *to;
} params[] = {
    {"{}", "{}"},
    {"{\"a\":[1,2.50,true,null,\"x\"]}", "{\"a\":[1,2.50,true,null,\"x\"]}"},
    {"\"$n\"", "1.50"},
    {"\"${n}\"", "1.50"},
    {"\"$yes\"", "true"},
    {"\"$nil\"", "null"},
    {"\"$s\"", "\"a \\\"b\\\" \xc3\xa4\\n\""},
    {"\"$list\"", "[1,{\"k\":\"v\"}]"},
    {"\"${list[1].k}\"", "\"v\""},
    {"\"${map.a-b[0][0]}\"", "5"},
    {"\" $n\"", "\" 1.50\""},
    {"\"$n \"", "\"1.50 \""},
    {"\"$n$n\"", "\"1.501.50\""},
    {"\"x${n}y\"", "\"x1.50y\""},
    {"\"<$s>\"", "\"<a \\\"b\\\" \xc3\xa4\\n>\""},
    {"\"<$list>\"", "\"<[1,{\\\"k\\\":\\\"v\\\"}]>\""},
    {"\"<$yes $nil>\"", "\"<true null>\""},
    {"\"$$\"", "\"$\""},
    {"\"$$n\"", "\"$n\""},
    {"\"$$$n\"", "\"$1.50\""},
    {"\"$n$$\"", "\"1.50$\""},
    {"\"5 $$ and $n\"", "\"5 $ and 1.50\""},
    {"\"$n.x\"", "\"1.50.x\""},
    {"\"$n-x\"", "\"1.50-x\""},
    {"{\"a\":{\"b\":[\"$n\",{\"c\":\"is $n\"}]}}",
     "{\"a\":{\"b\":[1.50,{\"c\":\"is 1.50\"}]}}"},
    {"{\"$n\":\"$n\"}", "{\"$n\":1.50}"},
    {"\"\\u0000$n\"", "\"\\u00001.50\""},
    /* what has no value */
    {"\"$gone\"", "!$gone has no value"},
    {"\"a ${map.c.d}\"", "!${map.c.d} has no value"},
    {"\"${list[2]}\"", "!${list[2]} has no value"},
    /* what is no reference */
    {"\"$\"", "!a name must follow the '$'; $$ is a dollar"},
    {"\"costs $5\"", "!a name must follow the '$'; $$ is a dollar"},
    {"\"$-\"", "!a name must follow the '$'; $$ is a dollar"},
    {"\"${\"", "!a name must follow the '$'; $$ is a dollar"},
    {"\"${n\"", "!'}' is missing"},
    {"\"${n.}\"", "!a key must follow the '.'"},
    {"\"${n[}\"", "!a number must stand between [ and ]"},
    {"\"${n[-1]}\"", "!a number must stand between [ and ]"},
    {"\"${n[1}\"", "!']' is missing"},
    {"\"${n }\"", "!only .key and [number] may follow a name"},
};

static const struct {
    const char *from, *to;
} prompts[] = {
    {"\"$s\"", "a \"b\" \xc3\xa4\n"},
    {"\"Of $n: $list\"", "Of 1.50: [1,{\"k\":\"v\"}]"},
    {"\"\"", ""},
    {"\"\\\"$$\\\"\"", "\"$\""},
    {"\"$gone\"", "!$gone has no value"},
};

static void test_make(void)
{
    struct world w;
    struct buf b;

    for (size_t i = 0; i < tap_count(params); i++) {
        world_begin(&w, false);
        b = (struct buf){.mem = &w.mem};
        make(&w, params[i].from, false, &b);
        tap_is_str(buf_view(&b), params[i].to, "%s", params[i].from);
        buf_free(&b);
        arena_free(&w.arena);
    }
    for (size_t i = 0; i < tap_count(prompts); i++) {
        world_begin(&w, false);
        b = (struct buf){.mem = &w.mem};
        make(&w, prompts[i].from, true, &b);
        tap_is_str(buf_view(&b), prompts[i].to, "text of %s", prompts[i].from);
        buf_free(&b);
        arena_free(&w.arena);
    }
}

static void test_missing_null(void)
{
    struct world w;
    struct buf b = {.mem = &w.mem};

    world_begin(&w, true);
    make(&w, "[\"$gone\",\"<${list[7]}>\"]", false, &b);
    tap_is_str(buf_view(&b), "[null,\"<null>\"]", "missing_ref: null");
    buf_free(&b);
    arena_free(&w.arena);
}

static void test_limit(void)
{
    char long_value[1003];
    struct world w;
    struct buf b = {.mem = &w.mem};

    memset(long_value, '7', sizeof long_value);
    for (int len = 999; len <= 1001; len++) {
        world_begin(&w, false);
        w.values[0] = (wend_str){long_value, (size_t)len};
        make(&w, "\"$s\"", false, &b);
        tap_ok(len > 1000 ? b.ptr[0] == '!' : (int)b.len == len,
               "%d bytes, where 1000 are allowed", len);
        buf_free(&b);
        arena_free(&w.arena);
    }
}

/* Each reference walks along a long list. */
static void test_work(void)
{
    enum { LENGTH = 100000 };
    static const struct mem mem;
    struct buf list = {.mem = &mem}, text = {.mem = &mem}, out = {.mem = &mem};

    for (int i = 0; i < LENGTH; i++)
        buf_cstr(&list, i ? ",0" : "[0");
    buf_char(&list, ']');
    for (int over = 0; over < 2; over++) {
        struct world w;

        world_begin(&w, false);
        w.values[names_add(&w.names, STR("long"))] = buf_view(&list);
        buf_clear(&text);
        buf_clear(&out);
        buf_char(&text, '"');
        for (int i = 0; i < TEMPLATE_WORK_MAX / LENGTH + over; i++)
            buf_fmt(&text, "${long[%d]}", LENGTH - 1);
        buf_char(&text, '"');
        make(&w, text.ptr, true, &out);
        tap_ok(out.ptr && (strstr(out.ptr, "too much work") != NULL) == over,
               "%s as many values as may be passed",
               over ? "more than" : "about");
        arena_free(&w.arena);
    }
    buf_free(&list);
    buf_free(&text);
    buf_free(&out);
}

static void test_fault(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m, .chunk_min = 64};
        struct names names = {.arena = &a};
        wend_error err = {0};
        struct ref_reader r = {.arena = &a, .names = &names, .err = &err};
        wend_str values[3] = {STR("{\"k\":[1,2]}"), STR("\"Text\"")};
        const struct json *trees[3] = {0};
        struct scope scope = {.values = values, .trees = trees, .arena = &a};
        struct buf b = {.mem = &m};
        struct json *j =
            json_parse(STR("[\"${a.k[1]}\",\"<$a $b>\"]"), &a, &err);
        const struct template *t;
        wend_status s = j ? template_json(&r, j, &t) : err.status;

        if (!s)
            s = template_put(t, &scope, 1000, &b, &err);
        if (!s)
            bad += !str_is(buf_view(&b), "[2,\"<{\\\"k\\\":[1,2]} Text>\"]");
        buf_free(&b);
        arena_free(&a);
        bad += f.live != 0 || (s == WEND_OK) == f.hit;
    }
    tap_is_i64(bad, 0, "every allocation may fail (%d)", (int)f.fail_at);
}

int main(void)
{
    test_make();
    test_missing_null();
    test_limit();
    test_work();
    test_fault();
    return tap_done();
}
