/*
 * wend_server.h - an HTTP server for the runs of a runtime: API, event streams,
 * protocols and a page. Not included by wend.h, whose rules also hold here.
 */
#ifndef WEND_SERVER_H
#define WEND_SERVER_H

#include "wend.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wend_server wend_server;

/* What the holder of a token may do. */
enum {
    WEND_RIGHT_READ = 1,    /* see runs and their events */
    WEND_RIGHT_RUN = 2,     /* start, say, cancel, fork .. */
    WEND_RIGHT_APPROVE = 4, /* answer approvals */
    WEND_RIGHT_ADMIN = 8    /* the same for runs of all users */
};

typedef struct wend_server_options {
    size_t size;
    /* IP:PORT, localhost:PORT (port 0: any free one) or unix:PATH.
     * Default 127.0.0.1:8791. */
    const char *listen;
    /* A secret of 16 to 512 bytes whose holder has all rights; NULL: none,
     * only `tokens` count. */
    const char *token;
    const char *token_user; /* its user; default "admin" */
    /* A file of tokens: a line each, SHA256 USER RIGHT[,RIGHT]... with the
     * hash in hex and the rights read, run, approve, admin. It must belong to
     * the user and be writable by no other. NULL: none. */
    const char *tokens;
    /* Where browsers reach the server if a proxy is in front of it, such as
     * https://agents.example.org; else NULL. */
    const char *public_url;
    uint32_t drain_ms; /* see wend_server_drain; default 30 s */
    /* One line of JSON for each request that was answered; NULL: none. */
    void (*access)(void *ctx, wend_str line);
    void *access_ctx;
    uint32_t connections_max; /* default 20,000; more are refused */
    uint32_t runs_max;        /* in progress; default 1,000; more get 503 */
    /* A URL that is told the end of every run that this server starts, by the
     * rules of Standard Webhooks; NULL: none. An admin may name another one for
     * a run, whose origin (https://host) must be one of webhook_allow. The
     * secret signs the messages: "whsec_" and base64; needed for both. */
    const char *webhook;
    const char *const *webhook_allow;
    size_t webhook_allow_count;
    const char *webhook_secret;
} wend_server_options;

/* Makes a server on a runtime and begins to listen. It works while the runtime
 * is pumped, on its thread. options may be NULL; without token and tokens
 * nothing but /healthz and /readyz is answered. WEND_E_IO: the address is in
 * use. */
WEND_API wend_status wend_server_new(wend_runtime *rt,
                                     const wend_server_options *options,
                                     wend_server **out, wend_error *err);

typedef struct wend_server_agent {
    size_t size;
    const char *name;        /* what requests call it: letters, digits, - _ . */
    const char *description; /* may be NULL */
    wend_agent *agent;       /* borrowed as by wend_run_start */
    /* Other models that a request may name, each with an agent that has it;
     * `agent` itself stands for its own model. */
    const char *const *models;
    wend_agent *const *model_agents;
    size_t models_count;
} wend_server_agent;

/* Adds an agent; the first one is the default. WEND_E_EXISTS: the name is
 * taken. */
WEND_API wend_status wend_server_add_agent(wend_server *server,
                                           const wend_server_agent *agent,
                                           wend_error *err);
/* Resumes the unfinished runs of its agents that a server has started and that
 * no process owns; their number is in *count, which may be NULL. Call it once,
 * when all agents are there. */
WEND_API wend_status wend_server_resume(wend_server *server, size_t *count,
                                        wend_error *err);
/* The address, such as http://127.0.0.1:8791. Lent. */
WEND_API const char *wend_server_url(const wend_server *server);
/* Reads the file of tokens again; streams of tokens that are gone end. If the
 * file is wrong the tokens stay as they are. */
WEND_API wend_status wend_server_reload(wend_server *server, wend_error *err);
/* Starts nothing new from now on, tells the clients, and parks each run after
 * its next kept event, at the latest after drain_ms. */
WEND_API wend_status wend_server_drain(wend_server *server);
/* Whether nothing is left to wait for: every run is parked, and what was
 * written to clients is sent. */
WEND_API bool wend_server_is_drained(const wend_server *server);
/* Closes all connections and frees the server; its runs are parked and can be
 * resumed. Call it on the thread of the runtime. */
WEND_API void wend_server_free(wend_server *server);

#ifdef __cplusplus
}
#endif
#endif
