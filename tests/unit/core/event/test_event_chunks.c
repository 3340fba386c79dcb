/*
 * test_event_chunks.c - long lists: what of them is in blobs, what lists with
 * the same beginning share, and what a reader refuses.
 */
#include "event_help.h"

/* Characters that a cut could take for the end of an item. */
#define TRAPS "],[{\\\"}\\\\"

/* A list of `count` items of about `bytes` each. */
static wend_str list_of(struct arena *a, int count, size_t bytes)
{
    struct buf b = {.mem = &plain};
    char *text = long_text(bytes | 1);

    json_open(&b, NULL, '[');
    for (int i = 0; i < count; i++) {
        json_open(&b, NULL, '{');
        json_add_i64(&b, "i", i);
        json_add_str(&b, "text", (wend_str){text, bytes | 1});
        json_add_raw(&b, "more", STR("[{\"" TRAPS "\":[\"" TRAPS "\"]},[]]"));
        json_close(&b, '}');
    }
    json_close(&b, ']');
    free(text);
    return buf_keep(&b, a);
}

struct written {
    struct arena arena;
    struct blob_store store;
    struct buf line;
    wend_str list;
};

static void write_list(struct written *w, int count, size_t bytes)
{
    wend_event ev = event_of(WEND_RUN_START, false);

    *w = (struct written){.arena = {.mem = &plain}, .line = {.mem = &plain}};
    w->store.kept.arena = &w->arena;
    w->list = list_of(&w->arena, count, bytes);
    ev.u.run_start.messages_json = w->list;
    event_write(&w->line, &ev, &w->store.kept);
}

static void written_free(struct written *w)
{
    buf_free(&w->line);
    arena_free(&w->arena);
}

static wend_status read_list(struct written *w, wend_str *out, wend_error *err)
{
    wend_event ev;
    wend_status s = event_read(buf_view(&w->line), &w->arena, blob_get,
                               &w->store, &ev, err);

    *out = ev.u.run_start.messages_json;
    return s;
}

static void test_sizes(void)
{
    static const struct {
        const char *name;
        int count;
        size_t bytes, blobs;
    } rows[] = {
        {"none", 0, 0, 0},
        {"one short item", 1, 10, 0},
        {"items of 15 KB together", 15, 930, 0},
        {"items of 60 KB together", 60, 930, 3},
        {"one long item", 1, 20000, 1},
        {"long items", 5, 20000, 5},
        {"an item that no event has room for", 3, 300000, 3},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct written w;
        wend_str back;

        write_list(&w, rows[i].count, rows[i].bytes);
        tap_is_i64((int64_t)w.store.kept.count, (int64_t)rows[i].blobs,
                   "%s: blobs", rows[i].name);
        tap_ok(w.line.len < 2 * CHUNK_BYTES, "%s: a short line", rows[i].name);
        tap_ok(read_list(&w, &back, NULL) == WEND_OK && str_eq(back, w.list),
               "%s: reads back whole", rows[i].name);
        written_free(&w);
    }
}

/* Each blob of a list is also one of the list that is longer. */
static void test_shared(void)
{
    struct written all, w;
    int lost = 0;

    write_list(&all, 200, 900);
    for (int count = 0; count < 200; count += 7) {
        write_list(&w, count, 900);
        for (struct event_blob *b = w.store.kept.first; b; b = b->next) {
            wend_str text;

            lost += blob_get(&all.store, str_of(b->hash), &w.arena, &text) !=
                    WEND_OK;
        }
        written_free(&w);
    }
    tap_is_i64(lost, 0, "lists with the same beginning share their blobs");
    written_free(&all);
}

/* ---- What a reader gets -------------------------------------------------- */

#define START HEAD("1", "run_start") ",\"data\":{\"messages\":"
#define REF(hash) "{\"blob\":\"" hash "\",\"bytes\":1}"

/* Blobs by name. */
static wend_status named(void *ctx, wend_str hash, struct arena *a,
                         wend_str *text)
{
    static const char *const blobs[][2] = {
        {"two", "[ 1, {\"a\":2} ]"},   {"empty", "[]"},
        {"string", "\"no list\""},     {"broken", "[1,"},
        {"outer", "[" REF("two") "]"}, {"nothing", ""},
        {"object", "{\"first\":[]}"},
    };

    (void)ctx;
    (void)a;
    for (size_t i = 0; i < tap_count(blobs); i++)
        if (str_is(hash, blobs[i][0])) {
            *text = str_of(blobs[i][1]);
            return WEND_OK;
        }
    return WEND_E_NOTFOUND;
}

