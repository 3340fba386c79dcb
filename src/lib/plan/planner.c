/*
 * planner.c - what a model needs to write plans: the tool, and words.
 *
 * Both stand in run_start.config, so that a resumed run asks the same.
 */
#include "lib/plan/plan.h"
#include "lib/run/shell.h"

#include "lib/run/child.h"

#include "base/fail.h"

/* What an action can have; the same keys that core/plan/plan_read.c reads. */
static const char schema_head[] =
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":"
    "[\"actions\"],\"properties\":{\"actions\":{\"type\":\"array\",\"items\":{"
    "\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"name\","
    "\"type\"],\"properties\":{"
    "\"name\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z][A-Za-z0-9_-]*$\","
    "\"maxLength\":64,\"description\":\"unique in the plan\"},"
    "\"id\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z][A-Za-z0-9_-]*$\","
    "\"maxLength\":64,\"description\":\"default: the name\"},"
    "\"type\":{\"enum\":[\"tool\",\"llm\",\"decision\"";
static const char schema_rest[] =
    "]},"
    "\"target\":{\"type\":\"string\",\"description\":\"the tool's name, "
    "relic.endpoint, the agent's name; of llm: default\"},"
    "\"mode\":{\"enum\":[\"sync\",\"async\",\"fire_and_forget\"],"
    "\"description\":\"sync (the default): nothing else starts until it ends; "
    "async: beside others; fire_and_forget: nobody waits for it\"},"
    "\"params\":{\"type\":\"object\",\"description\":\"the target's "
    "arguments; $key or ${key.path[0]} in a string is an output\"},"
    "\"prompt\":{\"type\":\"string\",\"description\":\"for llm and agent\"},"
    "\"files\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
    "\"description\":\"for llm and agent: $key of outputs of tools whose "
    "images, documents and audio come with the prompt\"},"
    "\"output_key\":{\"type\":\"string\",\"description\":\"its output is $key "
    "for all that wait for it\"},"
    "\"depends_on\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
    "\"description\":\"names of actions that must end before\"},"
    "\"wait_for_all\":{\"type\":\"boolean\",\"description\":\"false: the first "
    "of them that ends well is enough\"},"
    "\"when\":{\"type\":\"string\",\"description\":\"a condition, such as "
    "len($key) > 0 and not $other; else it is skipped\"},"
    "\"skip_on_error\":{\"type\":\"boolean\",\"description\":\"its failure "
    "counts as skipped\"},"
    "\"fallback\":{\"type\":\"string\",\"description\":\"an action written "
    "after it that runs only if it fails, and takes its place\"},"
    "\"cases\":{\"type\":\"array\",\"description\":\"of a decision: the first "
    "case that holds; actions named by others are skipped\",\"items\":{"
    "\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"when\":{\"type\":\"string\"},\"then\":{\"type\":\"array\",\"items\":{"
    "\"type\":\"string\"}},\"else\":{\"type\":\"array\",\"items\":{\"type\":"
    "\"string\"}}}}},"
    "\"timeout\":{\"type\":\"string\",\"description\":\"such as 30s; default "
    "300s\"},"
    "\"retry\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"properties\":{\"max\":{\"type\":\"integer\"},\"delay\":{\"type\":"
    "\"string\"},\"backoff\":{\"type\":\"number\"},\"max_delay\":{\"type\":"
    "\"string\"}}},"
    "\"estimate\":{\"type\":\"string\",\"description\":\"how long it may take, "
    "such as 5s\"},"
    "\"priority\":{\"type\":\"integer\",\"description\":\"larger starts "
    "first\"},"
    "\"cache\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"properties\":{\"ttl\":{\"type\":\"string\"}}},"
    "\"class\":{\"enum\":[\"read\",\"idempotent\",\"unsafe\"],"
    "\"description\":\"only to be more careful than the target asks for\"}"
    "}}}}}";

static const char description[] =
    "Runs a plan: actions, each of which starts as soon as what it depends on "
    "has ended. Gives back how each of them ended, and its output.";

static const char call_words[] =
    "You reach the goal by plans. Write all actions that can be foreseen in "
    "one call of the tool `plan`; look at what they gave, and write another "
    "plan if something is left to do. Answer in plain text when the goal is "
    "reached: an answer without a call ends the work.\n";

