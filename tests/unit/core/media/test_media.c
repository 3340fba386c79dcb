/*
 * test_media.c - what bytes are, who accepts them, how many tokens they cost.
 */
#include "core/media/media.h"

#include "base/hash.h"
#include "tap.h"

static const struct mem plain = {0};

/* ---- Files, by hand ------------------------------------------------------ */

#define PNG_HEAD "\x89PNG\r\n\x1a\n"
#define PNG_SIZE(w3, w4, h3, h4) \
    "\0\0\0\x0dIHDR\0\0" w3 w4 "\0\0" h3 h4 "\x08\x02\0\0\0CCCC"
#define PNG_DATA "\0\0\0\x01IDATxCCCC"
#define PNG_END "\0\0\0\0IENDCCCC"
#define PNG PNG_HEAD PNG_SIZE("\x03", "\x20", "\x02", "\x58") PNG_DATA PNG_END

#define JPEG_APP "\xff\xe0\0\x04zz"
#define JPEG_SIZE "\xff\xc0\0\x0b\x08\x02\x58\x03\x20\x01\x01\x11\0"
#define JPEG_SCAN "\xff\xda\0\x04zzdata"
#define JPEG_END "\xff\xd9"
#define JPEG "\xff\xd8" JPEG_APP JPEG_SIZE JPEG_SCAN JPEG_END

#define GIF_HEAD "GIF89a\x20\x03\x58\x02\0\0\0"
#define GIF_IMAGE ",\0\0\0\0\1\0\1\0\0\2\1x\0"
#define GIF GIF_HEAD "!\xf9\1z\0" GIF_IMAGE ";"

#define WEBP_X "RIFF\x16\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x1f\x03\0\x57\x02\0"
#define WEBP_L "RIFF\x16\0\0\0WEBPVP8L\x0a\0\0\0/\x1f\xc3\x95\0zzzzz"
#define WEBP_8 "RIFF\x16\0\0\0WEBPVP8 \x0a\0\0\0zzz\x9d\1\x2a\x20\x03\x58\x02"

#define PDF_1 "%PDF-1.7\n1 0 obj<</Type /Pages /Count 2>>endobj\n"
#define PDF_2 "2 0 obj<</Type/Page>>endobj 3 0 obj<</Type\n/Page >>endobj\n"
#define PDF PDF_1 PDF_2 "startxref\n0\n%%EOF\n"

#define WAV_FMT "fmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08\0"
#define WAV "RIFF\x30\0\0\0WAVE" WAV_FMT "data\x08\0\0\0zzzzzzzz"
#define MP3 "\xff\xfb\x90\0zzzzzzzzzzzz"
#define FLAC \
    "fLaC\0\0\0\x22zzzzzzzzzz\x0a\xc4\x40\xf0\0\0\xac\x44zzzzzzzzzzzzzzzz"

/* A copy, to be freed, in which the checksums of a PNG that are CCCC hold. Bit
 * by bit, unlike the code under test. */
static wend_str with_sums(wend_str bytes)
{
    char *copy = mem_alloc(&plain, bytes.len ? bytes.len : 1);
    size_t at = sizeof PNG_HEAD - 1;

    memcpy(copy, bytes.ptr, bytes.len);
    if (!str_starts(bytes, PNG_HEAD))
        return (wend_str){copy, bytes.len};
    while (bytes.len - at >= 12) {
        const unsigned char *c = (const unsigned char *)copy + at;
        size_t len = (size_t)c[2] << 8 | c[3];
        uint32_t sum = 0xffffffff;

        if (c[0] || len > bytes.len - at - 12)
            break;
        for (size_t i = 4; i < 8 + len; i++) {
            sum ^= c[i];
            for (int bit = 0; bit < 8; bit++)
                sum = sum >> 1 ^ (sum & 1 ? 0xedb88320 : 0);
        }
        for (int i = 0; i < 4; i++)
            if (bytes.ptr[at + 8 + len + (size_t)i] == 'C')
                copy[at + 8 + len + (size_t)i] =
                    (char)(~sum >> (24 - 8 * i) & 0xff);
        at += 12 + len;
    }
    return (wend_str){copy, bytes.len};
}

#define ROW(why, bytes, name, wanted)                      \
    {                                                      \
        why, {("" bytes), sizeof(bytes) - 1}, name, wanted \
    }

