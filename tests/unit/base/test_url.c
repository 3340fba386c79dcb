/*
 * test_url.c - URLs as a model or a server may spell them: one meaning, or
 * none.
 */
#include "base/limits.h"
#include "base/url.h"
#include "fault.h"
#include "tap.h"

static const struct mem libc_mem;

/* What is accepted, as it is written again. */
static const struct {
    const char *text, *again;
    bool plain;
} good[] = {
    {"http://a/", "http://a/", true},
    {"http://a", "http://a/", true},
    {"https://example.com/a/b?c=d&e=%20f", "https://example.com/a/b?c=d&e=%20f",
     true},
    {"HTTP://Example.COM/Path", "http://example.com/Path", false},
    {"http://a:80/", "http://a/", false},
    {"https://a:443/", "https://a/", false},
    {"http://a:443/", "http://a:443/", true},
    {"https://a:80/", "https://a:80/", true},
    {"http://a:1/", "http://a:1/", true},
    {"http://a:65535/", "http://a:65535/", true},
    {"http://a:08080/", "http://a:8080/", false},
    {"http://a./", "http://a/", false},
    {"http://localhost./", "http://localhost/", false},
    {"http://a?b", "http://a/?b", true},
    {"http://a#b", "http://a/", true},
    {"http://a/b#c?d/e", "http://a/b", true},
    {"http://a/b?c#d", "http://a/b?c", true},
    {"http://a/#@b/", "http://a/", true},
    {"http://a?@b/", "http://a/?@b/", true},
    {"http://a/@b", "http://a/@b", true},
    {"http://a/b:c", "http://a/b:c", true},
    {"http://a//b", "http://a//b", true},
    {"http://a/b/./c", "http://a/b/c", false},
    {"http://a/b/../c", "http://a/c", false},
    {"http://a/../../c", "http://a/c", false},
    {"http://a/b/..", "http://a/", false},
    {"http://a/b/.", "http://a/b/", false},
    {"http://a/b/%2e%2E/c", "http://a/c", false},
    {"http://a/b/.%2e/c", "http://a/c", false},
    {"http://a/b/.../c", "http://a/b/.../c", true},
    {"http://a/b?c/../d", "http://a/b?c/../d", true},
    {"http://a/\xC3\xA9?\xC3\xA9", "http://a/%C3%A9?%C3%A9", true},
    {"http://a/\"<>^`{|}", "http://a/%22%3C%3E%5E%60%7B%7C%7D", true},
    {"http://a/?b[]=1", "http://a/?b[]=1", true},
    {"http://a/%00", "http://a/%00", true},
    {"http://xn--bcher-kva.example/", "http://xn--bcher-kva.example/", true},
    {"http://a_b.c-d.e1/", "http://a_b.c-d.e1/", true},
    {"http://1.2.3.4/", "http://1.2.3.4/", true},
    {"http://1.2.3.4./", "http://1.2.3.4/", false},
    {"http://127.0.0.1:8080/", "http://127.0.0.1:8080/", true},
    {"http://1.2.3.4.example/", "http://1.2.3.4.example/", true},
    {"http://0x7f.example/", "http://0x7f.example/", true},
    {"http://[::1]/", "http://[::1]/", true},
    {"http://[0:0::1]:80/", "http://[::1]/", false},
    {"http://[::FFFF:127.0.0.1]:8080/a", "http://[::ffff:7f00:1]:8080/a",
     false},
};

/* What is not, with a word of the reason. Most of these have led somebody's
 * check and somebody's client to different hosts. */
