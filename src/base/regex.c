/*
 * regex.c - compiles and searches with PCRE2, within limits.
 *
 * PCRE2 restarts its own limit at every place where a match may begin, so the
 * work of a search is counted here: a callout before each item of the pattern
 * sees how far the search has moved since the last one.
 */
#include "base/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/fail.h"
#include "base/limits.h"

enum {
    NESTING_MAX = 100,  /* of groups; compiling recurses on each */
    DEPTH_MAX = 200000, /* of backtracking, about 130 bytes each */
    HEAP_KIB_MAX = 32 << 10,
    MATCH_MAX = 10000000, /* our own count ends it long before */
    BYTES_A_UNIT = 32,    /* walked over in the time of a callout */
    CAPTURES_A_UNIT = 16, /* copied in that time */
};

struct regex {
    struct mem mem;      /* for searches */
    struct arena *arena; /* while it compiles, or keeps what searches need */
    pcre2_general_context *memory;
    pcre2_code *code;
    pcre2_match_context *context; /* kept, or NULL: made for each search */
    pcre2_match_data *data;       /* the same */
    uint32_t unit;                /* what one step costs: captures are copied */
};

struct spending {
    uint64_t left;
    size_t at; /* where the search was */
    uint32_t unit;
};

static void *take(PCRE2_SIZE size, void *ctx)
{
    struct regex *r = ctx;

    return r->arena ? arena_alloc(r->arena, size) : mem_alloc(&r->mem, size);
}

static void give(void *p, void *ctx)
{
    struct regex *r = ctx;

    if (!r->arena)
        mem_free(&r->mem, p);
}

static int spend(pcre2_callout_block *block, void *ctx)
{
    struct spending *s = ctx;
    size_t now = block->current_position;
    size_t moved = now > s->at ? now - s->at : s->at - now;
    uint64_t cost = s->unit + moved / BYTES_A_UNIT;

    s->at = now;
    if (cost > s->left) {
        s->left = 0;
        return PCRE2_ERROR_CALLOUT;
    }
    s->left -= cost;
    return 0;
}

static wend_status compile(struct regex *r, wend_str text, uint32_t options,
                           wend_error *err)
{
    pcre2_compile_context *c;
    uint32_t captures = 0;
    PCRE2_UCHAR said[120];
    PCRE2_SIZE at = 0;
    int code = 0;

    options |= PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_AUTO_CALLOUT |
               PCRE2_NEVER_BACKSLASH_C;
    r->memory = pcre2_general_context_create(take, give, r);
    c = r->memory ? pcre2_compile_context_create(r->memory) : NULL;
    if (!c)
        return fail_nomem(err);
    /* PCRE2 10.42 takes some properties for disjoint that are not. */
    if (memmem(text.ptr, text.len, "\\p{", 3) ||
        memmem(text.ptr, text.len, "\\P{", 3))
        options |= PCRE2_NO_AUTO_POSSESS;
    pcre2_set_parens_nest_limit(c, NESTING_MAX);
    /* A lone half of a pair is legal and matches nothing. */
    pcre2_set_compile_extra_options(c, PCRE2_EXTRA_ALLOW_SURROGATE_ESCAPES);
    r->code =
        pcre2_compile((PCRE2_SPTR)text.ptr, text.len, options, &code, &at, c);
    if (!r->code && r->arena->failed)
        return fail_nomem(err);
    if (!r->code) {
        pcre2_get_error_message(code, said, sizeof said);
        if (options & PCRE2_MATCH_INVALID_UTF) /* it is as it was given */
            return fail(err, WEND_E_PARSE, "%s at byte %zu", (const char *)said,
                        (size_t)at);
        return fail(err, WEND_E_PARSE, "%s", (const char *)said);
    }
    pcre2_pattern_info(r->code, PCRE2_INFO_CAPTURECOUNT, &captures);
    r->unit = 1 + captures / CAPTURES_A_UNIT;
    return WEND_OK;
}

static enum regex_result result_of(int code, wend_error *err)
{
    PCRE2_UCHAR said[120];

