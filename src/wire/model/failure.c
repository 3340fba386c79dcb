/*
 * failure.c - what an HTTP error means.
 *
 * The body may be an error object in a dozen shapes, a page of a proxy, binary
 * data, or empty. In any case the message is one line that is safe to show.
 */
#include "wire/model/failure.h"

#include "base/ascii.h"
#include "base/code.h"
#include "base/limits.h"
#include "base/utf8.h"

enum {
    SHAPES_DEPTH_MAX = 4, /* error in error in list; real ones have two */
    BAD_BYTES_MAX = 8,    /* with more than these, it is binary data */
    WORDS_MAX = 19,       /* for one code */
};

/* ---- Codes --------------------------------------------------------------- */

/* An empty account counts as auth: waiting does not fill it, so it must
 * never be tried again, whatever its status. tool_use_failed: the model wrote
 * an invalid call. */
static const struct {
    enum model_code code;
    const char *words[WORDS_MAX + 1]; /* NULL at the end */
} codes[] = {
    {CODE_AUTH,
     {"insufficient_quota", "exceeded_current_quota_error", "billing_error",
      "billing_not_active", "billing_hard_limit_reached",
      "insufficient_balance", "insufficient_credits", "payment_required",
      "account_deactivated", "authentication_error",
      "invalid_authentication_error", "incorrect_api_key_error",
      "invalid_api_key", "permission_error", "permission_denied",
      "permission_denied_error", "unauthenticated", "unauthorized",
      "forbidden"}},
    {CODE_OVERFLOW,
     {"context_length_exceeded", "context_window_exceeded",
      "model_context_window_exceeded", "exceed_context_size_error",
      "request_too_large", "string_above_max_length"}},
    {CODE_MEDIA,
     {"invalid_image", "invalid_image_format", "invalid_image_mode",
      "invalid_image_url", "invalid_base64_image", "image_too_large",
      "image_too_small", "image_parse_error", "empty_image_file",
      "unsupported_image_media_type", "image_content_policy_violation",
      "failed_to_download_image", "image_file_too_large"}},
    {CODE_RATE_LIMIT,
     {"rate_limit_error", "rate_limit_exceeded", "rate_limit_reached_error",
      "rate_limited", "too_many_requests", "resource_exhausted", "throttling",
      "throttlingexception"}},
    {CODE_TIMEOUT,
     {"timeout_error", "timeout", "request_timeout", "deadline_exceeded"}},
    {CODE_SERVICE,
     {"overloaded_error", "overloaded", "engine_overloaded_error", "api_error",
      "server_error", "internal_error", "internal_server_error",
      "internalservererror", "internal", "unavailable", "service_unavailable",
      "bad_gateway", "tool_use_failed"}},
    {CODE_NOT_FOUND,
     {"not_found_error", "not_found", "model_not_found", "notfounderror"}},
    {CODE_INVALID,
     {"invalid_request_error", "invalid_request", "invalid_argument",
      "failed_precondition", "badrequesterror", "bad_request",
      "validation_error", "wrong_api_format"}},
};

static const struct {
    int from, to;
    enum model_code code;
} statuses[] = {
    {401, 403, CODE_AUTH},     {404, 404, CODE_NOT_FOUND},
    {407, 407, CODE_PROXY},    {408, 408, CODE_TIMEOUT},
    {409, 409, CODE_SERVICE},  {410, 410, CODE_NOT_FOUND},
    {413, 413, CODE_OVERFLOW}, {429, 429, CODE_RATE_LIMIT},
    {400, 499, CODE_INVALID},  {504, 504, CODE_TIMEOUT},
    {500, 599, CODE_SERVICE},
};

/* How servers without a code for it say that the request does not fit. */
static const char *const overflow_phrases[] = {
    "maximum context length",
    "context window",
    "context length",
    "context size",
    "exceed context limit",
    "exceed the configured limit",
    "prompt is too long",
    "prompt too long",
    "prompt token count",
    "maximum prompt length",
    "exceeded model token limit",
    "too large for model with",
    "input is too long",
    "reduce the length of the messages",
    "input token count",
    "exceeds the maximum number of tokens",
};

