/*
 * tt_bracket.c - the brackets of one call: how it starts, and how it ends.
 *
 * Each call_start has one call_end. A call that an interruption cut off is
 * open when the run resumes; if it begins again, its first attempt ends as
 * superseded just before, so that exactly one end of a call is a result.
 */
#include "core/turn/tt_step.h"

#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"

/* The same on every attempt, in every resume and every fork; but a fork has
 * children of its own. */
static wend_str call_key(struct tt *x, const struct call *c)
{
    const struct turn *t = &x->s->turn;
    const struct begun *before = turn_begun(t, c->index);
    const struct tool *tool = config_tool(t->config, c->name);
    struct buf b = {.mem = x->s->scratch->mem};

    if (before && before->key.len &&
        !(tool && tool->child && !is_own_key(t, before->key)))
        return before->key;
    buf_room(&b, t->run.len + c->id.len + 32);
    buf_str(&b, t->run);
    buf_char(&b, '/');
    buf_i64(&b, t->counter);
    buf_char(&b, '/');
    buf_str(&b, c->id);
    return take_text(x, &b);
}

/* The model gets at most OUTPUT_BYTES_MAX; the whole is kept as a blob. */
static wend_str cut_output(struct tt *x, wend_str output)
{
    enum { MARK_ROOM = 256 };
    struct event_blob *blob = arena_alloc(x->s->scratch, sizeof *blob);
    struct buf b = {.mem = x->s->scratch->mem};
    unsigned char digest[SHA256_BYTES];
    struct sha256 sha;
    size_t cut = utf8_cut(output, OUTPUT_BYTES_MAX - MARK_ROOM);

    if (!blob)
        return output;
    sha256_init(&sha);
    sha256_add(&sha, output.ptr, output.len);
    sha256_end(&sha, digest);
    hex_text(blob->hash, digest, sizeof digest);
    blob->text = output;
    blob->next = x->s->blobs.first;
    x->s->blobs.first = blob;
    x->s->blobs.count++;
    buf_add(&b, output.ptr, cut);
    buf_fmt(&b, "\n[cut: %zu of %zu" CUT_MARK "%s has all]", cut, output.len,
            blob->hash);
    return take_text(x, &b);
}

static bool only_reads(struct tt *x, const struct call *c)
{
    const struct tool *tool = config_tool(x->s->turn.config, c->name);

    return tool && tool->call_class == WEND_CLASS_READ;
}

/* labels: what it brought into the run; absent if it did not run. */
static void emit_call_end(struct tt *x, const struct call *c,
                          const struct call_done *d, wend_str labels)
{
    wend_event *ev = draft(x, WEND_CALL_END);
    wend_ev_call_end *e;
    wend_ev_error *error;

    if (!ev)
        return;
    e = &ev->u.call_end;
    e->call = c->id;
    e->name = c->name;
    e->outcome = d->outcome;
    e->output = d->output;
    e->ms = d->ms;
    e->cached = d->cached;
    e->labels_json = labels;
    e->structured_json = d->structured;
    if (d->output.len > OUTPUT_BYTES_MAX) {
        e->output = cut_output(x, d->output);
        e->truncated = true;
    }
    if (d->outcome != WEND_OUTCOME_OK &&
        d->outcome != WEND_OUTCOME_SUPERSEDED) {
        error = draft_error(x, d->code.ptr ? d->code : STR("failed"), e->output,
                            STR("tool"));
        if (error)
            error->effect_possible = d->effect_possible && !only_reads(x, c);
        e->error = error;
    }
    emit(x, ev);
}

/* Its bracket is open, and no process runs it. */
static bool is_cut_off(const struct turn *t, const struct call *c)
{
    return c->index < t->calls_count && bit_get(&t->lost, c->index) &&
           !bit_get(&t->superseded, c->index);
}

/* It gave nothing that anybody saw, so it brings no labels, and no error. */
static void supersede(struct tt *x, const struct call *c)
{
    const struct call_done d = {.outcome = WEND_OUTCOME_SUPERSEDED,
                                .output = STR("")};

    emit_call_end(x, c, &d, STR_NONE);
}

wend_str emit_call_start(struct tt *x, const struct call *c,
                         const struct admission *a, wend_str args)
{
    const struct begun *before = turn_begun(&x->s->turn, c->index);
    wend_event *ev;
    wend_ev_call_start *e;

    if (is_cut_off(&x->s->turn, c))
        supersede(x, c);
    ev = draft(x, WEND_CALL_START);
    if (!ev)
        return STR_NONE;
    e = &ev->u.call_start;
    e->call = c->id;
    e->name = c->name;
    e->args_json = args.ptr ? args : c->args;
    e->args_invalid = c->invalid && !args.ptr;
    e->call_class = a->tool ? a->tool->call_class : WEND_CLASS_UNSAFE;
    e->key = call_key(x, c);
    e->attempt = before ? before->attempt + 1 : 1;
    e->policy = a->verdict.policy;
    emit(x, ev);
    return e->key;
}

void admit_resumed(const struct turn *t, const struct call *c,
                   struct admission *a)
{
    memset(a, 0, sizeof *a);
    a->tool = config_tool(t->config, c->name);
    if (!a->tool)
        return;
    a->verdict.policy.risk = a->tool->risk;
    a->verdict.policy.layers_json = a->tool->layers_ok;
    a->verdict.policy.rule = STR("resumed");
}

/* A fork may begin between the end of the attempt that was cut off and the
 * start of the next one: then what ends has no open bracket. */
static void reopen(struct tt *x, const struct call *c)
{
    const struct begun *before = turn_begun(&x->s->turn, c->index);
    struct admission a;

    admit_resumed(&x->s->turn, c, &a);
    emit_call_start(x, c, &a, before ? before->args : STR_NONE);
}

void emit_ran(struct tt *x, const struct call *c, const struct call_done *d)
{
    if (bit_get(&x->s->turn.superseded, c->index))
        reopen(x, c);
    end_child(x, turn_call_child(&x->s->turn, c->index), d->child);
    emit_call_end(x, c, d, call_labels_text(x, c, d));
}

void end_unstarted_call(struct tt *x, const struct call *c,
                        const struct admission *a, wend_outcome outcome,
                        wend_str code, wend_str message)
{
    struct call_done d = {.outcome = outcome, .code = code, .output = message};

    emit_call_start(x, c, a, STR_NONE);
    emit_call_end(x, c, &d, STR_NONE);
}

void start_call(struct tt *x, const struct call *c, const struct admission *a,
                wend_str args)
{
    struct effect *fx;
    wend_str key;

    if (is_plan_tool(x->s->turn.config, c->name)) {
        start_plan_call(x, c, a, args);
        return;
    }
    key = emit_call_start(x, c, a, args);
    if (a->tool->child) {
        start_call_child(x, c->index, key);
        return;
    }
    fx = want(x, FX_RUN_CALL);
    if (!fx)
        return;
    fx->call = turn_call(&x->s->turn, c->index);
    fx->tool = a->tool;
    fx->args = args.ptr ? args : c->args;
    fx->key = key;
}
