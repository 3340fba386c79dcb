/*
 * test_request.c - requests of HTTP/1.1: each row in any pieces.
 */
#include "wire/http/request.h"

#include "request_help.h"
#include "tap.h"

#define GET "GET / HTTP/1.1\r\n"
#define HOST "Host: a\r\n"
#define POST "POST / HTTP/1.1\r\n" HOST
#define CHUNKED POST "Transfer-Encoding: chunked\r\n\r\n"
#define FIELD(line) GET HOST line "\r\n\r\n"

enum { BODY_MAX = 100 };

/* How a request reads: `METHOD path?query host body keep`, or its status and
 * what is wrong; ` | ` between requests. */
#define ROW(why, input, wanted)                 \
    {                                           \
        why, {input, sizeof(input) - 1}, wanted \
    }
struct row {
    const char *why;
    wend_str input;
    const char *wanted;
};

static const struct row targets[] = {
    ROW("the least", GET HOST "\r\n", "GET / a '' keep"),
    ROW("a query", "GET /a/b?c=d&e HTTP/1.1\r\n" HOST "\r\n",
        "GET /a/b?c=d&e a '' keep"),
    ROW("an empty query", "GET /a? HTTP/1.1\r\n" HOST "\r\n",
        "GET /a? a '' keep"),
    ROW("a question mark in the query", "GET /?a?b HTTP/1.1\r\n" HOST "\r\n",
        "GET /?a?b a '' keep"),
    ROW("escapes stay", "GET /%41%2f HTTP/1.1\r\n" HOST "\r\n",
        "GET /%41%2f a '' keep"),
    ROW("what browsers do not escape",
        "GET /a|b?[c]={d}^`' HTTP/1.1\r\n" HOST "\r\n",
        "GET /a|b?[c]={d}^`' a '' keep"),
    ROW("two slashes are a path", "GET //b/c HTTP/1.1\r\n" HOST "\r\n",
        "GET //b/c a '' keep"),
    ROW("a whole URL", "GET http://A/b?c HTTP/1.1\r\n" HOST "\r\n",
        "GET /b?c a '' keep"),
    ROW("a whole URL without a path", "GET HTTPS://a HTTP/1.1\r\n" HOST "\r\n",
        "GET / a '' keep"),
    ROW("a whole URL with a query only",
        "GET http://a?b HTTP/1.1\r\n" HOST "\r\n", "GET /?b a '' keep"),
    ROW("a whole URL names the host", "GET http://a:1/ HTTP/1.0\r\n\r\n",
        "GET / a:1 '' close"),
    ROW("the server itself", "OPTIONS * HTTP/1.1\r\n" HOST "\r\n",
        "OPTIONS * a '' keep"),
    ROW("any method", "M-SEARCH_1 / HTTP/1.1\r\n" HOST "\r\n",
        "M-SEARCH_1 / a '' keep"),
    ROW("a method of 16 bytes", "ABCDEFGHIJKLMNOP / HTTP/1.1\r\n" HOST "\r\n",
        "ABCDEFGHIJKLMNOP / a '' keep"),
    ROW("HEAD", "HEAD / HTTP/1.1\r\n" HOST "\r\n", "HEAD / a '' keep head"),
    ROW("an empty line first", "\r\n" GET HOST "\r\n", "GET / a '' keep"),
    ROW("a host with a port", GET "Host: a-b.c_d:8080\r\n\r\n",
        "GET / a-b.c_d:8080 '' keep"),
    ROW("IPv6", GET "Host: [::1]:80\r\n\r\n", "GET / [::1]:80 '' keep"),
};

