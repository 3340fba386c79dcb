/*
 * api.h - the routes of the native API; route.c has their table.
 */
#ifndef SERVE_API_H
#define SERVE_API_H

#include "base/fields.h"
#include "serve/serve.h"

/* info.c */
void api_health(struct serve_ask *q);
void api_ready(struct serve_ask *q);
void api_me(struct serve_ask *q);
void api_agents(struct serve_ask *q);
void api_tools(struct serve_ask *q);
void api_providers(struct serve_ask *q);
void api_stats(struct serve_ask *q);

/* start.c */
void api_start(struct serve_ask *q);
/* The agent that a request names (absent: the default) for a model; NULL: it is
 * answered. */
wend_agent *ask_agent(struct serve_ask *q, wend_str name, wend_str model);
/* Whether one more run may start; false: it is answered. */
bool ask_room(struct serve_ask *q);

/* keys.c: the id that a run with an Idempotency-Key gets, or "" without one;
 * false: it is answered, with the run that the key started. */
bool ask_key(struct serve_ask *q, char id[37]);
void ask_new_id(const struct serve_ask *q, char id[37]);

/* blobs.c */
void api_upload(struct serve_ask *q);
/* What this user uploaded under a hash; absent: nothing. */
wend_str upload_find(const struct serve_ask *q, wend_str hash);
void uploads_tick(struct wend_server *server, int64_t now_us);
void uploads_free(struct wend_server *server);

/* metrics.c */
void api_metrics(struct serve_ask *q);

/* runs.c */
void api_runs(struct serve_ask *q);
void api_run(struct serve_ask *q);
void api_events(struct serve_ask *q);
void api_context(struct serve_ask *q);
void api_blob(struct serve_ask *q);

/* voice.c: how a dialect sounds; false: it is answered. */
bool voice_of(struct serve_ask *q, wend_str dialect,
              struct serve_flow_options *o);

/* tell.c */
void api_say(struct serve_ask *q);
void api_approve(struct serve_ask *q);
void api_cancel(struct serve_ask *q);
void api_pause(struct serve_ask *q);
void api_continue(struct serve_ask *q);
void api_compact(struct serve_ask *q);

/* again.c */
void api_resume(struct serve_ask *q);
void api_retry(struct serve_ask *q);
void api_fork(struct serve_ask *q);

/* plans.c */
void api_plan_check(struct serve_ask *q);

/* body.c: what bodies have in common. */

/* Reads a body by a table; false: it is answered. An empty body has no
 * members. */
bool body_read(struct serve_ask *q, const struct field *rows, void *target);
/* A member of any kind, as a tree. */
FIELD_READ(field_tree);
/* wend_limits. */
FIELD_READ(field_limits);
/* Parts of a body (const struct json *, may be NULL) as the library has them;
 * false: it is answered. */
bool body_parts(struct serve_ask *q, const struct json *list,
                const wend_part **parts, size_t *count);
/* A NUL-terminated copy in the arena of q; NULL for an absent text. */
const char *ask_text(struct serve_ask *q, wend_str s);

#endif
