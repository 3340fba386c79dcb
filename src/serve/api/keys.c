/*
 * keys.c - Idempotency-Key: the same request twice starts one run.
 *
 * A key belongs to its user for a day. It is stored with the id of the run
 * before the run is started: a server that dies in between starts, when asked
 * again, the run of that id. Keys that the store may not have yet are in a
 * short list.
 */
#include "serve/api/api.h"

#include <stdio.h>

#include "base/id.h"

enum {
    KEY_BYTES_MAX_HTTP = 255,
    KEY_HOURS = 24,
};

#define KEYS_SPACE "serve/key"

/* The name of the fact: a hash, since user and key are any text. */
static void key_name(const struct serve_ask *q, wend_str key,
                     char out[SHA256_HEX + 1])
{
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, q->user.ptr, q->user.len);
    sha256_add(&h, "", 1);
    sha256_add(&h, key.ptr, key.len);
    sha256_end_hex(&h, out);
}

struct known {
    char run[37], body[SHA256_HEX + 1];
    bool found;
};

static bool on_fact(void *ctx, const struct store_fact *f)
{
    struct known *k = ctx;

    if (f->text.len == 36 + SHA256_HEX) {
        snprintf(k->run, sizeof k->run, "%.36s", f->text.ptr);
        snprintf(k->body, sizeof k->body, "%.*s", SHA256_HEX, f->text.ptr + 36);
        k->found = true;
    }
    return false;
}

static void find_key(struct serve_ask *q, const char *name, struct known *k)
{
    struct wend_server *server = q->server;
    wend_store *store = server->rt->store;

    for (size_t i = 0; i < SERVE_KEYS_NEW; i++)
        if (!strcmp(server->keys[i].name, name)) {
            memcpy(k->run, server->keys[i].run, sizeof k->run);
            memcpy(k->body, server->keys[i].body, sizeof k->body);
            k->found = true;
            return;
        }
    store->ops->facts(store, STR(KEYS_SPACE), str_of(name), rt_wall(server->rt),
                      on_fact, k, NULL);
}

static void keep_key(struct serve_ask *q, const char *name,
                     const struct known *k)
{
    struct wend_server *server = q->server;
    struct serve_key *slot =
        &server->keys[server->keys_next++ % SERVE_KEYS_NEW];
    char text[36 + SHA256_HEX + 1];
    int64_t now = rt_wall(server->rt);
    const struct store_fact f = {
        .space = STR(KEYS_SPACE),
        .key = str_of(name),
        .text = {text, sizeof text - 1},
        .time_us = now,
        .until_us = now + KEY_HOURS * 3600LL * 1000000,
    };

    memcpy(slot->name, name, sizeof slot->name);
    memcpy(slot->run, k->run, sizeof slot->run);
    memcpy(slot->body, k->body, sizeof slot->body);
    snprintf(text, sizeof text, "%s%s", k->run, k->body);
    fact_keep(server->rt, &f);
}

void ask_new_id(const struct serve_ask *q, char id[37])
{
    const wend_runtime *rt = q->server->rt;
    unsigned char chance[10];

    rt->env->chance(rt->env->ctx, chance, sizeof chance);
    run_id_make(id, rt_wall(rt), chance);
}

bool ask_key(struct serve_ask *q, char id[37])
{
    wend_str key = http_req_value(q->req, "idempotency-key");
    char name[SHA256_HEX + 1], body[SHA256_HEX + 1];
    struct known k = {.found = false};
    struct serve_run *r;
    wend_run_info *info;

    id[0] = 0;
    if (!key.ptr)
        return true;
    if (!key.len || key.len > KEY_BYTES_MAX_HTTP) {
        respond_problem(q, 400, "key", "Idempotency-Key", NULL,
                        "the key must have 1 to %d bytes", KEY_BYTES_MAX_HTTP);
        return false;
    }
    key_name(q, key, name);
    sha256_hex(body, q->body);
    find_key(q, name, &k);
    if (k.found && strcmp(k.body, body) != 0) {
        respond_problem(q, 409, "key", "Idempotency-Key", "use a new key",
                        "the key was used with another body");
        return false;
    }
    r = k.found ? hub_find(q->server, k.run) : NULL;
    if (r) {
        hub_answer(r, q);
        return false;
    }
    if (k.found && store_info(q->server->rt->store, k.run, &q->arena, &info,
                              NULL) == WEND_OK) {
        respond_run(q, 201, k.run);
        return false;
    }
    if (!k.found) {
        ask_new_id(q, k.run);
        memcpy(k.body, body, sizeof k.body);
        keep_key(q, name, &k);
    }
    memcpy(id, k.run, sizeof k.run);
    return true;
}
