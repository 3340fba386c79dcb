/*
 * test_manifest.c - files about agents and tools: what is read and refused.
 */
#include "wire/file/manifest.h"

#include "base/limits.h"
#include "fault.h"
#include "tap.h"

/* The examples of the manual, word for word. */
static const char manual_agent[] =
    "wend: agent/1\n"
    "name: librarian\n"
    "description: answers questions about the notes in this folder\n"
    "model: anthropic:my-model\n"
    "fallback_models: [\"openai:my-other-model\"]\n"
    "context_tokens: 100000\n"
    "instructions: |\n"
    "  Look into the notes before you answer.\n"
    "  Say which file an answer is from.\n"
    "tools: [read_file, list_dir, write_file, tools/word_count.yaml]\n"
    "limits: {turns: 20, time: 5m, tokens: 200000, cost: 0.5, parallel: 4}\n"
    "policy:\n"
    "  - {tool: \"write_file(notes/*)\", do: allow}\n"
    "  - {tool: \"write_file\", do: deny}\n"
    "  - {tool: \"word_count\", do: ask}\n"
    "network: off\n";
static const char manual_tool[] =
    "wend: tool/1\nname: word_count\ndescription: Counts the words of a text.\n"
    "schema:\n  type: object\n  properties: {text: {type: string}}\n"
    "  required: [text]\n  additionalProperties: false\n"
    "command: [./word_count.py, --json]\nclass: read\ncategory: general\n"
    "labels: [sensitive]\ntimeout: 5s\nsandbox: on\nsecrets: [NOTES_TOKEN]\n"
    "output: json\nsubject: text\ncache: 10m\nper_minute: 30\n";

/* ---- What is read -------------------------------------------------------- */

static void tap_is_words(const struct manifest_words *w, const char *wanted,
                         const char *what)
{
    struct mem m = {0};
    struct buf b = {.mem = &m};

    for (size_t i = 0; i < w->count; i++) {
        if (i)
            buf_char(&b, '|');
        buf_str(&b, w->list[i].text);
    }
    tap_is_str(buf_view(&b), wanted, "%s", what);
    buf_free(&b);
}

static void test_agent(void)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct agent_manifest *m = NULL;
    wend_error err = {0};

    if (!tap_ok(!agent_manifest_parse(str_of(manual_agent), &a, &m, &err),
                "the manual's agent: %s", err.message)) {
        arena_free(&a);
        return;
    }
    tap_is_str(m->name, "librarian", "name");
    tap_is_str(m->description,
               "answers questions about the notes in this folder",
               "description");
    tap_is_str(m->model, "anthropic:my-model", "model");
    tap_ok(!m->base_url.ptr, "no base_url");
    tap_is_words(&m->fallbacks, "openai:my-other-model", "fallback_models");
    tap_is_i64(m->context_tokens, 100000, "context_tokens");
    tap_is_str(m->instructions,
               "Look into the notes before you answer.\n"
               "Say which file an answer is from.\n",
               "instructions");
    tap_is_words(&m->tools,
                 "read_file|list_dir|write_file|tools/word_count.yaml",
                 "tools");
    tap_ok(m->tools.list[3].line == 10 && m->tools.list[3].column == 42,
           "where a tool stands");
    tap_is_i64(m->limits.turns, 20, "limits.turns");
    tap_is_i64(m->limits.time_ms, 300000, "limits.time");
    tap_is_i64(m->limits.tokens, 200000, "limits.tokens");
    tap_is_i64(m->limits.cost_nano, 500000000, "limits.cost");
    tap_is_i64(m->limits.parallel, 4, "limits.parallel");
    tap_is_words(&m->rules, "write_file(notes/*)|!write_file|?word_count",
                 "policy as rules");
    tap_ok(m->network_off && !m->network.list, "network");
    tap_ok(!agent_manifest_unserved(m, 0), "all of it is served");
    arena_free(&a);
}

