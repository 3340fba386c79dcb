/*
 * test_tamper.c - whatever is changed in a stored run is found, at every
 * event, every pack of deltas and every blob, and the first bad event named.
 *
 * The store has runs of all kinds. For each change it is written anew, the
 * change is made by SQL, and the run verified. Each change is made at one of
 * three places, or of TAMPER_EACH.
 */
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/id.h"
#include "run_help.h"
#include "store_help.h"

enum { RUNS = 5, BIG_BYTES = 300 << 10, TYPES_MIN = 20, FORK_AT = 14 };

#define CALL(name) "{\"name\":\"" name "\",\"args\":{\"a\":1}}"
#define CALLS(one, other) CALL(one) "," CALL(other)

static char path[128];
static char *whole; /* the file that nobody touched */
static size_t whole_len;

/* ---- The runs ------------------------------------------------------------ */

static wend_status tool_big(void *ctx, wend_call *call)
{
    static char text[BIG_BYTES];
    long *calls = ctx;

    memset(text, 'a' + (int)((*calls)++ % 26), sizeof text);
    return wend_call_return(call, (wend_str){text, sizeof text});
}

/* Reads to the end, or to the first event of a type; answers questions. */
static void follow(wend_run *run, wend_event_type until)
{
    const wend_event *ev;
    bool said = false;

    while (run && wend_run_next(run, &ev) == WEND_OK) {
        if (ev->type == until)
            return;
        if (ev->type == WEND_APPROVAL_ASK)
            wend_run_approve(run, ev->u.approval_ask.call, true, "me");
        if (ev->type == WEND_CALL_START && !said) {
            said = true;
            wend_run_say(run, STR("and?"));
            wend_run_pause(run);
            wend_run_continue(run);
        }
    }
}

/* And a fork of it. */
static void make_turns(struct rig *r)
{
    wend_run *run = rig_start(r, NULL), *fork = NULL;
    wend_fork_options o = {.size = sizeof o, .at = FORK_AT};

    follow(run, WEND_EVENT_TYPES);
    tap_ok(wend_run_fork(r->agent, wend_run_id(run), &o, NULL, &fork,
                         &r->err) == WEND_OK,
           "a fork");
    follow(fork, WEND_EVENT_TYPES);
    wend_run_free(run);
    wend_run_free(fork);
}

static void make_canceled(struct rig *r)
{
    wend_run *run = rig_start(r, NULL);

    follow(run, WEND_CALL_START);
    wend_run_cancel(run);
    follow(run, WEND_EVENT_TYPES);
    wend_run_free(run);
}

static void make_resumed(struct rig *r)
{
    wend_run *run = rig_start(r, NULL);
    char id[RUN_ID_LEN + 1];

    follow(run, WEND_TEXT_DELTA);
    snprintf(id, sizeof id, "%s", wend_run_id(run));
    wend_run_free(run);
    run = NULL;
    tap_ok(wend_run_resume(r->agent, id, NULL, &run, &r->err) == WEND_OK,
           "a run that is resumed");
    follow(run, WEND_EVENT_TYPES);
    wend_run_free(run);
}

static void make_plan(struct rig *r)
{
    wend_str text = STR("wend: plan/1\nname: p\nactions:\n"
                        "  - {name: a, type: tool, target: echo}\n"
                        "  - {name: b, type: tool, target: broken,"
                        " depends_on: [a]}\n");
    wend_plan *plan = NULL;
    wend_run *run = NULL;

    tap_ok(wend_plan_parse(text, NULL, &plan, &r->err) == WEND_OK &&
               wend_run_start_plan(r->agent, plan, NULL, NULL, &run, &r->err) ==
                   WEND_OK,
           "a plan");
    follow(run, WEND_EVENT_TYPES);
    wend_run_free(run);
    wend_plan_free(plan);
}

static void make_store(void)
{
    static const char script[] =
        "script:{\"turns\":[{\"thinking\":\"hm\",\"text\":\"let me see\","
        "\"chunk\":3,\"calls\":[" CALLS(
            "echo",
            "broken") "]},"
                      "{\"text\":\"more\",\"calls\":[" CALLS(
                          "write",
                          "big") "," CALLS("nobody",
                                           "big") "]},{\"text\":\"done\"}]}";
    struct rig r = {.agent_options = {.approve = WEND_APPROVE_ASK}};
    long calls = 0;

    if (!rig_open(&r, path, script))
        return;
    rig_add(&r, "big", tool_big, WEND_CLASS_READ, &calls);
    make_turns(&r);
    make_canceled(&r);
    make_resumed(&r);
    make_plan(&r);
    rig_close(&r);
}

