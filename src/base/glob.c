/*
 * glob.c - a pattern becomes a little program; all its paths are followed
 * at once, so no pattern makes a match more than linear in the text.
 */
#include "base/glob.h"

#include "base/fail.h"
#include "base/limits.h"
#include "base/utf8.h"

enum {
    BRACES_MAX = 16,      /* nested; people stay below three */
    OPS_A_BYTE = 3,       /* a star needs the most */
    BYTE_FIRST = 1 << 21, /* symbols for bytes that are not UTF-8 */
};

enum op_kind {
    OP_SYMBOL, /* exactly this */
    OP_NAME,   /* any but a slash */
    OP_ANY,    /* a slash, too */
    OP_SET,    /* in the ranges, or not in them; never a slash */
    OP_SPLIT,  /* both to `to` and to the next */
    OP_JUMP,
    OP_END,
};

struct range {
    uint32_t from, to;
};

struct op {
    enum op_kind kind;
    uint32_t symbol; /* OP_SET: number of ranges */
    uint32_t to;
    bool negated;
    struct range *ranges;
};

/* Which ops are alive, each once. */
struct set {
    uint32_t *at;
    uint32_t count;
};

struct glob {
    struct op *ops;
    uint32_t count;
    struct set now, next;
    uint32_t *marks; /* the round in which an op was added */
    uint32_t *stack;
    uint32_t round;
    uint64_t steps;
};

/* An open brace, while compiling. */
struct brace {
    uint32_t split; /* of the alternative that is being read */
    uint32_t jumps; /* chain of those that leave, 0 = none */
    bool at_start;  /* it stands where a component begins */
};

struct reader {
    struct glob *g;
    struct arena *arena;
    wend_str in;
    size_t at;
    struct brace braces[BRACES_MAX];
    int depth;
    bool at_start; /* of a component */
    wend_error *err;
};

/* ---- Symbols ------------------------------------------------------------- */

static uint32_t next_symbol(wend_str s, size_t *at)
{
    unsigned char first = (unsigned char)s.ptr[*at];
    size_t len = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    wend_str next = {s.ptr + *at, len};

    if (first < 0x80 || len > s.len - *at || utf8_valid_len(next) != len) {
        ++*at;
        return first < 0x80 ? first : BYTE_FIRST + first;
    }
    *at += len;
    return utf8_first(next, &len);
}

/* ---- Compiling ----------------------------------------------------------- */

static uint32_t put(struct reader *r, struct op op)
{
    r->g->ops[r->g->count] = op;
    return r->g->count++;
}

static wend_status wrong(struct reader *r, size_t at, const char *what)
{
    return fail(r->err, WEND_E_PARSE, "pattern: %s at byte %zu", what, at + 1);
}

static bool ahead_is(const struct reader *r, size_t by, char c)
{
    return r->in.len - r->at > by && r->in.ptr[r->at + by] == c;
}

/* op* */
static void put_many(struct reader *r, enum op_kind kind)
{
    uint32_t split = put(r, (struct op){.kind = OP_SPLIT});

    put(r, (struct op){.kind = kind});
    put(r, (struct op){.kind = OP_JUMP, .to = split});
    r->g->ops[split].to = r->g->count;
}

/* A component of two stars: does it end here? */
static bool ends_component(const struct reader *r)
{
    return r->at == r->in.len || ahead_is(r, 0, '/') ||
           (r->depth && (ahead_is(r, 0, ',') || ahead_is(r, 0, '}')));
}

static void read_stars(struct reader *r)
{
    size_t stars = 0;
    uint32_t split;

    while (ahead_is(r, 0, '*')) {
        r->at++;
        stars++;
    }
    if (stars < 2 || !r->at_start || !ends_component(r)) {
        put_many(r, OP_NAME);
    } else if (ahead_is(r, 0, '/')) { /* with its slash, or not at all */
        r->at++;
        split = put(r, (struct op){.kind = OP_SPLIT});
        put_many(r, OP_ANY);
        put(r, (struct op){.kind = OP_SYMBOL, .symbol = '/'});
        r->g->ops[split].to = r->g->count;
        return; /* still where a component begins */
    } else {
        put(r, (struct op){.kind = OP_ANY});
        put_many(r, OP_ANY);
    }
    r->at_start = false;
}

