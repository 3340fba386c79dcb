/*
 * test_plan_value.c - which values an action waits for before it starts.
 *
 * Each plan is JSON with ' for ". An action that gets another value than it
 * should is skipped by its condition.
 */
#include "plan_help.h"

static const struct {
    const char *why, *actions, *wanted;
    struct deed deeds[6]; /* 0 ms: 10 */
} rows[] = {
    {"a value is waited for though one in between is skipped before it comes",
     "{'name':'source','output_key':'src'},"
     "{'name':'check'},"
     "{'name':'middle','depends_on':['source','check']},"
     "{'name':'other'},"
     "{'name':'last','depends_on':['other','middle'],'when':'$src == 0'}",
     "+source +check +other -other -check(failed,failed) "
     "-middle(skipped,dependency_failed) -source +last -last plan(failed) "
     "run(failed)",
     {{.ms = 50}, {.ms = 10, .fails = 1}, {0}, {.ms = 5}}},
    {"and so is that of the fallback which takes its provider's place",
     "{'name':'source','output_key':'src','fallback':'alt'},"
     "{'name':'check'},"
     "{'name':'middle','depends_on':['source','check']},"
     "{'name':'other'},"
     "{'name':'last','depends_on':['other','middle'],'when':'$src == 5'},"
     "{'name':'alt'}",
     "+source +check +other -other -check(failed,failed) "
     "-middle(skipped,dependency_failed) -source(failed,failed) +alt -alt "
     "+last -last plan(failed) run(failed)",
     {{.ms = 20, .fails = 1},
      {.ms = 10, .fails = 1},
      {0},
      {.ms = 5},
      {0},
      {.ms = 50}}},
    {"a provider that never runs is not waited for",
     "{'name':'check'},"
     "{'name':'source','output_key':'src','depends_on':['check']},"
     "{'name':'middle','depends_on':['source']},"
     "{'name':'other'},"
     "{'name':'last','depends_on':['other','middle'],"
     "'when':'not exists($src)'}",
     "+check +other -check(failed,failed) -source(skipped,dependency_failed) "
     "-middle(skipped,dependencies_skipped) -other +last -last plan(failed) "
     "run(failed)",
     {{.ms = 5, .fails = 1}}},
    {"wait_for_all false: the values that are there at the start count",
     "{'name':'source','output_key':'src'},"
     "{'name':'other'},"
     "{'name':'last','depends_on':['source','other'],'wait_for_all':false,"
     "'when':'not exists($src)'}",
     "+source +other -other +last -last -source plan(ok) run(ok)",
     {{.ms = 50}}},
    {"a fallback of a direct dependency counts as one",
     "{'name':'source','fallback':'alt'},"
     "{'name':'other'},"
     "{'name':'last','depends_on':['source','other'],'wait_for_all':false,"
     "'when':'not exists($src)'},"
     "{'name':'alt','output_key':'src'}",
     "+source +other -source(failed,failed) +alt -other +last -last -alt "
     "plan(ok) run(ok)",
     {{.ms = 5, .fails = 1}, {.ms = 10}, {0}, {.ms = 50}}},
    {"another provider of the same key is waited for",
     "{'name':'one','output_key':'k','when':'not $on'},"
     "{'name':'two','output_key':'k','when':'$on'},"
     "{'name':'other'},"
     "{'name':'last','depends_on':['one','other'],'when':'$k == 1'}",
     "-one(skipped,condition) +two +other -other -two +last -last plan(ok) "
     "run(ok)",
     {{0}, {.ms = 50}}},
    {"unless it comes after its user",
     "{'name':'one','output_key':'k','when':'not $on'},"
     "{'name':'other'},"
     "{'name':'last','depends_on':['one','other'],'when':'not exists($k)'},"
     "{'name':'two','output_key':'k','depends_on':['last'],'when':'$on'}",
     "-one(skipped,condition) +other -other +last -last +two -two plan(ok) "
     "run(ok)",
     {{0}}},
};

/* Plans that are refused, and why. */
static const struct {
    const char *why, *actions, *wanted;
} refused[] = {
    {"two actions that wait for each other's values",
     "{'name':'a','output_key':'x','when':'not $on'},"
     "{'name':'b','output_key':'y','when':'not $on'},"
     "{'name':'c','output_key':'x','depends_on':['b'],'when':'exists($y)'},"
     "{'name':'d','output_key':'y','depends_on':['a'],'when':'exists($x)'}",
     "2 actions in a cycle: c -> d -> c"},
};

static void write_plan(const char *actions, struct buf *b)
{
    static const char head[] =
        "{'wend':'plan/1','name':'p','inputs':{'on':true},'actions':[";
    const char *const parts[] = {head, actions, "]}"};

    for (size_t i = 0; i < 3; i++)
        for (const char *c = parts[i]; *c; c++) {
            buf_char(b, *c == '\'' ? '"' : *c);
            if (!strncmp(c, "{'name':", 8) && parts[i] == actions)
                buf_cstr(b, "\"type\":\"tool\",\"target\":\"r\","
                            "\"mode\":\"async\",");
        }
}

static void check_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct deed deeds[DEEDS_MAX] = {0};
        struct buf plan = {.mem = &plan_mem};
        struct plan_world *w;

        memcpy(deeds, rows[i].deeds, sizeof rows[i].deeds);
        for (size_t k = 0; k < DEEDS_MAX; k++)
            deeds[k].ms = deeds[k].ms ? deeds[k].ms : 10;
        write_plan(rows[i].actions, &plan);
        w = plan_world_new(deeds);
        w->lawful = true;
        plan_start_run(w, buf_view(&plan));
        plan_play(w);
        tap_is_str(w->order.len ? w->order.ptr + 1 : "", rows[i].wanted, "%s",
                   rows[i].why);
        tap_is_i64(w->broken, 0, "%s", rows[i].why);
        plan_world_free(w);
        buf_free(&plan);
    }
}

static void check_refused(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct arena a = {.mem = &plan_mem};
        struct buf text = {.mem = &plan_mem};
        struct plan *plan = NULL;
        wend_error err = {0};

        write_plan(refused[i].actions, &text);
        tap_is_i64(plan_parse(buf_view(&text), NULL, &a, &plan, &err),
                   WEND_E_PARSE, "%s", refused[i].why);
        tap_is_str(err.message, refused[i].wanted, "%s", refused[i].why);
        buf_free(&text);
        arena_free(&a);
    }
}

int main(void)
{
    check_rows();
    check_refused();
    return tap_done();
}