/* ---- The file ------------------------------------------------------------ */

static bool load_whole(void)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool ok = fd >= 0 && !fstat(fd, &st);

    whole_len = ok ? (size_t)st.st_size : 0;
    whole = malloc(whole_len + 1);
    ok = ok && read(fd, whole, whole_len) == (ssize_t)whole_len;
    close(fd);
    return ok;
}

static void write_whole(void)
{
    int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

    if (write(fd, whole, whole_len) != (ssize_t)whole_len)
        abort();
    close(fd);
}

/* All statements; ?1 is the run's row, ?2 and ?3 numbers. */
static bool apply(const char *sql, int64_t run, int64_t a, int64_t b)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *s;
    bool ok = sqlite3_open(path, &db) == SQLITE_OK;
    int changes;

    while (ok && *sql) {
        ok = sqlite3_prepare_v2(db, sql, -1, &s, &sql) == SQLITE_OK;
        if (!ok || !s)
            break;
        sqlite3_bind_int64(s, 1, run);
        sqlite3_bind_int64(s, 2, a);
        sqlite3_bind_int64(s, 3, b);
        while (sqlite3_step(s) == SQLITE_ROW)
            ;
        ok = sqlite3_finalize(s) == SQLITE_OK;
    }
    changes = sqlite3_total_changes(db);
    if (!ok)
        printf("# %s\n", sqlite3_errmsg(db));
    sqlite3_close(db);
    return ok && changes;
}

/* The first bad event of a run, 0 if there is none, -1 if nobody can say. */
static int64_t first_bad(const char *id)
{
    wend_verdict v = {.size = sizeof v};
    wend_store *s = NULL;
    int64_t bad = -1;

    if (wend_store_open(path, &s, NULL) == WEND_OK &&
        wend_store_verify(s, id, NULL, &v, NULL) == WEND_OK)
        bad = v.bad_seq;
    wend_store_free(s);
    return bad;
}

/* ---- What is done to it -------------------------------------------------- */

#define AT "WHERE run = ?1 AND seq = ?2"
#define BOTH "WHERE run = ?1 AND seq IN (?2, ?2 + 1)"
#define TWO \
    "CREATE TEMP TABLE two AS SELECT seq, body, hash FROM events " BOTH ";"
#define OTHER(what) \
    "(SELECT two." what " FROM two WHERE two.seq = 2 * ?2 + 1 - events.seq)"
/* One byte, so many percent into the body. */
#define FLIP(percent)                                                       \
    "UPDATE events SET body = CAST(substr(CAST(body AS BLOB), 1,"           \
    " length(body) * " percent " / 100) || CASE substr(body,"               \
    " length(body) * " percent " / 100 + 1, 1) WHEN '#' THEN '$' ELSE '#'"  \
    " END || substr(CAST(body AS BLOB), length(body) * " percent " / 100 +" \
    " 2) AS TEXT) " AT

static const struct tamper {
    const char *name, *sql;
    int bad;   /* the first bad event, counted from the one it is done to */
    bool pair; /* needs one that follows */
} event_tampers[] = {
    {"flip its first byte", FLIP("0"), .bad = 0},
    {"flip a byte", FLIP("37"), .bad = 0},
    {"flip its last bytes", FLIP("99"), .bad = 0},
    {"flip its hash",
     "UPDATE events SET hash = CAST(x'00ff' || substr(hash, 3) AS BLOB) " AT,
     .bad = 0},
    {"swap it with the next",
     TWO "UPDATE events SET body = " OTHER("body") ", hash = " OTHER(
         "hash") " " BOTH,
     .pair = true},
    {"swap its body with the next",
     TWO "UPDATE events SET body = " OTHER("body") " " BOTH, .pair = true},
    {"delete it", "DELETE FROM events " AT, .bad = 0},
    {"give it away", "UPDATE events SET id = id + (1000 << 32) " AT, .bad = 0},
    {"duplicate it over the next",
     TWO "UPDATE events SET (body, hash) = (SELECT two.body, two.hash FROM two"
         " WHERE two.seq = ?2) WHERE run = ?1 AND seq = ?2 + 1",
     .bad = 1, .pair = true},
    {"duplicate it before the next",
     "UPDATE events SET id = -id WHERE run = ?1 AND seq > ?2;"
     "UPDATE events SET id = 1 - id WHERE id < 0;"
     "INSERT INTO events (id, body, hash)"
     " SELECT id + 1, body, hash FROM events " AT,
     .bad = 1, .pair = true},
    {"truncate its body",
     "UPDATE events SET body = substr(body, 1, length(body) - 1) " AT,
     .bad = 0},
    {"truncate its hash",
     "UPDATE events SET hash = CAST(substr(hash, 1, 31) AS BLOB) " AT,
     .bad = 0},
    {"truncate the log after it",
     "DELETE FROM deltas WHERE run = ?1 AND seq >= ?2;"
     "DELETE FROM events WHERE run = ?1 AND seq > ?2",
     .bad = 1, .pair = true},
    {"a space more", "UPDATE events SET body = body || ' ' " AT, .bad = 0},
};