/* The same for a request with parts that the model does not accept. */
static const char *const media_phrases[] = {
    "image_url is only supported",
    "expected to be either text or image_url",
    "support image input",
    "support audio input",
    "support file input",
    "is not a multimodal model",
    "image(s) may be provided",
    "audio(s) may be provided",
    "image input is not supported",
    "audio input is not supported",
    "does not support image",
    "does not support vision",
    "does not support audio",
    "does not support pdf",
    "required for image input",
    "image dimensions exceed",
    "image exceeds",
    "could not process image",
    "could not process pdf",
    "unsupported mime type",
    "allowed values: ['text']",
};

static bool contains(wend_str s, const char *phrase)
{
    for (; s.len; s.ptr++, s.len--)
        if (str_starts_nocase(s, phrase))
            return true;
    return false;
}

static enum model_code word_code(wend_str word)
{
    for (size_t i = 0; word.len && i < sizeof codes / sizeof *codes; i++)
        for (const char *const *w = codes[i].words; *w; w++)
            if (str_same(word, str_of(*w)))
                return codes[i].code;
    return CODE_UNKNOWN;
}

static enum model_code status_code(int status)
{
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (status >= statuses[i].from && status <= statuses[i].to)
            return statuses[i].code;
    return CODE_UNKNOWN;
}

static bool says(wend_str message, const char *const *phrases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (contains(message, phrases[i]))
            return true;
    return false;
}

static bool says_overflow(wend_str message)
{
    return says(message, overflow_phrases,
                sizeof overflow_phrases / sizeof *overflow_phrases);
}

static bool says_media(wend_str message)
{
    return says(message, media_phrases,
                sizeof media_phrases / sizeof *media_phrases);
}

/* The first known word counts, except that "invalid" may mean anything: it
 * yields to the other words and to the text. */
static enum model_code said_code(const struct failure_said *said)
{
    enum model_code code = CODE_UNKNOWN, by_status = status_code(said->status);

    for (int i = 0; i < FAILURE_WORDS; i++) {
        enum model_code c = word_code(said->word[i]);

        if (c != CODE_UNKNOWN && (code == CODE_UNKNOWN || code == CODE_INVALID))
            code = c;
    }
    if (code == CODE_UNKNOWN)
        code = by_status;
    if ((code == CODE_INVALID || code == CODE_UNKNOWN) &&
        (says_overflow(said->message) || says_overflow(said->more)))
        return CODE_OVERFLOW;
    if ((code == CODE_INVALID || code == CODE_UNKNOWN ||
         code == CODE_NOT_FOUND || code == CODE_SERVICE) &&
        (says_media(said->message) || says_media(said->more)))
        return CODE_MEDIA;
    if (code == CODE_INVALID && by_status != CODE_UNKNOWN)
        return by_status;
    return code;
}

/* ---- Shapes -------------------------------------------------------------- */

static wend_str first_str(const struct json *j, const char *const *keys)
{
    for (; *keys; keys++) {
        wend_str s = json_get_str(j, *keys);

        if (s.len)
            return s;
    }
    return STR_NONE;
}

/* A status that is told as a number, or as the digits of one. */
static int status_of(const struct json *j)
{
    int64_t n = 0;

    if (!json_i64(j, &n) && !str_to_i64(json_str(j), &n))
        return 0;
    return n >= 400 && n <= 599 ? (int)n : 0;
}

static void read_members(const struct json *j, struct failure_said *out)
{
    static const char *const texts[] = {
        "message", "Message",           "msg", "detail",
        "details", "error_description", NULL};
    static const char *const names[FAILURE_WORDS] = {"code", "type", "status"};

    if (!out->message.len)
        out->message = first_str(j, texts);
    if (!out->more.len) /* gateways: the error of the server behind them */
        out->more = json_get_str(json_get(j, "metadata"), "raw");
    for (int i = 0; i < FAILURE_WORDS; i++) {
        const struct json *m = json_get(j, names[i]);
        int status = status_of(m);

        if (status)
            out->status = status;
        else if (!out->word[i].len)
            out->word[i] = json_str(m);
    }
    if (!out->param.len)
        out->param = json_get_str(j, "param");
    if (!out->status)
        out->status = status_of(json_get(j, "status_code"));
}

