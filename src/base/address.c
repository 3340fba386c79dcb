/*
 * address.c - internet addresses: read, written, and which are not public.
 *
 * The list follows IANA's registries of special-purpose addresses. An address
 * that embeds an IPv4 address (mapped, translated, tunneled) is refused
 * whatever it embeds: no public host has one.
 */
#include "base/address.h"

#include <stdio.h>

#include "base/ascii.h"

enum { GROUPS = 8 };

/* ---- Reading ------------------------------------------------------------- */

static bool read_v4(wend_str s, unsigned char out[4])
{
    size_t i = 0;

    for (int n = 0; n < 4; n++) {
        size_t begin = i;
        unsigned value = 0;

        while (i < s.len && i - begin < 3 && is_digit(s.ptr[i]))
            value = value * 10 + (unsigned)(s.ptr[i++] - '0');
        if (i == begin || value > 255 || (i - begin > 1 && s.ptr[begin] == '0'))
            return false;
        out[n] = (unsigned char)value;
        if (n < 3 && (i == s.len || s.ptr[i++] != '.'))
            return false;
    }
    return i == s.len;
}

/* Two bytes of hexadecimal digits at *i. */
static bool read_group(wend_str s, size_t *i, unsigned char out[2])
{
    size_t begin = *i;
    unsigned value = 0;

    while (*i < s.len && *i - begin < 4 && hex_value(s.ptr[*i]) >= 0)
        value = value << 4 | (unsigned)hex_value(s.ptr[(*i)++]);
    out[0] = (unsigned char)(value >> 8);
    out[1] = (unsigned char)value;
    return *i > begin;
}

/* Reads groups up to the end or a `::`, also IPv4; their number, or -1. */
static int read_groups(wend_str s, size_t *i, int n, unsigned char *out)
{
    int first = n;

    while (*i < s.len) {
        if (n > first && str_starts(str_skip(s, *i), "::"))
            break;
        if (n > first && s.ptr[(*i)++] != ':')
            return -1;
        if (n <= GROUPS - 2 && read_v4(str_skip(s, *i), out + 2 * n)) {
            *i = s.len;
            return n + 2;
        }
        if (n == GROUPS || !read_group(s, i, out + 2 * n))
            return -1;
        n++;
    }
    return n;
}

static bool read_v6(wend_str s, unsigned char out[16])
{
    unsigned char tail[16] = {0};
    int head_count = 0, tail_count;
    size_t i = 0;

    memset(out, 0, 16);
    if (!str_starts(s, "::"))
        head_count = read_groups(s, &i, 0, out);
    if (head_count < 0 || i == s.len)
        return head_count == GROUPS;
    i += 2; /* the `::`, for one group at least */
    tail_count = read_groups(s, &i, 0, tail);
    if (tail_count < 0 || i != s.len || head_count + tail_count >= GROUPS)
        return false;
    memcpy(out + 16 - 2 * tail_count, tail, 2 * (size_t)tail_count);
    return true;
}

bool address_read(wend_str text, struct address *out)
{
    struct address a = {.v6 = false};

    if (!read_v4(text, a.bytes)) {
        a.v6 = true;
        if (!read_v6(text, a.bytes))
            return false;
    }
    *out = a;
    return true;
}

bool address_read_net(wend_str text, struct address *net, unsigned *bits)
{
    wend_str address = STR_NONE;
    int64_t number, most;

    str_take(&text, '/', &address);
    if (!address_read(address, net))
        return false;
    number = most = net->v6 ? 128 : 32;
    if (text.ptr > address.ptr + address.len && !str_to_i64(text, &number))
        return false;
    *bits = (unsigned)number;
    return number <= most;
}

/* ---- Writing ------------------------------------------------------------- */

static unsigned group_of(const struct address *a, int i)
{
    return (unsigned)a->bytes[2 * i] << 8 | a->bytes[2 * i + 1];
}

