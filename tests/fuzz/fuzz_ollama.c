/*
 * fuzz_ollama.c - any bytes to codec_ollama.
 */
#include "wire_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_codec(&codec_ollama, data, size);
    return 0;
}
