/*
 * test_address.c - addresses as text, and which of them are not public.
 */
#include "base/address.h"
#include "tap.h"

static const struct mem libc_mem;

/* NULL: refused. */
static const struct {
    const char *text, *again;
} spellings[] = {
    {"1.2.3.4", "1.2.3.4"},
    {"0.0.0.0", "0.0.0.0"},
    {"255.255.255.255", "255.255.255.255"},
    {"256.0.0.1", NULL},
    {"1.2.3", NULL},
    {"1.2.3.4.5", NULL},
    {"1.2.3.", NULL},
    {".1.2.3.4", NULL},
    {"1..3.4", NULL},
    {"01.2.3.4", NULL},
    {"1.2.3.00", NULL},
    {"1.2.3.0004", NULL},
    {"0x7f.0.0.1", NULL},
    {"127.1", NULL},
    {"2130706433", NULL},
    {"1.2.3.4 ", NULL},
    {"", NULL},
    {"::", "::"},
    {"::1", "::1"},
    {"1::", "1::"},
    {"0:0:0:0:0:0:0:0", "::"},
    {"0:0:0:0:0:0:0:1", "::1"},
    {"2001:DB8::00aB", "2001:db8::ab"},
    {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
    {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
    {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
    {"1:0:0:2:0:0:0:3", "1:0:0:2::3"},
    {"1:0:0:2:3:0:0:4", "1::2:3:0:0:4"},
    {"::ffff:127.0.0.1", "::ffff:7f00:1"},
    {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
    {"1:2:3:4:5:6:7:1.2.3.4", NULL},
    {"1:2:3:4:5:1.2.3.4", NULL},
    {"::1.2.3.4:5", NULL},
    {"::1.2.3", NULL},
    {"::01.2.3.4", NULL},
    {"1:2:3:4:5:6:7:8::", NULL},
    {"::1:2:3:4:5:6:7:8", NULL},
    {"1:2:3:4:5:6:7:8:9", NULL},
    {"1:2:3:4:5:6:7", NULL},
    {"1::2::3", NULL},
    {":::", NULL},
    {"1:::2", NULL},
    {":", NULL},
    {":1", NULL},
    {"1:", NULL},
    {"::1:", NULL},
    {"::12345", NULL},
    {"::g", NULL},
    {"fe80::1%eth0", NULL},
    {"[::1]", NULL},
};

static void test_spellings(void)
{
    for (size_t i = 0; i < tap_count(spellings); i++) {
        struct buf b = {.mem = &libc_mem};
        struct address a;

        if (address_read(str_of(spellings[i].text), &a))
            address_put(&b, &a);
        tap_is_str(buf_view(&b), spellings[i].again ? spellings[i].again : "",
                   "'%s'", spellings[i].text);
        buf_free(&b);
    }
}

/* Each range at its ends and beside them. NULL: public. */
static const struct {
    const char *text, *what;
} kinds[] = {
    {"0.0.0.0", "unspecified"},
    {"0.255.255.255", "unspecified"},
    {"1.0.0.0", NULL},
    {"8.8.8.8", NULL},
    {"9.255.255.255", NULL},
    {"10.0.0.0", "private"},
    {"10.255.255.255", "private"},
    {"11.0.0.0", NULL},
    {"100.63.255.255", NULL},
    {"100.64.0.0", "private (shared by a carrier)"},
    {"100.100.100.200", "private (shared by a carrier)"},
    {"100.127.255.255", "private (shared by a carrier)"},
    {"100.128.0.0", NULL},
    {"126.255.255.255", NULL},
    {"127.0.0.0", "loopback"},
    {"127.0.0.1", "loopback"},
    {"127.255.255.255", "loopback"},
    {"128.0.0.0", NULL},
    {"168.63.129.15", NULL},
    {"168.63.129.16", "a cloud's own service"},
    {"168.63.129.17", NULL},
    {"169.253.255.255", NULL},
    {"169.254.0.0", "link-local"},
    {"169.254.169.254", "link-local"},
    {"169.254.255.255", "link-local"},
    {"169.255.0.0", NULL},
    {"172.15.255.255", NULL},
    {"172.16.0.0", "private"},
    {"172.31.255.255", "private"},
    {"172.32.0.0", NULL},
    {"191.255.255.255", NULL},
    {"192.0.0.0", "reserved"},
    {"192.0.0.192", "reserved"},
    {"192.0.1.0", NULL},
    {"192.0.2.1", "for documentation"},
    {"192.0.3.0", NULL},
    {"192.88.99.1", "reserved"},
    {"192.167.255.255", NULL},
    {"192.168.0.0", "private"},
    {"192.168.255.255", "private"},
    {"192.169.0.0", NULL},
    {"198.17.255.255", NULL},
    {"198.18.0.0", "for benchmarks"},
    {"198.19.255.255", "for benchmarks"},
    {"198.20.0.0", NULL},
    {"198.51.100.7", "for documentation"},
    {"203.0.113.7", "for documentation"},
    {"223.255.255.255", NULL},
    {"224.0.0.1", "multicast"},
    {"239.255.255.255", "multicast"},
    {"240.0.0.0", "reserved"},
    {"255.255.255.254", "reserved"},
    {"255.255.255.255", "broadcast"},
    {"::", "unspecified"},
    {"::1", "loopback"},
    {"::2", "IPv4 in IPv6"},
    {"::127.0.0.1", "IPv4 in IPv6"},
    {"::8.8.8.8", "IPv4 in IPv6"},
    {"::1:0:0", "reserved"},
    {"::ffff:127.0.0.1", "IPv4 in IPv6"},
    {"::ffff:8.8.8.8", "IPv4 in IPv6"},
    {"::ffff:0:127.0.0.1", "IPv4 in IPv6"},
    {"64:ff9b::7f00:1", "IPv4 in IPv6 (NAT64)"},
    {"64:ff9b::8.8.8.8", "IPv4 in IPv6 (NAT64)"},
    {"64:ff9b:1::7f00:1", "IPv4 in IPv6 (NAT64)"},
    {"64:ff9b:2::", "reserved"},
    {"100::1", "reserved"},
    {"1fff::1", "reserved"},
    {"2000::1", NULL},
    {"2001::1", "IPv4 in IPv6 (Teredo)"},
    {"2001:0:7f00:1::", "IPv4 in IPv6 (Teredo)"},
    {"2001:2::1", "reserved"},
    {"2001:10::1", "reserved"},
    {"2001:1ff::1", "reserved"},
    {"2001:200::1", NULL},
    {"2001:db7:ffff::1", NULL},
    {"2001:db8::1", "for documentation"},
    {"2001:db9::1", NULL},
    {"2001:4860:4860::8888", NULL},
    {"2002:7f00:1::", "IPv4 in IPv6 (6to4)"},
    {"2002:a9fe:a9fe::", "IPv4 in IPv6 (6to4)"},
    {"2003::1", NULL},
    {"2600::1", NULL},
    {"3fff::1", "for documentation"},
    {"3fff:1000::1", NULL},
    {"4000::1", "reserved"},
    {"5f00::1", "reserved"},
    {"fbff::1", "reserved"},
    {"fc00::1", "private"},
    {"fd00:ec2::254", "private"},
    {"fe00::1", "reserved"},
    {"fe80::1", "link-local"},
    {"febf::1", "link-local"},
    {"fec0::1", "private"},
    {"ff02::1", "multicast"},
};

static void test_kinds(void)
{
    for (size_t i = 0; i < tap_count(kinds); i++) {
        struct address a;
        const char *what = "unread";

        if (address_read(str_of(kinds[i].text), &a))
            what = address_special(&a);
        tap_is_str(what ? what : "public",
                   kinds[i].what ? kinds[i].what : "public", "%s",
                   kinds[i].text);
    }
}

static void test_under(void)
{
    static const struct {
        const char *address, *net;
        unsigned bits;
        bool is;
    } rows[] = {
        {"10.1.2.3", "10.1.2.3", 32, true}, {"10.1.2.3", "10.1.2.2", 32, false},
        {"10.1.2.3", "10.1.2.2", 31, true}, {"10.1.2.3", "200.0.0.0", 0, true},
        {"10.1.2.3", "::", 0, false},       {"fd00::1", "fd00::", 8, true},
        {"fd00::1", "fd00::", 128, false},  {"fd00::1", "fd00::1", 128, true},
    };

    for (size_t i = 0; i < tap_count(rows); i++) {
        struct address a = {0}, net = {0};

        address_read(str_of(rows[i].address), &a);
        address_read(str_of(rows[i].net), &net);
        tap_ok(address_under(&a, &net, rows[i].bits) == rows[i].is,
               "%s under %s/%u", rows[i].address, rows[i].net, rows[i].bits);
    }
}

int main(void)
{
    test_spellings();
    test_kinds();
    test_under();
    return tap_done();
}
