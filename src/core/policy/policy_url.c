/*
 * policy_url.c - requests as rules see them.
 */
#include "core/policy/policy.h"

#include <string.h>

#include "base/ascii.h"

/* ---- The call ------------------------------------------------------------ */

static wend_str upper(wend_str s, struct arena *a)
{
    char *p = arena_chars(a, s.len);

    if (!p)
        return STR_NONE;
    for (size_t i = 0; i < s.len; i++)
        p[i] = (char)(is_letter(s.ptr[i]) ? s.ptr[i] & ~0x20 : s.ptr[i]);
    p[s.len] = 0;
    return (wend_str){p, s.len};
}

static size_t find(wend_str s, const char *text)
{
    const char *p = s.len ? memmem(s.ptr, s.len, text, strlen(text)) : NULL;

    return p ? (size_t)(p - s.ptr) : s.len;
}

static size_t authority_len(wend_str s)
{
    size_t end = 0;

    while (end < s.len && !strchr("/?#", s.ptr[end]))
        end++;
    return end;
}

static void read_url(struct rule_request *q, struct arena *a)
{
    struct buf b = {.mem = a->mem};
    struct url u;
    wend_str rest;

    if (!q->raw.ptr || url_parse(q->raw, a, &u, NULL) != WEND_OK)
        return;
    url_put_origin(&b, &u);
    q->authority = buf_keep(&b, a);
    if (!q->authority.ptr)
        return;
    q->scheme = u.https ? STR("https") : STR("http");
    q->authority = str_skip(q->authority, q->scheme.len + 3);
    rest = str_skip(q->raw, find(q->raw, "://") + 3);
    rest = str_skip(rest, authority_len(rest)); /* from here spellings differ */
    for (int i = 0; i < URL_FORMS; i++) {
        q->target[i] = url_normal(rest, (enum url_form)i, a);
        url_put_origin(&b, &u);
        buf_str(&b, q->target[i]);
        q->whole[i] = buf_keep(&b, a);
    }
}

/* Only stars are wildcards in a rule for URLs. */
static bool stars_fit(wend_str glob, wend_str text, bool any_case)
{
    return str_glob_as(glob, text,
                       any_case ? GLOB_STARS | GLOB_ANY_CASE : GLOB_STARS);
}

/* Servers that honour these headers ignore the method. */
static bool overrides(const struct json *headers)
{
    static const char *const names[] = {"x-http-method-override",
                                        "x-http-method", "x-method-override"};
    const struct json *h =
        headers && headers->kind == JSON_OBJECT ? headers->first : NULL;

    for (; h; h = h->next)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (str_same(str_of(names[i]), h->key))
                return true;
    return false;
}

const struct rule_request *request_read(const struct json *args,
                                        struct arena *a)
{
    const struct json *method = json_get(args, "method");
    struct rule_request *q = arena_alloc(a, sizeof *q);

    if (!q)
        return NULL;
    q->raw = json_str(json_get(args, "url"));
    q->body = json_get(args, "body") != NULL;
    q->method = method ? STR("?") : STR("GET"); /* `?`: it is not a string */
    if (json_str(method).len)
        q->method = upper(json_str(method), a);
    if (overrides(json_get(args, "headers")))
        q->method = STR("?");
    read_url(q, a);
    return a->failed ? NULL : q;
}

static bool only_looks(const struct rule_request *q)
{
    return (str_is(q->method, "GET") || str_is(q->method, "HEAD")) && !q->body;
}

void request_put(struct buf *b, const struct rule_request *q)
{
    if (!only_looks(q)) {
        buf_str(b, q->method);
        buf_char(b, ' ');
    }
    buf_str(b, q->whole[URL_PLAIN]);
}

/* ---- The rule ------------------------------------------------------------ */

/* Views into the rule's text. */
struct request_rule {
    wend_str method; /* absent: none is named */
    wend_str scheme, authority;
    wend_str target; /* absent: it ends before */
};

static bool is_scheme(wend_str s)
{
    size_t i = 0;

    while (i < s.len && (is_letter(s.ptr[i]) || s.ptr[i] == '*'))
        i++;
    return i == s.len;
}