static void test_tool(void)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct tool_manifest *t = NULL;
    wend_error err = {0};

    if (!tap_ok(!tool_manifest_parse(str_of(manual_tool), &a, &t, &err),
                "the manual's tool: %s", err.message)) {
        arena_free(&a);
        return;
    }
    tap_is_str(t->name, "word_count", "name");
    tap_is_str(t->description, "Counts the words of a text.", "description");
    tap_is_str(t->schema,
               "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":"
               "\"string\"}},\"required\":[\"text\"],"
               "\"additionalProperties\":false}",
               "schema");
    tap_is_words(&t->command, "./word_count.py|--json", "command");
    tap_is_i64(t->call_class, WEND_CLASS_READ, "class");
    tap_is_i64(t->category, WEND_CATEGORY_GENERAL, "category");
    tap_is_words(&t->labels, "sensitive", "labels");
    tap_is_i64(t->timeout_ms, 5000, "timeout");
    tap_ok(!t->sandbox_off, "sandbox");
    tap_is_words(&t->secrets, "NOTES_TOKEN", "secrets");
    tap_ok(t->output_json, "output");
    tap_is_str(t->subject, "text", "subject");
    tap_is_i64(t->cache_ms, 600000, "cache");
    tap_is_i64(t->per_minute, 30, "per_minute");
    arena_free(&a);
}

/* What a tool is that says no more than it must: anything. */
static void test_tool_least(void)
{
    static const char text[] = "{\"wend\": \"tool/1\", \"name\": \"a.b-c_1\", "
                               "\"description\": \"d\", "
                               "\"command\": [\"make\", \"\"]}";
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct tool_manifest *t = NULL;

    if (tap_ok(!tool_manifest_parse(str_of(text), &a, &t, NULL),
               "the least of a tool, as JSON")) {
        tap_ok(t->call_class == WEND_CLASS_UNSAFE &&
                   t->category == WEND_CATEGORY_GENERAL && !t->schema.ptr &&
                   !t->timeout_ms && !t->sandbox_off && !t->output_json &&
                   !t->secrets.list && !t->labels.list,
               "  it is unsafe, in the sandbox, and gets no secrets");
        tap_is_words(&t->command, "make|", "  an argument may be empty");
    }
    arena_free(&a);
}

/* ---- Markdown ------------------------------------------------------------ */

#define HEAD "---\nwend: agent/1\nname: m\n---\n"

static const struct {
    const char *why, *text;
    const char *instructions; /* NULL = refused */
    uint32_t line;
    const char *message;
} markdown[] = {
    {"the text is the instructions", HEAD "\n# Title\n\nDo it.\n\n",
     "# Title\n\nDo it.", 0, NULL},
    {"no text", HEAD, "", 0, NULL},
    {"only blank text", HEAD " \n\t\r\n", "", 0, NULL},
    {"the second line has no end", "---\nwend: agent/1\n---", "", 0, NULL},
    {"lines as in DOS", "---\r\nwend: agent/1\r\n---\r\nHi.\r\n", "Hi.", 0,
     NULL},
    {"a byte order mark", "\xEF\xBB\xBF" HEAD "Hi.", "Hi.", 0, NULL},
    {"a third line is text", HEAD "a\n---\nb", "a\n---\nb", 0, NULL},
    {"spaces behind the line", "--- \nwend: agent/1\n---  \nHi.", "Hi.", 0,
     NULL},
    {"JSON in front", "---\n{\"wend\": \"agent/1\"}\n---\nHi.", "Hi.", 0, NULL},
    {"a YAML document with a start", "---\nwend: agent/1\ninstructions: x\n",
     "x", 0, NULL},
    {"a longer line ends nothing", "---\nwend: agent/1\n----\nHi.", NULL, 4,
     NULL},
    {"instructions twice", "---\nwend: agent/1\ninstructions: x\n---\nHi.",
     NULL, 5,
     "the text is the instructions, but there is a key 'instructions', too"},
    {"a mistake in front", "---\nwend: agent/1\nnme: x\n---\nHi.", NULL, 3,
     "unknown key 'nme' in the file; did you mean 'name'?"},
    {"bytes that are no text", HEAD "a\nb\xff", NULL, 6, "invalid UTF-8"},
};

