/*
 * local.c - model servers that people run themselves, by their usual ports.
 */
#include "wire/model/local.h"

#include <string.h>

#include "base/url.h"

static const struct local_server servers[] = {
    {"ollama", "Ollama", 11434, "ollama serve"},
    {"llamacpp", "llama.cpp", 8080, "llama-server -m FILE.gguf"},
    {"vllm", "vLLM", 8000, "vllm serve NAME"},
    {"lmstudio", "LM Studio", 1234, "lms server start"},
};
enum { SERVERS = sizeof servers / sizeof *servers };

const struct local_server *local_at(size_t i)
{
    return i < SERVERS ? &servers[i] : NULL;
}

const struct local_server *local_named(wend_str name)
{
    for (size_t i = 0; i < SERVERS; i++)
        if (str_is(name, servers[i].name))
            return &servers[i];
    return NULL;
}

static bool is_here(const struct url *u)
{
    return u->kind == URL_ADDRESS
               ? str_starts(u->host, "127.") || str_is(u->host, "::1")
               : str_is(u->host, "localhost");
}

const struct local_server *local_find(wend_str url, const struct mem *m)
{
    struct arena a = {.mem = m};
    const struct local_server *found = NULL;
    struct url u;

    if (url_parse(url, &a, &u, NULL) == WEND_OK && is_here(&u))
        for (size_t i = 0; i < SERVERS && !found; i++)
            if (servers[i].port == u.port)
                found = &servers[i];
    arena_free(&a);
    return found;
}
