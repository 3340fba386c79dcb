/*
 * media_look.c - what bytes are: headers of pictures, documents and sound.
 *
 * Nothing is decoded. A reader walks the outer structure of a file to its end,
 * so that a file that is cut off is found here and not by a provider, which
 * would refuse it in every later request.
 */
#include "core/media/media.h"

#include "base/ascii.h"
#include "base/fail.h"
#include "base/utf8.h"

enum { PDF_TAIL = 2048 }; /* where %%EOF is looked for; readers allow 1024 */

/* Why a file is not accepted; NULL: it is. */
typedef const char *look_fn(wend_str s, wend_ev_part *out);

static const char cut[] = "is cut off";

static unsigned byte_at(wend_str s, size_t at)
{
    return (unsigned char)s.ptr[at];
}

static uint32_t be32(wend_str s, size_t at)
{
    return byte_at(s, at) << 24 | byte_at(s, at + 1) << 16 |
           byte_at(s, at + 2) << 8 | byte_at(s, at + 3);
}

static uint32_t le16(wend_str s, size_t at)
{
    return byte_at(s, at) | byte_at(s, at + 1) << 8;
}

static uint32_t le24(wend_str s, size_t at)
{
    return le16(s, at) | byte_at(s, at + 2) << 16;
}

static uint32_t le32(wend_str s, size_t at)
{
    return le16(s, at) | le16(s, at + 2) << 16;
}

static bool has_at(wend_str s, size_t at, const char *word)
{
    size_t len = strlen(word);

    return at <= s.len && s.len - at >= len && !memcmp(s.ptr + at, word, len);
}

/* ---- Pictures ------------------------------------------------------------ */