static void test_markdown(void)
{
    struct mem mem = {0};

    for (size_t i = 0; i < tap_count(markdown); i++) {
        struct arena a = {.mem = &mem};
        struct agent_manifest *m = NULL;
        wend_error err = {0};

        agent_manifest_parse(str_of(markdown[i].text), &a, &m, &err);
        tap_ok(!m == !markdown[i].instructions, "Markdown: %s (%s)",
               markdown[i].why, err.message);
        if (m)
            tap_is_str(m->instructions.ptr ? m->instructions : STR(""),
                       markdown[i].instructions, "  instructions");
        else
            tap_is_i64(err.line, markdown[i].line, "  line");
        if (markdown[i].message)
            tap_is_str(str_of(err.message), markdown[i].message, "  message");
        arena_free(&a);
    }
}

static void test_markdown_zero(void)
{
    static const char text[] = HEAD "a\n\0b";
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct agent_manifest *m = NULL;
    wend_error err = {0};

    tap_ok(agent_manifest_parse((wend_str){text, sizeof text - 1}, &a, &m,
                                &err) == WEND_E_PARSE &&
               err.line == 6,
           "Markdown: a zero byte");
    arena_free(&a);
}

/* ---- What is refused ----------------------------------------------------- */

#define TOP "wend: agent/1\n"

struct refusal {
    const char *why, *text;
    uint32_t line, column;
    const char *message;
};