    switch (code) {
    case PCRE2_ERROR_NOMATCH: return REGEX_NO;
    case PCRE2_ERROR_CALLOUT:
    case PCRE2_ERROR_MATCHLIMIT:
    case PCRE2_ERROR_DEPTHLIMIT:
    case PCRE2_ERROR_HEAPLIMIT: return REGEX_LIMIT;
    case PCRE2_ERROR_NOMEMORY: fail_nomem(err); return REGEX_ERROR;
    }
    if (code >= 0)
        return REGEX_YES;
    pcre2_get_error_message(code, said, sizeof said);
    fail(err, WEND_E_INVAL, "%s", (const char *)said);
    return REGEX_ERROR;
}

static pcre2_match_context *new_context(const struct regex *r)
{
    pcre2_match_context *c = pcre2_match_context_create(r->memory);

    if (c) {
        pcre2_set_match_limit(c, MATCH_MAX);
        pcre2_set_depth_limit(c, DEPTH_MAX);
        pcre2_set_heap_limit(c, HEAP_KIB_MAX);
    }
    return c;
}

static struct regex *regex_new(struct arena *a)
{
    struct regex *r = arena_alloc(a, sizeof *r);

    if (r)
        *r = (struct regex){.mem = *a->mem, .arena = a};
    return r;
}

wend_status regex_compile(wend_str pattern, struct arena *a, struct regex **out,
                          wend_error *err)
{
    struct buf text = {.mem = a->mem};
    struct regex *r = regex_new(a);
    wend_status s;

    if (!r)
        return fail_nomem(err);
    s = regex_translate(pattern, &text, err);
    if (s == WEND_OK)
        s = compile(r, buf_view(&text), PCRE2_MATCH_UNSET_BACKREF, err);
    buf_free(&text);
    r->arena = NULL;
    if (s == WEND_OK)
        *out = r;
    return s;
}

wend_status regex_compile_perl(wend_str pattern, bool any_case, struct arena *a,
                               struct regex **out, wend_error *err)
{
    struct regex *r = regex_new(a);
    wend_status s;

    if (!r)
        return fail_nomem(err);
    if (pattern.len > REGEX_PATTERN_MAX)
        return fail(err, WEND_E_LIMIT, "over %d bytes", REGEX_PATTERN_MAX);
    s = compile(r, pattern,
                PCRE2_MATCH_INVALID_UTF | (any_case ? PCRE2_CASELESS : 0u),
                err);
    if (s != WEND_OK)
        return s;
    r->context = new_context(r);
    r->data = pcre2_match_data_create(1, r->memory);
    if (!r->context || !r->data)
        return fail_nomem(err);
    *out = r;
    return WEND_OK;
}

enum regex_result regex_search(const struct regex *r, wend_str text,
                               uint64_t *work, struct regex_place *place,
                               wend_error *err)
{
    pcre2_match_context *c = r->context ? r->context : new_context(r);
    pcre2_match_data *d =
        r->data ? r->data : pcre2_match_data_create(1, r->memory);
    struct spending s = {.left = *work, .unit = r->unit};
    uint64_t once = 1 + text.len / BYTES_A_UNIT; /* is it UTF-8? */
    int code = PCRE2_ERROR_NOMEMORY;

    if (once > s.left) {
        code = PCRE2_ERROR_CALLOUT;
        s.left = 0;
    } else if (c && d) {
        s.left -= once;
        pcre2_set_callout(c, spend, &s);
        code = pcre2_match(r->code, (PCRE2_SPTR)(text.ptr ? text.ptr : ""),
                           text.len, 0, 0, d, c);
    }
    if (code >= 0 && place) {
        const PCRE2_SIZE *at = pcre2_get_ovector_pointer(d);

        *place = (struct regex_place){at[0], at[1]};
    }
    *work = s.left;
    if (!r->data)
        pcre2_match_data_free(d);
    if (!r->context)
        pcre2_match_context_free(c);
    return result_of(code, err);
}