static const struct row bodies[] = {
    ROW("a length", POST "Content-Length: 3\r\n\r\nabc", "POST / a 'abc' keep"),
    ROW("no bytes", POST "Content-Length: 0\r\n\r\n", "POST / a '' keep"),
    ROW("no length", POST "\r\n", "POST / a '' keep"),
    ROW("names in any case", POST "CONTENT-lengtH:  3 \r\n\r\nabc",
        "POST / a 'abc' keep"),
    ROW("GET with a body", GET HOST "Content-Length: 1\r\n\r\nx",
        "GET / a 'x' keep"),
    ROW("HTTP/1.0", "POST / HTTP/1.0\r\nContent-Length: 1\r\n\r\nx",
        "POST / - 'x' close"),
    ROW("chunks", CHUNKED "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
        "POST / a 'abcde' keep"),
    ROW("chunked in any case",
        POST "transfer-encoding: Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
        "POST / a 'a' keep"),
    ROW("sizes in any case", CHUNKED "00A\r\n0123456789\r\n000\r\n\r\n",
        "POST / a '0123456789' keep"),
    ROW("extensions", CHUNKED "3;a;b=c;d=\"e\\\"; \xff\"\r\nabc\r\n0;x\r\n\r\n",
        "POST / a 'abc' keep"),
    ROW("trailers are dropped",
        CHUNKED "1\r\na\r\n0\r\nContent-Lengths: 9\r\nB:\r\n\r\n",
        "POST / a 'a' keep"),
    ROW("a line end inside a chunk", CHUNKED "4\r\na\r\nb\r\n0\r\n\r\n",
        "POST / a 'a\r\nb' keep"),
    ROW("expected", POST "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\na",
        "POST / a 'a' keep expects"),
    ROW("expected, but there is no body", FIELD("Expect: 100-continue"),
        "GET / a '' keep"),
    ROW("HTTP/1.0 cannot expect it",
        "POST / HTTP/1.0\r\nExpect: 100-continue\r\n"
        "Content-Length: 1\r\n\r\na",
        "POST / - 'a' close"),
    ROW("all that is accepted",
        POST "Content-Length: 100\r\n\r\n0123456789"
             "012345678901234567890123456789"
             "012345678901234567890123456789"
             "012345678901234567890123456789",
        "POST / a '0123456789"
        "012345678901234567890123456789"
        "012345678901234567890123456789"
        "012345678901234567890123456789' keep"),
};

static const struct row connections[] = {
    ROW("close", FIELD("Connection: close"), "GET / a '' close"),
    ROW("among others", FIELD("Connection: a ,CLOSE, b"), "GET / a '' close"),
    ROW("in a second header", FIELD("Connection: a\r\nConnection: close"),
        "GET / a '' close"),
    ROW("a word that only looks so", FIELD("Connection: closed, x-close"),
        "GET / a '' keep"),
    ROW("HTTP/1.0", "GET / HTTP/1.0\r\n\r\n", "GET / - '' close"),
    ROW("HTTP/1.0, kept", "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
        "GET / - '' keep"),
    ROW("HTTP/1.0, both",
        "GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n",
        "GET / - '' close"),
    ROW("another protocol is not taken up",
        FIELD("Connection: Upgrade\r\nUpgrade: websocket"), "GET / a '' keep"),
    ROW("one behind the other",
        CHUNKED "1\r\na\r\n0\r\n\r\n" GET HOST "\r\n" POST
                "Content-Length: 2\r\n\r\nbc" GET,
        "POST / a 'a' keep | GET / a '' keep | POST / a 'bc' keep | (more)"),
    ROW("an empty line between them", GET HOST "\r\n\r\n" GET HOST "\r\n",
        "GET / a '' keep | GET / a '' keep"),
    ROW("and rubbish behind", GET HOST "\r\nxyz",
        "GET / a '' keep | 400 the request does not begin with a method in "
        "upper case"),
    ROW("nothing", "", ""),
    ROW("an empty line only", "\r\n", ""),
    ROW("cut in the line", "GET /", "(more)"),
    ROW("cut in the headers", GET HOST, "(more)"),
    ROW("cut in the body", POST "Content-Length: 3\r\n\r\nab", "(more)"),
    ROW("cut in a chunk", CHUNKED "3\r\nab", "(more)"),
};

#define NO_METHOD "400 the request does not begin with a method in upper case"
#define SPACE "400 a space too many in the request line"
#define CONTROL_LINE "400 a control byte in the request line"
#define ESCAPE "400 the target has a character that must be escaped"
#define PERCENT "400 the target has a '%' without two hexadecimal digits"
#define NO_VERSION "400 the request line does not end in HTTP/1.1"
#define NO_CR "400 a line of the head ends without CR"