static const struct refusal agents_refused[] = {
    {"no version", "name: a", 1, 1, "the file needs 'wend: agent/1'"},
    {"a tool for an agent", "wend: tool/1", 1, 7,
     "wend must be agent/1, not 'tool/1'"},
    {"a list", "- a", 1, 1, "the file must be a mapping, not a list"},
    {"a misspelt key", TOP "modle: 'a:b'", 2, 1,
     "unknown key 'modle' in the file; did you mean 'model'?"},
    {"a misspelt key in JSON", "{\"wend\": \"agent/1\",\n  \"tols\": []}", 2, 3,
     "unknown key 'tols' in the file; did you mean 'tools'?"},
    {"a name of nothing", TOP "name: ''", 2, 7,
     "name must be a string that is not empty, not ''"},
    {"a zero byte", TOP "name: \"a\\0b\"", 2, 7, "name has a zero byte"},
    {"a model without a provider", TOP "model: gpt", 2, 8,
     "model must be provider:model, such as openai:NAME, not 'gpt'"},
    {"fallbacks that are one", TOP "fallback_models: 'a:b'", 2, 18,
     "fallback_models must be a list, not 'a:b'"},
    {"a fallback without a provider", TOP "fallback_models: ['a:b', c]", 2, 26,
     "fallback_models[1] must be provider:model, such as openai:NAME, not "
     "'c'"},
    {"a URL of another kind", TOP "base_url: ftp://x", 2, 11,
     "base_url must be a URL that begins with http:// or https://, not "
     "'ftp://x'"},
    {"no window", TOP "context_tokens: 0", 2, 17,
     "context_tokens must be a whole number from 1 to 1073741824, not 0"},
    {"tools that are one", TOP "tools: calculator", 2, 8,
     "tools must be a list, not 'calculator'"},
    {"a tool that is a number", TOP "tools: [5]", 2, 9,
     "tools[0] must be a string in quotes, not 5"},
    {"a misspelt limit", TOP "limits: {turn: 5}", 2, 10,
     "unknown key 'turn' in limits; did you mean 'turns'?"},
    {"no turns", TOP "limits: {turns: 0}", 2, 17,
     "limits.turns must be a whole number from 1 to 4294967295, not 0"},
    {"too much at once", TOP "limits: {parallel: 65}", 2, 20,
     "limits.parallel must be a whole number from 1 to 64, not 65"},
    {"no time", TOP "limits: {time: 0}", 2, 16,
     "limits.time must be a duration of at least 1ms, not 0"},
    {"no money", TOP "limits: {cost: 0.0}", 2, 16,
     "limits.cost must be USD above 0 with at most 9 decimals, such as 0.05, "
     "not 0.0"},
    {"money beyond all bounds", TOP "limits: {cost: 1e18}", 2, 16,
     "limits.cost must be USD above 0 with at most 9 decimals, such as 0.05, "
     "not 1e18"},
    {"a policy that is a mapping", TOP "policy: {tool: a, do: ask}", 2, 9,
     "policy must be a list, not a mapping"},
    {"a rule that is text", TOP "policy: ['!a']", 2, 10,
     "policy[0] must be a mapping, not '!a'"},
    {"a rule for nothing", TOP "policy: [{do: ask}]", 2, 10,
     "policy[0] needs 'tool'"},
    {"a rule without an answer", TOP "policy: [{tool: a}]", 2, 10,
     "policy[0] needs 'do'"},
    {"a misspelt answer", TOP "policy: [{tool: a, do: alow}]", 2, 24,
     "policy[0].do is 'alow'; did you mean 'allow'?"},
    {"another answer", TOP "policy: [{tool: a, do: maybe}]", 2, 24,
     "policy[0].do must be one of allow, deny, ask, not 'maybe'"},
    {"a rule with two answers", TOP "policy: [{tool: '!a', do: allow}]", 2, 17,
     "policy[0].tool must be tool or tool(arg-glob); what to do is said by "
     "'do', not '!a'"},
    {"a rule that is not closed", TOP "policy: [{tool: 'a(b', do: deny}]", 2,
     17, "policy[0]: rule '!a(b' has no closing )"},
    {"another network", TOP "network: some", 2, 10,
     "network must be one of on, off, not 'some'"},
    {"a place that is none", TOP "network: [db.local, 10.0.0.0/99]", 2, 21,
     "network: '10.0.0.0/99' is not a range like 10.0.0.0/8"},
    {"another memory", TOP "memory: asinc", 2, 9,
     "memory is 'asinc'; did you mean 'async'?"},
    {"a skill of nothing", TOP "skills: [a, '']", 2, 13,
     "skills[1] must be a string that is not empty, not ''"},
    {"a misspelt source", TOP "retrieval: {source: [a]}", 2, 13,
     "unknown key 'source' in retrieval; did you mean 'sources'?"},
    {"too many hits", TOP "retrieval: {top: 51}", 2, 18,
     "retrieval.top must be a whole number from 1 to 50, not 51"},
    {"servers as a list", TOP "mcp: [a]", 2, 6,
     "mcp must be a mapping from names, not a list"},
    {"a server of neither kind", TOP "mcp: {a: {timeout: 1s}}", 2, 10,
     "mcp.a needs either 'command' or 'url'"},
    {"a server of both kinds", TOP "mcp: {a: {command: [b], url: http://c}}", 2,
     10, "mcp.a needs either 'command' or 'url'"},
    {"a server with a dot", TOP "mcp: {a.b: {url: http://c}}", 2, 7,
     "the name of a server must be 1 to 32 of A-Z a-z 0-9 _ -, without __ and "
     "no _ at its end, not 'a.b'"},
    {"a server by a shell", TOP "mcp: {a: {command: 'b c'}}", 2, 20,
     "mcp.a.command must be a list such as [program, argument]; no shell "
     "takes it apart, not 'b c'"},
    {"an alias", TOP "tools: *a", 2, 8, "aliases (*) are not supported"},
};

#define TOOL "wend: tool/1\nname: t\ndescription: d\ncommand: [c]\n"

