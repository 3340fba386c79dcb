/*
 * cmd_plan.c - wend plan: shows what a plan will do, or runs it.
 */
#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/limits.h"
#include "cli/agent/agent.h"
#include "cli/cmd/cmd.h"
#include "cli/filter.h"
#include "cli/rows.h"
#include "cli/stream.h"
#include "cli/term.h"
#include "cli/view/plan_draw.h"

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_DOT, FORMAT_SVG, FORMAT_HTML };
static const char *const formats[] = {"text", "json", "dot",
                                      "svg",  "html", NULL};

static const char *const tool_words[] = {
    "a plan can use every tool: --approve NAME allows its calls, and --tools "
    "FILE adds a tool"};

static const struct opt opts[] = {
    ROW_LIST(inputs, "set", "K=V",
             "override an input of the file; may be repeated"),
    ROW_WORD(format, "format", "text|json|dot|svg|html", formats,
             "output format of show (default: as FILE of -o ends)"),
    ROW_JSON("show: as --format json; run: events as JSON lines"),
    ROW_TOOLS("file with a tool that the plan may use"),
    {.letter = 't',
     .name = "tool",
     .value = "NAME",
     .kind = OPT_REFUSED,
     .words = tool_words},
    ROW_MCP("run: MCP server NAME=COMMAND or NAME=URL"),
    ROW_AGENT("run: agent with the rules and tools to use"),
    ROW_MODEL("model: provider:model or script:FILE"),
    ROW_BASE_URL("run: "),
    ROW_MODELS,
    ROW_PARAM("run: "),
    ROW_FILES("run: file of an action, by its name; may be repeated"),
    ROW_TEXT(key_file, "key-file", "FILE",
             "run: file with the provider's API key"),
    ROWS_TLS,
    ROW_STORE_ANY,
    ROW_EVENTS("run: "),
    ROW_PARALLEL("run: maximum number of concurrent actions"),
    ROWS_BUDGET("run: maximum duration", "run: " LIMIT_TOKENS,
                "run: " LIMIT_COST),
    ROW_APPROVE("run: ask, deny, all or a rule; may be repeated"),
    ROW_SANDBOX("run: " SANDBOX_HELP),
    ROWS_NAMES("run: "),
    ROW_LOG_FILE("run: "),
    ROW_TEXT(output, "output", "FILE",
             "write the outputs, or what show prints, to FILE", .letter = 'o'),
    ROW_STREAM("run: "),
    ROW_FLAG(dry_run, "dry-run",
             "run: only list what would be asked for approval"),
    ROW_QUIET("run: print only the outputs"),
    ROW_VERBOSE("run: print details to standard error"),
    ROWS_END,
};

/* ---- The file ------------------------------------------------------------ */

/* The plan with all the files that it names, in cli->plan; prints errors. */
static int open_plan(struct cli *cli, const char *path)
{
    size_t count = cli->tool_files_count;
    const char **tools = arena_alloc(&cli->arena, (count + 1) * sizeof *tools);
    const char **schemas =
        arena_alloc(&cli->arena, (count + 1) * sizeof *schemas);
    const wend_manifest_options o = {.size = sizeof o,
                                     .plan = true,
                                     .sets = cli->set.inputs.items,
                                     .sets_count = cli->set.inputs.count,
                                     .tools = tools,
                                     .tools_count = count,
                                     .schemas = schemas};

    for (size_t i = 0; i < count; i++) {
        tools[i] = cli->tool_files[i]->name;
        schemas[i] = cli->tool_files[i]->commands[0]->schema;
    }
    return report(cli, manifest_open(cli, path, &o, &cli->plan));
}

/* ---- Showing it ---------------------------------------------------------- */

/* Shows learned durations beside the estimates. The store is not created for
 * this, and an unreadable one is ignored. */
static void learn(struct cli *cli, wend_plan *plan)
{
    struct buf path = {.mem = &cli_mem};
    wend_store *store = NULL;

    if (store_file(cli, &path) && !access(path.ptr, R_OK) &&
        wend_store_open(path.ptr, &store, NULL) == WEND_OK)
        (void)wend_plan_learn(plan, store, cli->set.model, NULL);
    wend_store_free(store);
}

