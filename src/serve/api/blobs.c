/*
 * blobs.c - POST /v1/blobs: a file that a later request names by its hash.
 *
 * It is its uploader's, stays in memory for an hour, and is copied into the
 * store by the run that takes it.
 */
#include "serve/api/api.h"

#include "base/fail.h"

enum {
    UPLOAD_MS = 3600 * 1000,
    UPLOADS_USER_MAX = 96 << 20, /* bytes of one user */
    UPLOADS_ALL_MAX = 256 << 20, /* of all */
    UPLOADS_COUNT_MAX = 10000,
};

struct serve_upload {
    struct serve_upload *next;
    char hash[SHA256_HEX + 1];
    wend_str user, data; /* behind the struct */
    int64_t until_us;
};

static size_t weight(const struct serve_upload *u)
{
    return sizeof *u + u->user.len + u->data.len;
}

static void drop(struct wend_server *server, struct serve_upload **at)
{
    struct serve_upload *u = *at;

    *at = u->next;
    server->uploads_bytes -= weight(u);
    server->uploads_count--;
    mem_free(&server->mem, u);
}

void uploads_tick(struct wend_server *server, int64_t now_us)
{
    struct serve_upload **at = &server->uploads;

    while (*at)
        if ((*at)->until_us <= now_us)
            drop(server, at);
        else
            at = &(*at)->next;
}

void uploads_free(struct wend_server *server)
{
    while (server->uploads)
        drop(server, &server->uploads);
}

static struct serve_upload *find(const struct serve_ask *q, wend_str hash)
{
    struct serve_upload *u = q->server->uploads;

    while (u && !(str_is(hash, u->hash) && str_eq(u->user, q->user)))
        u = u->next;
    return u;
}

wend_str upload_find(const struct serve_ask *q, wend_str hash)
{
    const struct serve_upload *u = find(q, hash);

    return u ? u->data : STR_NONE;
}

static size_t user_bytes(const struct serve_ask *q)
{
    size_t sum = 0;

    for (const struct serve_upload *u = q->server->uploads; u; u = u->next)
        if (str_eq(u->user, q->user))
            sum += weight(u);
    return sum;
}

static bool has_room(struct serve_ask *q)
{
    struct wend_server *server = q->server;

    uploads_tick(server, server_now(server));
    if (user_bytes(q) + q->body.len > UPLOADS_USER_MAX) {
        respond_problem(
            q, 413, "quota", NULL, "uploads are dropped after an hour",
            "your uploads have more than %d MiB", UPLOADS_USER_MAX >> 20);
        return false;
    }
    if (server->uploads_bytes + q->body.len > UPLOADS_ALL_MAX ||
        server->uploads_count >= UPLOADS_COUNT_MAX) {
        respond_problem(q, 503, "overloaded", NULL, "try again later",
                        "too many uploads wait for runs");
        return false;
    }
    return true;
}

static struct serve_upload *keep(struct serve_ask *q, const char *hash)
{
    struct wend_server *server = q->server;
    struct serve_upload *u = find(q, str_of(hash));
    char *at;

    if (!u) {
        u = mem_zalloc(&server->mem, sizeof *u + q->user.len + q->body.len);
        if (!u)
            return NULL;
        at = (char *)(u + 1);
        memcpy(u->hash, hash, sizeof u->hash);
        u->user = str_pack(&at, q->user);
        u->data = str_pack(&at, q->body);
        u->next = server->uploads;
        server->uploads = u;
        server->uploads_bytes += weight(u);
        server->uploads_count++;
    }
    u->until_us = rt_after(server->rt, UPLOAD_MS);
    return u;
}

void api_upload(struct serve_ask *q)
{
    const wend_part part = {.data = q->body,
                            .name = http_query_value(&q->query, "name")};
    struct buf b = {.mem = &q->server->mem};
    char hash[SHA256_HEX + 1];
    wend_ev_part about;
    wend_error err;

    if (wend_part_check(&part, NULL, &about, &err) != WEND_OK) {
        respond_problem(q, 422, "part", NULL, NULL, "%s", err.message);
        return;
    }
    if (!has_room(q))
        return;
    sha256_hex(hash, q->body);
    if (!keep(q, hash)) {
        respond_nomem(q);
        return;
    }
    json_open(&b, NULL, '{');
    json_add_str(&b, "blob", str_of(hash));
    json_add_str(&b, "type", about.type);
    json_add_str(&b, "media", about.media);
    json_add_i64(&b, "bytes", (int64_t)q->body.len);
    json_add_str(&b, "name", part.name);
    json_close(&b, '}');
    respond_json(q, 201, &b);
}
