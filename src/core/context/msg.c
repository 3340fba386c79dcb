/*
 * msg.c - the messages of a conversation: an immutable list, newest first.
 */
#include "core/context/msg.h"

#include "base/hash.h"
#include "core/context/context.h"

enum { MESSAGE_TOKENS = 4 }; /* what a provider adds around each message */

static uint64_t mix(uint64_t before, wend_str s)
{
    return mix64(before, s.ptr, s.len);
}

static int64_t whole_tokens(int64_t milli)
{
    return (milli + 999) / 1000 + MESSAGE_TOKENS;
}

int64_t msg_tokens(wend_str text)
{
    return whole_tokens(text_millitokens(text));
}

void msg_seal(struct msg *m)
{
    size_t bytes = m->text.len + m->thinking.len;
    int64_t milli = text_millitokens(m->text) + text_millitokens(m->thinking);
    uint64_t hash = mix(m->role, m->text);

    hash = mix(mix(hash, m->call), m->opaque);
    if (m->failed)
        hash = mix(hash, STR("failed"));
    for (const struct call *c = m->calls; c; c = c->prev) {
        hash = mix(mix(mix(hash, c->id), c->name), c->args);
        bytes += c->name.len + c->args.len;
        milli += text_millitokens(c->name) + text_millitokens(c->args);
    }
    for (size_t i = 0; i < m->parts_count; i++)
        hash = mix(hash, m->parts[i].hash);
    m->hash = hash;
    m->bytes = (int64_t)bytes;
    m->size = whole_tokens(milli) + m->media;
}

void msg_link(struct msg *m, const struct msg *prev, uint64_t first)
{
    m->prev = prev;
    m->index = prev ? prev->index + 1 : 0;
    m->prefix = mix64(prev ? prev->prefix : first, &m->hash, sizeof m->hash);
    m->tokens = (prev ? prev->tokens : 0) + m->size;
    m->bytes_sum = (prev ? prev->bytes_sum : 0) + m->bytes;
}

bool msg_is_in(const struct msg *newest, const struct msg *m)
{
    while (newest && newest != m)
        newest = newest->prev;
    return newest;
}
