/*
 * test_forged.c - a file may claim any id, time and parent for its runs: it
 * changes nothing about runs that were made here.
 *
 * The files are exported runs whose events were changed and whose chain of
 * hashes was made anew, as anyone can do.
 */
#include "base/id.h"
#include "lib/log/log_import.h"
#include "run_help.h"
#include "store_help.h"

#define SCRIPT "script:{\"turns\":[{\"text\":\"done\",\"repeat\":\"forever\"}]}"
#define FUTURE "ffffffff-ffff-7fff-bfff-ffffffffffff"
#define OTHER "01900000-0000-7000-8000-00000000000a"
#define PARENT "01900000-0000-7000-8000-00000000000b"

/* ---- A forger ------------------------------------------------------------ */

struct forgery {
    const char *id, *parent; /* NULL: as it was, none */
    const char *time;        /* of all events; NULL: as it was */
    bool other_prompt;       /* a log that is another one */
};

static bool keep(void *ctx, wend_str bytes)
{
    buf_str(ctx, bytes);
    return true;
}

/* `from` and what stands behind it, up to `end`, becomes `to`. */
static void replace(struct buf *text, const char *from, char end,
                    const char *to)
{
    struct buf out = {.mem = text->mem};
    const char *at = strstr(text->ptr, from); /* a buf ends with a NUL */

    if (!at)
        return;
    buf_add(&out, text->ptr, (size_t)(at - text->ptr));
    buf_cstr(&out, from);
    buf_cstr(&out, to);
    buf_cstr(&out, strchr(at + strlen(from), end));
    buf_free(text);
    *text = out;
}

/* Only run_start has a prompt. */
static void insert_parent(struct buf *text, const char *parent)
{
    char member[80];

    snprintf(member, sizeof member, "hello\",\"parent_run\":\"%s", parent);
    replace(text, "\"prompt\":\"", '"', member);
}

static void forge_event(const struct forgery *f, wend_str body, struct buf *out)
{
    buf_clear(out);
    buf_str(out, body);
    if (f->id)
        replace(out, "{\"run\":\"", '"', f->id);
    if (f->time)
        replace(out, "\"time\":", ',', f->time);
    if (f->parent)
        insert_parent(out, f->parent);
    if (f->other_prompt)
        replace(out, "\"prompt\":\"", '"', "another");
}

static void put_hash(struct buf *b, const struct chain *c)
{
    char hex[SHA256_HEX + 1];

    hex_text(hex, c->head, sizeof c->head);
    buf_cstr(b, hex);
}

/* The file with the claims in it, added to `out`. */
static void forge(wend_str file, const struct forgery *f, struct buf *out)
{
    struct chain chain = {0};
    struct buf body = {.mem = &rig_mem};
    wend_str line;
    struct log_line l;

    while (file.len) {
        const char *eol = memchr(file.ptr, '\n', file.len);

        line = (wend_str){file.ptr, (size_t)(eol - file.ptr)};
        file.len -= line.len + 1;
        file.ptr += line.len + 1;
        switch (log_line_read(line, &l)) {
        case LINE_EVENT:
            forge_event(f, l.item.body, &body);
            chain_event(&chain, buf_view(&body));
            buf_cstr(out, "{\"hash\":\"");
            put_hash(out, &chain);
            buf_cstr(out, "\",\"event\":");
            buf_str(out, buf_view(&body));
            buf_char(out, '}');
            break;
        case LINE_PACK:
            chain_pack(&chain, l.item.body);
            buf_str(out, line);
            break;
        case LINE_HEAD:
            buf_fmt(out, "{\"wend\":\"run/1\",\"run\":\"%.36s\"}",
                    f->id ? f->id : l.run.ptr);
            break;
        case LINE_END:
            buf_fmt(out, "{\"end\":\"%.36s\",\"seq\":%lld,\"head\":\"",
                    f->id ? f->id : l.run.ptr, (long long)l.seq);
            put_hash(out, &chain);
            buf_cstr(out, "\"}");
            break;
        case LINE_BLOB:
        case LINE_BAD: buf_str(out, line);
        }
        buf_char(out, '\n');
    }
    buf_free(&body);
}

/* ---- A store with runs of its own ---------------------------------------- */