static int show_text(const struct cli *cli, const struct json *plan,
                     const struct plan_cost *cost)
{
    bool screen = !cli->set.output;
    struct buf b = {.mem = &cli_mem};
    const struct plan_look look = {.columns = term_width(STDOUT_FILENO),
                                   .lines = screen && isatty(STDOUT_FILENO),
                                   .colour =
                                       screen && term_colour(STDOUT_FILENO),
                                   .cost = *cost};

    plan_draw(&b, plan, &look);
    return screen ? print_fit(&b) : print_safe(cli, &b, NULL);
}

static int show_json(const struct cli *cli, wend_str json,
                     const struct plan_cost *cost)
{
    struct buf b = {.mem = &cli_mem}, shown = {.mem = &cli_mem};

    buf_add(&b, json.ptr, json.len - 1); /* without the last brace */
    json_open(&b, "cost", '{');
    json_add_i64(&b, "asked", cost->asked);
    json_add_i64(&b, "priced", cost->priced);
    if (cost->priced)
        json_add_nano(&b, "most", cost->most_nano);
    buf_cstr(&b, "}}");
    term_json(&shown, buf_view(&b));
    buf_char(&shown, '\n');
    return print_safe(cli, &shown, NULL);
}

static int show_raw(const struct cli *cli, wend_str text)
{
    struct buf b = {.mem = &cli_mem};

    term_text(&b, text);
    return print_safe(cli, &b, NULL);
}

static int plan_show(struct cli *cli)
{
    static const wend_plan_format of[] = {
        [FORMAT_TEXT] = WEND_PLAN_JSON, [FORMAT_JSON] = WEND_PLAN_JSON,
        [FORMAT_DOT] = WEND_PLAN_DOT,   [FORMAT_SVG] = WEND_PLAN_SVG,
        [FORMAT_HTML] = WEND_PLAN_HTML,
    };
    int64_t format =
        cli->set.json ? FORMAT_JSON : output_format(&cli->set, formats);
    wend_plan *plan = cli->plan->plan;
    struct plan_cost cost = {0};
    const struct json *json;
    wend_str text;
    int code;

    learn(cli, plan);
    if (wend_plan_describe(plan, of[format], &text, &cli->err) != WEND_OK)
        return complain(EXIT_FAILED, "%s", cli->err.message);
    if (format > FORMAT_JSON)
        return show_raw(cli, text);
    json = json_parse(text, &cli->arena, NULL);
    assert(json); /* our own */
    code = plan_cost(cli, json, &cost);
    if (code)
        return code;
    return format == FORMAT_TEXT ? show_text(cli, json, &cost)
                                 : show_json(cli, text, &cost);
}

/* ---- A dry run ----------------------------------------------------------- */

struct dry_run {
    struct buf out;
    bool json;
    int64_t counts[WEND_DECISION_ASK + 1];
};

static const char *const decisions[] = {
    [WEND_DECISION_ALLOW] = "allowed",
    [WEND_DECISION_DENY] = "denied",
    [WEND_DECISION_ASK] = "asked",
};

static void put_verdict_json(struct buf *out, const wend_plan_verdict *v)
{
    struct buf b = {.mem = out->mem};

    json_open(&b, NULL, '{');
    json_add_str(&b, "action", v->action);
    if (v->within.ptr)
        json_add_str(&b, "within", v->within);
    json_add_str(&b, "type", v->type);
    json_add_nullable(&b, "target", v->target);
    if (v->args_json.ptr)
        json_add_raw(&b, "args", v->args_json);
    json_add_str(&b, "decision", str_of(decisions[v->decision]));
    json_add_str(&b, "risk", str_of(wend_risk_name(v->risk)));
    json_add_nullable(&b, "rule", v->rule);
    json_add_nullable(&b, "reason", v->reason);
    json_add_nullable(&b, "allow", v->allow);
    json_close(&b, '}');
    term_json(out, buf_view(&b));
    buf_char(out, '\n');
    buf_free(&b);
}

