/*
 * fuzz_media.c - any bytes as a picture, a document or a sound.
 */
#include <stdlib.h>

#include "core/media/media.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    wend_ev_part p;
    wend_str bytes = {(const char *)data, size};

    if (media_look(bytes, &p, NULL) != WEND_OK)
        return 0;
    if (media_type_of(&p) == MEDIA_TYPES || !p.media.len || p.pages < 0 ||
        p.ms < 0 || p.width < 0 || p.width > IMAGE_SIDE_MAX || p.height < 0 ||
        p.height > IMAGE_SIDE_MAX ||
        media_tokens(&p, STR("openai:gpt-4o")) < 0 ||
        (media_type_of(&p) == MEDIA_IMAGE && (!p.width || !p.height)))
        abort();
    return 0;
}