static const struct {
    const char *text, *why;
} bad[] = {
    {"", "empty"},
    {"a", "begin with http"},
    {"//a/", "begin with http"},
    {"/a", "begin with http"},
    {"http:", "begin with http"},
    {"http:a", "begin with http"},
    {"http:/a", "begin with http"},
    {"http:///a", "no host"},
    {"http://", "no host"},
    {"http://?a", "no host"},
    {"http://#a", "no host"},
    {"http://:80/", "no host"},
    {"httpx://a/", "begin with http"},
    {"xhttp://a/", "begin with http"},
    {"ftp://a/", "begin with http"},
    {"file:///etc/passwd", "begin with http"},
    {"gopher://a/", "begin with http"},
    {"javascript:alert(1)", "begin with http"},
    {"dict://a:11211/", "begin with http"},
    {"unix:/socket", "begin with http"},
    {"view-source:http://a/", "begin with http"},
    {" http://a/", "space at byte 1"},
    {"http://a/ ", "space at byte 10"},
    {"http://a b/", "space at byte 9"},
    {"ht\ntp://a/", "control character (10)"},
    {"http://a\t/", "control character (9)"},
    {"http://a/\r\nX: y", "control character (13)"},
    {"http://a/\x7f", "control character (127)"},
    {"http:\\\\a/", "backslash"},
    {"http://a\\@b/", "backslash"},
    {"http://a\\.b/", "backslash"},
    {"http://a/b\\c", "backslash"},
    {"http://user@a/", "user or a password"},
    {"http://user:pw@a/", "user or a password"},
    {"http://@a/", "user or a password"},
    {"http://a@b@c/", "user or a password"},
    {"http://a:80@b/", "user or a password"},
    {"http://127.0.0.1:80@b.example/", "user or a password"},
    {"http://a%40b/", "has a '%'"},
    {"http://%31%32%37.0.0.1/", "has a '%'"},
    {"http://127.0.0.1%2f@b/", "user or a password"},
    {"http://a%00.b/", "has a '%'"},
    {"http://a%0d%0a/", "has a '%'"},
    {"http://a%2e/", "has a '%'"},
    {"http://[fe80::1%25eth0]/", "has a '%'"},
    {"http://a..b/", "empty or over 63"},
    {"http://.a/", "empty or over 63"},
    {"http://a../", "empty or over 63"},
    {"http://./", "empty or over 63"},
    {"http://../", "empty or over 63"},
    {"http://-a/", "cannot stand there"},
    {"http://a,b/", "cannot stand there"},
    {"http://a;b/", "cannot stand there"},
    {"http://a$b/", "cannot stand there"},
    {"http://a'b/", "cannot stand there"},
    {"http://a*b/", "cannot stand there"},
    {"http://a]/", "cannot stand there"},
    {"http://a[/", "cannot stand there"},
    {"http://a|b/", "cannot stand there"},
    {"http://\xC3\xA9.example/", "not ASCII"},
    {"http://127\xE3\x80\x82"
     "0\xE3\x80\x82"
     "0\xE3\x80\x82"
     "1/",
     "not ASCII"}, /* ideographic full stop */
    {"http://127\xEF\xBC\x8E"
     "0.0.1/",
     "not ASCII"}, /* full width stop */
    {"http://\xEF\xBC\x91\xEF\xBC\x92\xEF\xBC\x97.0.0.1/",
     "not ASCII"}, /* full width digits */
    {"http://\xE2\x91\xA0\xE2\x91\xA1\xE2\x91\xA6.0.0.1/",
     "not ASCII"},                                 /* digits in circles */
    {"http://local\xC2\xADhost/", "not ASCII"},    /* soft hyphen */
    {"http://\xE2\x84\x93ocalhost/", "not ASCII"}, /* script small l */
    {"http://a\xE2\x80\xAE"
     "b/",
     "not ASCII"}, /* right to left */
    {"http://a\xEF\xBC\xA0"
     "b/",
     "not ASCII"}, /* full width @ */
    {"http://a\xEF\xBC\x8F"
     "b/",
     "not ASCII"}, /* full width / */
    {"http://\xff/", "not ASCII"},
    {"http://127.1/", "unusual spelling"},
    {"http://127.0.1/", "unusual spelling"},
    {"http://0/", "unusual spelling"},
    {"http://0./", "unusual spelling"},
    {"http://2130706433/", "unusual spelling"},
    {"http://017700000001/", "unusual spelling"},
    {"http://0x7f000001/", "unusual spelling"},
    {"http://0X7F000001/", "unusual spelling"},
    {"http://0x7f.1/", "unusual spelling"},
    {"http://0x7f.0.0.0x1/", "unusual spelling"},
    {"http://0177.0.0.1/", "unusual spelling"},
    {"http://0177.0.0.01/", "unusual spelling"},
    {"http://00.0.0.0/", "unusual spelling"},
    {"http://127.0.0.256/", "unusual spelling"},
    {"http://127.0.0.1.5/", "unusual spelling"},
    {"http://4294967296/", "unusual spelling"},
    {"http://99999999999999999999/", "unusual spelling"},
    {"http://0x/", "unusual spelling"},
    {"http://a.0x1/", "unusual spelling"},
    {"http://a.1/", "unusual spelling"},
    {"http://169.254.43518/", "unusual spelling"},
    {"http://2852039166/", "unusual spelling"},
    {"http://0xa9fea9fe/", "unusual spelling"},
    {"http://0251.0376.0251.0376/", "unusual spelling"},
    {"http://[127.0.0.1]/", "no IPv6"},
    {"http://[]/", "no IPv6"},
    {"http://[::1/", "without ']'"},
    {"http://[::1]a/", "something else than a port"},
    {"http://[::1].a/", "something else than a port"},
    {"http://[::1]@a/", "user or a password"},
    {"http://[[::1]]/", "no IPv6"},
    {"http://[a]/", "no IPv6"},
    {"http://[::127.1]/", "no IPv6"},
    {"http://[::0x7f.0.0.1]/", "no IPv6"},
    {"http://[v1.a]/", "no IPv6"},
    {"http://::1/", "needs brackets"},
    {"http://fe80::1/", "needs brackets"},
    {"http://a:80:80/", "needs brackets"},
    {"http://a:/", "port is not"},
    {"http://a:0/", "port is not"},
    {"http://a:65536/", "port is not"},
    {"http://a:999999/", "port is not"},
    {"http://a:4294967376/", "port is not"},
    {"http://a:-80/", "port is not"},
    {"http://a:+80/", "port is not"},
    {"http://a:80a/", "port is not"},
    {"http://a:0x50/", "port is not"},
    {"http://a/%", "'%' without"},
    {"http://a/%2", "'%' without"},
    {"http://a/%zz", "'%' without"},
    {"http://a/?%", "'%' without"},
};