static const char tag_words[] =
    "You reach the goal by plans, which you write in tags:\n"
    "<thought>what you think</thought>\n"
    "<action type=\"tool\" mode=\"async\" id=\"a\">{\"target\": \"...\", "
    "\"params\": {...}}</action>\n"
    "<response final=\"true\">what you answer</response>\n"
    "Write all actions that can be foreseen, one tag each; you will be told "
    "what they gave, and can write more if something is left to do. A "
    "response with final=\"false\" is followed by another turn of yours; one "
    "with final=\"true\" ends the work.\n";

static const char words[] =
    "Actions start while you write: put those that others depend on first, "
    "and each before whoever names it in depends_on; a decision, and an "
    "action with a fallback, before those they name. Use mode async for all "
    "that can run beside others. An output is referred to as $output_key by "
    "actions that depend on the one that gives it; outputs of earlier plans "
    "can be referred to, too. Of a plan that fails you get the errors; the "
    "same plan twice ends the work.\n";

static void put_names(struct buf *b, const char *type,
                      const struct agent_tool *first)
{
    if (!first)
        return;
    buf_fmt(b, "The targets of type %s are:", type);
    for (const struct agent_tool *t = first; t; t = t->next)
        buf_fmt(b, " %.*s%s", STR_ARGS(t->name), t->next ? "," : ".\n");
}

/* Those that it could give a task, too. */
static const struct agent_child *next_agent(const wend_agent *a,
                                            const struct agent_child *k)
{
    k = !a->offers_task ? NULL : k ? k->next : a->children;
    while (k && k->plan_json.ptr)
        k = k->next;
    return k;
}

static void put_agents(struct buf *b, const wend_agent *a)
{
    const struct agent_child *k = next_agent(a, NULL);

    if (!k)
        return;
    buf_cstr(b, "The targets of type agent are:");
    for (; k; k = next_agent(a, k))
        buf_fmt(b, " %.*s%s", STR_ARGS(k->name),
                next_agent(a, k) ? "," : ".\n");
}

static void put_schema(struct buf *b, const wend_agent *a)
{
    buf_fmt(b, "%s%s%s%s", schema_head, a->endpoints.first ? ",\"relic\"" : "",
            next_agent(a, NULL) ? ",\"agent\"" : "", schema_rest);
}

static void put_words(struct buf *b, const wend_agent *a)
{
    struct buf text = {.mem = b->mem};

    buf_cstr(&text, a->no_tool_calls ? tag_words : call_words);
    buf_cstr(&text, words);
    if (a->no_tool_calls) {
        buf_cstr(&text, "An action has these members:\n");
        put_schema(&text, a);
        buf_cstr(&text, "\nThe tools, with the schemas of their params:\n[");
        buf_str(&text, buf_view(&a->tools.json));
        buf_cstr(&text, "]\n");
    }
    put_names(&text, "tool", a->tools.first);
    put_names(&text, "relic", a->endpoints.first);
    put_agents(&text, a);
    buf_cstr(&text, "An action of type llm asks a model its prompt; its target "
                    "is default.");
    buf_cstr(b, ",\"planner\":");
    json_put_str(b, buf_view(&text));
    b->failed |= text.failed;
    buf_free(&text);
}

wend_status planner_put(const wend_agent *a, struct buf *b, wend_error *err)
{
    if (agent_tool(a, STR("plan")))
        return fail(err, WEND_E_EXISTS,
                    "a tool of the agent is called 'plan', as the one that "
                    "plans are written with: give it another name");
    put_words(b, a);
    return b->failed ? fail_nomem(err) : WEND_OK;
}

void planner_put_tool(const wend_agent *a, struct buf *b)
{
    buf_cstr(b, a->tools.count || a->offers_task ? ",{" : "{");
    agent_put(b, "name", "plan");
    buf_char(b, ',');
    agent_put(b, "description", description);
    buf_cstr(b, ",\"schema\":");
    put_schema(b, a);
    buf_cstr(b, ",\"class\":\"read\",\"category\":\"general\","
                "\"source\":\"planner\"}");
}

/* ---- While it is written ------------------------------------------------- */

void planner_look(struct wend_run *r, int64_t ask, int call)
{
    if (shell_open(r, ask) &&
        is_plan_tool(r->turn.config, buf_view(&r->reply.calls[call].name)) &&
        reply_plan(&r->reply, call)) {
        struct input in = {.kind = IN_WRITTEN, .ask = ask};

        shell_input(r, &in);
    }
}