static void run_one(struct rig *r, char id[RUN_ID_LEN + 1])
{
    wend_run *run = rig_start(r, NULL);

    if (read_all(run, NULL, NULL) != WEND_END)
        tap_ok(false, "a run of our own");
    snprintf(id, RUN_ID_LEN + 1, "%s", wend_run_id(run));
    wend_run_free(run);
}

static wend_status take(struct rig *r, const struct buf *file)
{
    return wend_store_import(r->store, buf_view(file), NULL, NULL, &r->err);
}

/* The runs that are listed, newest first: 1, 2 ours; f the forged one. */
static const char *listed(struct rig *r, char ours[][RUN_ID_LEN + 1],
                          const char *forged)
{
    static char text[16];
    const wend_run_info *info;
    wend_runs *list = NULL;
    size_t len = 0;

    wend_store_list(r->store, NULL, &list, NULL);
    while (len < sizeof text - 1 && wend_runs_next(list, &info) == WEND_OK)
        text[len++] = str_is(info->run, ours[0])   ? '1'
                      : str_is(info->run, ours[1]) ? '2'
                      : str_is(info->run, forged)  ? 'f'
                                                   : '?';
    text[len] = 0;
    wend_runs_free(list);
    return text;
}

/* ---- Ids and times ------------------------------------------------------- */

static const struct {
    const char *name;
    struct forgery f;
    wend_status s;
} claims[] = {
    {"an id of the future", {.id = FUTURE}, WEND_OK},
    {"an id of the past", {.id = OTHER}, WEND_OK},
    {"a time of the future", {.id = OTHER, .time = "9000000000.0"}, WEND_OK},
    {"the last time there is",
     {.id = OTHER, .time = "9223372036.854775"},
     WEND_OK},
    {"no time", {.id = OTHER, .time = "0.0"}, WEND_E_CORRUPT},
    {"the first time there is", {.id = OTHER, .time = "0.000001"}, WEND_OK},
    {"a time before that",
     {.id = OTHER, .time = "-1794795766.5"},
     WEND_E_CORRUPT},
    {"a time beyond all",
     {.id = OTHER, .time = "9223372037.0"},
     WEND_E_CORRUPT},
    {"a time with an exponent", {.id = OTHER, .time = "1e300"}, WEND_E_CORRUPT},
};

static void ids_and_times(const char *url, wend_str file)
{
    for (size_t i = 0; i < tap_count(claims); i++) {
        struct buf forged = {.mem = &rig_mem};
        char ours[2][RUN_ID_LEN + 1] = {{0}};
        struct rig r = {0};
        wend_status s;

        rig_open(&r, url, SCRIPT);
        run_one(&r, ours[0]);
        forge(file, &claims[i].f, &forged);
        s = take(&r, &forged);
        run_one(&r, ours[1]);
        tap_is_i64(s, claims[i].s, "%.7s %s: import", url, claims[i].name);
        tap_is_str(str_of(listed(&r, ours, claims[i].f.id)),
                   s == WEND_OK ? "2f1" : "21",
                   "%.7s %s: listed in the order in which they came", url,
                   claims[i].name);
        for (int k = 0; k < 2; k++)
            wend_store_remove(r.store, ours[k], NULL);
        wend_store_remove(r.store, claims[i].f.id, NULL);
        tap_is_str(str_of(listed(&r, ours, claims[i].f.id)), "",
                   "%.7s %s: all can go", url, claims[i].name);
        rig_close(&r);
        buf_free(&forged);
    }
}

/* ---- Runs that are there ------------------------------------------------- */

static void same_id(const char *url, wend_str file)
{
    struct buf forged = {.mem = &rig_mem};
    char ours[2][RUN_ID_LEN + 1] = {{0}};
    struct rig r = {0};
    wend_verdict v = {.size = sizeof v};
    wend_run *live;
    const wend_event *ev;

    rig_open(&r, url, SCRIPT);
    run_one(&r, ours[0]);
    forge(file, &(struct forgery){.id = ours[0], .other_prompt = true},
          &forged);
    tap_is_i64(take(&r, &forged), WEND_E_EXISTS, "%.7s the id of a run", url);
    live = rig_start(&r, NULL);
    wend_run_next(live, &ev);
    buf_clear(&forged);
    forge(file, &(struct forgery){.id = wend_run_id(live)}, &forged);
    tap_is_i64(take(&r, &forged), WEND_E_EXISTS,
               "%.7s the id of a run that is under way", url);
    tap_is_i64(read_all(live, NULL, NULL), WEND_END,
               "%.7s it goes on to its end", url);
    wend_store_verify(r.store, wend_run_id(live), NULL, &v, NULL);
    tap_is_i64(v.bad_seq, 0, "%.7s and is whole", url);
    wend_run_free(live);
    rig_close(&r);
    buf_free(&forged);
}