#define PACK AT " AND n = ?3"

static const struct tamper pack_tampers[] = {
    {"flip it", "UPDATE deltas SET body = '#' || substr(body, 2) " PACK,
     .bad = 1},
    {"delete it", "DELETE FROM deltas " PACK, .bad = 1},
    {"truncate it",
     "UPDATE deltas SET body = substr(body, 1, length(body) - 1) " PACK,
     .bad = 1},
    {"duplicate it",
     "INSERT INTO deltas (id, seq, n, count, body) SELECT (SELECT min(d.id) +"
     " 1 FROM deltas AS d WHERE d.id >= deltas.id AND NOT EXISTS (SELECT 1 FROM"
     " deltas AS x WHERE x.id = d.id + 1)), seq, 1000000,"
     " count, body FROM deltas " PACK,
     .bad = 1},
    {"flip its count", "UPDATE deltas SET count = count + 1 " PACK, .bad = 1},
    {"flip its number", "UPDATE deltas SET n = n + 1000 " PACK, .bad = 1},
    {"move it", "UPDATE deltas SET seq = seq + 1, n = n + 1000 " PACK,
     .bad = 1},
    {"give it away", "UPDATE deltas SET id = id + (1000 << 32) " PACK,
     .bad = 1},
};

#define BLOB                                                     \
    "WHERE hash = (SELECT hash FROM blobs ORDER BY hash LIMIT 1" \
    " OFFSET ?3)"

static const struct tamper blob_tampers[] = {
    {"flip it",
     "UPDATE blobs SET body = CAST('#' || substr(body, 2) AS BLOB) " BLOB,
     .bad = 0},
    {"flip its hash", "UPDATE blobs SET hash = 'f' || hash " BLOB, .bad = 0},
    {"delete it", "DELETE FROM blobs " BLOB, .bad = 0},
    {"duplicate it", "UPDATE blobs SET body = CAST(body || body AS BLOB) " BLOB,
     .bad = 0},
    {"truncate it",
     "UPDATE blobs SET body = substr(body, 1, length(body) - 1) " BLOB,
     .bad = 0},
    {"swap it with another",
     "CREATE TEMP TABLE all_of AS SELECT hash, body FROM blobs;"
     "UPDATE blobs SET body = (SELECT body FROM all_of WHERE all_of.hash <>"
     " blobs.hash LIMIT 1) " BLOB,
     .bad = 0},
};

/* ---- Where ----------------------------------------------------------------
 */

struct spot { /* a row, and the run to be verified */
    int64_t run, seq, n, last;
    char id[RUN_ID_LEN + 1];
};

/* Each row: runs.id, its run, its newest seq, seq; n of deltas or the number
 * of a blob. */
