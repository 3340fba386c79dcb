/*
 * 08_simulate.c - an agent in a simulated world: processes die, disks fail,
 * tools are late, and a mistake that needs bad luck is found in a moment.
 *
 * The tool says that it may be called twice with the same key, which wend
 * does when a process died in between. The first one does not keep this
 * promise.
 *
 *     cc 08_simulate.c $(pkg-config --cflags --libs wend) -o simulate
 *     ./simulate          all seeds
 *     ./simulate 4711     one of them, event by event
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wend.h>

static const char model[] =
    "script:{\"turns\":[{\"calls\":[{\"name\":\"charge\",\"args\":{\"cents\":"
    "1200}}]},{\"text\":\"Paid.\"}]}";

/* The world outside: it stays when a process dies. */
struct bank {
    int charges;
    char keys[8][128]; /* that it has seen */
    int keys_count;
    bool careful;
};

static wend_status charge(void *ctx, wend_call *call)
{
    struct bank *bank = ctx;
    wend_str key = wend_call_key(call), done = {"charged", 7};
    int i;

    for (i = 0; bank->careful && i < bank->keys_count; i++)
        if (strlen(bank->keys[i]) == key.len &&
            !memcmp(bank->keys[i], key.ptr, key.len))
            return wend_call_return(call, done); /* it was done before */
    if (bank->keys_count < 8 && key.len < sizeof bank->keys[0]) {
        memcpy(bank->keys[bank->keys_count], key.ptr, key.len);
        bank->keys[bank->keys_count++][key.len] = 0;
    }
    bank->charges++;
    return wend_call_return(call, done);
}

/* As the program does when it starts: after a crash it starts again. */
static wend_status make_agent(void *ctx, wend_runtime *rt, wend_agent **out,
                              wend_error *err)
{
    wend_agent_options options = {
        .size = sizeof options, .model = model, .approve = WEND_APPROVE_ALL};
    wend_tool_options tool = {.size = sizeof tool,
                              .name = "charge",
                              .description = "Charges the customer's card.",
                              .call_class = WEND_CLASS_IDEMPOTENT,
                              .fn = charge,
                              .ctx = ctx};
    wend_status s = wend_agent_new(rt, &options, out, err);

    return s == WEND_OK ? wend_agent_add_tool(*out, &tool, err) : s;
}

static void begin(void *ctx, uint64_t seed)
{
    struct bank *bank = ctx;

    (void)seed;
    bank->charges = bank->keys_count = 0;
}

static const char *check(void *ctx, const wend_event *run_end)
{
    const struct bank *bank = ctx;

    if (bank->charges > 1)
        return "the card was charged more than once";
    if (run_end->u.run_end.outcome == WEND_OUTCOME_OK && !bank->charges)
        return "the run is ok, but no charge was made";
    return NULL;
}

static void print_line(void *ctx, const char *text)
{
    (void)ctx;
    puts(text);
}

static bool simulate(struct bank *bank, uint64_t seed)
{
    wend_sim_options o = {.size = sizeof o,
                          .agent = make_agent,
                          .prompt = "Charge 12 dollars.",
                          .begin = begin,
                          .check = check,
                          .ctx = bank,
                          .seed = seed,
                          .seeds = seed ? 1 : 300,
                          .crash = 50,
                          .store_fail = 10,
                          .cancel = 5,
                          .pause = 10,
                          .tool_slow = 200,
                          .model_fail = 100,
                          .trace = seed ? print_line : NULL};
    wend_sim_report report = {.size = sizeof report};
    wend_error err = {WEND_OK, 0, 0, ""};
    wend_status s = wend_sim_run(&o, &report, &err);

    if (s != WEND_OK) {
        fprintf(stderr, "%s: %s\n", wend_status_name(s), err.message);
        exit(1);
    }
    if (report.failed && seed)
        printf("seed %llu: %s\n", (unsigned long long)report.seed, report.why);
    else if (report.failed)
        printf("found: %s\n", report.why);
    else
        printf("nothing found; processes died: %s, calls came again: %s\n",
               report.crashes ? "yes" : "no",
               report.calls_again ? "yes" : "no");
    return report.failed;
}

int main(int argc, char **argv)
{
    struct bank careless = {0}, careful = {0};
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    bool found;

    careful.careful = true;
    found = simulate(&careless, seed);
    if (seed)
        return found;
    return !found || simulate(&careful, 0);
}