static const struct row lines[] = {
    ROW("lower case", "get / HTTP/1.1\r\n", NO_METHOD),
    ROW("mixed case", "Get / HTTP/1.1\r\n", NO_METHOD),
    ROW("no method", " / HTTP/1.1\r\n", NO_METHOD),
    ROW("two empty lines", "\r\n\r\n" GET HOST "\r\n", NO_METHOD),
    ROW("an empty line without CR", "\n" GET HOST "\r\n", NO_METHOD),
    ROW("an empty line without LF", "\r" GET HOST "\r\n",
        "400 a CR without LF before the request"),
    ROW("no token", "G@T / HTTP/1.1\r\n", NO_METHOD),
    ROW("NUL first", "\0", NO_METHOD),
    ROW("a mark of the byte order", "\xef\xbb\xbfGET / HTTP/1.1\r\n",
        NO_METHOD),
    ROW("a tab for a space", "GET\t/ HTTP/1.1\r\n", NO_METHOD),
    ROW("a method of 17 bytes", "ABCDEFGHIJKLMNOPQ / HTTP/1.1\r\n",
        "400 the method is over 16 bytes"),
    ROW("TLS", "\x16\x03\x01\x02",
        "400 this is TLS, but the server speaks plain HTTP here; use "
        "http://"),
    ROW("a method alone", "GET\r\n\r\n", NO_METHOD),
    ROW("a method and a space", "GET \r\n\r\n",
        "400 the request line has no target"),
    ROW("HTTP/0.9", "GET /\r\n", NO_VERSION),
    ROW("two spaces", "GET  / HTTP/1.1\r\n", SPACE),
    ROW("two spaces before the version", "GET /  HTTP/1.1\r\n", SPACE),
    ROW("a space at the end", "GET / HTTP/1.1 \r\n", SPACE),
    ROW("a space in the target", "GET /a b HTTP/1.1\r\n", SPACE),
    ROW("a tab in the target", "GET /a\tb HTTP/1.1\r\n", CONTROL_LINE),
    ROW("NUL in the target", "GET /a\0b HTTP/1.1\r\n", CONTROL_LINE),
    ROW("DEL in the target", "GET /a\x7f HTTP/1.1\r\n", CONTROL_LINE),
    ROW("a CR alone in the target", "GET /a\rb HTTP/1.1\r\n", CONTROL_LINE),
    ROW("two CR at the end", "GET / HTTP/1.1\r\r\n", CONTROL_LINE),
    ROW("LF alone", "GET / HTTP/1.1\n" HOST "\r\n", NO_CR),
    ROW("no slash", "GET a HTTP/1.1\r\n",
        "400 the target does not begin with a slash"),
    ROW("another scheme", "GET ftp://a/ HTTP/1.1\r\n",
        "400 the target does not begin with a slash"),
    ROW("a star", "GET * HTTP/1.1\r\n",
        "400 the target does not begin with a slash"),
    ROW("more than a star", "OPTIONS *a HTTP/1.1\r\n",
        "400 the target does not begin with a slash"),
    ROW("a fragment", "GET /a#b HTTP/1.1\r\n",
        "400 the target has a fragment (#)"),
    ROW("bytes of UTF-8", "GET /\xc3\xa9 HTTP/1.1\r\n", ESCAPE),
    ROW("a backslash", "GET /a\\b HTTP/1.1\r\n", ESCAPE),
    ROW("a quote", "GET /?\" HTTP/1.1\r\n", ESCAPE),
    ROW("an escape cut off", "GET /%2 HTTP/1.1\r\n", PERCENT),
    ROW("a percent alone", "GET /%?a=b HTTP/1.1\r\n", PERCENT),
    ROW("an escape with other letters", "GET /%g0 HTTP/1.1\r\n", PERCENT),
    ROW("a user in a URL", "GET http://u@a/ HTTP/1.1\r\n",
        "400 the target's host is malformed"),
    ROW("no host in a URL", "GET http:///b HTTP/1.1\r\n",
        "400 the target's host is malformed"),
    ROW("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "505 the version of HTTP is neither 1.0 nor 1.1"),
    ROW("HTTP/1.2", "GET / HTTP/1.2\r\n",
        "505 the version of HTTP is neither 1.0 nor 1.1"),
    ROW("HTTP/0.9 by name", "GET / HTTP/0.9\r\n",
        "505 the version of HTTP is neither 1.0 nor 1.1"),
    ROW("HTTP/1.10", "GET / HTTP/1.10\r\n", NO_VERSION),
    ROW("HTTP/1", "GET / HTTP/1\r\n", NO_VERSION),
    ROW("a version in lower case", "GET / http/1.1\r\n", NO_VERSION),
    ROW("another protocol", "GET / RTSP/1.0\r\n", NO_VERSION),
    ROW("CONNECT", "CONNECT a:80 HTTP/1.1\r\n",
        "501 CONNECT is refused: this is not a proxy"),
};

#define LENGTH "400 the Content-Length is not a number"
#define CODING "501 a Transfer-Encoding other than chunked"
#define NO_NAME "400 a header without a name"
#define CONTROL "400 a control byte in a header"
#define TAB "400 a tab in a header that frames the request"
#define BAD_HOST "400 the Host header is malformed"

static const struct row fields[] = {
    ROW("length and chunks",
        FIELD("Content-Length: 3\r\nTransfer-Encoding: chunked"),
        "400 both Content-Length and Transfer-Encoding"),
    ROW("chunks and length",
        FIELD("Transfer-Encoding: chunked\r\nContent-Length: 0"),
        "400 both Content-Length and Transfer-Encoding"),
    ROW("two lengths", FIELD("Content-Length: 3\r\nContent-Length: 4"),
        "400 two Content-Length headers"),
    ROW("one length twice", FIELD("Content-Length: 3\r\nContent-Length: 3"),
        "400 two Content-Length headers"),
    ROW("a list of lengths", FIELD("Content-Length: 3, 3"), LENGTH),
    ROW("a signed length", FIELD("Content-Length: +3"), LENGTH),
    ROW("a negative length", FIELD("Content-Length: -1"), LENGTH),
    ROW("an empty length", FIELD("Content-Length:"), LENGTH),
    ROW("a length with a space", FIELD("Content-Length: 1 1"), LENGTH),
    ROW("a hexadecimal length", FIELD("Content-Length: 0x1"), LENGTH),
    ROW("a length over 63 bits", FIELD("Content-Length: 9223372036854775808"),
        LENGTH),
    ROW("a length over 64 bits", FIELD("Content-Length: 18446744073709551617"),
        LENGTH),
    ROW("another coding", FIELD("Transfer-Encoding: gzip, chunked"), CODING),
    ROW("chunked is not the last", FIELD("Transfer-Encoding: chunked, gzip"),
        CODING),
    ROW("identity", FIELD("Transfer-Encoding: identity"), CODING),
    ROW("chunked twice", FIELD("Transfer-Encoding: chunked, chunked"), CODING),
    ROW("almost chunked", FIELD("Transfer-Encoding: xchunked"), CODING),
    ROW("chunked with a parameter", FIELD("Transfer-Encoding: chunked;a=b"),
        CODING),
    ROW("chunked in quotes", FIELD("Transfer-Encoding: \"chunked\""), CODING),
    ROW("no coding", FIELD("Transfer-Encoding:"), CODING),
    ROW("chunks behind a vertical tab", FIELD("Transfer-Encoding: \vchunked"),
        CONTROL),
    ROW("a tab before a length", FIELD("Content-Length:\t0"), TAB),
    ROW("a tab behind a coding", FIELD("Transfer-Encoding: chunked\t"), TAB),
    ROW("a tab in the connection", FIELD("Connection: a,\tclose"), TAB),
    ROW("two codings",
        FIELD("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
        "400 two Transfer-Encoding headers"),
    ROW("chunks in HTTP/1.0",
        "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
        "400 a Transfer-Encoding in HTTP/1.0"),
    ROW("a folded header", FIELD("A: b\r\n c"), "400 a folded header"),
    ROW("folded with a tab", FIELD("A: b\r\n\tc"), "400 a folded header"),
    ROW("folded, and only a space", FIELD("A: b\r\n "), "400 a folded header"),
    ROW("a space before the first", GET " Host: a\r\n\r\n",
        "400 a folded header"),
    ROW("a space before the colon", FIELD("A : b"), NO_NAME),
    ROW("a space in a framing name", FIELD("Content-Length : 1"), NO_NAME),
    ROW("a tab before the colon", FIELD("A\t: b"), NO_NAME),
    ROW("no colon", FIELD("A"), NO_NAME),
    ROW("no name", FIELD(": b"), NO_NAME),
    ROW("a name in quotes", FIELD("\"A\": b"), NO_NAME),
    ROW("a name of UTF-8", FIELD("\xc3\xa9: b"), NO_NAME),
    ROW("NUL in a name", FIELD("A\0: b"), NO_NAME),
    ROW("NUL in a value", FIELD("A: b\0c"), CONTROL),
    ROW("a control byte in a value", FIELD("A: \x1b[31m"), CONTROL),
    ROW("DEL in a value", FIELD("A: b\x7f"), CONTROL),
    ROW("a CR alone", FIELD("A: b\rC: d"), CONTROL),
    ROW("two CR at the end", FIELD("A: b\r"), CONTROL),
    ROW("a LF alone", FIELD("A: b\nC: d"), NO_CR),
    ROW("a LF alone at the end", GET HOST "\n", NO_CR),
    ROW("a CR alone at the end", GET HOST "\rx\r\n", NO_NAME),
    ROW("no host", GET "\r\n", "400 no Host header"),
    ROW("two hosts", GET HOST HOST "\r\n", "400 two Host headers"),
    ROW("an empty host", GET "Host:\r\n\r\n", BAD_HOST),
    ROW("a list of hosts", GET "Host: a, b\r\n\r\n", BAD_HOST),
    ROW("a host with a path", GET "Host: a/b\r\n\r\n", BAD_HOST),
    ROW("a host with a user", GET "Host: a@b\r\n\r\n", BAD_HOST),
    ROW("a host with an escape", GET "Host: a%2eb\r\n\r\n", BAD_HOST),
    ROW("a host of UTF-8", GET "Host: \xc3\xa9\r\n\r\n", BAD_HOST),
    ROW("IPv6 without brackets", GET "Host: ::1\r\n\r\n", BAD_HOST),
    ROW("IPv6 with a zone", GET "Host: [fe80::1%25a]\r\n\r\n", BAD_HOST),
    ROW("a bracket left open", GET "Host: [::1\r\n\r\n", BAD_HOST),
    ROW("IPv4 in brackets", GET "Host: [1.2.3.4]\r\n\r\n", BAD_HOST),
    ROW("something behind a bracket", GET "Host: [::1]a\r\n\r\n", BAD_HOST),
    ROW("an empty port", GET "Host: a:\r\n\r\n", BAD_HOST),
    ROW("a port of letters", GET "Host: a:b\r\n\r\n", BAD_HOST),
    ROW("port 0", GET "Host: a:0\r\n\r\n", BAD_HOST),
    ROW("a port over 16 bits", GET "Host: a:65536\r\n\r\n", BAD_HOST),
    ROW("a host that is also wrong in HTTP/1.0",
        "GET / HTTP/1.0\r\nHost: a b\r\n\r\n", BAD_HOST),
    ROW("two different hosts", "GET http://b/ HTTP/1.1\r\n" HOST "\r\n",
        "400 the target's host is not that of the Host header"),
    ROW("two different ports", "GET http://a:80/ HTTP/1.1\r\n" HOST "\r\n",
        "400 the target's host is not that of the Host header"),
    ROW("another expectation", FIELD("Expect: 200-ok"),
        "417 an expectation other than 100-continue"),
    ROW("two expectations", FIELD("Expect: 100-continue, 100-continue"),
        "417 an expectation other than 100-continue"),
    ROW("two tokens", FIELD("Authorization: a\r\nauthorization: b"),
        "400 two Authorization headers"),
    ROW("two types", FIELD("Content-Type: a\r\nContent-Type: a"),
        "400 two Content-Type headers"),
    ROW("two origins", FIELD("Origin: a\r\nOrigin: b"),
        "400 two Origin headers"),
};

#define SIZE "400 a chunk's size is not a number"
#define END "400 a chunk does not end where it should"
#define EXT "400 an extension of a chunk is malformed"
#define TRAILER "400 a trailer is malformed"
#define HEAD_ONLY "400 a trailer that may only be a header"
#define LARGE "413 the body is larger than is accepted here"

static const struct row chunks[] = {
    ROW("a size that is none", CHUNKED "g\r\n", SIZE),
    ROW("an empty size", CHUNKED "\r\n", SIZE),
    ROW("an empty size with an extension", CHUNKED ";a\r\n", SIZE),
    ROW("a signed size", CHUNKED "+1\r\na\r\n", SIZE),
    ROW("a negative size", CHUNKED "-1\r\na\r\n", SIZE),
    ROW("a size with 0x", CHUNKED "0x1\r\na\r\n", SIZE),
    ROW("a size with _", CHUNKED "1_0\r\na\r\n", SIZE),
    ROW("a space before the size", CHUNKED " 1\r\na\r\n", SIZE),
    ROW("a space behind the size", CHUNKED "1 \r\na\r\n", SIZE),
    ROW("a space before an extension", CHUNKED "1 ;a\r\na\r\n", SIZE),
    ROW("a size over 63 bits", CHUNKED "8000000000000000\r\n", SIZE),
    ROW("a size that would wrap", CHUNKED "10000000000000001\r\na\r\n", SIZE),
    ROW("a size without CR", CHUNKED "1\na\r\n", SIZE),
    ROW("a size without LF", CHUNKED "1\ra\r\n", END),
    ROW("an empty extension", CHUNKED "1;\r\na\r\n", EXT),
    ROW("an extension without a value", CHUNKED "1;a=\r\na\r\n", EXT),
    ROW("a space in an extension", CHUNKED "1; a\r\na\r\n", EXT),
    ROW("an extension without CR", CHUNKED "1;a\na\r\n", EXT),
    ROW("a quote left open", CHUNKED "1;a=\"b\r\na\r\n", EXT),
    ROW("something behind a quote", CHUNKED "1;a=\"b\"c\r\na\r\n", EXT),
    ROW("NUL in an extension", CHUNKED "1;a=\"\0\"\r\na\r\n", EXT),
    ROW("a chunk that is longer", CHUNKED "1\r\nab\r\n", END),
    ROW("a chunk without CR", CHUNKED "1\r\na\n0\r\n\r\n", END),
    ROW("a chunk without LF", CHUNKED "1\r\na\r0\r\n\r\n", END),
    ROW("a trailer without a name", CHUNKED "0\r\n: b\r\n\r\n", TRAILER),
    ROW("a trailer without a colon", CHUNKED "0\r\nGET / HTTP/1.1\r\n\r\n",
        TRAILER),
    ROW("a folded trailer", CHUNKED "0\r\nA: b\r\n c\r\n\r\n", TRAILER),
    ROW("a CR alone in a trailer", CHUNKED "0\r\nA: b\rc\r\n\r\n", TRAILER),
    ROW("a trailer without CR", CHUNKED "0\r\nA: b\n\r\n", TRAILER),
    ROW("the end without CR", CHUNKED "0\r\n\n", TRAILER),
    ROW("a length in a trailer", CHUNKED "0\r\nContent-Length: 1\r\n\r\n",
        HEAD_ONLY),
    ROW("a coding in a trailer, in any case",
        CHUNKED "0\r\nA: b\r\nTRANSFER-encoding: chunked\r\n\r\n", HEAD_ONLY),
    ROW("a host in a trailer", CHUNKED "0\r\nHost: b\r\n\r\n", HEAD_ONLY),
    ROW("the connection in a trailer", CHUNKED "0\r\nConnection: close\r\n\r\n",
        HEAD_ONLY),
    ROW("a length over the limit", POST "Content-Length: 101\r\n\r\n", LARGE),
    ROW("the longest length",
        POST "Content-Length: 9223372036854775807\r\n\r\n", LARGE),
    ROW("a chunk over the limit", CHUNKED "65\r\n", LARGE),
    ROW("two chunks over the limit", CHUNKED "1\r\na\r\n64\r\n", LARGE),
    ROW("the largest chunk", CHUNKED "7fffffffffffffff\r\n", LARGE),
};

static void put(struct buf *out, const struct http_req *r, wend_str body)
{
    buf_cstr(out, out->len ? " | " : "");
    buf_str(out, r->method);
    buf_char(out, ' ');
    buf_str(out, r->path);
    if (r->query.ptr) {
        buf_char(out, '?');
        buf_str(out, r->query);
    }
    buf_fmt(out, " %.*s '", STR_ARGS(str_or(r->host, "-")));
    buf_str(out, body);
    buf_cstr(out, r->keep ? "' keep" : "' close");
    buf_cstr(out, r->is_head ? " head" : "");
    buf_cstr(out, r->expects ? " expects" : "");
}

static void read_all(struct request_reading *g, wend_str in, size_t step,
                     struct chance *c)
{
    request_reading_begin(g, put, BODY_MAX);
    request_read(g, in, step, c);
    if (g->requests && (g->bad || http_req_begun(&g->r)))
        buf_cstr(&g->out, " | ");
    if (g->bad)
        buf_fmt(&g->out, "%d %s", g->r.status, g->r.why);
    else if (http_req_begun(&g->r))
        buf_cstr(&g->out, "(more)");
}

static bool reads_as(wend_str in, size_t step, struct chance *c,
                     const char *wanted)
{
    struct request_reading g;
    bool holds;

    read_all(&g, in, step, c);
    holds = !g.wrong && str_is(buf_view(&g.out), wanted);
    request_reading_free(&g);
    return holds;
}

static void test_rows(const char *what, const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct chance c = {i};
        struct request_reading g;
        size_t bad = 0;

        read_all(&g, rows[i].input, rows[i].input.len + 1, &c);
        tap_is_str(buf_view(&g.out), rows[i].wanted, "%s: %s", what,
                   rows[i].why);
        tap_ok(!g.wrong && (!g.bad || !g.r.keep), "as promised: %s",
               rows[i].why);
        request_reading_free(&g);
        for (size_t step = 1; step < 8; step++)
            bad += !reads_as(rows[i].input, step, &c, rows[i].wanted);
        for (int k = 0; k < 20; k++)
            bad += !reads_as(rows[i].input, 0, &c, rows[i].wanted);
        tap_ok(!bad, "and cut anywhere: %s", rows[i].why);
    }
}

/* ---- Fields -------------------------------------------------------------- */

static void test_fields(void)
{
    static const char text[] = "GET /a HTTP/1.1\r\nHOST: b\r\nX-One:\t 1 2 \r\n"
                               "x-TWO:\r\nX-One: \xe9\r\n\r\n";
    static const struct http_field wanted[] = {
        {{"host", 4}, {"b", 1}},
        {{"x-one", 5}, {"1 2", 3}},
        {{"x-two", 5}, {"", 0}},
        {{"x-one", 5}, {"\xe9", 1}},
    };
    struct buf head = {.mem = &request_mem};
    wend_str in = {text, sizeof text - 1}, body;
    struct http_req r;

    http_req_begin(&r, &head);
    tap_ok(!http_req_begun(&r), "nothing has come");
    tap_is_i64(http_req_next(&r, &in, &body), HTTP_REQ_HEAD, "a head");
    tap_ok(http_req_begun(&r), "something has come");
    tap_is_i64((int64_t)r.fields_count, tap_count(wanted), "its fields");
    for (size_t i = 0; i < r.fields_count; i++) {
        tap_is_str(http_req_field(&r, i).name, wanted[i].name, "name %zu", i);
        tap_is_str(http_req_field(&r, i).value, wanted[i].value, "value %zu",
                   i);
    }
    tap_is_str(http_req_value(&r, "x-one"), "1 2", "the first of a name");
    tap_is_str(http_req_value(&r, "x-two"), "", "an empty value is one");
    tap_ok(!http_req_value(&r, "x-three").ptr, "an absent one is absent");
    tap_is_str(r.target, "/a", "the target");
    tap_ok(!r.old && !r.has_body && !r.length && !r.query.ptr, "no body");
    tap_is_i64(http_req_next(&r, &in, &body), HTTP_REQ_DONE, "and its end");
    tap_is_i64(http_req_next(&r, &in, &body), HTTP_REQ_DONE, "told again");
    http_req_begin(&r, &head);
    tap_ok(!http_req_begun(&r) && !r.fields_count, "ready for the next");
    buf_free(&head);
}

int main(void)
{
    test_rows("target", targets, tap_count(targets));
    test_rows("body", bodies, tap_count(bodies));
    test_rows("connection", connections, tap_count(connections));
    test_rows("line", lines, tap_count(lines));
    test_rows("field", fields, tap_count(fields));
    test_rows("chunk", chunks, tap_count(chunks));
    test_fields();
    return tap_done();
}