/* ---- Parents ------------------------------------------------------------- */

static int64_t prune_all(struct rig *r)
{
    wend_prune_options o = {.size = sizeof o, .ended_before_us = INT64_MAX};
    wend_pruned done = {.size = sizeof done};

    wend_store_prune(r->store, &o, &done, NULL);
    return done.runs;
}

/* Who else is in the file before the run that names a parent. */
enum before { ALONE, COPY_OF_OURS, ITS_PARENT };

static void parent(const char *url, wend_str file, enum before before,
                   const char *name)
{
    struct buf forged = {.mem = &rig_mem};
    char ours[2][RUN_ID_LEN + 1] = {{0}};
    struct forgery f = {.id = FUTURE, .time = "9000000000.0"};
    bool honest = before == ITS_PARENT;
    struct rig r = {0};
    wend_status s;

    rig_open(&r, url, SCRIPT);
    run_one(&r, ours[0]);
    f.parent = honest ? PARENT : ours[0];
    if (before == COPY_OF_OURS)
        wend_store_export(r.store, ours[0], 0, keep, &forged, NULL);
    if (honest)
        forge(file, &(struct forgery){.id = PARENT}, &forged);
    forge(file, &f, &forged);
    tap_is_i64(take(&r, &forged), WEND_OK, "%.7s %s: import", url, name);
    s = wend_store_remove(r.store, honest ? PARENT : ours[0], NULL);
    tap_is_i64(s, honest ? WEND_E_BUSY : WEND_OK,
               "%.7s %s: whether the parent can be removed", url, name);
    tap_is_i64(prune_all(&r), 2 + honest - !honest, "%.7s %s: all are pruned",
               url, name);
    rig_close(&r);
    buf_free(&forged);
}

/* A parent that came with another file. */
static void other_file(const char *url, wend_str file)
{
    struct buf forged = {.mem = &rig_mem};
    struct forgery f = {.id = FUTURE, .parent = OTHER};
    struct rig r = {0};

    rig_open(&r, url, SCRIPT);
    forge(file, &(struct forgery){.id = OTHER}, &forged);
    take(&r, &forged);
    buf_clear(&forged);
    forge(file, &f, &forged);
    take(&r, &forged);
    tap_is_i64(wend_store_remove(r.store, OTHER, NULL), WEND_OK,
               "%.7s a parent of another file can be removed", url);
    rig_close(&r);
    buf_free(&forged);
}

int main(void)
{
    static const char *const parents[] = {
        [ALONE] = "a run of ours as parent",
        [COPY_OF_OURS] = "a run of ours as parent, in the file, too",
        [ITS_PARENT] = "control: a parent in the file",
    };
    struct buf file = {.mem = &rig_mem};
    char *dir = dir_make(), sqlite[128], id[RUN_ID_LEN + 1];
    const char *const urls[] = {"memory:", sqlite};
    struct rig r = {0};

    snprintf(sqlite, sizeof sqlite, "sqlite:%s/wend.db", dir);
    rig_open(&r, "memory:", SCRIPT);
    run_one(&r, id);
    wend_store_export(r.store, id, 0, keep, &file, &r.err);
    rig_close(&r);
    for (int i = 0; i < 2; i++) {
        ids_and_times(urls[i], buf_view(&file));
        for (int k = ALONE; k <= ITS_PARENT; k++)
            parent(urls[i], buf_view(&file), (enum before)k, parents[k]);
        other_file(urls[i], buf_view(&file));
        same_id(urls[i], buf_view(&file));
    }
    dir_remove(dir);
    buf_free(&file);
    return tap_done();
}
