/*
 * 09_agent_file.c - an agent from a file. The file says which programs start,
 * where keys are sent and what is allowed, so that the host looks at it first,
 * and then names what it accepts: by its sum, which one changed byte changes.
 *
 *     cc 09_agent_file.c $(pkg-config --cflags --libs wend) -o agent
 *     ./agent examples/agent.yaml
 */
#include <stdio.h>
#include <wend.h>

static void show(const wend_manifest *m)
{
    size_t i;

    printf("%s: %s\n", m->name, m->description);
    for (i = 0; i < m->tools_count; i++)
        printf("tool %s\n", m->tools[i]);
    for (i = 0; i < m->options->rules_count; i++)
        printf("rule %s\n", m->options->rules[i]);
    for (i = 0; i < m->files_count; i++)
        printf("file %s\n", m->files[i].name);
}

static wend_status run(wend_agent *agent, wend_error *err)
{
    wend_str prompt = {"What can you do?", 16}, text;
    wend_run *r = NULL;
    wend_status s = wend_run_start(agent, prompt, NULL, &r, err);

    if (s == WEND_OK)
        s = wend_run_wait(r, &text);
    if (s == WEND_OK)
        printf("answer: %.*s\n", (int)text.len, text.ptr);
    wend_run_free(r);
    return s;
}

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : "examples/agent.yaml";
    wend_agent_options agent_options = {
        .size = sizeof agent_options,
        .model = "script:{\"turns\":[{\"text\":\"I look into the pantry.\"}]}",
    };
    wend_load_options options = {.size = sizeof options,
                                 .agent = &agent_options};
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_manifest *manifest = NULL;
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_status s = wend_runtime_new(NULL, &rt, &err);

    if (s == WEND_OK)
        s = wend_manifest_open(path, NULL, &manifest, &err);
    if (s == WEND_OK) {
        show(manifest);
        if (wend_agent_load(rt, path, &options, &agent, &err) == WEND_E_STALE)
            printf("refused, since it was not accepted yet\n");
        options.trust = manifest->sum; /* a person has said yes */
        s = wend_agent_load(rt, path, &options, &agent, &err);
    }
    if (s == WEND_OK)
        s = run(agent, &err);
    if (s != WEND_OK)
        fprintf(stderr, "%s\n", err.message);
    wend_agent_free(agent);
    wend_manifest_free(manifest);
    wend_runtime_free(rt);
    return s != WEND_OK;
}
