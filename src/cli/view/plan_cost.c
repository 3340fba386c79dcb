/*
 * plan_cost.c - the maximum cost of a plan's model calls.
 *
 * Prompts are known only at run time, so this is an upper bound: full windows,
 * the longest answers, every allowed attempt. Model calls of agents are not
 * bounded in this way, and count as calls without a price.
 */
#include "cli/view/plan_cost.h"

#include "cli/config.h"
#include "wire/file/models.h"

/* -1 if the price, the window or the longest answer is unknown. */
static int64_t most_of(const struct models *all, wend_str name)
{
    const struct model *m = all && name.ptr ? models_find(all, name) : NULL;

    if (!m || !m->price.known || !m->window || !m->output ||
        m->output > m->window)
        return -1;
    return price_most(&m->price, m->window - m->output, m->output);
}

static void add(struct plan_cost *out, int64_t nano, int64_t times)
{
    int64_t sum;

    out->asked++;
    if (nano < 0 || __builtin_mul_overflow(nano, times, &sum) ||
        __builtin_add_overflow(sum, out->most_nano, &sum))
        return;
    out->most_nano = sum;
    out->priced++;
}

int plan_cost(struct cli *cli, const struct json *plan, struct plan_cost *out)
{
    struct buf path = {.mem = cli->arena.mem};
    struct models *all = NULL;
    wend_error err = {0};
    wend_status s = models_load(cli, &path, &all, &err);

    buf_free(&path);
    if (s)
        return complain(exit_of(s), "%s", err.message);
    for (const struct json *a = json_get(plan, "actions")->first; a;
         a = a->next) {
        wend_str type = json_str(json_get(a, "type"));
        wend_str target = json_str(json_get(a, "target"));
        int64_t retries = 0;

        json_i64(json_get(a, "retries"), &retries);
        if (str_is(type, "agent"))
            add(out, -1, 1);
        else if (str_is(type, "llm"))
            add(out,
                most_of(all, str_is(target, "default") ? str_of(cli->set.model)
                                                       : target),
                1 + retries);
    }
    return EXIT_DONE;
}
