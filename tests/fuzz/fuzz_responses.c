/*
 * fuzz_responses.c - any bytes to codec_responses.
 */
#include "wire_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_codec(&codec_responses, data, size);
    return 0;
}
