/*
 * fuzz_address.c - any text: read as the system's reader does, and the same
 * when written and read again. As an entry of a network it allows an address
 * only if it says so.
 */
#include <arpa/inet.h>
#include <stdlib.h>

#include "base/network.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct mem libc_mem;

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The system wants a NUL at the end, and none before. */
static void ask_system(wend_str text, bool is_address, const struct address *a)
{
    unsigned char bytes[16] = {0};
    char *copy = malloc(text.len + 1);
    bool v4, v6;

    memcpy(copy, text.ptr, text.len);
    copy[text.len] = 0;
    v4 = inet_pton(AF_INET, copy, bytes) == 1;
    v6 = !v4 && inet_pton(AF_INET6, copy, bytes) == 1;
    free(copy);
    must(is_address == (v4 || v6));
    must(!is_address || (a->v6 == v6 && !memcmp(a->bytes, bytes, 16)));
}

static void write_again(const struct address *a)
{
    struct buf text = {.mem = &libc_mem};
    struct address again;

    address_put(&text, a);
    must(address_read(buf_view(&text), &again));
    must(!memcmp(a, &again, sizeof again));
    buf_free(&text);
}

static void as_entry(wend_str text, bool is_address, const struct address *a)
{
    struct arena arena = {.mem = &libc_mem};
    struct network n = {NULL};
    struct address loopback = {false, {127, 0, 0, 1}};
    const char *why;

    if (network_add(&n, text, &arena, NULL) != WEND_OK) {
        must(!is_address && !n.first);
    } else {
        const struct network_entry *e = n.first;

        must(network_allows(&n, STR("-"), &loopback, 1, &why) ==
             (!e->name.ptr && (!e->port || e->port == 1) &&
              address_under(&loopback, &e->net, e->bits)));
        must(!is_address || network_allows(&n, STR("-"), a, 1, &why));
    }
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wend_str text = {(const char *)data, size};
    struct address a;
    bool is_address;

    if (!size)
        return 0;
    is_address = address_read(text, &a);
    if (!memchr(text.ptr, 0, text.len))
        ask_system(text, is_address, &a);
    else
        must(!is_address);
    if (is_address)
        write_again(&a);
    as_entry(text, is_address, &a);
    return 0;
}
