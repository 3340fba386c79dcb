/*
 * test_fetch_allow.c - no connection but to an allowed address, whatever a
 * name means and when. Each row has its control: without the question the
 * same transfer ends at the bad address.
 */
#include "fetch_help.h"
#include "name_help.h"

static bool only_good(void *ctx, const struct sockaddr *to, char *why,
                      size_t why_size)
{
    char text[INET_ADDRSTRLEN] = "";

    (void)ctx;
    if (to->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)to)->sin_addr, text,
                  sizeof text);
    snprintf(why, why_size, "%s is bad", text);
    return !strcmp(text, GOOD);
}

static const struct row {
    const char *why, *host;
    const char *first, *second; /* answers of the resolver */
    bool looked_up;             /* once before, as a check that is too early */
    enum fetch_end how;
    const char *message;
    int good;        /* connections that were made */
    int control_bad; /* without the question */
} rows[] = {
    {"a good number", GOOD, "", NULL, false, FETCH_OK, "", 1, 0},
    {"a bad number", BAD, "", NULL, false, FETCH_REFUSED,
     "127.0.0.1: 127.0.0.1 is bad", 0, 1},
    {"another spelling of it", "0x7f.1", "", NULL, false, FETCH_REFUSED,
     "0x7f.1: 127.0.0.1 is bad", 0, 1},
    {"a short one", "127.1", "", NULL, false, FETCH_REFUSED,
     "127.1: 127.0.0.1 is bad", 0, 1},
    {"one number", "2130706433", "", NULL, false, FETCH_REFUSED,
     "2130706433: 127.0.0.1 is bad", 0, 1},
    {"an octal one", "017700000001", "", NULL, false, FETCH_REFUSED,
     "017700000001: 127.0.0.1 is bad", 0, 1},
    {"an escaped one", "%31%32%37.0.0.1", "", NULL, false, FETCH_REFUSED,
     "%31%32%37.0.0.1: 127.0.0.1 is bad", 0, 1},
    {"nought", "0", "", NULL, false, FETCH_REFUSED, "0: 0.0.0.0 is bad", 0, 1},
    {"IPv6 that carries it", "[::ffff:127.0.0.1]", "", NULL, false,
     FETCH_REFUSED, "[::ffff:127.0.0.1]:  is bad", 0, 1},
    {"behind a user", "example.com@127.0.0.1", "", NULL, false, FETCH_REFUSED,
     "127.0.0.1: 127.0.0.1 is bad", 0, 1},
    {"a good name", "name.test", GOOD, NULL, false, FETCH_OK, "", 1, 0},
    {"a bad name", "name.test", BAD, NULL, false, FETCH_REFUSED,
     "name.test: 127.0.0.1 is bad", 0, 1},
    {"a name with a bad address first", "name.test", BAD " " GOOD, NULL, false,
     FETCH_OK, "", 1, 1},
    {"a name with a bad address last", "name.test", GOOD " " BAD, NULL, false,
     FETCH_OK, "", 1, 0},
    {"a name that changes its meaning after it was looked at", "name.test",
     GOOD, BAD, true, FETCH_REFUSED, "name.test: 127.0.0.1 is bad", 0, 1},
};

static void ask(struct seen *s, const struct row *row, int port, bool checked)
{
    char url[128];
    struct fetch_request q = {
        .url = url, .connect_ms = 20000, .first_byte_ms = 20000};

    snprintf(url, sizeof url, "http://%s:%d/", row->host, port);
    q.allow = checked ? only_good : NULL;
    s->body.mem = &fetch_mem_libc;
    if (seen_ask(s, &q, NULL) == WEND_OK)
        seen_wait(s);
}

/* With a fetch of its own, which remembers no name. */
static void check_row(struct two_servers *two, const struct row *row,
                      bool checked)
{
    struct world w = {.loop = NULL};
    struct seen s = {.w = &w};
    int good = atomic_load(&two->good), bad = atomic_load(&two->bad);
    struct addrinfo *seen = NULL;

    loop_new(&fetch_mem_libc, &w.loop, NULL);
    fetch_new(&fetch_mem_libc, w.loop, &w.fetch, NULL);
    name_means(row->first, row->second);
    if (row->looked_up && !getaddrinfo(row->host, "80", NULL, &seen))
        freeaddrinfo(seen);
    ask(&s, row, two->port, checked);
    good = atomic_load(&two->good) - good;
    bad = atomic_load(&two->bad) - bad;
    if (checked) {
        tap_ok(s.how == row->how, "%s: ends so", row->why);
        tap_is_str((const char *)s.message, row->message, "%s: words",
                   row->why);
        tap_is_i64(good, row->good, "%s: connections", row->why);
        tap_is_i64(bad, 0, "%s: none to the bad one", row->why);
    } else {
        tap_is_i64(bad, row->control_bad, "%s: the control", row->why);
    }
    fetch_free(w.fetch);
    loop_free(w.loop);
}

/* A connection that somebody else opened unasked is not used. */
static void test_reuse(struct two_servers *two)
{
    static const struct row row = {.host = "name.test"};
    struct world w = {.loop = NULL};
    struct seen first = {.w = &w}, second = {.w = &w}, third = {.w = &w};

    loop_new(&fetch_mem_libc, &w.loop, NULL);
    fetch_new(&fetch_mem_libc, w.loop, &w.fetch, NULL);
    name_means(BAD, NULL);
    ask(&first, &row, two->port, false);
    ask(&second, &row, two->port, true);
    tap_ok(first.how == FETCH_OK && second.how == FETCH_REFUSED,
           "a connection that is open already is not used");
    ask(&third, &row, two->port, false);
    tap_ok(third.how == FETCH_OK, "and the next transfer asks nobody");
    fetch_free(w.fetch);
    loop_free(w.loop);
}

int main(void)
{
    struct two_servers two = {.port = 0};

    if (!two_start(&two))
        return 1;
    for (size_t i = 0; i < tap_count(rows); i++) {
        check_row(&two, &rows[i], true);
        check_row(&two, &rows[i], false);
    }
    test_reuse(&two);
    two_stop(&two);
    return tap_done();
}