/* The checksum of PNG (CRC-32), four bits at a time. */
static uint32_t crc32_of(wend_str s)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    uint32_t crc = 0xffffffff;

    for (size_t i = 0; i < s.len; i++) {
        crc ^= byte_at(s, i);
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Chunks to the last: length, type, data, checksum of the two. Programs write
 * wrong checksums of chunks that a reader may pass over, whose type begins with
 * a small letter, and readers do not mind. */
static const char *look_png(wend_str s, wend_ev_part *out)
{
    enum { FIRST = 8, HEAD = 13, AROUND = 12 };
    size_t at = FIRST;
    bool data = false;

    if (s.len < FIRST + AROUND + HEAD)
        return cut;
    if (be32(s, FIRST) != HEAD || !has_at(s, FIRST + 4, "IHDR"))
        return "has no valid header";
    out->width = be32(s, FIRST + 8);
    out->height = be32(s, FIRST + 12);
    while (s.len - at >= AROUND) {
        uint32_t len = be32(s, at);

        if (len > s.len - at - AROUND)
            return cut;
        if (is_upper(s.ptr[at + 4]) &&
            crc32_of((wend_str){s.ptr + at + 4, 4 + (size_t)len}) !=
                be32(s, at + 8 + len))
            return "is damaged";
        data |= has_at(s, at + 4, "IDAT");
        if (has_at(s, at + 4, "IEND"))
            return data ? NULL : "has no pixels";
        at += len + AROUND;
    }
    return cut;
}

static bool is_frame(unsigned marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 &&
           marker != 0xc8 && marker != 0xcc;
}

/* Segments up to the first scan; behind it, the end mark. */
static const char *look_jpeg(wend_str s, wend_ev_part *out)
{
    enum { FRAME_BYTES = 8 };
    size_t at = 2, len;

    for (;;) {
        unsigned marker;

        while (at + 1 < s.len && byte_at(s, at) == 0xff &&
               byte_at(s, at + 1) == 0xff)
            at++; /* fill bytes */
        if (at + 4 > s.len)
            return cut;
        marker = byte_at(s, at + 1);
        if (byte_at(s, at) != 0xff || marker < 0xc0)
            return "is damaged";
        len = byte_at(s, at + 2) << 8 | byte_at(s, at + 3);
        if (len < 2)
            return "is damaged";
        if (len > s.len - at - 2)
            return cut;
        if (is_frame(marker) && len >= FRAME_BYTES) {
            out->height = byte_at(s, at + 5) << 8 | byte_at(s, at + 6);
            out->width = byte_at(s, at + 7) << 8 | byte_at(s, at + 8);
        }
        at += 2 + len;
        if (marker == 0xda)
            break;
    }
    if (!out->width)
        return "has no valid header";
    s = str_skip(s, at);
    return str_has(s, STR("\xff\xd9")) ? NULL : cut;
}

/* Skips blocks with a length byte each, up to the empty one. */
static bool skip_blocks(wend_str s, size_t *at)
{
    while (*at < s.len) {
        size_t len = byte_at(s, *at);

        *at += 1 + len;
        if (!len)
            return true;
    }
    return false;
}

static size_t colors(unsigned flags)
{
    return flags & 0x80 ? (size_t)3 << ((flags & 7) + 1) : 0;
}

static const char *look_gif(wend_str s, wend_ev_part *out)
{
    enum { HEAD = 13, IMAGE = 10 };
    bool any = false;
    size_t at = HEAD;

    if (s.len < HEAD)
        return cut;
    out->width = le16(s, 6);
    out->height = le16(s, 8);
    at += colors(byte_at(s, 10));
    while (at < s.len) {
        unsigned kind = byte_at(s, at);

        if (kind == 0x3b)
            return any ? NULL : "has no pixels";
        if (kind == 0x2c && s.len - at > IMAGE) {
            any = true;
            at += IMAGE + colors(byte_at(s, at + 9)) + 1; /* code size */
        } else if (kind == 0x21) {
            at += 2;
        } else {
            return kind == 0x2c ? cut : "is damaged";
        }
        if (!skip_blocks(s, &at))
            return cut;
    }
    return cut;
}

static const char *look_webp(wend_str s, wend_ev_part *out)
{
    enum { DATA = 20, NEEDED = 30 };

    if (s.len < NEEDED || le32(s, 4) > s.len - 8)
        return cut;
    if (has_at(s, 12, "VP8X")) {
        out->width = le24(s, DATA + 4) + 1;
        out->height = le24(s, DATA + 7) + 1;
    } else if (has_at(s, 12, "VP8L") && byte_at(s, DATA) == 0x2f) {
        uint32_t bits = le32(s, DATA + 1);

        out->width = (bits & 0x3fff) + 1;
        out->height = (bits >> 14 & 0x3fff) + 1;
    } else if (has_at(s, 12, "VP8 ") && has_at(s, DATA + 3, "\x9d\x01\x2a")) {
        out->width = le16(s, DATA + 6) & 0x3fff;
        out->height = le16(s, DATA + 8) & 0x3fff;
    } else {
        return "has no valid header";
    }
    return NULL;
}

/* ---- Documents ----------------------------------------------------------- */

/* Objects of type /Page; none are seen if they are compressed. */
static int64_t count_pages(wend_str s)
{
    static const char word[] = "/Type";
    int64_t pages = 0;

    while (s.len) {
        const char *at = memmem(s.ptr, s.len, word, sizeof word - 1);

        if (!at)
            break;
        s = str_skip(s, (size_t)(at - s.ptr) + sizeof word - 1);
        while (s.len && is_space(s.ptr[0]))
            s = str_skip(s, 1);
        if (str_starts(s, "/Page") && s.len > 5 && !is_letter(s.ptr[5]))
            pages++;
    }
    return pages;
}

static const char *look_pdf(wend_str s, wend_ev_part *out)
{
    wend_str tail = s;

    if (tail.len > PDF_TAIL)
        tail = str_skip(tail, tail.len - PDF_TAIL);
    if (s.len < 8 || !is_digit(s.ptr[5]))
        return "has no valid header";
    if (!str_has(tail, STR("%%EOF")))
        return cut;
    out->pages = count_pages(s);
    return NULL;
}

/* ---- Sound --------------------------------------------------------------- */

static int64_t duration_ms(uint64_t units, uint64_t per_second)
{
    return per_second && units < UINT64_MAX / 1000
               ? (int64_t)(units * 1000 / per_second)
               : 0;
}

static const char *look_wav(wend_str s, wend_ev_part *out)
{
    size_t at = 12;
    uint32_t rate = 0;

    while (s.len - at >= 8) {
        uint32_t len = le32(s, at + 4);

        if (len > s.len - at - 8)
            return cut;
        if (has_at(s, at, "fmt ") && len >= 16)
            rate = le32(s, at + 16);
        if (has_at(s, at, "data")) {
            out->ms = duration_ms(len, rate);
            return rate ? NULL : "has no valid header";
        }
        at += 8 + len;
        if (len % 2 && at < s.len)
            at++;
    }
    return cut;
}

/* The first frame, behind a tag if there is one, says how fast it plays. */
static const char *look_mp3(wend_str s, wend_ev_part *out)
{
    static const uint16_t kbps[2][15] = {
        {0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
        {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
    };
    size_t at = 0;
    unsigned flags, rate;

    if (str_starts(s, "ID3")) {
        if (s.len < 10)
            return cut;
        at = 10 + ((byte_at(s, 6) & 0x7f) << 21 | (byte_at(s, 7) & 0x7f) << 14 |
                   (byte_at(s, 8) & 0x7f) << 7 | (byte_at(s, 9) & 0x7f));
    }
    if (at > s.len || s.len - at < 4)
        return cut;
    flags = byte_at(s, at + 1);
    rate = byte_at(s, at + 2) >> 4;
    if (byte_at(s, at) != 0xff || (flags & 0xe6) != 0xe2 || rate == 15 ||
        (byte_at(s, at + 2) & 0x0c) == 0x0c)
        return "has no valid header";
    rate = kbps[(flags & 0x18) == 0x18][rate];
    out->ms = duration_ms(s.len - at, rate * 125u);
    return NULL;
}

static const char *look_flac(wend_str s, wend_ev_part *out)
{
    enum { INFO = 8, NEEDED = INFO + 34 };
    uint32_t rate;

    if (s.len < NEEDED)
        return cut;
    rate = be32(s, INFO + 10) >> 12;
    out->ms = duration_ms((uint64_t)(byte_at(s, INFO + 13) & 15) << 32 |
                              be32(s, INFO + 14),
                          rate);
    return rate ? NULL : "has no valid header";
}

static const char *look_ogg(wend_str s, wend_ev_part *out)
{
    (void)out;
    return s.len < 27 ? cut : NULL;
}

/* ---- The table ----------------------------------------------------------- */

static const struct {
    const char *magic;
    size_t at2; /* of a second word, if there is one */
    const char *magic2;
    enum media_type type;
    const char *media, *kind;
    const char *endings; /* names that promise it */
    look_fn *look;
} kinds[] = {
    {"\x89PNG\r\n\x1a\n", 0, NULL, MEDIA_IMAGE, "image/png", "PNG image",
     ".png", look_png},
    {"\xff\xd8\xff", 0, NULL, MEDIA_IMAGE, "image/jpeg", "JPEG image",
     ".jpg .jpeg", look_jpeg},
    {"GIF87a", 0, NULL, MEDIA_IMAGE, "image/gif", "GIF image", ".gif",
     look_gif},
    {"GIF89a", 0, NULL, MEDIA_IMAGE, "image/gif", "GIF image", ".gif",
     look_gif},
    {"RIFF", 8, "WEBP", MEDIA_IMAGE, "image/webp", "WebP image", ".webp",
     look_webp},
    {"%PDF-", 0, NULL, MEDIA_DOCUMENT, "application/pdf", "PDF document",
     ".pdf", look_pdf},
    {"RIFF", 8, "WAVE", MEDIA_AUDIO, "audio/wav", "WAV file", ".wav", look_wav},
    {"ID3", 0, NULL, MEDIA_AUDIO, "audio/mpeg", "MP3 file", ".mp3", look_mp3},
    {"\xff\xfb", 0, NULL, MEDIA_AUDIO, "audio/mpeg", "MP3 file", ".mp3",
     look_mp3},
    {"\xff\xf3", 0, NULL, MEDIA_AUDIO, "audio/mpeg", "MP3 file", ".mp3",
     look_mp3},
    {"fLaC", 0, NULL, MEDIA_AUDIO, "audio/flac", "FLAC file", ".flac",
     look_flac},
    {"OggS", 0, NULL, MEDIA_AUDIO, "audio/ogg", "Ogg file", ".ogg", look_ogg},
};

enum { KINDS = sizeof kinds / sizeof *kinds };

static wend_status take(int kind, wend_str bytes, wend_ev_part *out,
                        wend_error *err)
{
    const char *wrong = kinds[kind].look(bytes, out);

    out->type = str_of(media_type_names[kinds[kind].type]);
    out->media = str_of(kinds[kind].media);
    if (wrong)
        return fail(err, WEND_E_INVAL, "is not a valid %s: it %s",
                    kinds[kind].kind, wrong);
    if (kinds[kind].type == MEDIA_IMAGE && (!out->width || !out->height))
        return fail(err, WEND_E_INVAL, "is not a valid %s: it has no pixels",
                    kinds[kind].kind);
    if (out->width > IMAGE_SIDE_MAX || out->height > IMAGE_SIDE_MAX)
        return fail(err, WEND_E_LIMIT,
                    "is too large: %lldx%lld pixels, at most %dx%d",
                    (long long)out->width, (long long)out->height,
                    IMAGE_SIDE_MAX, IMAGE_SIDE_MAX);
    return WEND_OK;
}

wend_status media_look(wend_str bytes, wend_ev_part *out, wend_error *err)
{
    *out = (wend_ev_part){.bytes = (int64_t)bytes.len};
    if (!bytes.len)
        return fail(err, WEND_E_INVAL, "is empty");
    if (bytes.len > PART_BYTES_MAX)
        return fail(err, WEND_E_LIMIT, "is too large: %zu bytes, at most %d",
                    bytes.len, PART_BYTES_MAX);
    for (int i = 0; i < KINDS; i++)
        if (has_at(bytes, 0, kinds[i].magic) &&
            (!kinds[i].magic2 || has_at(bytes, kinds[i].at2, kinds[i].magic2)))
            return take(i, bytes, out, err);
    if (utf8_valid_len(bytes) < bytes.len || memchr(bytes.ptr, 0, bytes.len))
        return fail(err, WEND_E_INVAL,
                    "is neither text nor a file of a known type (png, jpeg, "
                    "gif, webp, pdf, wav, mp3, flac, ogg)");
    out->type = str_of(media_type_names[MEDIA_TEXT]);
    out->media = STR("text/plain");
    return WEND_OK;
}

/* The kind whose names end like this one, or -1. */
static int promised(wend_str name)
{
    for (int i = 0; i < KINDS; i++) {
        wend_str rest = str_of(kinds[i].endings), ending;

        while (str_take(&rest, ' ', &ending))
            if (name.len > ending.len &&
                str_same(str_skip(name, name.len - ending.len), ending))
                return i;
    }
    return -1;
}

wend_status media_look_named(wend_str bytes, wend_str name, wend_ev_part *out,
                             wend_error *err)
{
    wend_status s = media_look(bytes, out, err);
    int kind = name.len ? promised(name) : -1;

    if (s == WEND_OK && kind >= 0 && str_is(out->type, "text"))
        return fail(err, WEND_E_INVAL,
                    "is not a %s: it is text; rename it to send it as text",
                    kinds[kind].kind);
    return s;
}
