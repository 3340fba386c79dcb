/*
 * policy_url.h - requests as rules see them: a method and a URL in one
 * spelling.
 */
#ifndef CORE_POLICY_URL_H
#define CORE_POLICY_URL_H

#include "base/json.h"
#include "base/url.h"

struct rule_request {
    wend_str method; /* upper case, GET if none is given; `?`: not known */
    bool body;       /* it has one */
    wend_str scheme, authority; /* absent: the URL cannot be read */
    wend_str target[URL_FORMS]; /* path and query */
    wend_str whole[URL_FORMS];  /* URL */
    wend_str raw;               /* as it was given */
};

/* Reads the arguments url, method and body; NULL with a->failed. */
const struct rule_request *request_read(const struct json *args,
                                        struct arena *a);
/* As a rule writes it: without the method where GET and HEAD are meant. */
void request_put(struct buf *b, const struct rule_request *q);

/* `[METHOD ]scheme://authority/path`, of which only `*` is a wildcard; it
 * reaches from one part into the next only at the end of the rule. An allow
 * without method is for GET and HEAD without a body, and must fit every
 * spelling of the path; what denies or asks is for all methods and for all
 * beneath the path, in any spelling. */
bool request_fits(const struct rule_request *q, wend_str rule, bool allows,
                  struct arena *a);
/* What is wrong with a rule that can never fit; NULL: nothing. */
const char *request_rule_wrong(wend_str rule, bool allows);

#endif