/* From the inside out: what is deeper is nearer to the cause. */
static void read_shape(const struct json *j, struct failure_said *out,
                       int depth)
{
    static const char *const inner[] = {"error", "errors", "detail",
                                        "response"};

    if (!j || !depth)
        return;
    if (j->kind == JSON_STRING) {
        if (!out->message.len)
            out->message = j->text;
    } else if (j->kind == JSON_ARRAY) {
        read_shape(j->first, out, depth - 1);
    } else if (j->kind == JSON_OBJECT) {
        for (size_t i = 0; i < sizeof inner / sizeof *inner; i++)
            read_shape(json_get(j, inner[i]), out, depth - 1);
        read_members(j, out);
    }
}

/* ---- Text ---------------------------------------------------------------- */

/* Where the tag that begins at i ends; what is in a style or a script is no
 * text either. */
static size_t skip_tag(wend_str s, size_t i)
{
    static const char *const dark[] = {"style", "script"};
    wend_str rest = {s.ptr + i + 1, s.len - i - 1};
    const char *end = memchr(s.ptr + i, '>', s.len - i);
    size_t at = end ? (size_t)(end - s.ptr) + 1 : s.len;

    for (int k = 0; k < 2; k++)
        if (str_starts_nocase(rest, dark[k]))
            while (at < s.len) {
                wend_str tail = {s.ptr + at, s.len - at};

                if (str_starts_nocase(tail, "</"))
                    break;
                at++;
            }
    return at;
}

static bool is_markup(wend_str s)
{
    size_t i = 0;

    while (i < s.len && (unsigned char)s.ptr[i] <= ' ')
        i++;
    return i < s.len && s.ptr[i] == '<';
}

/* C1 controls are two bytes in UTF-8; terminals obey them as well. */
static bool is_control(wend_str s, size_t i)
{
    unsigned char c = (unsigned char)s.ptr[i];

    return c < 0x20 || c == 0x7f ||
           (c == 0xc2 && i + 1 < s.len && (unsigned char)s.ptr[i + 1] < 0xa0);
}

/* Valid text to one line: runs of space and control characters are one
 * space, tags are none. Stops a little above `max`. */
static void put_line(struct buf *out, wend_str s, size_t max)
{
    size_t start = out->len, i = 0;
    bool markup = is_markup(s), gap = false;

    while (i < s.len && out->len - start <= max) {
        if (markup && s.ptr[i] == '<') {
            i = skip_tag(s, i);
            gap = true;
        } else if (s.ptr[i] == ' ' || is_control(s, i)) {
            i += (unsigned char)s.ptr[i] == 0xc2 ? 2 : 1;
            gap = true;
        } else {
            if (gap && out->len > start)
                buf_char(out, ' ');
            gap = false;
            buf_char(out, s.ptr[i++]);
        }
    }
    if (!out->failed && out->len - start > max) {
        wend_str whole = {out->ptr + start, out->len - start};

        out->len = start + utf8_cut(whole, max);
        buf_cstr(out, "...");
    }
}

void failure_text(struct buf *out, wend_str bytes, size_t max)
{
    struct buf clean = {.mem = out->mem};
    /* Markup is longer than its text; what is far behind is not looked at. */
    size_t look = max * 16;
    wend_str head = bytes;

    if (head.len > look)
        head.len = utf8_whole(head.ptr, look);
    if (utf8_repair(&clean, head) > BAD_BYTES_MAX)
        buf_fmt(out, "%zu bytes of binary data", bytes.len);
    else
        put_line(out, buf_view(&clean), max);
    out->failed |= clean.failed;
    buf_free(&clean);
}

/* ---- When to try again --------------------------------------------------- */

/* A year of milliseconds: longer waits are typing errors. */
static const int64_t WISH_MAX = INT64_C(366) * 24 * 3600 * 1000;

/* The index of three letters in a list of triples, or -1. */
static int three_letters(const char *p, const char *list)
{
    for (int i = 0; list[3 * i]; i++)
        if (!memcmp(p, list + 3 * i, 3))
            return i;
    return -1;
}

/* Days of the years before this one, since 1970-01-01. */
static int64_t days_before(int64_t year)
{
    int64_t y = year - 1;

    return (year - 1970) * 365 + y / 4 - y / 100 + y / 400 -
           (1969 / 4 - 1969 / 100 + 1969 / 400);
}