static wend_status read_symbol(struct reader *r, uint32_t *out)
{
    size_t at = r->at;

    if (r->in.ptr[r->at] == '\\' && ++r->at == r->in.len)
        return wrong(r, at, "nothing after the last backslash");
    *out = next_symbol(r->in, &r->at);
    return WEND_OK;
}

static wend_status read_set(struct reader *r)
{
    size_t start = r->at++, first;
    struct op op = {.kind = OP_SET};
    wend_status s;

    op.ranges = arena_alloc(r->arena, (r->in.len - start) * sizeof *op.ranges);
    if (!op.ranges)
        return fail_nomem(r->err);
    op.negated = ahead_is(r, 0, '!') || ahead_is(r, 0, '^');
    r->at += op.negated;
    for (first = r->at; r->at == first || !ahead_is(r, 0, ']');) {
        struct range *range = &op.ranges[op.symbol++];

        if (r->at >= r->in.len)
            return wrong(r, start, "[ without ]");
        s = read_symbol(r, &range->from);
        if (s)
            return s;
        range->to = range->from;
        if (!ahead_is(r, 0, '-') || r->in.len - r->at < 2 ||
            ahead_is(r, 1, ']'))
            continue;
        r->at++;
        s = read_symbol(r, &range->to);
        if (s)
            return s;
        if (range->to < range->from)
            return wrong(r, start, "a range that runs backwards in [..]");
    }
    r->at++;
    put(r, op);
    return WEND_OK;
}

/* `{a,b}` is: split to b; a; jump out; b. */
static wend_status open_brace(struct reader *r)
{
    if (r->depth == BRACES_MAX)
        return wrong(r, r->at, "too many { inside each other");
    r->at++;
    r->braces[r->depth++] = (struct brace){
        .split = put(r, (struct op){.kind = OP_SPLIT}),
        .at_start = r->at_start,
    };
    return WEND_OK;
}

static void next_alternative(struct reader *r)
{
    struct brace *b = &r->braces[r->depth - 1];

    r->at++;
    b->jumps = put(r, (struct op){.kind = OP_JUMP, .to = b->jumps});
    r->g->ops[b->split].to = r->g->count;
    b->split = put(r, (struct op){.kind = OP_SPLIT});
    r->at_start = b->at_start;
}

static void close_brace(struct reader *r)
{
    const struct brace *b = &r->braces[--r->depth];
    uint32_t jump = b->jumps, next;

    r->at++;
    /* The last one has no other to split to. */
    r->g->ops[b->split] = (struct op){.kind = OP_JUMP, .to = b->split + 1};
    for (; jump; jump = next) {
        next = r->g->ops[jump].to;
        r->g->ops[jump].to = r->g->count;
    }
    r->at_start = false;
}

static wend_status read_item(struct reader *r)
{
    uint32_t symbol;
    wend_status s;

    switch (r->in.ptr[r->at]) {
    case '*': read_stars(r); return WEND_OK;
    case '{': return open_brace(r);
    case '[': r->at_start = false; return read_set(r);
    case '?':
        r->at++;
        r->at_start = false;
        put(r, (struct op){.kind = OP_NAME});
        return WEND_OK;
    case ',':
        if (r->depth) {
            next_alternative(r);
            return WEND_OK;
        }
        break;
    case '}':
        if (!r->depth)
            return wrong(r, r->at, "} without {");
        close_brace(r);
        return WEND_OK;
    }
    s = read_symbol(r, &symbol);
    if (s)
        return s;
    put(r, (struct op){.kind = OP_SYMBOL, .symbol = symbol});
    r->at_start = symbol == '/';
    return WEND_OK;
}

static wend_status read_all(struct reader *r)
{
    wend_status s = WEND_OK;

    while (!s && r->at < r->in.len)
        s = read_item(r);
    if (!s && r->depth)
        s = wrong(r, r->in.len, "{ without }");
    put(r, (struct op){.kind = OP_END});
    return s;
}

