/*
 * each_run.c - runs of a listing, page by page, and the filters of `runs`.
 */
#include "cli/each_run.h"

#include <stdio.h>
#include <time.h>

#include "base/id.h"

enum { PAGE = 100 };

static const char *const status_words[] = {
    "running", "waiting",  "paused", "interrupted", "ok",
    "limit",   "canceled", "failed", NULL,
};
enum { STATUS_WORDS = sizeof status_words / sizeof *status_words - 1 };

int64_t wall_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int run_filter(const struct cli *cli, int64_t now_us, wend_list_options *out)
{
    const struct settings *set = &cli->set;
    wend_str status = str_of(set->status);
    const char *near;

    *out = (wend_list_options){.size = sizeof *out,
                               .status = set->status,
                               .user = set->user,
                               .session = set->session,
                               .agent = set->agent};
    if (set->since_ms)
        out->since_us = now_us - set->since_ms * 1000;
    if (!status.ptr || str_index(status, status_words, STATUS_WORDS) >= 0)
        return EXIT_DONE;
    near = str_near(status, status_words, STATUS_WORDS);
    return usage_error(cli, "--status: unknown status '%s'%s%s%s", set->status,
                       near ? "; did you mean '" : "", near ? near : "",
                       near ? "'?" : "");
}

int each_run(struct cli *cli, const wend_list_options *filter, int64_t left,
             each_run_fn fn, void *ctx)
{
    wend_list_options o = *filter;
    char after[RUN_ID_LEN + 1];
    bool more = true;
    int code = EXIT_DONE;

    while (more && left && code == EXIT_DONE) {
        const wend_run_info *info;
        wend_runs *page = NULL;
        wend_error err = {0};
        int64_t got = 0;
        wend_status s;

        o.limit = left > 0 && left < PAGE ? (uint32_t)left : PAGE;
        s = wend_store_list(cli->store, &o, &page, &err);
        if (s != WEND_OK)
            return give_up(cli, s, &err);
        while (code == EXIT_DONE && wend_runs_next(page, &info) == WEND_OK) {
            code = fn(ctx, info);
            snprintf(after, sizeof after, "%.*s", (int)info->run.len,
                     info->run.ptr);
            got++;
        }
        wend_runs_free(page);
        o.after = after;
        more = got == o.limit;
        left -= left > 0 ? got : 0;
    }
    return code;
}
