// http2.js - what wend-test-server does not speak: HTTP/2, by node.
//
//   node http2.js CERT KEY
//
// prints three ports: of a server that speaks both versions of HTTP, of one
// that speaks HTTP/2 only, and of one that breaks its answers off. The first
// word of a path says what happens:
//
//   /             a hundred pieces of 3000 bytes
//   /stats        sessions and streams of that kind so far
//   /count/WORD   requests so far whose path begins with the word
//   /refused      every stream is refused
//   /refused-once the first stream is refused, then there is an answer
//   /early        HTTP/1.1 is wanted before anything is said
//   /cut          the connection is closed without an answer
//   else          an answer
//
// Over HTTP/1.1 there is always an answer. The third server wants HTTP/1.1
// after a piece of the answer to a body with the word late, and after the head
// of that to one with the word head. Ends with its standard input.
'use strict';
const fs = require('fs');
const http2 = require('http2');
const tls = require('tls');
const {
    NGHTTP2_REFUSED_STREAM: REFUSED,
    NGHTTP2_HTTP_1_1_REQUIRED: HTTP1,
} = http2.constants;

const keys = {
    cert: fs.readFileSync(process.argv[2]),
    key: fs.readFileSync(process.argv[3]),
};
const head = {':status': 200, 'retry-after': '7',
              'content-type': 'text/event-stream'};
const answer = sse('two ') + 'data: {"choices":[{"delta":{},' +
    '"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
const count = {sessions: 0, streams: 0};
const asked = {};

function sse(text) {
    const delta = {choices: [{delta: {content: text}}]};
    return `data: ${JSON.stringify(delta)}\n\n`;
}

function note(path) {
    const word = path.split('/')[1];
    asked[word] = (asked[word] || 0) + 1;
    return word;
}

function talk(stream, left) {
    if (!left) {
        stream.end();
        return;
    }
    stream.write('x'.repeat(3000));
    setImmediate(talk, stream, left - 1);
}

function say(stream, text) {
    stream.respond(head);
    stream.end(text);
}

const scenes = {
    '': (stream) => {
        count.streams++;
        stream.respond(head);
        talk(stream, 100);
    },
    stats: (stream) => say(stream, JSON.stringify(count)),
    count: (stream, path) => say(stream, `${asked[path.split('/')[2]] || 0}`),
    refused: (stream) => stream.close(REFUSED),
    'refused-once': (stream) => {
        if (asked['refused-once'] === 1)
            stream.close(REFUSED);
        else
            say(stream, answer);
    },
    early: (stream) => stream.close(HTTP1),
    cut: (stream) => stream.session.destroy(),
};

function start(options) {
    const server = http2.createSecureServer({...keys, ...options});

    server.on('session', () => count.sessions++);
    server.on('sessionError', () => {});
    server.on('stream', (stream, headers) => {
        const path = headers[':path'];
        const scene = scenes[note(path)] || ((s) => say(s, answer));

        stream.on('error', () => {});
        if (headers[':method'] === 'POST') // what is read is taken
            stream.on('end', () => scene(stream, path)).resume();
        else
            scene(stream, path);
    });
    server.on('request', (request, response) => {
        if (request.httpVersionMajor !== 1)
            return;
        note(request.url);
        response.setHeader('content-type', 'text/event-stream');
        request.on('end', () => response.end(answer)).resume();
    });
    return new Promise((done) => server.listen(
        0, '127.0.0.1', () => done(server.address().port)));
}

// ---- By hand: node ends a stream before it resets it ------------------------

const DATA = 0, HEADERS = 1, RST_STREAM = 3, SETTINGS = 4;
const PREFACE_BYTES = 24, FRAME_BYTES = 9, END_STREAM = 1, END_HEADERS = 4;

function frame(type, flags, stream, payload = '') {
    const bytes = Buffer.from(payload);
    const out = Buffer.alloc(FRAME_BYTES);

    out.writeUIntBE(bytes.length, 0, 3);
    out.writeUInt8(type, 3);
    out.writeUInt8(flags, 4);
    out.writeUInt32BE(stream, 5);
    return Buffer.concat([out, bytes]);
}

function breakOff(socket, stream, body) {
    const word = ['late', 'head'].find((w) => body.includes(w));

    asked[word] = (asked[word] || 0) + 1;
    socket.write(frame(HEADERS, END_HEADERS, stream, [0x88])); // :status 200
    if (word === 'late')
        socket.write(frame(DATA, 0, stream, sse('one ')));
    setTimeout(() => socket.write(
        frame(RST_STREAM, 0, stream, [0, 0, 0, HTTP1])), 100);
}

function readFrames(socket) {
    let held = Buffer.alloc(0), at = PREFACE_BYTES, body = '';

    socket.write(frame(SETTINGS, 0, 0));
    socket.on('data', (bytes) => {
        held = Buffer.concat([held, bytes]);
        while (held.length >= at + FRAME_BYTES) {
            const end = at + FRAME_BYTES + held.readUIntBE(at, 3);

            if (held.length < end)
                return;
            if (held[at + 3] === DATA)
                body += held.subarray(at + FRAME_BYTES, end);
            if (held[at + 3] <= HEADERS && held[at + 4] & END_STREAM) {
                breakOff(socket, held.readUInt32BE(at + 5), body);
                body = '';
            }
            at = end;
        }
    });
}

function startByHand() {
    const server = tls.createServer(
        {...keys, ALPNProtocols: ['h2', 'http/1.1']}, (socket) => {
            socket.on('error', () => {});
            if (socket.alpnProtocol === 'h2')
                readFrames(socket);
            else // whoever asks over HTTP/1.1 has asked once more
                socket.on('data', (bytes) => {
                    asked[bytes.includes('late') ? 'late' : 'head']++;
                    socket.end('HTTP/1.1 200 OK\r\n\r\n' + answer);
                });
        });
    return new Promise((done) => server.listen(
        0, '127.0.0.1', () => done(server.address().port)));
}

(async () => {
    const both = await start({allowHTTP1: true});
    const only = await start({});
    console.log(both, only, await startByHand());
})();
process.stdin.on('end', () => process.exit(0)).resume();