wend_status glob_compile(wend_str pattern, struct arena *a, struct glob **out,
                         wend_error *err)
{
    size_t ops_max = (pattern.len + 1) * OPS_A_BYTE;
    struct glob *g = arena_alloc(a, sizeof *g);
    struct reader r = {
        .g = g, .arena = a, .in = pattern, .at_start = true, .err = err};
    wend_status s;

    if (!pattern.len)
        return fail(err, WEND_E_PARSE, "pattern: it is empty");
    if (pattern.len > GLOB_PATTERN_MAX)
        return fail(err, WEND_E_LIMIT, "pattern: it is over %d bytes",
                    GLOB_PATTERN_MAX);
    if (g)
        g->ops = arena_alloc(a, ops_max * sizeof *g->ops);
    if (!g || !g->ops)
        return fail_nomem(err);
    s = read_all(&r);
    if (s)
        return s;
    g->now.at = arena_alloc(a, g->count * sizeof *g->now.at);
    g->next.at = arena_alloc(a, g->count * sizeof *g->next.at);
    g->marks = arena_alloc(a, g->count * sizeof *g->marks);
    g->stack = arena_alloc(a, g->count * sizeof *g->stack);
    if (a->failed)
        return fail_nomem(err);
    *out = g;
    return WEND_OK;
}

/* ---- Matching ------------------------------------------------------------ */

/* Adds an op and all that it leads to without a symbol. */
static void add(struct glob *g, struct set *set, uint32_t at)
{
    uint32_t depth = 0;

    g->stack[depth++] = at;
    while (depth) {
        const struct op *op;

        at = g->stack[--depth];
        op = &g->ops[at];
        g->steps++;
        while (g->marks[at] != g->round &&
               (op->kind == OP_SPLIT || op->kind == OP_JUMP)) {
            g->marks[at] = g->round;
            g->steps++;
            if (op->kind == OP_SPLIT)
                g->stack[depth++] = op->to;
            at = op->kind == OP_JUMP ? op->to : at + 1;
            op = &g->ops[at];
        }
        if (g->marks[at] == g->round)
            continue;
        g->marks[at] = g->round;
        set->at[set->count++] = at;
    }
}

static bool takes(const struct op *op, uint32_t symbol)
{
    bool in = false;

    switch (op->kind) {
    case OP_SYMBOL: return op->symbol == symbol;
    case OP_NAME: return symbol != '/';
    case OP_ANY: return true;
    case OP_SET:
        for (uint32_t i = 0; i < op->symbol && !in; i++)
            in = symbol >= op->ranges[i].from && symbol <= op->ranges[i].to;
        return symbol != '/' && in != op->negated;
    case OP_SPLIT:
    case OP_JUMP:
    case OP_END: break;
    }
    return false;
}

static void start_round(struct glob *g, struct set *set)
{
    set->count = 0;
    if (++g->round)
        return;
    memset(g->marks, 0, g->count * sizeof *g->marks); /* it went round */
    g->round = 1;
}

static void step(struct glob *g, uint32_t symbol)
{
    struct set old = g->now;

    start_round(g, &g->next);
    for (uint32_t i = 0; i < old.count; i++) {
        const struct op *op = &g->ops[old.at[i]];

        g->steps += 1 + (op->kind == OP_SET ? op->symbol : 0);
        if (takes(op, symbol))
            add(g, &g->next, old.at[i] + 1);
    }
    g->now = g->next;
    g->next = old;
}

static void follow(struct glob *g, wend_str text)
{
    start_round(g, &g->now);
    add(g, &g->now, 0);
    for (size_t at = 0; at < text.len && g->now.count;)
        step(g, next_symbol(text, &at));
}

/* OP_END is the last op. */
static bool has_end(const struct glob *g)
{
    for (uint32_t i = 0; i < g->now.count; i++)
        if (g->now.at[i] == g->count - 1)
            return true;
    return false;
}

bool glob_match(struct glob *g, wend_str path)
{
    follow(g, path);
    return has_end(g);
}

bool glob_leads(struct glob *g, wend_str dir)
{
    follow(g, dir);
    step(g, '/');
    return g->now.count > has_end(g);
}

uint64_t glob_steps(const struct glob *g)
{
    return g->steps;
}
