/*
 * outbox.c - webhooks: a URL is told that a run has ended.
 *
 * A letter is a fact of the store, written before its run starts: it names the
 * URL alone. What it says is read from the log when the run is over, so a crash
 * at any point loses nothing; a message that was sent but not noted is sent
 * again, with the same id.
 */
#include "serve/serve.h"

#include <stdio.h>
#include <time.h>

#include "base/fail.h"
#include "base/id.h"
#include "base/url.h"
#include "lib/run/run.h"

enum {
    TRIES_MAX = 12, /* over about three days */
    TELL_MS = 15000,
    TEXT_MAX = 64 << 10, /* bytes of an answer that a message repeats */
    SENDS_MAX = 16,      /* at once */
};

#define OUTBOX_SPACE "serve/outbox"

static const int tries_s[TRIES_MAX] = {0,    5,     30,    120,   600,   1800,
                                       7200, 14400, 28800, 43200, 86400, 86400};

struct serve_letter {
    struct serve_letter *next;
    struct wend_server *server;
    char run[37];
    const char *url; /* behind the struct */
    int tries;
    bool is_due;         /* the run is over */
    int64_t at_us;       /* when it is sent */
    struct transfer *on; /* its way; NULL: it waits */
    int status;          /* of the answer */
};

/* ---- Letters in the store ------------------------------------------------ */

static void letter_keep(const struct serve_letter *l, bool done)
{
    wend_runtime *rt = l->server->rt;
    struct buf b = {.mem = &l->server->mem};
    struct store_fact f = {.space = STR(OUTBOX_SPACE),
                           .key = str_of(l->run),
                           .time_us = rt_wall(rt)};

    if (!done) {
        json_open(&b, NULL, '{');
        json_add_str(&b, "url", str_of(l->url));
        json_add_i64(&b, "tries", l->tries);
        json_close(&b, '}');
        f.text = buf_view(&b);
    }
    if (!b.failed)
        fact_keep(rt, &f);
    buf_free(&b);
}

static struct serve_letter *letter_new(struct wend_server *server,
                                       const char *run, wend_str url)
{
    struct serve_letter *l = mem_zalloc(&server->mem, sizeof *l + url.len + 1);
    char *at = (char *)(l + 1);

    if (!l)
        return NULL;
    memcpy(at, url.ptr, url.len);
    l->url = at;
    l->server = server;
    snprintf(l->run, sizeof l->run, "%s", run);
    l->next = server->letters;
    server->letters = l;
    return l;
}

static void letter_free(struct serve_letter *l)
{
    struct serve_letter **at = &l->server->letters;

    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    if (l->on)
        fetch_stop(l->on);
    mem_free(&l->server->mem, l);
}

/* ---- The message --------------------------------------------------------- */

static void put_end(struct buf *b, const wend_ev_run_end *e)
{
    wend_str text = e->text;

    if (text.len > TEXT_MAX)
        text.len = TEXT_MAX;
    while (text.len && (text.ptr[text.len - 1] & 0xc0) == 0x80)
        text.len--; /* not inside a character */
    if (text.len < e->text.len && text.len)
        text.len--;
    json_add_str(b, "outcome", str_of(wend_outcome_name(e->outcome)));
    json_add_str(b, "answer", text);
    if (text.len < e->text.len)
        json_add_bool(b, "answer_cut", true);
    if (!e->error)
        return;
    json_open(b, "error", '{');
    json_add_str(b, "code", e->error->code);
    json_add_str(b, "message", e->error->message);
    json_close(b, '}');
}

static bool put_body(const struct serve_letter *l, struct arena *a,
                     struct buf *b)
{
    wend_runtime *rt = l->server->rt;
    wend_replay_options o = {.size = sizeof o};
    const wend_event *ev;
    wend_run_info *info;
    wend_run *run;
    char time_text[40];
    time_t seconds;
    struct tm tm;

