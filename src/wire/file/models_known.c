/*
 * models_known.c - windows and prices of common models, with source and date.
 *
 * Only rows that were found in the source of that date, and that a second list
 * (github.com/simonw/llm-prices, same date) or a later announcement confirms.
 * Window: the maximum input. A model whose price depends on the length of the
 * request has no price here: one number would be wrong for long requests.
 */
#include "wire/file/models.h"

#include <string.h>

#include "core/media/media.h"

#define SOURCE                                  \
    "https://github.com/BerriAI/litellm/blob/"  \
    "b45b4b73004261b47369d7d12c97d58b137a732e/" \
    "model_prices_and_context_window.json"
#define DATE "2026-08-05"

/* USD for a million tokens; -1 stays -1. */
#define USD(x) ((x) < 0 ? -1 : (int64_t)((x)*1e9 + 0.5))
#define NAME(text)                  \
    {                               \
        ("" text), sizeof(text) - 1 \
    }
#define UNPRICED(name_, window_, output_)                              \
    {                                                                  \
        .name = NAME(name_), .window = (window_), .output = (output_), \
        .price.cache_write = -1, .source = SOURCE, .date = DATE        \
    }
#define FACTS(name_, window_, output_, in, cached_, write, out)    \
    .name = NAME(name_), .window = (window_), .output = (output_), \
    .price = {.known = true,                                       \
              .input = USD(in),                                    \
              .cached = USD(cached_),                              \
              .cache_write = USD(write),                           \
              .output = USD(out)},                                 \
    .source = SOURCE, .date = DATE
/* clang-format off */
#define PRICED(...) {FACTS(__VA_ARGS__)}
/* No images, no documents, no audio. */
#define TEXT_ONLY(...) {FACTS(__VA_ARGS__), .media = 1u << MEDIA_TEXT}
/* clang-format on */

#define A "anthropic:"
#define G "gemini:"
#define O "openai:"

/* clang-format off */
/* name, window, output; USD: input, cached, cache write, output */
static const struct model known[] = {
    PRICED(O "gpt-4o", 128000, 16384, 2.5, 1.25, -1, 10),
    PRICED(O "gpt-4o-mini", 128000, 16384, 0.15, 0.075, -1, 0.6),
    PRICED(O "gpt-4.1", 1047576, 32768, 2, 0.5, -1, 8),
    PRICED(O "gpt-4.1-mini", 1047576, 32768, 0.4, 0.1, -1, 1.6),
    PRICED(O "gpt-4.1-nano", 1047576, 32768, 0.1, 0.025, -1, 0.4),
    PRICED(O "gpt-5", 272000, 128000, 1.25, 0.125, -1, 10),
    PRICED(O "gpt-5-mini", 272000, 128000, 0.25, 0.025, -1, 2),
    PRICED(O "gpt-5-nano", 272000, 128000, 0.05, 0.005, -1, 0.4),
    PRICED(O "gpt-5.1", 272000, 128000, 1.25, 0.125, -1, 10),
    PRICED(O "gpt-5.2", 272000, 128000, 1.75, 0.175, -1, 14),
    UNPRICED(O "gpt-5.4", 1050000, 128000),
    PRICED(O "gpt-5.4-mini", 272000, 128000, 0.75, 0.075, -1, 4.5),
    PRICED(O "gpt-5.4-nano", 272000, 128000, 0.2, 0.02, -1, 1.25),
    UNPRICED(O "gpt-5.5", 1050000, 128000),
    TEXT_ONLY(O "o3-mini", 200000, 100000, 1.1, 0.55, -1, 4.4),
    PRICED(O "o4-mini", 200000, 100000, 1.1, 0.275, -1, 4.4),
    PRICED(A "claude-haiku-4-5", 200000, 64000, 1, 0.1, 1.25, 5),
    PRICED(A "claude-haiku-4-5-20251001", 200000, 64000, 1, 0.1, 1.25, 5),
    PRICED(A "claude-sonnet-4-5", 200000, 64000, 3, 0.3, 3.75, 15),
    PRICED(A "claude-sonnet-4-5-20250929", 200000, 64000, 3, 0.3, 3.75, 15),
    PRICED(A "claude-sonnet-4-6", 1000000, 64000, 3, 0.3, 3.75, 15),
    PRICED(A "claude-sonnet-5", 1000000, 128000, 2, 0.2, 2.5, 10),
    PRICED(A "claude-opus-4-1", 200000, 32000, 15, 1.5, 18.75, 75),
    PRICED(A "claude-opus-4-5", 200000, 64000, 5, 0.5, 6.25, 25),
    PRICED(A "claude-opus-4-5-20251101", 200000, 64000, 5, 0.5, 6.25, 25),
    PRICED(A "claude-opus-4-6", 1000000, 128000, 5, 0.5, 6.25, 25),
    PRICED(A "claude-opus-4-7", 1000000, 128000, 5, 0.5, 6.25, 25),
    PRICED(A "claude-opus-4-8", 1000000, 128000, 5, 0.5, 6.25, 25),
    PRICED(A "claude-fable-5", 1000000, 128000, 10, 1, 12.5, 50),
    PRICED(G "gemini-2.5-flash", 1048576, 65535, 0.3, 0.03, -1, 2.5),
    PRICED(G "gemini-2.5-flash-lite", 1048576, 65535, 0.1, 0.01, -1, 0.4),
    UNPRICED(G "gemini-2.5-pro", 1048576, 65535),
    PRICED(G "gemini-3-flash-preview", 1048576, 65535, 0.5, 0.05, -1, 3),
    PRICED(G "gemini-3.1-flash-lite", 1048576, 65536, 0.25, 0.025, -1, 1.5),
    UNPRICED(G "gemini-3.1-pro-preview", 1048576, 65536),
    PRICED(G "gemini-3.5-flash", 1048576, 65535, 1.5, 0.15, -1, 9),
    PRICED(G "gemini-3.5-flash-lite", 1048576, 65536, 0.3, 0.03, -1, 2.5),
};
/* clang-format on */

const struct model *models_known_at(size_t i)
{
    return i < sizeof known / sizeof *known ? &known[i] : NULL;
}

/* The models of `responses` are those of `openai`. */
static bool is_name(const struct model *m, wend_str name)
{
    static const char other[] = "responses:", own[] = "openai:";
    wend_str rest = m->name;

    if (str_eq(m->name, name))
        return true;
    if (!str_starts(name, other) || !str_starts(rest, own))
        return false;
    name.ptr += sizeof other - 1;
    name.len -= sizeof other - 1;
    rest.ptr += sizeof own - 1;
    rest.len -= sizeof own - 1;
    return str_eq(rest, name);
}

const struct model *models_look_up(const struct models *m, wend_str name)
{
    const struct model *found = m ? models_find(m, name) : NULL;

    for (size_t i = 0; !found && i < sizeof known / sizeof *known; i++)
        if (is_name(&known[i], name))
            found = &known[i];
    return found;
}