static void test_good(void)
{
    for (size_t i = 0; i < tap_count(good); i++) {
        struct arena a = {.mem = &libc_mem};
        struct buf b = {.mem = &libc_mem};
        wend_error err = {0};
        struct url u = {0}, again;

        if (url_parse(str_of(good[i].text), &a, &u, &err) == WEND_OK)
            url_put(&b, &u);
        else
            buf_cstr(&b, err.message);
        tap_is_str(buf_view(&b), good[i].again, "'%s'", good[i].text);
        tap_ok(u.plain == good[i].plain, "'%s' is %splain", good[i].text,
               good[i].plain ? "" : "not ");
        tap_ok(url_parse(buf_view(&b), &a, &again, NULL) == WEND_OK &&
                   again.plain && str_eq(again.host, u.host) &&
                   url_same_origin(&u, &again),
               "and reads the same again");
        buf_free(&b);
        arena_free(&a);
    }
}

static void test_bad(void)
{
    for (size_t i = 0; i < tap_count(bad); i++) {
        struct arena a = {.mem = &libc_mem};
        wend_error err = {0};
        struct url u;

        if (url_parse(str_of(bad[i].text), &a, &u, &err) == WEND_OK)
            tap_ok(false, "'%s' was accepted", bad[i].text);
        else
            tap_ok(strstr(err.message, bad[i].why) != NULL, "%zu: %s (%s)", i,
                   err.message, bad[i].why);
        arena_free(&a);
    }
}

