/*
 * fuzz_script.c - any bytes to script_parse; then picks and fills.
 */
#include <stdlib.h>

#include "wire/file/script.h"

enum { PICKS_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void play(const struct script *s, const struct mem *mem)
{
    struct buf b = {.mem = mem};
    uint32_t *used = mem_zalloc(mem, (s->count + 1) * sizeof *used);
    wend_str last = STR("a \"quoted\"\nresult with 42");

    for (int turn = 0; used && turn < PICKS_MAX; turn++) {
        int i = script_pick(s, used, WEND_PURPOSE_ANSWER, last);
        const struct script_entry *e;

        if (i < 0)
            break;
        if ((size_t)i >= s->count)
            abort();
        e = &s->entries[i];
        if (e->repeat && used[i] >= e->repeat)
            abort();
        used[i]++;
        script_fill(&b, e->text, turn, last, false);
        for (size_t c = 0; c < e->calls_count; c++)
            script_fill(&b, e->calls[c].args, turn, last, true);
        buf_clear(&b);
    }
    mem_free(mem, used);
    buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mem mem = {0};
    struct arena a = {.mem = &mem};
    struct script *s = NULL;
    wend_error err = {0};

    if (!script_parse((wend_str){(const char *)data, size}, &a, &s, &err))
        play(s, &mem);
    else if (!err.status || !err.message[0])
        abort();
    arena_free(&a);
    return 0;
}
