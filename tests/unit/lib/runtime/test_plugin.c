/*
 * test_plugin.c - a host unloads the tools and the allocator that it gave as
 * soon as the runtime is freed: nothing of wend calls into them any more.
 *
 * The tool answers and stays in its function for a while, so that a thread
 * which is not waited for returns into what is no longer mapped.
 */
#include <dlfcn.h>
#include <limits.h>

#include "../plugin/plugin.h"
#include "run_help.h"

enum { ROUNDS = 60, CALLS = 3 };

#define CALL "{\"name\":\"work\",\"args\":{}}"
static const char script[] = "script:{\"turns\":[{\"calls\":[" CALL "," CALL
                             "," CALL "]},{\"text\":\"over\"}]}";

static void plugin_path(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 32);

    out[n > 0 ? n : 0] = 0;
    snprintf(strrchr(out, '/') + 1, 32, "plugin.so");
}

/* The host's own: the plugin's could be unloaded before it has returned. */
static void release(void *ctx)
{
    struct plugin_count *count = ctx;

    atomic_fetch_add(&count->releases, 1);
}

/* Reads a run up to its end, or only until the tool is at work: then a call
 * that is not answered yet stays behind, and releases its ctx later. */
static bool use(const struct plugin *p, struct plugin_count *count, bool whole)
{
    wend_runtime_options o = {.size = sizeof o,
                              .alloc = p->alloc,
                              .alloc_ctx = count,
                              .alloc_release = whole ? p->release : release};
    wend_agent_options ao = {.size = sizeof ao, .model = script};
    wend_tool_options t = {.size = sizeof t,
                           .name = "work",
                           .call_class = WEND_CLASS_READ,
                           .threaded = true,
                           .fn = p->tool,
                           .ctx = count,
                           .release = whole ? p->release : release};
    wend_runtime *rt = NULL;
    wend_agent *agent = NULL;
    wend_run *run = NULL;
    const wend_event *ev;
    bool ok = wend_runtime_new(&o, &rt, NULL) == WEND_OK &&
              wend_agent_new(rt, &ao, &agent, NULL) == WEND_OK &&
              wend_agent_add_tool(agent, &t, NULL) == WEND_OK &&
              wend_run_start(agent, STR("x"), NULL, &run, NULL) == WEND_OK;

    while (ok && wend_run_next(run, &ev) == WEND_OK)
        if (!whole && ev->type == WEND_CALL_END)
            break;
    wend_run_free(run);
    wend_agent_free(agent);
    wend_runtime_free(rt);
    for (int i = 0; !whole && i < 5000 && atomic_load(&count->releases) < 2;
         i++)
        usleep(1000);
    return ok;
}

static bool round_of(const char *path, bool whole)
{
    struct plugin_count count = {.answer = wend_call_return};
    const struct plugin *p;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    bool ok = handle && (p = dlsym(handle, "plugin")) && use(p, &count, whole);
    int allocations = atomic_load(&count.allocations);

    ok &= atomic_load(&count.releases) == 2 && atomic_load(&count.calls);
    ok &= whole ? atomic_load(&count.calls) == CALLS : true;
    if (handle)
        dlclose(handle);
    handle = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    ok &= !handle; /* else nothing was tested */
    usleep(3000);  /* what was left behind would be at work now */
    return ok && allocations == atomic_load(&count.allocations);
}

int main(void)
{
    char path[PATH_MAX];

    plugin_path(path);
    for (int whole = 0; whole < 2; whole++) {
        int bad = 0;

        for (int i = 0; i < ROUNDS; i++)
            bad += !round_of(path, whole);
        tap_is_i64(bad, 0, "%d rounds of load, use, free, unload; %s", ROUNDS,
                   whole ? "whole runs" : "runs that are cut off");
    }
    return tap_done();
}