/* Bytes that a C string cannot have. */
static void test_nul(void)
{
    struct arena a = {.mem = &libc_mem};
    wend_error err = {0};
    struct url u;

    tap_ok(url_parse((wend_str){"http://a\0.b/", 12}, &a, &u, &err) ==
                   WEND_E_INVAL &&
               strstr(err.message, "control character (0) at byte 9"),
           "a NUL: %s", err.message);
    arena_free(&a);
}

static void test_lengths(void)
{
    static const struct {
        const char *why;
        int label, labels, path;
        bool ok;
    } rows[] = {
        {"a label of 62", 62, 1, 0, true},
        {"a label of 63", 63, 1, 0, true},
        {"a label of 64", 64, 1, 0, false},
        {"a name of 252", 62, 4, 0, true}, /* 62 * 4 + 3 dots, and the a */
        {"a name of 255", 63, 4, 0, false},
        {"a URL one below the limit", 1, 1, URL_BYTES_MAX - 10, true},
        {"a URL at the limit", 1, 1, URL_BYTES_MAX - 9, true},
        {"a URL over the limit", 1, 1, URL_BYTES_MAX - 8, false},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &libc_mem};
        struct buf b = {.mem = &libc_mem};
        struct url u;

        buf_cstr(&b, "http://");
        for (int n = 0; n < rows[i].labels; n++) {
            buf_cstr(&b, n ? "." : "");
            for (int k = 0; k < rows[i].label; k++)
                buf_char(&b, 'x');
        }
        buf_char(&b, '/');
        for (int k = 0; k < rows[i].path; k++)
            buf_char(&b, 'y');
        tap_ok((url_parse(buf_view(&b), &a, &u, NULL) == WEND_OK) == rows[i].ok,
               "%s", rows[i].why);
        buf_free(&b);
        arena_free(&a);
    }
}

static const struct {
    const char *base, *reference, *result; /* NULL: refused */
} joins[] = {
    {"http://a/b/c?d", "http://x/y", "http://x/y"},
    {"http://a/b/c?d", "HTTPS://X/y", "https://x/y"},
    {"http://a/b/c?d", "//x/y", "http://x/y"},
    {"https://a/b/c?d", "//x/y", "https://x/y"},
    {"http://a/b/c?d", "/y?z", "http://a/y?z"},
    {"http://a:8080/b/c?d", "/y", "http://a:8080/y"},
    {"http://[::1]:8080/b", "/y", "http://[::1]:8080/y"},
    {"http://a/b/c?d", "y", "http://a/b/y"},
    {"http://a/b/c?d/e", "y", "http://a/b/y"},
    {"http://a/b/", "y", "http://a/b/y"},
    {"http://a", "y", "http://a/y"},
    {"http://a/b/c?d", "../y", "http://a/y"},
    {"http://a/b/c?d", "../../../y", "http://a/y"},
    {"http://a/b/c?d", "./y", "http://a/b/y"},
    {"http://a/b/c?d", "?z", "http://a/b/c?z"},
    {"http://a/b/c?d", "#z", "http://a/b/c?d"},
    {"http://a/b/c?d", "", "http://a/b/c?d"},
    {"http://a/b/c?d", "y#z", "http://a/b/y"},
    {"http://a/b", "y:z", NULL},
    {"http://a/b", "./y:z", "http://a/y:z"},
    {"http://a/b", "@x", "http://a/@x"},
    {"http://a/b", ".x", "http://a/.x"},
    {"http://a/b", ":x", "http://a/:x"},
    {"http://a/b", "file:///etc/passwd", NULL},
    {"http://a/b", "javascript:x", NULL},
    {"http://a/b", "http:y", NULL},
    {"http://a/b", "http:/y", NULL},
    {"http://a/b", "///x", NULL},
    {"http://a/b", "//user@x/", NULL},
    {"http://a/b", "/\\x", NULL},
    {"http://a/b", "\\\\x", NULL},
    {"http://a/b", "/x y", NULL},
    {"http://a/b", "//0x7f.1/", NULL},
};

