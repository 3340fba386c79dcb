/*
 * test_network.c - what a user adds to the public addresses, and no more.
 */
#include <arpa/inet.h>

#include "base/network.h"
#include "fault.h"
#include "host/fetch/fetch.h"
#include "tap.h"

static const struct mem libc_mem;

static const struct {
    const char *entry; /* NULL: none */
    const char *host, *to;
    uint16_t port;
    const char *why; /* NULL: allowed */
} rows[] = {
    {NULL, "a", "8.8.8.8", 80, NULL},
    {NULL, "a", "127.0.0.1", 80, "loopback"},
    {NULL, "a", "169.254.169.254", 80, "link-local"},
    {NULL, "metadata.google.internal", "169.254.169.254", 80, "link-local"},
    {NULL, "a", "::ffff:8.8.8.8", 80, "IPv4 in IPv6"},
    {"127.0.0.1", "a", "127.0.0.1", 80, NULL},
    {"127.0.0.1", "a", "127.0.0.2", 80, "loopback"},
    {"127.0.0.1", "a", "::ffff:127.0.0.1", 80, "IPv4 in IPv6"},
    {"127.0.0.1", "a", "::1", 80, "loopback"},
    {"127.0.0.1:80", "a", "127.0.0.1", 80, NULL},
    {"127.0.0.1:80", "a", "127.0.0.1", 81, "loopback"},
    {"127.0.0.1:8080", "a", "127.0.0.1", 80, "loopback"},
    {"::1", "a", "::1", 80, NULL},
    {"[::1]", "a", "::1", 80, NULL},
    {"[::1]:80", "a", "::1", 80, NULL},
    {"[::1]:80", "a", "::1", 81, "loopback"},
    {"10.0.0.0/8", "a", "10.255.0.1", 80, NULL},
    {"10.0.0.0/8", "a", "11.0.0.1", 80, NULL},
    {"10.0.0.0/9", "a", "10.128.0.1", 80, "private"},
    {"10.1.2.3/8", "a", "10.9.9.9", 80, NULL},
    {"fd00::/8", "a", "fd12::1", 80, NULL},
    {"fd00::/8", "a", "fc12::1", 80, "private"},
    {"0.0.0.0/0", "a", "127.0.0.1", 80, NULL},
    {"0.0.0.0/0", "a", "::1", 80, "loopback"},
    {"127.0.0.1/32", "a", "127.0.0.1", 80, NULL},
    {"a", "a", "127.0.0.1", 80, NULL},
    {"a", "a", "::1", 99, NULL},
    {"A.", "a", "127.0.0.1", 80, NULL},
    {"a", "b", "127.0.0.1", 80, "loopback"},
    {"a", "b.a", "127.0.0.1", 80, "loopback"},
    {"a:81", "a", "127.0.0.1", 81, NULL},
    {"a:81", "a", "127.0.0.1", 80, "loopback"},
};

static void test_allows(void)
{
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct arena a = {.mem = &libc_mem};
        struct network n = {NULL};
        wend_error err = {0};
        struct address to = {0};
        const char *why = NULL;
        bool ok;

        if (rows[i].entry &&
            network_add(&n, str_of(rows[i].entry), &a, &err) != WEND_OK)
            tap_ok(false, "'%s': %s", rows[i].entry, err.message);
        address_read(str_of(rows[i].to), &to);
        ok = network_allows(&n, str_of(rows[i].host), &to, rows[i].port, &why);
        tap_is_str(ok ? "allowed" : why, rows[i].why ? rows[i].why : "allowed",
                   "'%s': %s at %s port %d",
                   rows[i].entry ? rows[i].entry : "none", rows[i].host,
                   rows[i].to, rows[i].port);
        arena_free(&a);
    }
}

static void test_refused(void)
{
    static const char *const entries[] = {
        "",           "http://a",   "a/b",         "a?",
        "a#b",        "user@a",     "a:0",         "a:65536",
        "a:",         ":80",        "10.0.0.0/33", "10.0.0.0/",
        "10.0.0.0/x", "10.0.0/8",   "::/129",      "/8",
        "127.1",      "0x7f.1",     "*",           "*.a",
        "[::1",       "[::1]:0",    "::1:80:",     "a b",
        "a\n",        "\xC3\xA9.b", "-",
    };

    for (size_t i = 0; i < tap_count(entries); i++) {
        struct arena a = {.mem = &libc_mem};
        struct network n = {NULL};
        wend_error err = {0};

        tap_ok(network_add(&n, str_of(entries[i]), &a, &err) == WEND_E_INVAL &&
                   !n.first && str_starts(str_of(err.message), "network: '"),
               "entry %zu is refused", i);
        arena_free(&a);
    }
}

static void test_no_memory(void)
{
    struct fault f = {0};
    int bad = 0;

    while (fault_next(&f)) {
        struct mem m = fault_mem(&f);
        struct arena a = {.mem = &m};
        struct network n = {NULL};
        wend_status s = network_add(&n, STR("a.example:80"), &a, NULL);

        arena_free(&a);
        bad += f.live != 0 || s != (f.hit ? WEND_E_NOMEM : WEND_OK);
    }
    tap_is_i64(bad, 0, "every allocation may fail");
}

static void test_system(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(81)};
    struct sockaddr other = {.sa_family = AF_UNIX};
    struct address a, wanted;
    uint16_t port = 0;

    inet_pton(AF_INET, "1.2.3.4", &in.sin_addr);
    address_read(STR("1.2.3.4"), &wanted);
    tap_ok(address_of((struct sockaddr *)&in, &a, &port) && port == 80 &&
               !memcmp(&a, &wanted, sizeof a),
           "of IPv4");
    inet_pton(AF_INET6, "::ffff:1.2.3.4", &in6.sin6_addr);
    address_read(STR("::ffff:1.2.3.4"), &wanted);
    tap_ok(address_of((struct sockaddr *)&in6, &a, &port) && port == 81 &&
               !memcmp(&a, &wanted, sizeof a),
           "of IPv6");
    tap_ok(!address_of(&other, &a, &port), "of neither");
}

int main(void)
{
    test_allows();
    test_refused();
    test_no_memory();
    test_system();
    return tap_done();
}
