/*
 * test_log_move.c - runs checked, exported and imported, on every engine.
 */
#include "base/id.h"
#include "fault.h"
#include "run_help.h"
#include "store_help.h"

#define SCRIPT                                                 \
    "script:{\"turns\":[{\"text\":\"let me see\",\"calls\":[{" \
    "\"name\":\"echo\",\"args\":{\"a\":1}}]},{\"text\":\"done\"}]}"
#define PARENT                                                     \
    "script:{\"turns\":[{\"calls\":[{\"name\":\"task\",\"args\":{" \
    "\"agent\":\"kid\",\"prompt\":\"do\"}}]},{\"text\":\"done\"}]}"
#define NOBODY "01900000-0000-7000-8000-00000000000a"

/* ---- One run, and where it goes ------------------------------------------ */

static bool keep(void *ctx, wend_str bytes)
{
    buf_str(ctx, bytes);
    return true;
}

static bool refuse(void *ctx, wend_str bytes)
{
    (void)ctx;
    (void)bytes;
    return false;
}

/* A run in a store of that kind, as a file. */
static void make_file(const char *url, struct buf *file, char *id)
{
    struct rig r = {0};
    wend_verdict v = {.size = sizeof v};
    struct store_state state;
    wend_error err = {0};
    wend_run *run;
    char head[SHA256_HEX + 1];

    if (!rig_open(&r, url, SCRIPT) || !(run = rig_start(&r, NULL)))
        return;
    tap_ok(read_all(run, NULL, NULL) == WEND_END, "%.7s a run", url);
    snprintf(id, RUN_ID_LEN + 1, "%s", wend_run_id(run));
    wend_run_free(run);
    tap_ok(wend_store_verify(r.store, id, NULL, &v, &err) == WEND_OK &&
               !v.bad_seq,
           "%.7s it is as it was written: %s%s", url, err.message, v.why);
    tap_ok(r.store->ops->state(r.store, str_of(id), &state, NULL) == WEND_OK &&
               state.seq == v.seq && state.epoch == 1 && state.ended_us > 0,
           "%.7s state: its seq, epoch and end", url);
    hex_text(head, state.head, SHA256_BYTES);
    tap_is_str(head, (const char *)v.head, "%.7s state: its head", url);
    tap_ok(wend_store_check(r.store, &err) == WEND_OK, "%.7s check: %s", url,
           err.message);
    tap_ok(wend_store_export(r.store, id, 0, keep, file, &err) == WEND_OK,
           "%.7s export: %s", url, err.message);
    tap_ok(wend_store_export(r.store, id, 0, refuse, NULL, &err) == WEND_E_IO,
           "%.7s export to nobody", url);
    tap_ok(r.store->ops->state(r.store, STR(NOBODY), &state, &err) ==
                   WEND_E_NOTFOUND &&
               wend_store_verify(r.store, NOBODY, NULL, &v, &err) ==
                   WEND_E_NOTFOUND &&
               wend_store_export(r.store, NOBODY, 0, keep, file, &err) ==
                   WEND_E_NOTFOUND,
           "%.7s a run that is not there", url);
    rig_close(&r);
}

static void note_new(void *ctx, const char *run, int64_t events)
{
    (void)run;
    *(int64_t *)ctx += events;
}

static void take_file(const char *url, wend_str file, const char *id)
{
    struct buf again = {.mem = &rig_mem};
    wend_verdict v = {.size = sizeof v};
    wend_store *store = NULL;
    wend_error err = {0};
    int64_t fresh = 0;

    wend_store_open(url, &store, NULL);
    tap_ok(wend_store_import(store, file, note_new, &fresh, &err) == WEND_OK,
           "%.7s import: %s", url, err.message);
    tap_ok(wend_store_verify(store, id, NULL, &v, &err) == WEND_OK &&
               !v.bad_seq && v.seq == fresh,
           "%.7s import: as it was written %s%s", url, err.message, v.why);
    wend_store_export(store, id, 0, keep, &again, &err);
    tap_is_str(buf_view(&again), file, "%.7s import: the same file", url);
    tap_ok(wend_store_import(store, file, note_new, &fresh, &err) == WEND_OK &&
               fresh == v.seq,
           "%.7s import: a second time nothing is new", url);
    tap_is_str(listed_status(store, id), "ok", "%.7s import: its status", url);
    buf_free(&again);
    wend_store_free(store);
}

