/*
 * 11_plan_file.c - a plan from a file, with the plan and the relic that its
 * actions name. Those files say which programs start and where secrets are
 * sent, so the host looks at them first and then accepts them by their sum.
 * The plan asks no model, so none is set.
 *
 *     cc 11_plan_file.c $(pkg-config --cflags --libs wend) -o plan
 *     ./plan examples/shopping/plan.yaml
 */
#include <stdio.h>
#include <wend.h>

static void show(const wend_manifest *m)
{
    size_t i;

    for (i = 0; i < m->agents_count; i++)
        printf("%s %s\n", m->agents[i]->plan ? "plan" : "agent",
               m->agents[i]->target);
    for (i = 0; i < m->relics_count; i++)
        printf("relic %s, %s\n", m->relics[i].path,
               m->relics[i].network ? "with the network" : "no network");
    for (i = 0; i < m->files_count; i++)
        printf("file %s\n", m->files[i].name);
}

static wend_status run(wend_agent *agent, const wend_plan *plan,
                       wend_error *err)
{
    wend_run *r = NULL;
    wend_str text;
    wend_status s =
        wend_run_start_plan(agent, plan, "{\"guests\":6}", NULL, &r, err);

    if (s == WEND_OK)
        s = wend_run_wait(r, &text);
    if (s == WEND_OK)
        printf("outputs %.*s\n", (int)text.len, text.ptr);
    wend_run_free(r);
    return s;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "examples/shopping/plan.yaml";
    wend_manifest_options file = {.size = sizeof file, .plan = true};
    wend_load_options options = {.size = sizeof options};
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_manifest *manifest = NULL;
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_status s = wend_runtime_new(NULL, &rt, &err);

    if (s == WEND_OK)
        s = wend_manifest_open(path, &file, &manifest, &err);
    if (s == WEND_OK) {
        show(manifest);
        options.plan = manifest;
        if (wend_agent_load(rt, NULL, &options, &agent, &err) == WEND_E_STALE)
            printf("refused: not accepted yet\n");
        options.plan_trust = manifest->sum; /* a person has said yes */
        s = wend_agent_load(rt, NULL, &options, &agent, &err);
    }
    if (s == WEND_OK)
        s = run(agent, manifest->plan, &err);
    if (s != WEND_OK)
        fprintf(stderr, "%s\n", err.message);
    wend_agent_free(agent);
    wend_manifest_free(manifest);
    wend_runtime_free(rt);
    return s != WEND_OK;
}