static const struct {
    const char *why;
    wend_str bytes;
    const char *name, *wanted;
} files[] = {
    ROW("a PNG", PNG, NULL, "image/png [image png 800x600]"),
    ROW("with something behind its end", PNG "junk", NULL,
        "image/png [image png 800x600]"),
    ROW("whatever its name says", PNG, "photo.jpg",
        "image/png [image png 800x600]"),
    ROW("only its first bytes", PNG_HEAD, NULL,
        "is not a valid PNG image: it is cut off"),
    ROW("cut in its header", PNG_HEAD "\0\0\0\x0dIHDR\0\0", NULL,
        "is not a valid PNG image: it is cut off"),
    ROW("cut before its end",
        PNG_HEAD PNG_SIZE("\3", "\0", "\3", "\0") PNG_DATA, NULL,
        "is not a valid PNG image: it is cut off"),
    ROW("a chunk that says it is longer than the file",
        PNG_HEAD PNG_SIZE("\3", "\0", "\3", "\0") "\xff\xff\xff\xffIDATCCCC",
        NULL, "is not a valid PNG image: it is cut off"),
    ROW("pixels that have changed",
        PNG_HEAD PNG_SIZE("\3", "\0", "\3", "\0") "\0\0\0\x01IDATxDDDD" PNG_END,
        NULL, "is not a valid PNG image: it is damaged"),
    ROW("a wrong checksum of a chunk that readers pass over",
        PNG_HEAD PNG_SIZE("\3", "\0", "\3",
                          "\0") "\0\0\0\x01iCCPxDDDD" PNG_DATA PNG_END,
        NULL, "image/png [image png 768x768]"),
    ROW("no pixels in it", PNG_HEAD PNG_SIZE("\3", "\0", "\3", "\0") PNG_END,
        NULL, "is not a valid PNG image: it has no pixels"),
    ROW("an empty size",
        PNG_HEAD PNG_SIZE("\0", "\0", "\3", "\0") PNG_DATA PNG_END, NULL,
        "is not a valid PNG image: it has no pixels"),
    ROW("as large as may be",
        PNG_HEAD PNG_SIZE("\x40", "\0", "\x40", "\0") PNG_DATA PNG_END, NULL,
        "image/png [image png 16384x16384]"),
    ROW("a bomb",
        PNG_HEAD PNG_SIZE("\xff", "\xff", "\xff", "\xff") PNG_DATA PNG_END,
        NULL, "is too large: 65535x65535 pixels, at most 16384x16384"),
    ROW("another chunk first",
        PNG_HEAD "\0\0\0\x0dIDAT\0\0\3\0\0\0\3\0\x08\2\0\0\0CCCC" PNG_END, NULL,
        "is not a valid PNG image: it has no valid header"),
    ROW("a JPEG", JPEG, "x.JPEG", "image/jpeg [image jpeg 800x600]"),
    ROW("without an end", "\xff\xd8" JPEG_SIZE JPEG_SCAN, NULL,
        "is not a valid JPEG image: it is cut off"),
    ROW("cut before its pixels", "\xff\xd8" JPEG_APP JPEG_SIZE, NULL,
        "is not a valid JPEG image: it is cut off"),
    ROW("an end inside a thumbnail does not count",
        "\xff\xd8\xff\xe1\0\x06\xff\xd9zz" JPEG_SIZE JPEG_SCAN, NULL,
        "is not a valid JPEG image: it is cut off"),
    ROW("no size before the pixels", "\xff\xd8" JPEG_APP JPEG_SCAN JPEG_END,
        NULL, "is not a valid JPEG image: it has no valid header"),
    ROW("no segment where one must be", "\xff\xd8\xff\xe0\0\x02zzzzzz", NULL,
        "is not a valid JPEG image: it is damaged"),
    ROW("a GIF", GIF, NULL, "image/gif [image gif 800x600]"),
    ROW("without an image", GIF_HEAD ";", NULL,
        "is not a valid GIF image: it has no pixels"),
    ROW("cut in an image", GIF_HEAD ",\0\0\0", NULL,
        "is not a valid GIF image: it is cut off"),
    ROW("cut in its blocks", GIF_HEAD GIF_IMAGE "!\xf9\xffz", NULL,
        "is not a valid GIF image: it is cut off"),
    ROW("a block of no kind", GIF_HEAD GIF_IMAGE "?", NULL,
        "is not a valid GIF image: it is damaged"),
    ROW("a WebP, extended", WEBP_X, NULL, "image/webp [image webp 800x600]"),
    ROW("a WebP, lossless", WEBP_L, NULL, "image/webp [image webp 800x600]"),
    ROW("a WebP, lossy", WEBP_8, NULL, "image/webp [image webp 800x600]"),
    ROW("that says it is longer",
        "RIFF\xff\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0"
        "\x1f\x03\0\x57\x02\0",
        NULL, "is not a valid WebP image: it is cut off"),
    ROW("of no known kind",
        "RIFF\x16\0\0\0WEBPVP9X\x0a\0\0\0\0\0\0\0"
        "\x1f\x03\0\x57\x02\0",
        NULL, "is not a valid WebP image: it has no valid header"),
    ROW("a PDF", PDF, "a.pdf", "application/pdf [document pdf 2 pages]"),
    ROW("with packed pages", "%PDF-1.5\nzz\n%%EOF", NULL,
        "application/pdf [document pdf]"),
    ROW("without an end", PDF_1, "a.pdf",
        "is not a valid PDF document: it is cut off"),
    ROW("a PDF that is text", "hello", "a.pdf",
        "is not a PDF document: it is text; rename it to send it as text"),
    ROW("a picture that is text", "hello", "A.PNG",
        "is not a PNG image: it is text; rename it to send it as text"),
    ROW("a WAV", WAV, NULL, "audio/wav [audio wav 1 s]"),
    ROW("cut off", "RIFF\x30\0\0\0WAVE" WAV_FMT "data\xff\0\0\0zz", NULL,
        "is not a valid WAV file: it is cut off"),
    ROW("samples of no rate", "RIFF\x30\0\0\0WAVEdata\0\0\0\0", NULL,
        "is not a valid WAV file: it has no valid header"),
    ROW("an MP3", MP3, NULL, "audio/mpeg [audio mpeg 1 s]"),
    ROW("an MP3 behind a tag", "ID3\4\0\0\0\0\0\2zz" MP3, NULL,
        "audio/mpeg [audio mpeg 1 s]"),
    ROW("a tag longer than the file", "ID3\4\0\0\x7f\x7f\x7f\x7fzz", NULL,
        "is not a valid MP3 file: it is cut off"),
    ROW("a tag before something else", "ID3\4\0\0\0\0\0\2zzyyyy", NULL,
        "is not a valid MP3 file: it has no valid header"),
    ROW("a FLAC", FLAC, NULL, "audio/flac [audio flac 1 s]"),
    ROW("an Ogg", "OggS12345678901234567890123", NULL, "audio/ogg [audio ogg]"),
    ROW("text", "int main(void);\n", "a.c", "text/plain [text a.c]"),
    ROW("text without a name", "h\xc3\xa9", NULL, "text/plain [text plain]"),
    ROW("nothing", "", NULL, "is empty"),
    ROW("text with a zero byte", "a\0b", NULL,
        "is neither text nor a file of a known type (png, jpeg, gif, webp, "
        "pdf, wav, mp3, flac, ogg)"),
    ROW("no UTF-8", "a\xff", NULL,
        "is neither text nor a file of a known type (png, jpeg, gif, webp, "
        "pdf, wav, mp3, flac, ogg)"),
};