/* ---- A run and the one that it started ----------------------------------- */

static bool add_kid(struct rig *r)
{
    wend_agent_options o = {
        .size = sizeof o, .model = SCRIPT, .approve = WEND_APPROVE_ALL};
    wend_child_options k = {.size = sizeof k, .name = "kid"};
    struct rig inner = *r;
    bool good = wend_agent_new(r->rt, &o, &inner.agent, &r->err) == WEND_OK;

    k.agent = inner.agent;
    if (good)
        rig_add(&inner, "echo", tool_echo, WEND_CLASS_READ, NULL);
    good = good && wend_agent_add_agent(r->agent, &k, &r->err) == WEND_OK &&
           wend_agent_add_builtin(r->agent, "task", &r->err) == WEND_OK;
    wend_agent_free(inner.agent);
    return good;
}

static void make_family(struct buf *file, char *id)
{
    struct rig r = {.agent_options.approve = WEND_APPROVE_ALL};
    wend_error err = {0};
    wend_run *run;

    if (!rig_open(&r, "memory:", PARENT) || !tap_ok(add_kid(&r), "a family") ||
        !(run = rig_start(&r, NULL)))
        return;
    tap_ok(read_all(run, NULL, NULL) == WEND_END, "a family: it ends");
    snprintf(id, RUN_ID_LEN + 1, "%s", wend_run_id(run));
    wend_run_free(run);
    tap_ok(wend_store_export(r.store, id, 0, keep, file, &err) == WEND_OK,
           "a family: export: %s", err.message);
    rig_close(&r);
}

struct seen {
    int64_t runs, fresh;
    char last[RUN_ID_LEN + 1];
};

static void note_run(void *ctx, const char *run, int64_t events)
{
    struct seen *seen = ctx;

    seen->runs++;
    seen->fresh += events;
    snprintf(seen->last, sizeof seen->last, "%s", run);
}

static void take_family(const char *url, wend_str file, const char *id)
{
    struct buf again = {.mem = &rig_mem}, part = {.mem = &rig_mem};
    wend_verdict v = {.size = sizeof v}, kid = {.size = sizeof kid};
    struct seen seen = {0};
    wend_store *store = NULL;
    wend_error err = {0};

    wend_store_open(url, &store, NULL);
    tap_ok(wend_store_import(store, file, note_run, &seen, &err) == WEND_OK &&
               seen.runs == 2 && strcmp(seen.last, id) != 0,
           "%.7s family: parent and child: %s", url, err.message);
    tap_ok(wend_store_verify(store, id, NULL, &v, &err) == WEND_OK &&
               wend_store_verify(store, seen.last, NULL, &kid, &err) ==
                   WEND_OK &&
               !v.bad_seq && !kid.bad_seq && seen.fresh == v.seq + kid.seq,
           "%.7s family: both as they were written %s%s%s", url, err.message,
           v.why, kid.why);
    wend_store_export(store, id, 0, keep, &again, &err);
    tap_is_str(buf_view(&again), file, "%.7s family: the same file", url);
    wend_store_export(store, id, v.seq, keep, &part, &err);
    tap_ok(part.len && part.len < file.len &&
               !memcmp(part.ptr, file.ptr, part.len),
           "%.7s family: up to an event it is the run alone", url);
    buf_free(&again);
    buf_free(&part);
    wend_store_free(store);
}

/* ---- Borders ------------------------------------------------------------- */