/* False: it has no scheme, so that it is a text to compare. */
static bool split(wend_str rule, struct request_rule *out)
{
    size_t space = find(rule, " "), scheme, end;

    memset(out, 0, sizeof *out);
    if (space < rule.len) {
        out->method = (wend_str){rule.ptr, space};
        rule = str_skip(rule, space + 1);
    }
    out->target = rule;
    scheme = find(rule, "://");
    if (scheme == rule.len || !is_scheme((wend_str){rule.ptr, scheme}))
        return false;
    out->scheme = (wend_str){rule.ptr, scheme};
    rule = str_skip(rule, scheme + 3);
    end = authority_len(rule);
    out->authority = (wend_str){rule.ptr, end};
    out->target = end < rule.len ? str_skip(rule, end) : STR_NONE;
    return true;
}

static bool method_fits(const struct rule_request *q, wend_str method,
                        bool allows)
{
    if (!method.ptr)
        return !allows || only_looks(q);
    return stars_fit(method, q->method, true);
}

/* A rule may name the default port. */
static bool authority_fits(const struct rule_request *q,
                           const struct request_rule *r)
{
    const char *port = str_is(q->scheme, "https") ? ":443" : ":80";
    wend_str rule = r->authority;

    if (rule.len > strlen(port) && str_ends(rule, port))
        rule.len -= strlen(port);
    if (rule.len > 1 && rule.ptr[rule.len - 1] == '.')
        rule.len--;
    return stars_fit(rule, q->authority, true);
}

/* The path, or one that it lies beneath. */
static bool beneath(wend_str glob, wend_str target)
{
    size_t end = find(target, "?");

    if (stars_fit(glob, target, false))
        return true;
    for (target.len = end; target.len > 1; target.len--)
        if ((target.len == end || target.ptr[target.len] == '/' ||
             target.ptr[target.len - 1] == '/') &&
            stars_fit(glob, target, false))
            return true;
    return false;
}

static bool target_fits(const struct rule_request *q, wend_str rule,
                        bool allows, struct arena *a)
{
    for (int i = 0; i < URL_FORMS; i++) {
        wend_str glob = url_normal(rule, (enum url_form)i, a);
        bool fits = glob.ptr && q->target[i].ptr &&
                    (allows ? stars_fit(glob, q->target[i], false)
                            : beneath(glob, q->target[i]));

        if (fits != allows)
            return fits;
    }
    return allows;
}

/* A text that is no URL can only keep something away. */
static bool text_fits(const struct rule_request *q, wend_str text)
{
    for (int i = 0; i < URL_FORMS; i++)
        if (q->whole[i].ptr && stars_fit(text, q->whole[i], true))
            return true;
    return q->raw.ptr && stars_fit(text, q->raw, true);
}

bool request_fits(const struct rule_request *q, wend_str rule, bool allows,
                  struct arena *a)
{
    struct request_rule r;

    if (!split(rule, &r)) {
        if (!method_fits(q, r.method, allows))
            return false;
        return str_is(r.target, "*") || (!allows && text_fits(q, r.target));
    }
    if (!q->scheme.ptr) /* it will be refused; until then nothing allows it */
        return !allows && text_fits(q, rule);
    if (!method_fits(q, r.method, allows) ||
        !stars_fit(r.scheme, q->scheme, true) || !authority_fits(q, &r))
        return false;
    if (!r.target.ptr && (!allows || str_ends(r.authority, "*")))
        return true;
    return target_fits(q, r.target.ptr ? r.target : STR("/"), allows, a);
}

const char *request_rule_wrong(wend_str rule, bool allows)
{
    static const char *const methods[] = {"GET", "HEAD",  "POST",
                                          "PUT", "PATCH", "DELETE"};
    struct request_rule r;
    bool whole = split(rule, &r);

    if (r.method.ptr && !str_is(r.method, "*") &&
        str_index(r.method, methods, 6) < 0)
        return "the word before the URL is not GET, HEAD, POST, PUT, PATCH or "
               "DELETE";
    if (!whole && (str_is(r.target, "*") || (!allows && r.target.len)))
        return NULL;
    if (!whole || !r.scheme.len || !r.authority.len)
        return "write the whole URL, such as https://host/*";
    if (!stars_fit(r.scheme, STR("http"), true) &&
        !stars_fit(r.scheme, STR("https"), true))
        return "the URL does not begin with http:// or https://";
    if (find(r.authority, "@") < r.authority.len)
        return "a URL with a user is never asked for; leave it out";
    if (r.target.ptr && find(r.target, "#") < r.target.len)
        return "a URL is asked for without its fragment; leave it out";
    if (allows && !r.target.ptr && r.authority.len > 1 &&
        str_ends(r.authority, "*") &&
        r.authority.ptr[r.authority.len - 2] != ':')
        return "the * continues the host's name; write a slash before it";
    return NULL;
}