static void test_joins(void)
{
    for (size_t i = 0; i < tap_count(joins); i++) {
        struct arena a = {.mem = &libc_mem};
        struct buf b = {.mem = &libc_mem};
        struct url base, u;

        if (url_parse(str_of(joins[i].base), &a, &base, NULL) == WEND_OK &&
            url_join(&base, str_of(joins[i].reference), &a, &u, NULL) ==
                WEND_OK)
            url_put(&b, &u);
        tap_is_str(buf_view(&b), joins[i].result ? joins[i].result : "",
                   "%s, then '%s'", joins[i].base, joins[i].reference);
        buf_free(&b);
        arena_free(&a);
    }
}

static void test_origins(void)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"http://a/x", "http://a/y?z", true},
        {"http://a/", "http://A.:80/", true},
        {"http://a/", "https://a/", false},
        {"http://a:443/", "https://a/", false},
        {"http://a/", "http://a:81/", false},
        {"http://a/", "http://b/", false},
        {"http://a/", "http://a.b/", false},
        {"http://[::1]/", "http://[0::1]/", true},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &libc_mem};
        struct url x = {0}, y = {0};

        url_parse(str_of(rows[i].a), &a, &x, NULL);
        url_parse(str_of(rows[i].b), &a, &y, NULL);
        tap_ok(url_same_origin(&x, &y) == rows[i].same, "%s and %s", rows[i].a,
               rows[i].b);
        arena_free(&a);
    }
}

/* Spellings that are the same to a server. */
static void test_normal(void)
{
    static const struct {
        const char *target, *plain, *flat, *open;
    } rows[] = {
        {"/", "/", "/", "/"},
        {"", "/", "/", "/"},
        {"/%61%2D%7e", "/a-~", "/a-~", "/a-~"},
        {"/%2fa", "/%2Fa", "/%2Fa", "/a"},
        {"/a%5cb", "/a%5Cb", "/a%5Cb", "/a/b"},
        {"//a///b", "//a///b", "/a/b", "/a/b"},
        {"/a/./b/../c", "/a/c", "/a/c", "/a/c"},
        {"/a/%2e%2e/b", "/b", "/b", "/b"},
        {"/a//../b", "/a/b", "/b", "/b"},
        {"/a/..%2fb", "/a/..%2Fb", "/a/..%2Fb", "/b"},
        {"/a?%61=//%2f..", "/a?a=//%2F..", "/a?a=//%2F..", "/a?a=//%2F.."},
        {"?q", "/?q", "/?q", "/?q"},
        {"/a#b", "/a", "/a", "/a"},
        {"/*/b*", "/*/b*", "/*/b*", "/*/b*"},
        {"/%zz", NULL, NULL, NULL},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        const char *const wanted[] = {rows[i].plain, rows[i].flat,
                                      rows[i].open};
        struct arena a = {.mem = &libc_mem};

        for (int f = 0; f < URL_FORMS; f++)
            tap_is_str(url_normal(str_of(rows[i].target), (enum url_form)f, &a),
                       wanted[f], "form %d of %s", f, rows[i].target);
        arena_free(&a);
    }
}

static void test_no_memory(void)
{
    struct fault f = {0};
    int bad_rounds = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        struct url base, u;
        wend_status s =
            url_parse(STR("http://[::1]:8080/a?b"), &a, &base, NULL);

        if (s == WEND_OK)
            s = url_join(&base, STR("//Example.com/c/../d"), &a, &u, NULL);
        arena_free(&a);
        bad_rounds += f.live != 0 || s != (f.hit ? WEND_E_NOMEM : WEND_OK);
    }
    tap_is_i64(bad_rounds, 0, "every allocation may fail");
}

int main(void)
{
    test_good();
    test_bad();
    test_nul();
    test_lengths();
    test_joins();
    test_origins();
    test_normal();
    test_no_memory();
    return tap_done();
}