static void misuse(void)
{
    wend_verdict v = {.size = sizeof v}, unset = {0};
    wend_store *s = NULL;

    wend_store_open("memory:", &s, NULL);
    tap_ok(wend_store_verify(s, "last", NULL, &v, NULL) == WEND_E_INVAL &&
               wend_store_verify(s, NULL, NULL, &v, NULL) == WEND_E_INVAL &&
               wend_store_verify(s, NOBODY, NULL, &unset, NULL) ==
                   WEND_E_INVAL &&
               wend_store_verify(NULL, NOBODY, NULL, &v, NULL) == WEND_E_INVAL,
           "verify: arguments are checked");
    tap_ok(wend_store_export(s, "x", 0, keep, NULL, NULL) == WEND_E_INVAL &&
               wend_store_export(s, NOBODY, -1, keep, NULL, NULL) ==
                   WEND_E_INVAL &&
               wend_store_export(s, NOBODY, 0, NULL, NULL, NULL) ==
                   WEND_E_INVAL,
           "export: arguments are checked");
    tap_ok(wend_store_import(s, STR_NONE, NULL, NULL, NULL) == WEND_E_INVAL &&
               wend_store_import(NULL, STR("x"), NULL, NULL, NULL) ==
                   WEND_E_INVAL &&
               wend_store_check(NULL, NULL) == WEND_E_INVAL,
           "import and check: arguments are checked");
    wend_store_free(s);
}

/* An older host knows a shorter verdict: what is behind it stays. */
static void short_verdict(wend_str file, const char *id)
{
    wend_verdict v;
    wend_store *s = NULL;

    wend_store_open("memory:", &s, NULL);
    wend_store_import(s, file, NULL, NULL, NULL);
    memset(&v, 0x55, sizeof v);
    v.size = offsetof(wend_verdict, why);
    tap_ok(wend_store_verify(s, id, NULL, &v, NULL) == WEND_OK && !v.bad_seq &&
               v.size == offsetof(wend_verdict, why) && v.why[0] == 0x55,
           "a verdict of an older host");
    wend_store_free(s);
}

static void out_of_memory(wend_str file, const char *id)
{
    struct fault f = {0};
    int64_t bad = 0;

    while (fault_next(&f)) {
        struct buf again = {.mem = &rig_mem};
        wend_verdict v = {.size = sizeof v};
        wend_store *s = NULL;
        wend_status in, check, out;

        store_memory_open(&s, NULL);
        s->mem = fault_mem(&f);
        in = wend_store_import(s, file, NULL, NULL, NULL);
        check = in == WEND_OK ? wend_store_verify(s, id, NULL, &v, NULL) : in;
        out = check == WEND_OK ? wend_store_export(s, id, 0, keep, &again, NULL)
                               : check;
        bad += out != WEND_OK && out != WEND_E_NOMEM;
        bad += f.hit == (out == WEND_OK) || (out == WEND_OK && v.bad_seq);
        buf_free(&again);
        wend_store_free(s);
        bad += f.live != -1; /* the store itself came from elsewhere */
    }
    tap_is_i64(bad, 0, "every failed allocation is reported");
}

int main(void)
{
    char *dir = dir_make(), url[128], id[RUN_ID_LEN + 1] = "";
    struct buf file = {.mem = &rig_mem};
    static const char *const kinds[] = {"memory:", "sqlite:"};

    for (size_t i = 0; i < tap_count(kinds); i++) {
        buf_clear(&file);
        snprintf(url, sizeof url, "sqlite:%s/from.db", dir);
        make_file(i ? url : kinds[i], &file, id);
        for (size_t k = 0; k < tap_count(kinds); k++) {
            snprintf(url, sizeof url, "sqlite:%s/to%d.db", dir, (int)i);
            take_file(k ? url : kinds[k], buf_view(&file), id);
        }
    }
    misuse();
    short_verdict(buf_view(&file), id);
    buf_clear(&file);
    make_family(&file, id);
    take_family("memory:", buf_view(&file), id);
    snprintf(url, sizeof url, "sqlite:%s/family.db", dir);
    take_family(url, buf_view(&file), id);
    out_of_memory(buf_view(&file), id);
    buf_free(&file);
    dir_remove(dir);
    return tap_done();
}