static const struct refusal tools_refused[] = {
    {"no version", "name: a", 1, 1, "the file needs 'wend: tool/1'"},
    {"an agent for a tool", "wend: agent/1", 1, 7,
     "wend must be tool/1, not 'agent/1'"},
    {"no name", "wend: tool/1", 1, 1, "the file needs 'name'"},
    {"no description", "wend: tool/1\nname: a", 1, 1,
     "the file needs 'description'"},
    {"no command", "wend: tool/1\nname: a\ndescription: b", 1, 1,
     "the file needs 'command'"},
    {"a name with a space", "wend: tool/1\nname: a b", 2, 7,
     "name must be 1 to 64 of A-Z a-z 0-9 _ . -, not 'a b'"},
    {"a misspelt key", TOOL "scema: {}", 5, 1,
     "unknown key 'scema' in the file; did you mean 'schema'?"},
    {"a command for a shell", "wend: tool/1\ncommand: rm -rf x", 2, 10,
     "command must be a list such as [program, argument]; no shell takes it "
     "apart, not 'rm -rf x'"},
    {"a command of nothing", "wend: tool/1\ncommand: []", 2, 10,
     "command names no program"},
    {"a program of nothing", "wend: tool/1\ncommand: ['', a]", 2, 10,
     "command names no program"},
    {"a number for an argument", "wend: tool/1\ncommand: [a, 5]", 2, 14,
     "command[1] must be a string in quotes, not 5"},
    {"a zero byte in an argument", "wend: tool/1\ncommand: [a, \"b\\0\"]", 2,
     14, "command[1] has a zero byte"},
    {"a schema that is text", TOOL "schema: object", 5, 9,
     "schema must be a mapping, not 'object'"},
    {"a misspelt class", TOOL "class: raed", 5, 8,
     "class is 'raed'; did you mean 'read'?"},
    {"another category", TOOL "category: odd", 5, 11,
     "category must be one of general, network, destructive, not 'odd'"},
    {"another label", TOOL "labels: [secret]", 5, 10,
     "labels[0] must be one of network, untrusted_source, sensitive, "
     "external_effect, not 'secret'"},
    {"no time", TOOL "timeout: 0", 5, 10,
     "timeout must be a duration of at least 1ms, not 0"},
    {"more time than can be counted", TOOL "timeout: 1200h", 5, 10,
     "timeout must be a duration of at most 4294967s, not '1200h'"},
    {"a switch that is neither", TOOL "sandbox: true", 5, 10,
     "sandbox must be one of on, off, not true"},
    {"a secret that is its value", TOOL "secrets: ['sk-1234']", 5, 11,
     "secrets[0] must be the name of an environment variable, not 'sk-1234'"},
    {"a secret that is a digit", TOOL "secrets: ['1A']", 5, 11,
     "secrets[0] must be the name of an environment variable, not '1A'"},
    {"a subject that it does not have",
     TOOL "subject: b\nschema: {properties: {a: {}}}", 5, 10,
     "subject: the schema has no property 'b'"},
    {"answers that nobody may keep", TOOL "class: idempotent\ncache: 1s", 6, 8,
     "cache: only answers of class read can be given again"},
    {"no calls at all", TOOL "per_minute: 0", 5, 13,
     "per_minute must be a whole number from 1 to 100000, not 0"},
    {"another output", TOOL "output: yaml", 5, 9,
     "output must be one of text, json, not 'yaml'"},
};

static void check_refusal(const struct refusal *r, bool tool)
{
    struct mem m = {0};
    struct arena a = {.mem = &m};
    struct agent_manifest *agent = NULL;
    struct tool_manifest *t = NULL;
    wend_error err = {0};
    wend_status s =
        tool ? tool_manifest_parse(str_of(r->text), &a, &t, &err)
             : agent_manifest_parse(str_of(r->text), &a, &agent, &err);

    tap_ok(s == WEND_E_PARSE && !agent && !t, "refused: %s", r->why);
    tap_is_str(str_of(err.message), r->message, "  says what");
    tap_is_i64(err.line, r->line, "  line");
    tap_is_i64(err.column, r->column, "  column");
    s = tool ? tool_manifest_parse(str_of(r->text), &a, &t, NULL)
             : agent_manifest_parse(str_of(r->text), &a, &agent, NULL);
    tap_is_i64(s, WEND_E_PARSE, "  and without a place for the message");
    arena_free(&a);
}