/* As in the shape, and nothing else. */
bool failure_date(wend_str s, int64_t *out)
{
    const wend_str shape = STR("???, ?? ??? ???? ??:??:?? GMT");
    enum { DAY, YEAR, HOUR, MINUTE, SECOND, NUMBERS };
    static const struct {
        size_t at, digits;
    } places[NUMBERS] = {{5, 2}, {12, 4}, {17, 2}, {20, 2}, {23, 2}};
    static const int before[] = {0,   31,  59,  90,  120, 151, 181,
                                 212, 243, 273, 304, 334, 365};
    int64_t n[NUMBERS], day, leap;
    int weekday, month;

    if (s.len != shape.len || !str_glob(shape, s))
        return false;
    weekday = three_letters(s.ptr, "ThuFriSatSunMonTueWed");
    month = three_letters(s.ptr + 8, "JanFebMarAprMayJunJulAugSepOctNovDec");
    for (int i = 0; i < NUMBERS; i++) {
        wend_str text = {s.ptr + places[i].at, places[i].digits};

        if (!str_to_i64(text, &n[i]))
            return false;
    }
    if (weekday < 0 || month < 0 || !n[DAY] || n[YEAR] < 1970 || n[HOUR] > 23 ||
        n[MINUTE] > 59 || n[SECOND] > 60)
        return false;
    leap = days_before(n[YEAR] + 1) - days_before(n[YEAR]) - 365;
    if (n[DAY] > before[month + 1] - before[month] + (month == 1 ? leap : 0))
        return false;
    day = days_before(n[YEAR]) + before[month] + (month > 1 ? leap : 0) +
          n[DAY] - 1;
    if (day % 7 != weekday) /* 1970-01-01 was a Thursday */
        return false;
    *out = ((day * 24 + n[HOUR]) * 60 + n[MINUTE]) * 60 + n[SECOND];
    return true;
}

/* A number with an optional fraction, times `scale`. */
static bool number(wend_str s, int64_t scale, int64_t *out)
{
    int64_t n, part = 0, unit = scale;
    wend_str whole = s;
    const char *dot = s.len ? memchr(s.ptr, '.', s.len) : NULL;

    if (dot)
        whole.len = (size_t)(dot - s.ptr);
    if (!str_to_i64(whole, &n) || n > WISH_MAX)
        return false;
    for (const char *p = dot ? dot + 1 : s.ptr + s.len; p < s.ptr + s.len;
         p++) {
        if (*p < '0' || *p > '9')
            return false;
        part += unit * (*p - '0') / 10;
        unit /= 10;
    }
    *out = n * scale + part;
    return true;
}

/* Milliseconds to wait, by the headers retry-after-ms and Retry-After (seconds,
 * or a date); 0 if neither says something. now_us: to read a date. */
static int64_t retry_after(wend_str ms_text, wend_str text, int64_t now_us)
{
    int64_t ms = 0, at;

    if (!number(ms_text, 1, &ms) && !number(text, 1000, &ms) &&
        failure_date(text, &at))
        ms = at * 1000 - now_us / 1000;
    return ms > 0 && ms <= WISH_MAX ? ms : 0;
}

/* A time in its two largest units: "2 h 5 min". */
static void put_wait(struct buf *out, int64_t ms)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    int64_t left = (ms + 999) / 1000;
    int shown = 0;

    for (size_t i = 0; i < sizeof units / sizeof *units && shown < 2; i++) {
        int64_t n = left / units[i].seconds;

        if (!n)
            continue;
        buf_cstr(out, shown++ ? " " : "");
        buf_i64(out, n);
        buf_char(out, ' ');
        buf_cstr(out, units[i].name);
        left -= n * units[i].seconds;
    }
}

/* ---- All together -------------------------------------------------------- */

static void decide(int status, enum model_code *code,
                   const struct failure_headers *h, bool *retry)
{
    *retry =
        (status == 408 || status == 409 || status == 429 || status >= 500) &&
        *code != CODE_AUTH && *code != CODE_OVERFLOW && *code != CODE_MEDIA;
    if (str_is(str_trim(h->should_retry, is_blank), "true"))
        *retry = true;
    else if (str_is(str_trim(h->should_retry, is_blank), "false"))
        *retry = false;
    if (*retry && *code >= CODES_PASSING) /* those the core never retries */
        *code = CODE_SERVICE;
}

/* Mostly a path is missing in the base URL, or repeated. The query may hold a
 * secret. */
