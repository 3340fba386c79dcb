/*
 * fuzz_anthropic.c - any bytes to codec_anthropic.
 */
#include "wire_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_codec(&codec_anthropic, data, size);
    return 0;
}
