/*
 * fuzz_gemini.c - any bytes to codec_gemini.
 */
#include "wire_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_codec(&codec_gemini, data, size);
    return 0;
}