static void look(wend_str bytes, wend_str name, struct buf *out)
{
    wend_ev_part p;
    wend_error err = {0};

    buf_clear(out);
    if (media_look_named(bytes, name, &p, &err) != WEND_OK) {
        buf_cstr(out, err.message);
        return;
    }
    p.name = name;
    buf_str(out, p.media);
    buf_char(out, ' ');
    media_note(out, &p, "");
}

static void test_files(void)
{
    struct buf got = {.mem = &plain};

    for (size_t i = 0; i < tap_count(files); i++) {
        wend_str bytes = with_sums(files[i].bytes);

        look(bytes, str_of(files[i].name), &got);
        mem_free(&plain, (char *)(uintptr_t)bytes.ptr);
        tap_is_str(buf_view(&got), files[i].wanted, "%s", files[i].why);
    }
    buf_free(&got);
}

/* No reader looks behind the end: the sanitizer watches each beginning of each
 * file, in a block of exactly its size. Only whole files are accepted, but for
 * those whose end nothing marks. */
static void test_cut(void)
{
    int64_t accepted = 0, whole = 0;

    for (size_t i = 0; i < tap_count(files); i++)
        for (size_t len = 0; len <= files[i].bytes.len; len++) {
            wend_str copy = with_sums((wend_str){files[i].bytes.ptr, len});
            wend_ev_part p;
            bool ok = media_look(copy, &p, NULL) == WEND_OK &&
                      (media_type_of(&p) == MEDIA_IMAGE ||
                       media_type_of(&p) == MEDIA_DOCUMENT);
            accepted += ok && len < files[i].bytes.len;
            whole += ok && len == files[i].bytes.len;
            mem_free(&plain, (char *)(uintptr_t)copy.ptr);
        }
    tap_is_i64(whole, 12, "pictures and documents that are whole");
    /* four bytes of junk, one newline behind %%EOF, and the size that an
     * empty promise made smaller */
    tap_is_i64(accepted, 4 + 1, "beginnings that are whole files, too");
}