static void put_verdict_text(struct buf *b, const wend_plan_verdict *v)
{
    enum { NAME_COLUMNS = 20, TEXT_COLUMNS = 200 };
    struct buf rule = {.mem = b->mem}, name = rule;

    buf_str(&name, v->within);
    buf_cstr(&name, v->within.ptr ? "/" : "");
    buf_str(&name, v->name);
    term_cell(b, buf_view(&name), NAME_COLUMNS);
    buf_free(&name);
    buf_fmt(b, " %-8s", decisions[v->decision]);
    buf_fmt(b, " %.*s ", (int)v->type.len, v->type.ptr);
    if (v->target.ptr)
        term_line(b, v->target, TEXT_COLUMNS);
    buf_cstr(b, v->decision == WEND_DECISION_ALLOW ? ", by " : ": ");
    term_line(b, v->decision == WEND_DECISION_ALLOW ? v->rule : v->reason,
              TEXT_COLUMNS);
    if (str_is(v->type, "tool") && !v->args_json.ptr)
        buf_cstr(b, "; its arguments are known only when it runs");
    buf_char(b, '\n');
    if (v->decision == WEND_DECISION_ALLOW || !v->allow.len)
        return;
    buf_quoted(&rule, v->allow);
    buf_fmt(b, "%*s --approve ", NAME_COLUMNS + 9, "");
    term_text(b, buf_view(&rule)); /* whole: it is to be pasted */
    buf_cstr(b, " allows it\n");
    buf_free(&rule);
}

static void on_verdict(void *ctx, const wend_plan_verdict *v)
{
    struct dry_run *d = ctx;

    d->counts[v->decision]++;
    (d->json ? put_verdict_json : put_verdict_text)(&d->out, v);
}

static int plan_failed(struct cli *cli)
{
    return complain(EXIT_USAGE, "%s:%u:%u: %s", cli->plan->path, cli->err.line,
                    cli->err.column, cli->err.message);
}

/* In memory: not even a store is made. */
static int plan_dry_run(struct cli *cli)
{
    struct dry_run d = {.out.mem = &cli_mem, .json = cli->set.json};
    wend_status s;
    int code;

    cli->set.store = "memory:";
    code = open_runtime(cli);
    if (!code)
        code = agent_make(cli);
    if (code)
        return code;
    s = wend_plan_preview(cli->made, cli->plan->plan, on_verdict, &d,
                          &cli->err);
    if (s != WEND_OK)
        return cli->err.line ? plan_failed(cli) : report(cli, s);
    if (!d.json)
        buf_fmt(&d.out,
                "%lld allowed, %lld asked, %lld denied; nothing was run\n",
                (long long)d.counts[WEND_DECISION_ALLOW],
                (long long)d.counts[WEND_DECISION_ASK],
                (long long)d.counts[WEND_DECISION_DENY]);
    return print_safe(cli, &d.out, NULL);
}

/* ---- A run --------------------------------------------------------------- */

static int plan_run(struct cli *cli)
{
    wend_run_options o = {.size = sizeof o};
    struct stream st = {.cli = cli};
    wend_status s;
    int code = names_fill(cli, &o);

    if (!code)
        code = read_parts(cli, &o.parts, &o.parts_count);
    if (!code)
        code = stream_new(&st);
    if (code)
        return code;
    s = wend_run_start_plan(cli->made, cli->plan->plan, NULL, &o, &st.run,
                            &cli->err);
    if (s != WEND_OK && cli->err.line) {
        stream_close(&st);
        return plan_failed(cli);
    }
    return stream_run(&st, s);
}

static int cmd_plan(struct cli *cli)
{
    const char *what = cli->args_count ? cli->args[0] : "";
    bool runs = !strcmp(what, "run");
    int code;

    if (!*what)
        return usage_error(cli, "plan: expected show or run");
    if (!runs && strcmp(what, "show") != 0)
        return usage_error(
            cli, "plan: unknown subcommand '%s'; expected show or run", what);
    if (cli->args_count != 2)
        return usage_error(cli, "plan %s: expected one FILE", what);
    if (!runs && cli->set.dry_run)
        return usage_error(cli, "plan show runs nothing; --dry-run is for run");
    code = tools_load(cli);
    if (!code)
        code = open_plan(cli, cli->args[1]);
    if (code)
        return code;
    if (runs)
        return cli->set.dry_run ? plan_dry_run(cli) : plan_run(cli);
    return plan_show(cli);
}

const struct command command_plan = {
    .name = "plan",
    .args = "show|run [OPTIONS] FILE",
    .summary = "show a plan, or run it",
    .more = "show validates the plan and draws its graph without running "
            "anything. run\n"
            "executes it; every known tool can be a target, and approval works "
            "as for 'wend\n"
            "run'. The outputs of the plan go to standard output. FILE - is "
            "standard input.\n"
            "run --dry-run lists for each action whether it would be allowed, "
            "asked or\n"
            "denied. See wend-plan(5) for the format.\n",
    .args_max = ARGS_ANY,
    .opts = opts,
    .takes_agent = true,
    .makes_store = true,
    .run = cmd_plan,
};