static void put_place(struct buf *b, const struct failure_headers *h)
{
    const char *query = h->url.len ? memchr(h->url.ptr, '?', h->url.len) : NULL;
    wend_str url = h->url;
    const char *host = h->usual_base.len ? memmem(h->usual_base.ptr,
                                                  h->usual_base.len, "://", 3)
                                         : NULL;
    const char *path = host ? strchr(host + 3, '/') : NULL, *below;

    if (!url.len)
        return;
    if (query)
        url.len = (size_t)(query - url.ptr);
    buf_cstr(b, "; the URL was ");
    failure_text(b, url, FAILURE_HEAD_MAX);
    below = path ? memmem(url.ptr, url.len, path, strlen(path)) : NULL;
    if (below &&
        str_starts(str_skip(url, (size_t)(below - url.ptr) + strlen(path)),
                   "/"))
        return;
    buf_cstr(b, path ? ", and a base URL should end with "
                     : ", and a base URL should end with host and port");
    buf_cstr(b, path ? path : "");
}

static wend_str message_of(int status, const struct failure_said *said,
                           wend_str body, const struct failure_headers *h,
                           int64_t wish_ms, struct arena *a)
{
    struct buf b = {.mem = a->mem};
    size_t before;

    buf_fmt(&b, "HTTP %d: ", status);
    before = b.len;
    failure_said_text(&b, said);
    if (b.len == before)
        failure_text(&b, body, FAILURE_HEAD_MAX);
    if (status < 300 && is_markup(body))
        buf_cstr(&b,
                 " (a web page instead of an answer; is the base URL right?)");
    if (status >= 300 && status < 400 && h->location.len) {
        b.len = before;
        buf_cstr(&b,
                 "redirects are not followed; the base URL may have to be ");
        failure_text(&b, h->location, FAILURE_HEAD_MAX);
    }
    if (b.len == before)
        buf_cstr(&b, "no explanation");
    if (status == 404)
        put_place(&b, h);
    if (status == 407)
        buf_cstr(&b, "; the proxy wants a user and a password, as in "
                     "http://USER:PASSWORD@HOST:PORT");
    if (wish_ms > RETRY_AFTER_MAX_MS) {
        buf_cstr(&b, "; the server wants no request for ");
        put_wait(&b, wish_ms);
    }
    if (h->request_id.len) {
        buf_cstr(&b, " (request ");
        failure_text(&b, h->request_id, FAILURE_HEAD_MAX);
        buf_char(&b, ')');
    }
    return buf_keep(&b, a);
}

void failure_read(const struct json *error, struct failure_said *out)
{
    memset(out, 0, sizeof *out);
    read_shape(error, out, SHAPES_DEPTH_MAX);
}

wend_str failure_said_code(const struct failure_said *said)
{
    return str_of(code_names[said_code(said)]);
}

void failure_said_text(struct buf *out, const struct failure_said *said)
{
    size_t before = out->len;

    failure_text(out, said->message, FAILURE_TEXT_MAX);
    for (int i = 0; i < FAILURE_WORDS && out->len == before; i++)
        failure_text(out, said->word[i], FAILURE_HEAD_MAX);
    if (said->more.len) {
        buf_cstr(out, out->len == before ? "" : ": ");
        failure_text(out, said->more, FAILURE_TEXT_MAX);
    }
}

void failure_of(int status, wend_str body, const struct failure_headers *h,
                int64_t now_us, struct arena *a, struct failure *out)
{
    struct failure_said said;
    enum model_code code;
    int64_t wish_ms = 0;

    memset(out, 0, sizeof *out);
    failure_read(json_parse(body, a, NULL), &said);
    if (status >= 400)
        said.status = status;
    out->word = arena_str(a, said.word[0]);
    out->param = arena_str(a, said.param);
    code = said_code(&said);
    decide(status, &code, h, &out->retry);
    out->code = str_of(code_names[code]);
    if (out->retry)
        wish_ms = retry_after(str_trim(h->retry_after_ms, is_blank),
                              str_trim(h->retry_after, is_blank), now_us);
    out->message = message_of(status, &said, body, h, wish_ms, a);
    if (wish_ms > RETRY_AFTER_MAX_MS)
        out->retry = false;
    else
        out->retry_after_ms = wish_ms;
}