static size_t find_spots(const char *sql, struct spot **out)
{
    struct spot *list = NULL;
    sqlite3 *db = NULL;
    sqlite3_stmt *s = NULL;
    size_t count = 0;

    sqlite3_open(path, &db);
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
        printf("# %s\n", sqlite3_errmsg(db));
    while (s && sqlite3_step(s) == SQLITE_ROW) {
        list = realloc(list, (count + 1) * sizeof *list);
        list[count] = (struct spot){.run = sqlite3_column_int64(s, 0),
                                    .last = sqlite3_column_int64(s, 2),
                                    .seq = sqlite3_column_int64(s, 3),
                                    .n = sqlite3_column_int64(s, 4)};
        snprintf(list[count++].id, sizeof list->id, "%s",
                 (const char *)sqlite3_column_text(s, 1));
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
    *out = list;
    return count;
}

/* Everything of the table at every spot that the query finds. */
static void tamper_all(const char *what, const char *sql,
                       const struct tamper *tampers, size_t tampers_count)
{
    const char *given = getenv("TAMPER_EACH");
    size_t each = given && atoi(given) > 0 ? (size_t)atoi(given) : 3;
    struct spot *spots;
    size_t count = find_spots(sql, &spots);

    tap_ok(count > 0, "%s: %zu of them", what, count);
    for (size_t i = 0; i < tampers_count; i++) {
        const struct tamper *t = &tampers[i];
        long tried = 0, missed = 0;

        for (size_t k = 0; k < count; k++) {
            const struct spot *at = &spots[k];
            int64_t bad;

            if ((t->pair && at->seq == at->last) || (i + k) % each)
                continue;
            write_whole();
            tried++;
            bad =
                apply(t->sql, at->run, at->seq, at->n) ? first_bad(at->id) : -2;
            if (bad == at->seq + t->bad)
                continue;
            if (!missed++)
                printf("# run %d event %d: %d is named\n", (int)at->run,
                       (int)at->seq, (int)bad);
        }
        tap_ok(tried && !missed, "%s, %s: found at all of %ld", what, t->name,
               tried);
    }
    free(spots);
}

/* ---- Controls -------------------------------------------------------------
 */

/* What nobody touched is good, however often it is written anew. */
static void untouched(void)
{
    struct spot *runs;
    size_t count = find_spots("SELECT id, run, seq FROM runs", &runs);

    tap_is_i64((int64_t)count, RUNS, "runs");
    for (size_t i = 0; i < count; i++) {
        write_whole();
        apply("UPDATE runs SET seq = seq WHERE id = ?1", runs[i].run, 0, 0);
        tap_is_i64(first_bad(runs[i].id), 0, "run %zu: nothing to be found", i);
    }
    free(runs);
}

static int64_t ask_number(const char *sql)
{
    struct spot *row;
    size_t count = find_spots(sql, &row);
    int64_t n = count ? row->run : -1;

    free(row);
    return n;
}

#define ALL(table) (table), tap_count(table)

/* In memory where that is: each change is a commit. */
static const char *make_dir(void)
{
    static char dir[64];

    snprintf(dir, sizeof dir, "/dev/shm/wend-test-XXXXXX");
    return mkdtemp(dir) ? dir : dir_make();
}

int main(void)
{
    const char *dir = make_dir();

    snprintf(path, sizeof path, "%s/wend.db", dir);
    make_store();
    tap_ok(load_whole(), "a store of %zu bytes", whole_len);
    tap_ok(ask_number("SELECT count(DISTINCT type) FROM events") >= TYPES_MIN,
           "events of %d types",
           (int)ask_number("SELECT count(DISTINCT type) FROM events"));
    untouched();
    tamper_all("event",
               "SELECT runs.id, runs.run, runs.seq, events.seq,"
               " events.seq > 1 AND events.seq = (SELECT min(e.seq) FROM"
               " events AS e WHERE e.run = runs.id) FROM events"
               " JOIN runs ON runs.id = events.run",
               ALL(event_tampers));
    tamper_all("shared event",
               "SELECT e.run, f.run, s.own - 1, e.seq FROM runs AS f"
               " JOIN runs AS p ON p.run = f.parent"
               " JOIN (SELECT run, min(seq) AS own FROM events GROUP BY run)"
               " AS s ON s.run = f.id"
               " JOIN events AS e ON e.run = p.id AND e.seq < s.own",
               ALL(event_tampers));
    tamper_all("deltas",
               "SELECT runs.id, runs.run, runs.seq, deltas.seq, n FROM deltas"
               " JOIN runs ON runs.id = deltas.run",
               ALL(pack_tampers));
    tamper_all("blob",
               "SELECT runs.id, runs.run, runs.seq, min(events.seq), b.at FROM"
               " (SELECT hash, row_number() OVER (ORDER BY hash) - 1 AS at "
               "FROM blobs) AS b"
               " JOIN events ON instr(body, b.hash) JOIN runs ON runs.id ="
               " events.run GROUP BY runs.id, b.hash",
               ALL(blob_tampers));
    free(whole);
    dir_remove(dir);
    return tap_done();
}