static void test_refused(void)
{
    for (size_t i = 0; i < tap_count(agents_refused); i++)
        check_refusal(&agents_refused[i], false);
    for (size_t i = 0; i < tap_count(tools_refused); i++)
        check_refusal(&tools_refused[i], true);
}

/* Its own words are core/schema's; the place is the file's. */
static void test_schema_refused(void)
{
    static const char text[] = TOOL "schema:\n  type: object\n"
                                    "  minProperties: many\n";
    struct mem m = {0};
    struct arena a = {.mem = &m};
    struct tool_manifest *t = NULL;
    wend_error err = {0};

    tap_ok(tool_manifest_parse(str_of(text), &a, &t, &err) < 0 && !t,
           "refused: a schema that is none");
    tap_is_i64(err.line, 7, "  line");
    tap_ok(!strncmp(err.message, "schema: ", 8) &&
               strstr(err.message, "minProperties"),
           "  says what: %s", err.message);
    arena_free(&a);
}

/* ---- Limits -------------------------------------------------------------- */

static void test_list(void)
{
    struct mem mem = {0};

    for (int n = MANIFEST_LIST_MAX - 1; n <= MANIFEST_LIST_MAX + 1; n++) {
        struct arena a = {.mem = &mem};
        struct buf b = {.mem = &mem};
        struct agent_manifest *m = NULL;

        buf_cstr(&b, "{\"wend\":\"agent/1\",\"tools\":[\"a\"");
        for (int i = 1; i < n; i++)
            buf_cstr(&b, ",\"a\"");
        buf_cstr(&b, "]}");
        tap_is_i64(agent_manifest_parse(buf_view(&b), &a, &m, NULL),
                   n <= MANIFEST_LIST_MAX ? WEND_OK : WEND_E_LIMIT,
                   "a list of %d", n);
        buf_free(&b);
        arena_free(&a);
    }
}

static void test_bytes(void)
{
    struct mem mem = {0};

    for (int extra = -1; extra <= 1; extra++) {
        struct arena a = {.mem = &mem};
        struct buf b = {.mem = &mem};
        struct agent_manifest *m = NULL;

        buf_cstr(&b, HEAD);
        while (b.len < (size_t)(MANIFEST_BYTES_MAX + extra))
            buf_char(&b, 'x');
        tap_is_i64(agent_manifest_parse(buf_view(&b), &a, &m, NULL),
                   extra <= 0 ? WEND_OK : WEND_E_LIMIT, "a file of %zu bytes",
                   b.len);
        buf_free(&b);
        arena_free(&a);
    }
}

/* ---- Small things -------------------------------------------------------- */

static void test_unserved(void)
{
    static const char text[] =
        TOP "memory: sync\nagents: [b.yaml]\nskills: [s]\n"
            "retrieval: {sources: [docs], top: 3}\n"
            "mcp: {a: {command: [x], sandbox: off, secrets: [K], timeout: 2s, "
            "network: on, trust: on}, "
            "b: {url: 'https://c/d'}}\n";
    static const char *const keys[] = {"skills", "retrieval", "memory"};
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct agent_manifest *m = NULL;
    wend_error err = {0};

    if (tap_ok(!agent_manifest_parse(str_of(text), &a, &m, &err),
               "what is not served is read: %s", err.message)) {
        for (size_t i = 0; i < tap_count(keys); i++)
            tap_is_str(str_of(agent_manifest_unserved(m, i)), keys[i],
                       "  named: %s", keys[i]);
        tap_ok(!agent_manifest_unserved(m, tap_count(keys)), "  no more");
        tap_ok(m->servers_count == 2 && m->servers[0].sandbox_off &&
                   m->servers[0].network_on && !m->servers[1].network_on &&
                   m->servers[0].trust && !m->servers[1].trust &&
                   m->servers[0].timeout_ms == 2000 &&
                   m->servers[0].secrets.count == 1 &&
                   m->servers[0].command.count == 1,
               "  a server by its command");
        tap_is_str(m->servers[1].name, "b", "  a server by its URL");
        tap_is_str(m->servers[1].url, "https://c/d", "  which");
        tap_is_i64(m->retrieval.top, 3, "  hits");
        tap_is_words(&m->retrieval.sources, "docs", "  sources");
    }
    arena_free(&a);
}