/* ---- Providers ----------------------------------------------------------- */

#define PART(type_, media_, ...)                          \
    {                                                     \
        .type = {type_, sizeof type_ - 1},                \
        .media = {media_, sizeof media_ - 1}, __VA_ARGS__ \
    }
#define IMAGE(w, h) PART("image", "image/png", .width = (w), .height = (h))

static const struct {
    const char *why;
    wend_ev_part part;
    const char *spec;
    size_t images;
    const char *wanted; /* NULL: it is accepted */
} limits[] = {
    {"an image", IMAGE(800, 600), "openai:gpt-4o", 1, NULL},
    {"as large as may be", IMAGE(8000, 8000), "anthropic:c", 1, NULL},
    {"one pixel more", IMAGE(8001, 9), "anthropic:c", 1,
     "has 8001x9 pixels, and anthropic accepts at most 8000x8000"},
    {"one more, the other way", IMAGE(9, 8001), "anthropic:c", 1,
     "has 9x8001 pixels, and anthropic accepts at most 8000x8000"},
    {"20 images", IMAGE(2001, 9), "anthropic:c", 20, NULL},
    {"21 images", IMAGE(2000, 9), "anthropic:c", 21, NULL},
    {"21 images, one of them larger", IMAGE(2001, 9), "anthropic:c", 21,
     "has 2001x9 pixels, and anthropic accepts at most 2000x2000 in a request "
     "with over 20 images"},
    {"bytes", PART("image", "image/png", .bytes = 7500000), "anthropic:c", 1,
     NULL},
    {"bytes, one too many", PART("image", "image/png", .bytes = 7500001),
     "anthropic:c", 1,
     "has 10000004 bytes as base64, and anthropic accepts at most 10000000"},
    {"a document of many pages",
     PART("document", "application/pdf", .pages = 1001), "gemini:gemini-3-pro",
     0, "has 1001 pages, and gemini accepts at most 1000"},
    {"a document for a server of pictures",
     PART("document", "application/pdf", .pages = 0), "ollama:llava", 0,
     "is of type application/pdf, which ollama does not accept"},
    {"audio to one that cannot hear", PART("audio", "audio/wav", .ms = 0),
     "responses:gpt-5", 0,
     "is of type audio/wav, which responses does not accept"},
    {"audio to one that can", PART("audio", "audio/wav", .ms = 0),
     "openai:gpt-audio", 0, NULL},
    {"a script takes all", IMAGE(16384, 16384), "script:x", 99, NULL},
    {"text", PART("text", "text/plain", .bytes = 40000000), "ollama:x", 0,
     NULL},
};

static void test_limits(void)
{
    struct buf why = {.mem = &plain};

    for (size_t i = 0; i < tap_count(limits); i++) {
        bool wrong;

        buf_clear(&why);
        wrong = media_wrong(&limits[i].part, str_of(limits[i].spec),
                            limits[i].images, &why);
        tap_ok(wrong == (limits[i].wanted != NULL), "%s", limits[i].why);
        tap_is_str(buf_view(&why), limits[i].wanted ? limits[i].wanted : "",
                   "... and why");
    }
    buf_free(&why);
}