    if (store_info(rt->store, l->run, a, &info, NULL) != WEND_OK)
        return false;
    o.seq_from = info->seq;
    if (wend_store_replay(rt, l->run, &o, &run, NULL) != WEND_OK)
        return false;
    seconds = (time_t)(info->ended_us / 1000000);
    gmtime_r(&seconds, &tm);
    strftime(time_text, sizeof time_text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_open(b, NULL, '{');
    json_add_str(b, "type", STR("run.ended"));
    json_add_str(b, "timestamp", str_of(time_text));
    json_open(b, "data", '{');
    json_add_str(b, "run", info->run);
    json_add_str(b, "status", info->status);
    json_add_str(b, "agent", info->agent);
    json_add_str(b, "user", info->user);
    json_add_str(b, "session", info->session);
    while (run_poll(run, &ev) == WEND_OK)
        if (ev->type == WEND_RUN_END)
            put_end(b, &ev->u.run_end);
    json_close(b, '}');
    json_close(b, '}');
    wend_run_free(run);
    return !b->failed;
}

/* v1,BASE64 of the HMAC over id, time and body. */
static void put_signature(const struct wend_server *server, struct buf *out,
                          const char *id, const char *at, wend_str body)
{
    struct buf text = {.mem = &server->mem};
    unsigned char mac[SHA256_BYTES];

    buf_fmt(&text, "%s.%s.", id, at);
    buf_str(&text, body);
    hmac_sha256(server->webhook_key, buf_view(&text), mac);
    buf_cstr(out, "webhook-signature: v1,");
    base64_put(out, (wend_str){(const char *)mac, sizeof mac});
    out->failed |= text.failed;
    buf_free(&text);
}

/* ---- Sending ------------------------------------------------------------- */

static void on_head(void *ctx, struct transfer *t, int status)
{
    struct serve_letter *l = ctx;

    (void)t;
    l->status = status;
}

static bool on_body(void *ctx, const char *p, size_t len)
{
    (void)ctx;
    (void)p;
    (void)len;
    return true;
}

static void report(const struct serve_letter *l, const char *what,
                   const char *why)
{
    const wend_server_options *o = &l->server->options;
    struct buf b = {.mem = &l->server->mem};

    if (!o->access)
        return;
    json_open(&b, NULL, '{');
    json_add_time(&b, "time", rt_wall(l->server->rt));
    json_add_str(&b, "webhook", str_of(what));
    json_add_str(&b, "run", str_of(l->run));
    json_add_i64(&b, "tries", l->tries);
    if (l->status)
        json_add_i64(&b, "status", l->status);
    json_add_str(&b, "why", str_of(why));
    json_close(&b, '}');
    if (!b.failed)
        o->access(o->access_ctx, buf_view(&b));
    buf_free(&b);
}

/* The chance in it keeps many letters from coming back at once. */
static void again_later(struct serve_letter *l)
{
    int64_t wait_ms = tries_s[l->tries] * 1000LL;

    l->at_us = rt_after(l->server->rt,
                        wait_ms + (int64_t)(mix64(0, l->run, 36) %
                                            (uint64_t)(wait_ms / 4 + 1)));
    letter_keep(l, false);
}

static void on_end(void *ctx, enum fetch_end how, const char *message)
{
    struct serve_letter *l = ctx;
    bool ok = how == FETCH_OK && l->status / 100 == 2;

    l->on = NULL;
    l->server->letters_sent--;
    if (ok || l->status == 410 || l->tries == TRIES_MAX) {
        report(l, ok ? "sent" : "given up", ok ? NULL : message);
        letter_keep(l, true);
        letter_free(l);
        return;
    }
    report(l, "failed", message);
    again_later(l);
}

static void send_letter(struct serve_letter *l)
{
    static const struct fetch_events events = {on_head, on_body, on_end};
    struct wend_server *server = l->server;
    struct arena a = {.mem = &server->mem};
    struct buf body = {.mem = &server->mem}, sign = {.mem = &server->mem};
    char id[64], id_line[80], at[24], at_line[48];
    const char *headers[] = {"Content-Type: application/json",
                             "User-Agent: wend/" WEND_VERSION,
                             id_line,
                             at_line,
                             NULL,
                             NULL};
    struct fetch_request q = {.url = l->url,
                              .method = "POST",
                              .headers = headers,
                              .copy_body = true,
                              .whole_ms = TELL_MS};
    struct fetch *fetch;

    snprintf(id, sizeof id, "msg_%s", l->run);
    snprintf(at, sizeof at, "%lld", (long long)(rt_wall(server->rt) / 1000000));
    snprintf(id_line, sizeof id_line, "webhook-id: %s", id);
    snprintf(at_line, sizeof at_line, "webhook-timestamp: %s", at);
    l->tries++;
    l->status = 0;
    if (put_body(l, &a, &body)) {
        put_signature(server, &sign, id, at, buf_view(&body));
        headers[4] = sign.ptr;
        q.body = buf_view(&body);
        if (!sign.failed && rt_fetch(server->rt, &fetch, NULL) == WEND_OK &&
            fetch_start(fetch, &q, &events, l, &l->on, NULL) == WEND_OK)
            server->letters_sent++;
    }
    if (!l->on && l->tries < TRIES_MAX)
        again_later(l);
    buf_free(&body);
    buf_free(&sign);
    arena_free(&a);
}

void outbox_tick(struct wend_server *server, int64_t now_us)
{
    struct serve_letter *l, *next;

    for (l = server->letters; l && !server->draining; l = next) {
        next = l->next;
        if (server->letters_sent == SENDS_MAX)
            return;
        if (l->is_due && !l->on && l->at_us <= now_us)
            send_letter(l);
    }
}

static struct serve_letter *letter_of(const struct wend_server *server,
                                      const char *run)
{
    struct serve_letter *l = server->letters;

    while (l && strcmp(l->run, run) != 0)
        l = l->next;
    return l;
}

bool outbox_expect(struct wend_server *server, const char *run, wend_str url)
{
    struct serve_letter *l = letter_new(server, run, url);

    if (l)
        letter_keep(l, false);
    return l;
}

/* The store has the letter before it has the end of the run: both go the same
 * way, in order. */
void outbox_new_run(struct wend_server *server, const char *run)
{
    wend_str url = str_of(server->options.webhook);

    if (url.ptr && !letter_of(server, run))
        outbox_expect(server, run, url);
}

void outbox_ended(struct wend_server *server, const char *run)
{
    struct serve_letter *l = letter_of(server, run);

    if (!l)
        return;
    l->is_due = true;
    server_tick_on(server);
}

void outbox_free(struct wend_server *server)
{
    while (server->letters)
        letter_free(server->letters);
}

/* ---- At the start -------------------------------------------------------- */

static bool on_fact(void *ctx, const struct store_fact *f)
{
    struct wend_server *server = ctx;
    struct arena a = {.mem = &server->mem};
    const struct json *j = json_parse(f->text, &a, NULL);
    wend_str url = json_get_str(j, "url");
    struct serve_letter *l = NULL;
    int64_t tries = 0;
    char run[37];

    snprintf(run, sizeof run, "%.*s", STR_ARGS(f->key));
    if (url.ptr && run_id_valid(str_of(run)))
        l = letter_new(server, run, url);
    if (l && json_i64(json_get(j, "tries"), &tries) && tries > 0 &&
        tries < TRIES_MAX)
        l->tries = (int)tries;
    arena_free(&a);
    return true;
}

/* A letter whose run was never stored is not needed. */
void outbox_load(struct wend_server *server)
{
    wend_store *store = server->rt->store;
    struct arena a = {.mem = &server->mem};
    struct serve_letter *l, *next;
    wend_run_info *info;

    store->ops->facts(store, STR(OUTBOX_SPACE), STR_NONE, rt_wall(server->rt),
                      on_fact, server, NULL);
    for (l = server->letters; l; l = next) {
        wend_status s = store_info(store, l->run, &a, &info, NULL);

        next = l->next;
        if (s == WEND_OK) {
            l->is_due = info->ended_us;
        } else if (s == WEND_E_NOTFOUND) {
            letter_keep(l, true);
            letter_free(l);
        }
    }
    arena_free(&a);
    if (server->letters)
        server_tick_on(server);
}

/* ---- Options ------------------------------------------------------------- */

bool outbox_allows(const struct wend_server *server, wend_str url)
{
    const wend_server_options *o = &server->options;
    struct arena a = {.mem = &server->mem};
    struct url wanted, allowed;
    bool yes = false;

    if (server->webhook_key.len && url_parse(url, &a, &wanted, NULL) == WEND_OK)
        for (size_t i = 0; !yes && i < o->webhook_allow_count; i++)
            yes = url_parse(str_of(o->webhook_allow[i]), &a, &allowed, NULL) ==
                      WEND_OK &&
                  url_same_origin(&wanted, &allowed);
    arena_free(&a);
    return yes;
}

wend_status outbox_options(struct wend_server *server, wend_error *err)
{
    wend_server_options *o = &server->options;
    wend_str secret = str_of(o->webhook_secret);
    struct buf key = {.mem = &server->mem};
    struct url u;

    if (!o->webhook && !o->webhook_allow_count)
        return WEND_OK;
    if (!secret.len)
        return fail(err, WEND_E_INVAL,
                    "webhooks need a secret that signs them: set "
                    "WEND_WEBHOOK_SECRET to whsec_ and base64");
    if (!str_starts(secret, "whsec_") ||
        !base64_take(&key, str_skip(secret, 6)) || key.len < 24) {
        buf_free(&key);
        return fail(err, WEND_E_INVAL,
                    "the secret of webhooks must be whsec_ and at least 24 "
                    "bytes in base64");
    }
    server->webhook_key = buf_keep(&key, &server->arena);
    for (size_t i = 0; i < o->webhook_allow_count; i++)
        if (url_parse(str_of(o->webhook_allow[i]), &server->arena, &u, err) !=
            WEND_OK)
            return WEND_E_INVAL;
    if (o->webhook &&
        url_parse(str_of(o->webhook), &server->arena, &u, err) != WEND_OK)
        return WEND_E_INVAL;
    return server->arena.failed ? fail_nomem(err) : WEND_OK;
}