static void test_paths(void)
{
    static const struct {
        const char *of, *path, *wanted;
    } rows[] = {
        {"wend.yaml", "a.yaml", "a.yaml"},
        {"p/wend.yaml", "a.yaml", "p/a.yaml"},
        {"p/wend.yaml", "./a.yaml", "p/a.yaml"},
        {"p/wend.yaml", "././a.yaml", "p/a.yaml"},
        {"wend.yaml", "./a.yaml", "./a.yaml"},
        {"p/wend.yaml", "../a.yaml", "p/../a.yaml"},
        {"/p/wend.yaml", "q/a.yaml", "/p/q/a.yaml"},
        {"p/wend.yaml", "/a.yaml", "/a.yaml"},
        {"/wend.yaml", "a", "/a"},
    };
    struct mem m = {0};

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct buf b = {.mem = &m};

        manifest_path(&b, str_of(rows[i].of), str_of(rows[i].path));
        tap_is_str(buf_view(&b), rows[i].wanted, "%s of %s", rows[i].path,
                   rows[i].of);
        buf_free(&b);
    }
}

static void test_is_file(void)
{
    static const struct {
        const char *entry;
        bool file;
    } rows[] = {
        {"read_file", false}, {"a/b", true},      {"./a", true},
        {"a.yaml", true},     {"a.yml", true},    {"a.json", true},
        {"a.md", true},       {".yaml", false},   {"server.tool", false},
        {"yaml", false},      {"a.yamlx", false},
    };
    static const struct {
        const char *word;
        size_t i;
        bool path;
    } words[] = {
        {"python3", 0, false}, {"./a", 0, true},  {"a/b", 0, true},
        {"/bin/sh", 0, true},  {"a/b", 1, false}, {"./a", 1, true},
        {"../a", 2, true},     {".a", 1, false},  {"", 1, false},
        {"--x=./a", 1, false},
    };

    for (size_t i = 0; i < tap_count(rows); i++)
        tap_is_i64(manifest_is_file(str_of(rows[i].entry)), rows[i].file,
                   "a file: %s", rows[i].entry);
    for (size_t i = 0; i < tap_count(words); i++)
        tap_is_i64(manifest_word_is_path(str_of(words[i].word), words[i].i),
                   words[i].path, "a path: word %zu, '%s'", words[i].i,
                   words[i].word);
}

static void test_no_memory(bool tool)
{
    struct fault f = {0};
    int rounds = 0, bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m, .chunk_min = 16};
        struct agent_manifest *agent = NULL;
        struct tool_manifest *t = NULL;
        wend_error err = {0}; /* fail_in takes the status from it */
        wend_status s =
            tool ? tool_manifest_parse(str_of(manual_tool), &a, &t, &err)
                 : agent_manifest_parse(str_of(manual_agent), &a, &agent, &err);

        bad += s != (f.hit ? WEND_E_NOMEM : WEND_OK) || err.status != s;
        bad += !(tool ? (void *)t : (void *)agent) != f.hit;
        arena_free(&a);
        bad += f.live != 0;
        rounds++;
    }
    tap_ok(rounds > 3 && !bad, "no memory, at each of %d places", rounds - 1);
}

int main(void)
{
    test_agent();
    test_tool();
    test_tool_least();
    test_markdown();
    test_markdown_zero();
    test_refused();
    test_schema_refused();
    test_list();
    test_bytes();
    test_unserved();
    test_paths();
    test_is_file();
    test_no_memory(false);
    test_no_memory(true);
    return tap_done();
}
