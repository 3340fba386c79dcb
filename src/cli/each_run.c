/*
 * each_run.c - the runs of a store and the events of a run, one by one.
 */
#include "cli/each_run.h"

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
    char hint[HINT_BYTES];

    *out = (wend_list_options){.size = sizeof *out,
                               .status = set->status,
                               .user = set->user,
                               .session = set->session,
                               .agent = set->agent};
    if (set->since_ms)
        out->since_us = now_us - set->since_ms * 1000;
    if (!status.ptr || str_index(status, status_words, STATUS_WORDS) >= 0)
        return EXIT_DONE;
    return usage_error(
        cli, "--status: unknown status '%s'%s", set->status,
        did_you_mean(hint, set->status, status_words, STATUS_WORDS));
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
        int64_t got = 0;

        o.limit = left > 0 && left < PAGE ? (uint32_t)left : PAGE;
        code = report(cli, wend_store_list(cli->store, &o, &page, &cli->err));
        while (code == EXIT_DONE && wend_runs_next(page, &info) == WEND_OK) {
            code = fn(ctx, info);
            str_copy(after, sizeof after, info->run);
            got++;
        }
        wend_runs_free(page);
        o.after = after;
        more = got == o.limit;
        left -= left > 0 ? got : 0;
    }
    return code;
}

int each_event(struct cli *cli, const char *id, const wend_replay_options *o,
               each_event_fn fn, void *ctx)
{
    const wend_event *ev;
    wend_run *log = NULL;
    wend_status s = wend_store_replay(cli->rt, id, o, &log, &cli->err);

    if (s != WEND_OK)
        return report(cli, s);
    while ((s = wend_run_next(log, &ev)) == WEND_OK)
        fn(ctx, ev);
    if (s != WEND_END)
        cli->err = *wend_run_error(log);
    wend_run_free(log);
    return s == WEND_END ? EXIT_DONE : report(cli, s);
}

enum run_state run_state(struct cli *cli, const char *id, char parent[40])
{
    wend_list_options o = {.size = sizeof o, .run = id, .limit = 1};
    const wend_run_info *info;
    wend_runs *list = NULL;
    enum run_state state = RUN_GONE;

    if (!id[0] || wend_store_list(cli->store, &o, &list, NULL) != WEND_OK)
        return RUN_GONE;
    if (wend_runs_next(list, &info) == WEND_OK) {
        state = info->ended_us                        ? RUN_OVER
                : str_is(info->status, "interrupted") ? RUN_INTERRUPTED
                                                      : RUN_UNDER_WAY;
        if (parent && info->child)
            str_copy(parent, 40, info->parent);
    }
    wend_runs_free(list);
    return state;
}
