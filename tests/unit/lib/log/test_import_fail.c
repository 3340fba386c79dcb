/*
 * test_import_fail.c - an import that fails half way: each read of the file
 * fails once, and no run stays behind with an owner.
 */
#include "run_help.h"

#define SCRIPT                                                           \
    "script:{\"turns\":[{\"text\":\"hm\",\"calls\":[{\"name\":\"echo\"," \
    "\"args\":{}}]},{\"text\":\"hello\"}]}"

enum { FIRST_EVENTS = 4 };

struct file {
    wend_str text;
    int64_t reads, fails_at; /* 0: none */
};

static int64_t read_file(void *ctx, int64_t at, char *to, size_t size)
{
    struct file *f = ctx;
    size_t left = at < (int64_t)f->text.len ? f->text.len - (size_t)at : 0;

    if (++f->reads == f->fails_at)
        return -1;
    if (size > 200) /* many reads, so that many places fail */
        size = 200;
    if (left < size)
        size = left;
    memcpy(to, f->text.ptr + at, size);
    return (int64_t)size;
}

static bool put_bytes(void *ctx, wend_str bytes)
{
    buf_str(ctx, bytes);
    return true;
}

/* A run that is over, whole and its beginning. */
static bool make_files(struct buf *whole, struct buf *part, char id[40])
{
    struct rig r = {0};
    wend_str text;
    wend_run *run;
    bool ok;

    if (!rig_open(&r, "memory:", SCRIPT))
        return false;
    run = rig_start(&r, NULL);
    wend_run_wait(run, &text);
    snprintf(id, 40, "%s", wend_run_id(run));
    ok = wend_store_export(r.store, id, 0, put_bytes, whole, &r.err) ==
             WEND_OK &&
         wend_store_export(r.store, id, FIRST_EVENTS, put_bytes, part,
                           &r.err) == WEND_OK;
    wend_run_free(run);
    rig_close(&r);
    return ok;
}

static const char *status_of(wend_store *s, const char *id, char out[32])
{
    wend_list_options o = {.size = sizeof o, .run = id};
    const wend_run_info *i = NULL;
    wend_runs *runs = NULL;

    snprintf(out, 32, "absent");
    wend_store_list(s, &o, &runs, NULL);
    if (runs && wend_runs_next(runs, &i) == WEND_OK)
        snprintf(out, 32, "%.*s", (int)i->status.len, i->status.ptr);
    wend_runs_free(runs);
    return out;
}

/* What the store says after an import whose n-th read failed. */
static bool is_let_go(wend_store *s, const char *id, bool there)
{
    wend_verdict v = {.size = sizeof v};
    char status[32];

    status_of(s, id, status);
    if (!strcmp(status, "absent"))
        return !there;
    /* "ok": the read behind its last line failed. */
    return (!strcmp(status, "interrupted") || !strcmp(status, "ok")) &&
           wend_store_verify(s, id, NULL, &v, NULL) == WEND_OK && !v.bad_seq;
}

static void test_reads(const char *url, const struct buf *whole,
                       const struct buf *part, const char *id)
{
    int64_t fails_at = 0;
    int kept = 0, failed = 0;
    wend_status s;

    do {
        struct file f = {.text = buf_view(whole), .fails_at = ++fails_at};
        wend_store *store = NULL;

        if (wend_store_open(url, &store, NULL) != WEND_OK ||
            (part && wend_store_import(store, buf_view(part), NULL, NULL,
                                       NULL) != WEND_OK)) {
            tap_ok(false, "%s: a store with the beginning of a run", url);
            return;
        }
        s = wend_store_import_from(store, read_file, &f, NULL, NULL, NULL);
        if (s != WEND_OK) {
            failed++;
            kept += !is_let_go(store, id, part != NULL);
        }
        wend_store_free(store);
        if (strcmp(url, "memory:") != 0)
            unlink(url);
    } while (s != WEND_OK);
    tap_ok(failed > 10 && !kept,
           "%s, %s: %d imports failed, %d have left a run with an owner", url,
           part ? "the beginning is there" : "a new run", failed, kept);
}

int main(void)
{
    struct buf whole = {.mem = &rig_mem}, part = {.mem = &rig_mem};
    char path[64], id[40];

    snprintf(path, sizeof path, "%s/import_fail.db", getenv("TMPDIR"));
    if (tap_ok(make_files(&whole, &part, id), "a run in a file")) {
        test_reads("memory:", &whole, NULL, id);
        test_reads("memory:", &whole, &part, id);
        test_reads(path, &whole, NULL, id);
        test_reads(path, &whole, &part, id);
    }
    buf_free(&whole);
    buf_free(&part);
    return tap_done();
}