static void test_read(void)
{
    static const struct {
        const char *name, *line;
        wend_status status;
        const char *wanted; /* the list, or what is said */
    } rows[] = {
        {"a chunk and items", START "[" REF("two") ",{\"b\":3}]}}", WEND_OK,
         "[1,{\"a\":2},{\"b\":3}]"},
        {"chunks alone", START "[" REF("two") "," REF("two") "]}}", WEND_OK,
         "[1,{\"a\":2},1,{\"a\":2}]"},
        {"an empty chunk", START "[" REF("empty") ",4]}}", WEND_OK, "[4]"},
        {"the whole list as one blob, as older versions wrote it",
         START REF("two") "}}", WEND_OK, "[ 1, {\"a\":2} ]"},
        {"a missing chunk", START "[" REF("gone") "]}}", WEND_E_NOTFOUND,
         "blob gone cannot be read"},
        {"a string", START "[" REF("string") "]}}", WEND_E_CORRUPT,
         "blob string is not a list of messages"},
        {"an object", START "[" REF("object") "]}}", WEND_E_CORRUPT,
         "blob object is not a list of messages"},
        {"no JSON", START "[1," REF("broken") "]}}", WEND_E_CORRUPT,
         "blob broken is not a list of messages"},
        {"nothing", START "[" REF("nothing") "]}}", WEND_E_CORRUPT,
         "blob nothing is not a list of messages"},
        {"a chunk in a chunk", START "[" REF("outer") "]}}", WEND_E_CORRUPT,
         "blob outer is not a list of messages"},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &plain};
        wend_event ev;
        wend_error err = {0};
        wend_status s =
            event_read(str_of(rows[i].line), &a, named, NULL, &ev, &err);

        tap_ok(s == rows[i].status, "%s: status", rows[i].name);
        if (s == WEND_OK)
            tap_is_str(ev.u.run_start.messages_json, rows[i].wanted, "%s",
                       rows[i].name);
        else
            tap_ok(strstr(err.message, rows[i].wanted), "%s: %s", rows[i].name,
                   err.message);
        arena_free(&a);
    }
}

/* 16 MB of items, whatever is asked for. */
static wend_status huge(void *ctx, wend_str hash, struct arena *a,
                        wend_str *text)
{
    (void)hash;
    (void)a;
    *text = *(const wend_str *)ctx;
    return WEND_OK;
}

static void test_bomb(void)
{
    struct arena a = {.mem = &plain};
    struct buf line = {.mem = &plain}, blob = {.mem = &plain};
    wend_error err = {0};
    wend_event ev;
    wend_str text;

    buf_cstr(&blob, "[\"");
    for (int i = 0; i < 1 << 20; i++)
        buf_cstr(&blob, "0123456789abcdef");
    buf_cstr(&blob, "\"]");
    text = buf_view(&blob);
    buf_cstr(&line, START "[" REF("x"));
    for (int i = 0; i < 1000; i++)
        buf_cstr(&line, "," REF("x"));
    buf_cstr(&line, "]}}");
    tap_ok(event_read(buf_view(&line), &a, huge, &text, &ev, &err) ==
                   WEND_E_CORRUPT &&
               strstr(err.message, "makes the list too long"),
           "one blob a thousand times is refused");
    buf_free(&line);
    buf_free(&blob);
    arena_free(&a);
}

/* ---- Out of memory ------------------------------------------------------- */

static void test_faults(void)
{
    wend_event ev = event_of(WEND_RUN_START, false);
    struct fault f = {0};
    struct written w;
    int bad = 0;

    write_list(&w, 60, 930);
    ev.u.run_start.messages_json = w.list;
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        struct event_blobs blobs = {.arena = &a};
        struct buf b = {.mem = &m};

        event_write(&b, &ev, &blobs);
        bad += b.failed != f.hit;
        buf_free(&b);
        arena_free(&a);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "event_write survives each failing allocation");
    f = (struct fault){0};
    bad = 0;
    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        wend_event back;
        wend_status s =
            event_read(buf_view(&w.line), &a, blob_get, &w.store, &back, NULL);

        bad += s != (f.hit ? WEND_E_NOMEM : WEND_OK);
        arena_free(&a);
        bad += f.live != 0;
    }
    tap_is_i64(bad, 0, "event_read survives each failing allocation");
    written_free(&w);
}

int main(void)
{
    test_sizes();
    test_shared();
    test_read();
    test_bomb();
    test_faults();
    return tap_done();
}