static const struct {
    const char *why;
    wend_ev_part part;
    const char *spec;
    int64_t tokens;
} costs[] = {
    {"one tile", IMAGE(512, 512), "openai:gpt-4o", 85 + 170},
    {"1024 is 768: four tiles", IMAGE(1024, 1024), "openai:gpt-4o", 765},
    {"2048x4096 is 768x1536: six tiles", IMAGE(2048, 4096), "openai:gpt-4.1",
     1105},
    {"tiles of another size", IMAGE(512, 512), "openai:gpt-4o-mini",
     2833 + 5667},
    {"gpt-5", IMAGE(512, 512), "responses:gpt-5", 70 + 140},
    {"o3", IMAGE(512, 512), "openai:o3", 75 + 150},
    {"patches", IMAGE(1024, 1024), "openai:gpt-4.1-mini", 1024 * 162 / 100},
    {"patches, and no more", IMAGE(4000, 4000), "openai:gpt-5-nano",
     1536 * 246 / 100},
    {"newer ones see more", IMAGE(4000, 4000), "openai:gpt-5.4", 2500},
    {"claude", IMAGE(280, 281), "anthropic:claude-sonnet-4-5", 110},
    {"claude, shrunk", IMAGE(8000, 28), "anthropic:claude-3-5-sonnet", 56},
    {"claude, at most", IMAGE(8000, 8000), "anthropic:claude-opus-4-6", 1568},
    {"newer ones see more", IMAGE(8000, 8000), "anthropic:claude-opus-4-7",
     4784},
    {"newer ones, again", IMAGE(8000, 8000), "anthropic:claude-sonnet-5", 4784},
    {"gemini 2, small", IMAGE(384, 384), "gemini:gemini-2.5-flash", 258},
    {"gemini 2, two tiles", IMAGE(769, 768), "gemini:gemini-2.5-flash", 516},
    {"gemini 3", IMAGE(4000, 4000), "gemini:gemini-3-pro", 1120},
    {"a model of any other name", IMAGE(10, 10), "ollama:llava", 1500},
    {"an image of no size", IMAGE(0, 0), "openai:gpt-4o", 1500},
    {"sizes of a log that lies", IMAGE(INT64_MAX, INT64_MAX), "openai:gpt-4o",
     1500},
    {"pages", PART("document", "application/pdf", .pages = 3),
     "anthropic:claude-sonnet-5", 9000},
    {"pages that are not counted",
     PART("document", "application/pdf", .bytes = 120000),
     "gemini:gemini-2.5-pro", 3 * 258},
    {"pages of a log that lies",
     PART("document", "application/pdf", .pages = INT64_MAX),
     "gemini:gemini-2.5-pro", INT64_C(258) * (48 << 20)},
    {"seconds", PART("audio", "audio/wav", .ms = 10000), "gemini:gemini-3-pro",
     320},
    {"seconds by bytes", PART("audio", "audio/mpeg", .bytes = 160000),
     "gemini:gemini-3-pro", 320},
    {"text", PART("text", "text/plain", .bytes = 4000), "x:y", 1008},
    {"of a type to come", PART("video", "video/mp4", .bytes = 1), "x:y", 1500},
};

static void test_tokens(void)
{
    for (size_t i = 0; i < tap_count(costs); i++)
        tap_is_i64(media_tokens(&costs[i].part, str_of(costs[i].spec)),
                   costs[i].tokens, "%s", costs[i].why);
}

/* ---- Notes --------------------------------------------------------------- */

static void test_notes(void)
{
    static const struct {
        const char *why;
        wend_ev_part part;
        const char *wanted;
    } rows[] = {
        {"an image", IMAGE(800, 600), "[image png 800x600 omitted]"},
        {"one page", PART("document", "application/pdf", .pages = 1),
         "[document pdf 1 page omitted]"},
        {"a name that would end the note",
         PART("text", "text/plain", .name = {"a]\n[b", 5}),
         "[text a___b omitted]"},
        {"nothing known", {.type = {NULL, 0}}, "[part  omitted]"},
    };
    struct buf b = {.mem = &plain};

    for (size_t i = 0; i < tap_count(rows); i++) {
        buf_clear(&b);
        media_note(&b, &rows[i].part, "omitted");
        tap_is_str(buf_view(&b), rows[i].wanted, "%s", rows[i].why);
    }
    buf_free(&b);
}

int main(void)
{
    test_files();
    test_cut();
    test_limits();
    test_tokens();
    test_notes();
    return tap_done();
}
