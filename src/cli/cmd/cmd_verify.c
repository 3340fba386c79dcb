/*
 * cmd_verify.c - wend verify: verifies the integrity of stored runs.
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/cmd/cmd.h"
#include "cli/file_out.h"
#include "cli/rows.h"
#include "cli/term.h"

static const struct opt opts[] = {
    ROW_TEXT(head, "head", "HASH", "expected hash of the newest event"),
    ROW_TEXT(salvage, "salvage", "FILE",
             "export the intact part for 'wend import'"),
    ROW_JSON("print one JSON object per run"),
    ROW_STORE,
    ROW_QUIET("print only damaged runs"),
    ROWS_END,
};

enum { HASH_LEN = 64 };

struct verifier {
    struct cli *cli;
    struct file_out file;
    int64_t runs, bad;
};

static void put_json(struct buf *b, const char *id, const wend_verdict *v)
{
    json_open(b, NULL, '{');
    json_add_str(b, "run", str_of(id));
    json_add_bool(b, "ok", !v->bad_seq);
    json_add_i64(b, "events", v->seq);
    json_add_nullable(b, "head", str_of(v->head[0] ? v->head : NULL));
    if (v->bad_seq) {
        json_add_i64(b, "bad_seq", v->bad_seq);
        json_add_str(b, "why", str_of(v->why));
        if (strcmp(v->bad_run, id))
            json_add_str(b, "bad_run", str_of(v->bad_run));
    }
    buf_cstr(b, "}\n");
}

static void put_line(struct buf *b, const char *id, const wend_verdict *v)
{
    if (v->bad_seq) {
        term_text(b, str_of(id));
        buf_fmt(b, "  damaged at event %lld", (long long)v->bad_seq);
        if (strcmp(v->bad_run, id))
            buf_fmt(b, " of run %s, whose history it shares", v->bad_run);
        buf_cstr(b, ": it ");
        term_text(b, str_of(v->why));
        buf_char(b, '\n');
    } else {
        buf_fmt(b, "%s  ok  %lld events  %s\n", id, (long long)v->seq, v->head);
    }
}

static int say(struct verifier *v, const char *id, const wend_verdict *found)
{
    struct buf b = {.mem = &cli_mem};
    bool json = v->cli->set.json;
    int code;

    if (json)
        put_json(&b, id, found);
    else if (found->bad_seq || !v->cli->set.quiet)
        put_line(&b, id, found);
    code = print_safe(v->cli, &b, json ? term_json : NULL);
    buf_free(&b);
    return code;
}

static int verify(void *ctx, const wend_run_info *info)
{
    struct verifier *v = ctx;
    wend_verdict found = {.size = sizeof found};
    wend_error *err = &v->cli->err;
    char id[sizeof found.bad_run];
    wend_status s;
    int code;

    str_copy(id, sizeof id, info->run);
    s = wend_store_verify(v->cli->store, id, v->cli->set.head, &found, err);
    if (s == WEND_E_INVAL) { /* other runs may be intact */
        found.bad_seq = 1;
        snprintf(found.bad_run, sizeof found.bad_run, "%.36s", id);
        snprintf(found.why, sizeof found.why, "has an invalid id");
        s = WEND_OK;
    }
    if (s != WEND_OK)
        return report(v->cli, s);
    v->runs++;
    v->bad += found.bad_seq != 0;
    code = say(v, id, &found);
    if (code || !v->cli->set.salvage || !found.seq)
        return code;
    s = wend_store_export(v->cli->store, id, found.seq, file_out_write,
                          &v->file, err);
    return s == WEND_E_IO ? EXIT_FAILED /* already reported */
                          : report(v->cli, s);
}

static bool is_hash(const char *s)
{
    return strlen(s) == HASH_LEN && strspn(s, "0123456789abcdef") == HASH_LEN;
}

/* Check the runs even if the file as a whole is damaged. */
static int verify_all(struct verifier *v)
{
    wend_list_options filter = {.size = sizeof filter};
    wend_status s = wend_store_check(v->cli->store, &v->cli->err);
    int code;

    if (s != WEND_OK && s != WEND_E_CORRUPT)
        return report(v->cli, s);
    v->bad += s != WEND_OK;
    if (s != WEND_OK)
        complain(0, "%s", v->cli->err.message);
    code = each_run(v->cli, &filter, -1, verify, v);
    if (code == EXIT_DONE && !v->cli->set.quiet && !v->cli->set.json)
        complain(0, "%lld runs, %lld damaged", (long long)v->runs,
                 (long long)(v->bad - (s != WEND_OK)));
    return code;
}

static int verify_one(struct verifier *v, const char *name)
{
    wend_run_info info = {0};
    struct found found;
    int code = find_run(v->cli, name, &found);

    if (code)
        return code;
    info.run = str_of(found.id);
    return verify(v, &info);
}

static int run(struct cli *cli)
{
    const struct settings *set = &cli->set;
    struct verifier v = {.cli = cli};
    int code, salvaged;

    if (set->head && !cli->args_count)
        return usage_error(cli, "--head requires a run");
    if (set->head && !is_hash(set->head))
        return usage_error(cli, "--head: '%s' is not a hash (64 hex digits)",
                           set->head);
    code = open_store(cli);
    if (!code && set->salvage)
        code = file_out_open(&v.file, set->salvage, FILE_OUT_PRIVATE);
    if (code)
        return code;
    code = cli->args_count ? verify_one(&v, cli->args[0]) : verify_all(&v);
    /* What was salvaged before a failure is worth keeping, too. */
    salvaged = set->salvage ? file_out_close(&v.file, EXIT_DONE) : EXIT_DONE;
    if (!code)
        code = salvaged;
    return code == EXIT_DONE && v.bad ? EXIT_FAILED : code;
}

const struct command command_verify = {
    .name = "verify",
    .args = "[OPTIONS] [RUN]",
    .summary = "verify the integrity of runs",
    .more = "Without RUN, all runs and the database file are checked. The "
            "first bad event is\n"
            "reported. The exit status is 1 if anything is damaged.\n",
    .args_max = 1,
    .opts = opts,
    .only_reads = true,
    .run = run,
};