/* The longest run of groups that are zero, two at least. */
static int longest_zeros(const struct address *a, int *begin)
{
    int best = 1, run = 0;

    for (int i = 0; i < GROUPS; i++) {
        run = group_of(a, i) ? 0 : run + 1;
        if (run > best) {
            best = run;
            *begin = i + 1 - run;
        }
    }
    return best > 1 ? best : 0;
}

void address_put(struct buf *b, const struct address *a)
{
    int begin = GROUPS, zeros;

    if (!a->v6) {
        buf_fmt(b, "%d.%d.%d.%d", a->bytes[0], a->bytes[1], a->bytes[2],
                a->bytes[3]);
        return;
    }
    zeros = longest_zeros(a, &begin);
    for (int i = 0; i < GROUPS; i++) {
        if (i == begin && zeros) {
            buf_cstr(b, "::");
            i += zeros - 1;
        } else {
            buf_fmt(b, "%s%x", i && i != begin + zeros ? ":" : "",
                    group_of(a, i));
        }
    }
}

/* ---- Special addresses --------------------------------------------------- */

bool address_under(const struct address *a, const struct address *net,
                   unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;

    if (a->v6 != net->v6 || memcmp(a->bytes, net->bytes, whole) != 0)
        return false;
    return !rest || !((a->bytes[whole] ^ net->bytes[whole]) >> (8 - rest));
}

/* The first that matches counts. */
static const struct special {
    struct address net;
    unsigned bits;
    const char *what;
} specials[] = {
    {{false, {0}}, 8, "unspecified"},
    {{false, {10}}, 8, "private"},
    {{false, {100, 64}}, 10, "private (shared by a carrier)"},
    {{false, {127}}, 8, "loopback"},
    {{false, {168, 63, 129, 16}}, 32, "a cloud's own service"},
    {{false, {169, 254}}, 16, "link-local"},
    {{false, {172, 16}}, 12, "private"},
    {{false, {192, 0, 0}}, 24, "reserved"},
    {{false, {192, 0, 2}}, 24, "for documentation"},
    {{false, {192, 88, 99}}, 24, "reserved"},
    {{false, {192, 168}}, 16, "private"},
    {{false, {198, 18}}, 15, "for benchmarks"},
    {{false, {198, 51, 100}}, 24, "for documentation"},
    {{false, {203, 0, 113}}, 24, "for documentation"},
    {{false, {224}}, 4, "multicast"},
    {{false, {255, 255, 255, 255}}, 32, "broadcast"},
    {{false, {240}}, 4, "reserved"},

    {{true, {0}}, 128, "unspecified"},
    {{true, {[15] = 1}}, 128, "loopback"},
    {{true, {0}}, 96, "IPv4 in IPv6"},
    {{true, {[10] = 0xff, 0xff}}, 96, "IPv4 in IPv6"},
    {{true, {[8] = 0xff, 0xff}}, 96, "IPv4 in IPv6"},
    {{true, {0x00, 0x64, 0xff, 0x9b}}, 96, "IPv4 in IPv6 (NAT64)"},
    {{true, {0x00, 0x64, 0xff, 0x9b, 0, 1}}, 48, "IPv4 in IPv6 (NAT64)"},
    {{true, {0x20, 0x01}}, 32, "IPv4 in IPv6 (Teredo)"},
    {{true, {0x20, 0x01, 0x0d, 0xb8}}, 32, "for documentation"},
    {{true, {0x20, 0x01}}, 23, "reserved"},
    {{true, {0x20, 0x02}}, 16, "IPv4 in IPv6 (6to4)"},
    {{true, {0x3f, 0xff}}, 20, "for documentation"},
    {{true, {0xfc}}, 7, "private"},
    {{true, {0xfe, 0x80}}, 10, "link-local"},
    {{true, {0xfe, 0xc0}}, 10, "private"},
    {{true, {0xff}}, 8, "multicast"},
};

const char *address_special(const struct address *a)
{
    static const struct address global = {true, {0x20}};

    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (address_under(a, &specials[i].net, specials[i].bits))
            return specials[i].what;
    return a->v6 && !address_under(a, &global, 3) ? "reserved" : NULL;
}
