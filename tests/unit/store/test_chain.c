/*
 * test_chain.c - the hash chain: what it covers, and that it sees damage.
 */
#include "store/store.h"
#include "tap.h"

struct link {
    const char *name, *packs[3], *body, *wanted;
};

/* The wanted values were computed with sha256sum over the bytes. */
static const struct link links[] = {
    {"the first follows 32 zero bytes",
     {NULL},
     "{\"a\":1}",
     "b06a229070741292512e8760f470dd7a"
     "4c46ccfdf253df781d88dabe58c1ccb1"},
    {"an event follows the hash before it",
     {NULL},
     "{}",
     "2e855f0ddd41a23ab50302c297a35ff4"
     "78e9c6fb01c610d1895414ae220a09bb"},
    {"packs come between",
     {"[1]", "[2]"},
     "{\"b\":2}",
     "22d0d491f9220b15704d4829f0ed1942"
     "c583c113b55895a03ea3f4ae79326c41"},
};

static void follow(void)
{
    struct chain c = {0};
    char hex[SHA256_HEX + 1];

    for (size_t i = 0; i < tap_count(links); i++) {
        for (int p = 0; links[i].packs[p]; p++)
            chain_pack(&c, str_of(links[i].packs[p]));
        chain_event(&c, str_of(links[i].body));
        hex_text(hex, c.head, SHA256_BYTES);
        tap_is_str(hex, links[i].wanted, "%s", links[i].name);
    }
}

/* Any change of what was linked changes the head. */
static void see_damage(void)
{
    static const struct {
        const char *name, *pack, *first, *second;
        bool same;
    } rows[] = {
        {"nothing changed (control)", "[1]", "{\"a\":1}", "{\"b\":2}", true},
        {"a pack changed", "[2]", "{\"a\":1}", "{\"b\":2}", false},
        {"a pack is gone", NULL, "{\"a\":1}", "{\"b\":2}", false},
        {"an event changed", "[1]", "{\"a\":2}", "{\"b\":2}", false},
        {"two changed places", "[1]", "{\"b\":2}", "{\"a\":1}", false},
    };
    struct chain wanted = {0};

    chain_pack(&wanted, STR("[1]"));
    chain_event(&wanted, STR("{\"a\":1}"));
    chain_event(&wanted, STR("{\"b\":2}"));
    for (size_t i = 0; i < tap_count(rows); i++) {
        struct chain c = {0};

        if (rows[i].pack)
            chain_pack(&c, str_of(rows[i].pack));
        chain_event(&c, str_of(rows[i].first));
        chain_event(&c, str_of(rows[i].second));
        tap_ok(!memcmp(c.head, wanted.head, SHA256_BYTES) == rows[i].same, "%s",
               rows[i].name);
    }
}

int main(void)
{
    follow();
    see_damage();
    return tap_done();
}
